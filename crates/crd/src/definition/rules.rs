//! Checks CEL rules: they must compile (syntax, names and types), and must not cost too much.

use super::{
    Fault,
    costs::{self, RuleCosts},
    selectable, visit_schemas, without_duplicates,
};
use crate::{
    expression,
    keyword::{flag, text},
};
use go_data::yaml::Value;

const RULE: &str = "see https://kubernetes.io/docs/reference/using-api/cel for the syntax of rules";
const TRY: &str = "apply the CRD to a test cluster, which compiles the rule";
const OLD: &str = "put the rule on the list itself or above it, or merge the list by keys";

pub fn check_rules(schema: &Value) -> Vec<Fault> {
    let (mut faults, mut too_costly, mut costs) = (Vec::new(), Vec::new(), RuleCosts::default());
    visit_schemas("", schema, &mut |at, it| {
        let rules = it.get("x-kubernetes-validations").and_then(Value::as_array);
        let above = if rules.is_some() { costs::schemas_above(schema, it) } else { Vec::new() };
        for rule in rules.into_iter().flatten() {
            let mut report = |message: String| {
                faults.push(Fault { at: at.to_owned(), message, hint: RULE });
            };
            let source = text(rule, "rule");
            if source.trim().is_empty() {
                report("has a rule that is empty".to_owned());
                continue;
            }
            check_rule_form(rule, it).into_iter().for_each(&mut report);
            let optional = flag(rule, "optionalOldSelf");
            let is_resource = at.is_empty();
            for (source, result) in [(source, "bool"), (text(rule, "messageExpression"), "string")]
            {
                if source.is_empty() {
                    continue;
                }
                let compiled =
                    expression::compile_crd_rule(source, (it, is_resource), optional, result);
                for fault in compiled.faults {
                    report(format!(
                        "has a rule that does not compile: `{}`: {fault}",
                        first_line(source)
                    ));
                }
                // An API server counts a message once.
                let times = match result {
                    "bool" => costs::times_in_resource(&above, (it, is_resource)),
                    _ => 1,
                };
                let cost = compiled.cost.saturating_mul(times);
                too_costly.extend(costs.add_rule((at, first_line(source)), cost));
            }
            if expression::uses_old_self(source) && above.iter().any(|schema| hides_items(schema)) {
                let message = format!(
                    "has a rule on `oldSelf` within a list whose items have no identity: `{}`",
                    first_line(source)
                );
                faults.push(Fault { at: at.to_owned(), message, hint: OLD });
            }
        }
    });
    faults.extend(too_costly);
    faults.extend(costs.into_total_fault());
    without_duplicates(faults)
}

/// The reasons that a rule may have.
const REASONS: &[&str] =
    &["", "FieldValueRequired", "FieldValueForbidden", "FieldValueInvalid", "FieldValueDuplicate"];

/// Returns what an API server refuses about a rule of `schema` before it compiles it.
fn check_rule_form(rule: &Value, schema: &Value) -> Vec<String> {
    let (source, message) = (text(rule, "rule"), text(rule, "message"));
    let shown = first_line(source);
    let mut messages = Vec::new();
    if source.trim().contains('\n') && message.trim().is_empty() {
        messages.push(format!("has a rule of several lines without a message: `{shown}`"));
    }
    if message.trim().contains('\n') || (!message.is_empty() && message.trim().is_empty()) {
        messages.push(format!("has a message that is blank or has several lines: `{shown}`"));
    }
    if !REASONS.contains(&text(rule, "reason")) {
        messages.push(format!("has a rule with an unknown reason: `{shown}`"));
    }
    let sets_old = rule.get("optionalOldSelf").is_some_and(Value::is_boolean);
    if sets_old && !expression::uses_old_self(source) {
        messages.push(format!(
            "has a rule that sets `optionalOldSelf` and does not use `oldSelf`: `{shown}`"
        ));
    }
    let path = text(rule, "fieldPath");
    // Keys in brackets are not followed.
    if !path.is_empty() && !path.contains('[') && selectable::find_schema(schema, path).is_err() {
        messages.push(format!("has a rule whose `fieldPath` is not a field: `{shown}`"));
    }
    messages
}

/// Returns the rules that are not checked completely.
pub fn find_unchecked(schema: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    visit_schemas("", schema, &mut |at, it| {
        let rules = it.get("x-kubernetes-validations").and_then(Value::as_array);
        for rule in rules.into_iter().flatten() {
            let optional = flag(rule, "optionalOldSelf");
            for (key, result) in [("rule", "bool"), ("messageExpression", "string")] {
                let source = text(rule, key);
                let compiled =
                    expression::compile_crd_rule(source, (it, at.is_empty()), optional, result);
                let Some(what) = compiled.unchecked.filter(|_| compiled.faults.is_empty()) else {
                    continue;
                };
                let line = first_line(source);
                let message = format!(
                    "has a rule whose types and cost are not checked, as it uses {what}: `{line}`"
                );
                faults.push(Fault { at: at.to_owned(), message, hint: TRY });
            }
        }
    });
    without_duplicates(faults)
}

/// The first line of a rule.
fn first_line(source: &str) -> &str {
    source.trim().lines().next().unwrap_or_default()
}

/// Returns true if the items of a list have no keys, so that an old item cannot be matched with a new one.
fn hides_items(schema: &Value) -> bool {
    text(schema, "type") == "array" && text(schema, "x-kubernetes-list-type") != "map"
}

/// Rules, and the schema of what they are about: `tests/deploy` asks a real API server for the same verdicts.
#[cfg(test)]
mod tests {
    use super::check_rules;
    use go_data::yaml::{Value, json};

    fn check(rule: &str) -> (bool, bool) {
        let table: Value =
            serde_json::from_str(include_str!("../../../../tests/deploy/rules.json")).unwrap();
        let mut schema = table["schema"].clone();
        schema["x-kubernetes-validations"] = json!([{ "rule": rule, "message": "no" }]);
        let schema = json!({ "type": "object", "properties": { "spec": schema } });
        (check_rules(&schema).is_empty(), super::find_unchecked(&schema).is_empty())
    }

    fn verdicts(of: &str) -> Vec<String> {
        let table: Value =
            serde_json::from_str(include_str!("../../../../tests/deploy/rules.json")).unwrap();
        let list = table[of].as_array().unwrap();
        list.iter().map(|item| item.as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn rules_compile_here_as_on_api_servers() {
        for (of, expected) in [
            ("accepted", (true, true)),
            ("refused", (false, true)),
            ("unchecked", (true, false)),
            ("missed", (true, true)),
        ] {
            for rule in verdicts(of) {
                assert_eq!(check(&rule), expected, "{of}: {rule}");
            }
        }
    }
}
