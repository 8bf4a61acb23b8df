//! The order in which kustomize prints objects: those that others need come first.

use std::{cmp::Ordering, collections::BTreeMap};

use super::{fields::Kind, object::Object, objects::Objects};

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
        let words = |it: &str| it.split(' ').map(str::to_owned).collect();
        Self { first: words(FIRST), last: words(LAST) }
    }
}

impl Order {
    pub fn sort(&self, objects: &mut Objects) {
        let ranks = self.ranks();
        let rank = |object: &Object| ranks.get(object.kind()).copied().unwrap_or(0);
        objects.0.sort_by(|a, b| rank(a).cmp(&rank(b)).then_with(|| compare(a, b)));
    }

    /// The ranks of kinds. One that is listed twice has the position of the last entry; one that is not listed has 0.
    fn ranks(&self) -> BTreeMap<&str, isize> {
        let first = (-self.first.len().cast_signed()..).zip(&self.first);
        let all = first.chain((1..).zip(&self.last));
        all.map(|(rank, kind)| (kind.as_str(), rank)).collect()
    }
}

/// The order of objects of one rank.
fn compare(a: &Object, b: &Object) -> Ordering {
    let (kind_a, kind_b) = (kind(a), kind(b));
    // Of kinds called `Namespace`, Kubernetes' own comes first.
    let core = |it: &Object| it.kind() == "Namespace" && it.group_version().0.is_empty();
    let namespaces = a.kind() == "Namespace" && b.kind() == "Namespace";
    let order =
        if namespaces && (core(a) || core(b)) { kind_b.cmp(&kind_a) } else { kind_a.cmp(&kind_b) };
    order.then_with(|| name(a).cmp(&name(b)))
}

/// The default order of kinds.
pub fn key(of: &Kind) -> (isize, String) {
    let Kind { group, version, kind } = of;
    let text = format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K"));
    (Order::default().ranks().get(kind.as_str()).copied().unwrap_or(0), text)
}

fn kind(object: &Object) -> String {
    let (group, version) = object.group_version();
    format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(object.kind(), "~K"))
}

fn name(object: &Object) -> String {
    format!("{}|{}", or(object.namespace(), "~X"), or(object.name(), "~N"))
}

fn or<'a>(text: &'a str, other: &'a str) -> &'a str {
    if text.is_empty() { other } else { text }
}

#[test]
fn a_kind_that_is_listed_twice_has_the_position_of_its_last_entry() {
    let list = |text: &str| text.split(' ').map(str::to_owned).collect();
    let order = Order { first: list("A B A C"), last: list("C D C") };
    let expected = [("A", -2), ("B", -3), ("C", 3), ("D", 2)];
    assert_eq!(order.ranks(), expected.into());
}
