//! Checks an admission webhook as an API server does, and reports faults in the server's words.
//!
//! The rules are those of Kubernetes 1.36. The CEL expressions of `matchConditions` are not checked.

use crate::definition::{Faults, check_client_config, check_review_versions};
use go_data::{
    kubernetes::names,
    yaml::{Value, pointer},
};

/// Returns everything that an API server refuses in one item of `webhooks`. Each message begins with the field, such as
/// `clientConfig.service.path`.
pub fn refusals(webhook: &Value, is_mutating: bool) -> Vec<String> {
    let mut faults = Faults::default();
    check_name(pointer::text(webhook, "/name"), &mut faults);
    for (at, rule) in pointer::list(webhook, "/rules").iter().enumerate() {
        self::check_rule(rule, &format!("rules[{at}]"), &mut faults);
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
            faults.add_unsupported(field, word, words);
        }
    }
    if webhook.get("sideEffects").is_none_or(Value::is_null) {
        let words = SIDE_EFFECTS.join(", ");
        faults.add_required("sideEffects", &format!("must specify one of {words}"));
    }
    let timeout = webhook.get("timeoutSeconds").and_then(Value::as_i64);
    if let Some(timeout) = timeout.filter(|timeout| !(1..=30).contains(timeout)) {
        let detail = "the timeout value must be between 1 and 30 seconds";
        faults.add_invalid("timeoutSeconds", &timeout.to_string(), detail);
    }
    for field in ["namespaceSelector", "objectSelector"] {
        check_selector(webhook.get(field).unwrap_or(&Value::Null), field, &mut faults);
    }
    check_client_config(
        webhook.get("clientConfig").unwrap_or(&Value::Null),
        "clientConfig",
        &mut faults,
    );
    check_conditions(pointer::list(webhook, "/matchConditions"), &mut faults);
    let versions: Vec<&str> = pointer::texts(webhook, "/admissionReviewVersions").collect();
    check_review_versions(&versions, "admissionReviewVersions", &mut faults);
    faults.0
}

const SIDE_EFFECTS: &[&str] = &["None", "NoneOnDryRun"];

fn check_name(name: &str, faults: &mut Faults) {
    let wrong = names::validate_subdomain(name);
    if name.is_empty() {
        faults.add_required("name", "");
    } else if !wrong.is_empty() {
        faults.add_invalid("name", name, &wrong.join(","));
    } else if name.split('.').count() < 3 {
        let detail = "should be a domain with at least three segments separated by dots";
        faults.add_invalid("name", name, detail);
    }
}

fn check_rule(rule: &Value, field: &str, faults: &mut Faults) {
    let list = |name: &str| pointer::texts(rule, &format!("/{name}")).collect::<Vec<&str>>();
    for (name, what) in
        [("operations", "operations"), ("apiGroups", "API groups"), ("apiVersions", "API versions")]
    {
        let (list, field) = (list(name), format!("{field}.{name}"));
        if list.is_empty() {
            faults.add_required(&field, "");
        }
        if list.len() > 1 && list.contains(&"*") {
            let detail = format!("if '*' is present, must not specify other {what}");
            faults.add_invalid(&field, &list.join(","), &detail);
        }
    }
    let operations = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
    for (at, it) in list("operations").into_iter().enumerate() {
        if !operations.contains(&it) {
            faults.add_unsupported(&format!("{field}.operations[{at}]"), it, &operations);
        }
    }
    for (at, _) in list("apiVersions").iter().enumerate().filter(|version| version.1.is_empty()) {
        faults.add_required(&format!("{field}.apiVersions[{at}]"), "");
    }
    check_resources(&list("resources"), &format!("{field}.resources"), faults);
    if let Some(scope) = rule.get("scope").and_then(Value::as_str) {
        let scopes = ["*", "Cluster", "Namespaced"];
        if !scopes.contains(&scope) {
            faults.add_unsupported(&format!("{field}.scope"), scope, &scopes);
        }
    }
}

