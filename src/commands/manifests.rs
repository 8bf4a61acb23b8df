use std::path::{Path, PathBuf};

use super::{OutputMode, RunCommand, writing};
use crate::app::{
    cargo::Workspace,
    compile,
    crds::{crd_files, declared, file_owner::FileOwners},
    generation::derive::{self, GenerateOptions},
    output::outputs::OutputDirs,
};
use crate::project::Project;
use crate::{disk::Root, manifests::CrdOptions, plan::WorkTree};
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
    #[arg(long, conflicts_with = "check")]
    pub watch: bool,
    /// Shorten descriptions in CRDs to this many bytes, at a sentence boundary if possible; 0 removes them
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    max_description_length: Option<usize>,
    #[command(flatten)]
    compile: compile::CompileFlags,
    #[command(flatten)]
    pub mode: OutputMode,
}

impl RunCommand for Args {
    fn watches_files(&self) -> bool {
        self.watch
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        let root = Root::new(dir)?;
        match Project::find_in(&root)?.filter(Project::is_adopted) {
            Some(project) => self.in_place(dir, &root, &project),
            None => writing(dir, &self.mode.clone(), |tree, _| self.write_files(tree)),
        }
    }
}

impl Args {
    fn write_files(self, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
        let project = Project::read(tree)?;
        let options = GenerateOptions {
            crd_options: CrdOptions { longest_description: self.max_description_length },
            flags: Some(self.compile),
            all: self.compile.compile && self.mode.check,
            samples: true,
        };
        derive::source(tree, &project, &options)?;
        Ok(())
    }

    /// Writes the CRDs of an operator in place into the directories that PROJECT names, as `generate crds --output-dir`
    /// does for each.
    fn in_place(&self, dir: &Path, root: &Root, project: &Project) -> anyhow::Result<()> {
        if project.inputs.crds.is_empty() {
            return Err(anyhow::format_err!("PROJECT names no directory for the CRDs"))
                .hint("record it: `operator-rs adopt --crds DIR`; `operator-rs generate crds --output-dir DIR` works without");
        }
        let workspace = Workspace::find(root.resolved_path(), None)?;
        let options = CrdOptions { longest_description: self.max_description_length };
        let reading = declared::read_with_markers(&workspace);
        let declared = declared::manifests(&workspace, reading, self.compile, &options)?;
        let folders: Vec<PathBuf> =
            project.inputs.crds.iter().map(|folder| folder.as_str().into()).collect();
        let outputs = OutputDirs::open(dir, &folders, &self.mode)?;
        outputs.settle(|folder, root| {
            let reason = declared.reason_for_more_kinds.clone();
            let owners = FileOwners::of_workspace(&workspace, root).with_more_kinds(reason);
            crd_files::plan(folder, root, &declared.manifests, true, &owners)
        })
    }
}
