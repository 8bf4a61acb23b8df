//! What the operator is asked for changes: what goes from it goes on the server, what others have added stays.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::{
    ground::{Ground, found, is},
    lab::Lab,
    operator::Operator,
    server::{APPLY, path},
};

impl Ground {
    /// Lets a Memcached list what its operator is to apply, and waits until it has.
    pub async fn wish(&self, name: &str, wishes: &[Value]) -> Value {
        let round = self.ask(name, wishes, json!({})).await;
        let done =
            |it: &Value| it["status"]["selector"] == round.as_str() && !is(it, "Degraded", "True");
        self.server.until(&self.at(name), 60, "as it is asked for", done).await
    }

    /// Lets a Memcached list what its operator is to apply, with other annotations, and does not wait; returns what its
    /// status will have as selector.
    pub async fn ask(&self, name: &str, wishes: &[Value], beside: Value) -> String {
        let wishes = Value::from(wishes.to_vec()).to_string();
        let round = format!("{:x}", hash(&format!("{wishes}{beside}")));
        let mut object = self.memcached_of(name, 1);
        object["metadata"]["annotations"] = beside;
        object["metadata"]["annotations"]["wishes"] = json!(wishes);
        object["metadata"]["annotations"]["round"] = json!(round);
        self.server.apply(&object).await;
        round
    }

    /// Where an object of a wish is.
    pub fn child(&self, wish: &Value) -> String {
        let mut wish = wish.clone();
        wish["metadata"]["namespace"] = json!(self.namespace);
        match wish["kind"].as_str() {
            Some("NetworkPolicy") => path(&wish).replace("networkpolicys", "networkpolicies"),
            _ => path(&wish),
        }
    }

    /// What the operator has written since, but for the Lease and the reviews of clients.
    pub fn writes(&self, since: usize) -> Vec<String> {
        let mut calls = self.calls().split_off(since);
        let verbs = ["create", "update", "patch", "delete"];
        calls.retain(|it| verbs.iter().any(|verb| it["verb"] == *verb));
        let kept = |it: &str| it != "leases" && !it.ends_with("reviews");
        calls.retain(|it| it["objectRef"]["resource"].as_str().is_none_or(kept));
        calls.iter().map(|it| format!("{} {}", it["verb"], it["requestURI"])).collect()
    }
}

fn hash(text: &str) -> u64 {
    use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
    BuildHasherDefault::<DefaultHasher>::default().hash_one(text)
}

pub fn config_map(name: &str, data: Value) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": name }, "data": data })
}

fn stateful_set(container: Value) -> Value {
    let labels = json!({ "app": "wish" });
    json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": { "name": "set" },
        "spec": {
            "replicas": 0, "serviceName": "set", "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": { "containers": [container],
                "tolerations": [{ "key": "a", "operator": "Exists" }] } },
        },
    })
}

fn binding(subjects: &[&str]) -> Value {
    let subjects: Vec<Value> = subjects
        .iter()
        .map(|it| json!({ "kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": it }))
        .collect();
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "metadata": { "name": "binding" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view" },
        "subjects": subjects,
    })
}

fn policy(ingress: Value) -> Value {
    json!({
        "apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "metadata": { "name": "policy" },
        "spec": { "podSelector": {}, "policyTypes": ["Ingress"], "ingress": ingress },
    })
}

