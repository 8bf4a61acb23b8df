use super::{derive, project};
use crate::{disk::Root, plan::Plan};

/// Write the CRDs and RBAC that the source calls for
#[derive(clap::Args)]
pub struct Args;

impl Args {
    pub fn plan(self, root: &Root) -> anyhow::Result<Plan> {
        let project = project(root)?;
        let mut plan = Plan::default();
        derive::source(&mut plan, root, &project)?;
        Ok(plan)
    }
}
