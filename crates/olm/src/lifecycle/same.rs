//! Whether an installed version has the content of a bundle.

use go_data::{kubernetes, yaml::Value};

/// The parts of a specification that OLM stores as they are: it sets `replaces` and `skips` itself.
const PARTS: [&str; 5] = [
    "version",
    "install",
    "customresourcedefinitions",
    "apiservicedefinitions",
    "webhookdefinitions",
];

/// Where an installed ClusterServiceVersion differs from that of a bundle. What only the installed one has may be a default.
pub fn difference(installed: &Value, bundle: &Value) -> Option<String> {
    let [installed, bundle] = [installed, bundle].map(|it| kubernetes::decode(it).value);
    PARTS.iter().find_map(|part| {
        differs(&installed["spec"][*part], &bundle["spec"][*part], &format!("spec.{part}"))
    })
}

fn differs(installed: &Value, bundle: &Value, path: &str) -> Option<String> {
    match (installed, bundle) {
        (_, Value::Null) => None,
        (installed, bundle) if is_nothing(installed) && is_nothing(bundle) => None,
        (Value::Object(installed), Value::Object(bundle)) => bundle.iter().find_map(|(key, it)| {
            let found = installed.get(key).unwrap_or(&Value::Null);
            differs(found, it, &format!("{path}.{key}"))
        }),
        (Value::Array(installed), Value::Array(bundle)) if installed.len() == bundle.len() => {
            let mut pairs = installed.iter().zip(bundle).enumerate();
            pairs.find_map(|(at, (found, it))| differs(found, it, &format!("{path}[{at}]")))
        }
        _ => (installed != bundle).then(|| path.to_owned()),
    }
}

/// What Go leaves out.
fn is_nothing(it: &Value) -> bool {
    match it {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(it) => it.as_f64() == Some(0.0),
        Value::String(it) => it.is_empty(),
        Value::Array(it) => it.is_empty(),
        Value::Object(it) => it.values().all(is_nothing),
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
        let found = difference(&csv(installed, "x"), &csv(bundle, ""));
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
