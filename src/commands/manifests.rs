use super::{
    Mode, compile,
    derive::{self, How},
    project,
};
use crate::{disk::Root, manifests::Wishes, plan::Plan};

/// Write the CRDs and RBAC that the source calls for
#[derive(clap::Args)]
pub struct Args {
    /// Do it again whenever a file that was read changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
    /// Shorten descriptions in CRDs to this many bytes, behind a sentence where one ends; 0 leaves them out
    #[arg(long, value_name = "N")]
    max_description_length: Option<usize>,
    #[command(flatten)]
    compile: compile::Flags,
    #[command(flatten)]
    pub mode: Mode,
}

impl Args {
    pub fn plan(self, root: &Root) -> anyhow::Result<Plan> {
        let project = project(root)?;
        let mut plan = Plan::default();
        let how = How {
            wishes: Wishes { longest_description: self.max_description_length },
            flags: Some(self.compile),
            all: self.compile.compile && self.mode.check,
            samples: true,
        };
        derive::source(&mut plan, root, &project, &how)?;
        Ok(plan)
    }
}
