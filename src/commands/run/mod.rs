//! `operator-rs run …`

mod bundle;
mod follow;
mod installation;
mod serving;
mod source;
mod upgrade;
mod v1;

use std::path::Path;

use super::{RunCommand, WorkingDirectory};

/// Install an operator with OLM, for testing
#[derive(clap::Subcommand)]
#[command(
    arg(super::hidden_dir()),
    after_help = "\
Examples:
  operator-rs run bundle ./bundle
  operator-rs run bundle-upgrade ./bundle    # of a later version"
)]
pub enum RunSubcommand {
    Bundle(Box<bundle::Args>),
    BundleUpgrade(Box<upgrade::Args>),
}

impl RunCommand for RunSubcommand {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Exact
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Bundle(args) => args.run(dir),
            Self::BundleUpgrade(args) => args.run(dir),
        }
    }
}
