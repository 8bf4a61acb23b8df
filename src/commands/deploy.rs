//! `operator-rs deploy`

use std::path::Path;

use super::{RunCommand, reading};
use crate::app::{
    cluster_access::{
        cluster_args::{self, ClusterArgs, SendMode},
        removal, shipped,
    },
    deployment::{
        given::ManifestsArg,
        rendered::{self, RenderChanges, RenderPurpose},
    },
};
use crate::project::Project;
use crate::terminal;
use cluster::{ApplyOptions, Id};
use model::{Image, Namespace};

const WAY_OUT: &str = "deploy again, or run `operator-rs undeploy`";

/// Deploy the operator, its CRDs and RBAC, and wait until it runs
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs deploy --image quay.io/example/memcached-operator:v0.0.1
  operator-rs deploy --dry-run=server    # let the API server validate everything")]
pub struct Args {
    /// Image of the manager [default: the one in config/manager]
    #[arg(long)]
    image: Option<Image>,
    /// Namespace to deploy to [default: the one in config/default]
    #[arg(long, short)]
    namespace: Option<Namespace>,
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
        let (image, namespace) = (self.image.as_ref(), self.namespace.as_ref());
        let project = Project::read_any_layout(root)?;
        let objects = rendered::everything(
            root,
            &project,
            self.given.until(self.cluster_args.deadline()),
            RenderPurpose::Apply,
            RenderChanges { image, namespace },
        )?;
        let warnings = [shipped::placeholder(&objects), shipped::custom_resources(&objects)];
        terminal::warn_all(warnings.into_iter().flatten());
        if sending == SendMode::Nothing {
            return self
                .cluster_args
                .list("apply", &objects.iter().map(Id::of).collect::<Vec<_>>());
        }
        let deadline = self.cluster_args.deadline();
        let options = ApplyOptions {
            dry_run: sending == SendMode::DryRun,
            force: self.force_conflicts,
            deadline,
        };
        let cluster = self.cluster_args.connect_for(&project, &objects)?;
        cluster_args::with_hint(cluster.apply(&objects, options, &mut cluster_args::report))?;
        if sending == SendMode::All {
            cluster_args::with_hint(cluster.wait_until_available(
                &objects,
                deadline,
                WAY_OUT,
                &mut cluster_args::report,
            ))?;
            cluster_args::with_hint(removal::warn_of_former(&cluster, &objects, None))?;
        }
        Ok(())
    }
}
