//! The files of a directory that the CRDs are written to: those that have them, whatever their names are.

use std::{collections::BTreeSet, path::Path};

use super::{
    crd_comparison::{FieldDifference, differences, version_names},
    declared::BY,
    file_owner::{FileOwner, FileOwners},
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
use model::{FileContent, ProjectPath, Tree as _, display_path};

/// A file directly in the directory that has CRDs which are written.
struct CrdFile {
    path: ProjectPath,
    objects: Vec<Value>,
    /// True if this command has written it, even if it was edited since.
    is_ours: bool,
    is_unedited: bool,
    text: String,
    owner: FileOwner,
}

/// Writes each CRD to every file directly in the directory that has it, else to a new file. A file of another owner
/// that has the same CRDs stays as it is; a different one is replaced only if edits may be. If the CRDs are all of the
/// project, generated files of deleted kinds are removed.
pub fn plan(
    folder: &Path,
    root: &Root,
    manifests: &[Manifest],
    is_whole: bool,
    owners: &FileOwners,
) -> anyhow::Result<Plan> {
    let files = list_files(folder, root, manifests, owners)?;
    let list = find_kustomization(root)?;
    let mut writing = CrdWriter {
        folder,
        manifests,
        is_whole,
        owners,
        plan: Plan::default(),
        written: BTreeSet::new(),
        problems: Vec::new(),
    };
    for file in &files {
        if writing.write_existing(file) {
            continue;
        }
        if let Some((list, _)) = list.as_ref().filter(|pair| pair.1.contains(file.path.as_str())) {
            let message =
                format!("lists {}, which is deleted: remove it from `resources`", file.path);
            writing.add_warning(list, message);
        }
    }
    for it in manifests {
        if writing.written.contains(&it.path) {
            continue;
        }
        let path: ProjectPath = it.path.name().parse()?;
        let is_new = root.read_content(&path)? == FileContent::Nothing;
        if let Some((list, _)) =
            list.as_ref().filter(|pair| is_new && !pair.1.contains(path.as_str()))
        {
            writing.add_warning(list, format!("does not list {path}: add it to `resources`"));
        }
        writing.write_new(path, it, &files);
    }
    writing.into_plan()
}

/// CRDs on their way into a directory.
struct CrdWriter<'a> {
    folder: &'a Path,
    manifests: &'a [Manifest],
    is_whole: bool,
    owners: &'a FileOwners,
    plan: Plan,
    /// Names the workspace that wrote the files that already contain the CRDs.
    written: BTreeSet<&'a ProjectPath>,
    problems: Vec<Diagnostic>,
}

impl<'a> CrdWriter<'a> {
    /// Writes a file that has CRDs of the project, if it has to change. Returns whether it stays, changed or not.
    fn write_existing(&mut self, file: &CrdFile) -> bool {
        let sources: Vec<Option<&'a Manifest>> =
            file.objects.iter().map(|object| declaring_manifest(object, self.manifests)).collect();
        let others =
            || file.objects.iter().zip(&sources).filter(|pair| pair.1.is_none()).map(|pair| pair.0);
        let is_complete = self.is_whole && self.owners.knows_all_kinds();
        if is_complete && !file.is_ours {
            for it in others().filter(|other| is_left_over(other, self.manifests)) {
                let message = format!("{} is left over: no kind declares it", Id::of(it).name);
                self.add_warning(&file.path, message);
            }
        }
        let own =
            file.objects.iter().zip(&sources).filter_map(|(old, object)| Some((old, (*object)?)));
        self.written.extend(own.clone().map(|pair| &pair.1.path));
        let mut own = own
            .flat_map(|(old, manifest)| {
                manifest.objects.iter().map(move |new| (old, new, manifest))
            })
            .peekable();
        if own.peek().is_none() {
            return !(self.is_whole && file.is_ours && self.is_removed(file));
        }
        let why = own.clone().find_map(|(old, new, _)| describe_difference(old, new));
        let may_replace = self.owners.may_replace(&file.owner);
        if why.is_none() && !(file.is_ours && may_replace) {
            return true;
        }
        if let (FileOwner::Another(name), Some(why)) = (&file.owner, &why)
            && !may_replace
        {
            let message = format!("was generated for the package `{name}`, and differs: {why}");
            self.add_refusal(&file.path, message);
            return true;
        }
        // An edit of a generated file is no object.
        let is_edit = |object: &&Value| file.is_ours && Id::of(object).kind.is_empty();
        let is_own = file.owner == FileOwner::Ours && file.is_unedited;
        let is_gone = |object: &&Value| is_complete && is_own && Id::of(object).is_crd();
        let lost = others().find(|other| !is_edit(other) && !is_gone(other)).map(|object| {
            let Id { kind, name, .. } = Id::of(object);
            format!("{kind} {name}")
        });
        let lost_version = |old, new| {
            let names = |crd| version_names(std::slice::from_ref(crd));
            (&names(old) - &names(new)).pop_first()
        };
        let version = || own.clone().find_map(|(old, new, _)| lost_version(old, new));
        let version = || Some(format!("version {}", version().filter(|_| !is_complete)?));
        if let Some(lost) = lost.or_else(version) {
            self.add_refusal(&file.path, format!("has the {lost} as well, which would be lost"));
        } else if file.path.extension() == "json" {
            self.add_refusal(&file.path, "is JSON, and CRDs are written as YAML".to_owned());
        }
        let text = own.clone().map(|file| file.2.to_text()).collect();
        let edits: BTreeSet<&str> = own.map(|file| file.2.edit.as_str()).collect();
        let edits: Vec<&str> = edits.into_iter().collect();
        self.plan.generate(file.path.clone(), text, &edits.join(", "), BY);
        self.plan.set_owner(&file.path, self.owners.name(&file.path, Some(&file.text)));
        self.plan.allow_takeover(&file.path, why);
        true
    }

