//! What `cleanup` removes, and how.

use super::{is_copy, report};
use crate::{
    cluster::{self, Held, Id, Inhabitants, Limit, Live, Refusal, Removal, State, Verb},
    commands::{reach, run::place::Place},
    hint::Hint as _,
    olm::{self, V1, V1_ALPHA1},
    yaml::Value,
};

/// What is removed, in this order.
#[derive(Default)]
pub struct Removals {
    /// Manifests of the bundle that OLM has created and would leave behind, such as roles for users.
    pub manifests: Vec<Live>,
    pub subscriptions: Vec<Live>,
    pub crds: Vec<(Live, Result<Vec<Held>, Refusal>)>,
    pub csvs: Vec<Live>,
    /// The CatalogSource, then what serves it.
    pub catalog: Vec<Live>,
    pub group: Vec<Live>,
    pub namespace: Vec<Live>,
    /// What goes with these, and takes objects of its own with it.
    pub owned: Vec<Id>,
    /// What is not removed, and why.
    pub kept: Vec<(Id, String)>,
}

impl Removals {
    /// Removes an object that serves a catalog, or keeps it if others have created it.
    pub fn sort(&mut self, it: Live) {
        match &it.removal {
            Removal::Ours | Removal::Unknown(_) => self.catalog.push(it),
            Removal::Adopted => self.kept.push((it.id, "it already existed".to_owned())),
            Removal::Theirs(why) => self.kept.push((it.id, why.clone())),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all().is_empty() && self.namespace.is_empty()
    }

    /// Fails if the operator itself, or its namespace, is what is kept.
    pub fn refuse(&self) -> anyhow::Result<()> {
        let kept = |kind: &str| self.kept.iter().find(|it| it.0.kind == kind);
        let kept_as = |(id, why): &(Id, String)| {
            Err(anyhow::format_err!("nothing was removed: {id} is kept: {why}"))
        };
        match (kept("ClusterExtension"), kept("Namespace")) {
            (Some(it), _) => kept_as(it).hint("`cleanup` removes what `operator-rs run bundle` has created; for the rest, use `kubectl delete`"),
            (None, Some(it)) => kept_as(it),
            (None, None) => Ok(()),
        }
    }

    pub fn all(&self) -> Vec<Live> {
        let crds = self.crds.iter().map(|it| &it.0);
        let rest = [&self.csvs, &self.catalog, &self.group].into_iter().flatten();
        let first = self.manifests.iter().chain(&self.subscriptions);
        first.chain(crds).chain(rest).cloned().collect()
    }

    /// What is lost beside the operator itself.
    pub fn losses(&self) -> Vec<String> {
        let loss = |(live, held): &(Live, Result<Vec<Held>, Refusal>)| match held {
            Ok(held) if held.is_empty() => None,
            Ok(held) => {
                Some(format!("removing {} also removes {}", live.id, cluster::held_summary(held)))
            }
            Err(why) => Some(format!(
                "removing {} also removes every object of its kind, and these cannot be listed: {}",
                live.id, why.message
            )),
        };
        self.crds.iter().filter_map(loss).collect()
    }

    pub fn delete(&self, place: &Place, package: &str, limit: Limit) -> anyhow::Result<()> {
        let crds: Vec<Live> = self.crds.iter().map(|it| it.0.clone()).collect();
        for part in [&self.manifests, &self.subscriptions, &crds, &self.csvs] {
            place.cluster.delete(part, limit, &mut reach::report)?;
        }
        self.wait_for_olm(place, limit)?;
        // An InstallPlan that OLM was still carrying out may have created them again.
        let again: Vec<Id> = self.manifests.iter().map(|it| it.id.clone()).collect();
        place.cluster.delete(&place.cluster.find(&again)?, limit, &mut reach::report)?;
        for part in [&self.catalog, &self.group] {
            place.cluster.delete(part, limit, &mut reach::report)?;
        }
        self.delete_operator(place, package, limit)?;
        self.delete_namespace(place, limit)
    }

    /// OLM's list of the operator's objects, which it keeps when there are none.
    fn delete_operator(&self, place: &Place, package: &str, limit: Limit) -> anyhow::Result<()> {
        let id = Id {
            namespace: String::new(),
            ..place.id(V1, "Operator", &format!("{package}.{}", place.namespace))
        };
        let mut empty = Vec::new();
        let settled = Limit::after(std::time::Duration::from_secs(30));
        place.cluster.until(if limit.is_over() { limit } else { settled }, &mut |_| {}, || {
            empty = place.cluster.find(std::slice::from_ref(&id))?;
            let refs = empty.first().map(|it| &it.object["status"]["components"]["refs"]);
            Ok(match refs.and_then(Value::as_array) {
                Some(refs) if !refs.is_empty() => State::Not(String::new()),
                _ => State::Done,
            })
        })?;
        empty.retain(|it| {
            it.object["status"]["components"]["refs"].as_array().is_none_or(Vec::is_empty)
        });
        place.cluster.delete(&empty, limit, &mut reach::report)
    }

    /// Waits until OLM has removed what it created on the cluster for these versions.
    fn wait_for_olm(&self, place: &Place, limit: Limit) -> anyhow::Result<()> {
        let names: Vec<&str> = self.csvs.iter().map(|it| it.id.name.as_str()).collect();
        let left = place.cluster.until(limit, &mut reach::report, || {
            for (api_version, kind) in olm::CLUSTER_SCOPED {
                for it in place.cluster.list(api_version, kind, "")? {
                    if names.iter().any(|csv| olm::is_owned_by(&it, csv, &place.namespace)) {
                        return Ok(State::Not(format!("OLM has not removed {} yet", Id::of(&it))));
                    }
                }
            }
            Ok(State::Done)
        })?;
        match left {
            None => Ok(()),
            Some(reason) => Err(anyhow::format_err!("timed out: {reason}"))
                .hint("check that OLM runs: `operator-rs olm status`; then run the command again"),
        }
    }

    fn delete_namespace(&self, place: &Place, limit: Limit) -> anyhow::Result<()> {
        let Some(live) = self.namespace.first() else { return Ok(()) };
        let mut known: Vec<Id> = self.all().into_iter().map(|it| it.id).collect();
        known.extend(self.owned.iter().cloned());
        let csvs = place.cluster.list(V1_ALPHA1, "ClusterServiceVersion", &place.namespace)?;
        known.extend(csvs.iter().filter(|it| is_copy(it)).map(Id::of));
        // OLM's own objects go with those that they belong to.
        let mut last = Inhabitants::default();
        let settled = Limit::after(std::time::Duration::from_secs(30));
        place.cluster.until(if limit.is_over() { limit } else { settled }, &mut |_| {}, || {
            last = place.cluster.others_in(&live.id.name, &known, &Inhabitants::default())?;
            Ok(match last.others.is_empty() {
                true => State::Done,
                false => State::Not(String::new()),
            })
        })?;
        let other = last.others.first().map(|it| format!("{} is in it", it.id));
        let unknown = last.unknown.iter().next();
        let unknown =
            unknown.map(|(what, why)| format!("its objects of {what} cannot be listed: {why}"));
        match other.or(unknown) {
            Some(why) => report(Verb::Leave, &live.id, &why),
            None => place.cluster.delete(std::slice::from_ref(live), limit, &mut reach::report)?,
        }
        Ok(())
    }
}
