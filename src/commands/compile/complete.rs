//! A reading of the source, completed or checked by what the compiled code prints.

use std::{collections::BTreeMap, path::Path};

use anyhow::Context as _;
use serde_json::Value;

use super::{Compiled, Subject};
use crate::{
    manifests,
    model::{CustomResource, Declared, Problem, Reach, Storage},
    source::Reading,
    terminal,
};

/// Asks the code for every kind that was refused, or for all of them, which must then be as they were read.
///
/// What cannot be compiled, or differs, is among the problems afterwards.
pub fn complete(top: &Path, reading: &mut Reading, all: bool) -> anyhow::Result<()> {
    // What is wrong with no kind in particular may be wrong with each.
    let general = reading.problems.iter().any(|it| it.way.is_empty());
    let read = |it: &Declared, reading: &Reading| {
        reading.operator.resources.iter().any(|resource| resource.place == it.place)
    };
    let wanted: Vec<Declared> = (reading.declared.iter())
        .filter(|it| all || general || it.reach == Reach::Said || !read(it, reading))
        .cloned()
        .collect();
    let mut hidden = Vec::new();
    let mut crates: BTreeMap<_, Vec<Declared>> = BTreeMap::new();
    for it in wanted {
        match it.reach {
            Reach::Hidden => hidden.push(it),
            _ => crates.entry(it.root.clone()).or_default().push(it),
        }
    }
    tell(reading, all, crates.values().flatten().count());
    // The code has the last word: what was said of the source is only kept where there is no such word.
    let mut problems: Vec<Problem> = hidden.iter().map(kept_private).collect();
    let refused = std::mem::take(&mut reading.problems);
    // Nor can it be asked for kinds that nobody knows the names of.
    let stays = |it: &Problem| match it.way.first() {
        Some(kind) => hidden.iter().any(|it| it.name == *kind),
        None => it.place.path.to_string().ends_with(".rs"),
    };
    let (untold, stay): (Vec<Problem>, Vec<Problem>) =
        refused.into_iter().filter(stays).partition(|it| it.way.is_empty() && told(reading, it));
    problems.extend(stay);
    reading.operator.warnings.extend(untold.into_iter().map(|it| Problem {
        message: format!("{}: of what it makes, only what `--type` names is printed", it.message),
        hint: None,
        ..it
    }));
    for kinds in crates.values() {
        let compiled = subject(top, kinds).compile()?;
        for kind in kinds {
            match &find(&compiled, kind)?.crd {
                Ok(crd) => problems.extend(settle(reading, kind, crd)?),
                Err(text) => {
                    reading.operator.resources.retain(|it| it.place != kind.place);
                    problems.push(Problem {
                        place: kind.place.clone(),
                        message: format!("kube panics over this schema: {text}"),
                        way: vec![kind.name.clone()],
                        hint: Some("change the type: kube itself can make no CRD of it".to_owned()),
                    });
                }
            }
        }
    }
    let of = |it: &Problem| it.way.first().cloned();
    let left: Vec<String> = problems.iter().filter_map(of).collect();
    reading.refused.retain(|it| it.kind.as_ref().is_some_and(|it| left.contains(it)));
    reading.operator.resources.sort_by(|one, other| one.place.cmp(&other.place));
    reading.problems = problems;
    Ok(())
}

/// Whether a person named kinds of the package that a problem is in.
fn told(reading: &Reading, problem: &Problem) -> bool {
    let path = problem.place.path.to_string();
    let inside = |it: &&Declared| match it.folder.as_str() {
        "" => true,
        folder => path.strip_prefix(folder).is_some_and(|it| it.starts_with('/')),
    };
    // The nearest package has it, where one is in another's folder.
    let nearest = reading.declared.iter().filter(inside).map(|it| it.folder.len()).max();
    let mut said = reading.declared.iter().filter(|it| it.reach == Reach::Said).filter(inside);
    said.any(|it| Some(it.folder.len()) == nearest)
}

/// Says why cargo is run.
fn tell(reading: &Reading, all: bool, kinds: usize) {
    let why = match (&reading.problems[..], all) {
        (_, true) => "to check what was read".to_owned(),
        ([], false) if kinds == 0 => return,
        ([], false) => "because `--type` names it".to_owned(),
        ([first, rest @ ..], false) => match rest.len() {
            0 => format!("because of {first}"),
            more => format!("because of {first}, and {more} more"),
        },
    };
    let kinds = if kinds == 1 { "one kind".to_owned() } else { format!("{kinds} kinds") };
    terminal::advise(&format!("compiling {kinds}, {why}\n"));
}

