//! `operator-rs undeploy`

use super::{
    project,
    reach::{self, Reach, Sending},
    removal::{Parts, Removing},
    rendered,
};
use crate::{cluster::Id, disk::Root, model::Namespace};

/// Remove what `deploy` made from a cluster, and with the CRDs every object of their kinds
///
/// The CRDs go first, while the operator still runs to serve finalizers, and the namespace last. What was there
/// before `deploy` stays, without the fields that `deploy` gave it.
#[derive(clap::Args)]
pub struct Args {
    /// The namespace that it was deployed to, if it is another one than config/default says
    #[arg(long)]
    namespace: Option<Namespace>,
    /// Remove what would go with it without asking
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let sending = self.reach.sending();
        let project = project(root)?;
        let namespace = self.namespace.as_ref();
        let objects = rendered::objects(root, &project, rendered::EVERYTHING, None, namespace)?;
        let parts = Parts::of(objects.iter().map(|it| (Id::of(it), it)));
        if sending == Sending::Nothing {
            reach::list("delete", parts.in_order().map(|it| &it.0));
            return Ok(());
        }
        let removing = Removing {
            cluster: &self.reach.connect(&project)?,
            project: &project,
            objects: &objects,
            sending,
            yes: self.yes,
            reach: &self.reach,
        };
        reach::reached(removing.run())
    }
}