    /// Deletes a generated file whose kinds are no longer declared if it is provably of this workspace and unedited.
    fn is_removed(&mut self, file: &CrdFile) -> bool {
        let is_declared = |crd| is_left_over(crd, self.manifests);
        let reason =
            match self.owners.reason_to_stay(&file.owner, file.objects.iter().all(is_declared)) {
                None if file.is_unedited => {
                    self.plan.delete_file(file.path.clone(), vec![file.text.clone()]);
                    return true;
                }
                None => plan::EDITED.to_owned(),
                Some(reason) => reason,
            };
        if !reason.is_empty() {
            self.plan.keep_file(file.path.clone(), &reason);
        }
        false
    }

    /// Writes a CRD that no file has.
    fn write_new(&mut self, path: ProjectPath, manifest: &Manifest, files: &[CrdFile]) {
        let there =
            files.iter().find(|file| file.path == path).and_then(|file| file.objects.first());
        if let Some(there) = there {
            let there = Id::of(there).name;
            let new = Id::of(&manifest.objects[0]).name;
            let message = format!("has {there}, and is where {new} would be written: rename it");
            self.add_refusal(&path, message);
        }
        self.plan.generate(path.clone(), manifest.to_text(), &manifest.edit, BY);
        self.plan.set_owner(&path, self.owners.name(&path, None));
    }

    fn add_warning(&mut self, path: &ProjectPath, message: String) {
        self.plan.warn(Diagnostic::in_file(self.shown_path(path), message));
    }

    fn add_refusal(&mut self, path: &ProjectPath, message: String) {
        self.problems.push(Diagnostic::in_file(self.shown_path(path), message));
    }

    fn shown_path(&self, path: &ProjectPath) -> String {
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
    let documents = yaml::parse_documents(text, yaml::Dialect::Kubernetes).unwrap_or_default();
    let found: Vec<Value> = documents.into_iter().flat_map(objects).collect();
    let is_current = |declared: &Value| {
        let mut found = found.iter().filter(|found| Id::of(found) == Id::of(declared));
        found.next().is_some_and(|found| describe_difference(found, declared).is_none())
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
    if matches!(owner, FileOwner::Ours) {
        return Ok(());
    }
    let Ok(documents) = yaml::parse_documents(text, yaml::Dialect::Kubernetes) else {
        return Ok(());
    };
    let crds = documents.into_iter().flat_map(objects).filter(|object| Id::of(object).is_crd());
    let Some(lost) = crds.into_iter().find(|crd| declaring_manifest(crd, manifests).is_none())
    else {
        return Ok(());
    };
    let lost = Id::of(&lost).name;
    let problem = match owner {
        FileOwner::Another(name) => {
            format!("was generated for the package `{name}`, and has {lost}")
        }
        _ => format!("has {lost}, which no kind here declares"),
    };
    let headline = "the file has CRDs of others, and nothing was written".to_owned();
    let list = vec![Diagnostic::in_file(display_path(&shown), problem)];
    Err(anyhow::Error::from(Diagnostics { headline, list })).hint(
        "write into another file, or into a directory that several projects may share: `--output-dir DIR`; or delete the \
         file if nobody needs it",
    )
}

/// Returns the manifest with the CRD of this name.
fn declaring_manifest<'a>(crd: &Value, manifests: &'a [Manifest]) -> Option<&'a Manifest> {
    let id = Id::of(crd);
    manifests
        .iter()
        .filter(|_| id.is_crd())
        .find(|manifest| manifest.objects.iter().any(|object| Id::of(object).name == id.name))
}

