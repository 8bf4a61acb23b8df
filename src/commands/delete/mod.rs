//! `operator-rs delete`

mod api;
mod commit;
mod files;
mod modules;
mod webhook;

use std::path::Path;

use super::{RunCommand, writing};

/// Delete an API or a webhook from a project
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  operator-rs delete api --group cache --version v1alpha1 --kind Memcached --diff
  operator-rs delete webhook --group cache --version v1alpha1 --kind Memcached --defaulting")]
pub enum DeleteSubcommand {
    Api(api::Args),
    Webhook(webhook::Args),
}

impl RunCommand for DeleteSubcommand {
    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Api(args) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write_files(tree, root))
            }
            Self::Webhook(args) => {
                writing(dir, &args.mode.clone(), |tree, root| args.write_files(tree, root))
            }
        }
    }
}
