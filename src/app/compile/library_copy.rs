//! A copy of the user's package with a single library, whose root is that of a program or an example, so that another
//! program can be linked with it. The other files are symlinks. Pure: values in, text out.

use anyhow::Context as _;
use toml::{Table, Value};

use super::manifest::{list, package_table};
use crate::app::cargo::UserPackage;
use crate::project::Target;

/// The feature that turns on features of dependencies, which only the package itself can do.
const OF_DEPENDENCIES: &str = "operator-rs-of-dependencies";

const KEEP: &str = "
#[doc(hidden)]
#[allow(warnings)]
pub mod operator_rs_crds {
    pub fn keep() {
        let _ = super::main;
    }
}
";

/// One crate of the package, as a library.
pub struct LibraryCopy<'a> {
    pub krate: &'a str,
    /// Its root file, relative to the package's folder, with `/`.
    pub root: &'a str,
    pub target: Target,
    /// Features of the package, and features of dependencies as `a/b`.
    pub features: &'a [String],
}

impl LibraryCopy<'_> {
    /// Returns whether the package's own library is a dependency, because the crate may use it.
    pub fn is_beside_library(&self) -> bool {
        matches!(
            self.target,
            Target::Program { beside_library: true } | Target::Example { beside_library: true }
        )
    }

    /// Returns the version of the package, made different from its library's if that is a dependency.
    pub fn version(&self, package: &UserPackage<'_>) -> String {
        let version = package.version();
        match (self.is_beside_library(), version.contains('+')) {
            (true, false) => format!("{version}+operator-rs"),
            (true, true) => format!("{version}.operator-rs"),
            (false, _) => version,
        }
    }

    /// Returns the root file. Its `main` is referenced, so that no code of a program counts as dead.
    pub fn root(&self, text: &str) -> String {
        match self.target {
            Target::Library => text.to_owned(),
            _ => format!("{text}{KEEP}"),
        }
    }

    /// Returns the features that the program requires.
    pub fn features(&self) -> Vec<String> {
        let mut res = self.own_features();
        if res.len() < self.features.len() {
            res.push(OF_DEPENDENCIES.to_owned());
        }
        res
    }

    fn own_features(&self) -> Vec<String> {
        self.features.iter().filter(|feature| !feature.contains('/')).cloned().collect()
    }

    /// Returns the Cargo.toml.
    pub fn manifest(&self, package: &UserPackage<'_>) -> anyhow::Result<String> {
        let mut manifest = Table::new();
        manifest.insert("package".to_owned(), self.package_table(package)?.into());
        for key in ["dependencies", "build-dependencies"] {
            if let Some(Value::Table(it)) = package.manifest.get(key) {
                manifest.insert(key.to_owned(), package.dependencies(it).into());
            }
        }
        add_dependencies(&mut manifest, self.of_developers(package));
        if let Some(Value::Table(targets)) = package.manifest.get("target") {
            let targets =
                targets.iter().map(|(key, target)| (key.clone(), of_target(target, package)));
            manifest.insert("target".to_owned(), targets.collect::<Table>().into());
        }
        let features = package.manifest.get("features").and_then(Value::as_table);
        let mut features = features.cloned().unwrap_or_default();
        let of_dependencies = self.features.iter().filter(|feature| feature.contains('/')).cloned();
        features.insert(OF_DEPENDENCIES.to_owned(), list(&of_dependencies.collect::<Vec<_>>()));
        manifest.insert("features".to_owned(), features.into());
        if self.is_beside_library() {
            add_dependencies(
                &mut manifest,
                [self.library_dependency(package)?].into_iter().collect(),
            );
        }
        let lib = [("name", self.krate), ("path", self.root)]
            .map(|(key, text)| (key.to_owned(), text.into()));
        manifest.insert("lib".to_owned(), Table::from_iter(lib).into());
        Ok(manifest.to_string())
    }

    fn package_table(&self, package: &UserPackage<'_>) -> anyhow::Result<Table> {
        let own = package.manifest.get("package").and_then(Value::as_table);
        let own = own.context("Cargo.toml has no [package]")?;
        let mut table = package_table(package.name()?, &self.version(package));
        let keys = ["edition", "rust-version", "build", "links", "authors", "description"];
        for key in keys.into_iter().chain(["homepage", "repository", "license"]) {
            match own.get(key).map(|value| package.inherited(key, value)) {
                Some(Some(value)) => drop(table.insert(key.to_owned(), value)),
                // Cargo's default.
                _ if key == "edition" => drop(table.insert(key.to_owned(), "2015".into())),
                _ => {}
            }
        }
        Ok(table)
    }

    /// Returns the dev-dependencies, for an example; for a program, only the version of Kubernetes.
    fn of_developers(&self, package: &UserPackage<'_>) -> Table {
        match (self.target, package.manifest.get("dev-dependencies")) {
            (Target::Example { .. }, Some(Value::Table(it))) => package.dependencies(it),
            _ => package.kubernetes_of_developers().into_iter().collect(),
        }
    }

    /// Returns the package's own library as a dependency, by its name in code.
    fn library_dependency(&self, package: &UserPackage<'_>) -> anyhow::Result<(String, Value)> {
        let mut library = Table::new();
        library.insert("path".to_owned(), package.folder.to_string_lossy().into_owned().into());
        library.insert("package".to_owned(), package.name()?.into());
        library.insert("default-features".to_owned(), false.into());
        library.insert("features".to_owned(), list(&self.own_features()));
        let name = package.manifest.get("lib").and_then(|value| value.get("name")?.as_str());
        Ok((name.unwrap_or(package.name()?).to_owned(), library.into()))
    }
}

/// Adds dependencies; one that exists already gets the features of both.
fn add_dependencies(manifest: &mut Table, more: Table) {
    let table = manifest.entry("dependencies").or_insert_with(|| Table::new().into());
    let Value::Table(table) = table else { return };
    for (name, it) in more {
        let both = table.get(&name).map(|own| merge_features(own, &it));
        table.insert(name, both.unwrap_or(it));
    }
}

fn of_target(target: &Value, package: &UserPackage<'_>) -> Value {
    let mut table = Table::new();
    for key in ["dependencies", "build-dependencies"] {
        if let Some(Value::Table(it)) = target.get(key) {
            table.insert(key.to_owned(), package.dependencies(it).into());
        }
    }
    table.into()
}

/// Returns a dependency with the features of both.
fn merge_features(one: &Value, other: &Value) -> Value {
    let features = |value: &Value| value.get("features").and_then(Value::as_array).cloned();
    let mut features_of_both = features(one).unwrap_or_default();
    features_of_both.extend(features(other).unwrap_or_default());
    let mut res = match one {
        Value::Table(it) => it.clone(),
        version => [("version".to_owned(), version.clone())].into_iter().collect(),
    };
    res.remove("optional");
    let without_default =
        |value: &&Value| value.get("default-features").and_then(Value::as_bool) == Some(false);
    if ![one, other].iter().all(without_default) {
        res.remove("default-features");
    }
    res.insert("features".to_owned(), features_of_both.into());
    res.into()
}
