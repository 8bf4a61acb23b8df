//! The inputs of the compilation of a crate, as cargo tracks them: files that the compiler and build scripts read,
//! manifests, configuration, the toolchain, and environment variables, also those that the code reads when it prints CRDs.
//! A variable whose name is assembled at run time, or that only a dependency from elsewhere reads, is not found.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::crate_build::CrateBuild;
use crate::{
    app::cargo::{
        self,
        messages::{Artifact, Built},
        toolchain,
    },
    disk, process, terminal,
};
use model::display_path;

/// The variables that cargo, rustc or rustup read.
const VARIABLES: &[&str] = &[
    "CARGO_BUILD_",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_HOME",
    "CARGO_PROFILE_",
    "CARGO_REGISTRIES_",
    "CARGO_RESOLVER_",
    "CARGO_SOURCE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTUP_",
];

/// The inputs, and a digest of their content.
#[derive(Default, Serialize, Deserialize)]
pub struct CompileInputs {
    /// This tool's version and the crate.
    about: String,
    /// Files, which may be missing.
    files: BTreeSet<PathBuf>,
    /// Folders in which every file is an input.
    folders: BTreeSet<PathBuf>,
    /// Files of which only time and size are compared.
    programs: BTreeSet<PathBuf>,
    /// Variables by their whole names.
    variables: BTreeSet<String>,
    /// None if the inputs are not known.
    digest: Option<String>,
}

impl CompileInputs {
    /// Returns the inputs that are known before the compilation: any later change invalidates the answer.
    pub fn before(build: &CrateBuild) -> Self {
        let mut inputs = Self { about: describe_build(build), ..Self::default() };
        for name in ["Cargo.toml", "Cargo.lock"] {
            inputs.files.insert(build.top.join(name));
        }
        for above in build.top.ancestors() {
            for name in
                [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"]
            {
                inputs.files.insert(above.join(name));
            }
        }
        if let Some(cargo) = cargo::home() {
            inputs.files.extend(["config.toml", "config"].map(|text| cargo.join(text)));
        }
        if let Some(rustup) = toolchain::rustup_home() {
            inputs.files.insert(rustup.join("settings.toml"));
        }
        if let Some(rustc) = toolchain::rustc() {
            let arguments = ["--print", "sysroot"].map(Into::into);
            let sysroot = process::ask(&rustc, &build.top, &arguments, 60);
            // The program on PATH may be rustup's proxy for another one.
            let own = sysroot.map(|sysroot| Path::new(sysroot.trim()).join("bin/rustc"));
            inputs.programs.extend(own);
            inputs.programs.insert(rustc.as_path().to_owned());
        }
        inputs
    }

    /// Adds the inputs of what cargo has built.
    pub fn with(mut self, build: &CrateBuild, build_dir: &Path, built: &Built) -> Self {
        let library_copy = build_dir.join(build.program());
        let real = |path: &Path| match path.strip_prefix(&library_copy) {
            Ok(below) => build.folder.join(below),
            Err(_) => path.to_owned(),
        };
        let mut variables = BTreeSet::new();
        for it in built
            .artifacts
            .iter()
            .filter(|artifact| artifact.is_local() && artifact.folder != build_dir)
        {
            self.files.insert(real(&it.folder.join("Cargo.toml")));
            match DepInfo::from_artifact(it, build_dir) {
                Some(found) => {
                    self.files.extend(found.files.iter().map(|file| real(file)));
                    variables.extend(found.variables);
                }
                None => drop(self.folders.insert(real(&it.folder))),
            }
        }
        for script in &built.build_scripts {
            let Some(package) = built.package_of(script) else { continue };
            let folder = real(&package.folder);
            let found = RerunTriggers::from_output(&script.output, &folder);
            variables.extend(found.variables);
            if !package.is_local() {
                continue;
            }
            if !found.is_explicit {
                self.folders.insert(folder);
            }
            for path in found.paths {
                let paths = if path.is_dir() { &mut self.folders } else { &mut self.files };
                paths.insert(path);
            }
        }
        // Cargo itself sets these from manifests.
        self.variables
            .extend(variables.into_iter().filter(|variable| !variable.starts_with("CARGO_")));
        self.variables.remove("OUT_DIR");
        self.variables.extend(self.names_in_code());
        // A file that was edited while cargo ran may have been read before or after the edit.
        let started = build_dir.join(STARTED);
        let target = build_dir.parent().and_then(Path::parent).unwrap_or(build_dir);
        let is_edited =
            |path: &PathBuf| !path.starts_with(target) && disk::is_newer(path, &started);
        let all = self.all_files();
        let is_known = all.is_some_and(|all| !all.iter().any(is_edited));
        self.digest = self.current_digest().filter(|_| is_known);
        self
    }

    /// Returns the variables that the code may read when it prints CRDs; the compiler reports only those that it reads
    /// itself. These are all string literals that can be such a name, if any of the code reads the environment.
    fn names_in_code(&self) -> BTreeSet<String> {
        let is_code = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "rs");
        let code = self
            .files
            .iter()
            .filter(is_code)
            .filter_map(|file| disk::read_program_output(file).ok());
        let code: Vec<String> =
            code.map(|code| String::from_utf8_lossy(&code).into_owned()).collect();
        if code.iter().any(|source| source.contains("env")) {
            code.iter().flat_map(|text| quoted_names(text)).collect()
        } else {
            BTreeSet::new()
        }
    }

