//! Partial objects.

use crate::{
    caches, convert, convert_one,
    kinds::{strange_v1, strange_v2, v1, v1alpha1, v1beta1},
    manager, new_cache, old_cache,
};
use operator_rs_runtime::conversion_webhook;
use operator_rs_testing::conversion::{self, check_partial_objects};
use serde_json::{Value, json};

fn rich() -> Vec<operator_rs_runtime::Component> {
    vec![conversion_webhook::<v1::Rich, v1alpha1::Rich>(), conversion_webhook::<v1::Rich, v1beta1::Rich>()]
}

async fn check(from: Value, to: Value) {
    let version = to["apiVersion"].as_str().unwrap();
    assert_eq!(convert_one(caches(), version, &from).await.unwrap(), to);
}

#[tokio::test]
async fn what_is_missing_stays_missing() {
    check(old_cache(json!({ "size": 3 })), new_cache(json!({ "replicas": 3, "zones": [] }))).await;
    check(old_cache(json!({ "address": "a:1" })), new_cache(json!({ "host": "a", "port": 1, "zones": [] }))).await;
    check(new_cache(json!({ "host": "a" })), old_cache(json!({}))).await;
    let tls = new_cache(json!({ "tls": {} }));
    check(tls, old_cache(json!({ "secure": true }))).await;
    let nothing = |version: &str| json!({ "apiVersion": version, "kind": "Cache" });
    let empty = |version: &str| json!({ "apiVersion": version, "kind": "Cache", "metadata": {} });
    check(nothing("test.dev/v1"), empty("test.dev/v1alpha1")).await;
    let mut with_constant = empty("test.dev/v1");
    with_constant["spec"] = json!({ "zones": [] }); // which the conversion always sets
    check(nothing("test.dev/v1alpha1"), with_constant).await;
}

#[tokio::test]
async fn what_cannot_be_made_up_is_refused_with_its_field() {
    let convert = async |spec: Value| {
        let hub = vec![conversion_webhook::<strange_v2::Strange, strange_v1::Strange>()];
        let object =
            json!({ "apiVersion": "test.dev/v1", "kind": "Strange", "metadata": { "name": "a" }, "spec": spec });
        convert_one(hub, "test.dev/v2", &object).await.map(|mut it| it["spec"].take())
    };
    let cannot = "cannot convert Strange `a` from test.dev/v1 to test.dev/v2: `spec.odd`";
    let refused = convert(json!({ "size": 1, "free": {} })).await.unwrap_err();
    assert!(refused.starts_with(&format!("{cannot} is missing, and no value for it can be made up: ")), "{refused}");
    let refused = convert(json!({ "odd": "odd-2", "free": {} })).await.unwrap_err();
    assert_eq!(
        refused,
        format!(
            "{cannot}: \"odd-2\" is not odd; if it is stored like this, correct it: `kubectl edit stranges.v1.test.dev a`"
        )
    );
    // Any other field may be missing. A field that the type does not have is lost, and free-form values stay.
    let converted = convert(json!({ "odd": "odd-3", "free": { "a": null, "b": [{}] }, "unknown": 1 })).await;
    assert_eq!(converted.unwrap(), json!({ "odd": "odd-3", "free": { "a": null, "b": [{}] } }));
}

/// Of enums that are tagged by a field, the schema does not tell which fields belong together.
fn sample() -> Value {
    let internal = json!({ "type": "disk", "path": "/a", "size": 3 });
    let adjacent = json!({ "kind": "some", "value": { "a": 1, "b": 2 } });
    json!({ "apiVersion": "test.dev/v1", "spec": { "body": { "internal": internal, "adjacent": adjacent } } })
}

#[tokio::test]
async fn rich_objects_are_read_without_any_single_field() {
    let mut samples = [sample(), sample()];
    samples[1]["apiVersion"] = json!("test.dev/v1alpha1");
    check_partial_objects::<v1::Rich, v1alpha1::Rich, _>(
        operator_rs_runtime::webhook_service(rich(), &manager()),
        &samples,
    )
    .await;
}

