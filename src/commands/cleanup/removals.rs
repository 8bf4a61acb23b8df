//! The objects that `cleanup` removes, and in which way.

use std::collections::BTreeSet;

use super::{find::list_of, is_copy, report_action};
use crate::app::cluster_access::{cluster_args, olm_namespace::InstallNamespace, removal};
use cluster::{CustomObject, Id, Live, Refusal, Removal, Verb, WaitState};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Deadline;
use olm::lifecycle::{self, V1_ALPHA1};

/// The objects to remove, in this order.
#[derive(Default)]
pub struct Removals {
    /// Manifests of the bundle that OLM has created and would leave behind, such as roles for users.
    pub manifests: Vec<Live>,
    /// Everything that OLM may still create as such a manifest.
    pub planned: Vec<Id>,
    /// OLM's list of the operator's objects, if none of them exists.
    pub list: Vec<Live>,
    /// True if OLM v1 has installed the operator.
    pub of_v1: bool,
    pub subscriptions: Vec<Live>,
    pub crds: Vec<(Live, Result<Vec<CustomObject>, Refusal>)>,
    pub csvs: Vec<Live>,
    /// The CatalogSource, then what serves it.
    pub catalog: Vec<Live>,
    pub group: Vec<Live>,
    pub namespace: Vec<Live>,
    /// Objects that are removed with these, and with which further objects are removed.
    pub owned: Vec<Id>,
    /// The objects that stay, and why.
    pub kept: Vec<(Id, String)>,
}

impl Removals {
    /// Removes an object that serves a catalog, or keeps it if others have created it.
    pub fn add_catalog_object(&mut self, live: Live) {
        match &live.removal {
            Removal::Ours | Removal::Unknown(_) => self.catalog.push(live),
            Removal::Adopted => self.kept.push((live.id, "it already existed".to_owned())),
            Removal::Theirs(why) => self.kept.push((live.id, why.clone())),
        }
    }

    /// Finds the CRDs that only these versions own.
    pub fn find_crds(&mut self, place: &InstallNamespace, csvs: &[&Value]) -> anyhow::Result<()> {
        let names: BTreeSet<String> =
            csvs.iter().flat_map(|csv| lifecycle::owned_crds(csv)).collect();
        let everywhere = place.cluster.list(V1_ALPHA1, "ClusterServiceVersion", "")?;
        let id = |name: String| Id {
            api_version: "apiextensions.k8s.io/v1".to_owned(),
            kind: "CustomResourceDefinition".to_owned(),
            namespace: String::new(),
            name,
        };
        let ids: Vec<Id> = names.into_iter().map(id).collect();
        for live in place.cluster.find_existing(&ids)? {
            let other = everywhere.iter().find(|csv| {
                !is_copy(csv)
                    && !csvs.iter().any(|own| own["metadata"]["uid"] == csv["metadata"]["uid"])
                    && lifecycle::owned_crds(csv).contains(&live.id.name)
            });
            let other = other.map(|csv| format!("{} owns it too", Id::of(csv)));
            match other.or_else(|| lifecycle::foreign_reason(&live.object)) {
                Some(why) => self.kept.push((live.id, why)),
                None => {
                    let held = place.cluster.list_custom_objects(&live.object)?;
                    self.crds.push((live, held));
                }
            }
        }
        Ok(())
    }

    pub fn is_empty(&self) -> bool {
        self.collect_all().is_empty() && self.namespace.is_empty()
    }

    /// Fails if the operator itself, or its namespace, is what is kept.
    pub fn refuse_if_operator_is_kept(&self) -> anyhow::Result<()> {
        let kept = |kind: &str| self.kept.iter().find(|entry| entry.0.kind == kind);
        let kept_as = |(id, why): &(Id, String)| {
            Err(anyhow::format_err!("nothing was removed: {id} is kept: {why}"))
        };
        match (kept("ClusterExtension"), kept("Namespace")) {
            (Some(extension), _) => kept_as(extension).hint("`cleanup` removes what `operator-rs run bundle` has created; for the rest, use `kubectl delete`"),
            (None, Some(namespace)) => kept_as(namespace),
            (None, None) => Ok(()),
        }
    }

