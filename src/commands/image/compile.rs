//! Compiles the operator with cargo, as a static program.

use std::{ffi::OsString, path::PathBuf};

use anyhow::Context as _;
use toml::Table;

use super::{
    metadata::CargoMetadata,
    paths, program,
    sbom::{self, Linked},
    target::ImageTarget,
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
    pub target: ImageTarget,
    /// The package, if it is not the one in the folder.
    pub package: Option<&'a str>,
    /// The program, if the package has several.
    pub program: Option<&'a str>,
    /// True if Cargo.lock must be up to date.
    pub locked: bool,
    /// True if the image has no other files.
    pub is_from_scratch: bool,
}

/// A program for one platform.
pub struct CompiledProgram {
    pub target: ImageTarget,
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
    pub fn detect(root: &Root, targets: &[ImageTarget]) -> anyhow::Result<Self> {
        let rustc = installed::rustc().context("there is no `rustc` on PATH");
        let rustc = rustc.hint("install Rust: https://rustup.rs")?;
        let ask = |words: &[&str]| {
            let arguments: Vec<OsString> = words.iter().map(Into::into).collect();
            process::ask_aloud(&rustc, root.resolved_path(), &arguments, 60)
        };
        let about = ask(&["-vV"])
            .with_context(|| format!("`{} -vV` fails", display_path(&rustc.as_path())))?;
        let field = |name: &str| {
            let line = about.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
            line.map(str::to_owned).with_context(|| format!("`rustc -vV` prints no {name}"))
        };
        let sysroot = ask(&["--print", "sysroot"]).context("`rustc --print sysroot` fails")?;
        let sysroot = PathBuf::from(sysroot.trim());
        let libraries = sysroot.join("lib/rustlib");
        let mut missing: Vec<String> = targets.iter().map(|target| target.triple()).collect();
        missing.retain(|triple| !libraries.join(triple).join("lib").is_dir());
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
    metadata: CargoMetadata,
    configs: Vec<config::Config>,
    /// An error if the machine has no compiler or linker for it.
    pub toolchain: anyhow::Result<Toolchain>,
}

impl BuildRequest<'_> {
    pub fn prepare_build(&self) -> anyhow::Result<Prepared> {
        let rust = self.rust;
        let metadata = self.read_metadata(&self.target.triple())?;
        let package = metadata.root_package(self.package)?;
        package.program_name(self.program)?;
        let configs = config::files(self.root.resolved_path());
        let tables: Vec<&Table> = configs.iter().map(|config| &config.table).collect();
        let programs = rust.sysroot.join("lib/rustlib").join(&rust.host).join("bin");
        let machine = Machine {
            host: &rust.host,
            has: &|name| ProgramPath::find(name).is_some(),
            has_linker: ["rust-lld", "rust-lld.exe"]
                .iter()
                .any(|linker| programs.join(linker).is_file()),
        };
        let configured = self.read_configuration(&tables);
        let toolchain =
            toolchain::choose(self.target, &machine, configured, &metadata.with_c(package));
        Ok(Prepared { metadata, configs, toolchain })
    }

    pub fn compile_program(&self, prepared: Prepared) -> anyhow::Result<CompiledProgram> {
        let Prepared { metadata, configs, toolchain } = prepared;
        let chosen = toolchain?;
        let triple = self.target.triple();
        let step = terminal::Step::begin(&format!("compiling for {}", self.target));
        let package = metadata.root_package(self.package)?;
        let name = package.program_name(self.program)?;
        let tables: Vec<&Table> = configs.iter().map(|config| &config.table).collect();
        let mut arguments =
            to_os_strings(&[chosen.subcommand, "--release", "--bin", name, "--target", &triple]);
        arguments.extend(to_os_strings(&["--package", &package.id]));
        arguments.push("--message-format=json-render-diagnostics".into());
        let added = self.without_paths(&metadata, &tables)?;
        arguments.extend(added.arguments.iter().map(Into::into));
        let variables = chosen.variables.iter().chain(&added.variables);
        let variables =
            variables.map(|(name, value)| (name.clone(), value.into())).collect::<Vec<_>>();
        let output = self.run_cargo(arguments, &variables)?;
        drop(step);
        let built = Built::read(&output);
        let of_package = built.artifacts.iter().filter(|artifact| artifact.package == package.id);
        let path = { of_package }
            .filter(|artifact| artifact.name == name)
            .find_map(|artifact| artifact.executable.as_ref());
        let path = path.context("cargo's output does not name the program")?;
        let bytes = disk::read_program_output(path)?;
        program::ensure_runnable(&bytes, self.target, self.is_from_scratch)?;
        let lock = disk::read_text(&metadata.workspace_root.join("Cargo.lock"))?;
        let linked = Linked {
            metadata: &metadata,
            root: package,
            built: &built,
            triple: &triple,
            lock: &lock,
            rust: &self.rust.release,
        };
        Ok(CompiledProgram {
            target: self.target,
            program: bytes,
            sbom: sbom::render_document(&linked)?,
            about: About {
                name: package.name.clone(),
                version: package.version.clone(),
                description: package.description.clone(),
                license: package.license.clone(),
                repository: package.repository.clone(),
            },
        })
    }

