//! The CRDs that the source of any cargo workspace declares.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use crate::app::{
    cargo::{
        Workspace,
        feature_flags::{self, FeatureFlags},
        tree_sources::TreeSources,
    },
    compile::{self, Compile},
    output::refusal::{refusal, unread},
};
use crate::{
    disk::Root,
    manifests::{self, CrdOptions, Manifest},
    project::{DeclaredKind, Operator, Project},
    source::{self, Options, Reading},
    terminal,
};
use crd::reference::{Kinds, TypeNames};
use diagnostics::{Diagnostic, Hint as _, with_hints};
use go_data::yaml::Value;
use model::Tree;

/// The command in the first line of a file with one CRD.
pub const BY: &str = "generate crds";

/// Returns the CRDs of all members of a workspace; of an adopted project, those of the kinds that it declares. One that
/// cannot be read refuses all. Commands without flags for compiling have none.
pub fn crds(
    workspace: &Workspace,
    flags: Option<compile::CompileFlags>,
) -> anyhow::Result<Vec<Value>> {
    let options = Options::default();
    let read = read_crds(workspace, flags, &options, &CrdOptions::default())?;
    Ok(read.manifests.into_iter().flat_map(|manifest| manifest.objects).collect())
}

/// CRDs as files.
pub struct DeclaredManifests {
    pub manifests: Vec<Manifest>,
    /// Why a kind that was not read may be declared all the same.
    pub reason_for_more_kinds: Option<String>,
}

/// Reads the kinds of a workspace, and its RBAC and webhook markers.
pub fn read_with_markers(workspace: &Workspace) -> Reading {
    source::read_workspace_with_rules(&TreeSources::new(&workspace.root), &Options::default())
}

/// The CRDs of what [`read_with_markers`] gave, as files; their names are those of `generate crds`. Warns of comments
/// that ask for rights.
pub fn manifests(
    workspace: &Workspace,
    reading: Reading,
    flags: compile::CompileFlags,
    options: &CrdOptions,
) -> anyhow::Result<DeclaredManifests> {
    let ReadCrds { manifests, operator, reason_for_more_kinds } =
        crds_of(workspace, reading, Some(flags), options)?;
    if !operator.rules.is_empty() {
        terminal::warn(Diagnostic::from(
            "the source has `+kubebuilder:rbac` comments, but the role of an adopted operator is not generated from them",
        ).with_hint("`operator-rs chart check` compares them with the roles of a chart"));
    }
    Ok(DeclaredManifests { manifests, reason_for_more_kinds })
}

/// The same, with the names of Rust types, and why a kind that was not read may be declared all the same.
pub fn kinds(
    workspace: &Workspace,
    flags: compile::CompileFlags,
    features: &FeatureFlags,
) -> anyhow::Result<(Kinds, Option<String>)> {
    let (options, crd_options) = (features.options(), CrdOptions::default());
    let read = read_crds(workspace, Some(flags), &options, &crd_options)?;
    let crds = read.manifests.into_iter().flat_map(|manifest| manifest.objects).collect();
    let kinds = Kinds { crds, types: type_names(&read.operator.kinds), samples: Vec::new() };
    Ok((kinds, read.reason_for_more_kinds))
}

/// `KIND.GROUP` of each kind, once.
pub fn names<'a>(kinds: impl IntoIterator<Item = &'a DeclaredKind>) -> String {
    let name = |declared: &DeclaredKind| {
        let kind = declared.kind.as_ref().unwrap_or(&declared.name);
        format!("{kind}.{}", declared.group.as_deref().unwrap_or("?"))
    };
    let names: BTreeSet<String> = kinds.into_iter().map(name).collect();
    names.into_iter().collect::<Vec<_>>().join(", ")
}

/// Leaves out the kinds of groups that PROJECT does not list, and names them.
pub fn leave_out_others(reading: &mut Reading, root: &Root) -> anyhow::Result<()> {
    let Some(project) = Project::find_in(root)? else { return Ok(()) };
    let kinds = std::mem::take(&mut reading.operator.kinds);
    let (own, others): (_, Vec<_>) = kinds.into_iter().partition(|kind| project.owns_kind(kind));
    reading.operator.kinds = own;
    require_own_group(&project, &reading.operator.kinds, &others)?;
    if !others.is_empty() {
        let names = names(&others);
        terminal::print_advice(&format!(
            "left out, as `resources` of PROJECT lists no kind of these groups: {names}\n"
        ));
    }
    Ok(())
}

