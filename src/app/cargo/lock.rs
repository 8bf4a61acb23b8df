//! Cargo.lock: the dependencies of a package, and a lock with additional packages. Pure: texts in, texts out.

use std::collections::BTreeSet;

use anyhow::Context as _;
use toml::{Table, Value};
use toml_edit::{Array, ArrayOfTables, DocumentMut, Item, value};

use super::UserPackage;
use crate::source::{Lock, Locked};

/// A package to add.
pub struct AddedPackage {
    pub name: String,
    pub version: String,
    /// The packages as Cargo.lock names them, with the version, so that each name is unambiguous.
    pub dependencies: Vec<String>,
}

/// Parses a Cargo.lock.
pub fn read(text: &str) -> anyhow::Result<Lock> {
    Lock::read(text).map_err(|(line, what)| anyhow::format_err!("Cargo.lock:{line}: {what}"))
}

/// Returns the lock with these packages added.
pub fn with(text: &str, added: &[AddedPackage]) -> anyhow::Result<String> {
    let mut lock: DocumentMut = text.parse().context("cannot parse Cargo.lock")?;
    let packages = lock.entry("package").or_insert_with(|| ArrayOfTables::new().into());
    let packages = packages
        .as_array_of_tables_mut()
        .context("`package` in Cargo.lock is not a list of tables")?;
    for it in added {
        packages.push(toml_edit::Table::from_iter([
            ("name", value(&it.name)),
            ("version", value(&it.version)),
            ("dependencies", Item::from(Array::from_iter(&it.dependencies))),
        ]));
    }
    Ok(lock.to_string())
}

/// Returns the locked dependencies of the user's package, and the package itself.
pub fn dependencies(text: &str, name: &str, version: &str) -> anyhow::Result<Vec<String>> {
    let lock: Table = text.parse().context("cannot parse Cargo.lock")?;
    let packages = lock.get("package").and_then(Value::as_array).into_iter().flatten();
    let is = |other: &&Value, key: &str, value: &str| {
        other.get(key).and_then(Value::as_str).is_some_and(|it| it == value)
    };
    let found = { packages }.find(|value| is(value, "name", name) && is(value, "version", version));
    let list =
        found.and_then(|package| package.get("dependencies")?.as_array()).into_iter().flatten();
    let mut res: Vec<String> = list.filter_map(|value| value.as_str().map(str::to_owned)).collect();
    res.push(format!("{name} {version}"));
    Ok(res)
}

/// Returns every package of a name among the direct and indirect dependencies of the user's package.
pub fn below<'a>(lock: &'a Lock, from: &str, wanted: &str) -> Vec<&'a Locked> {
    collect_dependencies(lock, lock.versions_of(from).to_vec(), wanted)
}

/// Returns whether the lock has every dependency of the user's package.
pub fn is_current(text: &str, package: &UserPackage<'_>) -> anyhow::Result<bool> {
    let locked = read(text)?;
    let Some(index) = locked.versions_of(package.name()?).first() else { return Ok(false) };
    let names: BTreeSet<&str> =
        locked.dependencies_of(*index).map(|index| locked.packages[index].name.as_str()).collect();
    let own = package.manifest.get("dependencies").and_then(Value::as_table).cloned();
    let named = package.dependencies(&own.unwrap_or_default());
    let is_locked = |(key, value): (&String, &Value)| {
        names.contains(value.get("package").and_then(Value::as_str).unwrap_or(key))
    };
    Ok(named.iter().all(is_locked))
}

/// Returns the direct dependency of a package that has this name.
pub fn direct<'a>(lock: &'a Lock, of: &Locked, wanted: &str) -> Option<&'a Locked> {
    let is = |index: &usize| {
        let it = &lock.packages[*index];
        it.name == of.name && it.version == of.version && it.source == of.source
    };
    let index = lock.versions_of(&of.name).iter().copied().find(is)?;
    lock.dependencies_of(index)
        .map(|index| &lock.packages[index])
        .find(|package| package.name == wanted)
}

fn collect_dependencies<'a>(
    lock: &'a Lock,
    mut queue: Vec<usize>,
    wanted: &str,
) -> Vec<&'a Locked> {
    let mut seen: BTreeSet<usize> = queue.iter().copied().collect();
    let mut packages = Vec::new();
    let mut at = 0;
    while let Some(index) = queue.get(at).copied() {
        at += 1;
        if lock.packages[index].name == wanted {
            packages.push(&lock.packages[index]);
        }
        queue.extend(lock.dependencies_of(index).filter(|index| seen.insert(*index)));
    }
    packages
}

#[test]
fn packages_are_added_to_a_lock() {
    let text = "version = 4\n
[[package]]\nname = \"it\"\nversion = \"0.1.0\"\ndependencies = [\n \"kube-core 5.0.0\",\n]\n
[[package]]\nname = \"kube-core\"\nversion = \"5.0.0\"\ndependencies = [\n \"k8s-openapi\",\n]\n
[[package]]\nname = \"kube-core\"\nversion = \"4.0.0\"\n
[[package]]\nname = \"k8s-openapi\"\nversion = \"0.29.0\"\n";
    let own = dependencies(text, "it", "0.1.0").expect("it is there");
    assert_eq!(own, ["kube-core 5.0.0", "it 0.1.0"]);
    let added =
        AddedPackage { name: "more".to_owned(), version: "1.0.0".to_owned(), dependencies: own };
    let lock: Table = with(text, &[added]).expect("it is added").parse().expect("toml");
    let mut expected: Table = text.parse().expect("toml");
    let more: Table =
        "name = \"more\"\nversion = \"1.0.0\"\ndependencies = [\"kube-core 5.0.0\", \"it 0.1.0\"]"
            .parse()
            .expect("toml");
    expected["package"].as_array_mut().expect("a list").push(more.into());
    assert_eq!(lock, expected);

    let lock = read(text).expect("it is as cargo writes it");
    let core = below(&lock, "it", "kube-core");
    assert_eq!(
        core.iter().map(|package| package.version.to_string()).collect::<Vec<_>>(),
        ["5.0.0"]
    );
    let kubernetes = direct(&lock, core[0], "k8s-openapi").expect("it depends on it");
    assert_eq!(kubernetes.version.to_string(), "0.29.0");
}