/// Returns the files directly in a directory that have CRDs. One that is no YAML, as a template of a chart is not, has
/// none.
fn list_files(
    folder: &Path,
    root: &Root,
    manifests: &[Manifest],
    owners: &FileOwners,
) -> anyhow::Result<Vec<CrdFile>> {
    let mut files = Vec::new();
    for name in root.list_names("")? {
        let Ok(path) = name.parse::<ProjectPath>() else { continue };
        if !["yaml", "yml", "json"].contains(&path.extension()) {
            continue;
        }
        let shown = display_path(&folder.join(&name));
        let text = root.read_text(&path).with_context(|| format!("cannot read {shown}"))?;
        let Some(text) = text else { continue };
        let (is_ours, is_unedited) =
            (plan::is_generated_by(&path, &text, BY), plan::is_unchanged_output(&path, &text, BY));
        let is_default = manifests.iter().any(|manifest| manifest.path.name() == path.as_str());
        // Its CRDs are unknown, so that these would be written to new files as well.
        let mut names = manifests
            .iter()
            .flat_map(|manifest| &manifest.objects)
            .map(|object| Id::of(object).name);
        match yaml::parse_documents(&text, yaml::Dialect::Kubernetes) {
            Ok(documents) => {
                let objects: Vec<Value> = documents.into_iter().flat_map(objects).collect();
                if is_ours || objects.iter().any(|object| Id::of(object).is_crd()) {
                    let owner = owners.owner(&path, &text);
                    files.push(CrdFile { path, objects, is_ours, is_unedited, text, owner });
                }
            }
            Err(_) if is_ours && !is_default => {
                return Err(anyhow::format_err!(
                    "cannot read {shown}, which operator-rs has generated"
                ))
                .hint("restore it from version control, or delete it");
            }
            Err(error) if !is_ours && names.any(|name| text.contains(&name)) => {
                return Err(error.context(format!("cannot read {shown}, which may have a CRD")))
                    .hint("write CRDs into a directory without templates, or correct the file");
            }
            Err(_) => {}
        }
    }
    Ok(files)
}

/// Returns the kustomization of the directory, with its text.
fn find_kustomization(root: &Root) -> anyhow::Result<Option<(ProjectPath, String)>> {
    for name in ["kustomization.yaml", "kustomization.yml", "Kustomization"] {
        let path = ProjectPath::fixed(name);
        if let Some(text) = root.read_text(&path)? {
            return Ok(Some((path, text)));
        }
    }
    Ok(None)
}

/// Returns the objects of a document: itself, or those in a list.
pub fn objects(document: Value) -> Vec<Value> {
    match document {
        Value::Array(all) => all,
        Value::Object(mut list) if list.get("kind").is_some_and(|value| value == "List") => {
            match list.remove("items") {
                Some(Value::Array(all)) => all,
                _ => Vec::new(),
            }
        }
        one => vec![one],
    }
}

/// Returns whether it is a CRD in a group of the declared ones.
fn is_left_over(crd: &Value, declared: &[Manifest]) -> bool {
    let mut groups = declared
        .iter()
        .flat_map(|manifest| &manifest.objects)
        .map(|object| &object["spec"]["group"]);
    Id::of(crd).is_crd() && groups.any(|group| *group == crd["spec"]["group"])
}

/// Describes the difference, as API servers would store both.
fn describe_difference(old: &Value, new: &Value) -> Option<String> {
    let found = differences(old, new);
    let first = found.first()?;
    let FieldDifference { path, in_file, declared } = first;
    let more = match found.len() - 1 {
        0 => String::new(),
        more => format!(", and {}", diagnostics::count(more, "more difference")),
    };
    Some(format!("at `{path}`, it has {in_file}, and the source declares {declared}{more}"))
}
