use super::*;
use http::{Method, header};
use kube::client::Body;
use std::{
    convert::Infallible,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// A configuration of webhooks with these paths; `more` is further fields of each, in braces.
fn manifests(kind: &str, paths: &[&str], more: &str) -> String {
    let webhook = |path: &&str| {
        format!(
            "- {{name: {path}.b.io, admissionReviewVersions: [v1], sideEffects: None, \
             clientConfig: {{service: {{name: s, namespace: n, path: /{path}}}}}, \
             rules: [{{apiGroups: [test.dev], apiVersions: [v1], operations: ['*'], resources: [things, things/status]}}]{more}}}\n"
        )
    };
    format!(
        "apiVersion: admissionregistration.k8s.io/v1\nkind: {kind}WebhookConfiguration\nmetadata: {{name: {kind}}}\n\
         webhooks:\n{}",
        paths.iter().map(webhook).collect::<String>()
    )
}

/// A server whose webhooks answer with what this function says, and the paths that were called.
fn cluster(
    manifests: &str,
    answer: impl Fn(&str, &Value) -> Value + Send + Sync + 'static,
) -> (Cluster, Arc<Mutex<Vec<String>>>) {
    let calls = Arc::new(Mutex::new(vec![]));
    let (seen, answer) = (calls.clone(), Arc::new(answer));
    let service = tower::service_fn(move |request: http::Request<Bytes>| {
        let review: Value = serde_json::from_slice(request.body()).unwrap();
        let path = request.uri().path().trim_start_matches('/').to_owned();
        let mut response = answer(&path, &review["request"]);
        if response["uid"].is_null() {
            response["uid"] = review["request"]["uid"].clone();
        }
        seen.lock().unwrap().push(path);
        let body = json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response });
        async move { Ok::<_, Infallible>(http::Response::new(Bytes::from(body.to_string()))) }
    });
    (Cluster::default().with_webhooks(manifests, service), calls)
}

/// Code, message or spec, and warnings of the answer to a request.
async fn send(cluster: &Cluster, method: Method, path: &str, spec: Value) -> (u16, Value, Vec<String>) {
    let path = format!("/apis/test.dev/v1/namespaces/d/things{path}");
    let body = match spec {
        Value::Null => vec![],
        spec => json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "metadata": { "name": "a" }, "spec": spec })
            .to_string()
            .into(),
    };
    let kind = if method == Method::PATCH { "application/merge-patch+json" } else { "application/json" };
    let request = http::Request::builder().method(method).uri(path).header("content-type", kind);
    let answer = cluster.client().send(request.body(Body::from(body)).unwrap()).await.unwrap();
    let warnings = answer.headers().get_all(header::WARNING).iter().map(|it| it.to_str().unwrap().to_owned()).collect();
    let code = answer.status().as_u16();
    let body: Value = serde_json::from_slice(&answer.into_body().collect_bytes().await.unwrap()).unwrap();
    (code, if body["kind"] == "Status" { body["message"].clone() } else { body["spec"].clone() }, warnings)
}

fn patch(steps: Value) -> Value {
    json!({ "allowed": true, "patchType": "JSONPatch", "patch": k8s_openapi::ByteString(steps.to_string().into()) })
}

#[tokio::test]
async fn a_webhook_is_called_again_when_a_later_one_changed_the_object() {
    for (more, calls) in [(", reinvocationPolicy: IfNeeded", "one two one"), ("", "one two")] {
        let manifests = manifests("Mutating", &["one", "two"], more);
        let (cluster, called) = cluster(&manifests, |path, request| match path {
            "one" if request["object"]["spec"]["two"] == 1 => {
                patch(json!([{ "op": "add", "path": "/spec/one", "value": 2 }]))
            }
            "one" => patch(json!([{ "op": "test", "path": "/spec", "value": {} }])),
            _ => patch(json!([{ "op": "add", "path": "/spec/two", "value": 1 }])),
        });
        let (code, spec, _) = send(&cluster, Method::POST, "", json!({})).await;
        let expected = if more.is_empty() { json!({ "two": 1 }) } else { json!({ "one": 2, "two": 1 }) };
        assert_eq!((code, spec), (201, expected));
        // The one that has changed nothing when it was called again does not let the other one be called again.
        let called = called.lock().unwrap().join(" ");
        assert!(called.starts_with(calls), "{called}");
    }
}

