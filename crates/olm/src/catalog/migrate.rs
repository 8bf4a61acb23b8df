//! `--migrate-level bundle-object-to-csv-metadata`: replaces all manifests by the part of the ClusterServiceVersion
//! that consoles show. Catalogs for OpenShift 4.17 and later need it, and it is far smaller.

use super::{
    blob::{BundleBlob, Property, property},
    properties,
};
use go_data::{
    kubernetes,
    yaml::{Map, Value, json},
};

/// Migrates a bundle that has an image and carries its manifests.
pub fn migrate(bundle: &mut BundleBlob) -> Result<(), String> {
    let is_done = bundle.properties.iter().any(|property| property.type_ == property::CSV_METADATA);
    if bundle.image.is_empty() || is_done {
        return Ok(());
    }
    let Some(csv) = properties::find_csv(bundle) else { return Ok(()) };
    let decoded = kubernetes::decode_as("operators.ClusterServiceVersion", &csv);
    if let Some(fault) = decoded.faults.first() {
        return Err(format!("migrate: the ClusterServiceVersion of {}: {fault}", bundle.name));
    }
    bundle.properties.retain(|property| property.type_ != property::OBJECT);
    bundle.properties.push(Property::new(property::CSV_METADATA, csv_metadata(&decoded.value)));
    Ok(())
}

/// Returns fields of the metadata and the spec. Structs are always present, the others only if they are not empty.
fn csv_metadata(csv: &Value) -> Value {
    let mut fields = Map::new();
    for (name, path) in [
        ("apiServiceDefinitions", "/spec/apiservicedefinitions"),
        ("crdDescriptions", "/spec/customresourcedefinitions"),
        ("provider", "/spec/provider"),
    ] {
        fields.insert(name.to_owned(), csv.pointer(path).cloned().unwrap_or_else(|| json!({})));
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
        let value = csv.pointer(path).filter(|value| match value {
            Value::Null => false,
            Value::String(value) => !value.is_empty(),
            Value::Array(value) => !value.is_empty(),
            Value::Object(value) => !value.is_empty(),
            _ => true,
        });
        fields.extend(value.map(|value| (name.to_owned(), value.clone())));
    }
    fields.into()
}
