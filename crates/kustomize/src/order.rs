//! The order in which kustomize prints objects: those that others need come first.

use std::{cmp::Ordering, collections::BTreeMap};

use super::{fields::Gvk, object::Object, objects::Objects};

/// The kinds that come first and those that come last, each in this order.
#[derive(Clone, Debug)]
pub struct Order {
    pub first: Vec<String>,
    pub last: Vec<String>,
}

const FIRST: &str = "Namespace ResourceQuota StorageClass CustomResourceDefinition ServiceAccount PodSecurityPolicy Role \
ClusterRole RoleBinding ClusterRoleBinding ConfigMap Secret Endpoints Service LimitRange PriorityClass PersistentVolume \
PersistentVolumeClaim Deployment StatefulSet CronJob PodDisruptionBudget";
const LAST: &str = "MutatingWebhookConfiguration ValidatingWebhookConfiguration";

impl Default for Order {
    fn default() -> Self {
        let words = |kinds: &str| kinds.split(' ').map(str::to_owned).collect();
        Self { first: words(FIRST), last: words(LAST) }
    }
}

impl Order {
    pub fn sort_objects(&self, objects: &mut Objects) {
        let ranks = self.collect_ranks();
        let rank = |object: &Object| ranks.get(object.kind()).copied().unwrap_or(0);
        objects.0.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| compare_objects(a, b)));
    }

    /// Returns the ranks of kinds. A kind listed twice has the position of its last entry; an unlisted one has 0.
    fn collect_ranks(&self) -> BTreeMap<&str, isize> {
        let first = (-self.first.len().cast_signed()..).zip(&self.first);
        let all = first.chain((1..).zip(&self.last));
        all.map(|(rank, kind)| (kind.as_str(), rank)).collect()
    }
}

/// Compares objects of one rank.
fn compare_objects(a: &Object, b: &Object) -> Ordering {
    let (kind_a, kind_b) = (kind_key(a), kind_key(b));
    // The Namespace of Kubernetes comes before other kinds with this name.
    let core =
        |object: &Object| object.kind() == "Namespace" && object.group_version().0.is_empty();
    let namespaces = a.kind() == "Namespace" && b.kind() == "Namespace";
    let order =
        if namespaces && (core(a) || core(b)) { kind_b.cmp(&kind_a) } else { kind_a.cmp(&kind_b) };
    order.then_with(|| name_key(a).cmp(&name_key(b)))
}

/// Returns the key by which kinds are sorted by default.
pub fn sort_key(gvk: &Gvk) -> (isize, String) {
    let Gvk { group, version, kind } = gvk;
    let text =
        format!("{}_{}_{}", text_or(group, "~G"), text_or(version, "~V"), text_or(kind, "~K"));
    (Order::default().collect_ranks().get(kind.as_str()).copied().unwrap_or(0), text)
}

fn kind_key(object: &Object) -> String {
    let (group, version) = object.group_version();
    format!("{}_{}_{}", text_or(group, "~G"), text_or(version, "~V"), text_or(object.kind(), "~K"))
}

fn name_key(object: &Object) -> String {
    format!("{}|{}", text_or(object.namespace(), "~X"), text_or(object.name(), "~N"))
}

fn text_or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

#[test]
fn a_kind_that_is_listed_twice_has_the_position_of_its_last_entry() {
    let list = |text: &str| text.split(' ').map(str::to_owned).collect();
    let order = Order { first: list("A B A C"), last: list("C D C") };
    let expected = [("A", -2), ("B", -3), ("C", 3), ("D", 2)];
    assert_eq!(order.collect_ranks(), expected.into());
}
