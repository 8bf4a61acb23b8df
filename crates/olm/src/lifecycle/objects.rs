//! The objects with which OLM installs an operator.

use super::{CATALOG_LABEL, Release, V1_ALPHA1};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};

/// The longest value of a label: OLM labels what it creates with the name of the CatalogSource.
const LABEL: usize = 63;

/// Returns the name of a package's CatalogSource, which is that of operator-sdk.
pub fn catalog_name(package: &str) -> anyhow::Result<String> {
    let name = format!("{package}-catalog");
    if name.len() <= LABEL {
        return Ok(name);
    }
    Err(anyhow::format_err!("the name of the package `{package}` is too long for OLM")).hint(
        format!("OLM uses `{name}` as the value of a label, which may have {LABEL} characters"),
    )
}

/// Returns the name of a release's Subscription, which is that of operator-sdk.
pub fn subscription_name(csv: &str) -> String {
    let name: String = csv
        .to_lowercase()
        .chars()
        .map(|letter| if letter.is_ascii_alphanumeric() { letter } else { '-' })
        .collect();
    format!("{}-sub", name.trim_matches('-'))
}

/// Builds the CatalogSource of a catalog that is served at this address.
pub fn catalog_source(
    package: &str,
    namespace: &str,
    address: &str,
    secrets: &[String],
) -> anyhow::Result<Value> {
    let name = catalog_name(package)?;
    let mut spec = json!({
        "sourceType": "grpc",
        "address": address,
        "displayName": package,
        "publisher": "operator-rs",
    });
    if !secrets.is_empty() {
        spec["secrets"] = secrets.into();
    }
    Ok(json!({
        "apiVersion": V1_ALPHA1,
        "kind": "CatalogSource",
        "metadata": {"name": name, "namespace": namespace, "labels": {CATALOG_LABEL: name}},
        "spec": spec,
    }))
}

/// Builds a Subscription whose updates must be approved, so that only the requested version is installed.
pub fn build_subscription(
    release: &Release,
    name: &str,
    namespace: &str,
    starting: &str,
) -> anyhow::Result<Value> {
    let source = catalog_name(&release.package)?;
    Ok(json!({
        "apiVersion": V1_ALPHA1,
        "kind": "Subscription",
        "metadata": {"name": name, "namespace": namespace, "labels": {CATALOG_LABEL: source}},
        "spec": {
            "name": release.package,
            "channel": release.channel,
            "source": source,
            "sourceNamespace": namespace,
            "startingCSV": starting,
            "installPlanApproval": "Manual",
        },
    }))
}

/// Builds a namespace for a package. It has a label, because OLM removes the list of field managers.
pub fn build_namespace(name: &str, package: &str) -> anyhow::Result<Value> {
    let labels = json!({CATALOG_LABEL: catalog_name(package)?});
    Ok(
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}),
    )
}

#[test]
fn names_are_those_of_operator_sdk() {
    assert_eq!(catalog_name("memcached-operator").unwrap(), "memcached-operator-catalog");
    assert!(catalog_name(&"a".repeat(56)).is_err());
    assert_eq!(subscription_name("memcached-operator.v0.0.1"), "memcached-operator-v0-0-1-sub");
}
