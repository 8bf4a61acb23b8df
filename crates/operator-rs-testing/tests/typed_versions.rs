//! Objects of a kind with two versions, which a webhook converts: each Rust type reads and writes its own version.

use http::{Request, Response};
use hyper::body::Bytes;
use kube::{CustomResource, CustomResourceExt, core::crd::merge_crds};
use operator_rs_testing::{Cluster, resource_name};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::convert::Infallible;

mod v1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1", kind = "Cache", namespaced)]
    pub struct CacheSpec {
        pub replicas: u32,
    }
}

mod v1alpha1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1alpha1", kind = "Cache", namespaced)]
    pub struct CacheSpec {
        pub size: u32,
    }
}

/// Answers a ConversionReview.
async fn convert(request: Request<Bytes>) -> Result<Response<Bytes>, Infallible> {
    let review: Value = serde_json::from_slice(request.body()).unwrap();
    let version = review["request"]["desiredAPIVersion"].clone();
    let field = if version == "test.dev/v1" { "replicas" } else { "size" };
    let objects = review["request"]["objects"].as_array().unwrap().iter().map(|object| {
        let number = object["spec"].as_object().unwrap().values().next().unwrap().clone();
        json!({ "apiVersion": version, "kind": "Cache", "metadata": object["metadata"], "spec": { field: number } })
    });
    let response = json!({ "uid": review["request"]["uid"], "result": { "status": "Success" },
        "convertedObjects": objects.collect::<Vec<_>>() });
    let answer = json!({ "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview", "response": response });
    Ok(Response::new(answer.to_string().into()))
}

#[test]
fn each_type_has_the_version_of_its_own() {
    let crd = merge_crds(vec![v1::Cache::crd(), v1alpha1::Cache::crd()], "v1").unwrap();
    let mut crd = serde_json::to_value(crd).unwrap();
    crd["spec"]["conversion"] = json!({ "strategy": "Webhook",
        "webhook": { "conversionReviewVersions": ["v1"], "clientConfig": { "service": { "path": "/convert" } } } });
    let mut cache = v1alpha1::Cache::new("a", v1alpha1::CacheSpec { size: 1 });
    cache.metadata.namespace = Some("default".into());
    let cluster =
        Cluster::default().with_webhooks("", tower::service_fn(convert)).with_crds(&[crd]).with_object(&cache);

    let stored = cluster.get_json(&resource_name::<v1::Cache>(), "default", "a").unwrap();
    assert_eq!(stored["spec"], json!({ "replicas": 1 }));
    cluster.edit::<v1alpha1::Cache>("default", "a", |cache| cache.spec.size = 2);
    assert_eq!(cluster.get::<v1::Cache>("default", "a").unwrap().spec.replicas, 2);
    cluster.edit::<v1::Cache>("default", "a", |cache| cache.spec.replicas = 3);
    assert_eq!(cluster.list::<v1alpha1::Cache>()[0].spec.size, 3);
}
