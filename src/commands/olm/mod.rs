//! `operator-rs olm …`

mod install;
mod releases;
mod status;
mod uninstall;

use std::path::Path;

use crate::cluster::Owner;

/// Install, inspect and uninstall the Operator Lifecycle Manager
#[derive(clap::Subcommand)]
pub enum Command {
    Install(install::Args),
    Status(status::Args),
    Uninstall(uninstall::Args),
}

impl Command {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Install(args) => args.run(dir),
            Self::Status(args) => args.run(),
            Self::Uninstall(args) => args.run(),
        }
    }
}

/// The owner of OLM's own objects.
fn owner() -> Owner {
    Owner::of("olm.operators.coreos.com")
}
