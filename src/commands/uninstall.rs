//! `operator-rs uninstall`

use super::{
    install, project,
    reach::{self, Reach, Sending},
    removal::Removing,
};
use crate::{cluster::Id, disk::Root};

/// Remove the CRDs and all their objects from a cluster
///
/// A CRD that `install` did not create stays; only the fields that `install` set are removed from it.
#[derive(clap::Args)]
pub struct Args {
    /// Do not ask before removing objects with their CRDs
    #[arg(long)]
    yes: bool,
    #[command(flatten)]
    reach: Reach,
}

impl Args {
    pub fn run(self, root: &Root) -> anyhow::Result<()> {
        let sending = self.reach.sending();
        let project = project(root)?;
        let crds = install::crds(root, &project)?;
        if sending == Sending::Nothing {
            reach::list("delete", &crds.iter().map(Id::of).collect::<Vec<_>>());
            return Ok(());
        }
        let removing = Removing {
            cluster: &self.reach.connect(&project)?,
            project: &project,
            objects: &crds,
            sending,
            yes: self.yes,
            reach: &self.reach,
        };
        reach::reached(removing.run())
    }
}
