#![doc = include_str!("../README.md")]
//!
//! # How it works
//!
//! Given the text of every Rust file, of Cargo.toml and Cargo.lock; never touches a disk, never runs cargo.
//! What kube's `crd()` would print is given exactly, or refused with its place. Of the crates that decide
//! what is printed, the run-time half is called; only what their derives do at compile time is done here.
//!
//! Each folder sees only those before it (`tests/layers.rs` checks that):
//!
//! | folder | from → to |
//! |---|---|
//! | `text` | files → text and syntax; places, problems |
//! | `builtin` | types of std, k8s-openapi and other crates, by their paths |
//! | `cargo` | Cargo.toml and Cargo.lock → packages, crates, features, `cfg` |
//! | `versions` | locked versions → what kube and schemars do at those |
//! | `tree` | syntax → modules and items, as plain data (`World`) |
//! | `names` | paths → items |
//! | `types` | syntax → types; derives |
//! | `values` | expressions → values |
//! | `attributes` | `#[kube(…)]`, `#[schemars(…)]` and their like → data |
//! | `schema` | types → schemas → CRDs |

mod attributes;
mod builtin;
mod cargo;
mod declared;
mod kind;
mod loading;
mod names;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod tree;
mod types;
mod unexpanded;
mod unified;
mod values;
mod versions;

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

pub use cargo::{Lock, Options, Published};
pub use kind::{Crate, Kind, RustPath, Storage, Target};
pub use text::panics::excerpt;
pub use text::sources::{ConfigFile, Locked, ReadFile, ReadTexts, Sources};
pub use text::{
    FieldNames, FieldPlaces, FieldTypes, NotASourcePath, Place, Problem, SourcePath, UnreadValues,
    Unreadable, below, stack,
};

use cargo::{LockState, Manifest, Packages};
use declared::Namer;
use names::Names;
use text::sources::Texts;
use tree::World;
use types::Types;

/// The kinds of a workspace.
#[derive(Debug, Default)]
pub struct Reading {
    /// Every version of every kind, readable or not, by place.
    pub kinds: Vec<Kind>,
    /// Problems of the workspace as a whole, such as a kube that is not known or no Cargo.lock. Where there
    /// is a problem here, `crd` of every kind is an error that has it too.
    pub problems: Vec<Problem>,
    /// Places that may declare kinds which are not in `kinds`: macros that are not expanded, files that cannot be
    /// read.
    pub unexplored: Vec<Problem>,
    /// Included files that are not read, because a build writes them or a condition decides, and items that cannot be
    /// parsed: kinds that they declare are not in `kinds`, and nothing in the source says whether there are any.
    pub unread: Vec<Problem>,
    /// The places of macros that are not expanded, are not known, and do not look as if they declared kinds. What is
    /// not in `kinds` may be declared there all the same.
    pub unknown_macros: Vec<Place>,
    /// Code that is read exactly, and will not do what it looks like.
    pub warnings: Vec<Problem>,
    /// The names of the workspace's members.
    pub members: Vec<String>,
    /// The members' folders; none where there is no Cargo.toml.
    pub folders: Vec<String>,
    /// The files of the crates that are read for kinds, wherever `#[path]` and `include!` lead to.
    pub files: BTreeSet<SourcePath>,
    /// The crates that are read for kinds.
    pub crates: Vec<Crate>,
    /// Features of [`Options`] that no package has.
    pub unknown_features: Vec<String>,
    /// Modules of [`Options`] that no crate has.
    pub unknown_modules: Vec<String>,
    /// The texts that were read, so that problems found later can quote them.
    pub texts: ReadTexts,
}

