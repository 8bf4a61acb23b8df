//! Random webhook configurations: an API server refuses exactly those of which we say so. `SEED` and `CASES` choose them.

use std::{collections::BTreeSet, env};

use serde_json::{Value, json};

use crate::{
    place,
    random::Random,
    server::{JSON, Server},
};

const PATH: &str = "/apis/admissionregistration.k8s.io/v1";

#[tokio::test]
async fn an_api_server_refuses_the_webhooks_that_are_called_refused() {
    let Some(kubeconfig) = place::kubeconfig().await else { return };
    let server = Server::connect(&kubeconfig).await;
    let number = |name: &str, default: u64| {
        env::var(name).ok().map_or(default, |it| it.parse().expect("it is a number"))
    };
    let (seed, cases) = (number("SEED", 1), number("CASES", 400));
    let (mut refused, mut wrong) = (0, Vec::new());
    for case in 0..cases {
        let mut random = Random::of(seed, &format!("webhook {case}"));
        let is_mutating = random.below(2) == 0;
        let webhook = webhook(&mut random, is_mutating);
        let kind = if is_mutating { "Mutating" } else { "Validating" };
        let object = json!({
            "apiVersion": "admissionregistration.k8s.io/v1",
            "kind": format!("{kind}WebhookConfiguration"),
            "metadata": { "name": format!("case-{case}") },
            "webhooks": [webhook],
        });
        let path = format!("{PATH}/{}webhookconfigurations?dryRun=All", kind.to_lowercase());
        let answer = server.ask("POST", &path, JSON, object).await.expect("the server answers");
        let ours = crd::webhook::refusals(&webhook, is_mutating);
        assert!([201, 422].contains(&answer.code), "{webhook} {answer:?}");
        refused += usize::from(answer.code == 422);
        let message = answer.body["message"].as_str().unwrap_or_default();
        // The same fields of the webhook are named. Within `clientConfig.service`, the server confuses name and namespace.
        let field = |it: &String| it.split(['.', '[', ':']).next().unwrap_or_default().to_owned();
        let one: BTreeSet<String> = ours.iter().map(field).collect();
        let two: BTreeSet<String> = causes(&answer.body).iter().map(field).collect();
        if one != two {
            wrong.push(format!("{webhook}\n  ours {ours:#?}\n  theirs {message}"));
        }
    }
    assert!(wrong.is_empty(), "SEED={seed}: {}\n{}", wrong.len(), wrong.join("\n"));
    let many = usize::try_from(cases).expect("a number") / 6;
    assert!((many..5 * many).contains(&refused), "{refused} refused");
}

/// The fields of the one webhook that an answer names.
fn causes(status: &Value) -> Vec<String> {
    let causes = status["details"]["causes"].as_array().into_iter().flatten();
    let field = |it: &Value| it["field"].as_str().unwrap_or_default().to_owned();
    causes.map(|it| field(it).trim_start_matches("webhooks[0].").to_owned()).collect()
}

