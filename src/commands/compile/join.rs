//! A reading of the source, completed and checked by what the compiled code prints.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Compile, answer::Compiled};
use crate::{
    manifests,
    model::{Crate, DeclaredKind, KindPath, Place, Problem, Storage},
    source::Reading,
    yaml,
};

/// The crates that have to be compiled: those with kinds that cannot be read, or that may have more kinds than the
/// source tells of.
pub fn crates(compile: &Compile<'_>, reading: &Reading) -> Vec<Crate> {
    let has_kind = |krate: &Crate| {
        let of_crate = |it: &&DeclaredKind| it.rust_path.krate == *krate;
        let mut kinds = reading.operator.kinds.iter().filter(of_crate);
        kinds.any(|it| compile.all || it.crd.is_err())
    };
    // A module that nobody finds may be made by a macro; more likely its name is wrong, so that a person has to say so.
    let seeks = !reading.unknown_modules.is_empty() && compile.flags.is_some_and(|it| it.compile);
    let is_wanted = |krate: &&Crate| {
        seeks
            || has_kind(krate)
            || reading.unexplored.iter().any(|it| is_in(reading, it, krate))
            || reading.named.iter().any(|it| it.krate == **krate)
    };
    reading.crates.iter().filter(is_wanted).cloned().collect()
}

/// Whether a problem is in the package of a crate: in the nearest one, where one is in another's folder.
fn is_in(reading: &Reading, problem: &Problem, krate: &Crate) -> bool {
    let path = problem.place.path.as_str();
    let has = |folder: &&str| match *folder {
        "" => true,
        folder => path.strip_prefix(folder).is_some_and(|it| it.starts_with('/')),
    };
    let folders = reading.crates.iter().map(|it| it.folder.as_str());
    { folders }.filter(has).max_by_key(|it| it.len()) == Some(krate.folder.as_str())
}

/// How many kinds are compiled, and why.
pub fn purpose(compile: &Compile<'_>, reading: &Reading, crates: &[Crate]) -> String {
    let kinds = &reading.operator.kinds;
    let is_asked = |it: &&DeclaredKind| {
        crates.contains(&it.rust_path.krate) && (compile.all || it.crd.is_err())
    };
    let asked = kinds.iter().filter(is_asked).count();
    let what = match (asked, kinds.len()) {
        (0, _) => {
            let names: Vec<String> = crates.iter().map(|it| format!("`{}`", it.name)).collect();
            names.join(", ")
        }
        (1, 1) => "the only kind".to_owned(),
        (asked, all) if asked == all => format!("all {all} kinds"),
        (asked, all) => format!("{asked} of {all} kinds"),
    };
    let why = match &reading.all_problems()[..] {
        _ if compile.all => "to compare them with the source".to_owned(),
        [] if reading.named.is_empty() => "to find the module".to_owned(),
        [] => "because `--type` names one".to_owned(),
        [first] => format!("because of {first}"),
        [first, rest @ ..] => format!("because of {first}, and {} more", rest.len()),
    };
    format!("{what} {why}")
}

