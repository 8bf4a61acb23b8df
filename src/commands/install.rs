//! `operator-rs install`

use std::path::Path;

use super::{RunCommand, reading};
use crate::app::{
    cluster_access::{
        cluster_args::{self, ClusterArgs, SendMode},
        removal,
    },
    deployment::{
        given::{self, ManifestsArg},
        rendered,
    },
};
use crate::disk::Root;
use crate::project::{CRD_CONFIG, Project};
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
    given: ManifestsArg,
    #[command(flatten)]
    cluster_args: ClusterArgs,
}

impl RunCommand for Args {
    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let root = &reading(dir)?;
        let sending = self.cluster_args.sending();
        let project = Project::read_any_layout(root)?;
        let crds = render_crds(root, &project, self.given.until(self.cluster_args.deadline()))?;
        if sending == SendMode::Nothing {
            return self.cluster_args.list("apply", &crds.iter().map(Id::of).collect::<Vec<_>>());
        }
        let options = ApplyOptions {
            dry_run: sending == SendMode::DryRun,
            force: self.force_conflicts,
            deadline: self.cluster_args.deadline(),
        };
        let cluster = self.cluster_args.connect(&project)?;
        cluster_args::with_hint(cluster.apply(&crds, options, &mut cluster_args::report))?;
        match sending {
            SendMode::All => {
                cluster_args::with_hint(removal::warn_of_former(&cluster, &crds, Some(Id::CRDS)))
            }
            _ => Ok(()),
        }
    }
}

/// The project's CRDs, of which there must be at least one.
fn render_crds(
    root: &Root,
    project: &Project,
    given: given::ManifestsRequest<'_>,
) -> anyhow::Result<Vec<Value>> {
    let crds = rendered::crds(root, project, given)?;
    match (crds.is_empty(), project.is_adopted()) {
        (false, _) => Ok(crds),
        (true, false) => Err(anyhow::format_err!("{} has no CRDs", CRD_CONFIG))
            .hint("create an API first: `operator-rs create api`"),
        (true, true) => Err(anyhow::format_err!("the source declares no kind that PROJECT lists"))
            .hint("`resources` of PROJECT lists the kinds of this operator"),
    }
}
