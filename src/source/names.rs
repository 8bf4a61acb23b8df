//! What a path names: an item of the project, a type of the language, or something from another crate.
//!
//! Never guesses: a name that a macro, an unknown `cfg` or a foreign `use …::*` may stand behind is a [`Miss`].

use super::cfg::Cfg;
use super::crates::Extern;
use super::expand::DOLLAR_CRATE;
use super::foreign;
use super::world::{Glob, ItemId, Kind, ModuleId, Path, World};

/// What a path names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named {
    Item(ItemId),
    Module(ModuleId),
    /// By its whole path, e.g. `std::option::Option` or `k8s_openapi::api::core::v1::Pod`.
    Foreign(String),
    /// A variant of an enum, or an associated function of a type, of the project.
    Member(ItemId, String),
}

/// Why a path names nothing for certain; completes "`T` cannot be resolved: …".
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Miss {
    Nothing,
    /// Nothing on this way, which came back to where it started.
    Cycle,
    Doubt(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    Types,
    Values,
}

type Found = Result<Named, Miss>;
/// How many modules one name is looked for in.
const ENOUGH: usize = 20_000;

type Way = Vec<(ModuleId, String, Space)>;

impl World {
    pub fn resolve(&self, from: ModuleId, path: &Path, space: Space) -> Found {
        self.steps.set(0);
        self.walk(from, path, space, &mut Vec::new())
    }

    fn walk(&self, from: ModuleId, path: &Path, space: Space, way: &mut Way) -> Found {
        let Some((last, front)) = path.parts.split_last() else { return Err(Miss::Nothing) };
        let Some((first, middle)) = front.split_first() else {
            return match last.as_str() {
                "crate" | "self" | "super" => self.module_word(from, last),
                word if word.starts_with(DOLLAR_CRATE) => self.module_word(from, word),
                _ if path.global => self.extern_(from, last).ok_or(Miss::Nothing),
                _ => self.lexical(from, last, space, way),
            };
        };
        let mut found = match first.as_str() {
            "crate" | "self" | "super" => self.module_word(from, first)?,
            word if word.starts_with(DOLLAR_CRATE) => self.module_word(from, word)?,
            _ if path.global => self.extern_(from, first).ok_or(Miss::Nothing)?,
            _ => self.lexical(from, first, Space::Types, way)?,
        };
        for part in middle {
            found = self.member(&found, part, Space::Types, from, way)?;
        }
        self.member(&found, last, space, from, way)
    }

    fn module_word(&self, from: ModuleId, word: &str) -> Found {
        let up = |module: ModuleId| self.modules[module].parent;
        let found = match word {
            "self" => Some(from),
            "super" => up(from),
            _ if word.starts_with(DOLLAR_CRATE) => {
                let krate = word[DOLLAR_CRATE.len()..].parse::<usize>().ok();
                let root = krate.and_then(|it| self.crates.get(it)).map(|it| &it.root);
                root.and_then(|it| self.roots.get(it)).copied()
            }
            _ => Some(std::iter::successors(Some(from), |it| up(*it)).last().unwrap_or(from)),
        };
        found.map(Named::Module).ok_or(Miss::Nothing)
    }

    /// A crate by the name that this one knows it by.
    fn extern_(&self, from: ModuleId, name: &str) -> Option<Named> {
        match self.crates[self.modules[from].krate].externs.get(name) {
            Some(Extern::Here(root)) => Some(Named::Module(*self.roots.get(root)?)),
            Some(Extern::Elsewhere(name)) => Some(Named::Foreign(name.clone())),
            None if matches!(name, "std" | "core" | "alloc") => {
                Some(Named::Foreign("std".to_owned()))
            }
            None => None,
        }
    }

    /// A name as code in `from` sees it: the module's own, then crates, the prelude, the language.
    fn lexical(&self, from: ModuleId, name: &str, space: Space, way: &mut Way) -> Found {
        let mut nothing = Miss::Nothing;
        match self.inside(from, name, space, from, way) {
            // `use anyhow::anyhow` brings a macro, and leaves the crate its name.
            Ok(Named::Foreign(path)) if path == format!("{name}::{name}") => {}
            Err(Miss::Nothing) => {}
            Err(Miss::Cycle) => nothing = Miss::Cycle,
            found => return found,
        }
        // What another crate shows under a crate's own name is that crate.
        let krate = (space == Space::Types).then(|| self.extern_(from, name)).flatten();
        if let Some(found) = krate {
            return Ok(found);
        }
        let found = foreign::prelude(name).map(Named::Foreign);
        match (found, self.perhaps(from, name, way)) {
            (_, doubt @ Miss::Doubt(_)) => Err(doubt),
            (Some(found), _) => Ok(found),
            (None, _) => Err(nothing),
        }
    }

    /// What may define a name that was not found: macros, and everything of a foreign module.
    fn perhaps(&self, module: ModuleId, name: &str, way: &mut Way) -> Miss {
        let here = &self.modules[module];
        if !here.macros.is_empty() {
            let all: Vec<_> = self
                .modules
                .iter()
                .filter(|it| it.krate == here.krate)
                .flat_map(|it| &it.macros)
                .collect();
            if let Some(it) = here.macros.iter().find(|it| it.may_define(name, &all)) {
                return Miss::Doubt(it.doubt(&here.file));
            }
        }
        // The path of a glob may itself start with the name: that is for others to find.
        let step = (module, format!("{name}::*"), Space::Types);
        if way.contains(&step) {
            return Miss::Nothing;
        }
        way.push(step);
        let doubt = here.globs.iter().find_map(|it| self.foreign_glob(module, it, name, way));
        way.pop();
        doubt.unwrap_or(Miss::Nothing)
    }

    fn foreign_glob(
        &self,
        module: ModuleId,
        glob: &Glob,
        name: &str,
        way: &mut Way,
    ) -> Option<Miss> {
        match self.walk(module, &glob.path, Space::Types, way) {
            Ok(Named::Foreign(path)) if !self.is_known_whole(&path) => Some(Miss::Doubt(format!(
                "`use {}::*` may bring another `{name}`",
                glob.path.parts.join("::")
            ))),
            Err(Miss::Doubt(why)) => Some(Miss::Doubt(why)),
            Err(Miss::Nothing) => {
                let path = glob.path.parts.join("::");
                Some(Miss::Doubt(format!("`use {path}::*` is not found, and may bring it")))
            }
            _ => None,
        }
    }

    fn member(&self, of: &Named, name: &str, space: Space, from: ModuleId, way: &mut Way) -> Found {
        match of {
            Named::Module(module) if matches!(name, "self" | "super") => {
                self.module_word(*module, name)
            }
            Named::Module(module) => self.inside(*module, name, space, from, way),
            Named::Foreign(path) => Ok(Named::Foreign(foreign::canonical(path, name))),
            Named::Item(item) => match &self.items[*item].kind {
                Kind::Data(_) => Ok(Named::Member(*item, name.to_owned())),
                Kind::Alias(alias) => {
                    let module = self.items[*item].module;
                    match path_of(&alias.ty) {
                        Some(path) if alias.generics.params.is_empty() => {
                            let target = self.walk(module, &path, Space::Types, way)?;
                            self.member(&target, name, space, from, way)
                        }
                        _ => Err(Miss::Doubt("it goes by way of a type alias".to_owned())),
                    }
                }
                _ => Err(Miss::Nothing),
            },
            Named::Member(..) => Err(Miss::Nothing),
        }
    }

    /// A name inside a module, as `from` may see it: what is defined or imported there, then its globs.
    fn inside(
        &self,
        module: ModuleId,
        name: &str,
        space: Space,
        from: ModuleId,
        way: &mut Way,
    ) -> Found {
        let step = (module, name.to_owned(), space);
        if way.contains(&step) {
            return Err(Miss::Cycle);
        }
        // Modules that all import everything of each other can be walked in more ways than there is time for.
        self.steps.set(self.steps.get() + 1);
        if ENOUGH < self.steps.get() {
            return Err(Miss::Doubt("the `use …::*` around it are too entangled".to_owned()));
        }
        way.push(step);
        let found = self.inside_once(module, name, space, from, way);
        way.pop();
        found
    }

    fn inside_once(
        &self,
        module: ModuleId,
        name: &str,
        space: Space,
        from: ModuleId,
        way: &mut Way,
    ) -> Found {
        let here = &self.modules[module];
        let names = match space {
            Space::Types => &here.types,
            Space::Values => &here.values,
        };
        let mut found: Vec<Named> = Vec::new();
        let mut doubt = None;
        for id in names.get(name).into_iter().flatten() {
            let item = &self.items[*id];
            if module != from && !self.sees(from, module, &item.vis) {
                continue;
            }
            if item.cfg == Cfg::Depends {
                doubt = Some(Miss::Doubt(format!(
                    "whether {} defines it depends on a `cfg`",
                    here.file
                )));
            }
            match self.target(*id, space, way) {
                Ok(named) if !found.contains(&named) => found.push(named),
                Err(Miss::Doubt(why)) => doubt = Some(Miss::Doubt(why)),
                _ => {}
            }
        }
        // An import of something foreign may be a macro or a function: what is defined here goes first.
        if 1 < found.len() && found.iter().any(|it| !matches!(it, Named::Foreign(_))) {
            found.retain(|it| !matches!(it, Named::Foreign(_)));
        }
        if let Some(doubt) = doubt.take() {
            return Err(doubt);
        }
        match &found[..] {
            [one] => return Ok(one.clone()),
            [_, ..] => {
                let why = format!("{} defines it more than once", here.file);
                return Err(Miss::Doubt(why));
            }
            [] => {}
        }
        for glob in &here.globs {
            if module != from && !self.sees(from, module, &glob.vis) {
                continue;
            }
            let named = match self.walk(module, &glob.path, Space::Types, way) {
                Ok(Named::Module(target)) => self.inside(target, name, space, module, way),
                Ok(Named::Item(item)) => self.variant(item, name),
                Ok(Named::Foreign(path)) => {
                    let path = foreign::canonical(&path, name);
                    self.is_known(&path).then_some(Named::Foreign(path)).ok_or(Miss::Nothing)
                }
                // What a module that is not found may bring, `perhaps` says where nothing else is found.
                Ok(Named::Member(..)) | Err(_) => Err(Miss::Nothing),
            };
            match named {
                Ok(_) | Err(Miss::Doubt(_)) if glob.cfg == Cfg::Depends => {
                    doubt = Some(Miss::Doubt(format!(
                        "whether {} imports it depends on a `cfg`",
                        here.file
                    )));
                }
                Ok(named) if !found.contains(&named) => found.push(named),
                Err(Miss::Doubt(why)) => doubt = Some(Miss::Doubt(why)),
                _ => {}
            }
        }
        if let Some(doubt) = doubt {
            return Err(doubt);
        }
        match &found[..] {
            [] if module != from => match self.perhaps(module, name, way) {
                Miss::Nothing => Err(Miss::Nothing),
                doubt => Err(doubt),
            },
            [] => Err(Miss::Nothing),
            [one] => match self.hidden_by_macro(module, name) {
                Some(doubt) => Err(doubt),
                None => Ok(one.clone()),
            },
            _ => Err(Miss::Doubt(format!("more than one `use …::*` in {} brings it", here.file))),
        }
    }

    fn hidden_by_macro(&self, module: ModuleId, name: &str) -> Option<Miss> {
        let here = &self.modules[module];
        let it = here.macros.iter().find(|it| it.may_define(name, &[]))?;
        Some(Miss::Doubt(it.doubt(&here.file)))
    }

    fn target(&self, id: ItemId, space: Space, way: &mut Way) -> Found {
        let item = &self.items[id];
        match &item.kind {
            Kind::Use(path) => self.walk(item.module, path, space, way),
            Kind::Module(module) => Ok(Named::Module(*module)),
            Kind::ExternCrate(name) if name == "self" => self.module_word(item.module, "crate"),
            Kind::ExternCrate(name) => self.extern_(item.module, name).ok_or(Miss::Nothing),
            _ => Ok(Named::Item(id)),
        }
    }

    fn variant(&self, item: ItemId, name: &str) -> Found {
        match &self.items[item].kind {
            Kind::Data(input) => match &input.data {
                syn::Data::Enum(it) if it.variants.iter().any(|it| it.ident == name) => {
                    Ok(Named::Member(item, name.to_owned()))
                }
                _ => Err(Miss::Nothing),
            },
            _ => Err(Miss::Nothing),
        }
    }

    /// Whether code in `from` may name what `vis` guards in `module`.
    fn sees(&self, from: ModuleId, module: ModuleId, vis: &syn::Visibility) -> bool {
        let up = |it: ModuleId| std::iter::successors(Some(it), |it| self.modules[*it].parent);
        match vis {
            syn::Visibility::Public(_) => true,
            syn::Visibility::Inherited => up(from).any(|it| it == module),
            syn::Visibility::Restricted(it) if it.path.is_ident("crate") => {
                self.modules[from].krate == self.modules[module].krate
            }
            syn::Visibility::Restricted(it) if it.path.is_ident("super") => {
                self.modules[module].parent.is_none_or(|parent| up(from).any(|it| it == parent))
            }
            syn::Visibility::Restricted(it) if it.path.is_ident("self") => {
                up(from).any(|it| it == module)
            }
            // `pub(in path)`: within the crate at least.
            syn::Visibility::Restricted(_) => {
                self.modules[from].krate == self.modules[module].krate
            }
        }
    }
}

impl From<&syn::Path> for Path {
    fn from(path: &syn::Path) -> Self {
        use syn::spanned::Spanned as _;
        Self {
            global: path.leading_colon.is_some(),
            parts: path.segments.iter().map(|it| super::world::plain(&it.ident)).collect(),
            span: path.span(),
        }
    }
}

fn path_of(ty: &syn::Type) -> Option<Path> {
    match ty {
        syn::Type::Path(it) if it.qself.is_none() => Some(Path::from(&it.path)),
        _ => None,
    }
}
