//! The permissions that the controllers of a process need, and those that this account lacks. All missing permissions are
//! reported at once, when the first request is refused. kube and controller-runtime report one request at a time.

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

/// Other controllers of the process may still have to say what they need.
const START: Duration = Duration::from_millis(100);

/// The permissions that the controllers of a process need. Clones share them.
#[derive(Clone, Debug, Default)]
pub(crate) struct Permissions(Arc<State>);

#[derive(Debug, Default)]
struct State {
    needs: Mutex<BTreeMap<Place, Vec<&'static str>>>,
    lacks: OnceCell<BTreeMap<Place, Vec<&'static str>>>,
}

/// Group, plural, which may have a subresource, and namespace.
type Place = (String, String, Option<String>);

impl Permissions {
    /// Adds a permission that a controller needs, now or later.
    pub(crate) fn need<K: Resource<DynamicType = ()>>(
        &self,
        subresource: &str,
        namespace: Option<&str>,
        verbs: &[&'static str],
    ) {
        let place = (K::group(&()).into(), format!("{}{subresource}", K::plural(&())), namespace.map(Into::into));
        let mut needs = lock(&self.0.needs);
        let known = needs.entry(place).or_default();
        verbs.iter().for_each(|verb| {
            if !known.contains(verb) {
                known.push(verb)
            }
        });
    }

    /// The reason that no cache of `K`s can be filled, after a request for one was refused.
    pub(crate) async fn refused<K: Resource<DynamicType = ()>>(&self, client: &Client) -> String {
        sleep(START).await;
        let (group, plural) = (K::group(&()).into_owned(), K::plural(&()).into_owned());
        let lacks = self.lacks(client).await;
        let (mut reads, mut writes) = (BTreeMap::<_, Vec<&str>>::new(), BTreeMap::<_, Vec<&str>>::new());
        for ((group, plural, _), verbs) in lacks {
            for verb in verbs {
                let side = if READ.contains(verb) { &mut reads } else { &mut writes };
                let all = side.entry((group.clone(), plural.clone())).or_default();
                if !all.contains(verb) {
                    all.push(verb);
                }
            }
        }
        // Whatever the review says: it was refused.
        reads.entry((group, plural)).or_insert_with(|| READ.to_vec());
        let what: Vec<_> =
            reads.iter().map(|(at, verbs)| format!("{} `{}`", verbs.join(" or "), resource(at))).collect();
        let controllers = if reads.len() == 1 { "the controller" } else { "the controllers" };
        let writes = match writes.is_empty() {
            true => String::new(),
            false => format!("; where the controllers write, they lack {} as well", markers(&writes)),
        };
        format!(
            "this account may not {}: add {} to {controllers}, run `operator-rs manifests`, and deploy again{writes}",
            what.join(", nor "),
            markers(&reads),
        )
    }

    /// Logs the permissions that this account lacks, once, after a single request has been refused.
    pub(crate) async fn warn(&self, client: &Client) {
        if self.0.lacks.initialized() {
            return;
        }
        let lacks = self
            .lacks(client)
            .await
            .iter()
            .map(|((group, plural, _), it)| ((group.clone(), plural.clone()), it.clone()));
        let lacks: BTreeMap<_, _> = lacks.collect();
        if !lacks.is_empty() {
            let markers = markers(&lacks);
            tracing::warn!(
                "this account lacks permissions: add {markers}, run `operator-rs manifests`, and deploy again"
            );
        }
    }

    /// The permissions that this account lacks, according to the API server.
    async fn lacks(&self, client: &Client) -> &BTreeMap<Place, Vec<&'static str>> {
        let ask = || async {
            let needs = lock(&self.0.needs).clone();
            let all = needs.iter().flat_map(|(place, verbs)| verbs.iter().map(move |verb| (place, *verb)));
            let answers = all.map(|(place, verb)| async move { (place, verb, is_denied(client, place, verb).await) });
            let mut res = BTreeMap::<_, Vec<_>>::new();
            for (place, verb, is_denied) in futures::future::join_all(answers).await {
                if is_denied {
                    res.entry(place.clone()).or_default().push(verb);
                }
            }
            res
        };
        self.0.lacks.get_or_init(ask).await
    }
}

/// Whether the API server says that this account may not do that. (Everybody may ask for themselves.)
async fn is_denied(client: &Client, (group, plural, namespace): &Place, verb: &str) -> bool {
    let (plural, subresource) = plural.split_once('/').map_or((plural.as_str(), None), |(it, sub)| (it, Some(sub)));
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
    answer.ok().and_then(|it| it.status).is_some_and(|it| !it.allowed)
}

fn resource((group, plural): &(String, String)) -> String {
    format!("{plural}.{group}").trim_end_matches('.').to_owned()
}

/// The comments that grant permissions.
fn markers(lacks: &BTreeMap<(String, String), Vec<&str>>) -> String {
    let marker = |((group, plural), verbs): (&(String, String), &Vec<&str>)| {
        let group = if group.is_empty() { "\"\"" } else { group };
        format!("`// +kubebuilder:rbac:groups={group},resources={plural},verbs={}`", verbs.join(";"))
    };
    lacks.iter().map(marker).collect::<Vec<_>>().join(", ")
}
