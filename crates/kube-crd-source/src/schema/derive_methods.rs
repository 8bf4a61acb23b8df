//! The methods that schemars' derive calls in the module of a type: a trait in scope there can take them over.

use super::Reader;
use crate::text::Problem;
use crate::tree::ItemId;
use crate::types::Unread;
use crate::values::Evaluator;

/// Methods that the code of `#[derive(JsonSchema)]` calls on schemas, values and types of std: `schema_exprs.rs` and
/// `attr/mod.rs` of schemars_derive 1.0 to 1.2.
const METHODS_OF_DERIVE: &[&str] = &[
    "and_then",
    "collect",
    "contract",
    "flatten",
    "insert",
    "into",
    "into_iter",
    "is_deserialize",
    "map",
    "push",
    "settings",
    "subschema_for",
    "to_value",
];

impl Reader {
    /// Refuses a type in whose module a trait may take over a method that schemars' derive calls there.
    pub(super) fn check_methods_of_derive(&self, id: ItemId) -> Result<(), Problem> {
        let item = &self.world.items[id];
        let evaluator = Evaluator::new(&self.world, &self.budget, "a derive");
        let refuse = |message: String, hint: &str| {
            Err(self.world.problem_at(item.module, item.span, message, hint))
        };
        let mut methods = METHODS_OF_DERIVE.iter();
        if let Some(method) =
            methods.find(|name| evaluator.trait_may_provide_method(item.module, name))
        {
            let message = format!(
                "the derive of `JsonSchema` for `{}` may call the `{method}` of a trait in scope",
                item.name
            );
            return refuse(message, "move the type to a module that does not import the trait");
        }
        let Some(possible) = evaluator.possible_trait(item.module, Unread::Crates) else {
            return Ok(());
        };
        let message = format!(
            "{possible} may bring a trait into scope whose methods the derive of `JsonSchema` for `{}` calls",
            item.name
        );
        let hint =
            "run `cargo fetch` or `cargo vendor`, or move the type to a module without the import";
        refuse(message, hint)
    }
}
