//! Files that are generated from the source. The source is read with what the command has written, so that a command that
//! changes it also updates the manifests.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use super::{
    agreement,
    compile::{self, Compile, Completion},
    conversions, generated_crds, listing,
    refusal::{refusal, unread},
    roles, samples,
    support::SupportCode,
    tree_sources::TreeSources,
    types_list, unserved, webhooks,
};
use crate::project::{MANIFESTS_COMMAND, Operator, Problem, Project, RbacMarker};
use crate::{
    manifests::{self, CrdOptions},
    plan::{Plan, WorkTree},
    source::{self, Options, Reading},
};
use diagnostics::{Diagnostic, with_hints};
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
        if missing.is_empty() {
            Ok(Plan::default())
        } else {
            Err(refusal("the manifests cannot be generated, and nothing was written", missing))
        }
    })
}

/// Decides about the webhooks that PROJECT lists and the source does not have.
type Missing<'a> = &'a mut dyn FnMut(Vec<Diagnostic>) -> anyhow::Result<Plan>;

fn write_from_source(
    tree: &mut WorkTree<'_>,
    project: &Project,
    options: &GenerateOptions,
    reading: Reading,
    missing: Missing<'_>,
) -> anyhow::Result<RbacMarkers> {
    match source_files(tree, project, options, reading, missing) {
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

/// The files that depend on the source.
struct SourceFiles {
    plan: Plan,
    /// The files of the CRDs in PROJECT.
    crds: Vec<ProjectPath>,
    markers: RbacMarkers,
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
fn source_files(
    tree: &mut WorkTree<'_>,
    project: &Project,
    options: &GenerateOptions,
    mut reading: Reading,
    missing: Missing<'_>,
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
    refuse_problems(&reading, tree)?;
    let mut operator = std::mem::take(&mut reading.operator);
    operator.registers_webhooks = webhooks::registers(project, tree)?;
    let sources = TreeSources::new(tree);
    let quote = |problems| reading.quote_source(&sources, problems);
    let manifests::GeneratedManifests { mut manifests, problems, warnings } =
        manifests::generate(&operator, &options.crd_options);
    let problems = [problems, roles::rivals(project, tree, &operator.rules)?].concat();
    if !problems.is_empty() {
        let problems = on_disk(quote(problems), tree);
        return Err(refusal(
            "the manifests cannot be generated, and nothing was written",
            problems,
        ));
    }
    agreement::require(tree.files_on_disk(), &operator)?;
    let mut plan = missing(webhooks::missing(project, &operator)?)?;
    if options.samples {
        let crds = samples::crds(manifests.iter().flat_map(|manifest| &manifest.objects));
        samples::warn(&mut plan, tree, &crds)?;
    }
    if operator.rules.is_empty() && roles::calls_for_role(tree)? {
        let namespace = project.namespaced.then(|| roles::namespace(project));
        manifests.push(manifests::without_rules(namespace.as_deref()));
    }
    roles::update(&mut plan, tree, project, &operator.rules)?;
    webhooks::update(&mut plan, tree, !operator.webhooks.is_empty())?;
    let astray = webhooks::astray(project, &operator, &manifests)?;
    let unlisted = webhooks::unlisted(project, &operator)?;
    let untrusted = webhooks::untrusted(project, &operator, tree)?;
    let unserved = unserved::warnings(project, &operator);
    let warned = [unlisted, astray, untrusted, unserved].concat();
    quote(warned).into_iter().for_each(|warning| plan.warn(warning));
    webhooks::warn_of_deadlocks(&mut plan, tree, project, &manifests)?;
    for manifest in &manifests {
        plan.generate(manifest.path.clone(), manifest.to_text(), &manifest.edit, MANIFESTS_COMMAND);
    }
    generated_crds::own(&mut plan, tree, project, &reading, &manifests)?;
    quote([operator.warnings.clone(), reading.unread.clone(), warnings].concat())
        .into_iter()
        .for_each(|warning| plan.warn(warning));
    let (types, unlisted) = match types_list::types(&operator, project) {
        Ok(types) => types,
        Err(error) => {
            // Files that cannot be written are reported first.
            tree.apply(plan)?;
            return Err(error);
        }
    };
    quote(unlisted).into_iter().for_each(|warning| plan.warn(warning));
    plan.extend(types_list::plan(types)?);
    let listed = project.resources.iter().filter(|resource| resource.api.is_some());
    let listed: BTreeSet<(String, String)> =
        listed.map(|resource| (resource.api_group(), resource.kind.to_string())).collect();
    let is_own = |version: &manifests::Version<'_>| {
        listed.contains(&(version.group().to_owned(), version.kind().to_owned()))
    };
    let own = manifests::versions(&operator).filter(is_own);
    let crds: BTreeSet<ProjectPath> =
        own.map(|kind| manifests::crd_path(kind.group(), kind.plural())).collect();
    let crds = crds.into_iter().collect();
    let markers = RbacMarkers { list: operator.rules, reading };
    Ok(Some(SourceFiles { plan, crds, markers }))
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

/// All problems in one error.
fn refuse_problems(reading: &Reading, tree: &WorkTree<'_>) -> anyhow::Result<()> {
    match &on_disk(reading.all_problems(), tree)[..] {
        [] => Ok(()),
        problems => {
            let error = refusal(
                &format!("{}, and nothing was written", unread(reading)),
                problems.iter().cloned(),
            );
            with_hints(error, reading.hint.iter().cloned())
        }
    }
}

/// Returns problems of files that the command changes, at their lines on disk: nothing is written where there are
/// problems.
fn on_disk(mut problems: Vec<Problem>, tree: &WorkTree<'_>) -> Vec<Problem> {
    let mut lines = BTreeMap::new();
    for Problem { place, .. } in &mut problems {
        let of_file = lines.entry(place.path.clone());
        let of_file = of_file.or_insert_with(|| tree.lines_before(place.path.as_str()));
        let before = of_file.as_ref().and_then(|lines| *lines.get(place.line.checked_sub(1)?)?);
        place.line = before.unwrap_or(place.line);
    }
    problems
}
