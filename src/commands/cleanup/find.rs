//! Finds what `cleanup` removes of an operator that OLM has installed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Args, is_copy, removals::Removals, settle::correct_id, v1};
use crate::app::cluster_access::olm_namespace::InstallNamespace;
use cluster::{Id, Live};
use go_data::yaml::Value;
use olm::lifecycle::{self, GROUP, V1, V1_ALPHA1};

impl Args {
    pub fn find_removals(
        &self,
        place: &InstallNamespace,
        package: &str,
    ) -> anyhow::Result<Removals> {
        let mut removals = Removals::default();
        let catalog = lifecycle::catalog_name(package)?;
        let subscriptions = place.subscriptions(package)?;
        removals.subscriptions = self.find_live(place, subscriptions.iter().map(Id::of))?;

        let all = place.cluster.list(V1_ALPHA1, "ClusterServiceVersion", &place.namespace)?;
        let installed: BTreeSet<&str> = subscriptions
            .iter()
            .flat_map(|subscription| {
                [
                    &subscription["status"]["installedCSV"],
                    &subscription["status"]["currentCSV"],
                    &subscription["spec"]["startingCSV"],
                ]
            })
            .filter_map(Value::as_str)
            .collect();
        let is_ours = |csv: &&Value| {
            let name = csv["metadata"]["name"].as_str().unwrap_or_default();
            !is_copy(csv)
                && (installed.contains(name)
                    || lifecycle::is_labelled(csv, package, &place.namespace))
        };
        let csvs: Vec<&Value> = all.iter().filter(is_ours).collect();
        removals.csvs = self.find_live(place, csvs.iter().map(|csv| Id::of(csv)))?;
        let names = csvs.iter().filter_map(|csv| csv["metadata"]["name"].as_str());
        let names: BTreeSet<&str> = names.chain(installed).collect();
        find_manifests(place, &catalog, &names, &mut removals)?;
        find_auth_readers(place, &csvs, &mut removals)?;
        let deployments = csvs.iter().flat_map(|csv| lifecycle::deployment_names(csv));
        find_leases(place, &deployments.collect::<Vec<_>>(), &mut removals);
        find_forgotten(place, package, &all, &mut removals)?;
        if self.delete_all || self.delete_crds {
            removals.find_crds(place, &csvs)?;
        }

        let source = place.id(V1_ALPHA1, "CatalogSource", &catalog);
        let mut catalog_ids = vec![source];
        catalog_ids.extend(place.servers(&catalog)?.iter().map(Id::of));
        for live in self.find_live(place, catalog_ids.into_iter())? {
            removals.add_catalog_object(live);
        }
        for subscription in &subscriptions {
            let from = (&subscription["spec"]["source"], &subscription["spec"]["sourceNamespace"]);
            if *from.0 != *catalog || *from.1 != *place.namespace {
                let mut id =
                    place.id(V1_ALPHA1, "CatalogSource", from.0.as_str().unwrap_or_default());
                id.namespace = from.1.as_str().unwrap_or_default().to_owned();
                let found = self.find_live(place, [id].into_iter())?.into_iter();
                let why = "`operator-rs run bundle` did not create it";
                removals.kept.extend(found.map(|live| (live.id, why.to_owned())));
            }
        }
        if self.delete_all || self.delete_operator_groups {
            self.find_group(place, &subscriptions, &csvs, &all, &mut removals)?;
        }
        if self.delete_all {
            find_namespace(place, package, &mut removals)?;
        }
        Ok(removals)
    }

    fn find_live(
        &self,
        place: &InstallNamespace,
        ids: impl Iterator<Item = Id>,
    ) -> anyhow::Result<Vec<Live>> {
        place.cluster.find_existing(&ids.collect::<Vec<_>>())
    }

    /// The OperatorGroup, if it is ours and nothing else uses it.
    fn find_group(
        &self,
        place: &InstallNamespace,
        subscriptions: &[Value],
        csvs: &[&Value],
        all: &[Value],
        removals: &mut Removals,
    ) -> anyhow::Result<()> {
        let group = self.find_live(place, [place.id(V1, "OperatorGroup", GROUP)].into_iter())?;
        let Some(group) = group.into_iter().next() else { return Ok(()) };
        let same = |a: &Value, b: &Value| a["metadata"]["uid"] == b["metadata"]["uid"];
        let others = place.cluster.list(V1_ALPHA1, "Subscription", &place.namespace)?;
        let used =
            others.iter().find(|other| !subscriptions.iter().any(|own| same(own, other))).or_else(
                || all.iter().find(|csv| !is_copy(csv) && !csvs.iter().any(|own| same(own, csv))),
            );
        match used {
            Some(user) => removals.kept.push((group.id, format!("{} uses it", Id::of(user)))),
            None => removals.group.push(group),
        }
        Ok(())
    }
}

/// A namespace that `run bundle` created, if nothing else is in it.
pub fn find_namespace(
    place: &InstallNamespace,
    package: &str,
    removals: &mut Removals,
) -> anyhow::Result<()> {
    let id = Id::of(&lifecycle::build_namespace(&place.namespace, package)?);
    let mut found = place.cluster.find_existing(&[id])?;
    let catalog = lifecycle::catalog_name(package)?;
    let Some(live) = found.pop() else { return Ok(()) };
    if lifecycle::is_server_of(&live.object, &catalog) {
        match v1::find_other_user(place, removals, |_| true)? {
            Some(user) => removals.kept.push((live.id, format!("{user} uses it"))),
            None => removals.namespace.push(live),
        }
    } else if let Some(other) = lifecycle::package_of(&live.object)
        && !removals.is_empty()
    {
        let why = format!("`operator-rs cleanup {other}` removes it");
        removals.kept.push((live.id, why));
    }
    Ok(())
}

