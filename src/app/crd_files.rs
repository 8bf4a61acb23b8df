//! The files of a directory that the CRDs are written to: those that have them, whatever their names are.

use std::{collections::BTreeSet, path::Path};

use super::{
    crd_comparison::{FieldDifference, differences, version_names},
    declared::BY,
    file_owner::{FileOwners, Owner},
};
use crate::{
    disk::Root,
    manifests::Manifest,
    plan::{self, Plan},
};
use anyhow::Context as _;
use cluster::Id;
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::{self, Value};
use model::{Found, ProjectPath, Tree as _, display_path};

/// A file directly in the directory that has CRDs which are written.
struct File {
    path: ProjectPath,
    objects: Vec<Value>,
    /// Whether this command has written it, even if it was edited since.
    is_ours: bool,
    is_unedited: bool,
    text: String,
    owner: Owner,
}

/// Writes each CRD to every file directly in the directory that has it, else to a file of its own. A file of somebody else
/// that has the same CRDs stays as it is; a different one is replaced only if edits may be. If the CRDs are all of the
/// project, generated files of deleted kinds are removed.
pub fn plan(
    folder: &Path,
    root: &Root,
    manifests: &[Manifest],
    is_whole: bool,
    owners: &FileOwners,
) -> anyhow::Result<Plan> {
    let files = files(folder, root, manifests, owners)?;
    let list = kustomization(root)?;
    let mut writing = Writing {
        folder,
        manifests,
        is_whole,
        owners,
        plan: Plan::default(),
        written: BTreeSet::new(),
        problems: Vec::new(),
    };
    for file in &files {
        if writing.keep(file) {
            continue;
        }
        if let Some((list, _)) = list.as_ref().filter(|it| it.1.contains(file.path.as_str())) {
            let message =
                format!("lists {}, which is deleted: remove it from `resources`", file.path);
            writing.warn(list, message);
        }
    }
    for it in manifests {
        if writing.written.contains(&it.path) {
            continue;
        }
        let path: ProjectPath = it.path.name().parse()?;
        let is_new = root.look(&path)? == Found::Nothing;
        if let Some((list, _)) = list.as_ref().filter(|it| is_new && !it.1.contains(path.as_str()))
        {
            writing.warn(list, format!("does not list {path}: add it to `resources`"));
        }
        writing.create(path, it, &files);
    }
    writing.into_plan()
}

/// CRDs on their way into a directory.
struct Writing<'a> {
    folder: &'a Path,
    manifests: &'a [Manifest],
    is_whole: bool,
    owners: &'a FileOwners,
    plan: Plan,
    /// Whose CRDs are in a file that exists.
    written: BTreeSet<&'a ProjectPath>,
    problems: Vec<Diagnostic>,
}

impl<'a> Writing<'a> {
    /// Writes a file that has CRDs of the project, if it has to change. Returns whether it stays, changed or not.
    fn keep(&mut self, file: &File) -> bool {
        let sources: Vec<Option<&'a Manifest>> =
            file.objects.iter().map(|it| declaring(it, self.manifests)).collect();
        let others =
            || file.objects.iter().zip(&sources).filter(|it| it.1.is_none()).map(|it| it.0);
        let is_complete = self.is_whole && self.owners.knows_all_kinds();
        if is_complete && !file.is_ours {
            for it in others().filter(|it| is_left_over(it, self.manifests)) {
                let message = format!("{} is left over: no kind declares it", Id::of(it).name);
                self.warn(&file.path, message);
            }
        }
        let own = file.objects.iter().zip(&sources).filter_map(|(old, it)| Some((old, (*it)?)));
        self.written.extend(own.clone().map(|it| &it.1.path));
        let mut own =
            own.flat_map(|(old, it)| it.objects.iter().map(move |new| (old, new, it))).peekable();
        if own.peek().is_none() {
            return !(self.is_whole && file.is_ours && self.is_removed(file));
        }
        let why = own.clone().find_map(|(old, new, _)| difference(old, new));
        let may_replace = self.owners.may_replace(&file.owner);
        if why.is_none() && !(file.is_ours && may_replace) {
            return true;
        }
        if let (Owner::Another(name), Some(why)) = (&file.owner, &why)
            && !may_replace
        {
            let message = format!("was generated for the package `{name}`, and differs: {why}");
            self.refuse(&file.path, message);
            return true;
        }
        // An edit of a generated file is no object.
        let is_edit = |it: &&Value| file.is_ours && Id::of(it).kind.is_empty();
        let is_own = file.owner == Owner::Ours && file.is_unedited;
        let is_gone = |it: &&Value| is_complete && is_own && Id::of(it).is_crd();
        let lost = others().find(|it| !is_edit(it) && !is_gone(it)).map(|it| {
            let Id { kind, name, .. } = Id::of(it);
            format!("{kind} {name}")
        });
        let lost_version = |old, new| {
            let names = |crd| version_names(std::slice::from_ref(crd));
            (&names(old) - &names(new)).pop_first()
        };
        let version = || own.clone().find_map(|(old, new, _)| lost_version(old, new));
        let version = || Some(format!("version {}", version().filter(|_| !is_complete)?));
        if let Some(lost) = lost.or_else(version) {
            self.refuse(&file.path, format!("has the {lost} as well, which would be lost"));
        } else if file.path.extension() == "json" {
            self.refuse(&file.path, "is JSON, and CRDs are written as YAML".to_owned());
        }
        let text = own.clone().map(|it| it.2.to_text()).collect();
        let edits: BTreeSet<&str> = own.map(|it| it.2.edit.as_str()).collect();
        let edits: Vec<&str> = edits.into_iter().collect();
        self.plan.generate(file.path.clone(), text, &edits.join(", "), BY);
        self.plan.set_owner(&file.path, self.owners.name(&file.path, Some(&file.text)));
        self.plan.take_over(&file.path, why);
        true
    }

