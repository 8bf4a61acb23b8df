//! Finds what `cleanup` removes of an operator that OLM has installed.

use std::collections::{BTreeMap, BTreeSet};

use super::{Args, is_copy, removals::Removals, settle::exact, v1};
use crate::app::olm_namespace::Place;
use cluster::{Id, Live};
use go_data::yaml::Value;
use olm::lifecycle::{self, GROUP, V1, V1_ALPHA1};

impl Args {
    pub fn find(&self, place: &Place, package: &str) -> anyhow::Result<Removals> {
        let mut res = Removals::default();
        let catalog = lifecycle::catalog_name(package)?;
        let subscriptions = place.subscriptions(package)?;
        res.subscriptions = self.live(place, subscriptions.iter().map(Id::of))?;

        let all = place.cluster.list(V1_ALPHA1, "ClusterServiceVersion", &place.namespace)?;
        let installed: BTreeSet<&str> = subscriptions
            .iter()
            .flat_map(|it| {
                [
                    &it["status"]["installedCSV"],
                    &it["status"]["currentCSV"],
                    &it["spec"]["startingCSV"],
                ]
            })
            .filter_map(Value::as_str)
            .collect();
        let is_ours = |it: &&Value| {
            let name = it["metadata"]["name"].as_str().unwrap_or_default();
            !is_copy(it)
                && (installed.contains(name)
                    || lifecycle::is_labelled(it, package, &place.namespace))
        };
        let csvs: Vec<&Value> = all.iter().filter(is_ours).collect();
        res.csvs = self.live(place, csvs.iter().map(|it| Id::of(it)))?;
        let names = csvs.iter().filter_map(|it| it["metadata"]["name"].as_str());
        let names: BTreeSet<&str> = names.chain(installed).collect();
        find_manifests(place, &catalog, &names, &mut res)?;
        find_auth_readers(place, &csvs, &mut res)?;
        let deployments = csvs.iter().flat_map(|it| lifecycle::deployments(it));
        find_leases(place, &deployments.collect::<Vec<_>>(), &mut res);
        find_forgotten(place, package, &all, &mut res)?;
        if self.delete_all || self.delete_crds {
            res.find_crds(place, &csvs)?;
        }

        let source = place.id(V1_ALPHA1, "CatalogSource", &catalog);
        let mut catalog_ids = vec![source];
        catalog_ids.extend(place.servers(&catalog)?.iter().map(Id::of));
        for it in self.live(place, catalog_ids.into_iter())? {
            res.sort(it);
        }
        for it in &subscriptions {
            let from = (&it["spec"]["source"], &it["spec"]["sourceNamespace"]);
            if *from.0 != *catalog || *from.1 != *place.namespace {
                let mut id =
                    place.id(V1_ALPHA1, "CatalogSource", from.0.as_str().unwrap_or_default());
                id.namespace = from.1.as_str().unwrap_or_default().to_owned();
                let found = self.live(place, [id].into_iter())?.into_iter();
                let why = "`operator-rs run bundle` did not create it";
                res.kept.extend(found.map(|it| (it.id, why.to_owned())));
            }
        }
        if self.delete_all || self.delete_operator_groups {
            self.find_group(place, &subscriptions, &csvs, &all, &mut res)?;
        }
        if self.delete_all {
            find_namespace(place, package, &mut res)?;
        }
        Ok(res)
    }

    fn live(&self, place: &Place, ids: impl Iterator<Item = Id>) -> anyhow::Result<Vec<Live>> {
        place.cluster.find(&ids.collect::<Vec<_>>())
    }

    /// The OperatorGroup, if it is ours and nothing else uses it.
    fn find_group(
        &self,
        place: &Place,
        subscriptions: &[Value],
        csvs: &[&Value],
        all: &[Value],
        res: &mut Removals,
    ) -> anyhow::Result<()> {
        let group = self.live(place, [place.id(V1, "OperatorGroup", GROUP)].into_iter())?;
        let Some(group) = group.into_iter().next() else { return Ok(()) };
        let same = |a: &Value, b: &Value| a["metadata"]["uid"] == b["metadata"]["uid"];
        let others = place.cluster.list(V1_ALPHA1, "Subscription", &place.namespace)?;
        let used =
            others.iter().find(|it| !subscriptions.iter().any(|own| same(own, it))).or_else(|| {
                all.iter().find(|it| !is_copy(it) && !csvs.iter().any(|own| same(own, it)))
            });
        match used {
            Some(user) => res.kept.push((group.id, format!("{} uses it", Id::of(user)))),
            None => res.group.push(group),
        }
        Ok(())
    }
}

/// A namespace that `run bundle` created, if nothing else is in it.
pub fn find_namespace(place: &Place, package: &str, res: &mut Removals) -> anyhow::Result<()> {
    let id = Id::of(&lifecycle::namespace(&place.namespace, package)?);
    let mut found = place.cluster.find(&[id])?;
    let catalog = lifecycle::catalog_name(package)?;
    let Some(live) = found.pop() else { return Ok(()) };
    if lifecycle::is_server_of(&live.object, &catalog) {
        match v1::user(place, res, |_| true)? {
            Some(user) => res.kept.push((live.id, format!("{user} uses it"))),
            None => res.namespace.push(live),
        }
    } else if let Some(other) = lifecycle::package_of(&live.object)
        && !res.is_empty()
    {
        let why = format!("`operator-rs cleanup {other}` removes it");
        res.kept.push((live.id, why));
    }
    Ok(())
}

