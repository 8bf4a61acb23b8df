//! The Cargo.toml and Cargo.lock of a throwaway crate, from those of the user's package. Pure: texts in, texts out.

use std::{collections::BTreeSet, path::Path};

use anyhow::Context as _;
use toml::{Table, Value};

use crate::{
    model::Target,
    source::{Lock, Locked},
};

/// What cargo knows the throwaway crate by.
const NAME: &str = "operator-rs-crds";

/// The user's package, as its files say.
pub struct Package<'a> {
    pub folder: &'a Path,
    pub manifest: &'a Table,
    /// Where its workspace's Cargo.toml is, and what it says; the package's own where it is in none.
    pub top: &'a Path,
    pub workspace: &'a Table,
    pub lock: &'a str,
    /// What the program is called: a target folder may serve several projects.
    pub program: &'a str,
}

/// The crate that must be told a version of Kubernetes.
const KUBERNETES: &str = "k8s-openapi";

/// A crate that depends on the package's library, under the name `subject`, with just these features of it.
pub fn dependent(package: &Package<'_>, features: &[String]) -> anyhow::Result<(String, String)> {
    let name = name_of(package.manifest)?;
    let locked = locked(package.lock)?;
    let mut subject = Table::new();
    subject.insert("package".to_owned(), name.into());
    subject.insert("path".to_owned(), package.folder.to_string_lossy().into_owned().into());
    subject.insert("default-features".to_owned(), false.into());
    subject.insert("features".to_owned(), list(features));
    let mut dependencies = Table::new();
    dependencies.insert("subject".to_owned(), subject.into());
    let mut lines =
        format!("[[package]]\nname = \"{NAME}\"\nversion = \"0.0.0\"\ndependencies = [\n");
    for wanted in ["kube-core", "serde_json"] {
        let version = needed(&locked, name, wanted)?;
        dependencies.insert(wanted.to_owned(), requirement(version)?.into());
        lines.push_str(&format!(" \"{wanted} {}\",\n", version.version));
    }
    if let Some((key, it)) = of_developers(package)
        && let Ok(version) = needed(&locked, name, KUBERNETES)
    {
        lines.push_str(&format!(" \"{KUBERNETES} {}\",\n", version.version));
        dependencies.insert(key, it);
    }
    lines.push_str(&format!(" \"{name}\",\n]\n"));
    let mut manifest = head(package, NAME, "0.0.0");
    manifest.insert("dependencies".to_owned(), dependencies.into());
    let lock = format!("{}\n{lines}", package.lock.trim_end_matches('\n'));
    Ok((manifest.to_string(), lock + "\n"))
}

