//! The package that gets a new file: how its code reaches the file, and the dependencies that it lacks.

use std::path::Path;

use toml::{Table, Value};

use super::Context;
use crate::{
    app::cargo::{self, lock},
    plan::WorkTree,
    source::Lock,
};
use diagnostics::Hint as _;
use model::{Found, ProjectPath, RUST_KEYWORDS, Tree as _};

pub struct Package {
    /// None at the top.
    folder: Option<ProjectPath>,
    name: String,
    manifest: Table,
    /// `[workspace.dependencies]`.
    shared: Table,
    lock: Option<Lock>,
}

/// A module that is not declared yet.
struct Module {
    name: String,
    /// The file that its `mod` line belongs in.
    parent: String,
}

impl Package {
    /// The package that a new file is a module of.
    pub fn of(tree: &WorkTree<'_>, path: &ProjectPath) -> anyhow::Result<Self> {
        require_module(path, path.name().strip_suffix(".rs").unwrap_or_default())?;
        let read = |path: &str| {
            let text = tree.read(&path.parse()?)?;
            text.map(|it| cargo::parse(Path::new(path), &it)).transpose()
        };
        let mut folder = path.parent();
        let (manifest, name) = loop {
            let prefix = folder.as_ref().map_or(String::new(), |it| format!("{it}/"));
            let manifest = read(&format!("{prefix}Cargo.toml"))?.unwrap_or_default();
            let name = manifest.get("package").and_then(|it| it.get("name")?.as_str());
            if let Some(name) = name.map(str::to_owned) {
                break (manifest, name);
            }
            let Some(here) = folder else { return no_module(path) };
            folder = here.parent();
        };
        let top = read("Cargo.toml")?.unwrap_or_default();
        let shared = top.get("workspace").and_then(|it| it.get("dependencies")?.as_table());
        let lock = tree.read(&ProjectPath::fixed("Cargo.lock"))?;
        let lock = lock.and_then(|it| lock::read(&it).ok());
        Ok(Self { folder, name, manifest, shared: shared.cloned().unwrap_or_default(), lock })
    }

    /// Its directory, seen from the top.
    pub fn folder(&self) -> &str {
        self.folder.as_ref().map_or("", |it| it.as_str())
    }

    /// What is left to do by hand. `root` is the root file of the crate with the type.
    pub fn steps(
        &self,
        tree: &WorkTree<'_>,
        path: &ProjectPath,
        root: Option<&str>,
        context: &Context<'_>,
    ) -> anyhow::Result<Vec<String>> {
        let modules = self.modules(tree, path, root)?;
        let line = |it: &Module| format!("add `pub mod {};` to {}", it.name, it.parent);
        let mut res: Vec<String> = modules.iter().map(line).collect();
        res.extend(self.missing(context));
        if context.controller {
            let names: Vec<&str> = modules.iter().rev().map(|it| it.name.as_str()).collect();
            let names = names.join("::");
            res.push(format!("await `{names}::run(client)` beside the other controllers"));
            let role =
                "give the operator's role the permissions in the `+kubebuilder:rbac` comments";
            res.push(role.to_owned());
        }
        Ok(res)
    }

    /// The modules that lead to a file and are not declared yet: the innermost first.
    fn modules(
        &self,
        tree: &WorkTree<'_>,
        path: &ProjectPath,
        root: Option<&str>,
    ) -> anyhow::Result<Vec<Module>> {
        let prefix = self.folder.as_ref().map_or(String::new(), |it| format!("{it}/"));
        let of_lib = self.manifest.get("lib").into_iter();
        let of_bins = self.manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
        let targets = of_lib.chain(of_bins).filter_map(|it| it.get("path")?.as_str());
        let mut roots: Vec<String> = root.map(str::to_owned).into_iter().collect();
        roots.extend(targets.map(|it| format!("{prefix}{it}")));
        let mut name = path.name().trim_end_matches(".rs").to_owned();
        let mut folder = path.parent();
        let mut res = Vec::new();
        while let Some(here) = folder.filter(|it| Some(it) != self.folder.as_ref()) {
            // Cargo makes a program of each file there.
            if here.as_str() == format!("{prefix}src/bin") {
                break;
            }
            let root = roots
                .iter()
                .filter(|it| it.rsplit_once('/').is_some_and(|it| it.0 == here.as_str()));
            let usual = ["/lib.rs", "/main.rs", "/mod.rs", ".rs"].map(|it| format!("{here}{it}"));
            for parent in root.cloned().chain(usual) {
                if tree.look(&parent.parse()?)? != Found::Nothing {
                    res.push(Module { name, parent });
                    return Ok(res);
                }
            }
            res.push(Module { name, parent: format!("{here}/mod.rs") });
            name = here.name().to_owned();
            require_module(path, &name)?;
            folder = here.parent();
        }
        no_module(path)
    }

