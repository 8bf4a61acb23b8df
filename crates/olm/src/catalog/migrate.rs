//! `--migrate-level bundle-object-to-csv-metadata`: what consoles show of a ClusterServiceVersion, in place of all
//! manifests. Catalogs for OpenShift 4.17 and later need it, and it is far smaller.

use super::{
    blob::{Bundle, Property, property},
    properties,
};
use go_data::{
    kubernetes,
    yaml::{Map, Value, json},
};

/// Migrates a bundle that has an image and carries its manifests.
pub fn migrate(bundle: &mut Bundle) -> Result<(), String> {
    let is_done = bundle.properties.iter().any(|it| it.type_ == property::CSV_METADATA);
    if bundle.image.is_empty() || is_done {
        return Ok(());
    }
    let Some(csv) = properties::csv(bundle) else { return Ok(()) };
    let decoded = kubernetes::decode_as("operators.ClusterServiceVersion", &csv);
    if let Some(fault) = decoded.faults.first() {
        return Err(format!("migrate: the ClusterServiceVersion of {}: {fault}", bundle.name));
    }
    bundle.properties.retain(|it| it.type_ != property::OBJECT);
    bundle.properties.push(Property::new(property::CSV_METADATA, metadata(&decoded.value)));
    Ok(())
}

/// Fields of the metadata and the spec. Structs are always there, the others where they are not empty.
fn metadata(csv: &Value) -> Value {
    let mut res = Map::new();
    for (name, path) in [
        ("apiServiceDefinitions", "/spec/apiservicedefinitions"),
        ("crdDescriptions", "/spec/customresourcedefinitions"),
        ("provider", "/spec/provider"),
    ] {
        res.insert(name.to_owned(), csv.pointer(path).cloned().unwrap_or_else(|| json!({})));
    }
    for (name, path) in [
        ("annotations", "/metadata/annotations"),
        ("description", "/spec/description"),
        ("displayName", "/spec/displayName"),
        ("installModes", "/spec/installModes"),
        ("keywords", "/spec/keywords"),
        ("labels", "/metadata/labels"),
        ("links", "/spec/links"),
        ("maintainers", "/spec/maintainers"),
        ("maturity", "/spec/maturity"),
        ("minKubeVersion", "/spec/minKubeVersion"),
        ("nativeAPIs", "/spec/nativeAPIs"),
    ] {
        let value = csv.pointer(path).filter(|it| match it {
            Value::Null => false,
            Value::String(it) => !it.is_empty(),
            Value::Array(it) => !it.is_empty(),
            Value::Object(it) => !it.is_empty(),
            _ => true,
        });
        res.extend(value.map(|it| (name.to_owned(), it.clone())));
    }
    res.into()
}
