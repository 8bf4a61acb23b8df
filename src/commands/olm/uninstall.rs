//! `operator-rs olm uninstall`
//!
//! ```text
//! find what `olm install` created ─ refuse while OLM manages operators ─ ask
//!     └ OLM's own ClusterServiceVersion ─ CRDs ─ workloads ─ their permissions ─ namespaces
//! ```

use super::owner;
use crate::{
    app::{
        cluster_args::{self, ClusterArgs, Sending, Trial},
        removal::{self, Parts},
    },
    terminal,
};
use cluster::{Action, Cluster, Event, Id, Live, Marked, Verb};
use diagnostics::Hint as _;
use olm::lifecycle::{self, V1_ALPHA1};

/// Remove OLM from a cluster, if it was installed with `olm install`
///
/// Refuses while OLM manages operators: they would be removed together with OLM's CRDs.
#[derive(clap::Args)]
#[command(
    arg(crate::commands::hidden_dir()),
    mut_arg("dry_run", Trial::after_reading),
    after_help = "\
Examples:
  operator-rs olm uninstall --dry-run    # what would be removed
  operator-rs olm uninstall"
)]
pub struct Args {
    /// Delete objects of OLM's kinds that others created without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

impl Args {
    pub fn run(self) -> anyhow::Result<()> {
        cluster_args::with_hint(self.uninstall())
    }

    fn uninstall(&self) -> anyhow::Result<()> {
        let cluster = self.cluster_args.connect_as(owner())?;
        let Marked { mut found, unknown } = cluster.marked(None)?;
        removal::warn_of_unknown(&unknown);
        if found.is_empty() {
            return nothing(&cluster);
        }
        require_unused(&cluster, &found)?;
        // OLM creates it without an owner for the API service of its package server, and leaves it.
        let reader = Id {
            api_version: "rbac.authorization.k8s.io/v1".to_owned(),
            kind: "RoleBinding".to_owned(),
            namespace: "kube-system".to_owned(),
            name: "packageserver-service-auth-reader".to_owned(),
        };
        let mut left = cluster.find(&[reader])?;
        left.retain(|it| it.object["metadata"]["labels"]["olm.managed"] == "true");
        found.extend(left);
        let (own, rest): (Vec<Live>, Vec<Live>) =
            found.into_iter().partition(|it| it.id.group() == "operators.coreos.com");
        let parts = Parts::of(rest.into_iter().map(|it| (it.id.clone(), it)));
        let all: Vec<Live> = own.iter().chain(parts.in_order().map(|it| &it.1)).cloned().collect();
        if self.cluster_args.sending() != Sending::Nothing {
            removal::attempt(&cluster, &all, &[])?;
        }
        let losses = losses(&cluster, &parts, &all)?;
        if self.cluster_args.sending() != Sending::All {
            removal::list(&losses);
            all.iter().for_each(|it| {
                cluster_args::report(Event::Action(Action::new(Verb::Delete, &it.id)))
            });
            return Ok(());
        }
        removal::confirm(&losses, &[], self.yes)?;
        let deadline = self.cluster_args.deadline();
        // OLM itself must remove what belongs to its package server, such as its APIService; and the garbage collector
        // removes nothing whose owner has a kind that is no longer served.
        cluster.delete(&own, deadline, &mut cluster_args::report)?;
        removal::olm::wait(&cluster, &own, deadline, || going(&cluster))?;
        for part in [parts.crds, parts.running, parts.rest] {
            let part: Vec<Live> = part.into_iter().map(|it| it.1).collect();
            cluster.delete(&part, deadline, &mut cluster_args::report)?;
        }
        for (_, live) in parts.namespaces {
            removal::olm::delete_namespace(&cluster, &live, &[], deadline)?;
        }
        Ok(())
    }
}

fn nothing(cluster: &Cluster) -> anyhow::Result<()> {
    if !cluster.serves(V1_ALPHA1, "Subscription")? {
        if cluster.serves(lifecycle::v1::API, "ClusterExtension")? {
            terminal::advise(
                "nothing to remove: OLM v0 is not installed; remove OLM v1 with the manifests of its release\n",
            );
            return Ok(());
        }
        terminal::advise("nothing to remove: OLM is not installed\n");
        return Ok(());
    }
    Err(anyhow::format_err!("OLM was not installed with `operator-rs olm install`, and nothing was removed"))
        .hint("remove it with the manifests that it was installed from: `kubectl delete -f olm.yaml -f crds.yaml`")
}

/// Fails while OLM manages operators.
fn require_unused(cluster: &Cluster, own: &[Live]) -> anyhow::Result<()> {
    let mut used = Vec::new();
    for kind in ["Subscription", "ClusterServiceVersion"] {
        for it in cluster.list(V1_ALPHA1, kind, "")? {
            let id = Id::of(&it);
            let is_copy = lifecycle::copied_from(&it).is_some();
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
fn losses(cluster: &Cluster, parts: &Parts<Live>, own: &[Live]) -> anyhow::Result<Vec<String>> {
    let is_own = |it: &Id| {
        let name = |it: &Id| (it.kind.clone(), it.namespace.clone(), it.name.clone());
        own.iter().any(|own| name(&own.id) == name(it))
    };
    // OLM creates objects of these kinds for its own use.
    let by_olm =
        ["OperatorCondition", "Operator", "OLMConfig", "InstallPlan", "ClusterServiceVersion"];
    let mut res = Vec::new();
    for (id, live) in &parts.crds {
        let mut held = cluster.held(&live.object)?;
        if let Ok(held) = &mut held {
            held.retain(|it| !is_own(&it.id) && !by_olm.contains(&it.id.kind.as_str()));
        }
        res.extend(removal::loss(id, &held));
    }
    Ok(res)
}

/// An object that OLM has created elsewhere and that is still being removed, if there is one.
fn going(cluster: &Cluster) -> anyhow::Result<Option<String>> {
    for (api_version, kind) in [("v1", "Pod"), ("v1", "Service"), ("apps/v1", "Deployment")] {
        let all = cluster.list(api_version, kind, "")?;
        if let Some(it) = all.iter().find(|it| lifecycle::has_owner_of_olm(it)) {
            return Ok(Some(format!("{} is still being removed", Id::of(it))));
        }
    }
    Ok(None)
}