    /// The commands that add the dependencies of the new file that the package lacks.
    fn missing(&self, context: &Context<'_>) -> Vec<String> {
        let mut used = vec![("kube", vec![]), ("k8s-openapi", vec![]), ("serde_json", vec![])];
        if context.resource {
            used[0].1.push("derive");
            used.extend([("schemars", vec![]), ("serde", vec!["derive"])]);
        }
        if context.controller {
            used[0].1.extend(["client", "runtime"]);
            used.extend([("futures", vec![]), ("tracing", vec![])]);
        }
        let mut plain = String::new();
        let mut res = Vec::new();
        for (name, mut features) in used {
            let on = self.features(name);
            let version = match &on {
                Some(on) => {
                    features.retain(|it| !on.contains(it));
                    String::new()
                }
                None => self.locked(name).unwrap_or_default(),
            };
            match features.as_slice() {
                [] if on.is_some() => {}
                [] => plain += &format!(" {name}{version}"),
                features => res.push(format!(
                    "cargo add --package {} {name}{version} --features {}",
                    self.name,
                    features.join(",")
                )),
            }
        }
        if !plain.is_empty() {
            res.push(format!("cargo add --package {}{plain}", self.name));
        }
        res
    }

    /// The features of a dependency that Cargo.toml turns on; none if it is no dependency. `client` is one of kube's defaults.
    fn features(&self, name: &str) -> Option<Vec<&str>> {
        let all = self.manifest.get("dependencies")?.as_table()?;
        let own = dependency(all, name)?;
        let shared = own.get("workspace").and_then(|_| dependency(&self.shared, name));
        let lists = [Some(own), shared].into_iter().flatten();
        let lists = lists.filter_map(|it| it.get("features")?.as_array());
        let mut res: Vec<&str> = lists.flatten().filter_map(Value::as_str).collect();
        let defaults = shared.unwrap_or(own).get("default-features");
        if defaults.and_then(Value::as_bool) != Some(false) {
            res.push("client");
        }
        Some(res)
    }

    /// The version in Cargo.lock, as `cargo add` takes it; that of kube, where there are several.
    fn locked(&self, name: &str) -> Option<String> {
        let lock = self.lock.as_ref()?;
        let of_kube = lock.versions_of("kube-core").first();
        let of_kube = of_kube.map(|it| lock.dependencies_named(*it, name)).unwrap_or_default();
        let [one] = of_kube.as_slice() else { return None };
        let version = &lock.packages[*one].version;
        Some(match version.major {
            0 => format!("@0.{}", version.minor),
            major => format!("@{major}"),
        })
    }
}

/// Refuses a path of which this part cannot be a module.
fn require_module(path: &ProjectPath, name: &str) -> anyhow::Result<()> {
    let inside = |it: char| it.is_ascii_lowercase() || it.is_ascii_digit() || it == '_';
    let is_name = name.starts_with(|it: char| it.is_ascii_lowercase()) && name.chars().all(inside);
    let is_taken = RUST_KEYWORDS.contains(&name) || ["main", "lib"].contains(&name);
    match is_name && !is_taken {
        true => Ok(()),
        false => Err(anyhow::format_err!("`{path}` is not the file of a Rust module"))
            .hint("name a file such as `src/memcached.rs`: lowercase letters, digits and `_`, and no keyword of Rust"),
    }
}

fn no_module<T>(path: &ProjectPath) -> anyhow::Result<T> {
    Err(anyhow::format_err!("`{path}` would be no module of a package"))
        .hint("name a file beside or below the root file of a crate, e.g. `src/memcached.rs`")
}

/// The entry of a dependency, whichever of `-` and `_` its name has.
fn dependency<'a>(all: &'a Table, name: &str) -> Option<&'a Value> {
    let same = |it: &str| it.replace('-', "_") == name.replace('-', "_");
    all.iter().find(|it| same(it.0)).map(|it| it.1)
}