    fn read_metadata(&self, triple: &str) -> anyhow::Result<CargoMetadata> {
        let words =
            to_os_strings(&["metadata", "--format-version", "1", "--filter-platform", triple]);
        CargoMetadata::parse(&self.run_cargo(words, &[])?)
    }

    fn read_configuration(&self, tables: &[&Table]) -> Configured {
        let target = self.target;
        let is_set = |names: &[String]| {
            names.iter().any(|name| terminal::variable(name).ok().flatten().is_some())
        };
        let triple = target.triple();
        let has = |path: &[&str]| {
            tables.iter().any(|table| {
                let first = table.get(path[0]);
                first
                    .and_then(|value| path[1..].iter().try_fold(value, |value, key| value.get(key)))
                    .is_some()
            })
        };
        let compilers = [
            target.variable_name("CC_", ""),
            format!("CC_{triple}"),
            "TARGET_CC".to_owned(),
            "CC".to_owned(),
        ];
        let flags = [target.variable_name("CFLAGS_", ""), format!("CFLAGS_{triple}")];
        let in_env = |names: &[String]| names.iter().any(|name| has(&["env", name]));
        Configured {
            linker: is_set(&[target.variable_name("CARGO_TARGET_", "_LINKER")])
                || has(&["target", &triple, "linker"]),
            compiler: is_set(&compilers) || in_env(&compilers),
            flags: is_set(&flags) || in_env(&flags),
        }
    }

    fn without_paths(
        &self,
        metadata: &CargoMetadata,
        tables: &[&Table],
    ) -> anyhow::Result<paths::CargoAddition> {
        let cargo = cargo::home().context("neither CARGO_HOME nor HOME is set")?;
        let folders = paths::Folders {
            workspace: &metadata.workspace_root,
            target: &metadata.target_directory,
            cargo: &cargo,
        };
        let variable = |name: &str| terminal::variable(name).ok().flatten();
        Ok(paths::remap_flags(&folders, self.target, &variable, tables).unwrap_or_else(|| {
            terminal::warn(
                "the program may contain paths of this machine: cargo's configuration sets rustflags in `build` and for a target, and cargo applies only one of them",
            );
            paths::CargoAddition::default()
        }))
    }

    /// The output of a cargo command; an error if it fails, after cargo has printed why.
    fn run_cargo(
        &self,
        mut arguments: Vec<OsString>,
        variables: &[(String, OsString)],
    ) -> anyhow::Result<String> {
        arguments.push("--manifest-path".into());
        arguments.push(self.root.resolved_path().join("Cargo.toml").into());
        if self.locked {
            arguments.push("--locked".into());
        }
        let invocation = process::Invocation {
            program: &installed::cargo()?,
            arguments: &arguments,
            folder: self.root.resolved_path(),
            variables,
        };
        process::output(&invocation)?.map_err(|printed| {
            terminal::print_advice(&messages::errors(&printed));
            anyhow::format_err!("cargo failed; its messages are above")
        })
    }
}

fn to_os_strings(all: &[&str]) -> Vec<OsString> {
    all.iter().map(Into::into).collect()
}
