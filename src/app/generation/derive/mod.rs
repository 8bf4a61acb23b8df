//! Files that are generated from the source. The source is read with what the command has written, so that a command that
//! changes it also updates the manifests.

mod source_files;

use std::path::Path;

use self::source_files::{NOT_GENERATED, SourceFiles};
use super::{conversions, types_list};
use crate::app::{
    cargo::tree_sources::TreeSources,
    compile::{self, Compile, Completion},
    config::{listing, roles},
    output::refusal::{refusal, unread},
    scaffolding::support::SupportCode,
};
use crate::project::{Operator, Problem, Project, RbacMarker};
use crate::{
    manifests::CrdOptions,
    plan::{Plan, WorkTree},
    source::{self, Options, Reading},
};
use diagnostics::Diagnostic;
use model::{ProjectPath, Tree};

/// Writes a plan and all generated files: the support code, and the files that depend on the source.
pub fn everything(
    tree: &mut WorkTree<'_>,
    plan: Plan,
    project: &Project,
    support: &SupportCode,
    options: &GenerateOptions,
) -> anyhow::Result<RbacMarkers> {
    let reading = read_with_support(tree, plan, support)?;
    source_that_was_read(tree, project, options, reading)
}

/// Writes a plan and the support code, and reads the source.
pub fn read_with_support(
    tree: &mut WorkTree<'_>,
    mut plan: Plan,
    support: &SupportCode,
) -> anyhow::Result<Reading> {
    support.plan(&mut plan, tree)?;
    tree.apply(plan)?;
    read_without_types_list(tree)
}

/// Writes a plan, the PROJECT file as it was edited, and the files that depend on the source. What was missing before is a
/// warning: this may be the command that mends it.
pub fn with_project(
    tree: &mut WorkTree<'_>,
    mut plan: Plan,
    project: &Project,
    edited: &Project,
    options: &GenerateOptions,
) -> anyhow::Result<()> {
    plan.edit_file(Project::path(), project.text().to_owned(), edited.text().to_owned());
    tree.apply(plan)?;
    let reading = read_without_types_list(tree)?;
    write_from_source(tree, edited, options, reading, &mut |missing| {
        let mut plan = Plan::default();
        missing.into_iter().for_each(|warning| plan.warn(warning));
        Ok(plan)
    })?;
    Ok(())
}

/// The options for generating manifests.
#[derive(Default)]
pub struct GenerateOptions {
    pub crd_options: CrdOptions,
    /// None if the command has no such flags.
    pub flags: Option<compile::CompileFlags>,
    /// Compile all kinds, which must then be as they were read.
    pub all: bool,
    /// Warn of samples that the CRDs refuse.
    pub samples: bool,
}

/// Writes CRDs, RBAC and the list of types, from the source. Returns the comments that ask for rights.
pub fn source(
    tree: &mut WorkTree<'_>,
    project: &Project,
    options: &GenerateOptions,
) -> anyhow::Result<RbacMarkers> {
    let reading = read_without_types_list(tree)?;
    source_that_was_read(tree, project, options, reading)
}

/// Does the same with what was read after the last change.
pub fn source_that_was_read(
    tree: &mut WorkTree<'_>,
    project: &Project,
    options: &GenerateOptions,
    reading: Reading,
) -> anyhow::Result<RbacMarkers> {
    write_from_source(tree, project, options, reading, &mut |missing| {
        if missing.is_empty() { Ok(Plan::default()) } else { Err(refusal(NOT_GENERATED, missing)) }
    })
}

/// Decides about the webhooks that PROJECT lists and the source does not have.
type MissingWebhooks<'a> = &'a mut dyn FnMut(Vec<Diagnostic>) -> anyhow::Result<Plan>;

fn write_from_source(
    tree: &mut WorkTree<'_>,
    project: &Project,
    options: &GenerateOptions,
    reading: Reading,
    missing: MissingWebhooks<'_>,
) -> anyhow::Result<RbacMarkers> {
    match generate_files(tree, project, options, reading, missing) {
        Ok(Some(SourceFiles { plan, crds, markers })) => {
            tree.apply(plan)?;
            listing::update(tree, &crds)?;
            listing::warn_of_paths(tree)?;
            let unheld = roles::unheld(tree, project, &markers.list)?;
            markers.quote(tree, unheld).into_iter().for_each(|marker| tree.warn(marker));
            conversions::require_in_crds(tree, project)?;
            Ok(markers)
        }
        Ok(None) => Ok(RbacMarkers::default()),
        Err(error) => {
            // If a file cannot be written, report only that: the other problems follow from it.
            tree.require_writable()?;
            Err(error)
        }
    }
}

/// The comments that ask for rights.
#[derive(Default)]
pub struct RbacMarkers {
    pub list: Vec<RbacMarker>,
    /// The files that messages quote.
    reading: Reading,
}

impl RbacMarkers {
    /// Adds to problems of comments the lines that they are about.
    pub fn quote(&self, tree: &impl Tree, problems: Vec<Problem>) -> Vec<Problem> {
        self.reading.quote_source(&TreeSources::new(tree), problems)
    }
}

/// Returns `None` if kinds that have to be compiled are changed by this command, which is not compiled before it is
/// written.
fn generate_files(
    tree: &mut WorkTree<'_>,
    project: &Project,
    options: &GenerateOptions,
    mut reading: Reading,
    missing: MissingWebhooks<'_>,
) -> anyhow::Result<Option<SourceFiles>> {
    if complete_reading(tree, &mut reading, options)? == Completion::Later {
        tree.keep_as_on_disk(&ProjectPath::fixed(types_list::FILE));
        tree.warn(format!(
            "the CRDs, roles and {} were not updated: {}, and this command cannot compile its changes before it writes them; run `operator-rs manifests` afterwards",
            types_list::FILE,
            unread(&reading)
        ));
        return Ok(None);
    }
    source_files::generate(tree, project, options, reading, missing).map(Some)
}

/// Compiles the kinds that cannot be read otherwise.
fn complete_reading(
    tree: &WorkTree<'_>,
    reading: &mut Reading,
    options: &GenerateOptions,
) -> anyhow::Result<Completion> {
    let is_code = |path: &ProjectPath| {
        let list = path.as_str() == types_list::FILE;
        !list && (path.extension() == "rs" || ["Cargo.toml", "Cargo.lock"].contains(&path.name()))
    };
    let compile = Compile {
        top: tree.root_dir().unwrap_or(Path::new(".")),
        flags: options.flags,
        all: options.all,
        modules: &[],
        keeps_going: false,
        is_on_disk: !tree.changed_files().any(|change| is_code(&change.path)),
    };
    compile::complete(&compile, reading)
}

/// Returns the kinds and rules of the source, as far as it can be read. [`source`] reports the problems.
pub fn operator(tree: &impl Tree) -> Operator {
    read_source(tree).operator
}

/// Reads the source without the list of types, which is part of the source that it is generated from.
fn read_without_types_list(tree: &mut WorkTree<'_>) -> anyhow::Result<Reading> {
    tree.apply(types_list::plan(Vec::new())?)?;
    Ok(read_source(tree))
}

fn read_source(tree: &impl Tree) -> Reading {
    source::read_workspace_with_rules(&TreeSources::new(tree), &Options::default())
}
