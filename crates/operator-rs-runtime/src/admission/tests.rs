use super::*;
use crate::{Identity, Manager, mutating_webhook, validating_webhook, webhook_service};
use http::Request as Http;
use hyper::body::Bytes;
use k8s_openapi::{ByteString, api::core::v1::ConfigMap};
use kube::{Api, CustomResource};
use operator_rs_testing::{Cluster, Fault, FaultRule, Refusal};
use serde::Deserialize;
use serde_json::{Value, json};
use std::{future::pending, time::Duration};
use tower::ServiceExt;

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Thing", namespaced, schema = "disabled")]
struct ThingSpec {
    size: Option<i64>,
    #[serde(default)]
    parts: Vec<Part>,
}

#[derive(Clone, Debug, Deserialize, Serialize)]
struct Part {
    name: String,
    #[serde(default)]
    count: i64,
}

/// A defaulter and a validator that behave as the spec's `size` selects.
struct Things;

impl Defaulter for Things {
    type Object = Thing;

    async fn default(&self, object: &mut Thing, request: &Request) -> Verdict {
        object.spec.parts.iter_mut().for_each(|part| part.count = part.count.max(1));
        match object.spec.size {
            None => object.spec.size = Some(1),
            Some(13) => return Err(Denied::forbidden("13 is taken")),
            Some(_) => request.warn("the size is given"),
        }
        Ok(())
    }
}

impl Validator for Things {
    type Object = Thing;

    async fn create(&self, object: &Thing, request: &Request) -> Verdict {
        let mut errors = FieldErrors::default();
        match object.spec.size {
            Some(500) => drop(Api::<ConfigMap>::namespaced(request.client.clone(), "b").get("a").await?),
            Some(501) => Err(crate::Error::MissingField("spec.parts"))?,
            Some(666) => panic!("of {}", 666),
            Some(999) => pending().await,
            Some(size) if size % 2 == 0 => drop(errors.add("spec.size", "must be odd").add("spec", "is wrong")),
            _ => {}
        }
        request.warn(format!("{:?} by {:?}, dry run: {}", request.operation, request.user.username, request.dry_run));
        errors.into_verdict()
    }

    async fn update(&self, old: &Thing, new: &Thing, _: &Request) -> Verdict {
        if old.spec.size == new.spec.size { Ok(()) } else { Err(Denied::forbidden("the size is fixed")) }
    }

    async fn delete(&self, object: &Thing, _: &Request) -> Verdict {
        if object.spec.size == Some(7) { Err(Denied::forbidden("7 stays")) } else { Ok(()) }
    }
}

fn manager() -> Manager {
    let cluster = Cluster::default().with_fault(FaultRule::for_requests(|_| {
        Some(Fault::RefuseWith(Refusal::new(403, "Forbidden", "no look-ups here")))
    }));
    Manager::new(Identity { name: "operator", version: "1" }, cluster.client())
}

fn thing(spec: Value) -> Value {
    json!({ "apiVersion": "example.com/v1", "kind": "Thing", "metadata": { "name": "a", "namespace": "b" }, "spec": spec })
}

fn review(operation: &str, object: Value, old: Value) -> Value {
    let kind = json!({ "group": "example.com", "version": "v1", "kind": "Thing" });
    json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "request": {
        "uid": "1-2-3", "kind": kind, "requestKind": kind, "operation": operation, "name": "a", "namespace": "b",
        "userInfo": { "username": "ann", "groups": ["g"] }, "dryRun": true, "object": object, "oldObject": old } })
}

async fn post(path: &str, body: impl Into<Bytes>) -> (u16, Value) {
    let things = [mutating_webhook("/default", Things), validating_webhook("/validate", Things)];
    let request = Http::post(path).header("content-type", "application/json; charset=utf-8").body(body.into()).unwrap();
    let answer = webhook_service(things, &manager()).oneshot(request).await.unwrap();
    (answer.status().as_u16(), serde_json::from_slice(answer.body()).unwrap())
}

/// Returns the `response` of a review.
async fn ask(path: &str, operation: &str, object: Value, old: Value) -> Value {
    let (code, mut answer) = post(path, review(operation, object, old).to_string()).await;
    assert_eq!(
        (code, &answer["kind"], &answer["apiVersion"]),
        (200, &json!("AdmissionReview"), &json!("admission.k8s.io/v1"))
    );
    assert_eq!(answer["response"]["uid"], "1-2-3");
    answer["response"].take()
}

