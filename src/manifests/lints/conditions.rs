//! Lists of conditions without a key: each apply replaces the whole list, with the conditions of other clients.

use super::{Fault, text, visit_schemas};
use go_data::yaml::Value;

const HINT: &str = "merge them by their type: \
     `#[schemars(extend(\"x-kubernetes-list-type\" = \"map\", \"x-kubernetes-list-map-keys\" = [\"type\"]))]`";

pub fn faults(schema: &Value) -> Vec<Fault> {
    let mut res = Vec::new();
    let Some(status) = schema.pointer("/properties/status") else { return res };
    visit_schemas("status", status, &mut |at, it| {
        let is_named = at.ends_with(".conditions");
        if is_named && is_list_of_conditions(it) && text(it, "x-kubernetes-list-type") != "map" {
            res.push(Fault {
                at: at.to_owned(),
                message: "is a list that each writer replaces as a whole: server-side apply by one manager \
                          removes the conditions of the others"
                    .to_owned(),
                hint: HINT,
            });
        }
    });
    res
}

/// Returns whether the items have a type and a status, like those of `metav1.Condition`.
fn is_list_of_conditions(schema: &Value) -> bool {
    let fields = schema.pointer("/items/properties");
    let is_text = |name: &str| {
        fields
            .and_then(|field| field.get(name))
            .is_some_and(|value| text(value, "type") == "string")
    };
    text(schema, "type") == "array" && is_text("type") && is_text("status")
}
