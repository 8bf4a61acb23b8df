//! The package that gets a new file: how its code reaches the file, and the dependencies that it lacks.

use std::path::Path;

use toml::{Table, Value};

use super::InPlaceContext;
use crate::{
    app::cargo::{self, lock},
    plan::WorkTree,
    source::Lock,
};
use diagnostics::Hint as _;
use model::{FileContent, ProjectPath, RUST_KEYWORDS, Tree as _};

pub struct TargetPackage {
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

impl TargetPackage {
    /// The package that a new file is a module of.
    pub fn find_for(tree: &WorkTree<'_>, path: &ProjectPath) -> anyhow::Result<Self> {
        require_module(path, path.name().strip_suffix(".rs").unwrap_or_default())?;
        let read = |path: &str| {
            let text = tree.read_text(&path.parse()?)?;
            text.map(|text| cargo::parse(Path::new(path), &text)).transpose()
        };
        let mut folder = path.parent();
        let (manifest, name) = loop {
            let prefix = folder.as_ref().map_or(String::new(), |folder| format!("{folder}/"));
            let manifest = read(&format!("{prefix}Cargo.toml"))?.unwrap_or_default();
            let name = manifest.get("package").and_then(|package| package.get("name")?.as_str());
            if let Some(name) = name.map(str::to_owned) {
                break (manifest, name);
            }
            let Some(here) = folder else { return no_module(path) };
            folder = here.parent();
        };
        let top = read("Cargo.toml")?.unwrap_or_default();
        let shared =
            top.get("workspace").and_then(|workspace| workspace.get("dependencies")?.as_table());
        let lock = tree.read_text(&ProjectPath::fixed("Cargo.lock"))?;
        let lock = lock.and_then(|text| lock::read(&text).ok());
        Ok(Self { folder, name, manifest, shared: shared.cloned().unwrap_or_default(), lock })
    }

    /// Returns the prefix of the paths of its files.
    fn path_prefix(&self) -> String {
        self.folder.as_ref().map_or(String::new(), |folder| format!("{folder}/"))
    }

    /// Lists the steps that are left to do by hand.
    pub fn manual_steps(
        &self,
        tree: &WorkTree<'_>,
        path: &ProjectPath,
        context: &InPlaceContext<'_>,
    ) -> anyhow::Result<Vec<String>> {
        let (modules, call) = self.find_missing_modules(tree, path)?;
        let line = |module: &Module| format!("add `pub mod {};` to {}", module.name, module.parent);
        let mut steps: Vec<String> = modules.iter().map(line).collect();
        steps.extend(self.missing_dependency_commands(context));
        if context.controller {
            steps.push(format!("await `{call}::run(client)` beside the other controllers"));
            let role =
                "give the operator's role the permissions in the `+kubebuilder:rbac` comments";
            steps.push(role.to_owned());
        }
        Ok(steps)
    }

    /// The modules that lead to a file and are not declared yet, the innermost first; and its path in the code of a program.
    fn find_missing_modules(
        &self,
        tree: &WorkTree<'_>,
        path: &ProjectPath,
    ) -> anyhow::Result<(Vec<Module>, String)> {
        let roots = self.find_root_files(tree, path)?;
        let mut name = path.name().trim_end_matches(".rs").to_owned();
        let mut folder = path.parent();
        let (mut missing, mut call) = (Vec::new(), Vec::new());
        let mut is_declared = false;
        while let Some(here) = folder.filter(|here| Some(here) != self.folder.as_ref()) {
            // Cargo makes a program of each file there.
            if here
                .as_str()
                .strip_suffix("src/bin")
                .is_some_and(|prefix| prefix == self.path_prefix())
            {
                break;
            }
            call.push(name.clone());
            let in_it = |root: &&String| {
                root.rsplit_once('/').is_some_and(|parts| parts.0 == here.as_str())
            };
            let here_are: Vec<&String> = roots.iter().filter(in_it).collect();
            let has_name = |root: &&&String| {
                let text = root.parse().ok().and_then(|path| tree.read_text(&path).ok()?);
                text.is_some_and(|text| declares_module(&text, &name))
            };
            let root = here_are.iter().find(has_name).or(here_are.first()).copied();
            let usual = [format!("{here}/mod.rs"), format!("{here}.rs")];
            let parent = match root {
                Some(root) => root.clone(),
                // The modules of a root file are in the same folder.
                None if roots.contains(&usual[1]) => break,
                None => {
                    require_module(path, here.name())?;
                    let there = |file: &&String| {
                        file.parse().is_ok_and(|path| {
                            tree.read_content(&path)
                                .is_ok_and(|entry| entry != FileContent::Nothing)
                        })
                    };
                    usual.iter().find(there).unwrap_or(&usual[0]).clone()
                }
            };
            let text = tree.read_text(&parent.parse()?)?.unwrap_or_default();
            let has_it = declares_module(&text, &name);
            if has_it && missing.is_empty() && !is_declared {
                return Err(anyhow::format_err!("{parent} declares a module `{name}` already"))
                    .hint("give the new file another name");
            }
            is_declared |= has_it;
            if !is_declared {
                missing.push(Module { name, parent });
            }
            if let Some(root) = root {
                if let Some(krate) = self.library_name(root) {
                    call.push(krate);
                }
                call.reverse();
                return Ok((missing, call.join("::")));
            }
            name = here.name().to_owned();
            folder = here.parent();
        }
        no_module(path)
    }