pub async fn what_is_not_desired_any_more_is_gone_on_the_server(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("removed").await;
    let operator = Operator::start(&ground, "manager").await;
    let env = json!([{ "name": "A", "value": "a" }, { "name": "B", "value": "b" }]);
    let limits = json!({ "limits": { "memory": "64Mi" } });
    let ports =
        json!([{ "containerPort": 80, "name": "web" }, { "containerPort": 81, "name": "more" }]);
    let container = json!({ "name": "it", "image": "it:1", "env": env, "args": ["-v"], "resources": limits, "ports": ports });
    let mut before = [
        stateful_set(container),
        config_map("map", json!({ "a": "1", "b": "2" })),
        binding(&["anna", "bert"]),
        policy(json!([{ "from": [{ "podSelector": {} }] }])),
        config_map("whole", json!({ "a": "1" })),
    ];
    before[1]["metadata"]["labels"] = json!({ "team": "blue" });
    before[0]["spec"]["template"]["spec"]["initContainers"] =
        json!([{ "name": "one", "image": "it:1" }, { "name": "two", "image": "it:1" }]);
    ground.wish("a", &before).await;
    for it in &before {
        assert!(ground.server.get(&ground.child(it)).await.is_some(), "{it}");
    }

    let container =
        json!({ "name": "it", "image": "it:1", "env": [env[0]], "args": [], "ports": [ports[0]] });
    let mut after = vec![
        stateful_set(container),
        config_map("map", json!({ "a": "1" })),
        binding(&["anna"]),
        policy(json!([])),
    ];
    after[0]["spec"]["template"]["spec"]["initContainers"] =
        json!([{ "name": "two", "image": "it:1" }]);
    ground.wish("a", &after).await;
    let found = async |it: &Value| ground.server.get(&ground.child(it)).await.expect("it is there");
    let pod = found(&after[0]).await["spec"]["template"]["spec"].take();
    let container = &pod["containers"][0];
    assert_eq!(container["env"], json!([{ "name": "A", "value": "a" }]));
    assert_eq!(container["ports"].as_array().map(Vec::len), Some(1), "{container:#}");
    assert!(container["args"].is_null(), "{container:#}");
    assert!(container["resources"]["limits"].is_null(), "{container:#}");
    let first = &pod["initContainers"];
    assert!(first[0]["name"] == "two" && first[1].is_null(), "{first:#}");
    let map = found(&after[1]).await;
    assert_eq!(map["data"], json!({ "a": "1" }));
    assert!(map["metadata"]["labels"]["team"].is_null(), "{map:#}");
    assert_eq!(found(&after[2]).await["subjects"].as_array().map(Vec::len), Some(1));
    let policy = found(&after[3]).await;
    assert!(policy["spec"]["ingress"].as_array().is_none_or(Vec::is_empty), "{policy:#}");
    ground.server.until_gone(&ground.child(&before[4]), 10).await;

    operator.stop().await;
    let since = ground.calls().len();
    let operator = Operator::start(&ground, "again").await;
    operator.until_said("leading", 30).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(ground.writes(since), [""; 0], "after a restart");
    assert_eq!(operator.said(" WARN "), [""; 0]);

    // Nothing is wished for any more.
    ground.wish("a", &[]).await;
    for it in &after {
        ground.server.until_gone(&ground.child(it), 10).await;
    }
    operator.stop().await;
}

pub async fn a_failed_step_keeps_the_status_that_the_step_before_wrote(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("steps").await;
    let operator = Operator::start(&ground, "manager").await;
    ground.ask("a", &[], json!({ "trial": "external" })).await;
    let failing =
        |it: &Value| is(it, "Degraded", "True") && it["status"]["nodes"] == json!(["external-0"]);
    ground.server.until(&ground.at("a"), 30, "degraded, with what was made", failing).await;
    // It is tried again some times, and by another process.
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(operator.said("made outside").len(), 1, "{}", operator.log());
    operator.stop().await;
    let again = Operator::start(&ground, "again").await;
    again.until_said("reconcile failed", 30).await;
    let object = ground.server.get(&ground.at("a")).await.expect("it is there");
    assert!(failing(&object), "{object:#}");
    assert_eq!(found(&object, "Degraded").expect("it is")["reason"], "MissingField");
    assert_eq!(again.said("made outside"), [""; 0]);
    assert_eq!(ground.events("a").await, [("Warning".to_owned(), "MissingField".to_owned())]);
    ground.wish("a", &[config_map("map", json!({ "a": "1" }))]).await;
    let well = |it: &Value| is(it, "Degraded", "False") && is(it, "Available", "True");
    ground.server.until(&ground.at("a"), 10, "well", well).await;
    // And once more, now that it has been well.
    ground.ask("a", &[], json!({ "trial": "fail" })).await;
    ground.server.until(&ground.at("a"), 10, "degraded", |it| is(it, "Degraded", "True")).await;
    ground.wish("a", &[]).await;
    ground.server.until(&ground.at("a"), 10, "well again", well).await;
    assert_eq!(again.said("cannot take back"), [""; 0]);
    again.stop().await;
}

