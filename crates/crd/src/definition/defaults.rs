//! Defaults that do not fit their own schema.

use super::{Fault, below};
use crate::samples;
use go_data::yaml::Value;

const FIT: &str = "use a default that the field's own schema allows";

pub fn faults(schema: &Value) -> Vec<Fault> {
    let mut res = Vec::new();
    check("", schema, &mut res);
    res
}

/// The schemas outside of `allOf` and the like: within them, defaults are not allowed at all.
fn check(at: &str, schema: &Value, res: &mut Vec<Fault>) {
    if let Some(default) = schema.get("default").filter(|it| !it.is_null()) {
        let fault = |message: String| Fault { at: at.to_owned(), message, hint: FIT };
        let faults = samples::refusals(schema, default);
        res.extend(faults.into_iter().map(|it| fault(format!("has a default that {it}"))));
    }
    for (name, it) in schema.get("properties").and_then(Value::as_object).into_iter().flatten() {
        check(&below(at, name), it, res);
    }
    if let Some(items @ Value::Object(_)) = schema.get("items") {
        check(&format!("{at}[]"), items, res);
    }
}
