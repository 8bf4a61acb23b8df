use super::{ObjectGenerator, RoundTripCheck, check, pattern};
use k8s_openapi::api::core::v1::ResourceRequirements;
use kube::{CustomResource, core::Duration};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

mod v1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1", kind = "Cache", namespaced, status = "CacheStatus")]
    pub struct CacheSpec {
        pub replicas: i32,
        pub image: Option<String>,
        #[serde(default)]
        pub labels: BTreeMap<String, String>,
        pub resources: Option<ResourceRequirements>,
        pub timeout: Duration,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct CacheStatus {
        pub ready: i32,
    }
}

mod v1alpha1 {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1alpha1", kind = "Cache", namespaced, status = "CacheStatus")]
    pub struct CacheSpec {
        pub size: i32,
        pub image: Option<String>,
        #[serde(default)]
        pub labels: BTreeMap<String, String>,
        pub resources: Option<ResourceRequirements>,
        pub timeout: Duration,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct CacheStatus {
        pub ready: i32,
    }
}

impl From<v1alpha1::Cache> for v1::Cache {
    fn from(it: v1alpha1::Cache) -> Self {
        let v1alpha1::CacheSpec { size: replicas, image, labels, resources, timeout } = it.spec;
        let status = it.status.map(|it| v1::CacheStatus { ready: it.ready });
        Self { metadata: it.metadata, spec: v1::CacheSpec { replicas, image, labels, resources, timeout }, status }
    }
}

impl From<v1::Cache> for v1alpha1::Cache {
    fn from(it: v1::Cache) -> Self {
        let v1::CacheSpec { replicas: size, image, labels, resources, timeout } = it.spec;
        let status = it.status.map(|it| v1alpha1::CacheStatus { ready: it.ready });
        Self { metadata: it.metadata, spec: v1alpha1::CacheSpec { size, image, labels, resources, timeout }, status }
    }
}

#[test]
fn what_is_the_same_in_both_versions_passes() {
    check::<v1::Cache, v1alpha1::Cache>();
}

/// A kind with a mistake in one of its conversions.
mod wrong {
    use super::*;

    pub mod new {
        use super::*;

        #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
        #[kube(group = "test.dev", version = "v1", kind = "Wrong")]
        pub struct WrongSpec {
            pub items: Vec<Item>,
            pub other: Option<String>,
        }

        #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
        pub struct Item {
            pub weight: u8,
            #[schemars(regex(pattern = "^v[0-9]+$"))]
            pub tag: String,
        }
    }

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1alpha1", kind = "Wrong")]
    pub struct WrongSpec {
        pub items: Vec<new::Item>,
    }

    impl From<Wrong> for new::Wrong {
        fn from(it: Wrong) -> Self {
            Self { metadata: it.metadata, spec: new::WrongSpec { items: it.spec.items, other: None } }
        }
    }

    impl From<new::Wrong> for Wrong {
        fn from(mut it: new::Wrong) -> Self {
            it.spec.items.iter_mut().filter(|it| it.weight > 100).for_each(|it| it.weight = 100);
            Self { metadata: it.metadata, spec: WrongSpec { items: it.spec.items } }
        }
    }
}

fn message(check: &dyn Fn()) -> String {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(check)).unwrap_err();
    panic.downcast_ref::<String>().unwrap().clone()
}

fn sample() -> Value {
    json!({ "spec": { "items": [{ "tag": "v1" }] } })
}

#[test]
fn a_field_that_changes_is_named_with_the_smallest_object_and_its_seed() {
    let check = || RoundTripCheck::<wrong::new::Wrong, wrong::Wrong>::default().sample(sample());
    let found = message(&|| check().accept_loss_of("spec.other").run());
    let seed: u64 = found.split("(seed ").nth(1).unwrap().split(')').next().unwrap().parse().unwrap();
    let (what, object) = found.split_once(": ").unwrap();
    let object: Value = serde_json::from_str(object).unwrap();
    let weight = &object["spec"]["items"][0]["weight"];
    assert_eq!(
        what,
        format!(
            "`spec.items[0].weight` of Wrong is {weight} in v1alpha1, and 100 after a conversion to v1 and back (seed {seed})"
        )
    );
    assert_eq!(object["spec"], json!({ "items": [{ "weight": weight, "tag": "v1" }] }));
    assert_eq!(message(&|| check().accept_loss_of("spec.other").first_seed(seed).object_count(1).run()), found);
}