/// Removes random fields. Lists keep their items, and a tag that the schema does not connect with its fields stays.
fn remove_some(value: &mut Value, random: &mut impl FnMut() -> bool) {
    match value {
        Value::Object(object) => {
            object.retain(|name, _| ["type", "kind"].contains(&name.as_str()) || !random());
            object.values_mut().for_each(|it| remove_some(it, random));
        }
        Value::Array(list) => list.iter_mut().for_each(|it| remove_some(it, random)),
        _ => {}
    }
}

/// What a whole object has at the places of its part.
fn at_places_of(part: &Value, whole: &Value) -> Value {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            let fields =
                part.iter().map(|(name, it)| (name.clone(), at_places_of(it, whole.get(name).unwrap_or(&Value::Null))));
            Value::Object(fields.collect())
        }
        (Value::Array(part), Value::Array(whole)) => part.iter().zip(whole).map(|(a, b)| at_places_of(a, b)).collect(),
        _ => whole.clone(),
    }
}

/// Removes the objects that have no fields, and lists of such objects.
fn without_empty_objects(value: &mut Value) {
    let is_empty = |it: &Value| it.as_object().is_some_and(serde_json::Map::is_empty);
    match value {
        Value::Object(object) => {
            object.values_mut().for_each(without_empty_objects);
            object.retain(|_, it| {
                !is_empty(it) && it.as_array().is_none_or(|list| list.is_empty() || !list.iter().all(is_empty))
            });
        }
        Value::Array(list) => list.iter_mut().for_each(without_empty_objects),
        _ => {}
    }
}

fn difference(a: &Value, b: &Value, path: &str) -> Option<String> {
    match (a, b) {
        (Value::Object(x), Value::Object(y)) => {
            let names = x.keys().chain(y.keys());
            names.into_iter().find_map(|name| {
                difference(
                    x.get(name).unwrap_or(&Value::Null),
                    y.get(name).unwrap_or(&Value::Null),
                    &format!("{path}.{name}"),
                )
            })
        }
        (Value::Array(x), Value::Array(y)) if x.len() == y.len() => {
            (0..x.len()).find_map(|i| difference(&x[i], &y[i], &format!("{path}[{i}]")))
        }
        _ => (a != b).then(|| format!("`{path}` is {a} instead of {b}")),
    }
}

#[tokio::test]
async fn a_part_of_an_object_stays_that_part() {
    let mut generator = conversion::ObjectGenerator::<v1::Rich>::new(&[sample()]);
    let mut state = 1_u64;
    for seed in 0..12 {
        let object = generator.generate(seed);
        let mut part = object.clone();
        let one_in = [2, 10, 50][usize::try_from(seed % 3).unwrap()];
        let mut random = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33).is_multiple_of(one_in)
        };
        remove_some(&mut part["spec"], &mut random);
        let converted = convert(rich(), "test.dev/v1alpha1", &[object, part.clone()]).await;
        let [whole, mut converted] = <[_; 2]>::try_from(converted.unwrap()).unwrap();
        let mut expected = at_places_of(&part, &whole);
        for it in [&mut expected, &mut converted] {
            without_empty_objects(it);
        }
        let difference = difference(&converted, &expected, "");
        assert!(difference.is_none(), "seed {seed}: {}", difference.unwrap());
    }
}

/// A field that no manager applies any more goes away only if no conversion brings it back.
#[tokio::test]
async fn a_field_with_a_default_stays_missing() {
    let mut generator = conversion::ObjectGenerator::<v1::Rich>::new(&[sample()]);
    let mut object = generator.generate(0);
    object["spec"]["body"]["port"] = json!(1);
    object["spec"]["body"]["list"] = json!(["a"]);
    let body = |it: &Value| it["spec"]["body"].clone();
    let whole = convert_all(&object).await;
    assert!(body(&whole)["port"].is_u64() && body(&whole)["list"].is_array());
    let fields = object["spec"]["body"].as_object_mut().unwrap();
    fields.remove("port");
    fields.remove("list");
    let part = convert_all(&object).await;
    assert_eq!((&body(&part)["port"], &body(&part)["list"]), (&Value::Null, &Value::Null));
    assert_eq!(body(&part)["size"], body(&whole)["size"]);
}

async fn convert_all(object: &Value) -> Value {
    let version = object["apiVersion"].as_str().unwrap().replace("/v1", "/v1alpha1");
    convert_one(rich(), &version, object).await.unwrap()
}