    /// Deletes a generated file whose kinds are no longer declared if it is provably of this workspace and unedited.
    fn is_removed(&mut self, file: &File) -> bool {
        let is_declared = |crd| is_left_over(crd, self.manifests);
        let reason =
            match self.owners.reason_to_stay(&file.owner, file.objects.iter().all(is_declared)) {
                None if file.is_unedited => {
                    self.plan.delete(file.path.clone(), vec![file.text.clone()]);
                    return true;
                }
                None => plan::EDITED.to_owned(),
                Some(reason) => reason,
            };
        if !reason.is_empty() {
            self.plan.keep(file.path.clone(), &reason);
        }
        false
    }

    /// Writes a CRD that no file has.
    fn create(&mut self, path: ProjectPath, manifest: &Manifest, files: &[File]) {
        let there =
            files.iter().find(|file| file.path == path).and_then(|file| file.objects.first());
        if let Some(there) = there {
            let there = Id::of(there).name;
            let new = Id::of(&manifest.objects[0]).name;
            let message = format!("has {there}, and is where {new} would be written: rename it");
            self.refuse(&path, message);
        }
        self.plan.generate(path.clone(), manifest.to_text(), &manifest.edit, BY);
        self.plan.set_owner(&path, self.owners.name(&path, None));
    }

    fn warn(&mut self, path: &ProjectPath, message: String) {
        self.plan.warn(Diagnostic::in_file(self.shown(path), message));
    }

    fn refuse(&mut self, path: &ProjectPath, message: String) {
        self.problems.push(Diagnostic::in_file(self.shown(path), message));
    }

    fn shown(&self, path: &ProjectPath) -> String {
        display_path(&self.folder.join(path.as_str()))
    }

    fn into_plan(self) -> anyhow::Result<Plan> {
        if !self.problems.is_empty() {
            let headline =
                "CRDs are out of date in files that cannot be replaced, and nothing was written";
            let error = Diagnostics { headline: headline.to_owned(), list: self.problems };
            return Err(anyhow::Error::from(error)).hint(
                "give the CRDs YAML files of their own, or write into another directory: `operator-rs generate crds --output-dir DIR`",
            );
        }
        Ok(self.plan)
    }
}

/// Returns whether a text has the CRDs of all manifests as API servers hold them, and nothing else.
pub fn has_all(text: &str, manifests: &[Manifest]) -> bool {
    let documents = yaml::documents(text, yaml::Dialect::Kubernetes).unwrap_or_default();
    let found: Vec<Value> = documents.into_iter().flat_map(objects).collect();
    let is_current = |declared: &Value| {
        let mut found = found.iter().filter(|found| Id::of(found) == Id::of(declared));
        found.next().is_some_and(|found| difference(found, declared).is_none())
            && found.next().is_none()
    };
    let mut declared = manifests.iter().flat_map(|manifest| &manifest.objects);
    declared.clone().count() == found.len() && declared.all(is_current)
}

