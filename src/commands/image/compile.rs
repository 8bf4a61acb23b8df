//! Compiles the operator with cargo, as a static program.

use std::{ffi::OsString, path::PathBuf};

use anyhow::Context as _;
use toml::Table;

use super::{
    metadata::Metadata,
    paths, program,
    sbom::{self, Linked},
    target::Target,
    toolchain::{self, Configured, Machine, Toolchain},
};
use crate::{
    app::cargo::{
        self, config,
        messages::{self, Built},
        toolchain as installed,
    },
    disk::{self, Root},
    process::{self, ProgramPath},
    terminal,
};
use diagnostics::Hint as _;
use model::display_path;

/// The program to compile.
pub struct BuildRequest<'a> {
    pub root: &'a Root,
    pub rust: &'a Rust,
    pub target: Target,
    /// The package, if it is not the one in the folder.
    pub package: Option<&'a str>,
    /// The program, if the package has several.
    pub program: Option<&'a str>,
    /// Whether Cargo.lock must be up to date.
    pub locked: bool,
    /// Whether the image has no other files.
    pub is_from_scratch: bool,
}

/// A program for one platform.
pub struct Compiled {
    pub target: Target,
    pub program: Vec<u8>,
    /// The list of what is linked into it.
    pub sbom: String,
    pub about: About,
}

/// The package, for the labels of its image.
pub struct About {
    pub name: String,
    pub version: String,
    pub description: Option<String>,
    pub license: Option<String>,
    pub repository: Option<String>,
}

/// The Rust toolchain of the project, which has the standard libraries of all platforms.
pub struct Rust {
    host: String,
    release: String,
    sysroot: PathBuf,
}

impl Rust {
    /// Reads what cargo would use. What any of the platforms lacks is an error.
    pub fn of(root: &Root, targets: &[Target]) -> anyhow::Result<Self> {
        let rustc = installed::rustc().context("there is no `rustc` on PATH");
        let rustc = rustc.hint("install Rust: https://rustup.rs")?;
        let ask = |words: &[&str]| {
            let arguments: Vec<OsString> = words.iter().map(Into::into).collect();
            process::ask_aloud(&rustc, root.real(), &arguments, 60)
        };
        let about = ask(&["-vV"])
            .with_context(|| format!("`{} -vV` fails", display_path(&rustc.as_path())))?;
        let field = |name: &str| {
            let line = about.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::to_owned).with_context(|| format!("`rustc -vV` prints no {name}"))
        };
        let sysroot = ask(&["--print", "sysroot"]).context("`rustc --print sysroot` fails")?;
        let sysroot = PathBuf::from(sysroot.trim());
        let libraries = sysroot.join("lib/rustlib");
        let mut missing: Vec<String> = targets.iter().map(|it| it.triple()).collect();
        missing.retain(|it| !libraries.join(it).join("lib").is_dir());
        if !missing.is_empty() {
            return Err(anyhow::format_err!(
                "the Rust toolchain of this project has no standard library for {}",
                missing.join(" and ")
            ))
            .hint(format!(
                "run `rustup target add {}` in the project's directory",
                missing.join(" ")
            ));
        }
        Ok(Self { host: field("host")?, release: field("release")?, sysroot })
    }
}

/// The facts about a program that are known before it is compiled.
pub struct Prepared {
    metadata: Metadata,
    configs: Vec<config::Config>,
    /// An error if the machine has no compiler or linker for it.
    pub toolchain: anyhow::Result<Toolchain>,
}

