//! Defaults that do not fit their own schema.

use super::{Fault, child_path};
use crate::samples;
use go_data::yaml::Value;

const FIT: &str = "use a default that the field's own schema allows";

pub fn check_defaults(schema: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    check_default("", schema, &mut faults);
    faults
}

/// Checks the schemas outside of `allOf` and the like, since inside of them, defaults are not allowed at all.
fn check_default(at: &str, schema: &Value, faults: &mut Vec<Fault>) {
    if let Some(default) = schema.get("default").filter(|default| !default.is_null()) {
        let fault = |message: String| Fault { at: at.to_owned(), message, hint: FIT };
        let refusals = samples::refusals_of_default(schema, default);
        faults.extend(
            refusals.into_iter().map(|message| fault(format!("has a default that {message}"))),
        );
    }
    for (name, it) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check_default(&child_path(at, name), it, faults);
    }
    if let Some(items @ Value::Object(_)) = schema.get("items") {
        check_default(&format!("{at}[]"), items, faults);
    }
}