    /// The root files of the package's crates, libraries first.
    fn find_root_files(
        &self,
        tree: &WorkTree<'_>,
        path: &ProjectPath,
    ) -> anyhow::Result<Vec<String>> {
        let prefix = self.path_prefix();
        let of_bins = self.manifest.get("bin").and_then(Value::as_array).into_iter().flatten();
        let targets = self.manifest.get("lib").into_iter().chain(of_bins);
        let targets = targets.filter_map(|target| target.get("path")?.as_str());
        let mut all: Vec<String> = targets.map(|path| format!("{prefix}{path}")).collect();
        all.extend(["src/lib.rs", "src/main.rs"].map(|file| format!("{prefix}{file}")));
        all.sort_by_key(|root| self.library_name(root).is_none());
        // Cargo makes a program of each file in src/bin, and of each directory there with a main.rs.
        if let Some(rest) = path.as_str().strip_prefix(&format!("{prefix}src/bin/"))
            && let Some((name, _)) = rest.split_once('/')
        {
            all.extend([
                format!("{prefix}src/bin/{name}/main.rs"),
                format!("{prefix}src/bin/{name}.rs"),
            ]);
        }
        let mut roots = Vec::new();
        for root in all {
            if tree.read_content(&root.parse()?)? != FileContent::Nothing {
                roots.push(root);
            }
        }
        Ok(roots)
    }

    /// The name of the library with this root file.
    fn library_name(&self, root: &str) -> Option<String> {
        let prefix = self.path_prefix();
        let lib = self.manifest.get("lib");
        let text = |key| lib.and_then(|lib| lib.get(key)?.as_str());
        let own = format!("{prefix}{}", text("path").unwrap_or("src/lib.rs"));
        (root == own).then(|| text("name").unwrap_or(&self.name).replace('-', "_"))
    }

    /// The commands that add the dependencies of the new file that the package lacks.
    fn missing_dependency_commands(&self, context: &InPlaceContext<'_>) -> Vec<String> {
        let mut used = vec![("kube", vec![]), ("k8s-openapi", vec![]), ("serde_json", vec![])];
        used[0].1.push("derive");
        used.extend([("schemars", vec![]), ("serde", vec!["derive"])]);
        if context.controller {
            used[0].1.extend(["client", "runtime"]);
            used.extend([("futures", vec![]), ("tracing", vec![])]);
        }
        let mut plain = String::new();
        let mut commands = Vec::new();
        for (name, mut features) in used {
            let on = self.enabled_features(name);
            let version = match &on {
                Some(on) => {
                    features.retain(|feature| !on.contains(feature));
                    String::new()
                }
                None => self.locked_version(name).unwrap_or_default(),
            };
            match features.as_slice() {
                [] if on.is_some() => {}
                [] => plain += &format!(" {name}{version}"),
                features => commands.push(format!(
                    "cargo add --package {} {name}{version} --features {}",
                    self.name,
                    features.join(",")
                )),
            }
        }
        if !plain.is_empty() {
            commands.push(format!("cargo add --package {}{plain}", self.name));
        }
        commands
    }

    /// The features of a dependency that Cargo.toml turns on; none if it is no dependency. `client` is one of kube's defaults.
    fn enabled_features(&self, name: &str) -> Option<Vec<&str>> {
        let all = self.manifest.get("dependencies")?.as_table()?;
        let own = find_dependency(all, name)?;
        let shared = own.get("workspace").and_then(|_| find_dependency(&self.shared, name));
        let lists = [Some(own), shared].into_iter().flatten();
        let lists = lists.filter_map(|dependency| dependency.get("features")?.as_array());
        let mut features: Vec<&str> = lists.flatten().filter_map(Value::as_str).collect();
        let defaults = shared.unwrap_or(own).get("default-features");
        if defaults.and_then(Value::as_bool) != Some(false) {
            features.push("client");
        }
        Some(features)
    }

    /// The version in Cargo.lock, as `cargo add` takes it; that of kube, where there are several.
    fn locked_version(&self, name: &str) -> Option<String> {
        let lock = self.lock.as_ref()?;
        let of_kube = lock.versions_of("kube-core").first();
        let of_kube = of_kube.map(|kube| lock.dependencies_named(*kube, name)).unwrap_or_default();
        let [one] = of_kube.as_slice() else { return None };
        let version = &lock.packages[*one].version;
        Some(match version.major {
            0 => format!("@0.{}", version.minor),
            major => format!("@{major}"),
        })
    }
}

/// Returns whether code has a `mod` with this name, also in a comment.
fn declares_module(text: &str, name: &str) -> bool {
    let mut words = text
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .filter(|word| !word.is_empty());
    let mut before = "";
    words.any(|word| std::mem::replace(&mut before, word) == "mod" && word == name)
}

/// Refuses a path of which this part cannot be a module.
fn require_module(path: &ProjectPath, name: &str) -> anyhow::Result<()> {
    let inside = |character: char| {
        character.is_ascii_lowercase() || character.is_ascii_digit() || character == '_'
    };
    let is_name = name.starts_with(|character: char| character.is_ascii_lowercase())
        && name.chars().all(inside);
    let is_taken = RUST_KEYWORDS.contains(&name) || ["main", "lib"].contains(&name);
    if is_name && !is_taken {
        Ok(())
    } else {
        Err(anyhow::format_err!("`{path}` is not the file of a Rust module"))
            .hint("name a file such as `src/memcached.rs`: lowercase letters, digits and `_`, and no keyword of Rust")
    }
}

fn no_module<T>(path: &ProjectPath) -> anyhow::Result<T> {
    Err(anyhow::format_err!("`{path}` would be no module of a package"))
        .hint("name a file beside or below the root file of a crate, e.g. `src/memcached.rs`")
}

/// The entry of a dependency, whichever of `-` and `_` its name has.
fn find_dependency<'a>(all: &'a Table, name: &str) -> Option<&'a Value> {
    let same = |key: &str| key.replace('-', "_") == name.replace('-', "_");
    all.iter().find(|entry| same(entry.0)).map(|entry| entry.1)
}
