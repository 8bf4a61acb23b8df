//! What kube's own `crd()` prints, asked of the user's code by a throwaway program under the target folder.
//!
//! The program is linked with the crate that has the kinds and calls their functions by the symbols that were found
//! in it: so it needs no path that the language would let it name. A program's root, an example's, or a library
//! that cargo cannot link with, is built once more as a library. Nothing is written into the project, and its lock
//! is kept.

mod complete;
mod lock;
mod manifest;
mod messages;
mod program;
mod shadow;
mod symbols;

use std::{
    collections::BTreeSet,
    ffi::OsString,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde_json::Value;
use toml::Table;

use self::{lock::Added, manifest::Package, messages::Built, shadow::Shadow};
use crate::{
    disk::{self, Root, Throwaway},
    hint::Hint as _,
    model::Target,
    process, terminal,
};
pub use complete::complete;

/// One crate of the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The folder of its package's Cargo.toml, and of its workspace's, both whole.
    pub folder: PathBuf,
    pub top: PathBuf,
    /// Those that are on in the package, and no other; those of dependencies as `a/b`.
    pub features: Vec<String>,
    /// The name that code knows the crate by.
    pub krate: String,
    /// Its root file, from the package's folder, with `/`.
    pub root: String,
    pub target: Target,
}

/// A kind of a compiled crate.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// The path of its struct from the crate's root, where it is defined.
    pub path: Vec<String>,
    /// What `crd()` returned, or kube's panic.
    pub crd: Result<Value, String>,
}

/// Where the throwaway program is built.
struct Workshop {
    cargo: String,
    /// The workspace of the user, whose configuration and toolchain cargo is to follow.
    top: PathBuf,
    root: Root,
    target: PathBuf,
    program: String,
}

impl Subject {
    /// Every kind that the crate has, in the order of their paths.
    pub fn compile(&self) -> anyhow::Result<Vec<Compiled>> {
        let manifest = read(&self.folder.join("Cargo.toml"))?;
        let workspace = read(&self.top.join("Cargo.toml"))?;
        let lock = disk::text(&self.top.join("Cargo.lock"))
            .hint("run `cargo generate-lockfile`: what is compiled is what the lock says")?;
        let package = Package {
            folder: &self.folder,
            manifest: &manifest,
            top: &self.top,
            workspace: &workspace,
        };
        let workshop = self.workshop()?;
        let mut throwaway = self.throwaway(&package, &lock, &workshop)?;
        throwaway.files.insert(program::FILE.to_owned(), program::text(&[])?);
        throwaway.put(&workshop.root)?;
        let built = Built::read(
            &workshop
                .cargo("build", &["--lib"])
                .with_context(|| format!("`{}` does not compile", self.krate))?,
        );
        self.check_kubernetes(&package, &lock, &built)?;
        let symbols = self.symbols(&workshop, &built)?;
        if symbols.is_empty() {
            return Ok(Vec::new());
        }
        throwaway.files.insert(program::FILE.to_owned(), program::text(&symbols)?);
        throwaway.put(&workshop.root)?;
        let output = workshop.cargo("run", &["--quiet", "--bin", &workshop.program]);
        let output =
            output.with_context(|| format!("the CRDs of `{}` are not printed", self.krate))?;
        let printed = program::printed(&output, symbols.len());
        let whole = |(crd, symbol): (Option<_>, symbols::Symbol)| {
            let crd =
                crd.with_context(|| format!("`{}` printed nothing", symbol.path.join("::")))?;
            Ok(Compiled { path: symbol.path, crd })
        };
        printed.into_iter().zip(symbols).map(whole).collect()
    }

    fn workshop(&self) -> anyhow::Result<Workshop> {
        let target = target_folder(&self.top)?;
        let program = self.program();
        let folder = target.join("operator-rs").join(&program);
        let root = Root::output(&self.top, &folder)
            .hint("name another target folder: `export CARGO_TARGET_DIR=…`")?;
        // Held until cargo is done: another run would sweep what this one builds.
        root.wait(|| terminal::advise("waiting for another operator-rs that compiles here\n"))?;
        // Cargo names itself to what it runs, so that `cargo +nightly …` stays with its toolchain.
        let cargo = terminal::variable("CARGO")?.unwrap_or_else(|| "cargo".to_owned());
        Ok(Workshop { cargo, top: self.top.clone(), root, target, program })
    }