/// Returns the code and the message of a denial.
async fn denied(path: &str, operation: &str, object: Value, old: Value) -> (i64, String) {
    let answer = ask(path, operation, object, old).await;
    assert_eq!(answer["allowed"], false, "{answer}");
    (answer["status"]["code"].as_i64().unwrap(), answer["status"]["message"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn an_object_is_completed_by_a_patch() {
    let spec = json!({ "parts": [{ "name": "x", "unknown": 1 }, { "name": "y", "count": 3 }], "unknown": [1] });
    let answer = ask("/default", "CREATE", thing(spec), Value::Null).await;
    assert_eq!((&answer["allowed"], &answer["patchType"]), (&json!(true), &json!("JSONPatch")));
    let ByteString(patch) = serde_json::from_value(answer["patch"].clone()).unwrap();
    let expected = json!([
        { "op": "add", "path": "/spec/parts/0/count", "value": 1 },
        { "op": "add", "path": "/spec/size", "value": 1 },
    ]);
    assert_eq!(serde_json::from_slice::<Value>(&patch).unwrap(), expected);
}

#[tokio::test]
async fn nothing_to_complete_is_no_patch() {
    let complete = thing(json!({ "size": 3, "parts": [{ "name": "x", "count": 1 }] }));
    let expected = json!({ "uid": "1-2-3", "allowed": true, "warnings": ["the size is given"] });
    assert_eq!(ask("/default", "UPDATE", complete.clone(), complete.clone()).await, expected);
    let allowed = json!({ "uid": "1-2-3", "allowed": true });
    assert_eq!(
        ask("/default", "CREATE", thing(json!({ "size": "three" })), Value::Null).await,
        allowed,
        "the schema says why"
    );
    assert_eq!(ask("/default", "DELETE", Value::Null, complete).await, allowed);
    assert_eq!(
        denied("/default", "CREATE", thing(json!({ "size": 13 })), Value::Null).await,
        (403, "13 is taken".into())
    );
}

#[tokio::test]
async fn a_denial_names_the_fields() {
    let answer = ask("/validate", "CREATE", thing(json!({ "size": 2 })), Value::Null).await;
    let causes = json!([
        { "reason": "FieldValueInvalid", "field": "spec.size", "message": "must be odd" },
        { "reason": "FieldValueInvalid", "field": "spec", "message": "is wrong" },
    ]);
    let details = json!({ "name": "a", "group": "example.com", "kind": "Thing", "causes": causes });
    let message = "Thing.example.com \"a\" is invalid: spec.size: must be odd, spec: is wrong";
    let status = json!({ "metadata": {}, "status": "Failure", "reason": "Invalid", "code": 422, "message": message, "details": details });
    let warnings = json!([r#"Create by Some("ann"), dry run: true"#]);
    assert_eq!(answer, json!({ "uid": "1-2-3", "allowed": false, "status": status, "warnings": warnings }));
    let unread = thing(json!({ "size": 1, "parts": [{ "name": "x" }, { "name": "y", "count": "many" }] }));
    let message = "spec.parts[1].count: invalid type: string \"many\", expected i64";
    assert_eq!(denied("/validate", "CREATE", unread, Value::Null).await, (400, message.into()));
    let missing = thing(json!({ "parts": [{ "count": 1 }] }));
    let message = "spec.parts[0]: missing field `name`";
    assert_eq!(denied("/validate", "UPDATE", missing.clone(), missing).await, (400, message.into()));
}

#[tokio::test]
async fn what_fails_is_a_verdict_too() {
    for (size, message) in
        [(500, "no look-ups here"), (501, "the object has no spec.parts"), (666, "the webhook panicked: of 666")]
    {
        let verdict = denied("/validate", "CREATE", thing(json!({ "size": size })), Value::Null).await;
        assert_eq!(verdict, (500, message.into()));
    }
}

#[tokio::test(start_paused = true)]
async fn what_takes_too_long_is_answered_in_time() {
    let body = review("CREATE", thing(json!({ "size": 999 })), Value::Null).to_string();
    for (path, seconds, limit) in [("/validate?timeout=3s", 3.0, "2.7s"), ("/validate", 10.0, "9.5s")] {
        let start = tokio::time::Instant::now();
        let (_, answer) = post(path, body.clone()).await;
        let message = format!("the webhook took longer than {limit}");
        let status = &answer["response"]["status"];
        assert_eq!((&status["code"], &status["message"]), (&json!(500), &json!(message)));
        assert_eq!(answer["response"]["uid"], "1-2-3");
        assert!(start.elapsed() < Duration::from_secs_f64(seconds));
    }
}

#[tokio::test]
async fn a_validator_does_not_keep_an_object_from_being_deleted() {
    let mut old = thing(json!({ "size": "three" }));
    old["metadata"]["finalizers"] = json!(["x"]);
    old["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
    let mut new = old.clone();
    new["metadata"]["finalizers"] = json!([]);
    let allowed = json!({ "uid": "1-2-3", "allowed": true });
    for path in ["/validate", "/default"] {
        assert_eq!(ask(path, "UPDATE", new.clone(), old.clone()).await, allowed);
    }
    new["spec"]["size"] = 2.into();
    assert_eq!(denied("/validate", "UPDATE", new, old.clone()).await.0, 422, "its content changes");
    let answer = ask("/validate", "DELETE", Value::Null, old).await;
    let warning = "deleted without the check of `Thing`: spec.size: invalid type: string \"three\", expected i64";
    assert_eq!((&answer["allowed"], &answer["warnings"]), (&json!(true), &json!([warning])));
}

#[tokio::test]
async fn an_update_is_checked_with_what_is_replaced() {
    let three = thing(json!({ "size": 3 }));
    let change = denied("/validate", "UPDATE", thing(json!({ "size": 5 })), three.clone()).await;
    assert_eq!(change, (403, "the size is fixed".into()));
    let unread = thing(json!({ "size": "three" }));
    assert_eq!(ask("/validate", "UPDATE", three, unread.clone()).await["allowed"], true, "as if it was created");
    assert_eq!(denied("/validate", "UPDATE", thing(json!({ "size": 2 })), unread).await.0, 422);
    assert_eq!(denied("/validate", "DELETE", Value::Null, thing(json!({ "size": 7 }))).await, (403, "7 stays".into()));
}

#[tokio::test]
async fn what_a_webhook_is_not_for_is_denied() {
    let mut other = review("CREATE", thing(json!({})), Value::Null);
    other["request"]["kind"]["version"] = "v2".into();
    let (_, answer) = post("/default", other.to_string()).await;
    let message =
        "this webhook is for `Thing` of `example.com/v1` and was sent `Thing` of `example.com/v2`: correct its rules";
    assert_eq!(
        (&answer["response"]["uid"], &answer["response"]["status"]["message"]),
        (&json!("1-2-3"), &json!(message))
    );
    let connect = denied("/validate", "CONNECT", Value::Null, Value::Null).await;
    assert_eq!(connect, (400, "a connection has no object to check".into()));
    let odd = denied("/validate", "CREATE", Value::Null, Value::Null).await;
    assert_eq!(odd, (400, "the request has no object".into()));
    let mut unread = review("CREATE", thing(json!({})), Value::Null);
    unread["request"]["operation"] = "RENAME".into();
    let (_, answer) = post("/default", unread.to_string()).await;
    let response = &answer["response"];
    assert_eq!(
        (&response["uid"], &response["allowed"], &response["status"]["code"]),
        (&json!("1-2-3"), &json!(false), &json!(400))
    );
    assert!(
        response["status"]["message"]
            .as_str()
            .unwrap()
            .starts_with("the request cannot be read: unknown variant `RENAME`")
    );
}

#[tokio::test]
async fn what_is_no_review_is_refused() {
    let mut beta = review("CREATE", thing(json!({})), Value::Null);
    beta["apiVersion"] = "admission.k8s.io/v1beta1".into();
    let mut nameless = review("CREATE", thing(json!({})), Value::Null);
    nameless["request"]["uid"] = "".into();
    let mut without = nameless.clone();
    without["request"].as_object_mut().unwrap().remove("uid");
    let no_uid = "the request of the AdmissionReview has no uid";
    for (body, message) in [
        (String::new(), "the body is empty: it has to be an AdmissionReview"),
        ("{".into(), "the body is no AdmissionReview: EOF while parsing"),
        ("{}".into(), "the body is no AdmissionReview: missing field `apiVersion`"),
        (
            beta.to_string(),
            "`AdmissionReview` of `admission.k8s.io/v1beta1` is not supported: send an AdmissionReview of",
        ),
        (nameless.to_string(), no_uid),
        (without.to_string(), no_uid),
        (
            json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview" }).to_string(),
            "the AdmissionReview has no request",
        ),
    ] {
        let (code, answer) = post("/validate", body).await;
        assert_eq!((code, &answer["kind"], &answer["code"]), (400, &json!("Status"), &json!(400)));
        assert!(answer["message"].as_str().unwrap().starts_with(message), "{answer}");
    }
}

#[tokio::test]
async fn warnings_keep_to_the_limits_of_the_api_server() {
    let request = request();
    request.warn("two\nlines\r");
    request.warn("é".repeat(300));
    request.warn("");
    (0..100).for_each(|_| request.warn("x".repeat(100)));
    let warnings = request.take_warnings();
    assert_eq!(warnings[0], "two lines");
    assert_eq!(warnings[1], format!("{}…", "é".repeat(255)));
    assert_eq!(warnings.last().unwrap(), "65 more warnings are left out");
    assert!(warnings.iter().map(|warning| warning.chars().count()).sum::<usize>() <= 4096);
}

fn request() -> Request {
    let kind = kube::core::GroupVersionKind::gvk("", "v1", "ConfigMap");
    Request {
        uid: String::new(),
        operation: Operation::Create,
        request_kind: kind.clone(),
        kind,
        subresource: String::new(),
        namespace: None,
        name: String::new(),
        user: Default::default(),
        dry_run: false,
        client: manager().client,
        warnings: Default::default(),
    }
}

const MANIFESTS: &str = "
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: mutating-webhook-configuration}
webhooks:
- name: mthing-v1.kb.io
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: webhook-service, namespace: system, path: /default}}
  sideEffects: None
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE, UPDATE], resources: [things]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: validating-webhook-configuration}
webhooks:
- name: vthing-v1.kb.io
  admissionReviewVersions: [v1]
  clientConfig: {service: {name: webhook-service, namespace: system, path: /validate}}
  sideEffects: None
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: ['*'], resources: [things]}]
";

