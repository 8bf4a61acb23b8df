//! `operator-rs cleanup`
//!
//! ```text
//! objects that OLM would leave behind ─ Subscription ─ CRDs with their objects ─ ClusterServiceVersion ─ catalog and its server ─ OperatorGroup ─ namespace
//! ```
//!
//! The operator runs until its custom resources are gone, so that it can handle their finalizers. With OLM v1, a
//! ClusterExtension is in place of the Subscription and the ClusterServiceVersion.

mod removals;
mod v1;

use std::collections::BTreeSet;

use self::removals::Removals;
use super::{
    reach::{self, Reach, Sending},
    run::place::{self, Place},
};
use crate::{
    cluster::{self, Action, Event, Id, Live, Verb},
    hint::Hint as _,
    model::{InstalledPackage, Namespace},
    olm::{self, GROUP, V1, V1_ALPHA1},
    terminal,
    yaml::Value,
};

/// Remove an operator that OLM has installed, with its CRDs and custom resources
///
/// What `operator-rs run bundle` created is removed. Catalogs and OperatorGroups of others are kept, as are CRDs that
/// another installed operator owns too, and what existed before OLM installed the operator.
#[derive(clap::Args)]
#[command(
    arg(super::hidden_dir()),
    after_help = "\
Examples:
  operator-rs cleanup memcached-operator
  operator-rs cleanup memcached-operator --delete-all=false    # keep CRDs, custom resources and the OperatorGroup"
)]
pub struct Args {
    /// Name of the package
    #[arg(value_name = "PACKAGE")]
    package: InstalledPackage,
    /// Namespace of the operator [default: the one of the context]
    #[arg(short, long)]
    namespace: Option<Namespace>,
    /// Enable all other `--delete-…` flags
    #[arg(long, value_name = "BOOL", num_args = 0..=1, require_equals = true, default_value = "true", default_missing_value = "true")]
    delete_all: bool,
    /// Delete the CRDs of the operator and all custom resources
    #[arg(long)]
    delete_crds: bool,
    /// Delete the OperatorGroup that `run bundle` created, if no other operator uses it
    #[arg(long)]
    delete_operator_groups: bool,
    /// Delete custom resources without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    pub fn run(self) -> anyhow::Result<()> {
        reach::reached(self.remove())
    }

    fn remove(&self) -> anyhow::Result<()> {
        let package = self.package.to_string();
        let mut cluster = self.reach.connect_as(cluster::Owner::default())?;
        let namespace =
            self.namespace.as_ref().map_or_else(|| cluster.namespace.clone(), ToString::to_string);
        cluster.act_for(place::owner(&package, &namespace));
        let place = Place { cluster, namespace };
        let found = match v1::find(&place, &package)? {
            Some(found) if !found.is_empty() => {
                if !self.delete_all && !self.delete_crds {
                    v1::require_all(&found)?;
                }
                found
            }
            of_v1 => {
                let mut found = self.find(&place, &package)?;
                found.kept.extend(of_v1.into_iter().flat_map(|it| it.kept));
                found
            }
        };
        if found.is_empty() {
            return found.refuse().and_then(|()| nothing(&place, &package));
        }
        let problems = match self.reach.sending() {
            Sending::Nothing => Vec::new(),
            _ => place.cluster.try_delete(&found.all())?,
        };
        if !problems.is_empty() {
            return Err(cluster::refuse("nothing was removed", &problems));
        }
        let losses = found.losses();
        losses.iter().for_each(|it| terminal::require(&format!("{it}\n")));
        if self.reach.sending() != Sending::All {
            found.all().iter().for_each(|it| report(Verb::Delete, &it.id, ""));
            let namespace = found.namespace.iter();
            namespace.for_each(|it| report(Verb::Delete, &it.id, "if nothing else is in it"));
        } else {
            if !losses.is_empty() && !self.yes {
                found.kept.iter().for_each(|(id, why)| {
                    terminal::require(&format!("{id} is kept: {why}\n"));
                });
            }
            if !losses.is_empty() && !self.yes && !terminal::agree("Remove all of these?", "yes")? {
                anyhow::bail!("nothing was removed");
            }
            // The time limit starts only now: the user may have been asked before.
            found.delete(&place, &package, self.reach.limit())?;
        }
        found.kept.iter().for_each(|(id, why)| report(Verb::Leave, id, why));
        Ok(())
    }

    fn find(&self, place: &Place, package: &str) -> anyhow::Result<Removals> {
        let mut res = Removals::default();
        let catalog = olm::catalog_name(package)?;
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
                && (installed.contains(name) || olm::is_labelled(it, package, &place.namespace))
        };
        let csvs: Vec<&Value> = all.iter().filter(is_ours).collect();
        res.csvs = self.live(place, csvs.iter().map(|it| Id::of(it)))?;
        let names: BTreeSet<&str> =
            csvs.iter().filter_map(|it| it["metadata"]["name"].as_str()).collect();
        for it in self.manifests(place, &catalog, &names)? {
            match olm::foreign(&it.object) {
                Some(why) => res.kept.push((it.id, why)),
                None => res.manifests.push(it),
            }
        }
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
                let why = "it is the catalog of other operators, too";
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

    /// What InstallPlans have created for these versions, or from this catalog, and nothing owns.
    fn manifests(
        &self,
        place: &Place,
        catalog: &str,
        csvs: &BTreeSet<&str>,
    ) -> anyhow::Result<Vec<Live>> {
        let mut ids = BTreeSet::new();
        for plan in place.cluster.list(V1_ALPHA1, "InstallPlan", &place.namespace)? {
            for it in olm::created(&plan) {
                let from_ours = it.source.0 == catalog && it.source.1 == place.namespace;
                let id = place.id(&it.api_version, &it.kind, &it.name);
                let is_olm = id.is_crd() || id.group() == "operators.coreos.com";
                if (from_ours || csvs.contains(it.csv.as_str())) && !is_olm {
                    ids.insert(id);
                }
            }
        }
        let mut res = self.live(place, ids.into_iter())?;
        res.retain(|it| olm::is_left_behind(&it.object));
        for it in &mut res {
            it.id = Id { api_version: it.id.api_version.clone(), ..Id::of(&it.object) };
        }
        Ok(res)
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

fn nothing(place: &Place, package: &str) -> anyhow::Result<()> {
    let missing = anyhow::format_err!(
        "nothing to remove: package `{package}` is not installed in namespace `{}`",
        place.namespace
    );
    // Who may not list those of all namespaces gets the error without the way out.
    let all = place.cluster.list(V1_ALPHA1, "Subscription", "").unwrap_or_default();
    let there =
        all.iter().filter(|it| it["spec"]["name"] == *package).map(|it| Id::of(it).namespace);
    let there = there.chain(v1::namespaces(place, package));
    let there: BTreeSet<String> = there.map(|it| format!("`--namespace {it}`")).collect();
    match there.is_empty() {
        true => Err(missing),
        false => Err(missing).hint(format!(
            "it is installed elsewhere: use {}",
            there.into_iter().collect::<Vec<_>>().join(" or ")
        )),
    }
}

/// A namespace that `run bundle` created, if nothing else is in it.
fn find_namespace(place: &Place, package: &str, res: &mut Removals) -> anyhow::Result<()> {
    let id = Id::of(&olm::namespace(&place.namespace, package)?);
    let mut found = place.cluster.find(&[id])?;
    let catalog = olm::catalog_name(package)?;
    let Some(live) = found.pop() else { return Ok(()) };
    if olm::is_server_of(&live.object, &catalog) {
        match v1::user(place, res, |_| true)? {
            Some(user) => res.kept.push((live.id, format!("{user} uses it"))),
            None => res.namespace.push(live),
        }
    } else if let Some(other) = olm::package_of(&live.object)
        && !res.is_empty()
    {
        let why = format!("`operator-rs cleanup {other}` removes it");
        res.kept.push((live.id, why));
    }
    Ok(())
}

/// Whether OLM has copied a ClusterServiceVersion here from another namespace.
fn is_copy(csv: &Value) -> bool {
    olm::copied_from(csv).is_some()
}

fn report(verb: Verb, id: &Id, why: &str) {
    reach::report(Event::Action(Action::because(verb, id, why)));
}
