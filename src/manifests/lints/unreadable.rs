//! Values that the schema of a field accepts and its Rust type does not read, in kinds with several versions: an object
//! with such a value cannot be converted, and API servers then fail every list of its kind.

use super::{SchemaFinding, field_names, field_problem, visit_schemas};
use crate::manifests::versions::kinds;
use crate::project::{Operator, Problem, UnreadValues, Unreadable};
use crd::samples::is_accepted;
use go_data::yaml::Value;

/// Items of `#[schemars(…)]` that refuse what a type does not read. That of durations also refuses what is too long.
const LIMITS: &[(&str, &str)] = &[
    (
        "kube_core::Duration",
        r#"regex(pattern = "^[-+]?(0|([0-9]{1,15}([.][0-9]{1,15})?(ns|us|µs|ms|s|m|h))+)$")"#,
    ),
    ("u32", "range(max = 4294967295)"),
    ("std::num::NonZeroU32", "range(max = 4294967295)"),
];

pub fn lints(operator: &Operator) -> Vec<Problem> {
    let several = kinds(operator).into_values().filter(|versions| versions.len() > 1);
    let of_version = |version: super::Version<'_>| {
        let schema = version.schema().unwrap_or_default();
        let findings = findings(&schema, &version.declared.unreadable).into_iter();
        let problem = |finding: SchemaFinding| {
            let problem = field_problem(&version, &finding.path, &finding.message);
            problem.with_hint(finding.hint).with_rule("unreadable-values")
        };
        findings.map(problem).collect::<Vec<Problem>>()
    };
    several.flatten().flat_map(of_version).collect()
}

/// Returns the findings in a schema. `unreadable` are the types of its fields that do not read every value.
pub fn findings(schema: &Value, unreadable: &Unreadable) -> Vec<SchemaFinding> {
    let mut findings = Vec::new();
    visit_schemas("", schema, &mut |path, schema| {
        let Some(unread) = unreadable.get(&field_names(path)) else { return };
        let Some(value) = unread.values.iter().find(|value| is_accepted(schema, value)) else {
            return;
        };
        let type_path = unread.type_path.replace("kube_core::", "kube::core::");
        findings.push(SchemaFinding {
            path: path.to_owned(),
            message: format!(
                "accepts {value}, which `{type_path}` cannot read: an object with it cannot be converted, and then API servers fail every list of the kind"
            ),
            hint: limiting_hint(path, unread, value),
        });
    });
    findings
}

/// Returns the way out: an attribute that refuses such values, or a type that reads them.
fn limiting_hint(path: &str, unread: &UnreadValues, value: &Value) -> String {
    let (other_type, keyword) = match value {
        Value::String(_) => {
            ("make the field a `String`, and parse it in the controller", "pattern")
        }
        _ => ("take `i64`", "range"),
    };
    let limit = LIMITS.iter().find(|(type_path, _)| *type_path == unread.type_path);
    let around = path.trim_end_matches("[]");
    let Some((_, limit)) = limit.filter(|_| !around.ends_with(".*")) else {
        return format!("{other_type}; or limit it with a {keyword} or a CEL rule");
    };
    let lists = (path.len() - around.len()) / "[]".len();
    let item = (0..lists).fold((*limit).to_owned(), |inner, _| format!("inner({inner})"));
    format!("add `#[schemars({item})]`; or {other_type}")
}
