use super::{derive, project};
use crate::{disk::Root, manifests::Wishes, plan::Plan};

/// Write the CRDs and RBAC that the source calls for
#[derive(clap::Args)]
pub struct Args {
    /// Shorten descriptions in CRDs to this many bytes, behind a sentence where one ends; 0 leaves them out
    #[arg(long, value_name = "N")]
    max_description_length: Option<usize>,
}

impl Args {
    pub fn plan(self, root: &Root) -> anyhow::Result<Plan> {
        let project = project(root)?;
        let mut plan = Plan::default();
        let wishes = Wishes { longest_description: self.max_description_length };
        derive::wished(&mut plan, root, &project, &wishes)?;
        Ok(plan)
    }
}
