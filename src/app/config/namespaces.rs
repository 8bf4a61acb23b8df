//! The namespace of objects that name none: clients such as kubectl put them into the one that they are given, and
//! manifests may have been rendered for it.

use std::collections::BTreeSet;

use diagnostics::Hint as _;
use go_data::yaml::{Value, pointer};

/// Puts the objects that name no namespace into this one.
pub fn place(objects: &mut [Value], namespace: &str) {
    let kind = |group: &str, kind: &str| format!("{kind}.{group}");
    let crds = objects.iter().filter(|object| object["kind"] == "CustomResourceDefinition");
    let outside: Vec<String> = crds
        .filter(|crd| crd["spec"]["scope"] == "Cluster")
        .map(|crd| kind(pointer::text(crd, "/spec/group"), pointer::text(crd, "/spec/names/kind")))
        .collect();
    for it in objects {
        let (version, name) = (pointer::text(it, "/apiVersion"), pointer::text(it, "/kind"));
        let group = version.split_once('/').map_or("", |pair| pair.0);
        let is_outside =
            kustomize::is_cluster_scoped(version, name) || outside.contains(&kind(group, name));
        if !is_outside && !has_namespace(it) {
            it["metadata"]["namespace"] = namespace.into();
        }
    }
}

/// Returns the namespace in which bindings look for the accounts of objects that name none, if there are such bindings.
pub fn of_accounts(objects: &[Value]) -> anyhow::Result<Option<String>> {
    let placed: Vec<(&str, &str)> = (objects.iter())
        .filter(|object| object["kind"] == "ServiceAccount" && has_namespace(object))
        .map(|value| {
            (pointer::text(value, "/metadata/namespace"), pointer::text(value, "/metadata/name"))
        })
        .collect();
    let names: BTreeSet<&str> =
        objects.iter().filter(|object| !has_namespace(object)).filter_map(account_of).collect();
    let subjects = objects.iter().filter_map(|object| object["subjects"].as_array()).flatten();
    let found: BTreeSet<(&str, &str)> = subjects
        .filter(|subject| subject["kind"] == "ServiceAccount")
        .map(|subject| (pointer::text(subject, "/namespace"), pointer::text(subject, "/name")))
        .filter(|pair| !pair.0.is_empty() && names.contains(pair.1) && !placed.contains(pair))
        .collect();
    let namespaces: BTreeSet<&str> = found.iter().map(|pair| pair.0).collect();
    match namespaces.into_iter().collect::<Vec<_>>().as_slice() {
        [] => Ok(None),
        [one] => Ok(Some((*one).to_owned())),
        several => {
            let names: BTreeSet<&str> = found.iter().map(|pair| pair.1).collect();
            Err(anyhow::format_err!(
                "it is unknown which namespace the manifests are for: bindings look for the ServiceAccount {} in {}",
                names.into_iter().collect::<Vec<_>>().join(", "),
                several.join(", ")
            ))
            .hint("give it: `--namespace NAME`")
        }
    }
}

/// Returns the name of the account that an object is, or that its pods have.
fn account_of(object: &Value) -> Option<&str> {
    if object["kind"] == "ServiceAccount" {
        object["metadata"]["name"].as_str()
    } else {
        object["spec"]["template"]["spec"]["serviceAccountName"].as_str()
    }
}

fn has_namespace(object: &Value) -> bool {
    !pointer::text(object, "/metadata/namespace").is_empty()
}

#[test]
fn bindings_say_where_accounts_are() {
    use go_data::yaml::json;
    let account = |namespace: &str| json!({"kind": "ServiceAccount", "metadata": {"name": "a", "namespace": namespace}});
    let pods =
        json!({"kind": "Deployment", "spec": {"template": {"spec": {"serviceAccountName": "a"}}}});
    let binding = |namespace: &str| json!({"kind": "RoleBinding", "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": namespace}]});
    let check = |objects: &[Value], expected: Option<&str>| {
        assert_eq!(of_accounts(objects).unwrap().as_deref(), expected, "{objects:?}");
    };
    check(&[account(""), binding("x"), binding("x")], Some("x"));
    check(&[account(""), binding("")], None);
    check(&[account("y"), binding("x")], None);
    check(&[account("x"), pods.clone()], None);
    check(&[binding("x"), pods], Some("x"));
    // Another account of the same name has its own binding.
    check(&[account("y"), account(""), binding("x"), binding("y")], Some("x"));
    let error = of_accounts(&[account(""), binding("x"), binding("y")]).unwrap_err();
    assert!(
        error.to_string().ends_with("bindings look for the ServiceAccount a in x, y"),
        "{error}"
    );
}
