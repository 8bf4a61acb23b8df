//! `operator-rs generate`

mod crds;
mod installer;

use super::{Outcome, derive, project};
use crate::{disk::Root, model::Project, plan::Plan};

/// Bring everything that is generated up to date: support code, CRDs, RBAC
#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Args {
    #[command(subcommand)]
    what: Option<What>,
}

#[derive(clap::Subcommand)]
enum What {
    Crds(crds::Args),
    Installer(installer::Args),
}

impl Args {
    /// What is asked of any cargo project, whether or not it is one of ours.
    pub fn of_any_project(&self) -> Option<&crds::Args> {
        match &self.what {
            Some(What::Crds(args)) => Some(args),
            _ => None,
        }
    }

    pub fn outcome(self, root: &Root) -> anyhow::Result<Outcome> {
        let project = project(root)?;
        if let Some(What::Installer(args)) = self.what {
            return args.outcome(root, &project);
        }
        let mut plan = Plan::default();
        let current = project.with_cli_version(env!("CARGO_PKG_VERSION"))?;
        plan.edit(Project::path(), current.text().to_owned());
        derive::everything(&mut plan, root, &project)?;
        Ok(plan.into())
    }
}
