//! The roles that `config/rbac` gives the operator, held against what the API server's audit log says that it does.

use std::{collections::BTreeSet, sync::Arc};

use serde_json::{Value, json};

use crate::{
    ground::{Ground, found, is},
    lab::Lab,
    operator::Operator,
    security::scrape,
};

/// A verb on a resource of a group.
type Right = (String, String, String);

pub async fn every_right_is_used_and_no_call_is_refused(lab: Arc<Lab>) {
    let ground = lab.ground("rbac").await;
    let operator = Operator::start(&ground, "manager").await;
    ground.memcached("a", 1).await;
    ground.until_available("a", 60).await;
    // Asks the API server who is asking, and whether they may.
    let token = ground.token_of(&ground.namespace, "default", Value::Null).await;
    assert_eq!(scrape(&operator, None, Some(&token)).await.0, 403);
    // The Lease is written again every 2 seconds.
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;

    assert_eq!(refused(&ground), [""; 0]);
    let used: BTreeSet<Right> = ground.calls().iter().flat_map(used).collect();
    let unused: Vec<Right> = given(&ground).difference(&used).cloned().collect();
    assert!(unused.is_empty(), "{unused:?}");

    // One right less, and the log shows what is missing, and the object says so.
    let role =
        format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{}", ground.named("manager-role"));
    let before = ground.server.get(&role).await.expect("it is installed");
    let mut rules = before["rules"].clone();
    let rule = rules
        .as_array_mut()
        .expect("it has rules")
        .iter_mut()
        .find(|it| it["resources"] == json!(["deployments"]));
    let verbs =
        rule.expect("it has one of Deployments")["verbs"].as_array_mut().expect("it has verbs");
    let all = verbs.len();
    verbs.retain(|it| it != "create");
    assert_eq!(verbs.len() + 1, all);
    ground.server.merge(&role, json!({ "rules": rules })).await;
    until_refused(&ground, "create", "apps", "deployments").await;
    ground.memcached("b", 1).await;
    let degraded = |it: &Value| is(it, "Degraded", "True");
    let object = ground.server.until(&ground.at("b"), 30, "degraded", degraded).await;
    assert_eq!(found(&object, "Degraded").expect("it is")["reason"], "Forbidden");
    assert!(
        refused(&ground).iter().all(|it| it == "patch apps deployments"),
        "{:?}",
        refused(&ground)
    );
    assert!(!refused(&ground).is_empty());
    assert_eq!(ground.events("b").await, [("Warning".to_owned(), "Forbidden".to_owned())]);
    ground.server.merge(&role, json!({ "rules": before["rules"] })).await;
    let object = ground.until_available("b", 60).await;
    assert!(is(&object, "Degraded", "False"), "{object:#}");
    operator.stop().await;
}

/// Waits until the API server has heard that the account may not do this any more.
async fn until_refused(ground: &Ground, verb: &str, group: &str, resource: &str) {
    let attributes = json!({ "verb": verb, "group": group, "resource": resource, "namespace": ground.namespace });
    let review = json!({ "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
        "spec": { "user": ground.user(), "resourceAttributes": attributes } });
    let at = "/apis/authorization.k8s.io/v1/subjectaccessreviews";
    for _ in 0..100 {
        let answer = ground.server.create(at, review.clone()).await;
        if answer.body["status"]["allowed"] == false {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("{} may still {verb} {resource}", ground.user());
}

fn right(verb: &str, group: &str, resource: &str) -> Right {
    (verb.into(), group.into(), resource.into())
}

/// What the roles of the operator's account allow.
fn given(ground: &Ground) -> BTreeSet<Right> {
    let roles =
        ["manager-role", "leader-election-role", "metrics-auth-role"].map(|it| ground.named(it));
    let is_its = |it: &&Value| roles.iter().any(|name| it["metadata"]["name"] == name.as_str());
    let is_role = |it: &&Value| it["kind"] == "ClusterRole" || it["kind"] == "Role";
    let found: Vec<&Value> = ground.objects.iter().filter(is_role).filter(is_its).collect();
    assert_eq!(found.len(), roles.len());
    let rules = found.iter().flat_map(|it| it["rules"].as_array().into_iter().flatten());
    let words = |list: &Value| -> Vec<String> {
        serde_json::from_value(list.clone()).expect("it is a list of words")
    };
    let mut res = BTreeSet::new();
    for rule in rules {
        for group in words(&rule["apiGroups"]) {
            for resource in words(&rule["resources"]) {
                res.extend(words(&rule["verbs"]).iter().map(|it| right(it, &group, &resource)));
            }
        }
    }
    res
}

/// What a call needed. A server-side apply that creates is authorized as both.
fn used(call: &Value) -> Vec<Right> {
    let word = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let about = &call["objectRef"];
    let mut resource = word(&about["resource"]);
    if let Some(it) = about["subresource"].as_str() {
        resource = format!("{resource}/{it}");
    }
    let (verb, group) = (word(&call["verb"]), word(&about["apiGroup"]));
    let mut res = vec![right(&verb, &group, &resource)];
    if verb == "patch" && call["responseStatus"]["code"] == 201 {
        res.push(right("create", &group, &resource));
    }
    res
}

fn refused(ground: &Ground) -> Vec<String> {
    let mut calls = ground.calls();
    calls.retain(|it| it["responseStatus"]["code"] == 403);
    calls
        .iter()
        .flat_map(used)
        .map(|(verb, group, resource)| format!("{verb} {group} {resource}"))
        .collect()
}
