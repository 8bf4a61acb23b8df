//! What describes kinds: a directory with a file for each, from CRDs of the source or of files.

use std::path::{Path, PathBuf};

use crate::{
    app::{cargo::Workspace, compile, declared, given, outputs::Outputs},
    commands::{Mode, reading},
    disk::Root,
    plan::{self, Plan},
};
use crd::reference::Kinds;
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::{ProjectPath, Tree as _};

/// Where CRDs come from.
#[derive(clap::Args)]
pub struct From {
    /// Take the CRDs from these files [default: those that the source declares]
    #[arg(long, value_name = "DIR|FILE")]
    crds: Option<PathBuf>,
    #[command(flatten)]
    compile: compile::Flags,
}

impl From {
    /// The kinds, of which there is at least one.
    pub fn read(&self, dir: &Path) -> anyhow::Result<Kinds> {
        let root = reading(dir)?;
        let kinds = match &self.crds {
            Some(path) => {
                let is_crd = |it: &Value| it["kind"] == "CustomResourceDefinition";
                let crds = given::objects(&root, path)?.into_iter().filter(is_crd).collect();
                Kinds { crds, ..Kinds::default() }
            }
            None => declared::kinds(&Workspace::find(dir, None)?, self.compile)
                .hint("or read CRDs from files: `--crds DIR|FILE`")?,
        };
        match kinds.crds.is_empty() {
            false => Ok(kinds),
            true => Err(anyhow::format_err!("there are no CRDs")).hint(
                "kinds are structs with `#[derive(CustomResource)]`; `--crds DIR|FILE` reads CRDs from files",
            ),
        }
    }

    /// Where changes belong.
    pub fn edit(&self) -> &'static str {
        if self.crds.is_some() { "the CRD" } else { "the Rust source" }
    }
}

/// Directories of generated files.
pub struct Output<'a> {
    pub folders: &'a [PathBuf],
    /// The command that writes them.
    pub by: &'static str,
    pub extension: &'static str,
    pub edit: &'static str,
}

impl Output<'_> {
    /// Writes files, and removes those of kinds that are gone.
    pub fn settle(
        &self,
        dir: &Path,
        mode: &Mode,
        files: impl FnOnce() -> anyhow::Result<Vec<(ProjectPath, String)>>,
    ) -> anyhow::Result<()> {
        let outputs = Outputs::open(dir, self.folders, mode)?;
        let files = files()?;
        outputs.settle(|_, root| {
            let mut plan = Plan::default();
            self.sweep(&mut plan, root)?; // what is generated again stays
            for (path, text) in &files {
                plan.generate(path.clone(), text.clone(), self.edit, self.by);
            }
            Ok(plan)
        })
    }

    fn sweep(&self, plan: &mut Plan, root: &Root) -> anyhow::Result<()> {
        for folder in root.names("")?.iter().filter_map(|it| it.strip_suffix('/')) {
            for name in root.names(folder)?.iter().filter(|it| it.ends_with(self.extension)) {
                let path: ProjectPath = format!("{folder}/{name}").parse()?;
                let Some(text) = root.read(&path)? else { continue };
                if plan::is_ours(&path, &text, self.by) {
                    plan.delete(path, vec![text]);
                }
            }
        }
        Ok(())
    }
}
