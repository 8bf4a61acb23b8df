//! `operator-rs uninstall`

use super::{
    install, project,
    reach::{self, Reach, Sending},
    removal::Removing,
};
use crate::{cluster::Id, disk::Root};

/// Remove the CRDs from a cluster, and with them every object of their kinds
///
/// A CRD that others have made stays, without the fields that `install` gave it.
#[derive(clap::Args)]
pub struct Args {
    /// Remove objects with their CRDs without asking
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
