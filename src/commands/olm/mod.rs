//! `operator-rs olm …`

mod install;
mod releases;
mod status;
mod uninstall;

use std::path::Path;

use super::{RunCommand, WorkingDirectory};
use cluster::{ApplyHints, Owner};
use olm::lifecycle;

/// Install, inspect and uninstall the Operator Lifecycle Manager
#[derive(clap::Subcommand)]
#[command(
    arg(super::hidden_dir()),
    after_help = "\
Examples:
  operator-rs olm install
  operator-rs olm status"
)]
pub enum OlmSubcommand {
    Install(install::Args),
    Status(status::Args),
    Uninstall(uninstall::Args),
}

impl RunCommand for OlmSubcommand {
    fn working_directory(&self) -> WorkingDirectory {
        match self {
            Self::Install(_) => WorkingDirectory::Exact,
            Self::Status(_) | Self::Uninstall(_) => WorkingDirectory::Unused,
        }
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Install(args) => args.run(dir),
            Self::Status(args) => args.run(),
            Self::Uninstall(args) => args.run(),
        }
    }
}

/// The owner of OLM's own objects.
fn olm_owner() -> Owner {
    let owner = Owner::for_project("olm.operators.coreos.com").with_agents(&lifecycle::MANAGERS);
    owner.with_apply_hints(ApplyHints {
        conflict: "take them over with `--force-conflicts`".to_owned(),
        immutable: "immutable fields cannot be changed in place: delete that object, and run the command again".to_owned(),
    })
}
