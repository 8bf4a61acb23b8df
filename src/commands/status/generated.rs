//! Generated files, judged by the plans of the commands that write them.

use std::path::Path;

use serde::Serialize;

use super::{State, reason};
use crate::{
    app::{
        cargo::Workspace,
        catalog_source::{self, Source},
        compile::Flags,
        crd_files,
        declared::{self, DeclaredManifests},
        derive,
        file_owner::FileOwners,
        given, rendered,
    },
    commands::{
        bundle::{self, Renewed},
        generate::{self, chart::Args as Chart},
    },
    disk::Root,
    manifests::{self, CrdOptions},
    plan::{Changes, WorkTree},
    project::{Operator, Project},
};
use cluster::Id;
use go_data::yaml::Value;
use model::{Image, ProjectPath, Tree};

/// Kinds that need the compiler stay unread.
const NOTHING_IS_COMPILED: Flags = Flags { compile: false, no_compile: true };

/// What generated files there are.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Part {
    pub what: &'static str,
    pub path: String,
    pub state: State,
    /// Why it is not current.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

pub struct Generated {
    /// What the source declares, as far as it can be read.
    pub operator: Operator,
    pub parts: Vec<Part>,
    pub objects: Objects,
}

/// The objects that a cluster would get.
pub struct Objects {
    pub all: anyhow::Result<Vec<Value>>,
    /// Whether the CRDs among them are those of the source.
    pub has_source: bool,
}

impl Part {
    fn new(what: &'static str, path: &str, state: State, reasons: Vec<String>) -> Self {
        Self { what, path: path.to_owned(), state, reasons }
    }

    fn missing(what: &'static str, path: &str, hint: &str) -> Self {
        Self::new(what, path, State::Missing, vec![hint.to_owned()])
    }

    fn unknown(what: &'static str, path: &str, reason: String) -> Self {
        Self::new(what, path, State::Unknown, vec![reason])
    }

    /// A part with these files that are not current.
    fn judged(what: &'static str, path: &str, reasons: Vec<String>) -> Self {
        let state = if reasons.is_empty() { State::Good } else { State::Bad };
        Self::new(what, path, state, reasons)
    }

    pub fn detail(&self) -> String {
        const MOST: usize = 3;
        let more = self.reasons.len().saturating_sub(MOST);
        let shown = self.reasons[..self.reasons.len() - more].join(", ");
        let more = if more == 0 { String::new() } else { format!(" and {more} more") };
        match self.state {
            State::Good => "current".to_owned(),
            State::Bad => format!("out of date: {shown}{more}"),
            State::Missing => format!("none: {shown}"),
            State::Unknown => format!("unknown: {shown}"),
        }
    }
}