fn kept_private(kind: &Declared) -> Problem {
    Problem {
        place: kind.place.clone(),
        message: format!(
            "`{}` is private to a module, so that no other code can ask it for its CRD",
            kind.name
        ),
        way: vec![kind.name.clone()],
        hint: Some("make its module `pub(crate)`, or re-export the kind above it".to_owned()),
    }
}

/// Kinds of one crate, as they are asked for.
fn subject(top: &Path, kinds: &[Declared]) -> Subject {
    let first = &kinds[0];
    let folder = if first.folder.is_empty() { top.to_owned() } else { top.join(&first.folder) };
    let below = match first.folder.as_str() {
        "" => 0,
        folder => folder.len() + 1,
    };
    Subject {
        folder,
        top: top.to_owned(),
        features: first.features.clone(),
        krate: first.krate.clone(),
        root: first.root.as_str().get(below..).unwrap_or_default().to_owned(),
        target: first.target,
    }
}

/// What the compiled crate has of a kind.
fn find<'a>(compiled: &'a [Compiled], kind: &Declared) -> anyhow::Result<&'a Compiled> {
    let named: Vec<_> = compiled.iter().filter(|it| it.path.last() == Some(&kind.name)).collect();
    let whole = named.iter().find(|it| it.path == kind.path);
    let found = whole.or_else(|| named.first().filter(|_| named.len() == 1));
    found.copied().with_context(|| format!("`{}` printed nothing", kind.path.join("::")))
}

/// Takes what the code printed; says so where the source was read otherwise.
fn settle(reading: &mut Reading, kind: &Declared, crd: &Value) -> anyhow::Result<Option<Problem>> {
    let read = reading.operator.resources.iter().find(|it| it.place == kind.place);
    if let Some(read) = read.filter(|_| kind.reach != Reach::Said) {
        let found = manifests::crd_of(read);
        if found == *crd {
            return Ok(None);
        }
        let (at, read, compiled) = difference(String::new(), &found, crd);
        return Ok(Some(Problem {
            place: kind.place.clone(),
            message: format!(
                "`{}` is read otherwise than it compiles: at `{at}`, {read} was read, and {compiled} is compiled",
                kind.name
            ),
            way: vec![kind.name.clone()],
            hint: Some("this is a fault of operator-rs: please report it with the type".to_owned()),
        }));
    }
    let resource = manifests::resource_of(crd, kind.storage, &kind.place).with_context(|| {
        format!(
            "`crd()` of `{}` gives no CRD of one version whose names an API server takes",
            kind.name
        )
    })?;
    let storage = match kind.reach {
        Reach::Said => stored(reading, &resource, crd),
        _ => resource.storage,
    };
    reading.operator.resources.push(CustomResource { storage, ..resource });
    Ok(None)
}

/// Whether a version that a person names is the stored one: `crd()` of each says so where the source is silent,
/// and it is of the first one that is named then.
fn stored(reading: &Reading, it: &CustomResource, crd: &Value) -> Storage {
    let same = |other: &&CustomResource| other.group == it.group && other.kind == it.kind;
    let mut others = reading.operator.resources.iter().filter(same);
    let printed = crd.pointer("/spec/versions/0/storage") == Some(&Value::Bool(true));
    match printed && others.all(|it| it.storage == Storage::No) {
        true => Storage::Unsaid,
        false => Storage::No,
    }
}

/// The first place where two values differ, and what is there in each.
fn difference(at: String, one: &Value, other: &Value) -> (String, String, String) {
    let nothing = || "nothing".to_owned();
    let step = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys()) {
                match (left.get(key), right.get(key)) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(one), Some(other)) => return difference(step(key), one, other),
                    (Some(one), None) => return (step(key), one.to_string(), nothing()),
                    (None, Some(other)) => return (step(key), nothing(), other.to_string()),
                    (None, None) => {}
                }
            }
            (at, nothing(), nothing())
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let found = left.iter().zip(right).enumerate().find(|(_, (one, other))| one != other);
            match found {
                Some((index, (one, other))) => difference(format!("{at}[{index}]"), one, other),
                None => (at, nothing(), nothing()),
            }
        }
        _ => (at, one.to_string(), other.to_string()),
    }
}
