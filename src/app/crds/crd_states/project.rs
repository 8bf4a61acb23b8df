//! The CRDs of a cargo project, read from its Rust source: in the working tree or at a revision.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
    rc::Rc,
};

use anyhow::Context as _;

use super::{
    ConvertedKinds, CrdState, Crds, SourceSpan, StatePlaces, VersionSpans, committed,
    revision::RevisionSources,
};
use crate::app::output::repository::{Repository, RevisionTree};
use crate::project::{Problem, Project as ProjectFile, below};
use crate::{
    app::{
        cargo::{
            self, Workspace,
            feature_flags::{FeatureFlags, note_off_features},
            tree_sources::TreeSources,
        },
        compile::{self, Compile},
        output::{location, refusal::unread},
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

/// The location of the project, and the part of it that is compared.
pub struct ProjectState {
    pub dir: PathBuf,
    pub manifest: Option<PathBuf>,
    pub packages: Vec<String>,
    pub features: FeatureFlags,
    pub compile: compile::CompileFlags,
}

/// The parts of a state that could not be read, and the reasons.
#[derive(Default)]
pub struct UnreadParts {
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

impl ProjectState {
    /// Returns the kinds of the working tree.
    pub fn working_tree(&self, label: &str) -> anyhow::Result<CrdState> {
        let workspace = Workspace::find(&self.dir, self.manifest.as_deref())?;
        let options = self.read_options(workspace.member.clone());
        let root = Repository::prefix_of(workspace.root.resolved_path())?.unwrap_or_default();
        let sources = TreeSources::new(&workspace.root);
        let mut reading = source::read_workspace(&sources, &options);
        let compile = Compile {
            top: workspace.root.resolved_path(),
            flags: Some(self.compile),
            all: false,
            modules: &[],
            keeps_going: true,
            is_on_disk: true,
        };
        compile::complete(&compile, &mut reading)?;
        build_state(&sources, &reading, &options, &root, (label, None))
    }

    /// Returns the kinds at a revision.
    pub fn at(&self, revision: &str) -> anyhow::Result<CrdState> {
        let folder = self.project_folder()?;
        let repository = Repository::of(&folder)?;
        let tree = Rc::new(repository.at(revision)?);
        let at = || format!("cannot read the source at {revision}");
        let from_source = root_of(&tree, &repository.prefix).and_then(|(root, member)| {
            let options = self.read_options(member);
            let library =
                RevisionSources::new(Rc::clone(&tree), &root, &repository.prefix, &folder)?;
            let reading = source::read_workspace(&library, &options);
            build_state(&library, &reading, &options, &root, (revision, Some(revision)))
        });
        let mut state = match from_source.with_context(at) {
            Ok(side) if side.unread.is_none() => side,
            from_source => with_committed(from_source, &tree)?,
        };
        state.add_conversions(&converted_at(&tree, &repository.prefix));
        Ok(state)
    }

    /// Returns the kinds that the project of the working tree converts.
    pub fn converted(&self) -> anyhow::Result<ConvertedKinds> {
        let folder = self.project_folder()?;
        let folder = location::nearest(&folder).unwrap_or(folder);
        let text = disk::read_text_if_exists(&folder.join(ProjectFile::path().as_str()))?;
        Ok(parse_converted(text))
    }

    /// CRD files that are committed at a revision; a path is seen from the repository's top, as git has it.
    pub fn committed(&self, revision: &str, path: &str, label: String) -> anyhow::Result<CrdState> {
        let repository = Repository::of(&disk::resolve_folder(&self.dir)?)?;
        let tree = repository.at(revision)?;
        let (crds, places) = committed::read(&tree, path)?.into_side_at(revision);
        let mut side = CrdState { label, crds, places, unread: None, unread_places: Vec::new() };
        side.add_conversions(&converted_at(&tree, &repository.prefix));
        Ok(side)
    }

    /// Returns the folder of the project's Cargo.toml in the working tree.
    fn project_folder(&self) -> anyhow::Result<PathBuf> {
        let manifest = self.manifest.as_deref();
        let folder = match manifest {
            Some(path) if path.is_dir() => path,
            Some(path) => path.parent().unwrap_or(Path::new("")),
            None => &self.dir,
        };
        disk::resolve_folder(folder)
    }

    fn read_options(&self, member: Option<String>) -> Options {
        let packages = match member {
            Some(member) if self.packages.is_empty() => vec![member],
            _ => self.packages.clone(),
        };
        Options { packages, ..self.features.options() }
    }
}

/// Returns the kinds that the project converted at a revision: the nearest PROJECT file is that of the project.
fn converted_at(tree: &RevisionTree, folder: &str) -> ConvertedKinds {
    let name = ProjectFile::path();
    let mut folders = Path::new(folder).ancestors();
    let text =
        folders.find_map(|folder| tree.text(folder.join(name.as_str()).to_str()?).ok().flatten());
    parse_converted(text)
}

/// Returns no conversions for a PROJECT file of another tool, which is not part of the comparison.
fn parse_converted(text: Option<String>) -> ConvertedKinds {
    let project = text.and_then(|text| ProjectFile::from_text(&text).ok());
    project.map(|project| project.converted_versions()).unwrap_or_default()
}

/// Takes up the CRDs of committed files in place of the kinds of a revision that could not be read.
fn with_committed(
    from_source: anyhow::Result<CrdState>,
    tree: &RevisionTree,
) -> anyhow::Result<CrdState> {
    let mut committed = committed::find(tree)?;
    let revision = &tree.name;
    committed
        .passed_over
        .iter()
        .for_each(|reason| terminal::warn(format!("at {revision}: {reason}")));
    let mut state = match from_source {
        Err(error) if committed.crds.is_empty() => return Err(error),
        Err(error) => CrdState {
            label: revision.clone(),
            crds: Crds::new(),
            places: StatePlaces { revision: Some(revision.clone()), ..StatePlaces::default() },
            unread: Some(UnreadParts { headline: format!("{error:#}"), ..UnreadParts::default() }),
            unread_places: Vec::new(),
        },
        Ok(side) => side,
    };
    let Some(unread) = &mut state.unread else { return Ok(state) };
    for (name, crd) in committed.crds {
        if state.crds.contains_key(&name) {
            continue;
        }
        state.places.documents.extend(committed.places.documents.remove_entry(&name));
        unread.committed.insert(name.clone());
        state.crds.insert(name, crd);
    }
    // Only the working tree is compiled.
    for hint in unread.problems.iter_mut().filter_map(|problem| problem.hint.as_mut()) {
        *hint = hint.replace(", or compile: `--compile`", "");
    }
    unread.hints.clear();
    unread.states_instead =
        Some(committed.paths.iter().map(|path| format!("{revision}:{path}")).collect());
    Ok(state)
}

/// Returns the root of the workspace that a folder of the repository is in, and its package, as cargo finds them.
fn root_of(tree: &RevisionTree, folder: &str) -> anyhow::Result<(String, Option<String>)> {
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

/// Returns the kinds that the source declares and that no manifest has.
fn unread_kinds(reading: &Reading, manifests: &[Manifest]) -> BTreeSet<String> {
    let name = |kind: &Value, group: &Value| {
        format!("{}.{}", kind.as_str().unwrap_or_default(), group.as_str().unwrap_or_default())
    };
    let crds = manifests.iter().flat_map(|manifest| &manifest.objects).map(|crd| &crd["spec"]);
    let read: BTreeSet<String> =
        crds.map(|spec| name(&spec["names"]["kind"], &spec["group"])).collect();
    let declared = reading
        .operator
        .kinds
        .iter()
        .filter_map(|kind| Some(format!("{}.{}", kind.kind.as_ref()?, kind.group.as_ref()?)));
    declared.filter(|kind| !read.contains(kind)).collect()
}

/// Returns the kinds that can be read exactly, with the place of each, and why others cannot.
fn build_state(
    from: &dyn Sources,
    reading: &Reading,
    options: &Options,
    root: &str,
    (label, revision): (&str, Option<&str>),
) -> anyhow::Result<CrdState> {
    for it in options.packages.iter().filter(|package| !reading.members.contains(*package)) {
        terminal::warn(format!("{label} has no package `{it}`"));
    }
    for it in &reading.unknown_features {
        terminal::warn(format!("{label} has no feature `{it}`"));
    }
    note_off_features(label, from, reading, options);
    let operator = reading.whole_kinds();
    let generated = manifests::crds(&operator, &CrdOptions::default());
    let found = reading.quote_source(from, generated.problems);
    let mut problems = [reading.all_problems(), found].concat();
    if let Some(revision) = revision {
        // The same place may be read at two revisions.
        problems
            .iter_mut()
            .for_each(|problem| problem.message = format!("{} (at {revision})", problem.message));
    }
    let unread = (!problems.is_empty()).then(|| UnreadParts {
        headline: format!("{} at {label}", unread(reading)),
        problems,
        hints: reading.hint.iter().cloned().collect(),
        committed: BTreeSet::new(),
        states_instead: None,
        kinds: unread_kinds(reading, &generated.manifests),
    });
    let mut crds = Crds::new();
    for object in generated.manifests.iter().flat_map(|manifest| &manifest.objects) {
        let crd = Crd::from_object(object).context("cannot read a CRD of this project")?;
        crds.insert(crd.name.clone(), crd);
    }
    let mut places =
        StatePlaces { revision: revision.map(str::to_owned), ..StatePlaces::default() };
    for it in &operator.kinds {
        let Ok(crd) = &it.crd else { continue };
        let Some(version) = &it.version else { continue };
        let key = (crd.metadata.name.clone().unwrap_or_default(), version.clone());
        let path = below(root, it.place.path.as_str());
        let of_kind = SourceSpan::new(&path, it.place.line, it.place.column);
        let field = |(names, place): (&Vec<String>, &crate::project::Place)| {
            let path = below(root, place.path.as_str());
            (names.clone(), SourceSpan::new(&path, place.line, place.column))
        };
        let fields = it.field_places.iter().map(field).collect();
        places.versions.insert(key, VersionSpans { of_kind, fields });
    }
    let unread_places = reading.quote_source(from, reading.unread.clone());
    Ok(CrdState { label: label.to_owned(), crds, places, unread, unread_places })
}
