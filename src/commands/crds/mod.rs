//! `operator-rs crds`

mod diff;
mod report;

use std::path::Path;

/// Find breaking changes of CRDs
#[derive(clap::Subcommand)]
pub enum Command {
    Diff(diff::Args),
}

impl Command {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Diff(args) => args.run(dir),
        }
    }
}