pub async fn a_child_whose_labels_or_owner_change_is_put_back(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("children").await;
    let operator = Operator::start(&ground, "manager").await;
    let map = config_map("map", json!({ "a": "1" }));
    let a = ground.wish("a", std::slice::from_ref(&map)).await;
    let b = ground.wish("b", &[]).await;
    let (server, at) = (&ground.server, ground.child(&map));
    let of = |it: &Value, owner: &Value| {
        let owners = it["metadata"]["ownerReferences"].as_array().cloned().unwrap_or_default();
        owners.iter().any(|it| it["uid"] == owner["metadata"]["uid"] && it["controller"] == true)
    };
    let managed = "/metadata/labels/app.kubernetes.io~1managed-by";
    let as_before =
        |it: &Value| of(it, &a) && it.pointer(managed).is_some_and(|it| it == "wishful-operator");
    assert!(as_before(&server.get(&at).await.expect("it is there")));

    // Without it, the watch sees it no more.
    let label = |value: Value| json!({ "metadata": { "labels": { "app.kubernetes.io/managed-by": value } } });
    for value in [Value::Null, json!("somebody")] {
        server.merge(&at, label(value)).await;
        server.until(&at, 10, "labelled again", as_before).await;
    }
    let uid = server.get(&at).await.expect("it is there")["metadata"]["uid"].clone();
    server.edit(&at, |it| it["metadata"]["ownerReferences"] = json!([])).await;
    server.until(&at, 10, "owned again", as_before).await;
    assert_eq!(
        server.get(&at).await.expect("it is there")["metadata"]["uid"],
        uid,
        "it was not made anew"
    );

    // Given to another, who does not wish for it: it goes, and is made again.
    server
        .edit(&at, |it| {
            it["metadata"]["ownerReferences"][0]["name"] = json!("b");
            it["metadata"]["ownerReferences"][0]["uid"] = b["metadata"]["uid"].clone();
        })
        .await;
    let anew = |it: &Value| as_before(it) && it["metadata"]["uid"] != uid;
    server.until(&at, 20, "made again", anew).await;
    let well = |it: &Value| is(it, "Available", "True") && is(it, "Degraded", "False");
    server.until(&ground.at("a"), 20, "well", well).await;
    operator.stop().await;
}

pub async fn what_others_add_to_our_lists_goes_and_what_is_theirs_stays(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("added").await;
    let operator = Operator::start(&ground, "manager").await;
    let set = stateful_set(
        json!({ "name": "it", "image": "it:1", "env": [{ "name": "A", "value": "a" }] }),
    );
    ground.wish("a", std::slice::from_ref(&set)).await;
    let (server, at) = (&ground.server, ground.child(&set));
    let pod = "/spec/template/spec";
    // An atomic list is one value.
    server
        .edit(&at, |it| {
            let list = it.pointer_mut(pod).expect("it has one")["tolerations"].as_array_mut();
            list.expect("it has some").push(json!({ "key": "b", "operator": "Exists" }));
        })
        .await;
    let one = |it: &Value| {
        it.pointer(pod)
            .is_some_and(|it| it["tolerations"].as_array().is_some_and(|it| it.len() == 1))
    };
    server.until(&at, 10, "of one toleration again", one).await;

    // What another program applies beside ours.
    let theirs = json!({
        "apiVersion": "apps/v1", "kind": "StatefulSet",
        "metadata": { "name": "set", "namespace": ground.namespace, "annotations": { "team": "blue" }, "labels": { "team": "blue" } },
        "spec": { "template": { "spec": { "containers": [{ "name": "it", "env": [{ "name": "B", "value": "b" }] }] } } },
    });
    let path = format!("{at}?fieldManager=somebody");
    let answer = server.ask("PATCH", &path, APPLY, theirs).await.expect("the API server answers");
    assert_eq!(answer.code, 200, "{answer:?}");
    // A change of ours leaves it there, and so does one that is put back.
    server
        .edit(&at, |it| it["spec"]["template"]["spec"]["containers"][0]["image"] = json!("evil:1"))
        .await;
    let both = |it: &Value| {
        let container = &it["spec"]["template"]["spec"]["containers"][0];
        let meta = &it["metadata"];
        container["image"] == "it:1"
            && container["env"].as_array().is_some_and(|it| it.len() == 2)
            && meta["labels"]["team"] == "blue"
            && meta["annotations"]["team"] == "blue"
    };
    server.until(&at, 10, "of both", both).await;
    let since = ground.calls().len();
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(ground.writes(since), [""; 0]);
    operator.stop().await;
}

pub async fn an_object_of_somebody_else_is_not_touched(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("foreign").await;
    let operator = Operator::start(&ground, "manager").await;
    let mut theirs = config_map("taken", json!({ "precious": "data" }));
    theirs["metadata"]["namespace"] = json!(ground.namespace);
    ground.server.apply(&theirs).await;
    let at = path(&theirs);
    let before = ground.server.get(&at).await.expect("it is there");
    let map = config_map("taken", json!({ "a": "1" }));
    ground.ask("a", std::slice::from_ref(&map), json!({})).await;
    let degraded = |it: &Value| is(it, "Degraded", "True");
    let object = ground.server.until(&ground.at("a"), 30, "degraded", degraded).await;
    let condition = found(&object, "Degraded").expect("it is");
    assert_eq!(condition["reason"], "NotOwned");
    let said = "ConfigMap `taken` already exists and was not created by this operator: rename the desired object, or delete the existing one if nothing needs it";
    assert_eq!(condition["message"], said);
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(ground.events("a").await, [("Warning".to_owned(), "NotOwned".to_owned())]);
    // Neither now nor when it is not wished for any more, nor when the object goes.
    ground.wish("a", &[]).await;
    ground.ask("a", std::slice::from_ref(&map), json!({})).await;
    ground.server.until(&ground.at("a"), 30, "degraded", degraded).await;
    ground.server.delete(&ground.at("a")).await;
    ground.server.until_gone(&ground.at("a"), 10).await;
    tokio::time::sleep(std::time::Duration::from_secs(2)).await;
    assert_eq!(ground.server.get(&at).await.expect("it is there"), before);

    // Once its owner has removed it, there is room.
    ground.ask("b", std::slice::from_ref(&map), json!({})).await;
    ground.server.until(&ground.at("b"), 30, "degraded", degraded).await;
    ground.server.delete(&at).await;
    let ours = |it: &Value| it["data"] == json!({ "a": "1" });
    ground.server.until(&at, 30, "ours", ours).await;
    let well = |it: &Value| is(it, "Degraded", "False");
    ground.server.until(&ground.at("b"), 10, "well", well).await;
    operator.stop().await;
}

