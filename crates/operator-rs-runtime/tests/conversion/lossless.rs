//! Conversions that keep in an annotation what the other version cannot express.

use super::{
    convert_one,
    kinds::{new, old},
    new_cache, old_cache,
};
use operator_rs_runtime::{Component, lossless_conversion_webhook};
use serde_json::{Value, json};

mod plan_v1alpha1 {
    #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1alpha1", kind = "Plan", namespaced)]
    pub struct PlanSpec {
        #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
        pub targets: Vec<Target>,
    }

    #[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
    pub struct Target {
        pub name: String,
        pub bucket: String,
        /// Not in v1.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub note: Option<String>,
    }
}

mod plan_v1 {
    use std::collections::BTreeMap;

    #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1", kind = "Plan", namespaced)]
    pub struct PlanSpec {
        /// The buckets by name.
        pub targets: BTreeMap<String, String>,
    }
}

impl From<plan_v1alpha1::Plan> for plan_v1::Plan {
    fn from(plan: plan_v1alpha1::Plan) -> Self {
        let targets = plan.spec.targets.into_iter().map(|target| (target.name, target.bucket)).collect();
        Self { metadata: plan.metadata, spec: plan_v1::PlanSpec { targets } }
    }
}

impl From<plan_v1::Plan> for plan_v1alpha1::Plan {
    fn from(plan: plan_v1::Plan) -> Self {
        let target = |(name, bucket)| plan_v1alpha1::Target { name, bucket, note: None };
        let targets = plan.spec.targets.into_iter().map(target).collect();
        Self { metadata: plan.metadata, spec: plan_v1alpha1::PlanSpec { targets } }
    }
}

fn plans() -> Vec<Component> {
    vec![lossless_conversion_webhook::<plan_v1alpha1::Plan, plan_v1::Plan>("test.dev/conversion-data")]
}

fn plan(targets: &Value) -> Value {
    json!({
        "apiVersion": "test.dev/v1alpha1", "kind": "Plan", "metadata": { "name": "a", "namespace": "b" },
        "spec": { "targets": targets },
    })
}

fn kept(plan: &Value) -> &str {
    plan["metadata"]["annotations"]["test.dev/conversion-data"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn the_order_of_1500_items_fits_into_the_annotation() {
    let suffix = "x".repeat(40);
    let target =
        |i: i32| json!({ "name": format!("target-{i}-{suffix}"), "bucket": format!("s3://bucket-{i}/{suffix}") });
    let object = plan(&(0..1500).rev().map(target).collect());
    let spoke = convert_one(plans(), "test.dev/v1", &object).await.unwrap();
    assert!(kept(&spoke).len() < 100 * 1024, "{}", kept(&spoke).len());
    assert_eq!(convert_one(plans(), "test.dev/v1alpha1", &spoke).await.unwrap(), object);

    // The order is that of the map: nothing is kept.
    let sorted = plan(&json!([{ "name": "a", "bucket": "1" }, { "name": "b", "bucket": "2" }]));
    let spoke = convert_one(plans(), "test.dev/v1", &sorted).await.unwrap();
    assert_eq!(spoke["metadata"], sorted["metadata"]);
}

#[tokio::test]
async fn items_with_keys_are_kept_one_by_one() {
    let object = plan(&json!([
        { "name": "c", "bucket": "3", "note": "third" },
        { "name": "a", "bucket": "1" },
        { "name": "b", "bucket": "2", "note": "second" },
    ]));
    let mut spoke = convert_one(plans(), "test.dev/v1", &object).await.unwrap();
    assert_eq!(convert_one(plans(), "test.dev/v1alpha1", &spoke).await.unwrap(), object);

    // The other items stay as they are if the spoke gets a new one, loses one, and changes one.
    spoke["spec"]["targets"] = json!({ "0": "new", "a": "other", "c": "3" });
    let expected = plan(&json!([
        { "name": "c", "bucket": "3", "note": "third" },
        { "name": "a", "bucket": "other" },
        { "name": "0", "bucket": "new" },
    ]));
    assert_eq!(convert_one(plans(), "test.dev/v1alpha1", &spoke).await.unwrap(), expected);
}

#[tokio::test]
async fn a_list_with_a_key_twice_is_kept_as_a_whole() {
    let object = plan(&json!([{ "name": "a", "bucket": "2" }, { "name": "a", "bucket": "1" }]));
    let spoke = convert_one(plans(), "test.dev/v1", &object).await.unwrap();
    assert_eq!(spoke["spec"]["targets"], json!({ "a": "1" }));
    assert_eq!(convert_one(plans(), "test.dev/v1alpha1", &spoke).await.unwrap(), object);
}

#[tokio::test]
async fn what_a_spoke_cannot_express_is_kept_in_an_annotation() {
    let hub = || vec![lossless_conversion_webhook::<new::Cache, old::Cache>("test.dev/conversion-data")];
    let object = new_cache(json!({
        "replicas": 3, "host": "a", "port": 1, "zones": ["x", "y"], "tls": { "secret": "mine" },
    }));
    let mut spoke = convert_one(hub(), "test.dev/v1alpha1", &object).await.unwrap();
    assert_eq!(spoke["spec"], json!({ "size": 3, "address": "a:1", "secure": true }));
    assert_eq!(convert_one(hub(), "test.dev/v1", &spoke).await.unwrap(), object);

    // A change in the spoke wins, and keeps what it does not touch.
    spoke["spec"]["size"] = json!(4);
    spoke["spec"]["secure"] = json!(false);
    let back = convert_one(hub(), "test.dev/v1", &spoke).await.unwrap();
    assert_eq!(back, new_cache(json!({ "replicas": 4, "host": "a", "port": 1, "zones": ["x", "y"] })));

    // Nothing is lost: no annotation.
    let object = new_cache(json!({ "replicas": 3, "host": "a", "port": 1, "zones": [] }));
    let spoke = convert_one(hub(), "test.dev/v1alpha1", &object).await.unwrap();
    assert_eq!(spoke["metadata"], object["metadata"]);

    let zones: Vec<_> = (0..30_000).map(|it| format!("zone-{it}")).collect();
    let object = new_cache(json!({ "replicas": 3, "host": "a", "port": 1, "zones": zones }));
    let refused = convert_one(hub(), "test.dev/v1alpha1", &object).await.unwrap_err();
    let message = "cannot convert Cache `b/a` from test.dev/v1 to test.dev/v1alpha1: what v1alpha1 does not have does not \
                   fit into the annotation `test.dev/conversion-data`: it is 371 KiB long, most of it `spec.zones` of v1, \
                   and may be 200 KiB; add the field to v1alpha1, or give the items of a list keys: \
                   `#[x_kube(merge_strategy = ListMerge::Map(…))]`; if it is stored like this, correct it: \
                   `kubectl edit caches.v1.test.dev a -n b`";
    assert_eq!(refused, message);

    let mut spoke = old_cache(json!({ "size": 3, "address": "a:1" }));
    spoke["metadata"]["annotations"] = json!({ "test.dev/conversion-data": "broken" });
    let refused = convert_one(hub(), "test.dev/v1", &spoke).await.unwrap_err();
    assert!(refused.contains("test.dev/conversion-data"), "{refused}");
}