    /// Returns every input file; none if there are too many.
    fn all_files(&self) -> Option<BTreeSet<PathBuf>> {
        let mut paths = self.files.clone();
        for folder in &self.folders {
            paths.extend(disk::files_below(folder, MOST_FILES)?);
        }
        Some(paths)
    }

    /// Returns whether all inputs are known.
    pub fn is_known(&self) -> bool {
        self.digest.is_some()
    }

    /// Returns whether no input has changed.
    pub fn is_current(&self, build: &CrateBuild) -> bool {
        self.about == describe_build(build)
            && self.is_known()
            && self.current_digest() == self.digest
    }

    /// Returns the digest of the inputs now; none if they are too large to read on each run.
    fn current_digest(&self) -> Option<String> {
        let mut text = String::new();
        let mut left = LONGEST;
        for path in &self.all_files()? {
            let content = disk::digest_of_file(path, &mut left)?;
            text += &format!("{} {content}\n", display_path(&path));
        }
        for path in &self.programs {
            text += &format!("{} {}\n", display_path(&path), disk::file_stamp(path));
        }
        for (name, value) in terminal::variables() {
            let is_read_by_cargo = VARIABLES.iter().any(|variable| name.starts_with(variable));
            if is_read_by_cargo || self.variables.contains(&name) {
                text += &format!("{name}={value}\n");
            }
        }
        Some(disk::sha256_hex(text.as_bytes()))
    }
}

/// A file in the throwaway folder that is written when cargo starts.
pub const STARTED: &str = "started";

/// The limits of what is read on each run: with larger inputs, the crate is compiled each time.
const LONGEST: u64 = 64 << 20;
const MOST_FILES: usize = 10_000;

fn describe_build(build: &CrateBuild) -> String {
    format!("operator-rs {} {build:?}", env!("CARGO_PKG_VERSION"))
}

/// Returns the string literals that can be names of variables.
fn quoted_names(code: &str) -> impl Iterator<Item = String> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name =
        move |text: &&str| !text.is_empty() && text.len() < 128 && text.chars().all(is_inside);
    code.split('"').filter(is_name).map(str::to_owned)
}

/// The files and variables that the compiler has read.
#[derive(Debug, Default, PartialEq)]
struct DepInfo {
    files: Vec<PathBuf>,
    variables: Vec<String>,
}

impl DepInfo {
    /// Returns the dep-info of a compiled target, if it has one.
    fn from_artifact(artifact: &Artifact, build_dir: &Path) -> Option<Self> {
        let file = artifact.files.first()?;
        let stem = file.file_stem()?.to_str()?;
        let names = [stem, stem.strip_prefix("lib").unwrap_or(stem)];
        let mut paths: Vec<PathBuf> =
            names.iter().map(|name| file.with_file_name(format!("{name}.d"))).collect();
        // The file of a build script has another name than the script.
        if stem.starts_with("build-script") {
            paths = disk::files_below(file.parent()?, MOST_FILES)?;
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "d"));
        }
        let text = paths.iter().find_map(|path| disk::read_program_output(path).ok())?;
        Some(Self::parse(&String::from_utf8(text).ok()?, build_dir))
    }

    fn parse(text: &str, build_dir: &Path) -> Self {
        let mut info = Self::default();
        for line in text.lines() {
            if let Some(variable) = line.strip_prefix("# env-dep:") {
                let name = variable.split('=').next().unwrap_or_default();
                info.variables.push(name.to_owned());
            } else if let Some((_, list)) = line.split_once(": ") {
                info.files.extend(split_words(list).into_iter().map(|word| build_dir.join(word)));
            }
        }
        info
    }
}

/// Returns the words of a line in a Makefile, where a space in a name is escaped with a backslash.
fn split_words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek(), words.last_mut()) {
            ('\\', Some(' '), Some(word)) => {
                word.push(' ');
                chars.next();
            }
            (' ', _, _) => words.push(String::new()),
            (c, _, Some(word)) => word.push(c),
            (_, _, None) => {}
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

/// When a build script is to be run again, by its own output.
#[derive(Debug, Default, PartialEq)]
struct RerunTriggers {
    paths: Vec<PathBuf>,
    variables: Vec<String>,
    /// True if it says so at all: otherwise it is run again when any file of its package changes.
    is_explicit: bool,
}

impl RerunTriggers {
    /// `output` is the file with its output, and `folder` the folder of its package.
    fn from_output(output: &Path, folder: &Path) -> Self {
        let text =
            disk::read_program_output(output).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let text = text.unwrap_or_default();
        let mut triggers = Self::default();
        for line in text.lines() {
            let Some(line) = line.strip_prefix("cargo:") else { continue };
            let line = line.strip_prefix(':').unwrap_or(line);
            if let Some(path) = line.strip_prefix("rerun-if-changed=") {
                triggers.paths.push(folder.join(path));
                triggers.is_explicit = true;
            } else if let Some(name) = line.strip_prefix("rerun-if-env-changed=") {
                triggers.variables.push(name.to_owned());
                triggers.is_explicit = true;
            }
        }
        triggers
    }
}

#[test]
fn what_the_compiler_read_is_read() {
    let text =
        "/t/liba.rlib: src/lib.rs /a\\ b/c.rs\n\nsrc/lib.rs:\n\n# env-dep:WORD=x\n# env-dep:NONE\n";
    let found = DepInfo::parse(text, Path::new("/w"));
    let files = ["/w/src/lib.rs", "/a b/c.rs"].map(PathBuf::from).into();
    let variables = ["WORD", "NONE"].map(str::to_owned).into();
    assert_eq!(found, DepInfo { files, variables });
}