/// Objects that InstallPlans create for these versions, or from this catalog, and that have no owner.
fn find_manifests(
    place: &InstallNamespace,
    catalog: &str,
    csvs: &BTreeSet<&str>,
    removals: &mut Removals,
) -> anyhow::Result<()> {
    let list = |namespace: &str| place.cluster.list(V1_ALPHA1, "InstallPlan", namespace);
    // A user who may not list them in all namespaces sees those of this namespace only.
    let plans = list("").or_else(|_| list(&place.namespace))?;
    let (mut planned, mut elsewhere) = (BTreeSet::new(), BTreeMap::new());
    for plan in &plans {
        let is_here = plan["metadata"]["namespace"] == *place.namespace;
        for step in lifecycle::started_steps(plan) {
            let from_ours = step.source.0 == catalog && step.source.1 == place.namespace;
            let id = place.id(&step.api_version, &step.kind, &step.name);
            if id.is_crd() || id.group() == "operators.coreos.com" {
                continue;
            }
            if !is_here {
                elsewhere.insert(id, Id::of(plan));
            } else if from_ours || csvs.contains(step.csv.as_str()) {
                planned.insert(id);
            }
        }
    }
    removals.planned = planned.into_iter().collect();
    for mut live in place.cluster.find_existing(&removals.planned)? {
        if !lifecycle::is_left_behind(&live.object) {
            continue;
        }
        let other = elsewhere.get(&live.id).map(|plan| format!("{plan} has it too"));
        correct_id(&mut live);
        match other
            .filter(|_| live.id.namespace.is_empty())
            .or_else(|| lifecycle::foreign_reason(&live.object))
        {
            Some(why) => removals.kept.push((live.id, why)),
            None => removals.manifests.push(live),
        }
    }
    Ok(())
}

/// RoleBindings outside of the operator's namespace, so that no object can own them.
fn find_auth_readers(
    place: &InstallNamespace,
    csvs: &[&Value],
    removals: &mut Removals,
) -> anyhow::Result<()> {
    let id = |deployment: String| Id {
        namespace: "kube-system".to_owned(),
        ..place.id(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            &lifecycle::auth_reader(&deployment),
        )
    };
    let ids: Vec<Id> =
        csvs.iter().flat_map(|csv| lifecycle::deployment_names(csv)).map(id).collect();
    for live in place.cluster.find_existing(&ids)? {
        if lifecycle::is_auth_reader_of(&live.object, &place.namespace) {
            removals.planned.push(live.id.clone());
            removals.manifests.push(live);
        }
    }
    Ok(())
}

/// The Leases of the replicas of these Deployments that lead: each names the pod that holds it.
pub fn find_leases(place: &InstallNamespace, deployments: &[String], removals: &mut Removals) {
    // Missing permissions are reported when the namespace is checked.
    let leases = place.cluster.list("coordination.k8s.io/v1", "Lease", &place.namespace);
    let leases = leases.unwrap_or_default();
    let is_held = |lease: &&Value| {
        let holder = lease["spec"]["holderIdentity"].as_str().unwrap_or_default();
        deployments.iter().any(|deployment| {
            holder.strip_prefix(deployment).is_some_and(|rest| rest.starts_with('-'))
        })
    };
    removals.owned.extend(leases.iter().filter(is_held).map(Id::of));
}

/// The rest of a version that no longer exists, and OLM's list of the operator's objects if none of them exists.
fn find_forgotten(
    place: &InstallNamespace,
    package: &str,
    csvs: &[Value],
    removals: &mut Removals,
) -> anyhow::Result<()> {
    let namespace = &place.namespace;
    let exists = |name: &str| csvs.iter().any(|csv| csv["metadata"]["name"] == *name);
    let mut ids = Vec::new();
    for (api_version, kind) in lifecycle::CLUSTER_SCOPED {
        let all = place.cluster.list(api_version, kind, "")?;
        let forgotten = all.iter().filter(|object| {
            let is_of_version =
                object["metadata"]["labels"]["olm.owner.kind"] == "ClusterServiceVersion";
            let owner = lifecycle::owner_in(object, namespace).filter(|_| is_of_version);
            lifecycle::is_labelled(object, package, namespace)
                && owner.is_some_and(|owner| !exists(owner))
        });
        ids.extend(forgotten.map(Id::of));
    }
    removals.manifests.extend(place.cluster.find_existing(&ids)?);
    if let Some(list) = list_of(place, package)? {
        let listed: Vec<Id> = lifecycle::listed_objects(&list.object).iter().map(Id::of).collect();
        if place.cluster.find_existing(&listed)?.is_empty() {
            removals.list.push(list);
        }
    }
    Ok(())
}

/// OLM's list of the operator's objects.
pub fn list_of(place: &InstallNamespace, package: &str) -> anyhow::Result<Option<Live>> {
    let name = lifecycle::list_name(package, &place.namespace);
    let id = Id { namespace: String::new(), ..place.id(V1, "Operator", &name) };
    Ok(place.cluster.find_existing(&[id])?.pop())
}