impl BuildRequest<'_> {
    pub fn prepare(&self) -> anyhow::Result<Prepared> {
        let rust = self.rust;
        let metadata = self.metadata(&self.target.triple())?;
        let package = metadata.root(self.package)?;
        package.program(self.program)?;
        let configs = config::files(self.root.real());
        let tables: Vec<&Table> = configs.iter().map(|it| &it.table).collect();
        let programs = rust.sysroot.join("lib/rustlib").join(&rust.host).join("bin");
        let machine = Machine {
            host: &rust.host,
            has: &|it| ProgramPath::find(it).is_some(),
            has_linker: ["rust-lld", "rust-lld.exe"].iter().any(|it| programs.join(it).is_file()),
        };
        let configured = self.configured(&tables);
        let toolchain =
            toolchain::choose(self.target, &machine, configured, &metadata.with_c(package));
        Ok(Prepared { metadata, configs, toolchain })
    }

    pub fn compile(&self, prepared: Prepared) -> anyhow::Result<Compiled> {
        let Prepared { metadata, configs, toolchain } = prepared;
        let chosen = toolchain?;
        let triple = self.target.triple();
        let step = terminal::Step::begin(&format!("compiling for {}", self.target));
        let package = metadata.root(self.package)?;
        let name = package.program(self.program)?;
        let tables: Vec<&Table> = configs.iter().map(|it| &it.table).collect();
        let mut arguments =
            words(&[chosen.subcommand, "--release", "--bin", name, "--target", &triple]);
        arguments.extend(words(&["--package", &package.id]));
        arguments.push("--message-format=json-render-diagnostics".into());
        let added = self.without_paths(&metadata, &tables)?;
        arguments.extend(added.arguments.iter().map(Into::into));
        let variables = chosen.variables.iter().chain(&added.variables);
        let variables = variables.map(|(name, it)| (name.clone(), it.into())).collect::<Vec<_>>();
        let output = self.cargo(arguments, &variables)?;
        drop(step);
        let built = Built::read(&output);
        let of_package = built.artifacts.iter().filter(|it| it.package == package.id);
        let path =
            { of_package }.filter(|it| it.name == name).find_map(|it| it.executable.as_ref());
        let path = path.context("cargo's output does not name the program")?;
        let bytes = disk::bytes(path)?;
        program::check(&bytes, self.target, self.is_from_scratch)?;
        let lock = disk::text(&metadata.workspace_root.join("Cargo.lock"))?;
        let linked = Linked {
            metadata: &metadata,
            root: package,
            built: &built,
            triple: &triple,
            lock: &lock,
            rust: &self.rust.release,
        };
        Ok(Compiled {
            target: self.target,
            program: bytes,
            sbom: sbom::document(&linked)?,
            about: About {
                name: package.name.clone(),
                version: package.version.clone(),
                description: package.description.clone(),
                license: package.license.clone(),
                repository: package.repository.clone(),
            },
        })
    }

    fn metadata(&self, triple: &str) -> anyhow::Result<Metadata> {
        let words = words(&["metadata", "--format-version", "1", "--filter-platform", triple]);
        Metadata::read(&self.cargo(words, &[])?)
    }

    fn configured(&self, tables: &[&Table]) -> Configured {
        let target = self.target;
        let is_set = |names: &[String]| {
            names.iter().any(|it| terminal::variable(it).ok().flatten().is_some())
        };
        let triple = target.triple();
        let has = |path: &[&str]| {
            tables.iter().any(|table| {
                let first = table.get(path[0]);
                first.and_then(|it| path[1..].iter().try_fold(it, |it, key| it.get(key))).is_some()
            })
        };
        let compilers = [
            target.variable("CC_", ""),
            format!("CC_{triple}"),
            "TARGET_CC".to_owned(),
            "CC".to_owned(),
        ];
        let flags = [target.variable("CFLAGS_", ""), format!("CFLAGS_{triple}")];
        let in_env = |names: &[String]| names.iter().any(|it| has(&["env", it]));
        Configured {
            linker: is_set(&[target.variable("CARGO_TARGET_", "_LINKER")])
                || has(&["target", &triple, "linker"]),
            compiler: is_set(&compilers) || in_env(&compilers),
            flags: is_set(&flags) || in_env(&flags),
        }
    }

    fn without_paths(
        &self,
        metadata: &Metadata,
        tables: &[&Table],
    ) -> anyhow::Result<paths::Added> {
        let cargo = cargo::home().context("neither CARGO_HOME nor HOME is set")?;
        let folders = paths::Folders {
            workspace: &metadata.workspace_root,
            target: &metadata.target_directory,
            cargo: &cargo,
        };
        let variable = |name: &str| terminal::variable(name).ok().flatten();
        Ok(paths::without(&folders, self.target, &variable, tables).unwrap_or_else(|| {
            terminal::warn(
                "the program may contain paths of this machine: cargo's configuration sets rustflags in `build` and for a target, and cargo applies only one of them",
            );
            paths::Added::default()
        }))
    }

    /// The output of a cargo command; an error if it fails, after cargo has printed why.
    fn cargo(
        &self,
        mut arguments: Vec<OsString>,
        variables: &[(String, OsString)],
    ) -> anyhow::Result<String> {
        arguments.push("--manifest-path".into());
        arguments.push(self.root.real().join("Cargo.toml").into());
        if self.locked {
            arguments.push("--locked".into());
        }
        let invocation = process::Invocation {
            program: &installed::cargo()?,
            arguments: &arguments,
            folder: self.root.real(),
            variables,
        };
        process::output(&invocation)?.map_err(|printed| {
            terminal::advise(&messages::errors(&printed));
            anyhow::format_err!("cargo failed; its messages are above")
        })
    }
}

fn words(all: &[&str]) -> Vec<OsString> {
    all.iter().map(Into::into).collect()
}
