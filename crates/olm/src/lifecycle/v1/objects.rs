//! The objects with which OLM v1 installs an operator.

use super::API;
use crate::lifecycle::{CATALOG_LABEL, catalog_name};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};

/// The longest name of a Helm release.
const LONGEST: usize = 53;

/// The label with the name of a ClusterCatalog, which catalogd sets as well.
const NAME_LABEL: &str = "olm.operatorframework.io/metadata.name";

/// Returns whether the ClusterExtensions of a server need a service account, according to their CRD.
pub fn requires_account(crd: &Value) -> bool {
    let mut versions = crd["spec"]["versions"].as_array().into_iter().flatten();
    let version = versions.find(|version| version["name"] == "v1");
    let required = version.map(|version| {
        let spec = &version["schema"]["openAPIV3Schema"]["properties"]["spec"];
        spec["required"].as_array().is_some_and(|fields| fields.contains(&json!("serviceAccount")))
    });
    required.unwrap_or(true)
}

/// Builds the ClusterCatalog of a package, from an image.
pub fn cluster_catalog(package: &str, image: &str) -> anyhow::Result<Value> {
    let name = catalog_name(package)?;
    Ok(json!({
        "apiVersion": API,
        "kind": "ClusterCatalog",
        "metadata": {"name": name, "labels": {NAME_LABEL: name, CATALOG_LABEL: name}},
        "spec": {"source": {"type": "Image", "image": {"ref": image}}},
    }))
}

/// Builds the ClusterExtension that installs a package from this catalog alone, in the version of the catalog.
pub fn cluster_extension(
    package: &str,
    namespace: &str,
    account: Option<&str>,
) -> anyhow::Result<Value> {
    let catalog = catalog_name(package)?;
    if LONGEST < package.len() {
        return Err(anyhow::format_err!(
            "the name of the package `{package}` is too long for OLM v1"
        ))
        .hint(format!(
            "OLM v1 uses it as the name of a Helm release, which may have {LONGEST} characters"
        ));
    }
    let mut extension = json!({
        "apiVersion": API,
        "kind": "ClusterExtension",
        "metadata": {"name": package, "labels": {CATALOG_LABEL: catalog}},
        "spec": {
            "namespace": namespace,
            "source": {"sourceType": "Catalog", "catalog": {
                "packageName": package,
                "selector": {"matchLabels": {NAME_LABEL: catalog}},
            }},
        },
    });
    if let Some(account) = account {
        extension["spec"]["serviceAccount"] = json!({"name": account});
    }
    Ok(extension)
}

/// Builds a service account with all permissions, which OLM v1 needs for any bundle: its name, and its objects.
pub fn installer_account(package: &str, namespace: &str) -> anyhow::Result<(String, [Value; 2])> {
    let labels = json!({CATALOG_LABEL: catalog_name(package)?});
    let name = format!("{package}-installer");
    let account = json!({
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
    });
    let binding = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRoleBinding",
        "metadata": {"name": name, "labels": labels},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    });
    Ok((name, [account, binding]))
}

#[test]
fn a_service_account_is_required_if_the_schema_requires_it() {
    let crd = |required: Value| {
        let schema = json!({"properties": {"spec": {"required": required}}});
        json!({"spec": {"versions": [{"name": "v1", "schema": {"openAPIV3Schema": schema}}]}})
    };
    assert!(requires_account(&crd(json!(["namespace", "serviceAccount", "source"]))));
    assert!(!requires_account(&crd(json!(["namespace", "source"]))));
    let extension = cluster_extension("a", "ns", None).unwrap();
    assert!(extension["spec"].get("serviceAccount").is_none());
}

#[test]
fn a_package_has_a_name_that_helm_accepts() {
    assert!(cluster_extension(&"a".repeat(53), "ns", None).is_ok());
    let why = cluster_extension(&"a".repeat(54), "ns", None).unwrap_err();
    let expected = "OLM v1 uses it as the name of a Helm release, which may have 53 characters";
    assert_eq!(diagnostics::collect_hints(&why), [expected]);
    assert!(why.to_string().ends_with("is too long for OLM v1"), "{why}");
}
