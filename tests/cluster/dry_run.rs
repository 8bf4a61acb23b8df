//! One pass of the manager that stores nothing, held against everything in its namespaces and every call of its account.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{ground::Ground, lab::Lab, operator::Operator, paused::pause, wishes::config_map};

pub async fn a_dry_run_reports_every_change_and_stores_none(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("dry-run").await;
    let operator = Operator::start(&ground, "manager").await;
    let map = |name: &str, value: &str| config_map(name, json!({ "k": value }));
    ground.wish("a", &[map("edited", "1"), map("changed", "1"), map("gone", "1")]).await;
    ground.wish("settled", &[map("settled", "1")]).await;
    operator.stop().await;
    ground.server.merge(&ground.child(&map("edited", "")), json!({ "data": { "k": "9" } })).await;
    ground.ask("a", &[map("edited", "1"), map("changed", "2"), map("new", "1")], json!({})).await;
    ground.ask("resting", &[map("resting", "1")], json!({})).await;
    pause(&ground, &ground.at("resting"), true).await;

    let dry = run(&ground, "dry").await;
    let expected = "\
change  configmaps dry-run/changed: data.k
change  configmaps dry-run/edited: data.k
delete  configmaps dry-run/gone
create  configmaps dry-run/new
change  memcacheds.cache.example.com/status dry-run/a: status.selector
paused  memcacheds.cache.example.com dry-run/resting: by `example.com/paused`
dry run: 2 reconciled, 0 failed; 1 to create, 3 to change, 1 to delete";
    assert_eq!(dry, (Some(0), expected.to_owned(), vec![]));

    // Without the right to write, it reports the first refusal of each object, and names all rights that are missing.
    let role =
        format!("/apis/rbac.authorization.k8s.io/v1/clusterroles/{}", ground.named("manager-role"));
    let mut rules = ground.server.get(&role).await.expect("it is installed")["rules"].take();
    for rule in rules.as_array_mut().expect("it has rules") {
        let verbs = rule["verbs"].as_array_mut().expect("it has verbs");
        verbs.retain(|it| *it == "list" || *it == "watch");
    }
    rules.as_array_mut().expect("it has rules").retain(|it| it["verbs"] != json!([]));
    ground.server.merge(&role, json!({ "rules": rules })).await;
    sleep(Duration::from_secs(2)).await;
    let (code, report, warnings) = run(&ground, "refused").await;
    let user = ground.user();
    let refused = format!(
        "failed  memcacheds.cache.example.com dry-run/a: Forbidden: configmaps \"edited\" is forbidden: User \"{user}\" \
         cannot patch resource \"configmaps\" in API group \"\" in the namespace \"dry-run\""
    );
    let expected = format!(
        "{refused}\n\
         paused  memcacheds.cache.example.com dry-run/resting: by `example.com/paused`\n\
         dry run: 1 reconciled, 1 failed; 0 to create, 0 to change, 0 to delete"
    );
    assert_eq!((code, report), (Some(1), expected));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    for right in [
        "groups=\"\",resources=configmaps,verbs=create;patch;delete",
        "groups=apps,resources=statefulsets,verbs=create;patch;delete",
        "groups=cache.example.com,resources=memcacheds/status,verbs=patch",
    ] {
        assert!(warnings[0].contains(&format!("`// +kubebuilder:rbac:{right}`")), "{warnings:?}");
    }
}

/// Runs it to its end, and returns its exit status, its report and its warnings. Nothing in the cluster may differ
/// afterwards.
async fn run(ground: &Ground, name: &str) -> (Option<i32>, String, Vec<String>) {
    let (before, since) = (settled(ground).await, ground.calls().len());
    let token = ground.token().await;
    let mut operator =
        Operator::start_with(ground, name, &token, |it| it.push("--dry-run".into())).await;
    let end = operator.ended(60).await;
    assert_eq!(versions(ground).await, before, "{}", operator.log());
    // What is outside of its namespaces, too: no write of its account was more than a dry run.
    let stored = |it: &String| !it.contains("dryRun=All");
    let stored: Vec<_> = ground.writes(since).into_iter().filter(stored).collect();
    assert_eq!(stored, [""; 0]);
    let log = operator.log();
    // Lines of the log begin with the time.
    let report: Vec<_> = log.lines().filter(|it| !it.starts_with("20") && !it.is_empty()).collect();
    (end.code(), report.join("\n"), operator.said(" WARN "))
}

/// The versions of everything in the two namespaces, once they rest.
async fn settled(ground: &Ground) -> BTreeMap<String, Value> {
    let mut before = versions(ground).await;
    for _ in 0..20 {
        sleep(Duration::from_secs(1)).await;
        let after = versions(ground).await;
        if before == after {
            return after;
        }
        before = after;
    }
    panic!("something changes all the time");
}

/// The resource version of each object of every kind that the API server lists, in both namespaces of the operator.
async fn versions(ground: &Ground) -> BTreeMap<String, Value> {
    let mut groups = vec!["/api/v1".to_owned()];
    for group in ground.server.get("/apis").await.expect("it is served")["groups"]
        .as_array()
        .expect("it has groups")
    {
        groups.push(format!(
            "/apis/{}",
            group["preferredVersion"]["groupVersion"].as_str().expect("it has one")
        ));
    }
    let mut res = BTreeMap::new();
    for group in groups {
        let resources = ground.server.get(&group).await.expect("it is served");
        for resource in resources["resources"].as_array().expect("it has resources") {
            let is_listed =
                resource["verbs"].as_array().is_some_and(|it| it.contains(&json!("list")));
            if resource["namespaced"] != true || !is_listed {
                continue;
            }
            let name = resource["name"].as_str().expect("it has a name");
            for namespace in [&ground.namespace, &ground.system()] {
                let path = format!("{group}/namespaces/{namespace}/{name}");
                for object in ground.server.list(&path).await {
                    let name = object["metadata"]["name"].as_str().expect("it has a name");
                    res.insert(
                        format!("{path}/{name}"),
                        object["metadata"]["resourceVersion"].clone(),
                    );
                }
            }
        }
    }
    assert!(res.keys().any(|it| it.contains("/configmaps/edited")), "{res:?}");
    res
}