/// Reads the kinds that a cargo workspace declares, each with its CRD or the reasons why it cannot be read.
///
/// Never fails as a whole: what is wrong is in the [`Reading`]. Source that nests deep needs a deep stack: call this
/// inside of [`stack::with_room`] where the source is not your own.
pub fn read(from: &dyn Sources, options: &Options) -> Reading {
    let mut problems = Vec::new();
    let texts = Texts::new(from);
    let members = cargo::read_members(&texts, &mut problems);
    let packages = Packages::new(&texts, &members, options, &mut problems);
    // If a file of cargo does not parse, other problems may be consequences of that, and are not reported; and if
    // Cargo.lock or cargo's configuration says otherwise, others than the packages that are locked are built.
    let is_parsed = problems.is_empty();
    let (is_fit, of_lock) = judge_lock(&packages, &members, is_parsed);
    let kubernetes = cargo::kubernetes_types(&packages);
    let mut unexplored = Vec::new();
    let world = load_world(&packages, &members, is_fit, &mut unexplored);
    let names = Names::new(world, kubernetes.types);
    let (behaviour, keeps_order) =
        (versions::behaviour(&packages), versions::keeps_order(&packages));
    let mut types = Rc::new(Types::new(names, behaviour, keeps_order));
    let problem = kubernetes.problem.as_ref();
    let mut found = schema::read_kinds(&types, problem, schema::DeclaredKinds::default());
    // Each time around at least one package more is read, of those that are locked: none if these are not known.
    while of_lock.is_empty()
        && Rc::get_mut(&mut types).is_some_and(|types| loading::load_packages(types, &packages))
    {
        found = schema::read_kinds(&types, problem, found);
    }
    unexplored.retain(|problem| is_selected(&types, problem));
    unexplored.append(&mut found.unexplored);
    for it in texts.problems.take() {
        let is_code = it.place.path.as_str().ends_with(".rs");
        if is_code { &mut unexplored } else { &mut problems }.push(it);
    }
    let inexact_f32 = types.inexact_f32.take();
    problems.extend(inexact_f32.and_then(|place| versions::check_f32(&packages, &place)));
    if !(found.kinds.is_empty() && unexplored.is_empty() && problems.is_empty()) {
        problems.extend(of_lock);
    }
    for list in [&mut problems, &mut unexplored] {
        list.sort();
        list.dedup();
    }
    let crates = crates_of(&types, &packages);
    let files = files_of(&types);
    let namer = Namer::new(&types, &crates);
    let kind = |(id, crd)| {
        let places = found.field_places.remove(&id).unwrap_or_default();
        let crd = if is_parsed { crd } else { Err(Vec::new()) };
        Kind {
            field_types: found.field_types.remove(&id).unwrap_or_default(),
            null_fields: found.null_fields.remove(&id).unwrap_or_default(),
            unreadable: found.unreadable.remove(&id).unwrap_or_default(),
            ..namer.build_kind(id, withhold_crd(crd, &problems), places)
        }
    };
    let mut kinds: Vec<Kind> = found.kinds.into_iter().map(kind).collect();
    let mut unread = unread_places(&types);
    let mut warnings = found.warnings;
    if problems.is_empty() {
        warnings.extend(unified::warnings(options, &packages, &kinds));
    }
    let member_names = members.values().filter_map(|manifest| manifest.name());
    let read = texts.read.take();
    let of_kinds = kinds.iter_mut().filter_map(|kind| kind.crd.as_mut().err());
    let lists = of_kinds.chain([&mut problems, &mut unexplored, &mut unread, &mut warnings]);
    read.quote(from, lists.flatten());
    Reading {
        texts: read,
        kinds,
        problems,
        unexplored,
        unread,
        unknown_macros: unexpanded::unknown_macros(&types),
        warnings,
        members: member_names.map(str::to_owned).collect(),
        folders: members.keys().cloned().collect(),
        files,
        unknown_features: packages.unknown_features(),
        unknown_modules: types.unknown_modules(),
        crates: selected_crates(crates, &types),
    }
}

/// The features that conditions on kinds name, for each kind that is there with these options.
pub fn features_of_kinds(from: &dyn Sources, options: &Options) -> BTreeSet<BTreeSet<String>> {
    let mut problems = Vec::new();
    let texts = Texts::new(from);
    let members = cargo::read_members(&texts, &mut problems);
    let packages = Packages::new(&texts, &members, options, &mut problems);
    let is_fit = !matches!(cargo::check_lock(&packages, &members), LockState::Outdated(_));
    let world = load_world(&packages, &members, is_fit, &mut problems);
    declared::kind_features(&world)
}

/// The names of the workspace's packages. Only each Cargo.toml is read.
pub fn package_names(from: &dyn Sources) -> Vec<String> {
    let members = cargo::read_members(&Texts::new(from), &mut Vec::new());
    members.values().filter_map(|manifest| manifest.name().map(str::to_owned)).collect()
}

/// The crates of a workspace that are read whatever names lead to. `is_fit`: Cargo.lock says what is built.
fn load_world(
    packages: &Packages<'_>,
    members: &BTreeMap<String, Rc<Manifest>>,
    is_fit: bool,
    problems: &mut Vec<Problem>,
) -> World {
    let crates = if members.is_empty() {
        cargo::crates_without_manifest(packages.texts)
    } else {
        cargo::collect_crates(packages, is_fit)
    };
    let mut world = World::default();
    world.selection.clone_from(&packages.options.modules);
    world.unpublished = packages.unpublished_words();
    tree::load_crates(&mut world, packages.texts, crates, problems);
    world
}

/// Returns whether a problem is in a file whose kinds are selected, or in none that is read.
fn is_selected(world: &World, problem: &Problem) -> bool {
    let all = 0..world.modules.len();
    let mut modules = all.filter(|id| world.modules[*id].file == problem.place.path).peekable();
    modules.peek().is_none() || modules.any(|id| world.is_selected(id))
}

/// Returns what is not read in selected modules, and may declare kinds: included files, items, and unknown macros.
fn unread_places(world: &Types) -> Vec<Problem> {
    let selected = world.unread.iter().filter(|unread| world.is_selected(unread.module));
    let problem = |unread: &tree::UnreadPlace| {
        let message = format!("{}: kinds in it are left out", unread.why);
        let problem = Problem::new(world.place_in(unread.module, unread.span), message);
        Problem { is_note: true, ..problem.with_rule("unread-source") }
    };
    let mut problems: Vec<Problem> = selected.map(problem).collect();
    problems.extend(unexpanded::notes_of_calls(world));
    problems.extend(unexpanded::notes_of_written_kinds(world));
    problems.sort();
    problems
}

