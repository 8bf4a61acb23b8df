//! Generated files, judged by the plans of the commands that write them.

use std::path::Path;

use serde::Serialize;

use super::{PartState, short_reason};
use crate::{
    app::{
        cargo::Workspace,
        compile::CompileFlags,
        crds::{
            crd_files,
            declared::{self, DeclaredManifests},
            file_owner::FileOwners,
        },
        deployment::given,
        generation::derive,
        images::catalog_source::{self, CatalogSource},
    },
    commands::{
        bundle::{self, Renewed},
        generate::{self, chart::Args as Chart},
    },
    disk::Root,
    manifests::{self, CrdOptions},
    plan::{Changes, WorkTree},
    project::{DEFAULT_CONFIG, Operator, Project},
};
use cluster::Id;
use go_data::yaml::Value;
use model::{Image, ProjectPath, Tree};

/// Kinds that need the compiler stay unread.
const NOTHING_IS_COMPILED: CompileFlags = CompileFlags { compile: false, no_compile: true };

/// A part of the generated files, and its state.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub what: &'static str,
    pub path: String,
    pub state: PartState,
    /// Why it is not current.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

/// The state of what is generated.
pub struct GenerationStatus {
    /// The declarations of the source, as far as they can be read.
    pub operator: Operator,
    pub parts: Vec<Part>,
    pub objects: DesiredObjects,
}

/// The objects that a cluster would get.
pub struct DesiredObjects {
    pub all: anyhow::Result<Vec<Value>>,
    /// True if the CRDs among them are those of the source.
    pub has_source: bool,
}

impl Part {
    fn new(what: &'static str, path: &str, state: PartState, reasons: Vec<String>) -> Self {
        Self { what, path: path.to_owned(), state, reasons }
    }

    fn missing(what: &'static str, path: &str, hint: &str) -> Self {
        Self::new(what, path, PartState::Missing, vec![hint.to_owned()])
    }

    fn unknown(what: &'static str, path: &str, reason: String) -> Self {
        Self::new(what, path, PartState::Unknown, vec![reason])
    }

    /// A part with these files that are not current.
    fn judged(what: &'static str, path: &str, reasons: Vec<String>) -> Self {
        let state = if reasons.is_empty() { PartState::Good } else { PartState::Bad };
        Self::new(what, path, state, reasons)
    }

    pub fn format_detail(&self) -> String {
        const MOST: usize = 3;
        let more = self.reasons.len().saturating_sub(MOST);
        let shown = self.reasons[..self.reasons.len() - more].join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        match self.state {
            PartState::Good => "current".to_owned(),
            PartState::Bad => format!("out of date: {shown}{more}"),
            PartState::Missing => format!("none: {shown}"),
            PartState::Unknown => format!("unknown: {shown}"),
        }
    }
}

