//! Whether Cargo.lock names crates whose output is known here. Another version is refused by name: what it
//! would print may differ.

mod behaviour;
pub mod older;
mod rewriting;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use crate::model::{Place, Problem, SourcePath};
pub use behaviour::{Behaviour, KubeDerive};

/// What of the lock file is not known.
pub fn check(files: &BTreeMap<SourcePath, String>) -> Vec<Problem> {
    let lock = files.iter().find(|(path, _)| path.as_str() == "Cargo.lock");
    lock.map_or_else(Vec::new, |(path, text)| packages(path, text))
}

/// What the versions that Cargo.lock names do; where there is none, what the newest do.
pub fn behaviour(lock: Option<&str>) -> Behaviour {
    let found = lock.map(locked).unwrap_or_default();
    let mut res = Behaviour::NEWEST;
    for (name, oldest, _) in behaviour::known() {
        for package in candidates(&found, name, oldest) {
            // One that is not known is refused by `check`.
            res.take(name, package.version);
        }
    }
    res
}

struct Package<'a> {
    line: usize,
    version: &'a str,
    source: Option<&'a str>,
}

fn locked(text: &str) -> BTreeMap<&str, Vec<Package<'_>>> {
    let mut found: BTreeMap<&str, Vec<Package<'_>>> = BTreeMap::new();
    let mut name = "";
    for (index, line) in text.lines().enumerate() {
        let value = |key: &str| -> Option<&str> {
            line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"')
        };
        if let Some(it) = value("name") {
            name = it;
        } else if let Some(version) = value("version") {
            let package = Package { line: index + 1, version, source: None };
            found.entry(name).or_default().push(package);
        } else if let (Some(source), Some(list)) = (value("source"), found.get_mut(name))
            && let Some(package) = list.last_mut()
        {
            package.source = Some(source);
        }
    }
    found
}

/// Those of a package that may be meant. schemars 0.8 may be locked for another crate: kube 2 and later take 1.
fn candidates<'a, 'b>(
    found: &'b BTreeMap<&'a str, Vec<Package<'a>>>,
    name: &str,
    oldest: &str,
) -> Vec<&'b Package<'a>> {
    let all = || found.get(name).into_iter().flatten();
    let major = oldest.split('.').next().unwrap_or(oldest);
    let same: Vec<_> = all().filter(|it| it.version.split('.').next() == Some(major)).collect();
    match name.starts_with("schemars") && !same.is_empty() {
        true => same,
        false => all().collect(),
    }
}

fn packages(path: &SourcePath, text: &str) -> Vec<Problem> {
    let found = locked(text);
    let mut res = Vec::new();
    let mut refuse = |line: usize, message: String, hint: String| {
        let place = Place { path: path.clone(), line, column: 1 };
        res.push(Problem { way: Vec::new(), place, message, hint: Some(hint) });
    };
    for (name, oldest, newest) in behaviour::known() {
        let candidates = candidates(&found, name, oldest);
        // kube locks kube-core and kube-derive at its own version; schemars does so with its derive.
        let asked = match name {
            "kube-core" | "kube-derive" => "kube",
            "schemars_derive" | "serde_derive_internals" => "schemars",
            _ => name,
        };
        if let ([first, _, ..], true) = (&candidates[..], name.starts_with("kube")) {
            let message = format!(
                "`{name}` is locked in {} versions, and it is not said which one writes the CRDs",
                candidates.len()
            );
            let hint = "lock one: `cargo tree --duplicates` says who asks for another";
            refuse(first.line, message, hint.to_owned());
            continue;
        }
        for package in candidates {
            let version = package.version;
            if !package.source.is_some_and(|it| it.starts_with("registry+")) {
                let message =
                    format!("`{name}` is not the published one: what it prints is not known");
                refuse(package.line, message, format!("depend on the published `{name}` {newest}"));
            } else if Behaviour::default().take(name, version) {
                // Known.
            } else if before(version, oldest) {
                let message = format!(
                    "`{name}` {version} is locked, and what is older than {oldest} is not read"
                );
                let hint = format!("depend on `{asked}` {oldest} or newer");
                refuse(package.line, message, hint);
            } else {
                let message = format!("`{name}` {version} is locked, whose output is not known");
                let hint = format!(
                    "lock one that is known, up to {newest} (`cargo update -p {asked} --precise VERSION`); a newer operator-rs may know {version}"
                );
                refuse(package.line, message, hint);
            }
        }
    }
    res
}

fn before(one: &str, other: &str) -> bool {
    let parse = |it: &str| semver::Version::parse(it).ok();
    parse(one).zip(parse(other)).is_some_and(|(one, other)| one < other)
}
