//! Compiles one crate of the user, and calls `crd()` of each of its kinds.
//!
//! A throwaway program under the target folder is linked with the crate and calls the functions by their symbols, so they
//! need not be public. The root of a program or an example, or of a library that cargo cannot link with, is built again as
//! a library. Nothing is written into the project, and its Cargo.lock is respected.

use std::{
    collections::BTreeSet,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use toml::Table;

use super::{
    answer::{CachedCrds, CompiledKind},
    build_dir::{BuildDir, target_folder},
    inputs::{CompileInputs, STARTED},
    library_copy::LibraryCopy,
    manifest, program, symbols,
};
use crate::project::{Crate, Target};
use crate::{
    app::cargo::{
        KUBERNETES, UserPackage,
        lock::{self, AddedPackage},
        messages::{self, Built},
    },
    disk::{self, ScratchDir},
};
use diagnostics::Hint as _;
use model::display_path;

/// One crate of the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CrateBuild {
    /// The folders of its package and of its workspace, as absolute paths.
    pub folder: PathBuf,
    pub top: PathBuf,
    /// Exactly the enabled features of the package; features of dependencies as `a/b`.
    pub features: Vec<String>,
    /// The name of the crate in code.
    pub krate: String,
    /// Its root file, relative to the package's folder, with `/`.
    pub root: String,
    pub target: Target,
}

impl CrateBuild {
    /// Returns the crate of a workspace that is in this folder.
    pub fn new(top: &Path, krate: &Crate) -> Self {
        let folder = if krate.folder.is_empty() { top.to_owned() } else { top.join(&krate.folder) };
        let root = krate.root.as_str();
        let below = root.strip_prefix(krate.folder.as_str()).unwrap_or(root);
        Self {
            folder,
            top: top.to_owned(),
            features: krate.features.clone(),
            krate: krate.name.clone(),
            root: below.trim_start_matches('/').to_owned(),
            target: krate.target,
        }
    }

    /// Returns the answer of an earlier run, if nothing has changed since.
    pub fn known(&self) -> Option<Vec<CompiledKind>> {
        CachedCrds::read(self, &self.build_folder().ok()?)
    }

    /// Returns every kind of the compiled crate, in the order of their paths.
    pub fn compile(&self) -> anyhow::Result<Vec<CompiledKind>> {
        let build_dir = BuildDir::open(&self.top, &self.build_folder()?, self.program())?;
        // Another run may have done the same in the meantime.
        if let Some(known) = self.known() {
            return Ok(known);
        }
        let inputs = CompileInputs::before(self);
        let manifest = read_manifest(&self.folder.join("Cargo.toml"))?;
        let workspace = read_manifest(&self.top.join("Cargo.toml"))?;
        let lock = disk::read_text(&self.top.join("Cargo.lock"))
            .hint("run `cargo generate-lockfile`: the versions in Cargo.lock are compiled")?;
        let package = UserPackage {
            folder: &self.folder,
            manifest: &manifest,
            top: &self.top,
            workspace: &workspace,
        };
        let Some(mut scratch) = self.scratch_dir(&package, &lock, &build_dir)? else {
            return self.without_kube(&package, &lock).map(|()| Vec::new());
        };
        scratch.files.insert(program::FILE.to_owned(), program::text(&[])?);
        scratch.put(&build_dir.root)?;
        disk::add_file(&build_dir.root, STARTED, "")?;
        let output =
            build_dir.cargo("build", &["--lib", "--message-format=json-render-diagnostics"]);
        let built =
            Built::read(&output.with_context(|| format!("`{}` does not compile", self.krate))?);
        self.check_kubernetes(&package, &lock, &built)?;
        let symbols = self.crd_symbols(&build_dir, &built)?;
        scratch.files.insert(program::FILE.to_owned(), program::text(&symbols)?);
        scratch.files.insert(STARTED.to_owned(), String::new());
        scratch.put(&build_dir.root)?;
        let kinds = self.print_crds(&build_dir, symbols)?;
        let answer =
            CachedCrds { kinds, inputs: inputs.with(self, build_dir.root.resolved_path(), &built) };
        answer.keep(self, &build_dir.root);
        Ok(answer.kinds)
    }

