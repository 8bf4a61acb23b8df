//! The public API of the crates that projects depend on, as a listing that a diff shows: `crates/<crate>/public-api.txt`.
//! `UPDATE=1 cargo test --test public_api` writes it. (cargo-public-api reads the JSON of one version of nightly rustdoc;
//! this reads the source, as it is.)

#![allow(clippy::disallowed_methods, reason = "a test looks from outside")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
};

use quote::ToTokens;
use syn::{ImplItem, Item, TraitItem, UseTree, Visibility};

const CRATES: [&str; 2] = ["operator-rs-runtime", "operator-rs-testing"];

#[test]
fn the_public_api_is_the_one_that_is_listed() {
    for name in CRATES {
        let folder = support::home().join("crates").join(name);
        let api = Api::read(&folder.join("src"));
        let found = api.list(&name.replace('-', "_")).join("\n") + "\n";
        let path = folder.join("public-api.txt");
        if env::var_os("UPDATE").is_some() {
            fs::write(&path, &found).expect("the crate's folder can be written");
        }
        let listed = fs::read_to_string(&path).unwrap_or_default();
        let diff = similar::TextDiff::from_lines(&listed, &found);
        assert!(
            listed == found,
            "the public API of {name} has changed; `UPDATE=1 cargo test --test public_api` lists it:\n{}",
            diff.unified_diff().context_radius(0)
        );
    }
}

/// Two paths to an item, or an item that is named in no documentation, would be a promise that was not meant.
#[test]
fn every_public_item_has_one_path() {
    for name in CRATES {
        let api = Api::read(&support::home().join("crates").join(name).join("src"));
        let mut seen = BTreeSet::new();
        for (path, module, item) in api.items(&name.replace('-', "_")) {
            assert!(seen.insert((module, item)), "`{path}` is the second path to its item");
        }
    }
}

/// The modules of a crate, by their paths.
struct Api {
    modules: BTreeMap<String, Vec<Item>>,
}

impl Api {
    fn read(src: &Path) -> Self {
        let files = walkdir::WalkDir::new(src).into_iter().filter_map(Result::ok);
        let files =
            files.filter(|file| file.path().extension().is_some_and(|extension| extension == "rs"));
        let modules = files.map(|file| {
            let path = file.path().strip_prefix(src).expect("it is below").with_extension("");
            let mut names: Vec<_> =
                path.iter().map(|name| name.to_string_lossy().into_owned()).collect();
            if names.last().is_some_and(|name| name == "mod" || name == "lib") {
                names.pop();
            }
            let text = fs::read_to_string(file.path()).expect("the source can be read");
            (names.join("::"), syn::parse_file(&text).expect("the source is Rust").items)
        });
        Self { modules: modules.filter(|(name, _)| !name.ends_with("tests")).collect() }
    }

    /// The public items: their paths, and the module and the name by which they are declared.
    fn items(&self, root: &str) -> Vec<(String, String, String)> {
        let mut items = vec![];
        self.collect("", root, &mut items);
        items
    }

    fn collect(&self, module: &str, path: &str, items: &mut Vec<(String, String, String)>) {
        for item in self.modules.get(module).into_iter().flatten() {
            match item {
                Item::Use(import) if is_public(&import.vis) => {
                    for (name, from) in imported(&import.tree, &[]) {
                        let (place, declared) = self.resolve(module, &from);
                        items.push((format!("{path}::{name}"), place, declared));
                    }
                }
                Item::Mod(child) if is_public(&child.vis) => {
                    let name = child.ident.to_string();
                    let inner =
                        if module.is_empty() { name.clone() } else { format!("{module}::{name}") };
                    self.collect(&inner, &format!("{path}::{name}"), items);
                }
                other => {
                    if let Some((name, _)) = declaration(other) {
                        items.push((format!("{path}::{name}"), module.to_owned(), name));
                    }
                }
            }
        }
    }

    /// The module and the name of what `use` names; the whole path for an item of another crate.
    fn resolve(&self, module: &str, from: &[String]) -> (String, String) {
        let (name, path) = from.split_last().expect("a path has a name");
        let path: Vec<_> = path
            .iter()
            .filter(|segment| *segment != "crate" && *segment != "self")
            .cloned()
            .collect();
        let inner = [module, &path.join("::")]
            .into_iter()
            .filter(|part| !part.is_empty())
            .collect::<Vec<_>>()
            .join("::");
        for place in [inner, path.join("::")] {
            let Some(items) = self.modules.get(&place) else { continue };
            if items.iter().filter_map(declaration).any(|(declared, _)| declared == *name) {
                return (place, name.clone());
            }
            // The module re-exports it.
            for import in items
                .iter()
                .filter_map(|item| if let Item::Use(import) = item { Some(import) } else { None })
            {
                let found =
                    imported(&import.tree, &[]).into_iter().find(|(imported, _)| imported == name);
                if let Some((_, from)) = found.filter(|(_, from)| from.len() > 1) {
                    return self.resolve(&place, &from);
                }
            }
        }
        (path.join("::"), name.clone())
    }

