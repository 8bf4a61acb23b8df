//! What an API server refuses of an admission webhook, in its own words.
//!
//! The rules are those of Kubernetes 1.36. Not checked: the CEL expressions of `matchConditions`.

use crate::definition::{Faults, client, review_versions};
use go_data::{
    kubernetes::names,
    yaml::{Value, pointer as of},
};

/// Everything that is refused of one item of `webhooks`. Each message begins with the field, such as
/// `clientConfig.service.path`.
pub fn refusals(webhook: &Value, is_mutating: bool) -> Vec<String> {
    let mut faults = Faults::default();
    name(of::text(webhook, "/name"), &mut faults);
    for (at, rule) in of::list(webhook, "/rules").iter().enumerate() {
        self::rule(rule, &format!("rules[{at}]"), &mut faults);
    }
    let reinvocation = ("reinvocationPolicy", &["IfNeeded", "Never"][..]);
    for (field, words) in [
        ("failurePolicy", &["Fail", "Ignore"][..]),
        ("matchPolicy", &["Equivalent", "Exact"]),
        ("sideEffects", SIDE_EFFECTS),
    ]
    .into_iter()
    .chain(is_mutating.then_some(reinvocation))
    {
        if let Some(word) = webhook.get(field).and_then(Value::as_str)
            && !words.contains(&word)
        {
            faults.unsupported(field, word, words);
        }
    }
    if webhook.get("sideEffects").is_none_or(Value::is_null) {
        let words = SIDE_EFFECTS.join(", ");
        faults.required("sideEffects", &format!("must specify one of {words}"));
    }
    let timeout = webhook.get("timeoutSeconds").and_then(Value::as_i64);
    if let Some(timeout) = timeout.filter(|it| !(1..=30).contains(it)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        faults.invalid("timeoutSeconds", &timeout.to_string(), detail);
    }
    for field in ["namespaceSelector", "objectSelector"] {
        selector(webhook.get(field).unwrap_or(&Value::Null), field, &mut faults);
    }
    client(webhook.get("clientConfig").unwrap_or(&Value::Null), "clientConfig", &mut faults);
    conditions(of::list(webhook, "/matchConditions"), &mut faults);
    let versions: Vec<&str> = of::texts(webhook, "/admissionReviewVersions").collect();
    review_versions(&versions, "admissionReviewVersions", &mut faults);
    faults.0
}

const SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];

fn name(name: &str, faults: &mut Faults) {
    let wrong = names::subdomain(name);
    if name.is_empty() {
        faults.required("name", "");
    } else if !wrong.is_empty() {
        faults.invalid("name", name, &wrong.join(","));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        faults.invalid("name", name, detail);
    }
}

fn rule(rule: &Value, field: &str, faults: &mut Faults) {
    let list = |name: &str| of::texts(rule, &format!("/{name}")).collect::<Vec<&str>>();
    for (name, what) in
        [("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")]
    {
        let (list, field) = (list(name), format!("{field}.{name}"));
        if list.is_empty() {
            faults.required(&field, "");
        }
        if 1 < list.len() && list.contains(&"*") {
            let detail = format!("if '*' is present, must not specify other {what}");
            faults.invalid(&field, &list.join(","), &detail);
        }
    }
    let operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    for (at, it) in list("operations").into_iter().enumerate() {
        if !operations.contains(&it) {
            faults.unsupported(&format!("{field}.operations[{at}]"), it, &operations);
        }
    }
    for (at, _) in list("apiVersions").iter().enumerate().filter(|it| it.1.is_empty()) {
        faults.required(&format!("{field}.apiVersions[{at}]"), "");
    }
    resources(&list("resources"), &format!("{field}.resources"), faults);
    if let Some(scope) = rule.get("scope").and_then(Value::as_str) {
        let scopes = ["*", "Cluster", "Namespaced"];
        if !scopes.contains(&scope) {
            faults.unsupported(&format!("{field}.scope"), scope, &scopes);
        }
    }
}

fn resources(resources: &[&str], field: &str, faults: &mut Faults) {
    if resources.is_empty() {
        faults.required(field, "");
    }
    // Kubernetes looks only back: what an item covers may be before it, but not after it.
    let (mut all_of, mut in_all) = (Vec::new(), Vec::new());
    let mut has_plain = false;
    for (at, it) in resources.iter().enumerate() {
        let field = format!("{field}[{at}]");
        if it.is_empty() {
            faults.required(&field, "");
            continue;
        }
        let Some((resource, subresource)) = it.split_once('/') else {
            has_plain = *it != "*";
            continue;
        };
        for other in [
            all_of.contains(&resource).then(|| format!("{resource}/*")),
            in_all.contains(&subresource).then(|| format!("*/{subresource}")),
        ]
        .into_iter()
        .flatten()
        {
            let detail = format!("if '{other}' is present, must not specify {it}");
            faults.invalid(&field, it, &detail);
        }
        if subresource == "*" {
            all_of.push(resource);
        }
        if resource == "*" {
            in_all.push(subresource);
        }
    }
    let list = resources.join(",");
    if 1 < resources.len() && resources.contains(&"*/*") {
        faults.invalid(field, &list, "if '*/*' is present, must not specify other resources");
    }
    if resources.contains(&"*") && has_plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        faults.invalid(field, &list, detail);
    }
}

