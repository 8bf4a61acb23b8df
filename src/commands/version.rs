use std::path::Path;

use super::{RunCommand, WorkingDirectory};
use crate::terminal;

/// Print the versions of operator-rs, kube and Kubernetes
#[derive(clap::Args)]
#[command(
    arg(super::hidden_dir()),
    after_help = "\
Examples:
  operator-rs version"
)]
pub struct Args;

impl RunCommand for Args {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Unused
    }

    fn run(self, _dir: &Path) -> anyhow::Result<()> {
        terminal::print(&format!(
            "operator-rs {} (kube 5, Kubernetes 1.33 and newer)\n",
            env!("CARGO_PKG_VERSION")
        ));
        Ok(())
    }
}