    /// A name of its own for each crate of each project.
    fn program(&self) -> String {
        let mut hasher = DefaultHasher::new();
        (&self.folder, &self.root).hash(&mut hasher);
        format!("{}-crds-{:08x}", self.krate, hasher.finish() as u32)
    }

    /// The throwaway workspace, but for the program's own file.
    fn throwaway(
        &self,
        package: &Package<'_>,
        lock: &str,
        workshop: &Workshop,
    ) -> anyhow::Result<Throwaway> {
        let name = package.name()?.to_owned();
        let locked = lock::read(lock)?;
        let core = lock::below(&locked, &name, "kube-core");
        let core = core.first().with_context(|| format!("`{name}` does not depend on kube"))?;
        let need = |wanted: &str| {
            let found = lock::direct(&locked, core, wanted);
            found.with_context(|| format!("Cargo.lock has no `{wanted}` below `kube-core`"))
        };
        let (kubernetes, json) = (need(manifest::KUBERNETES)?, need("serde_json")?);
        let shadow = self.shadow(package);
        let folder = workshop.root.real().join(SUBJECT);
        let (subject, version, features) = match &shadow {
            Some(it) => (folder.as_path(), it.version(package), it.features()),
            None => (self.folder.as_path(), package.version(), self.features.clone()),
        };
        let mut res = match &shadow {
            Some(it) => self.shadow_files(it, package)?,
            None => Throwaway::default(),
        };
        let mut added = vec![Added {
            name: manifest::NAME.to_owned(),
            version: "0.0.0".to_owned(),
            dependencies: vec![
                format!("{} {}", kubernetes.name, kubernetes.version),
                format!("{} {}", json.name, json.version),
                format!("{name} {version}"),
            ],
        }];
        if let Some(it) = shadow.filter(Shadow::is_beside_library) {
            let dependencies = lock::dependencies(lock, &name, &package.version())?;
            added.push(Added { name, version: it.version(package), dependencies });
        }
        let program = manifest::Program {
            name: &workshop.program,
            subject,
            features: &features,
            kubernetes,
            json,
        };
        let manifest = manifest::program(package, &program)?;
        res.files.insert("Cargo.toml".to_owned(), manifest);
        res.files.insert("Cargo.lock".to_owned(), lock::with(lock, &added)?);
        res.files.insert(manifest::LIBRARY.to_owned(), "extern crate subject as _;\n".to_owned());
        Ok(res)
    }