#[tokio::test]
async fn a_change_that_a_webhook_undoes_stores_nothing() {
    let (cluster, _) = cluster(&manifests("Mutating", &["one"], ""), |_, _| {
        patch(json!([{ "op": "add", "path": "/spec/size", "value": 1 }]))
    });
    send(&cluster, Method::POST, "", json!({ "size": 1 })).await;
    let before = cluster.list_json("things.test.dev");
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await; // times of managers are full seconds
    assert_eq!(send(&cluster, Method::PATCH, "/a", json!({ "size": 2 })).await.0, 200);
    assert_eq!(cluster.list_json("things.test.dev"), before);
}

/// The entries of managers are in the order of their times, and the API server compares them in that order.
#[tokio::test]
async fn a_change_that_a_webhook_undoes_is_stored_where_it_moves_an_entry_of_managed_fields() {
    let (cluster, _) = cluster(&manifests("Mutating", &["one"], ""), |_, _| {
        patch(json!([{ "op": "add", "path": "/spec/size", "value": 1 }]))
    });
    send(&cluster, Method::POST, "?fieldManager=one", json!({ "size": 1 })).await;
    send(&cluster, Method::PATCH, "/a?fieldManager=two", json!({ "name": "b" })).await;
    let before = cluster.list_json("things.test.dev");
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    assert_eq!(send(&cluster, Method::PATCH, "/a?fieldManager=one", json!({ "size": 2 })).await.0, 200);
    assert_ne!(cluster.list_json("things.test.dev"), before);
}