/// A CRD where nothing is wrong with the whole workspace. Otherwise, what is wrong with one kind may be a consequence of
/// that, and is not reported.
fn withhold_crd(crd: schema::Crd, problems: &[Problem]) -> schema::Crd {
    if problems.is_empty() { crd } else { Err(problems.to_vec()) }
}

/// Returns whether Cargo.lock and cargo's configuration say what is built, and what is wrong with either; nothing where
/// files of cargo do not parse.
fn judge_lock(
    packages: &Packages<'_>,
    members: &BTreeMap<String, Rc<Manifest>>,
    is_parsed: bool,
) -> (bool, Vec<Problem>) {
    let mut unfit = packages.problems_of_config().to_vec();
    let mut is_fit = unfit.is_empty();
    match cargo::check_lock(packages, members) {
        LockState::Fits => {}
        LockState::WithoutKube(problem) if is_fit => unfit.push(problem),
        LockState::WithoutKube(_) => {}
        LockState::Outdated(problem) => {
            is_fit = false;
            unfit.push(problem);
        }
    }
    let of_lock = if is_parsed { problems_of_lock(packages, members, &unfit) } else { Vec::new() };
    (is_fit, of_lock)
}

/// Returns what is wrong with the versions that are locked: if Cargo.lock or the configuration is unfit, that alone.
fn problems_of_lock(
    packages: &Packages<'_>,
    members: &BTreeMap<String, Rc<Manifest>>,
    unfit: &[Problem],
) -> Vec<Problem> {
    if !unfit.is_empty() {
        return unfit.to_vec();
    }
    let unlocked = missing_lock_problem(packages, members);
    versions::check(packages).into_iter().chain(unlocked).collect()
}

/// The problem that there is no Cargo.lock; none if there is one that cannot be read, which is a problem already.
fn missing_lock_problem(
    packages: &Packages<'_>,
    members: &BTreeMap<String, Rc<Manifest>>,
) -> Option<Problem> {
    let is_of_lock = |problem: &Problem| problem.place.path.as_str() == "Cargo.lock";
    if packages.texts.problems.borrow().iter().any(is_of_lock) {
        return None;
    }
    let manifest = members.values().next().filter(|_| !packages.is_locked())?;
    let message = "there is no Cargo.lock: it is unknown which versions of kube and schemars generate the CRDs";
    let hint = "run `cargo generate-lockfile`, which writes Cargo.lock";
    Some(Problem::new(Place::start(manifest.path.clone()), message).with_hint(hint))
}

/// The crates of a world as callers see them.
fn crates_of(world: &World, packages: &Packages<'_>) -> Vec<Crate> {
    let each = world.crates.iter().map(|krate| Crate {
        name: krate.name.clone(),
        folder: krate.folder.clone(),
        root: krate.root.clone(),
        target: krate.target,
        features: if krate.selected { packages.built_with(&krate.folder) } else { Vec::new() },
    });
    each.collect()
}

/// The crates that are read for kinds.
fn selected_crates(crates: Vec<Crate>, world: &World) -> Vec<Crate> {
    let crates = crates.into_iter().zip(&world.crates);
    crates.filter(|(_, krate)| krate.selected).map(|(krate, _)| krate).collect()
}

/// The files of the crates that are read for kinds.
fn files_of(world: &World) -> BTreeSet<SourcePath> {
    let modules = world.modules.iter().enumerate().map(|(id, it)| (id, &it.file));
    let beside = world.beside.iter().map(|(id, file)| (*id, file));
    let of_kinds = |id: usize| world.crates[world.modules[id].krate].selected;
    let files = modules.chain(beside).filter(|file| of_kinds(file.0));
    files.map(|file| file.1.clone()).collect()
}

/// The text of every Rust file below these folders and of these files, and the problems of those that cannot be read.
/// `read` gets the texts, so that problems found later can quote them.
pub fn rust_files(
    from: &dyn Sources,
    folders: &[String],
    files: &BTreeSet<SourcePath>,
    read: &mut ReadTexts,
) -> (Vec<(SourcePath, Rc<str>)>, Vec<Problem>) {
    let texts = Texts::new(from);
    let files_alone = files.iter().map(SourcePath::as_str);
    folders
        .iter()
        .map(String::as_str)
        .chain(files_alone)
        .for_each(|folder| texts.allow_folder(folder));
    let below: Vec<SourcePath> =
        folders.iter().flat_map(|folder| texts.list_rust_files(folder)).collect();
    let other = files - &below.iter().cloned().collect();
    let mut files = Vec::new();
    for path in below.into_iter().chain(other) {
        let before = texts.problems.borrow().len();
        match texts.read_text(&path) {
            Some(text) => files.push((path, text)),
            None if before == texts.problems.borrow().len() => texts.report_missing(path),
            None => {}
        }
    }
    read.extend(texts.read.take());
    (files, texts.problems.take())
}
