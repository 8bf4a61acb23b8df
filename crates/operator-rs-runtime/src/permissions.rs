//! The permissions that the controllers of a process need, and those that this account lacks. When the first request
//! is refused, all missing permissions are reported at once. kube and controller-runtime report one request at a time.

use crate::lock;
use k8s_openapi::api::authorization::v1::{
    ResourceAttributes, SelfSubjectAccessReview, SelfSubjectAccessReviewSpec as Spec,
};
use kube::{Api, Client, Resource, api::PostParams};
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
    time::Duration,
};
use tokio::{sync::OnceCell, time::sleep};

/// The verbs that every cache needs.
pub(crate) const READ: [&str; 2] = ["list", "watch"];

/// The time in which other controllers of the process add the permissions that they need.
const STARTUP: Duration = Duration::from_millis(100);

/// The permissions that the controllers of a process need. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permissions(Arc<PermissionSets>);

#[derive(Debug, Default)]
struct PermissionSets {
    needed: Mutex<BTreeMap<ResourceKey, Vec<&'static str>>>,
    missing: OnceCell<BTreeMap<ResourceKey, Vec<&'static str>>>,
}

/// The group, the plural, which may be followed by a subresource, and the namespace.
type ResourceKey = (String, String, Option<String>);

impl Permissions {
    /// Adds verbs that a controller needs for a resource, now or later.
    pub(crate) fn require_verbs<K: Resource<DynamicType = ()>>(
        &self,
        subresource: &str,
        namespace: Option<&str>,
        verbs: &[&'static str],
    ) {
        let resource = (K::group(&()).into(), format!("{}{subresource}", K::plural(&())), namespace.map(Into::into));
        let mut needed = lock(&self.0.needed);
        let known = needed.entry(resource).or_default();
        verbs.iter().for_each(|verb| {
            if !known.contains(verb) {
                known.push(verb)
            }
        });
    }

    /// Explains why no cache of `K`s can be filled, after the API server refused a request for it.
    pub(crate) async fn explain_refusal<K: Resource<DynamicType = ()>>(&self, client: &Client) -> String {
        sleep(STARTUP).await;
        let (group, plural) = (K::group(&()).into_owned(), K::plural(&()).into_owned());
        let missing = self.find_missing(client).await;
        let (mut reads, mut writes) = (BTreeMap::<_, Vec<&str>>::new(), BTreeMap::<_, Vec<&str>>::new());
        for ((group, plural, _), verbs) in missing {
            for verb in verbs {
                let side = if READ.contains(verb) { &mut reads } else { &mut writes };
                let missing_verbs = side.entry((group.clone(), plural.clone())).or_default();
                if !missing_verbs.contains(verb) {
                    missing_verbs.push(verb);
                }
            }
        }
        // The request was refused, even if the review allows it.
        reads.entry((group, plural)).or_insert_with(|| READ.to_vec());
        let refused = |(resource, verbs): (&(String, String), &Vec<&str>)| {
            format!("{} `{}`", verbs.join(" or "), full_name(resource))
        };
        let refused: Vec<_> = reads.iter().map(refused).collect();
        let controllers = if reads.len() == 1 { "the controller" } else { "the controllers" };
        let writes = match writes.is_empty() {
            true => String::new(),
            false => format!("; where the controllers write, they lack {} as well", rbac_markers(&writes)),
        };
        format!(
            "this account may not {}: add {} to {controllers}, run `operator-rs manifests`, and deploy again{writes}",
            refused.join(", nor "),
            rbac_markers(&reads),
        )
    }

    /// Logs all permissions that this account lacks, once for the process. Call it after a request was refused.
    pub(crate) async fn log_missing(&self, client: &Client) {
        // Of the reconciles that are refused at the same time, only the one that has asked logs the answer.
        let mut has_asked = false;
        let missing = self.0.missing.get_or_init(|| {
            has_asked = true;
            self.review(client)
        });
        let missing = missing.await.iter();
        if !has_asked {
            return;
        }
        let missing = missing.map(|((group, plural, _), verbs)| ((group.clone(), plural.clone()), verbs.clone()));
        let missing: BTreeMap<_, _> = missing.collect();
        if !missing.is_empty() {
            let markers = rbac_markers(&missing);
            tracing::warn!(
                "this account lacks permissions: add {markers}, run `operator-rs manifests`, and deploy again"
            );
        }
    }

    /// Asks the API server, on the first call only, which of the needed permissions this account lacks.
    async fn find_missing(&self, client: &Client) -> &BTreeMap<ResourceKey, Vec<&'static str>> {
        self.0.missing.get_or_init(|| self.review(client)).await
    }

    async fn review(&self, client: &Client) -> BTreeMap<ResourceKey, Vec<&'static str>> {
        let needed = lock(&self.0.needed).clone();
        let all = needed.iter().flat_map(|(resource, verbs)| verbs.iter().map(move |verb| (resource, *verb)));
        let reviews =
            all.map(|(resource, verb)| async move { (resource, verb, is_denied(client, resource, verb).await) });
        let mut missing = BTreeMap::<_, Vec<_>>::new();
        for (resource, verb, is_denied) in futures::future::join_all(reviews).await {
            if is_denied {
                missing.entry(resource.clone()).or_default().push(verb);
            }
        }
        missing
    }
}

/// Returns true if the API server denies this account the verb. (Every account may create a review for itself.)
async fn is_denied(client: &Client, (group, plural, namespace): &ResourceKey, verb: &str) -> bool {
    let (plural, subresource) = match plural.split_once('/') {
        Some((plural, subresource)) => (plural, Some(subresource)),
        None => (plural.as_str(), None),
    };
    let attributes = ResourceAttributes {
        group: Some(group.clone()),
        resource: Some(plural.into()),
        subresource: subresource.map(Into::into),
        namespace: namespace.clone(),
        verb: Some(verb.into()),
        ..ResourceAttributes::default()
    };
    let spec = Spec { resource_attributes: Some(attributes), ..Spec::default() };
    let review = SelfSubjectAccessReview { spec, ..SelfSubjectAccessReview::default() };
    let answer = Api::<SelfSubjectAccessReview>::all(client.clone()).create(&PostParams::default(), &review).await;
    answer.ok().and_then(|review| review.status).is_some_and(|status| !status.allowed)
}

fn full_name((group, plural): &(String, String)) -> String {
    format!("{plural}.{group}").trim_end_matches('.').to_owned()
}

/// Returns the RBAC markers that grant the missing permissions.
fn rbac_markers(missing: &BTreeMap<(String, String), Vec<&str>>) -> String {
    let marker = |((group, plural), verbs): (&(String, String), &Vec<&str>)| {
        let group = if group.is_empty() { "\"\"" } else { group };
        format!("`// +kubebuilder:rbac:groups={group},resources={plural},verbs={}`", verbs.join(";"))
    };
    missing.iter().map(marker).collect::<Vec<_>>().join(", ")
}
