//! `--compile`: what kube's own `crd()` prints, asked of the user's code by a throwaway crate under the target folder.
//!
//! A library whose kinds can be named from outside is depended on. A program, or a library that keeps a kind
//! to itself, is built once more as a library, with a function below its root that prints; its other files are
//! linked, not copied. Nothing is written into the project, and its lock is kept.

mod complete;
mod manifest;
mod program;

use std::{
    collections::BTreeMap,
    ffi::OsString,
    hash::{DefaultHasher, Hash as _, Hasher as _},
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use serde_json::Value;
use toml::Table;

use crate::{
    disk::{self, Root, Throwaway},
    hint::Hint as _,
    model::Target,
    process, terminal,
};
pub use complete::complete;

/// One crate of the user's, and the kinds to print from it.
pub struct Subject {
    /// The folder of its package's Cargo.toml, and of its workspace's, both whole.
    pub folder: PathBuf,
    pub top: PathBuf,
    /// Those that are on in the package, and no other.
    pub features: Vec<String>,
    /// The name that code knows the crate by.
    pub krate: String,
    /// Its root file, from the package's folder, with `/`.
    pub root: String,
    pub target: Target,
    pub kinds: Vec<Asked>,
}

/// A kind, by the path of its struct from the crate's root.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    pub path: Vec<String>,
    /// Whether another crate can name it.
    pub public: bool,
    /// Where the code has kube's core and serde_json, as `#[kube(crates(…))]` says; none where nobody knows.
    pub crates: Option<(String, String)>,
}

impl Subject {
    /// `crd()` of each kind, in their order; an error text where kube panics over it.
    pub fn compile(&self) -> anyhow::Result<Vec<Result<Value, String>>> {
        let manifest = read(&self.folder.join("Cargo.toml"))?;
        let workspace = read(&self.top.join("Cargo.toml"))?;
        let lock = disk::text(&self.top.join("Cargo.lock"))
            .hint("run `cargo generate-lockfile`: what is compiled is what the lock says")?;
        let program = self.program();
        let package = manifest::Package {
            folder: &self.folder,
            manifest: &manifest,
            top: &self.top,
            workspace: &workspace,
            lock: &lock,
            program: &program,
        };
        let kinds: Vec<&Asked> = self.kinds.iter().collect();
        // A feature of a dependency can be asked for by the package itself only.
        let public =
            kinds.iter().all(|it| it.public) && self.features.iter().all(|it| !it.contains('/'));
        let crate_ = match self.target {
            Target::Library if public => self.dependent(&package, &kinds)?,
            target => self.shadow(&package, &kinds, target)?,
        };
        let target = match terminal::variable("CARGO_TARGET_DIR")? {
            Some(it) => self.top.join(it),
            None => self.top.join("target"),
        };
        let folder = target.join("operator-rs").join(&program);
        let root = Root::output(&self.top, &folder)
            .hint("name another target folder: `export CARGO_TARGET_DIR=…`")?;
        // Held until cargo is done: another run would sweep what this one builds.
        root.wait(|| terminal::advise("waiting for another operator-rs that compiles here\n"))?;
        crate_.put(&root)?;
        let mut arguments: Vec<OsString> =
            ["run", "--quiet", "--bin", &program, "--target-dir"].map(Into::into).into();
        arguments.push(target.into());
        if self.target != Target::Library || !public {
            arguments.extend(self.flags());
        }
        // Cargo names itself to what it runs, so that `cargo +nightly …` stays with its toolchain.
        let cargo = terminal::variable("CARGO")?.unwrap_or_else(|| "cargo".to_owned());
        let output = process::run(&cargo, &folder, &arguments)?
            .with_context(|| format!("`{}` does not compile", self.krate))
            .hint("cargo has said why, above; the throwaway crate is in target/operator-rs")?;
        let printed = program::printed(&output, kinds.len());
        let whole = |(it, asked): (Option<_>, &Asked)| {
            it.with_context(|| format!("`{}` printed nothing", asked.path.join("::")))
        };
        printed.into_iter().zip(&self.kinds).map(whole).collect()
    }

    /// A name of its own for each crate of each project.
    fn program(&self) -> String {
        let mut hasher = DefaultHasher::new();
        (&self.folder, &self.root).hash(&mut hasher);
        format!("{}-crds-{:08x}", self.krate, hasher.finish() as u32)
    }

    fn flags(&self) -> Vec<OsString> {
        vec!["--no-default-features".into(), "--features".into(), self.features.join(",").into()]
    }

    fn dependent(
        &self,
        package: &manifest::Package<'_>,
        kinds: &[&Asked],
    ) -> anyhow::Result<Throwaway> {
        let (manifest, lock) = manifest::dependent(package, &self.features)?;
        let files = [
            ("Cargo.toml", manifest),
            ("Cargo.lock", lock),
            ("operator-rs-crds.rs", program::dependent(kinds)),
        ];
        let files = files.map(|(path, text)| (path.to_owned(), text)).into();
        Ok(Throwaway { files, links: BTreeMap::new() })
    }

    fn shadow(
        &self,
        package: &manifest::Package<'_>,
        kinds: &[&Asked],
        target: Target,
    ) -> anyhow::Result<Throwaway> {
        // Where nobody knows by what names its code has these, it depends on them once more; not by two names.
        let mut own = Vec::new();
        let names = ["kube-core", "serde_json"].map(|wanted| {
            manifest::known(package, wanted).unwrap_or_else(|| {
                let name = format!("operator_rs_{}", wanted.replace('-', "_"));
                own.push((name.clone(), wanted));
                name
            })
        });
        if kinds.iter().all(|it| it.crates.is_some()) {
            own.clear();
        }
        let (manifest, lock) =
            manifest::shadow(package, &self.krate, &self.root, target, &self.features, &own)?;
        let root = disk::text(&self.folder.join(&self.root))?;
        let main = target != Target::Library;
        let root = root + &program::appended(kinds, main, &names);
        let mut res = Throwaway::default();
        for (path, text) in [
            ("Cargo.toml", manifest),
            ("Cargo.lock", lock),
            ("operator-rs-crds.rs", program::caller(&self.krate)),
            (&*self.root, root),
        ] {
            res.files.insert(path.to_owned(), text);
        }
        // Each folder on the way to the root file is one of ours; everything beside that way is linked.
        let parts: Vec<&str> = self.root.split('/').collect();
        for (depth, part) in parts.iter().enumerate() {
            let way = parts[..depth].join("/");
            for name in disk::names(&self.folder.join(&way))? {
                let name = name.trim_end_matches('/');
                let ours =
                    depth == 0 && ["Cargo.toml", "Cargo.lock", "target", ".git"].contains(&name);
                if name != *part && !ours {
                    let path =
                        if way.is_empty() { name.to_owned() } else { format!("{way}/{name}") };
                    res.links.insert(path.clone(), self.folder.join(path));
                }
            }
        }
        Ok(res)
    }
}

fn read(path: &Path) -> anyhow::Result<Table> {
    disk::text(path)?.parse().with_context(|| format!("`{}` does not parse", path.display()))
}
