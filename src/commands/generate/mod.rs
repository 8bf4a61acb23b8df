//! `operator-rs generate`

use super::{Outcome, derive, project};
use crate::{disk::Root, model::Project, plan::Plan};

/// Bring everything that is generated up to date: support code, CRDs, RBAC
#[derive(clap::Args)]
pub struct Args;

impl Args {
    pub fn outcome(self, root: &Root) -> anyhow::Result<Outcome> {
        let project = project(root)?;
        let mut plan = Plan::default();
        let current = project.with_cli_version(env!("CARGO_PKG_VERSION"))?;
        plan.edit(Project::path(), current.text().to_owned());
        derive::everything(&mut plan, root, &project)?;
        Ok(plan.into())
    }
}