/// A kind with a pattern that Go's regular expressions do not have.
mod unknown {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1", kind = "Unknown")]
    pub struct UnknownSpec {
        pub items: Vec<Item>,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Item {
        #[schemars(regex(pattern = "^v(?=[0-9])"))]
        pub tag: String,
    }
}

#[test]
fn what_cannot_be_made_is_named() {
    let found = message(&|| RoundTripCheck::<unknown::Unknown, unknown::Unknown>::default().run());
    assert_eq!(
        found,
        "unknowns.test.dev: no value for `spec.items[0].tag` can be made from the schema (^v(?=[0-9])), give a sample that has one"
    );
}

#[test]
fn texts_match_their_patterns() {
    let patterns = [
        "^v[0-9]+$",
        "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$",
        r"^([0-9]{1,3}\.){3}[0-9]{1,3}$",
        r"^(\d+)(ns|us|ms|s|m|h)$|^0$",
        r"^[^\s/]+/.*\p{L}$",
        "(?i)^http(s)?://x$",
        "",
    ];
    for pattern in patterns {
        let regex = regex::Regex::new(pattern).unwrap();
        let texts: Vec<_> = pattern::matching_texts(pattern).collect();
        assert!(texts.len() == 12 && texts.iter().all(|it| regex.is_match(it)), "{pattern}: {texts:?}");
    }
    assert_eq!(pattern::matching_texts("^v(?=[0-9])").count(), 0);
}

#[test]
fn objects_depend_on_their_seed_alone() {
    let mut one = ObjectGenerator::<v1::Cache>::new(&[]);
    let first: Vec<_> = (0..50).map(|it| one.generate(it)).collect();
    let again: Vec<_> = (0..50).map(|it| one.generate(it)).collect();
    assert!(first[10..] == again[10..] && first[0] != first[1]);
}

/// A kind whose list became a map in the new version.
mod list {
    use super::*;

    #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
    #[kube(group = "test.dev", version = "v1alpha1", kind = "Plan")]
    pub struct PlanSpec {
        pub targets: Vec<Target>,
        #[schemars(extend("x-kubernetes-list-type" = "map", "x-kubernetes-list-map-keys" = ["name"]))]
        pub named: Vec<Target>,
        #[schemars(extend("x-kubernetes-list-type" = "set"))]
        pub tags: Vec<String>,
    }

    #[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]
    pub struct Target {
        pub name: String,
        pub size: i32,
    }

    pub mod new {
        use super::*;

        #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
        #[kube(group = "test.dev", version = "v1", kind = "Plan")]
        pub struct PlanSpec {
            pub targets: Vec<Target>,
            pub named: BTreeMap<String, i32>,
            pub tags: std::collections::BTreeSet<String>,
        }
    }

    impl From<Plan> for new::Plan {
        fn from(plan: Plan) -> Self {
            let PlanSpec { mut targets, named, tags } = plan.spec;
            targets.sort_by(|a, b| a.name.cmp(&b.name));
            let named = named.into_iter().map(|it| (it.name, it.size)).collect();
            let spec = new::PlanSpec { targets, named, tags: tags.into_iter().collect() };
            Self { metadata: plan.metadata, spec }
        }
    }

    impl From<new::Plan> for Plan {
        fn from(plan: new::Plan) -> Self {
            let new::PlanSpec { targets, named, tags } = plan.spec;
            // A mistake that is found although the lists have no order.
            let size = |size: i32| if size == 7 { 8 } else { size };
            let named = named.into_iter().map(|(name, it)| Target { name, size: size(it) }).collect();
            Self { metadata: plan.metadata, spec: PlanSpec { targets, named, tags: tags.into_iter().collect() } }
        }
    }
}

#[test]
fn lost_order_is_named_as_such_and_accepted_alone() {
    let check = || RoundTripCheck::<list::new::Plan, list::Plan>::default().accept_loss_of("spec.named");
    let found = message(&|| check().run());
    assert!(
        found.starts_with("the order of `spec.targets` of Plan in v1alpha1 is lost after a conversion to v1"),
        "{found}"
    );
    assert!(found.ends_with("or accept this with `accept_reordering_of(\"spec.targets\")`"), "{found}");
    let found = message(&|| check().accept_reordering_of("spec.targets").run());
    assert!(found.starts_with("`spec.named[0].size` of Plan is 7 in v1alpha1, and 8 after"), "{found}");
}
