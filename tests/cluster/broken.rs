//! One object, or its reconcile, is broken: the others go on, and people are told.

use std::{sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::time::sleep;

use crate::{
    ground::{found, is},
    lab::Lab,
    operator::Operator,
    security::{reader, scrape},
    server::{APPLY, path},
};

pub async fn an_object_that_cannot_be_decoded_stops_no_other(lab: Arc<Lab>) {
    let ground = lab.own_ground("undecodable", true).await;
    ground.install().await;
    let operator = Operator::start(&ground, "manager").await;
    ground.memcached("good", 1).await;
    ground.until_available("good", 60).await;

    // It is stored while the schema lets everything pass. Nor can a size of any kind be scaled.
    let crd = path(ground.object("CustomResourceDefinition"));
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let scale = "/spec/versions/0/subresources/scale";
    let strict = ground.server.get(&crd).await.expect("it is installed");
    let put = |crd: &mut Value, pointer: &str, value: Value| {
        let (parent, name) = pointer.rsplit_once('/').expect("it is below something");
        let parent = crd.pointer_mut(parent).and_then(Value::as_object_mut).expect("it is there");
        parent.remove(name);
        if !value.is_null() {
            parent.insert(name.into(), value);
        }
    };
    let anything = json!({ "type": "object", "x-kubernetes-preserve-unknown-fields": true });
    let loosen = |it: &mut Value| {
        put(it, spec, anything.clone());
        put(it, scale, Value::Null);
    };
    ground.server.edit(&crd, loosen).await;
    let mut bad = ground.memcached_of("bad", 1);
    bad["spec"]["size"] = json!("many");
    let at = format!("{}?fieldManager=trial", path(&bad));
    for attempt in 0.. {
        let answer = ground.server.ask("PATCH", &at, APPLY, bad.clone()).await;
        if answer.as_ref().is_ok_and(|it| it.code == 201) {
            break;
        }
        assert!(attempt < 100, "the looser schema is in force: {answer:?}");
        sleep(Duration::from_millis(200)).await;
    }
    let tighten = |it: &mut Value| {
        put(it, spec, strict.pointer(spec).expect("it has one").clone());
        put(it, scale, strict.pointer(scale).expect("it has one").clone());
    };
    ground.server.edit(&crd, tighten).await;

    operator.until_said("cannot be decoded", 30).await;
    ground.memcached("good", 2).await;
    ground.until_available("good", 60).await;
    sleep(Duration::from_secs(2)).await;
    assert_eq!(operator.said("cannot be decoded").len(), 1, "{}", operator.log());
    assert_eq!(ground.events("bad").await, [("Warning".to_owned(), "Undecodable".to_owned())]);

    ground.server.merge(&ground.at("bad"), json!({ "spec": { "size": 1 } })).await;
    ground.until_available("bad", 60).await;
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    operator.stop().await;
}

pub async fn a_reconcile_that_panics_stops_no_other(lab: Arc<Lab>) {
    let ground = lab.unruly_ground("panics").await;
    let mut operator = Operator::start(&ground, "manager").await;
    let mut object = ground.memcached_of("panics", 1);
    object["metadata"]["annotations"] = json!({ "trial": "panic" });
    ground.server.apply(&object).await;
    ground.memcached("calm", 1).await;
    ground.until_available("calm", 60).await;
    let degraded = |it: &Value| is(it, "Degraded", "True");
    let found_then = ground.server.until(&ground.at("panics"), 30, "degraded", degraded).await;
    let condition = found(&found_then, "Degraded").expect("it is");
    assert_eq!(condition["reason"], "Panic");
    assert_eq!(condition["message"], "the reconciler panicked: as the annotation says");
    // It is tried again, later and later; that is told once.
    sleep(Duration::from_secs(3)).await;
    assert_eq!(ground.events("panics").await, [("Warning".to_owned(), "Panic".to_owned())]);
    let token = reader(&ground).await;
    let (_, text) = scrape(&operator, None, Some(&token)).await;
    let panics = "controller_runtime_reconcile_panics_total{controller=\"memcached\"} ";
    let panics = text.lines().find_map(|it| it.strip_prefix(panics)?.parse::<u32>().ok());
    assert!(panics.is_some_and(|it| (2..20).contains(&it)), "{panics:?} in\n{text}");

    ground.memcached("calm", 2).await;
    ground.until_available("calm", 60).await;
    let patch = json!({ "metadata": { "annotations": { "trial": null } } });
    ground.server.merge(&ground.at("panics"), patch).await;
    let healed = ground.until_available("panics", 60).await;
    assert!(is(&healed, "Degraded", "False"), "{healed:#}");
    assert!(operator.runs());
    assert_eq!(operator.said(" ERROR "), [""; 0]);
    operator.stop().await;
}