fn check_resources(resources: &[&str], field: &str, faults: &mut Faults) {
    if resources.is_empty() {
        faults.add_required(field, "");
    }
    // Kubernetes looks only back: what an item covers may be before it, but not after it.
    let (mut all_of, mut in_all) = (Vec::new(), Vec::new());
    let mut has_plain = false;
    for (at, it) in resources.iter().enumerate() {
        let field = format!("{field}[{at}]");
        if it.is_empty() {
            faults.add_required(&field, "");
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
            faults.add_invalid(&field, it, &detail);
        }
        if subresource == "*" {
            all_of.push(resource);
        }
        if resource == "*" {
            in_all.push(subresource);
        }
    }
    let list = resources.join(",");
    if resources.len() > 1 && resources.contains(&"*/*") {
        faults.add_invalid(field, &list, "if '*/*' is present, must not specify other resources");
    }
    if resources.contains(&"*") && has_plain {
        let detail = "if '*' is present, must not specify other resources without subresources";
        faults.add_invalid(field, &list, detail);
    }
}

fn check_selector(selector: &Value, field: &str, faults: &mut Faults) {
    let labels = selector.get("matchLabels").and_then(Value::as_object);
    let at = format!("{field}.matchLabels");
    for (key, value) in labels.into_iter().flatten() {
        names::validate_qualified_name(key)
            .iter()
            .for_each(|fault| faults.add_invalid(&at, key, fault));
        let value = value.as_str().unwrap_or_default();
        names::validate_label_value(value)
            .iter()
            .for_each(|fault| faults.add_invalid(&at, value, fault));
    }
    for (at, it) in pointer::list(selector, "/matchExpressions").iter().enumerate() {
        let field = format!("{field}.matchExpressions[{at}]");
        let values: Vec<&str> = pointer::texts(it, "/values").collect();
        match (pointer::text(it, "/operator"), values.is_empty()) {
            ("In" | "NotIn", true) => faults.add_required(
                &format!("{field}.values"),
                "must be specified when `operator` is 'In' or 'NotIn'",
            ),
            ("Exists" | "DoesNotExist", false) => faults.add_detail(
                &format!("{field}.values"),
                "Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            ("In" | "NotIn" | "Exists" | "DoesNotExist", _) => {}
            (other, _) => {
                let detail = "not a valid selector operator";
                faults.add_invalid(&format!("{field}.operator"), other, detail);
            }
        }
        let key = pointer::text(it, "/key");
        let at = format!("{field}.key");
        names::validate_qualified_name(key)
            .iter()
            .for_each(|fault| faults.add_invalid(&at, key, fault));
        for (at, value) in values.into_iter().enumerate() {
            let field = format!("{field}.values[{at}]");
            names::validate_label_value(value)
                .iter()
                .for_each(|fault| faults.add_invalid(&field, value, fault));
        }
    }
}

fn check_conditions(conditions: &[Value], faults: &mut Faults) {
    if conditions.len() > 64 {
        let detail = format!("Too many: {}: must have at most 64 items", conditions.len());
        faults.add_detail("matchConditions", &detail);
    }
    let mut seen = Vec::new();
    for (at, it) in conditions.iter().enumerate() {
        let (name, expression) = (pointer::text(it, "/name"), pointer::text(it, "/expression"));
        let field = format!("matchConditions[{at}]");
        if expression.trim().is_empty() {
            faults.add_required(&format!("{field}.expression"), "");
        }
        let field = format!("{field}.name");
        match name {
            "" => faults.add_required(&field, ""),
            _ if seen.contains(&name) => {
                faults.add_detail(&field, &format!("Duplicate value: {name:?}"))
            }
            _ => names::validate_qualified_name(name)
                .iter()
                .for_each(|fault| faults.add_invalid(&field, name, fault)),
        }
        seen.push(name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    /// Checks what is refused of a webhook with this value at a pointer; null removes the field.
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
