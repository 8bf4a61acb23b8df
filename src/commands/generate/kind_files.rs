//! Directories with a generated file for each kind, from CRDs of the source or of files.

use std::path::{Path, PathBuf};

use crate::{
    app::{
        cargo::{Workspace, feature_flags::FeatureFlags},
        compile,
        crds::{declared, file_owner::FileOwners},
        deployment::manifest_files,
        output::outputs::OutputDirs,
    },
    commands::{OutputMode, reading},
    disk::Root,
    plan::{self, Plan},
    terminal,
};
use crd::reference::Kinds;
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::Value;
use model::{ProjectPath, Tree as _, display_path};

/// Where CRDs come from.
#[derive(clap::Args)]
pub struct CrdSource {
    /// Take the CRDs from these files [default: those that the source declares]
    #[arg(long, value_name = "DIR|FILE")]
    crds: Option<PathBuf>,
    #[command(flatten)]
    features: FeatureFlags,
    #[command(flatten)]
    compile: compile::CompileFlags,
}

impl CrdSource {
    /// The kinds, of which there is at least one, and why a kind that was not read may be declared all the same.
    pub fn read_kinds(&self, dir: &Path) -> anyhow::Result<(Kinds, Option<String>)> {
        if let (Some(_), Some((flag, _))) = (&self.crds, self.features.given().first()) {
            return Err(terminal::usage_error(
                clap::error::ErrorKind::ArgumentConflict,
                &format!("`{flag}` applies to Rust source, and `--crds` names files"),
            ));
        }
        let root = reading(dir)?;
        let (kinds, reason) = match &self.crds {
            Some(path) => {
                let is_crd = |object: &Value| object["kind"] == "CustomResourceDefinition";
                let crds =
                    manifest_files::objects(&root, path)?.into_iter().filter(is_crd).collect();
                (Kinds { crds, ..Kinds::default() }, None)
            }
            None => declared::kinds(&Workspace::find(dir, None)?, self.compile, &self.features)
                .hint("or read CRDs from files: `--crds DIR|FILE`")?,
        };
        if kinds.crds.is_empty() {
            Err(anyhow::format_err!("there are no CRDs")).hint(
                "kinds are structs with `#[derive(CustomResource)]`; `--crds DIR|FILE` reads CRDs from files",
            )
        } else {
            Ok((kinds, reason))
        }
    }

    /// Returns the owners of the files in an output directory.
    pub fn file_owners(&self, dir: &Path, output: &Root) -> anyhow::Result<FileOwners> {
        Ok(match &self.crds {
            Some(path) => FileOwners::of_input(&display_path(path), &Root::new(dir)?, output),
            None => FileOwners::of_workspace(&Workspace::find(dir, None)?, output),
        })
    }

    /// Returns where changes belong.
    pub fn edit_location(&self) -> &'static str {
        if self.crds.is_some() { "the CRD" } else { "the Rust source" }
    }
}

/// Files that describe kinds.
pub struct KindFiles {
    pub files: Vec<(ProjectPath, String)>,
    /// Why a kind that was not read may be declared all the same.
    pub reason_for_more_kinds: Option<String>,
}

/// Directories of generated files.
pub struct KindFolders<'a> {
    pub folders: &'a [PathBuf],
    /// The command that writes them.
    pub by: &'static str,
    pub extension: &'static str,
    pub from: &'a CrdSource,
}

impl KindFolders<'_> {
    /// Writes files, and removes those of kinds that are gone.
    pub fn write_or_check(
        &self,
        dir: &Path,
        mode: &OutputMode,
        describe: impl FnOnce() -> anyhow::Result<KindFiles>,
    ) -> anyhow::Result<()> {
        let outputs = OutputDirs::open(dir, self.folders, mode)?;
        let KindFiles { files, reason_for_more_kinds } = describe()?;
        outputs.settle(|folder, root| {
            let owners = self.from.file_owners(dir, root)?;
            let owners = owners.with_more_kinds(reason_for_more_kinds.clone());
            let mut plan = Plan::default();
            let mut others = Vec::new();
            for (path, text) in &files {
                let before = root.read_text(path)?;
                if let Some(name) = owners.other_owner(path, before.as_deref()) {
                    let file = display_path(&folder.join(path.as_str()));
                    let message = format!("was generated for the package `{name}`");
                    others.push(Diagnostic::in_file(file, message));
                }
                plan.generate(path.clone(), text.clone(), self.from.edit_location(), self.by);
                plan.set_owner(path, owners.name(path, before.as_deref()));
            }
            if !others.is_empty() {
                let headline =
                    "files of another project would be replaced, and nothing was written";
                let error = Diagnostics { headline: headline.to_owned(), list: others };
                return Err(anyhow::Error::from(error))
                    .hint("write into a directory of its own: `--output-dir DIR`");
            }
            self.remove_others(&mut plan, root, &files, &owners)?;
            Ok(plan)
        })
    }

    /// Removes unedited files of kinds that are gone.
    fn remove_others(
        &self,
        plan: &mut Plan,
        root: &Root,
        files: &[(ProjectPath, String)],
        owners: &FileOwners,
    ) -> anyhow::Result<()> {
        for folder in root.list_names("")?.iter().filter_map(|name| name.strip_suffix('/')) {
            let is_declared = files
                .iter()
                .any(|(path, _)| path.parent().is_some_and(|parent| parent.as_str() == folder));
            for name in
                root.list_names(folder)?.iter().filter(|name| name.ends_with(self.extension))
            {
                let path: ProjectPath = format!("{folder}/{name}").parse()?;
                if files.iter().any(|(written, _)| *written == path) {
                    continue;
                }
                let Some(text) = root.read_text(&path)? else { continue };
                if !plan::is_unchanged_output(&path, &text, self.by) {
                    continue;
                }
                match owners.reason_to_stay(&owners.owner(&path, &text), is_declared) {
                    None => plan.delete_file(path, vec![text]),
                    Some(reason) if reason.is_empty() => {}
                    Some(reason) => plan.keep_file(path, &reason),
                }
            }
        }
        Ok(())
    }
}