/// A webhook of which up to two fields are unusual.
fn webhook(random: &mut Random, is_mutating: bool) -> Value {
    let mut res = json!({
        "name": "a.b.io",
        "admissionReviewVersions": ["v1"],
        "clientConfig": { "service": { "name": "webhook-service", "namespace": "system", "path": "/a" } },
        "failurePolicy": "Fail",
        "rules": [{ "apiGroups": ["apps"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["deployments"] }],
        "sideEffects": "None",
    });
    for _ in 0..=random.below(2) {
        let (pointer, values) = &fields()[random.below(fields().len())];
        let value = values[random.below(values.len())].clone();
        let (parent, key) = pointer.rsplit_once('/').expect("it is a pointer");
        let Some(parent) = res.pointer_mut(parent) else { continue };
        match value {
            Value::Null => drop(parent.as_object_mut().expect("a map").remove(key)),
            value => parent[key] = value,
        }
    }
    if is_mutating && random.below(3) == 0 {
        let policies = ["Never", "IfNeeded", "never", "Always"];
        res["reinvocationPolicy"] = policies[random.below(policies.len())].into();
    }
    res
}

/// Fields with the values that they may get; null removes one.
fn fields() -> Vec<(&'static str, Vec<Value>)> {
    let list = |value: Value| value.as_array().expect("a list").clone();
    let condition = |name: &str| json!({ "name": name, "expression": "true" });
    vec![
        ("/name", list(json!(["", "a", "a.b", "a.b.c.d", "A.b.c", "a..b.c", "a.b.c."]))),
        (
            "/admissionReviewVersions",
            list(json!([
                ["v1beta1"],
                ["v1", "v1beta1"],
                ["v2"],
                ["v2", "v1"],
                ["v1", "v1"],
                [],
                ["V1"],
                ["v1", ""],
                ["v1.0", "v1"]
            ])),
        ),
        ("/failurePolicy", list(json!([null, "Ignore", "ignore", "", "Maybe"]))),
        ("/matchPolicy", list(json!(["Exact", "Equivalent", "exact", "Some"]))),
        ("/sideEffects", list(json!([null, "NoneOnDryRun", "Some", "Unknown", "none"]))),
        ("/timeoutSeconds", list(json!([1, 30, 0, 31, -1]))),
        ("/rules", list(json!([null, []]))),
        (
            "/rules/0/apiGroups",
            list(json!([null, [], [""], ["*"], ["*", "apps"], ["A B", "apps"]])),
        ),
        ("/rules/0/apiVersions", list(json!([null, [], ["*"], ["*", "v1"], [""], ["v1", "v1"]]))),
        (
            "/rules/0/operations",
            list(json!([
                null,
                ["*"],
                ["CREATE", "*"],
                ["create"],
                ["CREATE", "UPDATE", "DELETE", "CONNECT"],
                [""]
            ])),
        ),
        (
            "/rules/0/resources",
            list(json!([
                null,
                [],
                [""],
                ["*"],
                ["*/*"],
                ["*", "pods"],
                ["pods", "*"],
                ["*", "pods/log"],
                ["*/*", "pods"],
                ["pods/*"],
                ["pods/*", "pods/log"],
                ["pods/log", "pods/*"],
                ["*/scale", "pods/scale"],
                ["pods/scale", "*/scale"],
                ["*", "*/*"],
                ["pods", "pods"],
                ["a/b/c"],
                ["pods/*", "pods/*"],
                ["*", "pods", "*"],
                ["", "pods/*", "pods/a"]
            ])),
        ),
        ("/rules/0/scope", list(json!(["*", "Namespaced", "Cluster", "namespaced", "All"]))),
        ("/clientConfig", list(json!([{}, { "url": "https://a" }]))),
        ("/clientConfig/url", list(json!(["https://a.b/c"]))),
        (
            "/clientConfig/service",
            list(json!([null, {}, { "name": "", "namespace": "a" }, { "name": "a" }])),
        ),
        ("/clientConfig/service/port", list(json!([1, 443, 65535, 0, 65536, -1]))),
        (
            "/clientConfig/service/path",
            list(json!([
                null, "", "/", "a", "//", "/a/", "/a//b", "/A", "/a_b", "/a.b/c-d", "/a?b", "/-a"
            ])),
        ),
        (
            "/clientConfig",
            [
                "",
                "https://a/b",
                "http://a",
                "https://",
                "https:///a",
                "https://u:p@a",
                "https://a?b",
                "https://a#b",
                "a",
                "https://a:x",
                "https://[::1]:8443/a",
            ]
            .into_iter()
            .map(|it| json!({ "url": it }))
            .collect(),
        ),
        (
            "/namespaceSelector",
            list(json!([
                {}, { "matchLabels": { "a": "b" } }, { "matchLabels": { "a/b/c": "d" } }, { "matchLabels": { "a": "b c" } },
                { "matchExpressions": [{ "key": "a", "operator": "In", "values": ["x"] }] },
                { "matchExpressions": [{ "key": "a", "operator": "In" }] },
                { "matchExpressions": [{ "key": "a", "operator": "Exists", "values": ["x"] }] },
                { "matchExpressions": [{ "key": "", "operator": "Exists" }] },
                { "matchExpressions": [{ "key": "a", "operator": "exists" }] },
                { "matchExpressions": [{ "key": "a", "operator": "NotIn", "values": ["x", "y z"] }] }
            ])),
        ),
        (
            "/matchConditions",
            vec![
                json!([]),
                json!([condition("a"), condition("b.c/d")]),
                json!([condition("a"), condition("a")]),
                json!([condition("")]),
                json!([condition("a b")]),
                json!([{ "name": "a", "expression": " " }]),
                (0..65).map(|it| condition(&format!("n{it}"))).collect(),
            ],
        ),
    ]
}