pub fn of(root: &Root, project: &Project) -> anyhow::Result<Generated> {
    if project.in_place() {
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
        let why = unread(&operator, &error);
        let unknown = |it: (&'static str, &str)| Part::unknown(it.0, it.1, why.clone());
        let mut parts: Vec<Part> = SOURCE.into_iter().map(unknown).collect();
        parts.extend(["bundle", "chart"].map(|it| Part::unknown(it, it, why.clone())));
        parts.push(catalog(root));
        let all = kustomize::build(root, &ProjectPath::fixed(rendered::EVERYTHING), &[]);
        let objects = Objects { all, has_source: false };
        return Ok(Generated { operator, parts, objects });
    }
    let files = outdated(&tree.changes());
    let is_of = |path: &str, folder: &str| path.starts_with(&format!("{folder}/"));
    let part = |(what, folder): (&'static str, &'static str)| {
        let others = || SOURCE[..3].iter().map(|it| it.1);
        let is_in = |path: &str| match folder {
            "" => !others().any(|it| is_of(path, it)),
            folder => is_of(path, folder),
        };
        let own = files.iter().filter(|it| is_in(&it.0)).map(|it| it.1.clone());
        Part::judged(what, folder, own.collect())
    };
    let mut parts: Vec<Part> = SOURCE.into_iter().map(part).collect();
    if project.resources.iter().all(|it| it.api.is_none()) && parts[0].state == State::Good {
        parts[0] = Part::missing("CRDs", "config/crd", "`operator-rs create api` adds a kind");
    }
    if tree.read(&ProjectPath::fixed(manifests::WEBHOOKS))?.is_none() {
        let hint = "`operator-rs create webhook` adds one";
        parts[2] = Part::missing("webhooks", "config/webhook", hint);
    }
    parts.extend([bundle(&tree, project), chart(&tree, root), catalog(root)]);
    let all = kustomize::build(&tree, &ProjectPath::fixed(rendered::EVERYTHING), &[]);
    Ok(Generated { operator, parts, objects: Objects { all, has_source: true } })
}

/// The directories of CRDs that PROJECT names; all else is written by others.
fn in_place(root: &Root, project: &Project) -> anyhow::Result<Generated> {
    let workspace = Workspace::find(root.real(), None)?;
    let reading = declared::read_with_rules(&workspace);
    let operator = reading.operator.clone();
    let options = CrdOptions::default();
    let crds = declared::manifests(&workspace, reading, NOTHING_IS_COMPILED, &options);
    let mut parts = Vec::new();
    for folder in &project.inputs.crds {
        parts.push(match &crds {
            Err(error) => Part::unknown("CRDs", folder.as_str(), unread(&operator, error)),
            Ok(crds) => match outdated_crds(&workspace, root, folder, crds) {
                Ok(files) => Part::judged("CRDs", folder.as_str(), files),
                Err(error) => Part::unknown("CRDs", folder.as_str(), reason(&error)),
            },
        });
    }
    if let Some(chart) = &project.inputs.chart {
        let reason = "`operator-rs chart check` compares it with the source".to_owned();
        parts.push(Part::unknown("chart", chart.as_str(), reason));
    }
    parts.push(bundle(&WorkTree::new(root, false), project));
    let has_source = crds.is_ok();
    // A chart needs `helm`: of an operator that has no manifests besides, a cluster is asked for the CRDs alone.
    let given = match &project.inputs.manifests {
        Some(_) => given::Request::default().of(root, project, None),
        None => Ok(None),
    };
    let all = given.map(|it| {
        let mut all = it.map(|it| it.objects).unwrap_or_default();
        if let Ok(crds) = crds {
            all.retain(|it| !Id::of(it).is_crd());
            all.extend(crds.manifests.into_iter().flat_map(|it| it.objects));
        }
        all
    });
    Ok(Generated { operator, parts, objects: Objects { all, has_source } })
}

/// Why nothing is known of the files that depend on the source.
fn unread(operator: &Operator, error: &anyhow::Error) -> String {
    let mut unread = operator.kinds.iter().filter_map(|it| it.crd.as_ref().err()).peekable();
    let may_compile = unread.peek().is_some();
    match may_compile && unread.flatten().all(|it| !it.does_not_compile) {
        true => "the source cannot be read without compiling".to_owned(),
        false => reason(error),
    }
}

/// The files with CRDs in a directory that `manifests` would change.
fn outdated_crds(
    workspace: &Workspace,
    root: &Root,
    folder: &ProjectPath,
    crds: &DeclaredManifests,
) -> anyhow::Result<Vec<String>> {
    let output = Root::output(root.real(), Path::new(folder.as_str()))?;
    let mut tree = WorkTree::new(&output, false);
    let owners = FileOwners::of_workspace(workspace, &output)
        .with_more_kinds(crds.reason_for_more_kinds.clone());
    let folder_path = Path::new(folder.as_str());
    let mut plan = crd_files::plan(folder_path, &output, &crds.manifests, true, &owners)?;
    plan.show_in(folder.as_str());
    tree.apply(plan)?;
    Ok(outdated(&tree.changes()).into_iter().map(|it| it.1).collect())
}

/// The files that are not as they would be generated, each with what is wrong.
fn outdated(changes: &Changes) -> Vec<(String, String)> {
    let note = |is_edited: bool| if is_edited { " (needs `--force`)" } else { "" };
    let file = |(path, is_edited): (String, bool)| (path.clone(), path + note(is_edited));
    changes.files().map(file).collect()
}

/// The files that a command would change besides those that were changed before it.
fn outdated_since(before: &WorkTree<'_>, after: &WorkTree<'_>) -> Vec<String> {
    let before = outdated(&before.changes());
    let all = outdated(&after.changes()).into_iter();
    all.filter(|it| !before.contains(it)).map(|it| it.1).collect()
}

fn bundle(tree: &WorkTree<'_>, project: &Project) -> Part {
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
        Err(error) => Part::unknown("bundle", "bundle", reason(&error)),
    }
}

/// A chart does not record whether it was generated with `--image`, so either may make it current.
fn chart(tree: &WorkTree<'_>, root: &Root) -> Part {
    let judge = |image: Option<Image>| {
        let mut written = tree.clone();
        Chart::check(image).write(&mut written, root)?;
        anyhow::Ok(Part::judged("chart", "chart", outdated_since(tree, &written)))
    };
    let found = || {
        let chart = Chart::check(None);
        if !chart.is_there(root)? {
            let hint = "`operator-rs generate chart` generates it";
            return Ok(Part::missing("chart", "chart", hint));
        }
        let without = judge(None)?;
        match chart.image_there(root)?.filter(|_| without.state == State::Bad) {
            Some(image) => judge(Some(image)),
            None => Ok(without),
        }
    };
    found().unwrap_or_else(|error: anyhow::Error| Part::unknown("chart", "chart", reason(&error)))
}

/// A catalog is current if it has the bundle that there is.
fn catalog(root: &Root) -> Part {
    let judge = || {
        let folder = |it: &str| anyhow::Ok(!root.names(it)?.is_empty());
        if !folder("catalog")? {
            let hint = "`operator-rs generate catalog` creates it";
            return Ok(Part::missing("catalog", "catalog", hint));
        }
        let open = |it: &str| Source::folder(root.real(), Path::new(it));
        let catalog = catalog_source::whole(open("catalog")?.catalog(true)?, "catalog")?;
        let bundle = open("bundle")?.bundle()?.name;
        let has = catalog.bundles.iter().any(|it| it.blob.name == bundle);
        let reasons = if has { Vec::new() } else { vec![format!("it has no {bundle}")] };
        anyhow::Ok(Part::judged("catalog", "catalog", reasons))
    };
    judge().unwrap_or_else(|error| Part::unknown("catalog", "catalog", reason(&error)))
}
