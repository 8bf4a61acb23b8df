//! `operator-rs install`

use crate::app::{
    cluster_args::{self, ClusterArgs, Sending},
    removal, rendered,
};
use crate::disk::Root;
use crate::project::Project;
use cluster::{ApplyOptions, Id};
use diagnostics::Hint as _;
use go_data::yaml::Value;

/// Install the CRDs on a cluster
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs install
  operator-rs install --dry-run=server    # let the API server validate the CRDs, and change nothing")]
pub struct Args {
    /// Take over fields that other field managers have set
    #[arg(long)]
    force_conflicts: bool,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let sending = self.cluster_args.sending();
        let project = Project::read(root)?;
        let crds = crds(root, &project)?;
        if sending == Sending::Nothing {
            cluster_args::list("apply", &crds.iter().map(Id::of).collect::<Vec<_>>());
            return Ok(());
        }
        let options = ApplyOptions {
            dry_run: sending == Sending::DryRun,
            force: self.force_conflicts,
            limit: self.cluster_args.limit(),
        };
        let cluster = self.cluster_args.connect(&project)?;
        cluster_args::with_hint(cluster.apply(&crds, options, &mut cluster_args::report))?;
        match sending {
            Sending::All => {
                cluster_args::with_hint(removal::warn_of_former(&cluster, &crds, Some(Id::CRDS)))
            }
            _ => Ok(()),
        }
    }
}

/// The project's CRDs, of which there must be at least one.
pub fn crds(root: &Root, project: &Project) -> anyhow::Result<Vec<Value>> {
    let render = |folder| -> anyhow::Result<Vec<Value>> {
        let mut crds = rendered::objects(root, project, folder, None, None)?;
        crds.retain(|it| Id::of(it).is_crd());
        Ok(crds)
    };
    let mut crds = render(rendered::CRDS)?;
    // The name of the Service that converts is known only with the prefix and the namespace of the whole.
    if crds.iter().any(|it| it["spec"]["conversion"]["strategy"] == "Webhook") {
        let deployed = render(rendered::EVERYTHING)?;
        for crd in &mut crds {
            if let Some(it) = deployed.iter().find(|it| Id::of(it) == Id::of(crd)) {
                crd.clone_from(it);
            }
        }
    }
    if crds.is_empty() {
        return Err(anyhow::format_err!("{} has no CRDs", rendered::CRDS))
            .hint("create an API first: `operator-rs create api`");
    }
    Ok(crds)
}