#[tokio::test]
async fn the_in_memory_api_server_calls_the_webhooks() {
    let webhooks = [mutating_webhook("/default", Things), validating_webhook("/validate", Things)];
    let cluster = Cluster::default().with_webhooks(MANIFESTS, webhook_service(webhooks, &manager()));
    let api = Api::<Thing>::namespaced(cluster.client(), "b");
    let create = async |name: &str, spec: Value| {
        let mut object = thing(spec);
        object["metadata"]["name"] = name.into();
        api.create(&Default::default(), &serde_json::from_value(object).unwrap()).await
    };
    let created = create("a", json!({ "parts": [{ "name": "x" }] })).await.unwrap();
    assert_eq!((created.spec.size, created.spec.parts[0].count), (Some(1), 1));
    let Err(kube::Error::Api(denied)) = create("c", json!({ "size": 2 })).await else { panic!("it is denied") };
    let message = "admission webhook \"vthing-v1.kb.io\" denied the request: Thing.example.com \"c\" is invalid: ";
    assert!(denied.message.starts_with(message), "{}", denied.message);
    assert_eq!((denied.code, denied.details.unwrap().causes[0].field.as_str()), (422, "spec.size"));
    let patch = kube::api::Patch::Merge(json!({ "spec": { "size": 3 } }));
    let Err(kube::Error::Api(denied)) = api.patch("a", &Default::default(), &patch).await else { panic!("denied") };
    assert_eq!((denied.code, denied.reason.as_str()), (403, "Forbidden"));
    create("d", json!({ "size": 7 })).await.unwrap();
    api.delete("a", &Default::default()).await.unwrap();
    let Err(kube::Error::Api(denied)) = api.delete("d", &Default::default()).await else { panic!("denied") };
    assert!(denied.message.ends_with("7 stays"));
    // Objects that are older than the validator can be deleted.
    let mut old = thing(json!({ "size": "three" }));
    old["metadata"]["name"] = "old".into();
    old["metadata"]["finalizers"] = json!(["example.com/f"]);
    let cluster = cluster.with_json("things.example.com", &[old]);
    let any = Api::<kube::api::DynamicObject>::namespaced_with(
        cluster.client(),
        "b",
        &kube::api::ApiResource::erase::<Thing>(&()),
    );
    any.delete("old", &Default::default()).await.unwrap();
    let none = kube::api::Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    any.patch("old", &Default::default(), &none).await.unwrap();
    assert!(cluster.get_json("things.example.com", "b", "old").is_none());
}
