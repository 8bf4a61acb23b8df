//! What becomes of an object that several people write in several versions.

use serde_json::{Value, json};

use super::{OTHER, STORED, SharedLab, Stage, at, free_port, require, stop};
use crate::server::{APPLY, JSON, MERGE};

pub async fn objects_are_written_and_read_in_each_version(lab: SharedLab) {
    let port = free_port();
    let stage = Stage::unruled(&lab, "versions", port).await;
    let operator = stage.operator("manager", port).await;
    // Stored before there were rules.
    let spec = json!({ "title": "old", "size": 4 });
    let mut old = stage.object(STORED, "old", spec);
    old["metadata"]["finalizers"] = json!(["example.com/trial"]);
    stage.server.apply(&old).await;
    stage.trust(&stage.authority()).await;

    what_is_refused_now_can_still_be_deleted(&stage).await;
    a_field_that_its_manager_drops_goes_in_each_version(&stage).await;
    defaults_leave_what_the_operator_does_not_know(&stage).await;
    the_samples_of_each_version_are_applied(&stage).await;
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    stop(operator).await;
}

async fn what_is_refused_now_can_still_be_deleted(stage: &Stage) {
    let refused =
        |body: &Value| body["message"].as_str().unwrap_or_default().contains("must not be 4");
    for version in [STORED, OTHER] {
        let answer = stage
            .ask("PATCH", &at(version, "old"), MERGE, json!({ "spec": { "title": "new" } }))
            .await;
        require(&answer, 422);
        assert!(refused(&answer.body), "{:#}", answer.body);
        assert_eq!(answer.body["details"]["causes"][0]["field"], "spec.size", "{:#}", answer.body);
    }
    let answer = stage.ask("DELETE", &at(OTHER, "old"), JSON, Value::Null).await;
    require(&answer, 200);
    let answer = stage.get(STORED, "old").await;
    assert!(answer.body["metadata"]["deletionTimestamp"].is_string(), "{:#}", answer.body);
    let without = json!({ "metadata": { "finalizers": null } });
    require(&stage.ask("PATCH", &at(OTHER, "old"), MERGE, without).await, 200);
    require(&stage.get(STORED, "old").await, 404);
}