pub async fn a_mapper_that_panics_stops_nothing(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("mapper").await;
    let mut operator = Operator::start(&ground, "manager").await;
    ground.ask("a", &[], json!({ "secret": "secret" })).await;
    let meta = |name: &str, annotations: Value| json!({ "name": name, "namespace": ground.namespace, "annotations": annotations });
    let account = |name: &str, annotations: Value| json!({ "apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta(name, annotations) });
    ground.server.apply(&account("bad", json!({ "trial": "panic" }))).await;
    ground.server.apply(&account("good", json!({ "of": "a" }))).await;
    let nodes = |nodes: Value| move |it: &Value| it["status"]["nodes"] == nodes;
    ground.server.until(&ground.at("a"), 20, "with an account", nodes(json!(["good"]))).await;
    let said = operator.said("the function of `watches` panicked");
    assert!(said.len() == 1 && said[0].contains("as the annotation says"), "{}", operator.log());
    // One that names an object that is not there.
    ground.server.apply(&account("lost", json!({ "of": "nobody" }))).await;
    // What it names is what counts, not what it has named.
    ground.server.apply(&account("bad", json!({ "of": "a" }))).await;
    ground.server.until(&ground.at("a"), 20, "with both", nodes(json!(["bad", "good"]))).await;
    ground.server.apply(&account("good", json!({ "trial": "panic" }))).await;
    ground.server.until(&ground.at("a"), 20, "with one", nodes(json!(["bad"]))).await;

    // Objects that are referred to, by their metadata.
    let secret = |value: &str| json!({ "apiVersion": "v1", "kind": "Secret", "metadata": meta("secret", json!({ "value": value })) });
    for value in ["one", "two"] {
        ground.server.apply(&secret(value)).await;
        ground
            .server
            .until(&ground.at("a"), 20, "told of the Secret", nodes(json!([value, "bad"])))
            .await;
    }
    ground.server.delete(&path(&secret(""))).await;
    ground.server.until(&ground.at("a"), 20, "told that it is gone", nodes(json!(["bad"]))).await;
    assert!(operator.runs());
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    operator.stop().await;
}

pub async fn a_kind_of_kubernetes_is_reconciled_with_the_role_of_its_markers(lab: Arc<Lab>) {
    let ground = lab.wishful_ground("builtin").await;
    let operator = Operator::start(&ground, "manager").await;
    operator.until_said("leading", 30).await;
    let labels = json!({ "app": "plain" });
    let pod = json!({ "containers": [{ "name": "it", "image": "it:1" }] });
    let mut deployment = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": { "name": "plain", "namespace": ground.namespace },
        "spec": { "replicas": 1, "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": pod } },
    });
    ground.server.apply(&deployment).await;
    let events = async |reason: &str| {
        let path = format!("/apis/events.k8s.io/v1/namespaces/{}/events", ground.namespace);
        let mut events = ground.server.list(&path).await;
        events.retain(|it| it["regarding"]["kind"] == "Deployment" && it["reason"] == reason);
        events.len()
    };
    for attempt in 0.. {
        if events("Seen").await > 0 {
            break;
        }
        assert!(attempt < 200, "it is reconciled\n{}", operator.log());
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    // A failure is told by an event: its status is the Deployment controller's.
    deployment["metadata"]["annotations"] = json!({ "trial": "fail" });
    ground.server.apply(&deployment).await;
    operator.until_said("reconcile failed", 20).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert_eq!(events("MissingField").await, 1, "{}", operator.log());
    let mut refused = ground.calls();
    refused.retain(|it| it["responseStatus"]["code"] == 403);
    assert!(refused.is_empty(), "{refused:#?}");
    assert_eq!(operator.said("cannot report"), [""; 0]);
    let found = ground.server.get(&path(&deployment)).await.expect("it is there");
    assert!(!is(&found, "Degraded", "True"), "{found:#}");
    operator.stop().await;
}
