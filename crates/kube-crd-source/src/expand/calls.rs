//! Calls of macros: where items stand, each is opened while the files are read, in the order of the text; what
//! only a path leads to is opened when everything else has been read. In types and values, when it is asked for.

use syn::parse::{Parse, ParseStream, Parser as _};
use syn::spanned::Spanned as _;

use super::{Called, DEEP, Rules, RulesId, Scope, plain::plain};
use crate::cfg::Cfg;
use crate::files::Files;
use crate::folder::Folder;
use crate::macros::Macro;
use crate::model::{Place, SourcePath};
use crate::syntax;
use crate::world::{ItemId, ModuleId, Path, World};

/// Where reading the files is with its macros.
#[derive(Default)]
pub struct Work {
    pub scope: Scope,
    depth: usize,
    pending: Vec<Pending>,
}

/// A call whose macro is not defined above it.
pub struct Pending {
    module: ModuleId,
    call: syn::ItemMacro,
    cfg: Cfg,
    folder: Folder,
    way: Vec<SourcePath>,
    scope: Scope,
    depth: usize,
}

/// Items that a call made.
pub struct MadeItems {
    items: std::ops::Range<ItemId>,
    name: String,
    place: Place,
}

impl Files<'_> {
    /// A macro that stands where items stand: its definition, or a call.
    pub fn macro_(
        &mut self,
        world: &mut World,
        module: ModuleId,
        it: syn::ItemMacro,
        cfg: Cfg,
        folder: &Folder,
        way: &[SourcePath],
    ) {
        if it.ident.is_some() {
            return self.define(world, module, &it, cfg);
        }
        let name = it.mac.path.get_ident().map(ToString::to_string).unwrap_or_default();
        let pending = Pending {
            module,
            call: it,
            cfg,
            folder: folder.clone(),
            way: way.to_vec(),
            scope: self.macros.scope.clone(),
            depth: self.macros.depth,
        };
        match self.macros.scope.find(&name) {
            Some(rules) => self.open_call(world, pending, rules),
            None => self.macros.pending.push(pending),
        }
    }

    fn define(&mut self, world: &mut World, module: ModuleId, it: &syn::ItemMacro, cfg: Cfg) {
        world.modules[module].macros.push(Macro::new(it));
        let krate = world.modules[module].krate;
        if let Some(rules) = Rules::new(it, krate, cfg) {
            let id = world.rules.len();
            self.macros.scope = self.macros.scope.with(rules.name.clone(), id);
            let here = &mut world.modules[module];
            here.scope = here.scope.with(rules.name.clone(), id);
            world.rules.push(rules);
        }
    }

    fn open_call(&mut self, world: &mut World, it: Pending, rules: RulesId) {
        let made = match it.cfg {
            _ if DEEP <= it.depth => {
                Err(syn::Error::new(it.call.span(), "macros in macros have no end"))
            }
            Cfg::Depends => {
                let message = "it is called by a `cfg` that the source does not settle";
                Err(syn::Error::new(it.call.span(), message))
            }
            _ => world.expanded(it.module, &it.call.mac, rules, items),
        };
        let made = match made {
            Ok(made) => made,
            Err(error) => {
                let call = Macro::new(&it.call).because(&error);
                return world.modules[it.module].macros.push(call);
            }
        };
        let first = world.items.len();
        let depth = std::mem::replace(&mut self.macros.depth, it.depth + 1);
        self.items(world, it.module, made, &it.folder, &it.way);
        self.macros.depth = depth;
        // A call that another macro made is of no use to who looks for it in the source.
        if it.depth == 0 {
            world.made.push(MadeItems {
                items: first..world.items.len(),
                name: crate::types::text(&it.call.mac.path),
                place: world.place(it.module, it.call.mac.path.span()),
            });
        }
    }

    /// Opens what only a path leads to, for as long as there is more to open.
    pub fn open_pending(&mut self, world: &mut World) {
        loop {
            // All are looked up before any is opened: what was solved of imports ends where items are added.
            let named = |it: Pending| {
                let path = Path::from(&it.call.mac.path);
                // Most are of other crates: then no import need be solved for them.
                let called = match world.may_be_ours(it.module, &path) {
                    true => world.called(it.module, &path),
                    false => Called::Elsewhere,
                };
                (called, it)
            };
            let pending = std::mem::take(&mut self.macros.pending);
            let called: Vec<_> = pending.into_iter().map(named).collect();
            world.imports.take();
            let mut opened = false;
            for (called, it) in called {
                match called {
                    Called::Rules(rules) => {
                        opened = true;
                        self.macros.scope = it.scope.clone();
                        self.open_call(world, it, rules);
                    }
                    _ => self.macros.pending.push(it),
                }
            }
            if !opened {
                break;
            }
        }
        for it in std::mem::take(&mut self.macros.pending) {
            let call = Macro::new(&it.call);
            world.modules[it.module].macros.push(call);
        }
    }

    /// Opens the macros that stand among the items of an `impl`.
    pub fn impl_items(&mut self, world: &World, module: ModuleId, it: &mut syn::ItemImpl) {
        let mut rounds = 0;
        while rounds < DEEP && it.items.iter().any(|it| matches!(it, syn::ImplItem::Macro(_))) {
            rounds += 1;
            let mut opened = false;
            for item in std::mem::take(&mut it.items) {
                let made = match &item {
                    syn::ImplItem::Macro(call) => {
                        let name = call.mac.path.get_ident().map(ToString::to_string);
                        let rules = self.macros.scope.find(&name.unwrap_or_default());
                        rules.and_then(|it| world.expanded(module, &call.mac, it, items).ok())
                    }
                    _ => None,
                };
                match made {
                    Some(made) => {
                        opened = true;
                        it.items.extend::<Vec<syn::ImplItem>>(made);
                    }
                    None => it.items.push(item),
                }
            }
            if !opened {
                break;
            }
        }
    }
}