    /// How the crate is built once more; nothing where cargo can link with it as it is.
    fn shadow(&self, package: &Package<'_>) -> Option<Shadow<'_>> {
        // A feature of a dependency can be asked for by the package itself only.
        let plain = self.features.iter().all(|it| !it.contains('/'));
        let types = package.manifest.get("lib").and_then(|it| it.get("crate-type"));
        let types = types.and_then(toml::Value::as_array);
        let links = |it: &toml::Value| matches!(it.as_str(), Some("lib" | "rlib"));
        let links = types.is_none_or(|it| it.iter().any(links));
        let shadow = self.target != Target::Library || !plain || !links;
        shadow.then_some(Shadow {
            krate: &self.krate,
            root: &self.root,
            target: self.target,
            features: &self.features,
        })
    }

    fn shadow_files(
        &self,
        shadow: &Shadow<'_>,
        package: &Package<'_>,
    ) -> anyhow::Result<Throwaway> {
        let mut res = Throwaway::default();
        let root = disk::text(&self.folder.join(&self.root))?;
        res.files.insert(format!("{SUBJECT}/Cargo.toml"), shadow.manifest(package)?);
        res.files.insert(format!("{SUBJECT}/{}", self.root), shadow.root(&root));
        // Each folder on the way to the root file is one of ours; everything beside that way is linked.
        let parts: Vec<&str> = self.root.split('/').collect();
        for (depth, part) in parts.iter().enumerate() {
            let above: String = parts[..depth].iter().map(|it| format!("{it}/")).collect();
            for name in disk::names(&self.folder.join(&above))? {
                let name = name.trim_end_matches('/');
                let ours =
                    depth == 0 && ["Cargo.toml", "Cargo.lock", "target", ".git"].contains(&name);
                if name != *part && !ours {
                    let path = format!("{above}{name}");
                    res.links.insert(format!("{SUBJECT}/{path}"), self.folder.join(path));
                }
            }
        }
        Ok(res)
    }

    /// Refuses a crate whose kinds are built with another k8s-openapi than the program.
    fn check_kubernetes(
        &self,
        package: &Package<'_>,
        lock: &str,
        built: &Built,
    ) -> anyhow::Result<()> {
        let locked = lock::read(lock)?;
        let core: BTreeSet<&str> = (built.artifacts.iter())
            .filter(|it| it.name == "kube_core" && it.library().is_some())
            .map(messages::Artifact::version)
            .collect();
        let all = lock::below(&locked, package.name()?, "kube-core");
        let types = |it: &&str| {
            let core = all.iter().find(|core| core.version.to_string() == **it);
            core.and_then(|it| lock::direct(&locked, it, manifest::KUBERNETES))
                .map(|it| it.version.to_string())
        };
        let used: BTreeSet<Option<String>> = core.iter().map(types).collect();
        let first = all.first().map(|it| it.version.to_string()).unwrap_or_default();
        match core.len() {
            0 => anyhow::bail!("`{}` is built without `kube-core`", self.krate),
            _ if used == BTreeSet::from([types(&first.as_str())]) => Ok(()),
            _ => {
                let list: Vec<&str> = core.into_iter().collect();
                Err(anyhow::format_err!(
                    "`{}` is built with `kube-core` {}, and which one its kinds have is not known",
                    self.krate,
                    list.join(" and ")
                ))
                .hint("depend on one version of kube")
            }
        }
    }

    /// The functions that print, as the compiled crate has them.
    fn symbols(&self, workshop: &Workshop, built: &Built) -> anyhow::Result<Vec<symbols::Symbol>> {
        let folder = workshop.root.real().join(SUBJECT);
        let folders = [&self.folder, &folder];
        let is = |it: &&messages::Artifact| {
            it.is_local()
                && it.name.replace('-', "_") == self.krate
                && folders.contains(&&it.folder)
        };
        // Beside its package's own library, the shadow is meant.
        let mut found: Vec<&messages::Artifact> = built.artifacts.iter().filter(is).collect();
        found.sort_by_key(|it| it.folder != folder);
        let library = found.iter().find_map(|it| it.library());
        let library =
            library.with_context(|| format!("cargo built no library `{}`", self.krate))?;
        symbols::kinds(&disk::bytes(library)?, &self.krate)
    }
}

/// Where in the throwaway workspace a crate is that is built once more.
const SUBJECT: &str = "subject";

impl Workshop {
    /// What a command of cargo prints; an error where it fails, when cargo has said why.
    fn cargo(&self, command: &str, flags: &[&str]) -> anyhow::Result<String> {
        let mut arguments: Vec<OsString> = vec![command.into()];
        arguments.extend(flags.iter().map(Into::into));
        arguments.push("--manifest-path".into());
        arguments.push(self.root.real().join("Cargo.toml").into());
        arguments.push("--target-dir".into());
        arguments.push(self.target.clone().into());
        if command == "build" {
            arguments.push("--message-format=json-render-diagnostics".into());
        }
        let program =
            process::Program { name: &self.cargo, arguments: &arguments, folder: &self.top };
        process::output(&program)?
            .context("cargo failed, and has said why above")
            .hint("the throwaway crate is in target/operator-rs")
    }
}

/// Where cargo builds what is of this workspace.
fn target_folder(top: &Path) -> anyhow::Result<PathBuf> {
    Ok(match terminal::variable("CARGO_TARGET_DIR")? {
        Some(it) => top.join(it),
        None => top.join("target"),
    })
}

fn read(path: &Path) -> anyhow::Result<Table> {
    disk::text(path)?.parse().with_context(|| format!("`{}` does not parse", path.display()))
}
