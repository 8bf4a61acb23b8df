//! `operator-rs chart`

mod check;
mod report;

use std::path::Path;

/// Check a Helm chart against the Rust source
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  operator-rs chart check charts/my-operator
  operator-rs generate chart    # write one")]
pub enum ChartSubcommand {
    Check(check::Args),
}

impl ChartSubcommand {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Check(args) => args.run(dir),
        }
    }
}
