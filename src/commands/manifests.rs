use super::Mode;
use crate::app::{
    compile,
    derive::{self, GenerateOptions},
};
use crate::project::Project;
use crate::{manifests::CrdOptions, plan::WorkTree};

/// Generate CRDs and RBAC from the Rust source
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs manifests            # write config/crd/bases and config/rbac/role.yaml
  operator-rs manifests --diff     # show what would change
  operator-rs manifests --check    # in CI: fail if a file is out of date")]
pub struct Args {
    /// Run again whenever a file that was read changes, until Ctrl-C
    #[arg(long)]
    pub watch: bool,
    /// Shorten descriptions in CRDs to this many bytes, at a sentence boundary if possible; 0 removes them
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_description_length: Option<usize>,
    #[command(flatten)]
    compile: compile::Flags,
    #[command(flatten)]
    pub mode: Mode,
}

impl Args {
    pub fn write(self, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
        let project = Project::read(tree)?;
        let options = GenerateOptions {
            crd_options: CrdOptions { longest_description: self.max_description_length },
            flags: Some(self.compile),
            all: self.compile.compile && self.mode.check,
            samples: true,
        };
        derive::source(tree, &project, &options)
    }
}
