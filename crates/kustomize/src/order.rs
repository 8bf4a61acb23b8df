//! The order in which kustomize prints objects: those that others need come first.

use std::cmp::Ordering;

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
        objects.0.sort_by(|a, b| self.compare(a, b));
    }

    fn compare(&self, a: &Object, b: &Object) -> Ordering {
        self.rank(a.kind()).cmp(&self.rank(b.kind())).then_with(|| {
            let (kind_a, kind_b) = (kind(a), kind(b));
            // Of kinds called `Namespace`, Kubernetes' own comes first.
            let core = |it: &Object| it.kind() == "Namespace" && it.group_version().0.is_empty();
            let namespaces = a.kind() == "Namespace" && b.kind() == "Namespace";
            let order = match namespaces && (core(a) || core(b)) {
                true => kind_b.cmp(&kind_a),
                false => kind_a.cmp(&kind_b),
            };
            order.then_with(|| name(a).cmp(&name(b)))
        })
    }

    fn rank(&self, kind: &str) -> isize {
        // A kind that is listed twice has the position of the last entry.
        let at = |list: &[String]| {
            list.iter().rposition(|it| *it == kind).and_then(|it| isize::try_from(it).ok())
        };
        let last = at(&self.last).map(|it| it + 1);
        last.or_else(|| at(&self.first).map(|it| it - self.first.len().cast_signed())).unwrap_or(0)
    }
}

/// The default order of kinds.
pub fn key(of: &Kind) -> (isize, String) {
    let Kind { group, version, kind } = of;
    let text = format!("{}_{}_{}", or(group, "~G"), or(version, "~V"), or(kind, "~K"));
    (Order::default().rank(kind), text)
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