    /// A package without kube among its dependencies has no kinds; refuses if only the lock lacks it.
    fn without_kube(&self, package: &UserPackage<'_>, lock: &str) -> anyhow::Result<()> {
        let name = package.name()?;
        if lock::is_current(lock, package)? {
            Ok(())
        } else {
            Err(anyhow::format_err!("Cargo.lock is out of date with the Cargo.toml of `{name}`"))
                .hint("update it with `cargo update --workspace`")
        }
    }

    /// Runs the program.
    fn print_crds(
        &self,
        build_dir: &BuildDir,
        symbols: Vec<symbols::Symbol>,
    ) -> anyhow::Result<Vec<CompiledKind>> {
        if symbols.is_empty() {
            return Ok(Vec::new());
        }
        // The warnings were shown by the build.
        let flags = ["--quiet", "--message-format=json", "--bin", &build_dir.program];
        let output = build_dir.cargo("run", &flags);
        let output =
            output.with_context(|| format!("printing the CRDs of `{}` failed", self.krate))?;
        let printed = program::printed(&output, symbols.len());
        let whole = |(crd, symbol): (Option<_>, symbols::Symbol)| {
            let crd =
                crd.with_context(|| format!("`{}` printed nothing", symbol.path.join("::")))?;
            Ok(CompiledKind { path: symbol.path, crd })
        };
        printed.into_iter().zip(symbols).map(whole).collect()
    }

    fn build_folder(&self) -> anyhow::Result<PathBuf> {
        Ok(target_folder(&self.top)?.join("operator-rs").join(self.program()))
    }

    /// Returns a unique name for each crate of each project, also for the folder of a crate that is built again:
    /// projects may share a target folder, where cargo distinguishes crates of the same name only by their path in the
    /// workspace.
    pub fn program(&self) -> String {
        let mut hasher = DefaultHasher::new();
        (&self.folder, &self.root).hash(&mut hasher);
        format!("{}-crds-{:08x}", self.krate, hasher.finish() as u32)
    }

    /// Returns the throwaway workspace without the program's own file; none if the crate does not depend on kube.
    fn scratch_dir(
        &self,
        package: &UserPackage<'_>,
        lock: &str,
        build_dir: &BuildDir,
    ) -> anyhow::Result<Option<ScratchDir>> {
        let name = package.name()?.to_owned();
        let locked = lock::read(lock)?;
        let core = lock::below(&locked, &name, "kube-core");
        let Some(core) = core.first() else { return Ok(None) };
        let need = |name: &str| {
            let found = lock::direct(&locked, core, name);
            found.with_context(|| format!("Cargo.lock has no `{name}` below `kube-core`"))
        };
        let (kubernetes, json) = (need(KUBERNETES)?, need("serde_json")?);
        let library_copy = self.library_copy(package);
        let folder = build_dir.root.resolved_path().join(&build_dir.program);
        let (subject, version, features) = match &library_copy {
            Some(it) => (folder.as_path(), it.version(package), it.features()),
            None => (self.folder.as_path(), package.version(), self.features.clone()),
        };
        let mut res = match &library_copy {
            Some(it) => self.copied_files(it, package)?,
            None => ScratchDir::default(),
        };
        let mut added = vec![AddedPackage {
            name: manifest::NAME.to_owned(),
            version: "0.0.0".to_owned(),
            dependencies: vec![
                format!("{} {}", kubernetes.name, kubernetes.version),
                format!("{} {}", json.name, json.version),
                format!("{name} {version}"),
            ],
        }];
        if let Some(it) = library_copy.filter(LibraryCopy::is_beside_library) {
            let dependencies = lock::dependencies(lock, &name, &package.version())?;
            added.push(AddedPackage { name, version: it.version(package), dependencies });
        }
        let program = manifest::CrdPrinterManifest {
            name: &build_dir.program,
            subject,
            features: &features,
            kubernetes,
            json,
        };
        let manifest = manifest::program(package, &program)?;
        res.files.insert("Cargo.toml".to_owned(), manifest);
        res.files.insert("Cargo.lock".to_owned(), lock::with(lock, &added)?);
        res.files.insert(manifest::LIBRARY.to_owned(), "extern crate subject as _;\n".to_owned());
        Ok(Some(res))
    }