/// Takes what the code printed, of every crate that was compiled.
///
/// What the code says otherwise than the source is among the kinds' problems afterwards.
pub fn join(
    compile: &Compile<'_>,
    reading: &mut Reading,
    answers: Vec<(Crate, Vec<Compiled>)>,
) -> anyhow::Result<()> {
    let named = std::mem::take(&mut reading.named);
    for (krate, compiled) in &answers {
        for it in named.iter().filter(|it| it.krate == *krate) {
            require(it, compiled)?;
        }
        let mut compiled: BTreeMap<&[String], &Compiled> =
            compiled.iter().map(|it| (it.path.as_slice(), it)).collect();
        reading.operator.kinds.retain_mut(|kind| {
            kind.rust_path.krate != *krate
                || match compiled.remove(kind.rust_path.path.as_slice()) {
                    Some(compiled) => {
                        settle(kind, &compiled.crd);
                        true
                    }
                    None => is_missing(kind),
                }
        });
        // What is left is what only macros know.
        let is_wanted = |it: &&Compiled| is_in_modules(krate, &it.path, compile.modules);
        let found = compiled.into_values().filter(is_wanted);
        let found: Vec<_> = found.map(|it| kind(reading, krate, it)).collect();
        reading.operator.kinds.extend(found);
    }
    let kinds = &mut reading.operator.kinds;
    choose_stored(kinds, &named);
    let is_in_one = |it: &DeclaredKind, module: &String| {
        is_in_modules(&it.rust_path.krate, &it.rust_path.path, std::slice::from_ref(module))
    };
    reading.unknown_modules.retain(|module| !kinds.iter().any(|it| is_in_one(it, module)));
    let crates: Vec<&Crate> = answers.iter().map(|it| &it.0).collect();
    let unexplored = std::mem::take(&mut reading.unexplored);
    let is_left = |it: &Problem| !crates.iter().any(|krate| is_in(reading, it, krate));
    reading.unexplored = unexplored.into_iter().filter(is_left).collect();
    // The code has the last word on what is wrong with the whole workspace.
    reading.problems.clear();
    reading.operator.kinds.sort_by(|one, other| {
        (&one.place, &one.rust_path.path).cmp(&(&other.place, &other.rust_path.path))
    });
    Ok(())
}

/// Takes what the code printed of a kind; says so where the source was read otherwise.
fn settle(kind: &mut DeclaredKind, printed: &Result<Value, String>) {
    kind.crd = match (printed, &kind.crd) {
        (Err(text), _) => Err(vec![panic_problem(kind, text)]),
        (Ok(printed), Ok(read)) => match yaml::to_value(read) {
            read if read == *printed => return,
            read => Err(vec![disagreement(kind, &read, printed)]),
        },
        (Ok(printed), Err(_)) => manifests::parse(printed).map_err(|text| {
            let message = format!("`crd()` of `{}` {text}", kind.name);
            vec![problem_of(kind, message)]
        }),
    };
}

fn panic_problem(kind: &DeclaredKind, text: &str) -> Problem {
    problem_of(kind, format!("kube panics on this schema: {text}"))
        .with_hint("change the type: kube itself cannot generate a CRD from it")
}

/// Whether a kind that the compiled crate does not have stays in the reading: as a problem, where it was certain.
fn is_missing(kind: &mut DeclaredKind) -> bool {
    let path = kind.rust_path.path.join("::");
    let message = format!("`{path}` is not in the compiled crate `{}`", kind.rust_path.krate.name);
    let hint = "this is a bug in operator-rs: please report it together with the type";
    kind.crd = Err(vec![problem_of(kind, message).with_hint(hint)]);
    kind.is_certain
}

/// A kind of which the source says nothing.
fn kind(reading: &Reading, krate: &Crate, compiled: &Compiled) -> DeclaredKind {
    let mut kind = DeclaredKind {
        name: compiled.path.last().cloned().unwrap_or_default(),
        group: None,
        version: None,
        kind: None,
        place: place(reading, krate, &compiled.path),
        field_places: BTreeMap::new(),
        rust_path: KindPath { krate: krate.clone(), path: compiled.path.clone() },
        is_certain: true,
        storage: Storage::Unsaid,
        crd: Err(Vec::new()),
    };
    settle(&mut kind, &compiled.crd);
    if let Ok(crd) = &kind.crd {
        kind.group = Some(crd.spec.group.clone());
        kind.kind = Some(crd.spec.names.kind.clone());
        kind.version = crd.spec.versions.first().map(|it| it.name.clone());
        if crd.spec.versions.first().is_some_and(|it| !it.storage) {
            kind.storage = Storage::No;
        }
    }
    kind
}

/// Where the macro is used that makes a kind: the one in the file of its module or of the nearest one above; the
/// beginning of the crate where that is not clear.
fn place(reading: &Reading, krate: &Crate, path: &[String]) -> Place {
    let modules = |it: &Problem| {
        let modules = modules_of(krate, it.place.path.as_str())?;
        path.starts_with(&modules).then_some(modules.len())
    };
    let all = || reading.unexplored.iter().filter(|it| is_in(reading, it, krate));
    let depth = all().filter_map(modules).max();
    let mut nearest = all().filter(|it| modules(it) == depth && depth.is_some());
    match (nearest.next(), nearest.next()) {
        (Some(one), None) => one.place.clone(),
        (Some(one), Some(_)) => Place::start(one.place.path.clone()),
        _ => Place::start(krate.root.clone()),
    }
}