fn selector(selector: &Value, field: &str, faults: &mut Faults) {
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let at = format!("{field}.matchLabels");
    for (key, value) in labels.into_iter().flatten() {
        names::qualified(key).iter().for_each(|it| faults.invalid(&at, key, it));
        let value = value.as_str().unwrap_or_default();
        names::label_value(value).iter().for_each(|it| faults.invalid(&at, value, it));
    }
    for (at, it) in of::list(selector, "/matchExpressions").iter().enumerate() {
        let field = format!("{field}.matchExpressions[{at}]");
        let values: Vec<&str> = of::texts(it, "/values").collect();
        match (of::text(it, "/operator"), values.is_empty()) {
            ("In" | "NotIn", true) => faults.required(
                &format!("{field}.values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            ("Exists" | "DoesNotExist", false) => faults.list(
                &format!("{field}.values"),
                "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
            (other, _) => {
                let detail = "not a valid selector operator";
                faults.invalid(&format!("{field}.operator"), other, detail);
            }
        }
        let key = of::text(it, "/key");
        let at = format!("{field}.key");
        names::qualified(key).iter().for_each(|it| faults.invalid(&at, key, it));
        for (at, value) in values.into_iter().enumerate() {
            let field = format!("{field}.values[{at}]");
            names::label_value(value).iter().for_each(|it| faults.invalid(&field, value, it));
        }
    }
}

fn conditions(conditions: &[Value], faults: &mut Faults) {
    if 64 < conditions.len() {
        let detail = format!("Too many: {}: must have at most 64 items", conditions.len());
        faults.list("matchConditions", &detail);
    }
    let mut seen = Vec::new();
    for (at, it) in conditions.iter().enumerate() {
        let (name, expression) = (of::text(it, "/name"), of::text(it, "/expression"));
        let field = format!("matchConditions[{at}]");
        if expression.trim().is_empty() {
            faults.required(&format!("{field}.expression"), "");
        }
        let field = format!("{field}.name");
        match name {
            "" => faults.required(&field, ""),
            _ if seen.contains(&name) => faults.list(&field, &format!("Duplicate value: {name:?}")),
            _ => names::qualified(name).iter().for_each(|it| faults.invalid(&field, name, it)),
        }
        seen.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    /// What is refused of a webhook with this value at a pointer; null removes the field.
    fn check(pointer: &str, value: Value, expected: &[&str]) {
        let mut webhook = json!({
            "name": "a.b.io", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": { "url": "https://a" },
            "rules": [{
                "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"],
            }],
        });
        assert_eq!(refusals(&webhook, true), Vec::<String>::new());
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        let parent = webhook.pointer_mut(parent).expect("a parent");
        parent[key] = value;
        assert_eq!(refusals(&webhook, true), expected, "{webhook}");
    }

    #[test]
    fn a_webhook_is_refused_in_the_words_of_kubernetes() {
        let three = "name: Invalid value: \"a.b\": should be a domain with at least three segments separated by dots";
        check("/name", json!("a.b"), &[three]);
        check("/name", json!(""), &["name: Required value"]);
        check(
            "/sideEffects",
            Value::Null,
            &["sideEffects: Required value: must specify one of None, NoneOnDryRun"],
        );
        check(
            "/reinvocationPolicy",
            json!("never"),
            &[
                "reinvocationPolicy: Unsupported value: \"never\": supported values: \"IfNeeded\", \"Never\"",
            ],
        );
        let timeout = "timeoutSeconds: Invalid value: \"0\": the timeout value must be between 1 and 30 seconds";
        check("/timeoutSeconds", json!(0), &[timeout]);
    }

    #[test]
    fn a_rule_is_refused_in_the_words_of_kubernetes() {
        let all = "rules[0].apiGroups: Invalid value: \"*,apps\": if '*' is present, must not specify other API groups";
        check("/rules/0/apiGroups", json!(["*", "apps"]), &[all]);
        let resources = |value: Value, at: &str, text: &str, detail: &str| {
            let expected = format!("rules[0].resources{at}: Invalid value: {text:?}: {detail}");
            check("/rules/0/resources", value, &[&expected]);
        };
        let plain = "if '*' is present, must not specify other resources without subresources";
        resources(json!(["*", "pods"]), "", "*,pods", plain);
        let every = "if '*/*' is present, must not specify other resources";
        resources(json!(["pods", "*/*"]), "", "pods,*/*", every);
        let covered = "if 'pods/*' is present, must not specify pods/log";
        resources(json!(["pods/*", "pods/log"]), "[1]", "pods/log", covered);
    }

    #[test]
    fn a_selector_and_conditions_are_refused_in_the_words_of_kubernetes() {
        let expression = |value: Value, field: &str, fault: &str| {
            let expected = format!("objectSelector.matchExpressions[0].{field}: {fault}");
            check("/objectSelector", json!({ "matchExpressions": [value] }), &[&expected]);
        };
        expression(
            json!({ "key": "a", "operator": "In" }),
            "values",
            "Required value: must be specified when `operator` is 'In' or 'NotIn'",
        );
        expression(
            json!({ "key": "a", "operator": "Exists", "values": ["x"] }),
            "values",
            "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
        );
        expression(
            json!({ "key": "a", "operator": "is" }),
            "operator",
            "Invalid value: \"is\": not a valid selector operator",
        );
        let condition = |at: usize| json!({ "name": format!("n{at}"), "expression": "true" });
        let many: Vec<Value> = (0..65).map(condition).collect();
        let expected = "matchConditions: Too many: 65: must have at most 64 items";
        check("/matchConditions", many.into(), &[expected]);
        check(
            "/matchConditions",
            json!([condition(1), condition(1)]),
            &["matchConditions[1].name: Duplicate value: \"n1\""],
        );
    }
}