    /// Returns the copy of the crate as a library; `None` if cargo can link with the crate as it is.
    fn library_copy(&self, package: &UserPackage<'_>) -> Option<LibraryCopy<'_>> {
        // Only the package itself can enable a feature of a dependency.
        let plain = self.features.iter().all(|feature| !feature.contains('/'));
        let types = package.manifest.get("lib").and_then(|value| value.get("crate-type"));
        let types = types.and_then(toml::Value::as_array);
        let links = |kind: &toml::Value| matches!(kind.as_str(), Some("lib" | "rlib"));
        let links = types.is_none_or(|kind| kind.iter().any(links));
        let library_copy = self.target != Target::Library || !plain || !links;
        library_copy.then_some(LibraryCopy {
            krate: &self.krate,
            root: &self.root,
            target: self.target,
            features: &self.features,
        })
    }

    fn copied_files(
        &self,
        library_copy: &LibraryCopy<'_>,
        package: &UserPackage<'_>,
    ) -> anyhow::Result<ScratchDir> {
        let mut dir = ScratchDir::default();
        let within = self.program();
        let root = disk::read_text(&self.folder.join(&self.root))?;
        dir.files.insert(format!("{within}/Cargo.toml"), library_copy.manifest(package)?);
        dir.files.insert(format!("{within}/{}", self.root), library_copy.root(&root));
        // The folders that contain the root file are created; everything else in them is a symlink.
        let parts: Vec<&str> = self.root.split('/').collect();
        for (depth, part) in parts.iter().enumerate() {
            let above: String = parts[..depth].iter().map(|part| format!("{part}/")).collect();
            for name in disk::list_names(&self.folder.join(&above))? {
                let name = name.trim_end_matches('/');
                let ours =
                    depth == 0 && ["Cargo.toml", "Cargo.lock", "target", ".git"].contains(&name);
                if name != *part && !ours {
                    let path = format!("{above}{name}");
                    dir.links.insert(format!("{within}/{path}"), self.folder.join(path));
                }
            }
        }
        Ok(dir)
    }

    /// Refuses a crate whose kinds use another k8s-openapi than the program.
    fn check_kubernetes(
        &self,
        package: &UserPackage<'_>,
        lock: &str,
        built: &Built,
    ) -> anyhow::Result<()> {
        let locked = lock::read(lock)?;
        let core: BTreeSet<&str> = (built.artifacts.iter())
            .filter(|artifact| artifact.name == "kube_core" && artifact.library().is_some())
            .map(messages::Artifact::version)
            .collect();
        let all = lock::below(&locked, package.name()?, "kube-core");
        let types = |text: &&str| {
            let core = all.iter().find(|core| core.version.to_string() == **text);
            core.and_then(|core| lock::direct(&locked, core, KUBERNETES))
                .map(|package| package.version.to_string())
        };
        let used: BTreeSet<Option<String>> = core.iter().map(types).collect();
        let first = all.first().map(|package| package.version.to_string()).unwrap_or_default();
        match core.len() {
            // The crate has no kinds.
            0 => Ok(()),
            _ if used == BTreeSet::from([types(&first.as_str())]) => Ok(()),
            _ => {
                let list: Vec<&str> = core.into_iter().collect();
                Err(anyhow::format_err!(
                    "`{}` is built with `kube-core` {}, and it is not known which of them its kinds use",
                    self.krate,
                    list.join(" and ")
                ))
                .hint("depend on only one version of kube")
            }
        }
    }

    /// Returns the symbols of the functions `crd` in the compiled crate.
    fn crd_symbols(
        &self,
        build_dir: &BuildDir,
        built: &Built,
    ) -> anyhow::Result<Vec<symbols::Symbol>> {
        let folder = build_dir.root.resolved_path().join(&build_dir.program);
        let folders = [&self.folder, &folder];
        let is = |artifact: &&messages::Artifact| {
            artifact.is_local()
                && artifact.name.replace('-', "_") == self.krate
                && folders.contains(&&artifact.folder)
        };
        // If the package's own library was built too, the copy comes first.
        let mut found: Vec<&messages::Artifact> = built.artifacts.iter().filter(is).collect();
        found.sort_by_key(|artifact| artifact.folder != folder);
        let library = found.iter().find_map(|artifact| artifact.library());
        let library =
            library.with_context(|| format!("cargo built no library `{}`", self.krate))?;
        symbols::kinds(&disk::read_program_output(library)?, &self.krate)
    }
}

fn read_manifest(path: &Path) -> anyhow::Result<Table> {
    disk::read_text(path)?
        .parse()
        .with_context(|| format!("cannot parse `{}`", display_path(&path)))
}