    pub fn collect_all(&self) -> Vec<Live> {
        let crds = self.crds.iter().map(|entry| &entry.0);
        let rest = [&self.csvs, &self.catalog, &self.group, &self.list].into_iter().flatten();
        let first = self.manifests.iter().chain(&self.subscriptions);
        first.chain(crds).chain(rest).cloned().collect()
    }

    /// OLM's list of the operator's objects, which is deleted last if it lists nothing then; none if it is among all.
    pub fn late_list(
        &self,
        place: &InstallNamespace,
        package: &str,
    ) -> anyhow::Result<Option<Live>> {
        if self.of_v1 || !self.list.is_empty() {
            return Ok(None);
        }
        list_of(place, package)
    }

    /// The losses besides the operator itself.
    pub fn collect_losses(&self) -> Vec<String> {
        let all = self.collect_all();
        let of_crds = self.crds.iter().filter_map(|(live, held)| removal::loss(&live.id, held));
        all.iter().filter_map(removal::unclear).chain(of_crds).collect()
    }

    pub fn delete_all(
        &self,
        place: &InstallNamespace,
        package: &str,
        deadline: Deadline,
    ) -> anyhow::Result<()> {
        // OLM v1 removes the CRDs with the ClusterExtension.
        for (crd, _) in self.crds.iter().filter(|_| self.of_v1) {
            place.cluster.delete_objects_of(crd, deadline, &mut cluster_args::report)?;
        }
        for part in [&self.manifests, &self.subscriptions] {
            place.cluster.delete(part, deadline, &mut cluster_args::report)?;
        }
        self.wait_for_plans(place, deadline)?;
        self.delete_versions(place, deadline)?;
        for part in [&self.catalog, &self.group] {
            place.cluster.delete(part, deadline, &mut cluster_args::report)?;
        }
        let kept =
            if self.of_v1 { None } else { self.remove_late_objects(place, package, deadline)? };
        kept.iter().for_each(|(id, why)| report_action(Verb::Leave, id, why));
        self.delete_namespace(place, deadline)
    }

    /// The CRDs, while the operator runs, then the operator.
    fn delete_versions(&self, place: &InstallNamespace, deadline: Deadline) -> anyhow::Result<()> {
        let crds: Vec<Live> = self.crds.iter().map(|entry| entry.0.clone()).collect();
        for part in [&crds, &self.csvs] {
            place.cluster.delete(part, deadline, &mut cluster_args::report)?;
        }
        Ok(())
    }

    /// Waits until the InstallPlans of the Subscriptions are gone, which shows that OLM has noticed that the Subscriptions
    /// were deleted. If the CSVs were deleted earlier, OLM would install them again for a Subscription that it still knows.
    fn wait_for_plans(&self, place: &InstallNamespace, deadline: Deadline) -> anyhow::Result<()> {
        let is_removed = |owner: &Value| {
            self.subscriptions
                .iter()
                .any(|subscription| subscription.object["metadata"]["uid"] == owner["uid"])
        };
        let left = place.cluster.wait_until(deadline, &mut cluster_args::report, || {
            let plans = place.cluster.list(V1_ALPHA1, "InstallPlan", &place.namespace)?;
            let is_left = |plan: &&Value| {
                let owners = plan["metadata"]["ownerReferences"].as_array();
                owners.is_some_and(|owners| !owners.is_empty() && owners.iter().all(is_removed))
            };
            Ok(match plans.iter().find(is_left) {
                Some(plan) => WaitState::Not(format!("{} still exists", Id::of(plan))),
                None => WaitState::Done,
            })
        })?;
        match left {
            None => Ok(()),
            Some(reason) => Err(anyhow::format_err!("timed out: {reason}"))
                .hint("the garbage collector of Kubernetes removes it: run the command again"),
        }
    }

    fn delete_namespace(&self, place: &InstallNamespace, deadline: Deadline) -> anyhow::Result<()> {
        let Some(live) = self.namespace.first() else { return Ok(()) };
        let mut known: Vec<Id> = self.collect_all().into_iter().map(|live| live.id).collect();
        known.extend(self.owned.iter().cloned());
        let csvs = place.cluster.list(V1_ALPHA1, "ClusterServiceVersion", &place.namespace)?;
        known.extend(csvs.iter().filter(|csv| is_copy(csv)).map(Id::of));
        removal::olm::delete_namespace(&place.cluster, live, &known, deadline)
    }
}
