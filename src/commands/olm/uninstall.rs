//! `operator-rs olm uninstall`
//!
//! ```text
//! find what `olm install` created ─ refuse while OLM manages operators ─ ask
//!     └ OLM's own ClusterServiceVersion ─ CRDs ─ workloads ─ their permissions ─ namespaces
//! ```

use super::olm_owner;
use crate::{
    app::cluster_access::{
        cluster_args::{self, ClusterArgs, DryRunArgs, SendMode},
        removal::{self, RemovalOrder},
    },
    terminal,
};
use cluster::{Action, Cluster, Id, LabelledObjects, Live, ProgressEvent, Verb};
use diagnostics::Hint as _;
use olm::lifecycle::{self, V1_ALPHA1};

/// Remove OLM from a cluster, if it was installed with `olm install`
///
/// Refuses while OLM manages operators: they would be removed together with OLM's CRDs.
#[derive(clap::Args)]
#[command(
    arg(crate::commands::hidden_dir()),
    mut_arg("dry_run", DryRunArgs::after_reading),
    after_help = "\
Examples:
  operator-rs olm uninstall --dry-run    # what would be removed
  operator-rs olm uninstall"
)]
pub struct Args {
    /// Do not ask before deleting objects of OLM's kinds that others created
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

impl Args {
    pub fn run(self) -> anyhow::Result<()> {
        cluster_args::with_hint(self.uninstall_olm())
    }

    fn uninstall_olm(&self) -> anyhow::Result<()> {
        let cluster = self.cluster_args.connect_as(olm_owner())?;
        let LabelledObjects { mut found, unknown } = cluster.list_labelled(None)?;
        removal::warn_of_unknown(&unknown);
        if found.is_empty() {
            return explain_nothing_found(&cluster);
        }
        require_unused(&cluster, &found)?;
        // OLM creates it without an owner for the API service of its package server, and leaves it.
        let reader = Id {
            api_version: "rbac.authorization.k8s.io/v1".to_owned(),
            kind: "RoleBinding".to_owned(),
            namespace: "kube-system".to_owned(),
            name: "packageserver-service-auth-reader".to_owned(),
        };
        let mut left = cluster.find_existing(&[reader])?;
        left.retain(|live| live.object["metadata"]["labels"]["olm.managed"] == "true");
        found.extend(left);
        let (own, rest): (Vec<Live>, Vec<Live>) =
            found.into_iter().partition(|live| live.id.group() == "operators.coreos.com");
        let parts = RemovalOrder::of(rest.into_iter().map(|live| (live.id.clone(), live)));
        let all: Vec<Live> =
            own.iter().chain(parts.in_order().map(|entry| &entry.1)).cloned().collect();
        if self.cluster_args.sending() != SendMode::Nothing {
            removal::attempt(&cluster, &all, &[])?;
        }
        let losses = find_losses(&cluster, &parts, &all)?;
        if self.cluster_args.sending() != SendMode::All {
            removal::list(&losses);
            all.iter().for_each(|live| {
                cluster_args::report(ProgressEvent::Action(Action::new(Verb::Delete, &live.id)))
            });
            return Ok(());
        }
        removal::confirm(&losses, &[], self.yes)?;
        let deadline = self.cluster_args.deadline();
        // OLM itself must remove what belongs to its package server, such as its APIService; and the garbage collector
        // removes nothing whose owner has a kind that is no longer served.
        cluster.delete(&own, deadline, &mut cluster_args::report)?;
        removal::olm::wait(&cluster, &own, deadline, || find_being_removed(&cluster))?;
        for part in [parts.crds, parts.running, parts.rest] {
            let part: Vec<Live> = part.into_iter().map(|entry| entry.1).collect();
            cluster.delete(&part, deadline, &mut cluster_args::report)?;
        }
        for (_, live) in parts.namespaces {
            removal::olm::delete_namespace(&cluster, &live, &[], deadline)?;
        }
        Ok(())
    }
}

fn explain_nothing_found(cluster: &Cluster) -> anyhow::Result<()> {
    if !cluster.serves(V1_ALPHA1, "Subscription")? {
        if cluster.serves(lifecycle::v1::API, "ClusterExtension")? {
            terminal::print_advice(
                "nothing to remove: OLM v0 is not installed; remove OLM v1 with the manifests of its release\n",
            );
            return Ok(());
        }
        terminal::print_advice("nothing to remove: OLM is not installed\n");
        return Ok(());
    }
    Err(anyhow::format_err!("OLM was not installed with `operator-rs olm install`, and nothing was removed"))
        .hint("remove it with the manifests that it was installed from: `kubectl delete -f olm.yaml -f crds.yaml`")
}

/// Fails while OLM manages operators.
fn require_unused(cluster: &Cluster, own: &[Live]) -> anyhow::Result<()> {
    let mut used = Vec::new();
    for kind in ["Subscription", "ClusterServiceVersion"] {
        for object in cluster.list(V1_ALPHA1, kind, "")? {
            let id = Id::of(&object);
            let is_copy = lifecycle::copied_from(&object).is_some();
            if !is_copy && !own.iter().any(|own| own.id == id) {
                used.push(format!("\n  {id}"));
            }
        }
    }
    if used.is_empty() {
        return Ok(());
    }
    Err(anyhow::format_err!(
        "OLM manages operators, which would be removed with it; nothing was removed:{}",
        used.concat()
    ))
    .hint("remove them first, each with `operator-rs cleanup PACKAGE --namespace NAMESPACE`")
}

/// Objects of OLM's kinds that `olm install` did not create.
fn find_losses(
    cluster: &Cluster,
    parts: &RemovalOrder<Live>,
    own: &[Live],
) -> anyhow::Result<Vec<String>> {
    let is_own = |id: &Id| {
        let name = |id: &Id| (id.kind.clone(), id.namespace.clone(), id.name.clone());
        own.iter().any(|own| name(&own.id) == name(id))
    };
    // OLM creates objects of these kinds for its own use.
    let by_olm =
        ["OperatorCondition", "Operator", "OLMConfig", "InstallPlan", "ClusterServiceVersion"];
    let mut losses = Vec::new();
    for (id, live) in &parts.crds {
        let mut held = cluster.list_custom_objects(&live.object)?;
        if let Ok(held) = &mut held {
            held.retain(|object| !is_own(&object.id) && !by_olm.contains(&object.id.kind.as_str()));
        }
        losses.extend(removal::loss(id, &held));
    }
    Ok(losses)
}

/// An object that OLM has created elsewhere and that is still being removed, if there is one.
fn find_being_removed(cluster: &Cluster) -> anyhow::Result<Option<String>> {
    for (api_version, kind) in [("v1", "Pod"), ("v1", "Service"), ("apps/v1", "Deployment")] {
        let all = cluster.list(api_version, kind, "")?;
        if let Some(object) = all.iter().find(|object| lifecycle::has_owner_of_olm(object)) {
            return Ok(Some(format!("{} is still being removed", Id::of(object))));
        }
    }
    Ok(None)
}