impl World {
    /// What a call of a macro of the project makes, as one `T`; none where the macro is another's.
    ///
    /// What is made may hold such a call again: who asks bounds how deep that goes.
    pub fn opened<T: Parse>(&self, module: ModuleId, call: &syn::Macro) -> syn::Result<Option<T>> {
        match self.rules_of(module, call)? {
            Some(rules) => self.expanded(module, call, rules, T::parse).map(Some),
            None => Ok(None),
        }
    }

    /// The same as an expression, or as what stands in a body: a name of the macro's own that its call has too
    /// is refused. A last `;` behind an expression counts for nothing, as for rustc.
    #[allow(dead_code, reason = "for values")]
    pub fn opened_value(
        &self,
        module: ModuleId,
        call: &syn::Macro,
    ) -> syn::Result<Option<Vec<syn::Stmt>>> {
        let Some(rules) = self.rules_of(module, call)? else { return Ok(None) };
        let krate = self.modules[module].krate;
        let tokens = self.rules[rules].expand_value(call, krate, &self.spent)?;
        let tokens = plain(tokens);
        syntax::guarded(&tokens)?;
        syn::Block::parse_within.parse2(tokens).map(Some)
    }

    fn rules_of(&self, module: ModuleId, call: &syn::Macro) -> syn::Result<Option<RulesId>> {
        match self.called(module, &Path::from(&call.path)) {
            Called::Rules(rules) => Ok(Some(rules)),
            Called::Elsewhere => Ok(None),
            Called::Doubt(why) => Err(syn::Error::new(call.span(), why)),
        }
    }

    fn expanded<T>(
        &self,
        module: ModuleId,
        call: &syn::Macro,
        rules: RulesId,
        parse: impl Fn(ParseStream<'_>) -> syn::Result<T>,
    ) -> syn::Result<T> {
        let krate = self.modules[module].krate;
        let tokens = self.rules[rules].expand(call, krate, &self.spent)?;
        let tokens = plain(tokens);
        syntax::guarded(&tokens)?;
        parse.parse2(tokens)
    }

    /// Where the macro was called that made an item: "`make!` at src/lib.rs:3:1".
    pub fn made_by(&self, item: ItemId) -> Option<String> {
        let made = self.made.iter().find(|it| it.items.contains(&item))?;
        Some(format!("`{}!` at {}", made.name, made.place))
    }
}

fn items<T: Parse>(input: ParseStream<'_>) -> syn::Result<Vec<T>> {
    let mut res = Vec::new();
    while !input.is_empty() {
        res.push(input.parse()?);
    }
    Ok(res)
}
