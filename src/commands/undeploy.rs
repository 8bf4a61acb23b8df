//! `operator-rs undeploy`

use super::{
    project,
    reach::{self, Reach, Sending},
    rendered, uninstall,
};
use crate::{
    cluster::{self, Became, Cluster, Id, Live, Standing, Told, Verb},
    disk::Root,
    hint::Hint as _,
    model::{Namespace, Project},
    terminal,
    yaml::Value,
};

/// Remove what `deploy` made from a cluster, and with the CRDs every object of their kinds
///
/// The CRDs go first, while the operator still runs to serve finalizers, and the namespace last. What was there
/// before `deploy` stays, without the fields that `deploy` gave it.
#[derive(clap::Args)]
pub struct Args {
    /// The namespace that it was deployed to, if it is another one than config/default says
    #[arg(long)]
    namespace: Option<Namespace>,
    /// Remove what would go with it without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let sending = self.reach.sending();
        let project = project(root)?;
        let namespace = self.namespace.as_ref();
        let objects = rendered::objects(root, &project, rendered::EVERYTHING, None, namespace)?;
        let parts = Parts::of(objects.iter().map(|it| (Id::of(it), it)));
        if sending == Sending::Nothing {
            reach::list("delete", parts.in_order().map(|it| &it.0));
            return Ok(());
        }
        reach::reached(self.remove(&self.reach.connect()?, &project, &objects, sending))
    }

    fn remove(
        &self,
        cluster: &Cluster,
        project: &Project,
        objects: &[Value],
        sending: Sending,
    ) -> anyhow::Result<()> {
        let ids: Vec<Id> = objects.iter().map(Id::of).collect();
        let found = cluster.find(&ids)?;
        let elsewhere = found.iter().find_map(|it| {
            let wanted = objects.iter().find(|object| Id::of(object) == it.id)?;
            cluster::elsewhere(&it.object, wanted)
        });
        if let Some(namespace) = elsewhere {
            return Err(anyhow::format_err!(
                "nothing was removed: the operator is deployed to namespace `{namespace}`"
            ))
            .hint(format!("give `--namespace {namespace}`"));
        }
        let (ours, others): (Vec<Live>, Vec<Live>) =
            found.into_iter().partition(|it| it.standing() == Standing::Ours);
        let (adopted, theirs): (Vec<Live>, Vec<Live>) =
            others.into_iter().partition(|it| it.standing() == Standing::Adopted);
        let ours = Parts::of(ours.into_iter().map(|it| (it.id.clone(), it)));

        let all: Vec<Live> = ours.in_order().map(|it| it.1.clone()).collect();
        let mut problems = cluster.try_delete(&all)?;
        problems.extend(cluster.give_back(&adopted, true)?);
        if !problems.is_empty() {
            return Err(cluster::refuse("nothing was removed", &problems));
        }
        let losses = losses(cluster, project, &ids, &ours)?;
        if sending == Sending::All {
            uninstall::confirm(&losses, self.yes)?;
            let limit = self.reach.limit();
            let live = |part: &[(Id, Live)]| part.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
            for part in [&ours.crds, &ours.running, &ours.rest] {
                cluster.delete(&live(part), limit, &mut reach::tell)?;
            }
            let problems = cluster.give_back(&adopted, false)?;
            if !problems.is_empty() {
                return Err(cluster::refuse("the rest was removed", &problems));
            }
            cluster.delete(&live(&ours.namespaces), limit, &mut reach::tell)?;
        } else {
            losses.iter().for_each(|it| terminal::advise(&format!("{it}\n")));
            let deletes = ours.in_order().map(|it| Became::new(Verb::Delete, &it.0));
            deletes.for_each(|it| reach::tell(Told::Became(it)));
        }
        let stay = |them: &[Live], note: &str| {
            let became = them.iter().map(|it| Became::because(Verb::Leave, &it.id, note));
            became.for_each(|it| reach::tell(Told::Became(it)));
        };
        stay(&adopted, "it was there before");
        stay(&theirs, "not made by operator-rs");
        if !theirs.is_empty() {
            terminal::advise(
                "what kubectl brought, it takes away: `operator-rs generate installer | kubectl delete -f -`\n",
            );
        }
        if all.is_empty() && adopted.is_empty() && theirs.is_empty() {
            terminal::advise("nothing is there to remove\n");
        }
        Ok(())
    }
}

/// What goes with what is removed: objects with their CRDs, and what else is in a namespace.
fn losses(
    cluster: &Cluster,
    project: &Project,
    ids: &[Id],
    ours: &Parts<Live>,
) -> anyhow::Result<Vec<String>> {
    let crds: Vec<Live> = ours.crds.iter().map(|it| it.1.clone()).collect();
    let mut res = uninstall::objects_of(cluster, &crds)?;
    for (namespace, _) in &ours.namespaces {
        let mut known = ids.to_vec();
        // The operator makes this one by itself, while it leads.
        known.push(Id {
            api_version: "coordination.k8s.io/v1".to_owned(),
            kind: "Lease".to_owned(),
            namespace: namespace.name.clone(),
            name: project.name.to_string(),
        });
        for it in &crds {
            known.extend(cluster.held(&it.object)?.into_iter().map(|it| it.id));
        }
        for other in cluster.others_in(&namespace.name, &known, &mut reach::tell)? {
            let who = match other.ours {
                true => "which config/ no longer has",
                false => "which `deploy` did not make",
            };
            res.push(format!("with {namespace} goes: {}, {who}", other.id));
        }
    }
    Ok(res)
}

/// The order in which things go: CRDs while the operator runs, then what was made last, namespaces at the end.
struct Parts<T> {
    crds: Vec<(Id, T)>,
    /// Up to the last that runs pods.
    running: Vec<(Id, T)>,
    /// What pods need to the end: their account, and what it may do.
    rest: Vec<(Id, T)>,
    namespaces: Vec<(Id, T)>,
}

impl<T> Parts<T> {
    fn of(all: impl Iterator<Item = (Id, T)>) -> Self {
        let (mut crds, mut running, mut namespaces) = (Vec::new(), Vec::new(), Vec::new());
        for it in all {
            if it.0.is_crd() {
                crds.push(it);
            } else if it.0.is_namespace() {
                namespaces.push(it);
            } else {
                running.push(it);
            }
        }
        running.reverse();
        let end = running.iter().rposition(|it| it.0.is_workload()).map_or(0, |it| it + 1);
        let rest = running.split_off(end);
        Self { crds, running, rest, namespaces }
    }

    fn in_order(&self) -> impl Iterator<Item = &(Id, T)> {
        self.crds.iter().chain(&self.running).chain(&self.rest).chain(&self.namespaces)
    }
}

#[test]
fn crds_go_first_and_namespaces_last() {
    let id = |api_version: &str, kind: &str| Id {
        api_version: api_version.into(),
        kind: kind.into(),
        namespace: String::new(),
        name: "a".into(),
    };
    let all = [
        id("v1", "Namespace"),
        id("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
        id("v1", "ServiceAccount"),
        id("apps/v1", "Deployment"),
    ];
    let parts = Parts::of(all.into_iter().map(|it| (it, ())));
    let kinds: Vec<&str> = parts.in_order().map(|it| it.0.kind.as_str()).collect();
    assert_eq!(kinds, ["CustomResourceDefinition", "Deployment", "ServiceAccount", "Namespace"]);
    assert_eq!((parts.running.len(), parts.rest.len()), (1, 1));
}
