//! CEL rules that do not compile, because of their syntax, an undeclared name or a type, or that may cost too much.

use super::{
    Fault,
    costs::{self, Costs},
    once, selectable, walk,
};
use crate::{
    expression,
    keyword::{flag, text},
};
use go_data::yaml::Value;

const RULE: &str = "see https://kubernetes.io/docs/reference/using-api/cel for the syntax of rules";
const TRY: &str = "apply the CRD to a test cluster, which compiles the rule";
const OLD: &str = "put the rule on the list itself or above it, or merge the list by keys";

pub fn faults(schema: &Value) -> Vec<Fault> {
    let (mut res, mut too_costly, mut costs) = (Vec::new(), Vec::new(), Costs::default());
    walk("", schema, &mut |at, it| {
        let rules = it.get("x-kubernetes-validations").and_then(Value::as_array);
        let above = if rules.is_some() { costs::above(schema, it) } else { Vec::new() };
        for rule in rules.into_iter().flatten() {
            let mut say = |message: String| {
                res.push(Fault { at: at.to_owned(), message, hint: RULE });
            };
            let (source, message) = (text(rule, "rule"), text(rule, "message"));
            if source.trim().is_empty() {
                say("has a rule that is empty".to_owned());
                continue;
            }
            if source.trim().contains('\n') && message.trim().is_empty() {
                say(format!("has a rule of several lines without a message: `{}`", first(source)));
            }
            if message.trim().contains('\n') || (!message.is_empty() && message.trim().is_empty()) {
                say(format!(
                    "has a message that is blank or has several lines: `{}`",
                    first(source)
                ));
            }
            let optional = flag(rule, "optionalOldSelf");
            if !matches!(
                text(rule, "reason"),
                "" | "FieldValueRequired"
                    | "FieldValueForbidden"
                    | "FieldValueInvalid"
                    | "FieldValueDuplicate"
            ) {
                say(format!("has a rule with an unknown reason: `{}`", first(source)));
            }
            let sets_old = rule.get("optionalOldSelf").is_some_and(Value::is_boolean);
            if sets_old && !expression::uses_old_self(source) {
                say(format!(
                    "has a rule that sets `optionalOldSelf` and does not use `oldSelf`: `{}`",
                    first(source)
                ));
            }
            let path = text(rule, "fieldPath");
            // Keys in brackets are not followed.
            if !path.is_empty() && !path.contains('[') && selectable::found(it, path).is_err() {
                say(format!("has a rule whose `fieldPath` is not a field: `{}`", first(source)));
            }
            let is_resource = at.is_empty();
            for (source, result) in [(source, "bool"), (text(rule, "messageExpression"), "string")]
            {
                if source.is_empty() {
                    continue;
                }
                let compiled = expression::of_crd(source, (it, is_resource), optional, result);
                for fault in compiled.faults {
                    say(format!("has a rule that does not compile: `{}`: {fault}", first(source)));
                }
                // An API server counts a message once.
                let times = match result {
                    "bool" => costs::times(&above, (it, is_resource)),
                    _ => 1,
                };
                let cost = compiled.cost.saturating_mul(times);
                too_costly.extend(costs.add((at, first(source)), cost));
            }
            if expression::uses_old_self(source) && above.iter().any(|it| hides_items(it)) {
                let message = format!(
                    "has a rule on `oldSelf` within a list whose items have no identity: `{}`",
                    first(source)
                );
                res.push(Fault { at: at.to_owned(), message, hint: OLD });
            }
        }
    });
    res.extend(too_costly);
    res.extend(costs.of_all());
    once(res)
}

/// Rules of which a part is not checked.
pub fn unchecked(schema: &Value) -> Vec<Fault> {
    let mut res = Vec::new();
    walk("", schema, &mut |at, it| {
        let rules = it.get("x-kubernetes-validations").and_then(Value::as_array);
        for rule in rules.into_iter().flatten() {
            let optional = flag(rule, "optionalOldSelf");
            for (key, result) in [("rule", "bool"), ("messageExpression", "string")] {
                let source = text(rule, key);
                let compiled = expression::of_crd(source, (it, at.is_empty()), optional, result);
                let Some(what) = compiled.unchecked.filter(|_| compiled.faults.is_empty()) else {
                    continue;
                };
                let first = first(source);
                let message = format!(
                    "has a rule whose types and cost are not checked, as it uses {what}: `{first}`"
                );
                res.push(Fault { at: at.to_owned(), message, hint: TRY });
            }
        }
    });
    once(res)
}

/// The first line of a rule.
fn first(source: &str) -> &str {
    source.trim().lines().next().unwrap_or_default()
}

/// Whether the items of a list have no keys, so that an old item cannot be matched with a new one.
fn hides_items(schema: &Value) -> bool {
    text(schema, "type") == "array" && text(schema, "x-kubernetes-list-type") != "map"
}

/// Rules, and the schema of what they are about: `tests/deploy` asks a real API server for the same verdicts.
#[cfg(test)]
mod tests {
    use super::faults;
    use go_data::yaml::{Value, json};

    fn check(rule: &str) -> (bool, bool) {
        let table: Value =
            serde_json::from_str(include_str!("../../../../tests/deploy/rules.json")).unwrap();
        let mut schema = table["schema"].clone();
        schema["x-kubernetes-validations"] = json!([{ "rule": rule, "message": "no" }]);
        let schema = json!({ "type": "object", "properties": { "spec": schema } });
        (faults(&schema).is_empty(), super::unchecked(&schema).is_empty())
    }

    fn verdicts(of: &str) -> Vec<String> {
        let table: Value =
            serde_json::from_str(include_str!("../../../../tests/deploy/rules.json")).unwrap();
        let list = table[of].as_array().unwrap();
        list.iter().map(|it| it.as_str().unwrap().to_owned()).collect()
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
