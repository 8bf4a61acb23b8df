//! What went into the compilation of a crate, as carefully as cargo looks at it: the files that the compiler and
//! build scripts read, manifests, configuration, the toolchain, and variables of the environment, those among them
//! that the code reads when it prints. A name that is put together at run time is not found, nor one that only a
//! dependency from elsewhere reads.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use super::subject::Subject;
use crate::{
    commands::cargo::{
        self,
        messages::{Artifact, Built},
        toolchain,
    },
    disk, process, terminal,
};

/// The variables that cargo, rustc or rustup listen to.
const VARIABLES: &[&str] = &[
    "CARGO_BUILD_",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_HOME",
    "CARGO_PROFILE_",
    "CARGO_REGISTRIES_",
    "CARGO_SOURCE_",
    "CARGO_TARGET_",
    "CARGO_UNSTABLE_",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTUP_",
];

/// The inputs, and a digest of their content.
#[derive(Default, Serialize, Deserialize)]
pub struct Inputs {
    /// This tool and the crate, as they were.
    about: String,
    /// Files, there or not.
    files: BTreeSet<PathBuf>,
    /// Folders of which every file matters.
    folders: BTreeSet<PathBuf>,
    /// Files of which the time and size matter.
    programs: BTreeSet<PathBuf>,
    /// Variables that are looked at by their whole names.
    variables: BTreeSet<String>,
    /// None where it is not known what went in.
    digest: Option<String>,
}

impl Inputs {
    /// What is looked at before anything is compiled: what changes from then on makes the answer an old one.
    pub fn before(subject: &Subject) -> Self {
        let mut res = Self { about: about(subject), ..Self::default() };
        for name in ["Cargo.toml", "Cargo.lock"] {
            res.files.insert(subject.top.join(name));
        }
        for above in subject.top.ancestors() {
            for name in
                [".cargo/config.toml", ".cargo/config", "rust-toolchain.toml", "rust-toolchain"]
            {
                res.files.insert(above.join(name));
            }
        }
        if let Some(cargo) = cargo::home() {
            res.files.extend(["config.toml", "config"].map(|it| cargo.join(it)));
        }
        if let Some(rustup) = toolchain::rustup_home() {
            res.files.insert(rustup.join("settings.toml"));
        }
        if let Some(rustc) = toolchain::rustc() {
            let arguments = ["--print", "sysroot"].map(Into::into);
            let sysroot = process::ask(&rustc, &subject.top, &arguments);
            // What is on PATH may be rustup's, which runs another one.
            let own = sysroot.map(|it| Path::new(it.trim()).join("bin/rustc"));
            res.programs.extend(own);
            res.programs.insert(rustc);
        }
        res
    }

    /// The same with what cargo says that it has built.
    pub fn with(mut self, subject: &Subject, workshop: &Path, built: &Built) -> Self {
        let shadow = workshop.join(subject.program());
        let real = |path: &Path| match path.strip_prefix(&shadow) {
            Ok(below) => subject.folder.join(below),
            Err(_) => path.to_owned(),
        };
        let mut variables = BTreeSet::new();
        for it in built.artifacts.iter().filter(|it| it.is_local() && it.folder != workshop) {
            self.files.insert(real(&it.folder.join("Cargo.toml")));
            match DepInfo::of(it, workshop) {
                Some(found) => {
                    self.files.extend(found.files.iter().map(|it| real(it)));
                    variables.extend(found.variables);
                }
                None => drop(self.folders.insert(real(&it.folder))),
            }
        }
        for script in &built.build_scripts {
            let Some(package) = built.package_of(script) else { continue };
            let folder = real(&package.folder);
            let found = Rerun::of(&script.output, &folder);
            variables.extend(found.variables);
            if !package.is_local() {
                continue;
            }
            if !found.says_when {
                self.folders.insert(folder);
            }
            for path in found.paths {
                let paths = if path.is_dir() { &mut self.folders } else { &mut self.files };
                paths.insert(path);
            }
        }
        // Those that cargo sets itself follow from manifests.
        self.variables.extend(variables.into_iter().filter(|it| !it.starts_with("CARGO_")));
        self.variables.remove("OUT_DIR");
        self.variables.extend(self.names_in_code());
        // What was edited while cargo ran may have been read before or after that.
        let started = workshop.join(STARTED);
        let target = workshop.parent().and_then(Path::parent).unwrap_or(workshop);
        let is_edited = |it: &PathBuf| !it.starts_with(target) && disk::is_newer(it, &started);
        let all = self.all_files();
        let is_known = all.is_some_and(|all| !all.iter().any(is_edited));
        self.digest = self.now().filter(|_| is_known);
        self
    }

    /// What may name a variable that the code reads when it prints: the compiler tells of those only that it reads
    /// itself. Every text in quotes that can be such a name, where any of the code looks at the environment.
    fn names_in_code(&self) -> BTreeSet<String> {
        let is_code = |it: &&PathBuf| it.extension().is_some_and(|it| it == "rs");
        let code = self.files.iter().filter(is_code).filter_map(|it| disk::bytes(it).ok());
        let code: Vec<String> = code.map(|it| String::from_utf8_lossy(&it).into_owned()).collect();
        match code.iter().any(|it| it.contains("env")) {
            true => code.iter().flat_map(|it| quoted_names(it)).collect(),
            false => BTreeSet::new(),
        }
    }

    /// Every file that is looked at; nothing where there are too many.
    fn all_files(&self) -> Option<BTreeSet<PathBuf>> {
        let mut res = self.files.clone();
        for folder in &self.folders {
            res.extend(disk::files_below(folder, MOST_FILES)?);
        }
        Some(res)
    }

