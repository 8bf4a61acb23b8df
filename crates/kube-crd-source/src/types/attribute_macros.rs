//! Attribute macros on types: all but a few that are known may change them.

use syn::Attribute;

use super::Types;
use crate::names::{Miss, Named, Space};
use crate::tree::attribute_macros::{ADDING, LANGUAGE, TOOLS};
use crate::tree::{ModuleId, Path};

impl Types {
    /// Returns whether an attribute leaves its item as it is. `derives`: a derive of another crate is
    /// there too, whose attribute it may be.
    pub fn leaves_alone(&self, module: ModuleId, attr: &Attribute, derives: bool) -> bool {
        let path = Path::from(attr.path());
        let first = path.parts.first().map_or("", String::as_str);
        if TOOLS.contains(&first) {
            return true;
        }
        let name = attr.path().get_ident().map(ToString::to_string).unwrap_or_default();
        if LANGUAGE.contains(&name.as_str()) {
            return true;
        }
        match self.resolve_path(module, &path, Space::Macros) {
            Ok(Named::Foreign(found)) if ADDING.contains(&found.as_str()) => true,
            // The name of a crate is not an attribute: a derive has one of that name.
            Ok(Named::Foreign(found)) => derives && !name.is_empty() && !found.contains("::"),
            // An attribute that is not imported belongs to a derive.
            Err(Miss::Nothing) => {
                let imported = self.modules[module].values.contains_key(&name);
                derives && !name.is_empty() && !imported && !self.uses_macros(module)
            }
            _ => false,
        }
    }

    /// Returns whether every name in the crate may be a macro of another: `#[macro_use] extern crate`.
    fn uses_macros(&self, module: ModuleId) -> bool {
        let krate = self.modules[module].krate;
        self.macro_uses.iter().any(|(by, _)| *by == krate)
    }
}

/// Returns whether a derive is one whose attributes are all known: one of the language, of serde, schemars or kube.
pub fn is_known_derive(path: &syn::Path) -> bool {
    const KNOWN: &[&str] = &[
        "Clone",
        "Copy",
        "Debug",
        "Default",
        "Eq",
        "PartialEq",
        "Ord",
        "PartialOrd",
        "Hash",
        "Serialize",
        "Deserialize",
        "JsonSchema",
        "CustomResource",
        "KubeSchema",
    ];
    path.segments.last().is_some_and(|segment| KNOWN.iter().any(|name| segment.ident == name))
}
