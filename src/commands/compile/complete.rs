//! A reading of the source, completed or checked by what the compiled code prints.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context as _;
use serde_json::Value;

use super::{Asked, Subject};
use crate::{
    manifests,
    model::{DeclaredKind, Problem, Reach, SourcePath, Storage},
    source::Reading,
    terminal, yaml,
};

/// Asks the code for every kind that was refused, or for all of them, which must then be as they were read.
///
/// What cannot be compiled, or differs, is among the kinds' problems afterwards.
pub fn complete(top: &Path, reading: &mut Reading, all: bool) -> anyhow::Result<()> {
    let named = std::mem::take(&mut reading.named);
    let mut crates: BTreeMap<SourcePath, Vec<DeclaredKind>> = BTreeMap::new();
    for it in reading.operator.kinds.iter_mut().filter(|it| all || it.crd.is_err()) {
        match it.rust_path.reach {
            Reach::Hidden => it.crd = Err(vec![kept_private(it)]),
            Reach::Unknown => {}
            _ => crates.entry(it.rust_path.krate.root.clone()).or_default().push(it.clone()),
        }
    }
    for it in &named {
        crates.entry(it.rust_path.krate.root.clone()).or_default().push(it.clone());
    }
    tell(reading, all, !named.is_empty(), crates.values().flatten().count());
    // Kinds that nobody knows the names of cannot be asked for.
    let unexplored = std::mem::take(&mut reading.unexplored);
    let (answered, stay): (Vec<Problem>, Vec<Problem>) =
        unexplored.into_iter().partition(|it| has_named_kind(reading, &named, it));
    reading.unexplored = stay;
    reading.operator.warnings.extend(answered.into_iter().map(|it| Problem {
        message: format!("{}: of what it makes, only what `--type` names is printed", it.message),
        hint: None,
        ..it
    }));
    for kinds in crates.values() {
        let crds = subject(top, kinds).compile()?;
        for (kind, crd) in kinds.iter().zip(crds) {
            settle(reading, kind, crd)?;
        }
    }
    reading.problems.clear();
    reading.operator.kinds.sort_by(|one, other| one.place.cmp(&other.place));
    Ok(())
}

/// Whether a person named kinds of the package that a problem is in.
fn has_named_kind(reading: &Reading, named: &[DeclaredKind], problem: &Problem) -> bool {
    let path = problem.place.path.to_string();
    let inside = |folder: &&str| match *folder {
        "" => true,
        folder => path.strip_prefix(folder).is_some_and(|it| it.starts_with('/')),
    };
    // The nearest package has it, where one is in another's folder.
    let folders = reading.crates.iter().map(|it| it.folder.as_str());
    let nearest = folders.filter(inside).max_by_key(|it| it.len());
    named.iter().any(|it| Some(it.rust_path.krate.folder.as_str()) == nearest)
}

/// Says why cargo is run.
fn tell(reading: &Reading, all: bool, named: bool, kinds: usize) {
    let why = match (&reading.all_problems()[..], all) {
        (_, true) => "to check what was read".to_owned(),
        ([], false) if kinds == 0 => return,
        ([], false) if named => "because `--type` names it".to_owned(),
        ([], false) => "to check what was read".to_owned(),
        ([first, rest @ ..], false) => match rest.len() {
            0 => format!("because of {first}"),
            more => format!("because of {first}, and {more} more"),
        },
    };
    let kinds = if kinds == 1 { "one kind".to_owned() } else { format!("{kinds} kinds") };
    terminal::advise(&format!("compiling {kinds}, {why}\n"));
}

fn kept_private(kind: &DeclaredKind) -> Problem {
    let message = format!(
        "`{}` is private to a module, so that no other code can ask it for its CRD",
        kind.name
    );
    problem_of(kind, message)
        .with_hint("make its module `pub(crate)`, or re-export the kind above it")
}

fn problem_of(kind: &DeclaredKind, message: String) -> Problem {
    let field_path = vec![kind.name.clone()];
    Problem { field_path, ..Problem::new(kind.place.clone(), message) }
}

/// Kinds of one crate, as they are asked for.
fn subject(top: &Path, kinds: &[DeclaredKind]) -> Subject {
    let krate = &kinds[0].rust_path.krate;
    let folder = if krate.folder.is_empty() { top.to_owned() } else { top.join(&krate.folder) };
    let below = match krate.folder.as_str() {
        "" => 0,
        folder => folder.len() + 1,
    };
    let asked = |it: &DeclaredKind| Asked {
        path: it.rust_path.path.clone(),
        public: it.rust_path.reach == Reach::Public,
        crates: (it.rust_path.reach != Reach::Unknown)
            .then(|| (it.rust_path.kube_core.clone(), it.rust_path.serde_json.clone())),
    };
    Subject {
        folder,
        top: top.to_owned(),
        features: krate.features.clone(),
        krate: krate.name.clone(),
        root: krate.root.as_str().get(below..).unwrap_or_default().to_owned(),
        target: krate.target,
        kinds: kinds.iter().map(asked).collect(),
    }
}

/// Takes what the code printed; says so where the source was read otherwise.
fn settle(
    reading: &mut Reading,
    kind: &DeclaredKind,
    printed: Result<Value, String>,
) -> anyhow::Result<()> {
    let found = match (printed, &kind.crd) {
        (Err(text), _) => Err(problem_of(kind, format!("kube panics over this schema: {text}"))
            .with_hint("change the type: kube itself can make no CRD of it")),
        (Ok(printed), Ok(read)) => match yaml::to_value(read) {
            read if read == printed => return Ok(()),
            read => Err(disagreement(kind, &read, &printed)),
        },
        (Ok(printed), Err(_)) => Ok(manifests::parse(&printed).with_context(|| {
            format!(
                "`crd()` of `{}` gives no CRD of one version whose names an API server takes",
                kind.name
            )
        })?),
    };
    let crd = found.map_err(|it| vec![it]);
    let is_same = |it: &&mut DeclaredKind| it.place == kind.place && it.rust_path == kind.rust_path;
    if let Some(it) = reading.operator.kinds.iter_mut().find(is_same) {
        it.crd = crd;
        return Ok(());
    }
    let mut kind = DeclaredKind { crd, ..kind.clone() };
    if let Ok(crd) = &kind.crd {
        kind.group = Some(crd.spec.group.clone());
        kind.kind = Some(crd.spec.names.kind.clone());
        kind.version = Some(crd.spec.versions[0].name.clone());
        kind.storage = stored(reading, &kind, crd.spec.versions[0].storage);
    }
    reading.operator.kinds.push(kind);
    Ok(())
}

fn disagreement(kind: &DeclaredKind, read: &Value, compiled: &Value) -> Problem {
    let (at, read, compiled) = yaml::difference(read, compiled);
    let message = format!(
        "`{}` is read otherwise than it compiles: at `{at}`, {read} was read, and {compiled} is compiled",
        kind.name
    );
    problem_of(kind, message)
        .with_hint("this is a fault of operator-rs: please report it with the type")
}

/// Whether a version that a person names is the stored one: `crd()` of each says so where the source is silent,
/// and it is of the first one that is named then.
fn stored(reading: &Reading, kind: &DeclaredKind, printed: bool) -> Storage {
    let same = |it: &&DeclaredKind| it.group == kind.group && it.kind == kind.kind;
    let mut others = reading.operator.kinds.iter().filter(same);
    match printed && others.all(|it| it.storage == Storage::No) {
        true => Storage::Unsaid,
        false => Storage::No,
    }
}
