//! The modules whose kinds are selected.

use super::{ModuleId, World};

impl World {
    /// Returns whether the kinds of a module are selected.
    pub fn is_selected(&self, module: ModuleId) -> bool {
        let all = self.selection.is_empty();
        self.crates[self.modules[module].krate].selected
            && (all || self.selection.iter().any(|name| self.is_in(module, name)))
    }

    /// Returns whether a module is another, or below it: `a::b`, with or without the crate before it.
    fn is_in(&self, module: ModuleId, other: &str) -> bool {
        let path = &self.modules[module].path;
        let below = |path: &str, other: &str| {
            let rest = path.strip_prefix(other);
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
        };
        let own = path.split_once("::").map_or("", |(_, own)| own);
        below(path, other) || below(own, other.strip_prefix("crate::").unwrap_or(other))
    }

    /// Modules of the selection that no crate has.
    pub fn unknown_modules(&self) -> Vec<String> {
        let found = |name: &str| {
            (0..self.modules.len())
                .any(|id| self.crates[self.modules[id].krate].selected && self.is_in(id, name))
        };
        self.selection.iter().filter(|name| !found(name)).cloned().collect()
    }
}
