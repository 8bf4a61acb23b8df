//! `operator-rs olm install`

use std::path::Path;

use super::{owner, releases::Source, status};
use crate::app::cluster_args::{self, ClusterArgs, Sending};
use cluster::{ApplyOptions, Cluster, Id, Removal, State};
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
    source: Source,
    /// Take over an installation of OLM that others manage
    #[arg(long)]
    force_conflicts: bool,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

const WAY_OUT: &str = "run the command again, or run `operator-rs olm uninstall`";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        cluster_args::with_hint(self.install(dir))
    }

    fn install(&self, dir: &Path) -> anyhow::Result<()> {
        let sending = self.cluster_args.sending();
        if sending == Sending::Nothing {
            let objects = self.source.objects(dir, self.cluster_args.deadline())?;
            return self
                .cluster_args
                .list("apply", &objects.iter().map(Id::of).collect::<Vec<_>>());
        }
        // A cluster that cannot be reached is reported before anything is downloaded.
        let cluster = self.cluster_args.connect_as(owner())?;
        cluster.get("/version")?;
        let objects = self.source.objects(dir, self.cluster_args.deadline())?;
        if !self.force_conflicts {
            require_own(&cluster, &objects)?;
        }
        let deadline = self.cluster_args.deadline();
        let options = ApplyOptions {
            dry_run: sending == Sending::DryRun,
            force: self.force_conflicts,
            deadline,
        };
        cluster.apply(&objects, options, &mut cluster_args::report)?;
        if sending == Sending::DryRun {
            return Ok(());
        }
        cluster.available(&objects, deadline, WAY_OUT, &mut cluster_args::report)?;
        // OLM creates the Deployment of its package server.
        let later = later(&objects);
        exist(&cluster, &later, deadline)?;
        cluster.available(&later, deadline, WAY_OUT, &mut cluster_args::report)?;
        // Whether it is not healthy in the end is told with its status.
        cluster.until(deadline, &mut cluster_args::report, || {
            for id in objects.iter().map(Id::of).filter(|it| it.kind == "ClusterServiceVersion") {
                let phase = cluster.read(&id)?.map(|it| it["status"]["phase"].clone());
                if phase.is_none_or(|it| it != "Succeeded") {
                    return Ok(State::Not(format!("{id} is not Succeeded yet")));
                }
            }
            Ok(State::Done)
        })?;
        let namespaces = objects.iter().filter(|it| Id::of(it).is_workload());
        let namespace = namespaces.map(|it| Id::of(it).namespace).next();
        status::print(&cluster, namespace.as_deref().unwrap_or(status::NAMESPACE))
    }
}

/// Fails if somebody else has installed OLM.
fn require_own(cluster: &Cluster, objects: &[Value]) -> anyhow::Result<()> {
    let crds: Vec<Id> = objects.iter().map(Id::of).filter(Id::is_crd).collect();
    for live in cluster.find(&crds)? {
        if let Removal::Theirs(why) = live.removal {
            return Err(anyhow::format_err!("OLM is already installed by others: {} exists, and {why}", live.id))
                .hint("`operator-rs olm status` shows it; `--force-conflicts` takes it over and changes its version");
        }
    }
    Ok(())
}

/// The Deployments that OLM itself creates from the ClusterServiceVersions among the objects.
fn later(objects: &[Value]) -> Vec<Value> {
    let mut res = Vec::new();
    for csv in objects.iter().filter(|it| it["kind"] == "ClusterServiceVersion") {
        for name in lifecycle::deployments(csv) {
            res.push(json!({
                "apiVersion": "apps/v1",
                "kind": "Deployment",
                "metadata": {"name": name, "namespace": csv["metadata"]["namespace"]},
            }));
        }
    }
    res
}

fn exist(cluster: &Cluster, objects: &[Value], deadline: Deadline) -> anyhow::Result<()> {
    let left = cluster.until(deadline, &mut cluster_args::report, || {
        for id in objects.iter().map(Id::of) {
            if cluster.read(&id)?.is_none() {
                return Ok(State::Not(format!("OLM has not created {id} yet")));
            }
        }
        Ok(State::Done)
    })?;
    match left {
        None => Ok(()),
        Some(reason) => Err(anyhow::format_err!("timed out: {reason}"))
            .hint(format!("wait longer with `--timeout`: {WAY_OUT}")),
    }
}
