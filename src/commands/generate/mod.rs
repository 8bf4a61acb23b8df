//! `operator-rs generate`

use super::{Outcome, derive, project};
use crate::{disk::Root, plan::Plan};

/// Bring everything that is generated up to date: support code, CRDs, RBAC
#[derive(clap::Args)]
pub struct Args;

impl Args {
    pub fn outcome(self, root: &Root) -> anyhow::Result<Outcome> {
        let project = project(root)?;
        let mut plan = Plan::default();
        derive::everything(&mut plan, root, &project)?;
        Ok(plan.into())
    }
}
