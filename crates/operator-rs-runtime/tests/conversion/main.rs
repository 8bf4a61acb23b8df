//! Reviews of conversions, as the API server sends them.

mod cluster;
mod kinds;
mod lossless;
mod partial;
mod real;

use http::{Request, StatusCode};
use hyper::body::Bytes;
use kinds::{new, old};
use operator_rs_runtime::{Component, Identity, Manager, conversion_webhook};
use operator_rs_testing::Cluster;
use serde_json::{Value, json};
use tower::ServiceExt;

fn manager() -> Manager {
    Manager::new(Identity { name: "operator", version: "1" }, Cluster::default().client())
}

fn caches() -> Vec<Component> {
    vec![conversion_webhook::<new::Cache, old::Cache>()]
}

async fn post(hubs: Vec<Component>, body: String) -> (StatusCode, Value) {
    let request = Request::post("/convert").header("content-type", "application/json").body(Bytes::from(body)).unwrap();
    let answer = operator_rs_runtime::webhook_service(hubs, &manager()).oneshot(request).await.unwrap();
    (answer.status(), serde_json::from_slice(answer.body()).unwrap())
}

fn review(version: &str, objects: &[Value]) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "request": { "uid": "705ab4f5", "desiredAPIVersion": version, "objects": objects },
    })
}

/// The objects, or the message of the refusal.
async fn convert(hubs: Vec<Component>, version: &str, objects: &[Value]) -> Result<Vec<Value>, String> {
    let (code, body) = post(hubs, review(version, objects).to_string()).await;
    assert_eq!(code, StatusCode::OK);
    assert_eq!((&body["apiVersion"], &body["kind"]), (&json!("apiextensions.k8s.io/v1"), &json!("ConversionReview")));
    let response = &body["response"];
    assert_eq!(response["uid"], "705ab4f5");
    let converted = response["convertedObjects"].as_array().unwrap().clone();
    match response["result"]["status"].as_str().unwrap() {
        "Success" => Ok(converted),
        _ => {
            assert!(converted.is_empty());
            Err(response["result"]["message"].as_str().unwrap().to_owned())
        }
    }
}

async fn convert_one(hubs: Vec<Component>, version: &str, object: &Value) -> Result<Value, String> {
    Ok(convert(hubs, version, std::slice::from_ref(object)).await?.remove(0))
}

fn old_cache(spec: Value) -> Value {
    json!({ "apiVersion": "test.dev/v1alpha1", "kind": "Cache", "metadata": { "name": "a", "namespace": "b" }, "spec": spec })
}

fn new_cache(spec: Value) -> Value {
    json!({ "apiVersion": "test.dev/v1", "kind": "Cache", "metadata": { "name": "a", "namespace": "b" }, "spec": spec })
}

#[tokio::test]
async fn objects_are_converted_in_their_order_and_those_of_the_version_stay() {
    let objects: Vec<_> = (0..5).map(|i| old_cache(json!({ "size": i, "address": "a:1" }))).collect();
    let same = new_cache(json!({ "anything": null }));
    let converted =
        convert(caches(), "test.dev/v1", &[&objects[..], std::slice::from_ref(&same)].concat()).await.unwrap();
    for (i, it) in converted.iter().take(5).enumerate() {
        assert_eq!(*it, new_cache(json!({ "replicas": i, "host": "a", "port": 1, "zones": [] })));
    }
    assert_eq!(converted[5..], [same]);
}

#[tokio::test]
async fn metadata_but_for_labels_and_annotations_is_the_source_s() {
    let mut object = old_cache(json!({ "size": 1, "address": "a:1" }));
    object["metadata"] = json!({
        "name": "a", "uid": "1", "labels": { "a": "b" }, "finalizers": [], "unknown": { "x": [null] },
        "managedFields": [{ "manager": "m", "fieldsV1": { "f:spec": {} } }], "creationTimestamp": null,
    });
    object["status"] = json!({ "ready": 1 });
    let converted = convert_one(caches(), "test.dev/v1", &object).await.unwrap();
    assert_eq!(converted["metadata"], object["metadata"]);
    assert_eq!(converted["status"], object["status"]);
}