/// The modules that a file is of, as files are named where no `#[path]` says otherwise.
fn modules_of(krate: &Crate, file: &str) -> Option<Vec<String>> {
    let root = krate.root.as_str();
    if file == root {
        return Some(Vec::new());
    }
    let folder = root.rsplit_once('/').map_or("", |(folder, _)| folder);
    let below = file.strip_prefix(folder)?.trim_start_matches('/').strip_suffix(".rs")?;
    let below = below.strip_suffix("/mod").unwrap_or(below);
    Some(below.split('/').map(str::to_owned).collect())
}

/// Whether the kinds at a path are wanted: `api::v1`, with or without the crate in front.
fn is_in_modules(krate: &Crate, path: &[String], modules: &[String]) -> bool {
    let is_below = |module: &String| {
        let words: Vec<&str> = module.split("::").collect();
        let own: Vec<&str> = path.iter().map(String::as_str).collect();
        let whole = [&[krate.name.as_str()], &own[..]].concat();
        own.starts_with(&words) || whole.starts_with(&words)
    };
    modules.is_empty() || modules.iter().any(is_below)
}

/// Refuses a path that a person names and that leads to no kind.
fn require(named: &KindPath, compiled: &[Compiled]) -> anyhow::Result<()> {
    if find(named, compiled.iter().map(|it| it.path.as_slice())).is_some() {
        return Ok(());
    }
    let krate = &named.krate.name;
    let list: Vec<String> =
        compiled.iter().map(|it| format!("`{krate}::{}`", it.path.join("::"))).collect();
    let list = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
    anyhow::bail!(
        "`{krate}::{}` is not a kind of the compiled crate; its kinds are: {list}",
        named.path.join("::")
    )
}

/// The kind that a person names: by where it is defined, or by its name where one kind has that.
fn find<'a>(
    named: &KindPath,
    paths: impl Iterator<Item = &'a [String]> + Clone,
) -> Option<&'a [String]> {
    let mut same_name = paths.clone().filter(|it| it.last() == named.path.last());
    let (one, more) = (same_name.next(), same_name.next());
    { paths }.find(|it| *it == named.path).or(one.filter(|_| more.is_none()))
}

/// Of versions that do not say which one is stored, the first that a person names is.
fn choose_stored(kinds: &mut [DeclaredKind], named: &[KindPath]) {
    let mut chosen: Vec<usize> = Vec::new();
    for it in named {
        let of_crate = kinds.iter().filter(|kind| kind.rust_path.krate == it.krate);
        let paths: Vec<Vec<String>> = of_crate.map(|kind| kind.rust_path.path.clone()).collect();
        let Some(path) = find(it, paths.iter().map(Vec::as_slice)) else { continue };
        let is_it =
            |kind: &DeclaredKind| kind.rust_path.krate == it.krate && kind.rust_path.path == path;
        chosen.extend(kinds.iter().position(is_it));
    }
    for index in chosen {
        let first = kinds[index].clone();
        if first.storage != Storage::Unsaid {
            continue;
        }
        let others = kinds.iter_mut().enumerate().filter(|(other, _)| *other != index);
        for (_, other) in others {
            let is_same = other.group == first.group && other.kind == first.kind;
            if is_same && first.kind.is_some() && other.storage == Storage::Unsaid {
                other.storage = Storage::No;
            }
        }
    }
}

fn problem_of(kind: &DeclaredKind, message: String) -> Problem {
    let field_path = vec![kind.name.clone()];
    Problem { field_path, ..Problem::new(kind.place.clone(), message) }
}

fn disagreement(kind: &DeclaredKind, read: &Value, compiled: &Value) -> Problem {
    let (at, read, compiled) = yaml::difference(read, compiled);
    let message = format!(
        "`{}` differs between the source and the compiled code: at `{at}`, the source has {read} and the compiled code {compiled}",
        kind.name
    );
    problem_of(kind, message)
        .with_hint("this is a bug in operator-rs: please report it together with the type")
}
