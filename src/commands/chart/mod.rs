//! `operator-rs chart`

mod check;
mod report;

use std::path::Path;

/// Check Helm charts
#[derive(clap::Subcommand)]
pub enum Command {
    Check(check::Args),
}

impl Command {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Check(args) => args.run(dir),
        }
    }
}
