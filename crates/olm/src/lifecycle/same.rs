//! Compares an installed version with the content of a bundle.

use go_data::{kubernetes, yaml::Value};

/// The fields of a specification that OLM stores unchanged: it sets `replaces` and `skips` itself.
const PARTS: [&str; 5] = [
    "version",
    "install",
    "customresourcedefinitions",
    "apiservicedefinitions",
    "webhookdefinitions",
];

/// Returns the path at which an installed ClusterServiceVersion differs from that of a bundle. Fields that only the
/// installed one has may be defaults.
pub fn csv_difference(installed: &Value, bundle: &Value) -> Option<String> {
    let [installed, bundle] = [installed, bundle].map(|csv| kubernetes::decode(csv).value);
    PARTS.iter().find_map(|part| {
        find_difference(&installed["spec"][*part], &bundle["spec"][*part], &format!("spec.{part}"))
    })
}

fn find_difference(installed: &Value, bundle: &Value, path: &str) -> Option<String> {
    match (installed, bundle) {
        (_, Value::Null) => None,
        (installed, bundle) if is_nothing(installed) && is_nothing(bundle) => None,
        (Value::Object(installed), Value::Object(bundle)) => {
            bundle.iter().find_map(|(key, value)| {
                let installed_value = installed.get(key).unwrap_or(&Value::Null);
                find_difference(installed_value, value, &format!("{path}.{key}"))
            })
        }
        (Value::Array(installed), Value::Array(bundle)) if installed.len() == bundle.len() => {
            let mut pairs = installed.iter().zip(bundle).enumerate();
            pairs.find_map(|(at, (installed_value, value))| {
                find_difference(installed_value, value, &format!("{path}[{at}]"))
            })
        }
        _ => (installed != bundle).then(|| path.to_owned()),
    }
}

/// Returns whether Go omits a value.
fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(value) => value.as_f64() == Some(0.0),
        Value::String(value) => value.is_empty(),
        Value::Array(value) => value.is_empty(),
        Value::Object(value) => value.values().all(is_nothing),
    }
}

#[test]
fn the_content_of_a_version_is_compared_without_defaults() {
    use go_data::yaml::json;
    let csv = |container: Value, replaces: &str| {
        json!({
            "apiVersion": "operators.coreos.com/v1alpha1", "kind": "ClusterServiceVersion",
            "spec": {"version": "0.0.1", "replaces": replaces, "install": {"strategy": "deployment", "spec": {
                "deployments": [{"name": "a", "spec": {"template": {"spec": {"containers": [container]}}}}],
            }}},
        })
    };
    let check = |installed: Value, bundle: Value, expected: Option<&str>| {
        let found = csv_difference(&csv(installed, "x"), &csv(bundle, ""));
        assert_eq!(found.as_deref(), expected);
    };
    let one = json!({"name": "a", "image": "a:1", "resources": {"limits": {"cpu": 0.5}}});
    let stored = json!({"name": "a", "image": "a:1", "imagePullPolicy": "Always", "resources": {"limits": {"cpu": "500m"}}});
    check(stored.clone(), one.clone(), None);
    let container = "spec.install.spec.deployments[0].spec.template.spec.containers[0]";
    let mut other = one.clone();
    other["image"] = json!("a:2");
    check(stored.clone(), other, Some(&format!("{container}.image")));
    let mut more = one.clone();
    more["args"] = json!(["--x"]);
    check(stored.clone(), more, Some(&format!("{container}.args")));
    let mut nothing = one;
    nothing["args"] = json!([]);
    check(stored, nothing, None);
}
