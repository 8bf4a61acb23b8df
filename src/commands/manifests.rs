use super::{
    Mode,
    derive::{self, Compile, How},
    project,
};
use crate::{disk::Root, manifests::Wishes, plan::Plan};

/// Write the CRDs and RBAC that the source calls for
#[derive(clap::Args)]
pub struct Args {
    /// Do it again whenever a file that was read changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
    /// Where the source cannot be read, ask the code itself: cargo builds a throwaway crate under target/. With
    /// `--check`, ask it for every kind: both must agree
    #[arg(long)]
    compile: bool,
    /// Shorten descriptions in CRDs to this many bytes, behind a sentence where one ends; 0 leaves them out
    #[arg(long, value_name = "N")]
    max_description_length: Option<usize>,
    #[command(flatten)]
    pub mode: Mode,
}

impl Args {
    pub fn plan(self, root: &Root) -> anyhow::Result<Plan> {
        let project = project(root)?;
        let mut plan = Plan::default();
        let how = How {
            wishes: Wishes { longest_description: self.max_description_length },
            compile: self.compile.then(|| Compile { top: root.real(), all: self.mode.check }),
        };
        derive::source_as(&mut plan, root, &project, &how)?;
        Ok(plan)
    }
}