#[tokio::test]
async fn a_failing_object_and_its_field_are_named() {
    let good = old_cache(json!({ "size": 1, "address": "a:1" }));
    for (object, message) in [
        (
            old_cache(json!({ "size": "three", "address": "a" })),
            "cannot convert Cache `b/a` from test.dev/v1alpha1 to test.dev/v1: `spec.size`: invalid type: string \"three\", expected i32; if it is stored like this, correct it: `kubectl edit caches.v1alpha1.test.dev a -n b`",
        ),
        (
            old_cache(json!({ "size": 666, "address": "a" })),
            "cannot convert Cache `b/a` from test.dev/v1alpha1 to test.dev/v1: the conversion panicked: nobody has 666; if it is stored like this, correct it: `kubectl edit caches.v1alpha1.test.dev a -n b`",
        ),
        (
            old_cache(json!({ "size": 1, "address": "a", "secure": {} })),
            "cannot convert Cache `b/a` from test.dev/v1alpha1 to test.dev/v1: `spec.secure`: invalid type: map, expected a boolean; if it is stored like this, correct it: `kubectl edit caches.v1alpha1.test.dev a -n b`",
        ),
        (
            old_cache(json!({ "address": 7 })), // and partial
            "cannot convert Cache `b/a` from test.dev/v1alpha1 to test.dev/v1: `spec.address`: invalid type: integer `7`, expected a string; if it is stored like this, correct it: `kubectl edit caches.v1alpha1.test.dev a -n b`",
        ),
        (
            json!({ "apiVersion": "test.dev/v9", "kind": "Cache", "metadata": { "name": "a" } }),
            "cannot convert Cache `a` from test.dev/v9 to test.dev/v1: the known versions are v1, v1alpha1",
        ),
        (
            json!({ "apiVersion": "test.dev/v9", "kind": "Other", "metadata": null }),
            "cannot convert Other `without a name` from test.dev/v9 to test.dev/v1: the known kinds are Cache.test.dev (v1, v1alpha1)",
        ),
        (json!({ "kind": "Other" }), "an object has no `apiVersion`"),
        (json!(7), "an object is not valid: invalid type: integer `7`, expected a map at line 1 column 1"),
    ] {
        let refused = convert(caches(), "test.dev/v1", &[good.clone(), object]).await;
        assert_eq!(refused.unwrap_err(), message);
    }
}

#[tokio::test]
async fn what_is_no_review_of_v1_is_refused() {
    for body in ["", "{}", "[]", r#"{"apiVersion":"apiextensions.k8s.io/v1","kind":"ConversionReview"}"#] {
        let (code, body) = post(caches(), body.to_owned()).await;
        assert_eq!(code, StatusCode::BAD_REQUEST);
        assert!(body["message"].as_str().unwrap().contains("not a ConversionReview"), "{body}");
    }
    let mut old = review("test.dev/v1", &[]);
    old["apiVersion"] = json!("apiextensions.k8s.io/v1beta1");
    let (code, body) = post(caches(), old.to_string()).await;
    assert_eq!((code, &body["apiVersion"]), (StatusCode::OK, &old["apiVersion"]));
    let result = json!({
        "status": "Failure",
        "message": "reviews of `apiextensions.k8s.io/v1beta1` are not supported: list `v1` in `conversionReviewVersions`",
    });
    assert_eq!(body["response"], json!({ "uid": "705ab4f5", "result": result, "convertedObjects": [] }));
}

#[tokio::test]
async fn a_review_that_is_larger_than_the_room_for_all_is_answered() {
    let mut object = old_cache(json!({ "size": 1, "address": "a:1" }));
    object["metadata"]["annotations"] = json!({ "a": "x".repeat(17 * 1024 * 1024) });
    let converted = convert_one(caches(), "test.dev/v1", &object).await.unwrap();
    assert_eq!(converted["metadata"], object["metadata"]);
}

#[tokio::test]
async fn nothing_is_converted_that_the_api_server_does_not_wait_for() {
    let body = review("test.dev/v1", &vec![old_cache(json!({ "size": 1, "address": "a:1" })); 3000]).to_string();
    let request = Request::post("/convert?timeout=1ms").header("content-type", "application/json").body(body.into());
    let service = operator_rs_runtime::webhook_service(caches(), &manager());
    let answer = service.oneshot(request.unwrap()).await.unwrap();
    let body: Value = serde_json::from_slice(answer.body()).unwrap();
    let message = body["response"]["result"]["message"].as_str().unwrap_or_default();
    assert!(message.starts_with("time ran out after ") && message.ends_with(" of 3000 objects"), "{body}");
}

#[tokio::test]
#[should_panic(expected = "`Cache.test.dev` has two hubs: convert all versions to and from one of them")]
async fn a_kind_has_one_hub() {
    let _ = operator_rs_runtime::webhook_service(
        [caches(), vec![conversion_webhook::<old::Cache, new::Cache>()]].into_iter().flatten(),
        &manager(),
    );
}

#[tokio::test]
#[should_panic(expected = "`Cache.test.dev` has the version `v1alpha1` twice")]
async fn a_hub_has_a_version_once() {
    let _ = operator_rs_runtime::webhook_service([caches(), caches()].into_iter().flatten(), &manager());
}

#[test]
#[should_panic(expected = "`caches.test.dev` has the version `v1` twice")]
fn a_hub_is_not_its_own_spoke() {
    let _ = conversion_webhook::<new::Cache, new::Cache>();
}