pub fn inspect_project(root: &Root, project: &Project) -> anyhow::Result<GenerationStatus> {
    if project.is_adopted() {
        return in_place(root, project);
    }
    let mut tree = WorkTree::new(root, false);
    let (operator, derived) = match generate::read_source(&mut tree, project) {
        Ok(reading) => {
            let operator = reading.operator.clone();
            let flags = NOTHING_IS_COMPILED;
            (operator, generate::without_bundle(&mut tree, project, flags, false, reading))
        }
        // The source is read as it is on disk.
        Err(error) => (derive::operator(root), Err(error)),
    };
    const SOURCE: [(&str, &str); 4] = [
        ("CRDs", "config/crd"),
        ("roles", "config/rbac"),
        ("webhooks", "config/webhook"),
        ("support code", ""),
    ];
    if let Err(error) = derived {
        let why = unread_reason(&operator, &error);
        let unknown = |entry: (&'static str, &str)| Part::unknown(entry.0, entry.1, why.clone());
        let mut parts: Vec<Part> = SOURCE.into_iter().map(unknown).collect();
        parts.extend(["bundle", "chart"].map(|name| Part::unknown(name, name, why.clone())));
        parts.push(catalog_part(root));
        let all = kustomize::build(root, &ProjectPath::fixed(DEFAULT_CONFIG), &[]);
        let objects = DesiredObjects { all, has_source: false };
        return Ok(GenerationStatus { operator, parts, objects });
    }
    let files = outdated_files(&tree.changes());
    let is_of = |path: &str, folder: &str| path.starts_with(&format!("{folder}/"));
    let part = |(what, folder): (&'static str, &'static str)| {
        let others = || SOURCE[..3].iter().map(|entry| entry.1);
        let is_in = |path: &str| match folder {
            "" => !others().any(|folder| is_of(path, folder)),
            folder => is_of(path, folder),
        };
        let own = files.iter().filter(|file| is_in(&file.0)).map(|file| file.1.clone());
        Part::judged(what, folder, own.collect())
    };
    let mut parts: Vec<Part> = SOURCE.into_iter().map(part).collect();
    if project.resources.iter().all(|resource| resource.api.is_none())
        && parts[0].state == PartState::Good
    {
        parts[0] = Part::missing("CRDs", "config/crd", "`operator-rs create api` adds a kind");
    }
    if tree.read_text(&ProjectPath::fixed(manifests::WEBHOOKS))?.is_none() {
        let hint = "`operator-rs create webhook` adds one";
        parts[2] = Part::missing("webhooks", "config/webhook", hint);
    }
    parts.extend([bundle_part(&tree, project), chart_part(&tree, root), catalog_part(root)]);
    let all = kustomize::build(&tree, &ProjectPath::fixed(DEFAULT_CONFIG), &[]);
    Ok(GenerationStatus { operator, parts, objects: DesiredObjects { all, has_source: true } })
}

/// The directories of CRDs that PROJECT names; all else is written by others.
fn in_place(root: &Root, project: &Project) -> anyhow::Result<GenerationStatus> {
    let workspace = Workspace::find(root.resolved_path(), None)?;
    let reading = declared::read_with_markers(&workspace);
    let operator = reading.operator.clone();
    let options = CrdOptions::default();
    let crds = declared::manifests(&workspace, reading, NOTHING_IS_COMPILED, &options);
    let mut parts = Vec::new();
    for folder in &project.inputs.crds {
        parts.push(match &crds {
            Err(error) => Part::unknown("CRDs", folder.as_str(), unread_reason(&operator, error)),
            Ok(crds) => match outdated_crds(&workspace, root, folder, crds) {
                Ok(files) => Part::judged("CRDs", folder.as_str(), files),
                Err(error) => Part::unknown("CRDs", folder.as_str(), short_reason(&error)),
            },
        });
    }
    if let Some(chart) = &project.inputs.chart {
        let reason = "`operator-rs chart check` compares it with the source".to_owned();
        parts.push(Part::unknown("chart", chart.as_str(), reason));
    }
    parts.push(bundle_part(&WorkTree::new(root, false), project));
    let has_source = crds.is_ok();
    // A chart needs `helm`: of an operator that has no manifests besides, a cluster is asked for the CRDs alone.
    let given = match &project.inputs.manifests {
        Some(_) => given::ManifestsRequest::default().of(root, project, None),
        None => Ok(None),
    };
    let all = given.map(|manifests| {
        let mut all = manifests.map(|manifests| manifests.objects).unwrap_or_default();
        if let Ok(crds) = crds {
            all.retain(|object| !Id::of(object).is_crd());
            all.extend(crds.manifests.into_iter().flat_map(|manifest| manifest.objects));
        }
        all
    });
    Ok(GenerationStatus { operator, parts, objects: DesiredObjects { all, has_source } })
}

/// Why nothing is known of the files that depend on the source.
fn unread_reason(operator: &Operator, error: &anyhow::Error) -> String {
    let mut unread =
        operator.kinds.iter().filter_map(|declared| declared.crd.as_ref().err()).peekable();
    let may_compile = unread.peek().is_some();
    if may_compile && unread.flatten().all(|error| !error.does_not_compile) {
        "the source cannot be read without compiling".to_owned()
    } else {
        short_reason(error)
    }
}

/// The files with CRDs in a directory that `manifests` would change.
fn outdated_crds(
    workspace: &Workspace,
    root: &Root,
    folder: &ProjectPath,
    crds: &DeclaredManifests,
) -> anyhow::Result<Vec<String>> {
    let output = Root::open_output(root.resolved_path(), Path::new(folder.as_str()))?;
    let mut tree = WorkTree::new(&output, false);
    let owners = FileOwners::of_workspace(workspace, &output)
        .with_more_kinds(crds.reason_for_more_kinds.clone());
    let folder_path = Path::new(folder.as_str());
    let mut plan = crd_files::plan(folder_path, &output, &crds.manifests, true, &owners)?;
    plan.display_relative_to(folder.as_str());
    tree.apply(plan)?;
    Ok(outdated_files(&tree.changes()).into_iter().map(|file| file.1).collect())
}

/// The files that are not as they would be generated, each with what is wrong.
fn outdated_files(changes: &Changes) -> Vec<(String, String)> {
    let note = |is_edited: bool| if is_edited { " (needs `--force`)" } else { "" };
    let file = |(path, is_edited): (String, bool)| (path.clone(), path + note(is_edited));
    changes.list_stale_files().map(file).collect()
}

/// The files that a command would change besides those that were changed before it.
fn outdated_since(before: &WorkTree<'_>, after: &WorkTree<'_>) -> Vec<String> {
    let before = outdated_files(&before.changes());
    let all = outdated_files(&after.changes()).into_iter();
    all.filter(|file| !before.contains(file)).map(|file| file.1).collect()
}

fn bundle_part(tree: &WorkTree<'_>, project: &Project) -> Part {
    let mut renewed = tree.clone();
    match bundle::renew(&mut renewed, project, &derive::RbacMarkers::default()) {
        Ok(Renewed::Whole) => Part::judged("bundle", "bundle", outdated_since(tree, &renewed)),
        Ok(Renewed::NotThere) => {
            Part::missing("bundle", "bundle", "`operator-rs bundle` generates it")
        }
        Ok(Renewed::OfInput) => {
            let reason = "`operator-rs bundle --input` generates it from rendered manifests";
            Part::unknown("bundle", "bundle", reason.to_owned())
        }
        Err(error) => Part::unknown("bundle", "bundle", short_reason(&error)),
    }
}

/// A chart does not record whether it was generated with `--image`, so either may make it current.
fn chart_part(tree: &WorkTree<'_>, root: &Root) -> Part {
    let judge = |image: Option<Image>| {
        let mut written = tree.clone();
        Chart::for_check(image).write_files(&mut written, root)?;
        anyhow::Ok(Part::judged("chart", "chart", outdated_since(tree, &written)))
    };
    let found = || {
        let chart = Chart::for_check(None);
        if !chart.is_generated(root)? {
            let hint = "`operator-rs generate chart` generates it";
            return Ok(Part::missing("chart", "chart", hint));
        }
        let without = judge(None)?;
        match chart.generated_image(root)?.filter(|_| without.state == PartState::Bad) {
            Some(image) => judge(Some(image)),
            None => Ok(without),
        }
    };
    found().unwrap_or_else(|error: anyhow::Error| {
        Part::unknown("chart", "chart", short_reason(&error))
    })
}

/// A catalog is current if it has the bundle that there is.
fn catalog_part(root: &Root) -> Part {
    let judge = || {
        let folder = |name: &str| anyhow::Ok(!root.list_names(name)?.is_empty());
        if !folder("catalog")? {
            let hint = "`operator-rs generate catalog` creates it";
            return Ok(Part::missing("catalog", "catalog", hint));
        }
        let open = |name: &str| CatalogSource::folder(root.resolved_path(), Path::new(name));
        let catalog = catalog_source::whole(open("catalog")?.catalog(true)?, "catalog")?;
        let bundle = open("bundle")?.bundle()?.name;
        let has = catalog.bundles.iter().any(|entry| entry.blob.name == bundle);
        let reasons = if has { Vec::new() } else { vec![format!("it has no {bundle}")] };
        anyhow::Ok(Part::judged("catalog", "catalog", reasons))
    };
    judge().unwrap_or_else(|error| Part::unknown("catalog", "catalog", short_reason(&error)))
}
