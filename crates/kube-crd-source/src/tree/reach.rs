//! From where an item can be named: everywhere, or inside one module.

use super::{ModuleId, World};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reach {
    All,
    In(ModuleId),
}

impl World {
    /// A module and those around it, outwards.
    pub fn enclosing_modules(&self, module: ModuleId) -> impl Iterator<Item = ModuleId> {
        std::iter::successors(Some(module), |id| self.modules[*id].parent)
    }

    pub fn root_module(&self, module: ModuleId) -> ModuleId {
        let krate = &self.crates[self.modules[module].krate];
        self.roots.get(&krate.root).copied().unwrap_or(module)
    }

    /// From where an item of `module` with this visibility can be named.
    pub fn reach_of(&self, module: ModuleId, vis: &syn::Visibility) -> Reach {
        match vis {
            syn::Visibility::Public(_) => Reach::All,
            syn::Visibility::Inherited => Reach::In(module),
            syn::Visibility::Restricted(it) => {
                let mut at = module;
                for (index, part) in it.path.segments.iter().enumerate() {
                    at = match part.ident.to_string().as_str() {
                        "crate" => self.root_module(module),
                        "self" => at,
                        "super" => self.modules[at].parent.unwrap_or(at),
                        // Only a module around this one may be named.
                        _ => {
                            let from = if index == 0 { self.root_module(module) } else { at };
                            let inner = |it: &ModuleId| self.modules[*it].parent == Some(from);
                            self.enclosing_modules(module).find(inner).unwrap_or(module)
                        }
                    };
                }
                Reach::In(at)
            }
        }
    }

    pub fn can_see(&self, from: ModuleId, reach: Reach) -> bool {
        match reach {
            Reach::All => true,
            Reach::In(module) if self.modules[module].parent.is_none() => {
                self.modules[from].krate == self.modules[module].krate
            }
            Reach::In(module) => self.enclosing_modules(from).any(|id| id == module),
        }
    }

    pub fn narrower_reach(&self, one: Reach, other: Reach) -> Reach {
        match one {
            Reach::In(module) if self.can_see(module, other) => one,
            _ => other,
        }
    }
}
