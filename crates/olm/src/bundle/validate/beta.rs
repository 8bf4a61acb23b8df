//! Converts CRDs of `apiextensions.k8s.io/v1beta1` to `v1`. Fields for all versions become fields of each version.

use super::of;
use go_data::yaml::{Map, Value, json};

/// Fields that are next to the versions or inside them, with their names in `v1`.
const SHARED: &[(&str, &str)] = &[
    ("validation", "schema"),
    ("subresources", "subresources"),
    ("additionalPrinterColumns", "additionalPrinterColumns"),
    ("selectableFields", "selectableFields"),
];

/// Converts a CRD. Fails if a field is both shared and in a version, or if all versions have the same value.
pub fn to_v1(crd: &Value) -> Result<Value, String> {
    let mut converted = crd.clone();
    let Some(spec) = converted.get_mut("spec").and_then(Value::as_object_mut) else {
        return Ok(converted);
    };
    let version = spec.remove("version").unwrap_or_default();
    let version = version.as_str().unwrap_or_default();
    let mut versions = of::list(crd, "/spec/versions").to_vec();
    if versions.is_empty() && !version.is_empty() {
        versions = vec![json!({ "name": version, "served": true, "storage": true })];
    }
    if !version.is_empty() && of::name_of(&versions[0]) != version {
        return Err(format!(
            "spec.version: {version:?} must match the first version in spec.versions"
        ));
    }
    for (top, own) in SHARED {
        let shared = spec.remove(*top).filter(|value| !is_nothing(value));
        let is_own = |version: &Value| version.get(*own).is_some_and(|value| !is_nothing(value));
        if shared.is_some() && versions.iter().any(is_own) {
            return Err(format!(
                "spec.{top}: Forbidden: top-level and per-version {own} are mutually exclusive"
            ));
        }
        let is_identical = versions
            .iter()
            .all(|version| is_own(version) && version.get(*own) == versions[0].get(*own));
        if is_identical && !versions.is_empty() && *own != "selectableFields" {
            return Err(format!(
                "spec.versions: per-version {own} may not all be set to identical values: write them as `spec.{top}`"
            ));
        }
        for version in versions.iter_mut().filter_map(Value::as_object_mut) {
            if let Some(shared) = &shared {
                version.insert((*own).to_owned(), shared.clone());
            }
        }
    }
    spec.insert("versions".to_owned(), versions.into());
    spec.entry("scope").or_insert(json!("Namespaced"));
    let preserves = spec.entry("preserveUnknownFields").or_insert(json!(true));
    if preserves.is_null() {
        *preserves = json!(true);
    }
    if let Some(conversion) = spec.get_mut("conversion").and_then(Value::as_object_mut) {
        move_webhook_client(conversion);
    }
    converted["apiVersion"] = json!("apiextensions.k8s.io/v1");
    Ok(converted)
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_array().is_some_and(Vec::is_empty)
}

fn move_webhook_client(conversion: &mut Map<String, Value>) {
    let client = conversion.remove("webhookClientConfig").unwrap_or_default();
    let mut versions = conversion.remove("conversionReviewVersions").unwrap_or_default();
    if is_nothing(&versions) && conversion.get("strategy") == Some(&json!("Webhook")) {
        versions = json!(["v1beta1"]);
    }
    if !client.is_null() || !is_nothing(&versions) {
        let webhook = json!({ "clientConfig": client, "conversionReviewVersions": versions });
        conversion.insert("webhook".to_owned(), webhook);
    }
}