    fn list(&self, root: &str) -> Vec<String> {
        let mut lines = vec![];
        for (path, module, name) in self.items(root) {
            let items = self.modules.get(&module);
            let found = items
                .into_iter()
                .flatten()
                .filter_map(declaration)
                .find(|(declared, _)| *declared == name);
            match found {
                Some((_, declared)) => lines.push(format!("{path}: {declared}")),
                None => lines.push(format!("{path}: pub use {module}::{name}")),
            }
            lines.extend(self.methods(&name).into_iter().map(|method| format!("{path}::{method}")));
        }
        lines.sort();
        lines
    }

    /// What can be called on a type, and the traits that it implements.
    fn methods(&self, name: &str) -> Vec<String> {
        let mut methods = vec![];
        for item in self.modules.values().flatten() {
            let Item::Impl(block) = item else { continue };
            let syn::Type::Path(of) = &*block.self_ty else { continue };
            if of.path.segments.last().is_none_or(|last| last.ident != name) {
                continue;
            }
            if let Some((implemented, _)) = &block.trait_ {
                methods.push(format!("impl {}", text(implemented)));
                continue;
            }
            for item in &block.items {
                if let ImplItem::Fn(function) = item
                    && is_public(&function.vis)
                {
                    methods.push(text(&function.sig));
                }
            }
        }
        methods
    }
}

fn is_public(visibility: &Visibility) -> bool {
    matches!(visibility, Visibility::Public(_))
}

/// The names that a `use` brings, with their paths.
fn imported(tree: &UseTree, before: &[String]) -> Vec<(String, Vec<String>)> {
    let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
    match tree {
        UseTree::Path(path) => imported(&path.tree, &with(&path.ident)),
        UseTree::Name(name) => vec![(name.ident.to_string(), with(&name.ident))],
        UseTree::Rename(rename) => vec![(rename.rename.to_string(), with(&rename.ident))],
        UseTree::Group(group) => {
            group.items.iter().flat_map(|tree| imported(tree, before)).collect()
        }
        _ => panic!("a glob re-exports what nobody has listed"),
    }
}

/// The name and the declaration of a public item, without bodies and private fields.
fn declaration(item: &Item) -> Option<(String, String)> {
    match item {
        Item::Fn(function) if is_public(&function.vis) => {
            Some((function.sig.ident.to_string(), text(&function.sig)))
        }
        Item::Struct(structure) if is_public(&structure.vis) => {
            let mut shown = structure.clone();
            shown.attrs.clear();
            let fields = shown.fields.iter().filter(|field| is_public(&field.vis));
            let fields: Vec<_> =
                fields.map(|field| format!("{}: {}", name_of(field), text(&field.ty))).collect();
            let generics = text(&shown.generics);
            Some((
                shown.ident.to_string(),
                format!("struct {}{generics} {{ {} }}", shown.ident, fields.join(", ")),
            ))
        }
        Item::Enum(choice) if is_public(&choice.vis) => {
            let variants = choice.variants.iter().map(|variant| {
                let mut variant = variant.clone();
                variant.attrs.clear();
                variant.fields.iter_mut().for_each(|field| field.attrs.clear());
                text(&variant)
            });
            let variants = variants.collect::<Vec<_>>().join(", ");
            Some((choice.ident.to_string(), format!("enum {} {{ {variants} }}", choice.ident)))
        }
        Item::Trait(definition) if is_public(&definition.vis) => {
            let items = definition.items.iter().map(|item| match item {
                TraitItem::Fn(function) => text(&function.sig),
                other => {
                    let mut other = other.clone();
                    if let TraitItem::Type(associated) = &mut other {
                        associated.attrs.clear();
                    }
                    text(&other)
                }
            });
            let supertraits = text(&definition.supertraits);
            let items = items.collect::<Vec<_>>().join(" ");
            Some((
                definition.ident.to_string(),
                format!("trait {}: {supertraits} {{ {items} }}", definition.ident),
            ))
        }
        Item::Type(alias) if is_public(&alias.vis) => {
            Some((alias.ident.to_string(), format!("type {} = {}", alias.ident, text(&alias.ty))))
        }
        Item::Const(constant) if is_public(&constant.vis) => Some((
            constant.ident.to_string(),
            format!("const {}: {}", constant.ident, text(&constant.ty)),
        )),
        Item::Macro(exported)
            if exported.attrs.iter().any(|attribute| attribute.path().is_ident("macro_export")) =>
        {
            let name = exported.ident.as_ref()?.to_string();
            Some((format!("{name}!"), format!("macro {name}!")))
        }
        _ => None,
    }
}

fn name_of(field: &syn::Field) -> String {
    field.ident.as_ref().map(ToString::to_string).unwrap_or_default()
}

/// Tokens as text, in one line.
fn text(tokens: &impl ToTokens) -> String {
    let text =
        tokens.to_token_stream().to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    let text =
        text.replace(" :: ", "::").replace(":: ", "::").replace(" < ", "<").replace(" > ", "> ");
    let text = text
        .replace(" <", "<")
        .replace("< ", "<")
        .replace(" >", ">")
        .replace("& ", "&")
        .replace(" ,", ",");
    text.replace(" (", "(")
        .replace("( ", "(")
        .replace(" )", ")")
        .replace(" :", ":")
        .trim_end()
        .to_owned()
}
