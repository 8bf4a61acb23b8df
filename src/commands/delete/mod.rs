//! `operator-rs delete`

mod api;
mod commit;
mod files;
mod modules;
mod webhook;

use std::path::Path;

use super::writing;

/// Delete an API or a webhook from a project
#[derive(clap::Subcommand)]
pub enum Command {
    Api(api::Args),
    Webhook(webhook::Args),
}

impl Command {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Api(args) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write(tree, root))
            }
            Self::Webhook(args) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write(tree, root))
            }
        }
    }
}
