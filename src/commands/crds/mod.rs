//! `operator-rs crds`

mod diff;
mod report;

use std::path::Path;

use super::{RunCommand, WorkingDirectory};

/// Find breaking changes of CRDs
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  operator-rs crds diff origin/main    # the working tree against a branch
  operator-rs crds diff v0.1.0 --to v0.2.0")]
pub enum CrdsSubcommand {
    Diff(diff::Args),
}

impl RunCommand for CrdsSubcommand {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Exact
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Diff(args) => args.run(dir),
        }
    }
}
