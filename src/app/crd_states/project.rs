//! The CRDs of a cargo project, read from its Rust source: in the working tree or at a revision.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::Context as _;

use super::{
    ConvertedKinds, Crds, Declaration, Place, Places, Side, committed, revision::Revision,
};
use crate::app::repository::{Repository, Tree};
use crate::project::{Problem, Project as ProjectFile, below};
use crate::{
    app::{
        cargo::{self, Workspace},
        compile::{self, Compile},
        feature_flags::{FeatureFlags, note_off_features},
        location,
        refusal::unread,
        tree_sources::TreeSources,
    },
    disk,
    manifests::{self, CrdOptions, Manifest},
    source::{self, Options, Reading, Sources},
    terminal,
};
use crd::compatibility::Crd;
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::display_path;

/// Where the project is, and what of it is compared.
pub struct Project {
    pub dir: PathBuf,
    pub manifest: Option<PathBuf>,
    pub packages: Vec<String>,
    pub features: FeatureFlags,
    pub compile: compile::Flags,
}

/// What of a state could not be read, and why.
#[derive(Default)]
pub struct Unread {
    pub headline: String,
    pub problems: Vec<Problem>,
    pub hints: Vec<String>,
    /// The CRDs that were read from files which are committed there instead.
    pub committed: BTreeSet<String>,
    /// For a revision: the files that are committed there and can be compared instead, each as `REV:PATH`.
    pub states_instead: Option<Vec<String>>,
    /// The kinds that could not be read, as far as their names are known: `Kind.group`.
    pub kinds: BTreeSet<String>,
}

impl Project {
    /// The kinds of the working tree.
    pub fn working_tree(&self, label: &str) -> anyhow::Result<Side> {
        let workspace = Workspace::find(&self.dir, self.manifest.as_deref())?;
        let options = self.options(workspace.member.clone());
        let root = Repository::prefix_of(workspace.root.real())?.unwrap_or_default();
        let sources = TreeSources::new(&workspace.root);
        let mut reading = source::read(&sources, &options);
        let compile = Compile {
            top: workspace.root.real(),
            flags: Some(self.compile),
            all: false,
            modules: &[],
            keeps_going: true,
            is_on_disk: true,
        };
        compile::complete(&compile, &mut reading)?;
        side(&sources, &reading, &options, &root, (label, None))
    }

    /// The kinds at a revision.
    pub fn at(&self, revision: &str) -> anyhow::Result<Side> {
        let folder = self.folder()?;
        let repository = Repository::of(&folder)?;
        let tree = Rc::new(repository.at(revision)?);
        let at = || format!("cannot read the source at {revision}");
        let from_source = root_of(&tree, &repository.prefix).and_then(|(root, member)| {
            let options = self.options(member);
            let library = Revision::new(Rc::clone(&tree), &root, &repository.prefix, &folder)?;
            let reading = source::read(&library, &options);
            side(&library, &reading, &options, &root, (revision, Some(revision)))
        });
        let mut res = match from_source.with_context(at) {
            Ok(side) if side.unread.is_none() => side,
            from_source => with_committed(from_source, &tree)?,
        };
        res.convert(&converted_at(&tree, &repository.prefix));
        Ok(res)
    }

    /// The kinds that the project of the working tree converts.
    pub fn converted(&self) -> anyhow::Result<ConvertedKinds> {
        let folder = self.folder()?;
        let folder = location::nearest(&folder).unwrap_or(folder);
        let text = disk::text_if_any(&folder.join(ProjectFile::path().as_str()))?;
        Ok(converted(text))
    }

    /// CRD files that are committed at a revision; a path is seen from the repository's top, as git has it.
    pub fn committed(&self, revision: &str, path: &str, label: String) -> anyhow::Result<Side> {
        let repository = Repository::of(&disk::real(&self.dir)?)?;
        let tree = repository.at(revision)?;
        let (crds, places) = committed::read(&tree, path)?.into_side_at(revision);
        let mut side = Side { label, crds, places, unread: None, unread_places: Vec::new() };
        side.convert(&converted_at(&tree, &repository.prefix));
        Ok(side)
    }

    /// The folder of the project's Cargo.toml in the working tree.
    fn folder(&self) -> anyhow::Result<PathBuf> {
        let manifest = self.manifest.as_deref();
        let folder = match manifest {
            Some(path) if path.is_dir() => path,
            Some(path) => path.parent().unwrap_or(Path::new("")),
            None => &self.dir,
        };
        disk::real(folder)
    }

    fn options(&self, member: Option<String>) -> Options {
        let packages = match member {
            Some(member) if self.packages.is_empty() => vec![member],
            _ => self.packages.clone(),
        };
        Options { packages, ..self.features.options() }
    }
}

/// The kinds that the project converted at a revision: the nearest PROJECT file is that of the project.
fn converted_at(tree: &Tree, folder: &str) -> ConvertedKinds {
    let name = ProjectFile::path();
    let mut folders = Path::new(folder).ancestors();
    let text = folders.find_map(|it| tree.text(it.join(name.as_str()).to_str()?).ok().flatten());
    converted(text)
}

/// Returns no conversions for a PROJECT file of another tool, which is not part of the comparison.
fn converted(text: Option<String>) -> ConvertedKinds {
    let project = text.and_then(|it| ProjectFile::from_text(&it).ok());
    project.map(|it| it.converted()).unwrap_or_default()
}

