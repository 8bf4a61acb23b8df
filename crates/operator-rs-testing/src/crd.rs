//! CustomResourceDefinitions: the schemas and versions that they declare.

use super::store::Store;
use serde_json::Value;

/// The resource of CRDs; the name of one is the resource that it declares.
pub const CRDS: &str = "customresourcedefinitions.apiextensions.k8s.io";

/// The schema of a resource in a version, where its CRD is known.
pub fn declared_schema(store: &Store, resource: &str, api_version: &str) -> Option<Value> {
    let crd = store.get(CRDS, &(String::new(), resource.to_owned()))?.value();
    Some(served_version(&crd, api_version)?["schema"]["openAPIV3Schema"].clone())
}

/// The version that a CRD declares for requests of this one.
pub fn served_version<'a>(crd: &'a Value, api_version: &str) -> Option<&'a Value> {
    let version = api_version.rsplit('/').next().unwrap_or_default();
    let versions = crd["spec"]["versions"].as_array()?;
    versions.iter().find(|served| served["name"] == version).or_else(|| versions.first())
}