#[tokio::test]
async fn all_validating_webhooks_are_called_and_their_warnings_are_headers() {
    let (cluster, called) = cluster(&manifests("Validating", &["one", "two"], ""), |path, _| match path {
        "one" => {
            json!({ "allowed": false, "status": { "message": "no", "code": 403, "reason": "Forbidden" }, "warnings": ["a \"b\""] })
        }
        _ => json!({ "allowed": true, "warnings": ["c", "a \"b\"", ""] }),
    });
    let (code, message, warnings) = send(&cluster, Method::POST, "", json!({})).await;
    assert_eq!((code, message), (403, json!("admission webhook \"one.b.io\" denied the request: no")));
    assert_eq!(warnings, [r#"299 - "a \"b\"""#, r#"299 - "c""#]);
    assert_eq!(*called.lock().unwrap(), ["one", "two"]);
    assert!(cluster.list_json("things.test.dev").is_empty());
}

#[tokio::test]
async fn a_call_that_fails_counts_as_the_failure_policy_says() {
    for (more, code) in [("", 500), (", failurePolicy: Ignore", 201)] {
        let (cluster, _) =
            cluster(&manifests("Validating", &["one"], more), |_, _| json!({ "uid": "other", "allowed": true }));
        let (answered, message, _) = send(&cluster, Method::POST, "", json!({})).await;
        assert_eq!(answered, code);
        let why = "Internal error occurred: failed calling webhook \"one.b.io\": received invalid webhook response: expected response.uid=";
        assert!(code == 201 || message.as_str().unwrap().starts_with(why), "{message}");
    }
    let (cluster, _) = cluster(&manifests("Mutating", &["one"], ", failurePolicy: Ignore"), |_, _| {
        patch(json!([{ "op": "remove", "path": "/spec/absent" }]))
    });
    assert_eq!(
        send(&cluster, Method::POST, "", json!({})).await.0,
        500,
        "a patch that does not apply is no failed call"
    );
}

#[tokio::test(start_paused = true)]
async fn a_call_that_takes_too_long_fails() {
    let service = tower::service_fn(|_: http::Request<Bytes>| std::future::pending::<Result<_, Infallible>>());
    let cluster = Cluster::default().with_webhooks(&manifests("Validating", &["one"], ", timeoutSeconds: 3"), service);
    let start = tokio::time::Instant::now();
    let (code, message, _) = send(&cluster, Method::POST, "", json!({})).await;
    let why = "Internal error occurred: failed calling webhook \"one.b.io\": failed to call webhook: context deadline exceeded";
    assert_eq!((code, message, start.elapsed().as_secs()), (500, json!(why), 3));
}

#[tokio::test]
async fn a_deletion_of_many_is_reviewed_one_by_one() {
    let objects = ["a", "b", "c"]
        .map(|it| json!({ "metadata": { "name": it, "namespace": "d" }, "spec": { "keep": it == "b" } }));
    let (cluster, called) = cluster(&manifests("Validating", &["one"], ""), |_, request| {
        assert_eq!((&request["operation"], &request["object"]), (&json!("DELETE"), &Value::Null));
        json!({ "allowed": request["oldObject"]["spec"]["keep"] == false })
    });
    let cluster = cluster.with_json("things.test.dev", &objects);
    let message = json!("admission webhook \"one.b.io\" denied the request without explanation");
    let (code, refused, _) = send(&cluster, Method::DELETE, "", Value::Null).await;
    assert_eq!((code, &refused), (400, &message));
    let left: Vec<_> = cluster.list_json("things.test.dev").iter().map(|it| it["metadata"]["name"].clone()).collect();
    assert_eq!((left, called.lock().unwrap().len()), (vec![json!("b"), json!("c")], 2));
    let (code, refused, _) = send(&cluster, Method::DELETE, "/b?dryRun=All", Value::Null).await;
    assert_eq!((code, refused), (400, message));
    assert_eq!(send(&cluster, Method::DELETE, "/c", Value::Null).await.0, 200);
    // What the test does is not reviewed.
    cluster.delete_json("things.test.dev", "d", "b");
    assert!(cluster.list_json("things.test.dev").is_empty());
}

#[tokio::test]
async fn an_object_that_changes_during_a_review_is_reviewed_again() {
    let shared = Arc::new(Mutex::new(None::<Cluster>));
    let (edits, inner) = (AtomicUsize::new(0), shared.clone());
    let (cluster, called) = cluster(&manifests("Mutating", &["one"], ""), move |_, request| {
        if edits.fetch_add(1, Relaxed) == 0 {
            let cluster = inner.lock().unwrap().clone().unwrap();
            cluster.edit_json("things.test.dev", "d", "a", |it| it["spec"]["other"] = 1.into());
        }
        patch(json!([{ "op": "add", "path": "/spec/seen", "value": request["oldObject"]["spec"] }]))
    });
    let cluster =
        cluster.with_json("things.test.dev", &[json!({ "metadata": { "name": "a", "namespace": "d" }, "spec": {} })]);
    *shared.lock().unwrap() = Some(cluster.clone());
    let (code, spec, _) = send(&cluster, Method::PATCH, "/a", json!({ "x": 2 })).await;
    assert_eq!((code, spec), (200, json!({ "other": 1, "x": 2, "seen": { "other": 1 } })));
    assert_eq!(called.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn what_is_not_done_here_is_refused_aloud() {
    let (cluster, _) = cluster(&manifests("Mutating", &["one"], ""), |_, _| {
        patch(json!([{ "op": "replace", "path": "/metadata/name", "value": "b" }]))
    });
    let (code, message, _) = send(&cluster, Method::POST, "", json!({})).await;
    let why =
        "operator-rs-testing does not support webhook `one.b.io`, which changes name, namespace or managed fields";
    assert_eq!((code, message), (501, json!(why)));
    let request =
        http::Request::post("/apis/test.dev/v2/namespaces/d/things").body(Body::from(b"{}".to_vec())).unwrap();
    let answer = cluster.client().send(request).await.unwrap();
    let body: Value = serde_json::from_slice(&answer.into_body().collect_bytes().await.unwrap()).unwrap();
    let why = "webhook `one.b.io` for things.test.dev of v2: it reviews v1, and objects are not converted for webhooks";
    assert_eq!(body["message"], format!("operator-rs-testing does not support {why}"));
}

#[tokio::test]
async fn a_namespace_can_be_exempt() {
    for (operator, names, expected) in [("NotIn", "[d]", 0), ("NotIn", "[e]", 1), ("In", "[d, e]", 1), ("In", "[e]", 0)]
    {
        let selector = format!(
            ", namespaceSelector: {{matchExpressions: [{{key: kubernetes.io/metadata.name, operator: {operator}, values: {names}}}]}}"
        );
        let (cluster, calls) = cluster(&manifests("Validating", &["a"], &selector), |_, _| json!({ "allowed": true }));
        send(&cluster, Method::POST, "", json!({})).await;
        assert_eq!(calls.lock().unwrap().len(), expected, "{operator} {names}");
    }
}

#[test]
fn a_configuration_is_read_exactly_or_refused() {
    let service: Service = Arc::new(|_| unreachable!());
    let base = manifests("Mutating", &["a"], "");
    let check = |from: &str, to: &str, why: &str| {
        assert!(base.contains(from), "{from}");
        let error = configuration::parse_configurations(&base.replace(from, to), &service).err().expect(why);
        assert_eq!(error, why);
    };
    assert_eq!(configuration::parse_configurations(&base, &service).map(|it| it.0.len()), Ok(1));
    let of = |why: &str| format!("webhook `a.b.io` of `Mutating`: {why}");
    check(
        "kind: Mutating",
        "kind: Foo",
        "webhooks: `FooWebhookConfiguration` of `admissionregistration.k8s.io/v1` is no webhook configuration",
    );
    check("{name: Mutating}", "{}", "webhooks: a configuration has no name");
    check("name: a.b.io", "name: ''", "webhook `` of `Mutating`: it has no name");
    check("[v1], s", "[v1beta1, v1], s", &of("admissionReviewVersions: only v1 is supported, and has to come first"));
    check("Effects: None", "Effects: Some", &of("sideEffects: Some(\"Some\") has to be None or NoneOnDryRun"));
    check(
        "service: {name: s, namespace: n, path: /a}",
        "url: 'https://a'",
        &of("clientConfig: only a service is supported"),
    );
    check("path: /a}", "path: a}", &of("clientConfig: the path `a` has to begin with `/`"));
    check("path: /a}", "path: /a, x: 1}", &of("x: operator-rs-testing does not support it"));
    check("operations: ['*']", "operations: [READ]", &of("rules: `READ` is no operation"));
    check("apiGroups: [test.dev]", "apiGroups: []", &of("rules: apiGroups is empty"));
    check("apiVersions: [v1]", "apiVersions: v1", &of("apiVersions: \"v1\" is no list of texts"));
    check("rules:", "matchConditions: [], rules:", &of("matchConditions: operator-rs-testing does not support it"));
    check(
        "rules:",
        "objectSelector: {matchLabels: {}}, rules:",
        &of("objectSelector: operator-rs-testing does not support it"),
    );
    check(
        "rules:",
        "namespaceSelector: {matchLabels: {a: b}}, rules:",
        &of("namespaceSelector: matchLabels: operator-rs-testing does not support it"),
    );
    check(
        "rules:",
        "namespaceSelector: {matchExpressions: [{key: a, operator: Exists}]}, rules:",
        &of("namespaceSelector: operator-rs-testing supports only the label `kubernetes.io/metadata.name`"),
    );
    check("rules:", "timeoutSeconds: 31, rules:", &of("timeoutSeconds: it has to be from 1 to 30"));
    check("rules:", "failurePolicy: fail, rules:", &of("failurePolicy: `fail` has to be Fail or Ignore"));
    check("rules: [{", "rules: [{scope: All, ", &of("rules: `All` is no scope"));
    let validating = manifests("Validating", &["a"], ", reinvocationPolicy: Never");
    let error = configuration::parse_configurations(&validating, &service).err().unwrap();
    assert_eq!(error, "webhook `a.b.io` of `Validating`: reinvocationPolicy: operator-rs-testing does not support it");
}