/// Objects that InstallPlans create for these versions, or from this catalog, and that have no owner.
fn find_manifests(
    place: &Place,
    catalog: &str,
    csvs: &BTreeSet<&str>,
    res: &mut Removals,
) -> anyhow::Result<()> {
    let list = |namespace: &str| place.cluster.list(V1_ALPHA1, "InstallPlan", namespace);
    // Who may not list those of all namespaces does without.
    let plans = list("").or_else(|_| list(&place.namespace))?;
    let (mut planned, mut elsewhere) = (BTreeSet::new(), BTreeMap::new());
    for plan in &plans {
        let is_here = plan["metadata"]["namespace"] == *place.namespace;
        for it in lifecycle::steps(plan) {
            let from_ours = it.source.0 == catalog && it.source.1 == place.namespace;
            let id = place.id(&it.api_version, &it.kind, &it.name);
            if id.is_crd() || id.group() == "operators.coreos.com" {
                continue;
            }
            if !is_here {
                elsewhere.insert(id, Id::of(plan));
            } else if from_ours || csvs.contains(it.csv.as_str()) {
                planned.insert(id);
            }
        }
    }
    res.planned = planned.into_iter().collect();
    for mut it in place.cluster.find(&res.planned)? {
        if !lifecycle::is_left_behind(&it.object) {
            continue;
        }
        let other = elsewhere.get(&it.id).map(|plan| format!("{plan} has it too"));
        exact(&mut it);
        match other
            .filter(|_| it.id.namespace.is_empty())
            .or_else(|| lifecycle::foreign(&it.object))
        {
            Some(why) => res.kept.push((it.id, why)),
            None => res.manifests.push(it),
        }
    }
    Ok(())
}

/// RoleBindings outside of the operator's namespace, so that no object can own them.
fn find_auth_readers(place: &Place, csvs: &[&Value], res: &mut Removals) -> anyhow::Result<()> {
    let id = |deployment: String| Id {
        namespace: "kube-system".to_owned(),
        ..place.id(
            "rbac.authorization.k8s.io/v1",
            "RoleBinding",
            &lifecycle::auth_reader(&deployment),
        )
    };
    let ids: Vec<Id> = csvs.iter().flat_map(|it| lifecycle::deployments(it)).map(id).collect();
    for it in place.cluster.find(&ids)? {
        if lifecycle::is_auth_reader_of(&it.object, &place.namespace) {
            res.planned.push(it.id.clone());
            res.manifests.push(it);
        }
    }
    Ok(())
}

/// The Leases of the replicas of these Deployments that lead: each names the pod that holds it.
pub fn find_leases(place: &Place, deployments: &[String], res: &mut Removals) {
    // Who may not list them is told so when the namespace is looked at.
    let leases = place.cluster.list("coordination.k8s.io/v1", "Lease", &place.namespace);
    let leases = leases.unwrap_or_default();
    let is_held = |it: &&Value| {
        let holder = it["spec"]["holderIdentity"].as_str().unwrap_or_default();
        deployments.iter().any(|it| holder.strip_prefix(it).is_some_and(|it| it.starts_with('-')))
    };
    res.owned.extend(leases.iter().filter(is_held).map(Id::of));
}

/// The rest of a version that no longer exists, and OLM's list of the operator's objects if none of them exists.
fn find_forgotten(
    place: &Place,
    package: &str,
    csvs: &[Value],
    res: &mut Removals,
) -> anyhow::Result<()> {
    let namespace = &place.namespace;
    let exists = |name: &str| csvs.iter().any(|it| it["metadata"]["name"] == *name);
    let mut ids = Vec::new();
    for (api_version, kind) in lifecycle::CLUSTER_SCOPED {
        let all = place.cluster.list(api_version, kind, "")?;
        let forgotten = all.iter().filter(|it| {
            let is_of_version =
                it["metadata"]["labels"]["olm.owner.kind"] == "ClusterServiceVersion";
            let owner = lifecycle::owner_in(it, namespace).filter(|_| is_of_version);
            lifecycle::is_labelled(it, package, namespace) && owner.is_some_and(|it| !exists(it))
        });
        ids.extend(forgotten.map(Id::of));
    }
    res.manifests.extend(place.cluster.find(&ids)?);
    if let Some(list) = list_of(place, package)? {
        let listed: Vec<Id> = lifecycle::listed(&list.object).iter().map(Id::of).collect();
        if place.cluster.find(&listed)?.is_empty() {
            res.list.push(list);
        }
    }
    Ok(())
}

/// OLM's list of the operator's objects.
pub fn list_of(place: &Place, package: &str) -> anyhow::Result<Option<Live>> {
    let name = lifecycle::list_name(package, &place.namespace);
    let id = Id { namespace: String::new(), ..place.id(V1, "Operator", &name) };
    Ok(place.cluster.find(&[id])?.pop())
}
