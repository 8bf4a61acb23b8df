use super::Mode;
use crate::app::{
    cargo::Workspace,
    compile, declared,
    derive::{self, GenerateOptions},
};
use crate::project::Project;
use crate::{
    disk::Root,
    manifests::CrdOptions,
    plan::{Plan, WorkTree},
};
use diagnostics::Hint as _;

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
    pub fn write(self, tree: &mut WorkTree<'_>, root: &Root) -> anyhow::Result<()> {
        let project = Project::of_any_layout(tree)?;
        if project.in_place() {
            return self.in_place(tree, root, &project);
        }
        let options = GenerateOptions {
            crd_options: CrdOptions { longest_description: self.max_description_length },
            flags: Some(self.compile),
            all: self.compile.compile && self.mode.check,
            samples: true,
        };
        derive::source(tree, &project, &options)
    }

    /// Writes the CRDs of an operator in place into each directory that PROJECT names, with the names of `generate crds`.
    fn in_place(
        &self,
        tree: &mut WorkTree<'_>,
        root: &Root,
        project: &Project,
    ) -> anyhow::Result<()> {
        if project.inputs.crds.is_empty() {
            return Err(anyhow::format_err!("PROJECT names no directory for the CRDs"))
                .hint("add it as `crds` of `plugins.rust.operator-rs.io/v1`, or use `operator-rs generate crds --output-dir DIR`");
        }
        let workspace = Workspace::find(root.real(), None)?;
        let options = CrdOptions { longest_description: self.max_description_length };
        let mut plan = Plan::default();
        for it in declared::manifests(&workspace, self.compile, &options)? {
            for folder in &project.inputs.crds {
                plan.generate(
                    folder.join(it.path.name())?,
                    it.to_text(),
                    &it.edit,
                    derive::MANIFESTS,
                );
            }
        }
        for folder in &project.inputs.crds {
            plan.own(folder.clone(), &["yaml"], derive::MANIFESTS);
        }
        tree.apply(plan)
    }
}
