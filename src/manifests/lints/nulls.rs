//! Fields that serde writes as `null`, where API servers do not accept that.

use std::collections::BTreeSet;

use super::{SchemaFinding, field_names, visit_schemas};
use crate::project::FieldNames;
use crd::{
    definition::child_path,
    samples::TEXTS,
    structural::{FieldPath, Findings, complete, flag, validate},
};
use go_data::yaml::{Value, json};

const LEAVE_OUT: &str = "leave it out: `#[serde(skip_serializing_if = \"Option::is_none\")]`";
const NOT_REQUIRED: &str = "add `#[serde(default)]`, or remove `Option`";
const ITEMS: &str = "use a type that is never `null` in place of the `Option`";

/// Returns the findings in a schema. `null_fields` are the fields that serde may write as `null`.
pub fn findings(schema: &Value, null_fields: &FieldNames) -> Vec<SchemaFinding> {
    let mut findings = BTreeSet::new();
    visit_schemas("", schema, &mut |path, schema| {
        for (name, field) in
            schema.get("properties").and_then(Value::as_object).into_iter().flatten()
        {
            let field_path = child_path(path, name);
            if null_fields.contains(&field_names(&field_path)) {
                findings.extend(check_field(schema, name, field, &field_path));
            }
        }
        for (keyword, end) in [("items", "[]"), ("additionalProperties", ".*")] {
            // Only an `Option` makes these nullable.
            let values = schema.get(keyword).filter(|values| flag(values, "nullable"));
            let refusal = values.and_then(null_refusal);
            findings.extend(refusal.map(|refusal| SchemaFinding {
                path: format!("{path}{end}"),
                message: format!(
                    "is written as `null` for `None`, which API servers refuse: it {refusal}"
                ),
                hint: ITEMS.to_owned(),
            }));
        }
    });
    findings.into_iter().collect()
}

/// Returns why an API server refuses an object with `null` in a field, if it does.
fn check_field(schema: &Value, name: &str, field: &Value, path: &str) -> Option<SchemaFinding> {
    let mut object = json!({ name: null });
    complete(&mut object, &json!({ "properties": { name: field } }));
    let required = schema.get("required").and_then(Value::as_array).into_iter().flatten();
    let is_required = required.into_iter().any(|required| required == name);
    let (message, hint) = match object.get(name) {
        Some(Value::Null) => {
            let refusal = null_refusal(field)?;
            (
                format!(
                    "is written as `null` if it is `None`, which API servers refuse: it {refusal}"
                ),
                LEAVE_OUT,
            )
        }
        None if is_required => {
            let message = "is required, but written as `null` if it is `None`: API servers remove the `null`, and \
                           refuse the object";
            (message.to_owned(), NOT_REQUIRED)
        }
        _ => return None,
    };
    Some(SchemaFinding { path: path.to_owned(), message, hint: hint.to_owned() })
}

/// Returns why an API server refuses `null`.
fn null_refusal(schema: &Value) -> Option<String> {
    let mut findings = Findings::default();
    validate(schema, &Value::Null, &FieldPath::default(), TEXTS, &mut findings);
    findings.faults.into_iter().next().map(|fault| fault.message)
}