/// Fails if a file that is to get all CRDs has those of another package.
pub fn require_own(
    shown: &Path,
    path: &ProjectPath,
    text: &str,
    manifests: &[Manifest],
    owners: &FileOwners,
) -> anyhow::Result<()> {
    let owner = owners.owner(path, text);
    if matches!(owner, Owner::Ours) {
        return Ok(());
    }
    let Ok(documents) = yaml::documents(text, yaml::Dialect::Kubernetes) else { return Ok(()) };
    let crds = documents.into_iter().flat_map(objects).filter(|object| Id::of(object).is_crd());
    let Some(lost) = crds.into_iter().find(|crd| declaring(crd, manifests).is_none()) else {
        return Ok(());
    };
    let lost = Id::of(&lost).name;
    let problem = match owner {
        Owner::Another(name) => format!("was generated for the package `{name}`, and has {lost}"),
        _ => format!("has {lost}, which no kind here declares"),
    };
    let headline = "the file has CRDs of others, and nothing was written".to_owned();
    let list = vec![Diagnostic::in_file(display_path(&shown), problem)];
    Err(anyhow::Error::from(Diagnostics { headline, list })).hint(
        "write into another file, or into a directory that several projects may share: `--output-dir DIR`; or delete the \
         file if nobody needs it",
    )
}

/// The manifest with the CRD of this name.
fn declaring<'a>(crd: &Value, manifests: &'a [Manifest]) -> Option<&'a Manifest> {
    let id = Id::of(crd);
    manifests
        .iter()
        .filter(|_| id.is_crd())
        .find(|it| it.objects.iter().any(|it| Id::of(it).name == id.name))
}

/// The files directly in a directory that have CRDs. One that is no YAML, as a template of a chart is not, has none.
fn files(
    folder: &Path,
    root: &Root,
    manifests: &[Manifest],
    owners: &FileOwners,
) -> anyhow::Result<Vec<File>> {
    let mut res = Vec::new();
    for name in root.names("")? {
        let Ok(path) = name.parse::<ProjectPath>() else { continue };
        if !["yaml", "yml", "json"].contains(&path.extension()) {
            continue;
        }
        let shown = display_path(&folder.join(&name));
        let text = root.read(&path).with_context(|| format!("cannot read {shown}"))?;
        let Some(text) = text else { continue };
        let (is_ours, is_unedited) =
            (plan::is_generated_by(&path, &text, BY), plan::is_ours(&path, &text, BY));
        let is_default = manifests.iter().any(|it| it.path.name() == path.as_str());
        // Which CRDs are in it is unknown, and these would be written to files of their own as well.
        let mut names = manifests.iter().flat_map(|it| &it.objects).map(|it| Id::of(it).name);
        match yaml::documents(&text, yaml::Dialect::Kubernetes) {
            Ok(documents) => {
                let objects: Vec<Value> = documents.into_iter().flat_map(objects).collect();
                if is_ours || objects.iter().any(|it| Id::of(it).is_crd()) {
                    let owner = owners.owner(&path, &text);
                    res.push(File { path, objects, is_ours, is_unedited, text, owner });
                }
            }
            Err(_) if is_ours && !is_default => {
                return Err(anyhow::format_err!(
                    "cannot read {shown}, which operator-rs has generated"
                ))
                .hint("restore it from version control, or delete it");
            }
            Err(error) if !is_ours && names.any(|it| text.contains(&it)) => {
                return Err(error.context(format!("cannot read {shown}, which may have a CRD")))
                    .hint("write CRDs into a directory without templates, or correct the file");
            }
            Err(_) => {}
        }
    }
    Ok(res)
}

/// The kustomization of the directory, with its text.
fn kustomization(root: &Root) -> anyhow::Result<Option<(ProjectPath, String)>> {
    for name in ["kustomization.yaml", "kustomization.yml", "Kustomization"] {
        let path = ProjectPath::fixed(name);
        if let Some(text) = root.read(&path)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

/// The objects of a document: itself, or those in a list.
pub fn objects(document: Value) -> Vec<Value> {
    match document {
        Value::Array(all) => all,
        Value::Object(mut list) if list.get("kind").is_some_and(|it| it == "List") => {
            match list.remove("items") {
                Some(Value::Array(all)) => all,
                _ => Vec::new(),
            }
        }
        one => vec![one],
    }
}

/// Whether it is a CRD in a group of the declared ones.
fn is_left_over(crd: &Value, declared: &[Manifest]) -> bool {
    let mut groups = declared.iter().flat_map(|it| &it.objects).map(|it| &it["spec"]["group"]);
    Id::of(crd).is_crd() && groups.any(|it| *it == crd["spec"]["group"])
}

/// What differs, as API servers would hold both.
fn difference(old: &Value, new: &Value) -> Option<String> {
    let found = differences(old, new);
    let first = found.first()?;
    let FieldDifference { path, in_file, declared } = first;
    let more = match found.len() - 1 {
        0 => String::new(),
        more => format!(", and {}", diagnostics::count(more, "more difference")),
    };
    Some(format!("at `{path}`, it has {in_file}, and the source declares {declared}{more}"))
}
