//! `operator-rs deploy`

use super::{
    project,
    reach::{self, Reach, Sending},
    removal, rendered, shipped,
};
use crate::{disk::Root, terminal};
use cluster::{How, Id};
use model::{Image, Namespace};

const WAY_OUT: &str = "deploy again, or run `operator-rs undeploy`";

/// Deploy the operator to a cluster, with its CRDs and RBAC, and wait until it runs
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs deploy --image quay.io/example/memcached-operator:v0.0.1
  operator-rs deploy --dry-run=server    # let the API server validate everything, and change nothing")]
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
    reach: Reach,
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let sending = self.reach.sending();
        let (image, namespace) = (self.image.as_ref(), self.namespace.as_ref());
        let project = project(root)?;
        let objects = rendered::objects(root, &project, rendered::EVERYTHING, image, namespace)?;
        shipped::placeholder(&objects).into_iter().for_each(terminal::warn);
        if sending == Sending::Nothing {
            reach::list("apply", &objects.iter().map(Id::of).collect::<Vec<_>>());
            return Ok(());
        }
        let limit = self.reach.limit();
        let how = How { dry_run: sending == Sending::DryRun, force: self.force_conflicts, limit };
        let cluster = self.reach.connect_for(&project, &objects)?;
        reach::reached(cluster.apply(&objects, how, &mut reach::report))?;
        if sending == Sending::All {
            reach::reached(cluster.available(&objects, limit, WAY_OUT, &mut reach::report))?;
            reach::reached(removal::warn_of_former(&cluster, &objects, None))?;
        }
        Ok(())
    }
}
