//! `operator-rs delete`

mod api;

use std::path::Path;

use super::writing;

/// Delete an API from a project
#[derive(clap::Subcommand)]
pub enum Command {
    Api(api::Args),
}

impl Command {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Api(args) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write(tree, root))
            }
        }
    }
}