/// The package itself once more, with one library: the crate whose root is `root`, which the program calls.
pub fn shadow(
    package: &Package<'_>,
    krate: &str,
    root: &str,
    target: Target,
    features: &[String],
    own: &[(String, &str)],
) -> anyhow::Result<(String, String)> {
    let name = name_of(package.manifest)?;
    let beside_library = matches!(
        target,
        Target::Program { beside_library: true } | Target::Example { beside_library: true }
    );
    let inherited = |key: &str, value: &Value| inherited(value, package.workspace, "package", key);
    let said = package.manifest.get("package").and_then(Value::as_table);
    let said = said.context("Cargo.toml has no [package]")?;
    let version = said.get("version").and_then(|it| inherited("version", it));
    let version = version.and_then(|it| it.as_str().map(str::to_owned));
    let version = version.unwrap_or_else(|| "0.0.0".to_owned());
    // The binary's own library is the package by its own name and version: this one is another then.
    let shown = if beside_library { format!("{version}+operator-rs") } else { version.clone() };
    let mut manifest = head(package, name, &shown);
    let Some(Value::Table(table)) = manifest.get_mut("package") else {
        anyhow::bail!("Cargo.toml has no [package]");
    };
    for key in ["edition", "rust-version", "build", "links", "authors", "description", "homepage"]
        .into_iter()
        .chain(["repository", "license"])
    {
        if let Some(value) = said.get(key).and_then(|it| inherited(key, it)) {
            table.insert(key.to_owned(), value);
        }
    }
    for key in ["dependencies", "build-dependencies"] {
        if let Some(Value::Table(it)) = package.manifest.get(key) {
            manifest.insert(key.to_owned(), dependencies(it, package).into());
        }
    }
    let developed = match (target, package.manifest.get("dev-dependencies")) {
        (Target::Example { .. }, Some(Value::Table(it))) => dependencies(it, package),
        _ => of_developers(package).into_iter().collect(),
    };
    for (name, it) in developed {
        let table = manifest.entry("dependencies").or_insert_with(|| Table::new().into());
        let Value::Table(table) = table else { continue };
        let both = table.get(&name).map(|own| united(own, &it));
        table.insert(name, both.unwrap_or(it));
    }
    if let Some(Value::Table(targets)) = package.manifest.get("target") {
        let target = |it: &Value| -> Value {
            let mut res = Table::new();
            for key in ["dependencies", "build-dependencies"] {
                if let Some(Value::Table(it)) = it.get(key) {
                    res.insert(key.to_owned(), dependencies(it, package).into());
                }
            }
            res.into()
        };
        let targets: Table = targets.iter().map(|(key, it)| (key.clone(), target(it))).collect();
        manifest.insert("target".to_owned(), targets.into());
    }
    if let Some(it) = package.manifest.get("features") {
        manifest.insert("features".to_owned(), it.clone());
    }
    if beside_library {
        let mut library = Table::new();
        library.insert("path".to_owned(), package.folder.to_string_lossy().into_owned().into());
        library.insert("package".to_owned(), name.into());
        library.insert("default-features".to_owned(), false.into());
        let plain: Vec<String> = features.iter().filter(|it| !it.contains('/')).cloned().collect();
        library.insert("features".to_owned(), list(&plain));
        let own = package.manifest.get("lib").and_then(|it| it.get("name")?.as_str());
        let own = own.map_or_else(|| name.to_owned(), str::to_owned);
        let table = manifest.entry("dependencies").or_insert_with(|| Table::new().into());
        if let Value::Table(table) = table {
            table.insert(own, library.into());
        }
    }
    let locked = locked(package.lock)?;
    for (known_as, wanted) in own {
        let mut it = requirement(needed(&locked, name, wanted)?)?;
        it.insert("package".to_owned(), (*wanted).into());
        let table = manifest.entry("dependencies").or_insert_with(|| Table::new().into());
        if let Value::Table(table) = table {
            table.insert(known_as.clone(), it.into());
        }
    }
    let lib: Table =
        [("name".to_owned(), krate.into()), ("path".to_owned(), root.into())].into_iter().collect();
    manifest.insert("lib".to_owned(), lib.into());
    let mut lock = package.lock.to_owned();
    if beside_library {
        lock.push_str(&again(&lock, name, &version, &shown));
    }
    Ok((manifest.to_string(), lock))
}

/// By what name code of the package has this one, where it depends on it whatever its features are.
pub fn known(package: &Package<'_>, wanted: &str) -> Option<String> {
    let table = package.manifest.get("dependencies")?.as_table()?;
    let (name, _) = dependencies(table, package).into_iter().find(|(name, it)| {
        let called = it.get("package").and_then(Value::as_str).unwrap_or(name);
        called == wanted && it.get("optional").and_then(Value::as_bool) != Some(true)
    })?;
    Some(name.replace('-', "_"))
}

/// k8s-openapi as those have it who develop the package: a library leaves the version of Kubernetes to programs,
/// and does not compile where nobody chooses one.
fn of_developers(package: &Package<'_>) -> Option<(String, Value)> {
    let table = package.manifest.get("dev-dependencies")?.as_table()?;
    dependencies(table, package)
        .into_iter()
        .find(|(name, it)| it.get("package").and_then(Value::as_str).unwrap_or(name) == KUBERNETES)
}