/// Takes up the CRDs of committed files in place of the kinds of a revision that could not be read.
fn with_committed(from_source: anyhow::Result<Side>, tree: &Tree) -> anyhow::Result<Side> {
    let mut committed = committed::find(tree)?;
    let revision = &tree.name;
    committed.passed_over.iter().for_each(|it| terminal::warn(format!("at {revision}: {it}")));
    let mut res = match from_source {
        Err(error) if committed.crds.is_empty() => return Err(error),
        Err(error) => Side {
            label: revision.clone(),
            crds: Crds::new(),
            places: Places { revision: Some(revision.clone()), ..Places::default() },
            unread: Some(Unread { headline: format!("{error:#}"), ..Unread::default() }),
            unread_places: Vec::new(),
        },
        Ok(side) => side,
    };
    let Some(unread) = &mut res.unread else { return Ok(res) };
    for (name, crd) in committed.crds {
        if res.crds.contains_key(&name) {
            continue;
        }
        res.places.documents.extend(committed.places.documents.remove_entry(&name));
        unread.committed.insert(name.clone());
        res.crds.insert(name, crd);
    }
    // Only the working tree is compiled.
    for hint in unread.problems.iter_mut().filter_map(|problem| problem.hint.as_mut()) {
        *hint = hint.replace(", or compile: `--compile`", "");
    }
    unread.hints.clear();
    unread.states_instead =
        Some(committed.paths.iter().map(|path| format!("{revision}:{path}")).collect());
    Ok(res)
}

/// The root of the workspace that a folder of the repository is in, and its package, as cargo finds them.
fn root_of(tree: &Tree, folder: &str) -> anyhow::Result<(String, Option<String>)> {
    // Git spells paths with `/` on every system.
    let read = |path: &Path| tree.text(&display_path(path));
    let real = |path: &Path| Ok(PathBuf::from(below("", &display_path(path))));
    for folder in Path::new(folder).ancestors() {
        let path = folder.join("Cargo.toml");
        let Some(text) = read(&path)? else { continue };
        let manifest = cargo::parse(&path, &text)?;
        let (root, member) = cargo::root_of(folder, &manifest, &read, &real)?;
        return Ok((display_path(&root), member));
    }
    Err(anyhow::format_err!("no Cargo.toml in `{folder}` or any parent directory"))
        .hint("name a later revision, or point `--manifest-path` at a package that was there")
}

/// The kinds that the source declares and that no manifest has.
fn unread_kinds(reading: &Reading, manifests: &[Manifest]) -> BTreeSet<String> {
    let name = |kind: &Value, group: &Value| {
        format!("{}.{}", kind.as_str().unwrap_or_default(), group.as_str().unwrap_or_default())
    };
    let crds = manifests.iter().flat_map(|it| &it.objects).map(|crd| &crd["spec"]);
    let read: BTreeSet<String> =
        crds.map(|spec| name(&spec["names"]["kind"], &spec["group"])).collect();
    let declared = reading
        .operator
        .kinds
        .iter()
        .filter_map(|kind| Some(format!("{}.{}", kind.kind.as_ref()?, kind.group.as_ref()?)));
    declared.filter(|kind| !read.contains(kind)).collect()
}

/// The kinds that can be read exactly, with the place of each, and why others cannot.
fn side(
    from: &dyn Sources,
    reading: &Reading,
    options: &Options,
    root: &str,
    (label, revision): (&str, Option<&str>),
) -> anyhow::Result<Side> {
    for it in options.packages.iter().filter(|it| !reading.members.contains(*it)) {
        terminal::warn(format!("{label} has no package `{it}`"));
    }
    for it in &reading.unknown_features {
        terminal::warn(format!("{label} has no feature `{it}`"));
    }
    note_off_features(label, from, reading, options);
    let operator = reading.whole();
    let generated = manifests::crds(&operator, &CrdOptions::default());
    let found = reading.quote(from, generated.problems);
    let mut problems = [reading.all_problems(), found].concat();
    if let Some(revision) = revision {
        // The same place may be read at two revisions.
        problems.iter_mut().for_each(|it| it.message = format!("{} (at {revision})", it.message));
    }
    let unread = (!problems.is_empty()).then(|| Unread {
        headline: format!("{} at {label}", unread(reading)),
        problems,
        hints: reading.hint.iter().cloned().collect(),
        committed: BTreeSet::new(),
        states_instead: None,
        kinds: unread_kinds(reading, &generated.manifests),
    });
    let mut crds = Crds::new();
    for object in generated.manifests.iter().flat_map(|it| &it.objects) {
        let crd = Crd::from_object(object).context("cannot read a CRD of this project")?;
        crds.insert(crd.name.clone(), crd);
    }
    let mut places = Places { revision: revision.map(str::to_owned), ..Places::default() };
    for it in &operator.kinds {
        let Ok(crd) = &it.crd else { continue };
        let Some(version) = &it.version else { continue };
        let key = (crd.metadata.name.clone().unwrap_or_default(), version.clone());
        let path = below(root, it.place.path.as_str());
        let of_kind = Place::new(&path, it.place.line, it.place.column);
        let field = |(names, place): (&Vec<String>, &crate::project::Place)| {
            let path = below(root, place.path.as_str());
            (names.clone(), Place::new(&path, place.line, place.column))
        };
        let fields = it.field_places.iter().map(field).collect();
        places.versions.insert(key, Declaration { of_kind, fields });
    }
    let unread_places = reading.quote(from, reading.unread.clone());
    Ok(Side { label: label.to_owned(), crds, places, unread, unread_places })
}
