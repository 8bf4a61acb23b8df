//! `operator-rs undeploy`

use std::path::Path;

use super::{RunCommand, reading};
use crate::app::{
    cluster_access::{
        cluster_args::{self, ClusterArgs, SendMode},
        removal::{RemovalOrder, RemovalRequest},
    },
    deployment::{
        given::ManifestsArg,
        rendered::{self, RenderChanges, RenderPurpose},
    },
};
use crate::project::Project;
use cluster::Id;
use model::Namespace;

/// Remove what `deploy` created, including all custom resources
///
/// CRDs are deleted first, while the operator still runs and can handle finalizers, and the namespace last. Objects that
/// existed before `deploy` are kept, without the fields that `deploy` set. Objects that config/ no longer has are found by
/// their label, and removed if you agree.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs undeploy
  operator-rs undeploy --dry-run=server    # let the API server validate everything")]
pub struct Args {
    /// Namespace that the operator was deployed to [default: the one in config/default]
    #[arg(long, short)]
    namespace: Option<Namespace>,
    /// Delete custom resources, and objects that config/ no longer has, without asking
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
        let namespace = self.namespace.as_ref();
        let objects = rendered::everything(
            root,
            &project,
            self.given.until(self.cluster_args.deadline()),
            RenderPurpose::Delete,
            RenderChanges { image: None, namespace },
        )?;
        let parts = RemovalOrder::of(objects.iter().map(|object| (Id::of(object), object)));
        if sending == SendMode::Nothing {
            return self.cluster_args.list("delete", parts.in_order().map(|entry| &entry.0));
        }
        let removing = RemovalRequest {
            cluster: &self.cluster_args.connect_for(&project, &objects)?,
            project: &project,
            objects: &objects,
            group: None,
            sending,
            yes: self.yes,
            cluster_args: &self.cluster_args,
        };
        cluster_args::with_hint(removing.run())
    }
}