/// What the manifests of both kinds of crate begin with.
fn head(package: &Package<'_>, name: &str, version: &str) -> Table {
    let mut about = Table::new();
    about.insert("name".to_owned(), name.into());
    about.insert("version".to_owned(), version.into());
    about.insert("edition".to_owned(), "2021".into());
    about.insert("publish".to_owned(), false.into());
    for key in ["autolib", "autobins", "autoexamples", "autotests", "autobenches"] {
        about.insert(key.to_owned(), false.into());
    }
    let bin: Table = [
        ("name".to_owned(), package.program.into()),
        ("path".to_owned(), "operator-rs-crds.rs".into()),
    ]
    .into_iter()
    .collect();
    let mut res = Table::new();
    res.insert("package".to_owned(), about.into());
    res.insert("bin".to_owned(), Value::Array(vec![bin.into()]));
    let resolver = package.workspace.get("workspace").and_then(|it| it.get("resolver"));
    let resolver = resolver.or_else(|| package.workspace.get("package")?.get("resolver"));
    let alone: Table = resolver.map(|it| ("resolver".to_owned(), it.clone())).into_iter().collect();
    res.insert("workspace".to_owned(), alone.into());
    if let Some(Value::Table(patch)) = package.workspace.get("patch") {
        let of = |it: &Value| match it {
            Value::Table(it) => it
                .iter()
                .map(|(name, it)| (name.clone(), placed(it, package.top)))
                .collect::<Table>()
                .into(),
            other => other.clone(),
        };
        let patch: Table = patch.iter().map(|(source, it)| (source.clone(), of(it))).collect();
        res.insert("patch".to_owned(), patch.into());
    }
    res
}

/// Dependencies as they are where they are not inherited, each path from the root.
fn dependencies(table: &Table, package: &Package<'_>) -> Table {
    let one = |name: &str, value: &Value| -> Value {
        let shared = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
        if !shared {
            return placed(value, package.folder);
        }
        let found =
            package.workspace.get("workspace").and_then(|it| it.get("dependencies")?.get(name));
        let mut res = match found {
            Some(Value::Table(it)) => it.clone(),
            Some(version) => [("version".to_owned(), version.clone())].into_iter().collect(),
            None => Table::new(),
        };
        for (key, it) in value.as_table().into_iter().flatten() {
            match (key.as_str(), it) {
                ("workspace", _) => {}
                ("features", Value::Array(more)) => match res.get_mut("features") {
                    Some(Value::Array(list)) => list.extend(more.iter().cloned()),
                    _ => drop(res.insert(key.clone(), it.clone())),
                },
                // Turning them off says nothing where the workspace has them on.
                ("default-features", Value::Boolean(false)) => {}
                _ => drop(res.insert(key.clone(), it.clone())),
            }
        }
        placed(&res.into(), package.top)
    };
    table.iter().map(|(name, it)| (name.clone(), one(name, it))).collect()
}

/// A dependency with the features of both.
fn united(one: &Value, other: &Value) -> Value {
    let features = |it: &Value| it.get("features").and_then(Value::as_array).cloned();
    let mut list = features(one).unwrap_or_default();
    list.extend(features(other).unwrap_or_default());
    let plain = |it: &Value| match it {
        Value::Table(it) => it.clone(),
        version => [("version".to_owned(), version.clone())].into_iter().collect(),
    };
    let mut res = plain(one);
    res.remove("optional");
    if [one, other]
        .iter()
        .any(|it| it.get("default-features").and_then(Value::as_bool) != Some(false))
    {
        res.remove("default-features");
    }
    res.insert("features".to_owned(), list.into());
    res.into()
}

fn placed(value: &Value, folder: &Path) -> Value {
    let mut res = value.clone();
    if let Some(Value::String(path)) = res.get_mut("path") {
        *path = folder.join(&*path).to_string_lossy().into_owned();
    }
    res
}

fn inherited(value: &Value, workspace: &Table, table: &str, key: &str) -> Option<Value> {
    let shared = value.get("workspace").and_then(Value::as_bool).unwrap_or(false);
    match shared {
        true => workspace.get("workspace")?.get(table)?.get(key).cloned(),
        false => Some(value.clone()),
    }
}

fn name_of(manifest: &Table) -> anyhow::Result<&str> {
    let name = manifest.get("package").and_then(|it| it.get("name")?.as_str());
    name.context("Cargo.toml has no package name")
}

fn list(features: &[String]) -> Value {
    features.iter().cloned().map(Value::from).collect::<Vec<_>>().into()
}

fn locked(lock: &str) -> anyhow::Result<Lock> {
    Lock::read(lock).map_err(|(line, what)| anyhow::format_err!("Cargo.lock:{line}: {what}"))
}