    /// Whether everything that went in was found.
    pub fn is_known(&self) -> bool {
        self.digest.is_some()
    }

    /// Whether all of it is the same now.
    pub fn is_current(&self, subject: &Subject) -> bool {
        self.about == about(subject) && self.is_known() && self.now() == self.digest
    }

    /// The digest of what there is now; nothing where that is too much to look at each time.
    fn now(&self) -> Option<String> {
        let mut text = String::new();
        let mut left = LONGEST;
        for path in &self.all_files()? {
            let content = disk::digest_of(path, &mut left)?;
            text += &format!("{} {content}\n", path.display());
        }
        for path in &self.programs {
            text += &format!("{} {}\n", path.display(), disk::stamp(path));
        }
        for (name, value) in terminal::variables() {
            let is_listened_to = VARIABLES.iter().any(|it| name.starts_with(it));
            if is_listened_to || self.variables.contains(&name) {
                text += &format!("{name}={value}\n");
            }
        }
        Some(disk::digest(text.as_bytes()))
    }
}

/// A file of the throwaway folder that is written when cargo starts.
pub const STARTED: &str = "started";

/// What is looked at in each run has a bound: what is larger is compiled each time.
const LONGEST: u64 = 64 << 20;
const MOST_FILES: usize = 10_000;

fn about(subject: &Subject) -> String {
    format!("operator-rs {} {subject:?}", env!("CARGO_PKG_VERSION"))
}

/// The texts in quotes that can be names of variables.
fn quoted_names(code: &str) -> impl Iterator<Item = String> {
    let is_inside = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let is_name = move |it: &&str| !it.is_empty() && it.len() < 128 && it.chars().all(is_inside);
    code.split('"').filter(is_name).map(str::to_owned)
}

/// What the compiler says that it has read.
#[derive(Debug, Default, PartialEq)]
struct DepInfo {
    files: Vec<PathBuf>,
    variables: Vec<String>,
}

impl DepInfo {
    /// That of a compiled target; nothing where there is none.
    fn of(artifact: &Artifact, workshop: &Path) -> Option<Self> {
        let file = artifact.files.first()?;
        let stem = file.file_stem()?.to_str()?;
        let names = [stem, stem.strip_prefix("lib").unwrap_or(stem)];
        let mut paths: Vec<PathBuf> =
            names.iter().map(|it| file.with_file_name(format!("{it}.d"))).collect();
        // That of a build script has another name than the script.
        if stem.starts_with("build-script") {
            paths = disk::files_below(file.parent()?, MOST_FILES)?;
            paths.retain(|it| it.extension().is_some_and(|it| it == "d"));
        }
        let text = paths.iter().find_map(|it| disk::bytes(it).ok())?;
        Some(Self::read(&String::from_utf8(text).ok()?, workshop))
    }

    fn read(text: &str, workshop: &Path) -> Self {
        let mut res = Self::default();
        for line in text.lines() {
            if let Some(variable) = line.strip_prefix("# env-dep:") {
                let name = variable.split('=').next().unwrap_or_default();
                res.variables.push(name.to_owned());
            } else if let Some((_, list)) = line.split_once(": ") {
                res.files.extend(words(list).into_iter().map(|it| workshop.join(it)));
            }
        }
        res
    }
}

/// The words of a line in a Makefile, where a space in a name has a backslash before it.
fn words(line: &str) -> Vec<String> {
    let mut res = vec![String::new()];
    let mut chars = line.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek(), res.last_mut()) {
            ('\\', Some(' '), Some(word)) => {
                word.push(' ');
                chars.next();
            }
            (' ', _, _) => res.push(String::new()),
            (c, _, Some(word)) => word.push(c),
            (_, _, None) => {}
        }
    }
    res.retain(|it| !it.is_empty());
    res
}

/// When a build script says that it is to be run again.
#[derive(Debug, Default, PartialEq)]
struct Rerun {
    paths: Vec<PathBuf>,
    variables: Vec<String>,
    /// Whether it says anything of that: otherwise it is run when any file of its package changes.
    says_when: bool,
}

impl Rerun {
    /// `output` is the file of what it printed, and `folder` that of its package.
    fn of(output: &Path, folder: &Path) -> Self {
        let text = disk::bytes(output).ok().and_then(|it| String::from_utf8(it).ok());
        let text = text.unwrap_or_default();
        let mut res = Self::default();
        for line in text.lines() {
            let Some(line) = line.strip_prefix("cargo:") else { continue };
            let line = line.strip_prefix(':').unwrap_or(line);
            if let Some(path) = line.strip_prefix("rerun-if-changed=") {
                res.paths.push(folder.join(path));
                res.says_when = true;
            } else if let Some(name) = line.strip_prefix("rerun-if-env-changed=") {
                res.variables.push(name.to_owned());
                res.says_when = true;
            }
        }
        res
    }
}

#[test]
fn what_the_compiler_read_is_read() {
    let text =
        "/t/liba.rlib: src/lib.rs /a\\ b/c.rs\n\nsrc/lib.rs:\n\n# env-dep:WORD=x\n# env-dep:NONE\n";
    let found = DepInfo::read(text, Path::new("/w"));
    let files = ["/w/src/lib.rs", "/a b/c.rs"].map(PathBuf::from).into();
    let variables = ["WORD", "NONE"].map(str::to_owned).into();
    assert_eq!(found, DepInfo { files, variables });
}
