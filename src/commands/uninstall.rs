//! `operator-rs uninstall`

use std::path::Path;

use super::{RunCommand, reading};
use crate::app::{
    cluster_access::{
        cluster_args::{self, ClusterArgs, SendMode},
        removal::RemovalRequest,
    },
    deployment::{given::ManifestsArg, rendered},
};
use crate::project::Project;
use cluster::Id;

/// Remove the CRDs from a cluster, including all custom resources
///
/// A CRD that somebody else created is kept, without the fields that `install` set. CRDs that config/ no longer has are
/// found by their label, and removed if you agree.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs uninstall
  operator-rs uninstall --dry-run    # list the CRDs that would be deleted")]
pub struct Args {
    /// Delete custom resources, and CRDs that config/ no longer has, without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    given: ManifestsArg,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

impl RunCommand for Args {
    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let root = &reading(dir)?;
        let sending = self.cluster_args.sending();
        let project = Project::read_any_layout(root)?;
        let given = self.given.until(self.cluster_args.deadline());
        let crds = rendered::crds_to_remove(root, &project, given)?;
        if sending == SendMode::Nothing {
            return self.cluster_args.list("delete", &crds.iter().map(Id::of).collect::<Vec<_>>());
        }
        let removing = RemovalRequest {
            cluster: &self.cluster_args.connect(&project)?,
            project: &project,
            objects: &crds,
            group: Some(Id::CRDS),
            sending,
            yes: self.yes,
            cluster_args: &self.cluster_args,
        };
        cluster_args::with_hint(removing.run())
    }
}
