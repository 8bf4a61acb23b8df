//! `operator-rs olm install`

use std::path::Path;

use super::{olm_owner, releases::ManifestsSource, status};
use crate::app::cluster_access::cluster_args::{self, ClusterArgs, SendMode};
use cluster::{ApplyOptions, Cluster, Id, Removal, WaitState};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};
use model::Deadline;
use olm::lifecycle;

/// Install OLM on a cluster, and wait until it runs
///
/// A download is kept in the cache with its checksums. Run the command again to continue an installation that was
/// interrupted, or with another version to change to that version.
#[derive(clap::Args)]
#[command(
    arg(crate::commands::dir_of_paths()),
    after_help = "\
Examples:
  operator-rs olm install
  operator-rs olm install --version 0.46.0
  operator-rs olm install --manifests crds.yaml olm.yaml    # without a download"
)]
pub struct Args {
    #[command(flatten)]
    source: ManifestsSource,
    /// Take over an installation of OLM that others manage
    #[arg(long)]
    force_conflicts: bool,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

const WAY_OUT: &str = "run the command again, or run `operator-rs olm uninstall`";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        cluster_args::with_hint(self.install_olm(dir))
    }

    fn install_olm(&self, dir: &Path) -> anyhow::Result<()> {
        let sending = self.cluster_args.sending();
        if sending == SendMode::Nothing {
            let objects = self.source.load_objects(dir, self.cluster_args.deadline())?;
            return self
                .cluster_args
                .list("apply", &objects.iter().map(Id::of).collect::<Vec<_>>());
        }
        // A cluster that cannot be reached is reported before anything is downloaded.
        let cluster = self.cluster_args.connect_as(olm_owner())?;
        cluster.get("/version")?;
        let objects = self.source.load_objects(dir, self.cluster_args.deadline())?;
        if !self.force_conflicts {
            require_own(&cluster, &objects)?;
        }
        let deadline = self.cluster_args.deadline();
        let options = ApplyOptions {
            dry_run: sending == SendMode::DryRun,
            force: self.force_conflicts,
            deadline,
        };
        cluster.apply(&objects, options, &mut cluster_args::report)?;
        if sending == SendMode::DryRun {
            return Ok(());
        }
        cluster.wait_until_available(&objects, deadline, WAY_OUT, &mut cluster_args::report)?;
        // OLM creates the Deployment of its package server.
        let later = deployments_created_by_olm(&objects);
        wait_until_exist(&cluster, &later, deadline)?;
        cluster.wait_until_available(&later, deadline, WAY_OUT, &mut cluster_args::report)?;
        // If OLM is not healthy in the end, printing its status fails.
        cluster.wait_until(deadline, &mut cluster_args::report, || {
            for id in objects.iter().map(Id::of).filter(|id| id.kind == "ClusterServiceVersion") {
                let phase = cluster.read(&id)?.map(|csv| csv["status"]["phase"].clone());
                if phase.is_none_or(|phase| phase != "Succeeded") {
                    return Ok(WaitState::Not(format!("{id} is not Succeeded yet")));
                }
            }
            Ok(WaitState::Done)
        })?;
        let namespaces = objects.iter().filter(|object| Id::of(object).is_workload());
        let namespace = namespaces.map(|object| Id::of(object).namespace).next();
        status::print(&cluster, namespace.as_deref().unwrap_or(status::NAMESPACE))
    }
}

/// Fails if OLM was not installed by this command.
fn require_own(cluster: &Cluster, objects: &[Value]) -> anyhow::Result<()> {
    let crds: Vec<Id> = objects.iter().map(Id::of).filter(Id::is_crd).collect();
    for live in cluster.find_existing(&crds)? {
        if let Removal::Theirs(why) = live.removal {
            return Err(anyhow::format_err!("OLM is already installed by others: {} exists, and {why}", live.id))
                .hint("`operator-rs olm status` shows it; `--force-conflicts` takes it over and changes its version");
        }
    }
    Ok(())
}

/// The Deployments that OLM itself creates from the ClusterServiceVersions among the objects.
fn deployments_created_by_olm(objects: &[Value]) -> Vec<Value> {
    let mut deployments = Vec::new();
    for csv in objects.iter().filter(|object| object["kind"] == "ClusterServiceVersion") {
        for name in lifecycle::deployment_names(csv) {
            deployments.push(json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name, "namespace": csv["metadata"]["namespace"]},
            }));
        }
    }
    deployments
}

fn wait_until_exist(
    cluster: &Cluster,
    objects: &[Value],
    deadline: Deadline,
) -> anyhow::Result<()> {
    let left = cluster.wait_until(deadline, &mut cluster_args::report, || {
        for id in objects.iter().map(Id::of) {
            if cluster.read(&id)?.is_none() {
                return Ok(WaitState::Not(format!("OLM has not created {id} yet")));
            }
        }
        Ok(WaitState::Done)
    })?;
    match left {
        None => Ok(()),
        Some(reason) => Err(anyhow::format_err!("timed out: {reason}"))
            .hint(format!("wait longer with `--timeout`: {WAY_OUT}")),
    }
}
