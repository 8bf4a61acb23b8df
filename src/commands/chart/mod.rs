//! `operator-rs chart`

mod check;
mod report;

use std::path::Path;

use super::{RunCommand, WorkingDirectory};

/// Check a Helm chart against the Rust source
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  operator-rs chart check charts/my-operator
  operator-rs generate chart    # write one")]
pub enum ChartSubcommand {
    Check(check::Args),
}

impl RunCommand for ChartSubcommand {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Exact
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Check(args) => args.run(dir),
        }
    }
}