/// The version of a package that the user's own package comes to, by whatever way, in the fewest steps.
fn needed<'a>(lock: &'a Lock, from: &str, wanted: &str) -> anyhow::Result<&'a Locked> {
    let mut queue = lock.versions_of(from).to_vec();
    let mut seen: BTreeSet<usize> = queue.iter().copied().collect();
    let mut at = 0;
    while let Some(index) = queue.get(at).copied() {
        at += 1;
        let it = &lock.packages[index];
        if it.name == wanted {
            return Ok(it);
        }
        queue.extend(lock.dependencies_of(index).filter(|it| seen.insert(*it)));
    }
    anyhow::bail!("Cargo.lock has no `{wanted}` among what `{from}` depends on")
}

/// A dependency on just this version, from where the lock has it.
fn requirement(locked: &Locked) -> anyhow::Result<Table> {
    let mut res = Table::new();
    res.insert("version".to_owned(), format!("={}", locked.version).into());
    if let Some(git) = locked.source.as_deref().and_then(|it| it.strip_prefix("git+")) {
        let (url, rev) =
            git.rsplit_once('#').context("Cargo.lock has a git source without a commit")?;
        let (url, query) = url.split_once('?').unwrap_or((url, ""));
        res.insert("git".to_owned(), url.into());
        match query.split_once('=') {
            Some((key @ ("branch" | "tag" | "rev"), value)) => {
                drop(res.insert(key.to_owned(), value.into()))
            }
            _ => drop(res.insert("rev".to_owned(), rev.into())),
        }
    }
    Ok(res)
}

/// The lock's entry of a package once more, under another version, with the package itself to depend on.
fn again(lock: &str, name: &str, version: &str, shown: &str) -> String {
    let head = format!("[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
    let Some((_, rest)) = lock.split_once(&head) else { return String::new() };
    let block = rest.split("[[package]]").next().unwrap_or_default();
    let list = block.split_once("dependencies = [\n").map_or("", |(_, it)| it);
    let list = list.split(']').next().unwrap_or_default();
    format!(
        "\n[[package]]\nname = \"{name}\"\nversion = \"{shown}\"\ndependencies = [\n{list} \"{name} {version}\",\n]\n"
    )
}

#[test]
fn a_library_is_built_for_the_kubernetes_of_its_developers() {
    let manifest = "[package]\nname = \"it\"\n
[dependencies]\nk8s-openapi = { version = \"0.29\", default-features = false, features = [\"schemars\"] }
[dev-dependencies]\nk8s-openapi = { workspace = true, features = [\"v1_33\"] }\nother = \"1\"\n";
    let workspace = "[workspace.dependencies]\nk8s-openapi = { version = \"0.29\", default-features = false }\n";
    let manifest: Table = manifest.parse().expect("toml");
    let workspace: Table = workspace.parse().expect("toml");
    let locked = |name: &str, needs: &str| {
        format!(
            "[[package]]\nname = \"{name}\"\nversion = \"0.29.0\"\ndependencies = [\n{needs}]\n"
        )
    };
    let lock = [
        locked("it", " \"k8s-openapi\",\n \"kube-core\",\n \"serde_json\",\n"),
        locked("k8s-openapi", ""),
        locked("kube-core", ""),
        locked("serde_json", ""),
    ];
    let package = Package {
        folder: Path::new("/it"),
        manifest: &manifest,
        top: Path::new("/it"),
        workspace: &workspace,
        lock: &lock.concat(),
        program: "crds",
    };
    let (apart, lock) = dependent(&package, &[]).expect("made");
    let (beside, _) =
        shadow(&package, "it", "src/lib.rs", Target::Library, &[], &[]).expect("made");
    let found = |text: &str| {
        let table: Table = text.parse().expect("toml");
        table["dependencies"]["k8s-openapi"].to_string()
    };
    let plain = "{ default-features = false, features = [\"v1_33\"], version = \"0.29\" }";
    assert_eq!(found(&apart), plain);
    assert_eq!(found(&beside), plain.replace("[\"v", "[\"schemars\", \"v"));
    assert!(lock.contains(" \"k8s-openapi 0.29.0\",\n \"it\",\n]"), "{lock}");
}