/// Refuses a kind that PROJECT lists in one group and the source declares in another one only: it would be left out.
fn require_own_group(
    project: &Project,
    own: &[DeclaredKind],
    others: &[DeclaredKind],
) -> anyhow::Result<()> {
    for listed in project.resources.iter().filter(|resource| resource.api.is_some()) {
        let listed_kind = listed.kind.to_string();
        let is_it = |kind: &&DeclaredKind| kind.kind.as_deref() == Some(listed_kind.as_str());
        let renamed = others.iter().find(is_it).filter(|_| !own.iter().any(|kind| is_it(&kind)));
        if let Some(group) = renamed.and_then(|kind| kind.group.as_deref()) {
            return Err(anyhow::format_err!(
                "PROJECT lists {} of {}, and the source declares it in the group {group}",
                listed.kind,
                listed.api_group()
            ))
            .hint("correct `group` and `domain` under `resources` of PROJECT, or the group of the type");
        }
    }
    Ok(())
}

/// Returns the kinds that the source declares. Where it may declare more than can be read, the code is compiled, and
/// `why` says what that is for if it is not.
pub fn reading(
    tree: &impl Tree,
    flags: compile::CompileFlags,
    features: &FeatureFlags,
    why: &str,
) -> anyhow::Result<Reading> {
    let sources = TreeSources::new(tree);
    let mut reading = source::read_workspace(&sources, &features.options());
    feature_flags::require_known(&reading)?;
    if !reading.unexplored.is_empty() {
        let compile = Compile {
            top: tree.root_dir().unwrap_or(Path::new(".")),
            flags: Some(flags),
            all: false,
            modules: &[],
            keeps_going: false,
            is_on_disk: true,
        };
        compile::complete(&compile, &mut reading)?;
    }
    if reading.unexplored.is_empty() {
        return Ok(reading);
    }
    let problems = reading.quote_source(&sources, reading.unexplored.clone());
    with_hints(refusal(why, problems), reading.hint.iter().cloned())
}

/// The CRDs of a workspace, and what else was read.
struct ReadCrds {
    manifests: Vec<Manifest>,
    operator: Operator,
    reason_for_more_kinds: Option<String>,
}

fn read_crds(
    workspace: &Workspace,
    flags: Option<compile::CompileFlags>,
    options: &Options,
    crd_options: &CrdOptions,
) -> anyhow::Result<ReadCrds> {
    let reading = source::read_workspace(&TreeSources::new(&workspace.root), options);
    feature_flags::require_known(&reading)?;
    crds_of(workspace, reading, flags, crd_options)
}

fn crds_of(
    workspace: &Workspace,
    mut reading: Reading,
    flags: Option<compile::CompileFlags>,
    crd_options: &CrdOptions,
) -> anyhow::Result<ReadCrds> {
    let sources = TreeSources::new(&workspace.root);
    leave_out_others(&mut reading, &workspace.root)?;
    let compile = Compile {
        top: workspace.root.resolved_path(),
        flags,
        all: false,
        modules: &[],
        keeps_going: false,
        is_on_disk: true,
    };
    compile::complete(&compile, &mut reading)?;
    let operator = reading.whole_kinds();
    let generated = manifests::crds(&operator, crd_options);
    let found = reading.quote_source(&sources, generated.problems);
    let problems = [reading.all_problems(), found].concat();
    if !problems.is_empty() {
        return with_hints(refusal(&unread(&reading), problems), reading.hint.iter().cloned());
    }
    let warnings = [operator.warnings.clone(), generated.warnings].concat();
    terminal::warn_all(reading.quote_source(&sources, warnings));
    let reason_for_more_kinds = reading.reason_for_more_kinds();
    Ok(ReadCrds { manifests: generated.manifests, operator, reason_for_more_kinds })
}

fn type_names(kinds: &[DeclaredKind]) -> BTreeMap<(String, String), TypeNames> {
    let of_kind = |kind: &DeclaredKind| {
        let crd = kind.crd.as_ref().ok()?;
        let name = crd.metadata.name.clone()?;
        let version = crd.spec.versions.first()?.name.clone();
        Some(((name, version), kind.field_types.clone()))
    };
    kinds.iter().filter_map(of_kind).collect()
}