async fn a_field_that_its_manager_drops_goes_in_each_version(stage: &Stage) {
    let all = json!({ "title": "it", "size": 2, "containerPort": 11300, "note": "hello" });
    let answer = stage.apply("one", STORED, "shared", all).await;
    require(&answer, 201);
    assert_eq!(answer.body["spec"]["tier"], "small", "it is computed: {:#}", answer.body);
    // Without `title`, which objects must have: both are partial.
    require(&stage.apply("two", OTHER, "shared", json!({ "color": "blue" })).await, 200);
    let third = json!({ "parts": [{ "name": "lid" }] });
    require(&stage.apply("three", STORED, "shared", third).await, 200);
    let answer = stage.get(OTHER, "shared").await;
    let spec = json!({
        "title": "it", "size": 2, "containerPort": 11300, "remark": "hello", "color": "blue", "tier": "small",
        "parts": [{ "name": "lid", "rank": 1 }],
    });
    assert_eq!(answer.body["spec"], spec);

    // By the name that the other version has for it. What has a default gets it back.
    let less = json!({ "title": "it", "size": 2 });
    let answer = stage.apply("one", OTHER, "shared", less.clone()).await;
    require(&answer, 200);
    let spec = json!({
        "title": "it", "size": 2, "containerPort": 11211, "color": "blue", "tier": "small",
        "parts": [{ "name": "lid", "rank": 1 }],
    });
    assert_eq!(answer.body["spec"], spec, "note and port were dropped");
    assert_eq!(owned(&answer.body, "one"), [OTHER, r#"{"f:size":{},"f:title":{}}"#]);
    assert_eq!(owned(&answer.body, "two"), [OTHER, r#"{"f:color":{}}"#]);
    let lid = r#"{"f:parts":{"k:{\"name\":\"lid\"}":{".":{},"f:name":{}}}}"#;
    assert_eq!(owned(&answer.body, "three"), [STORED, lid]);

    // And those of the others, each in the version that it was not applied in.
    let answer = stage.apply("two", STORED, "shared", json!({})).await;
    require(&answer, 200);
    assert_eq!(answer.body["spec"].get("color"), None, "{:#}", answer.body);
    let answer = stage.apply("three", OTHER, "shared", json!({})).await;
    require(&answer, 200);
    assert_eq!(answer.body["spec"].get("parts"), None, "{:#}", answer.body);
    let answer = stage.apply("one", STORED, "shared", less).await;
    require(&answer, 200);
    let spec = json!({ "title": "it", "size": 2, "containerPort": 11211, "tier": "small" });
    assert_eq!(answer.body["spec"], spec);
    assert_eq!(owned(&answer.body, "one"), [STORED, r#"{"f:size":{},"f:title":{}}"#]);
    // Who disagrees is told so in the other version's names.
    let answer = stage.apply("two", OTHER, "shared", json!({ "title": "other" })).await;
    require(&answer, 409);
    assert_eq!(answer.body["details"]["causes"][0]["field"], ".spec.title", "{:#}", answer.body);
}

/// In which version a manager has applied, and what of the spec.
fn owned(object: &Value, manager: &str) -> [String; 2] {
    let entries = object["metadata"]["managedFields"].as_array().expect("it has managers");
    let entries: Vec<_> = entries
        .iter()
        .filter(|it| it["manager"] == manager && it["operation"] == "Apply")
        .collect();
    let [entry] = entries[..] else { panic!("{manager} has one entry: {entries:#?}") };
    let version = entry["apiVersion"].as_str().expect("it is text");
    let version = version.rsplit('/').next().expect("it is no empty text").to_owned();
    [version, entry["fieldsV1"]["f:spec"].to_string()]
}

async fn defaults_leave_what_the_operator_does_not_know(stage: &Stage) {
    let spec = json!({
        "title": "it", "size": 3, "future": { "deep": [1, null, { "a": "b" }] }, "nothing": {},
        "parts": [
            { "name": "a", "weight": 1.5, "of": ["x"] },
            { "name": "b", "rank": 7, "weight": 2 },
            { "name": "c", "future": { "rank": 1 } },
        ],
    });
    let path = at(STORED, "unknown");
    let folder = path.trim_end_matches("/unknown");
    let answer = stage.ask("POST", folder, JSON, stage.object(STORED, "unknown", spec)).await;
    require(&answer, 201);
    let defaulted = json!({
        "title": "it", "size": 3, "future": { "deep": [1, null, { "a": "b" }] }, "nothing": {},
        "containerPort": 11211, "tier": "large",
        "parts": [
            { "name": "a", "weight": 1.5, "of": ["x"], "rank": 1 },
            { "name": "b", "rank": 7, "weight": 2 },
            { "name": "c", "future": { "rank": 1 }, "rank": 3 },
        ],
    });
    assert_eq!(stage.get(STORED, "unknown").await.body["spec"], defaulted);
    // A change that takes one of them away, and moves the others.
    let change = json!({ "spec": { "parts": [
        { "name": "c", "future": { "rank": 1 } }, { "name": "a", "weight": 1.5 },
    ] } });
    require(&stage.ask("PATCH", &path, MERGE, change).await, 200);
    let parts = json!([
        { "name": "c", "future": { "rank": 1 }, "rank": 1 }, { "name": "a", "weight": 1.5, "rank": 2 },
    ]);
    let spec = stage.get(STORED, "unknown").await.body["spec"].take();
    assert_eq!(spec["parts"], parts);
    assert_eq!(spec["future"], defaulted["future"]);
}

async fn the_samples_of_each_version_are_applied(stage: &Stage) {
    let dir = stage.ground.project.manager.with_file_name("config").join("samples");
    for (version, other) in [(STORED, OTHER), (OTHER, STORED)] {
        let text = std::fs::read_to_string(dir.join(format!("cache_{version}_memcached.yaml")));
        let mut sample: Value =
            serde_yaml::from_str(&text.expect("it is there")).expect("it is YAML");
        sample["metadata"]["namespace"] = json!("default");
        let name = sample["metadata"]["name"].as_str().expect("it has a name").to_owned();
        let path = format!("{}?fieldManager=kubectl&fieldValidation=Strict", at(version, &name));
        require(&stage.ask("PATCH", &path, APPLY, sample.clone()).await, 201);
        let read = stage.get(other, &name).await.body;
        for (field, value) in sample["spec"].as_object().expect("it has fields") {
            assert_eq!(&read["spec"][field], value, "{field} of {read:#}");
        }
    }
}
