//! The files that the reader reads.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::Path;
use std::rc::Rc;

use diagnostics::Lines;
use semver::Version;

use super::{Place, Problem, SourcePath, below, find_conflict};

/// Gives the text of a file by its path below a folder, e.g. `src/lib.rs`.
pub type ReadFile = Rc<dyn Fn(&str) -> Option<String>>;

/// One package as it is locked.
#[derive(Clone, Debug, PartialEq)]
pub struct Locked {
    pub name: String,
    pub version: Version,
    /// Its registry or repository; none for members and path dependencies.
    pub source: Option<String>,
    /// The digest of what was published.
    pub checksum: Option<String>,
    /// Names, with version and source where the name alone is not clear.
    pub dependencies: Vec<String>,
    /// The line of its version in Cargo.lock.
    pub line: usize,
}

/// A configuration file of cargo.
#[derive(Clone, Debug)]
pub struct ConfigFile {
    /// Its path for messages; that of the workspace's own is relative to the workspace's folder.
    pub path: SourcePath,
    pub text: Rc<str>,
}

/// The files of a project, wherever they are: on a disk, in a map, in git. The reader asks for what it needs, and
/// for nothing else.
///
/// Paths are relative to the workspace's folder, the one with its Cargo.toml and Cargo.lock.
pub trait Sources {
    /// The text of a file; nothing where there is none. A file that is not text is an error.
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>>;

    fn is_file(&self, path: &SourcePath) -> bool;

    /// The names in a folder, with a `/` behind those of folders; `""` is the workspace's own. Nothing where there
    /// is no such folder. One that cannot be listed is an error.
    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>>;

    /// The folder with the source of a package from a registry or a git repository, by which the other methods know
    /// it. None where it is not at hand: what needs it is refused then.
    fn package_folder(&self, package: &Locked) -> Option<String> {
        let _ = package;
        None
    }

    /// Why the source of a package from a registry may be another than the one that was published; none if it is that
    /// one, as cargo has unpacked it. Asked for packages whose source is not read, because it is known here.
    fn vendoring_fault(&self, package: &Locked) -> Option<String> {
        let _ = package;
        None
    }

    /// The configuration files that cargo reads for the workspace: `.cargo/config.toml` in its folder and in those
    /// above, and that of cargo's own folder.
    fn cargo_configs(&self) -> anyhow::Result<Vec<ConfigFile>> {
        Ok(Vec::new())
    }

    /// The variables of the environment that cargo may read: those with names that begin with `CARGO_` or `RUST`.
    fn cargo_variables(&self) -> BTreeMap<String, String> {
        BTreeMap::new()
    }

    /// Reads files below a folder that [`package_folder`](Self::package_folder) gave, after `self` is gone.
    fn file_reader(&self, folder: &str) -> ReadFile {
        let _ = folder;
        Rc::new(|_| None)
    }
}

/// The texts that were read, each by its hash: a problem quotes a line only of the text that it was found in.
#[derive(Debug, Default)]
pub struct ReadTexts(BTreeMap<SourcePath, u64>);

impl ReadTexts {
    pub fn extend(&mut self, other: Self) {
        self.0.extend(other.0);
    }

    /// Gives problems their lines, where their files still have the texts that were read. Each file is read once.
    ///
    /// A file outside of the workspace's folder is never quoted: a clone may lead to a secret by `#[path]`.
    pub fn quote<'p>(
        &self,
        from: &dyn Sources,
        problems: impl IntoIterator<Item = &'p mut Problem>,
    ) {
        let mut by_file: BTreeMap<SourcePath, Vec<&mut Problem>> = BTreeMap::new();
        for problem in problems {
            let path = &problem.place.path;
            let is_inside = !is_outside(path.as_str()) && Path::new(path.as_str()).is_relative();
            if is_inside && problem.source_line.is_none() {
                by_file.entry(path.clone()).or_default().push(problem);
            }
        }
        for (path, problems) in by_file {
            let Some(hash) = self.0.get(&path) else { continue };
            let Ok(Some(text)) = from.text(&path) else { continue };
            if *hash != hash_of(&text) {
                continue;
            }
            let (mut lines, conflict) = (Lines::new(&text), find_conflict(&path, &text));
            for problem in problems {
                *problem = match &conflict {
                    Some((conflict, lines)) if lines.contains(&problem.place.line) => {
                        conflict.clone()
                    }
                    _ => problem.clone().quote(&mut lines),
                };
            }
        }
    }
}

/// Returns whether a path leads out of the workspace's folder.
fn is_outside(path: &str) -> bool {
    path == ".." || path.starts_with("../")
}

/// Why a file is not read.
pub fn outside_message(path: &str) -> String {
    format!("`{path}` is outside of the project and of its path dependencies, and is not read")
}

pub const OUTSIDE_HINT: &str =
    "move the file into the package, or depend on the package that it is in by its `path`";

fn hash_of(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The texts that were read, and the problems of those that cannot be read.
pub struct Texts<'a> {
    pub sources: &'a dyn Sources,
    pub problems: RefCell<Vec<Problem>>,
    pub read: RefCell<ReadTexts>,
    /// The folders of packages outside of the workspace's own that a Cargo.toml names by their paths.
    declared: RefCell<BTreeSet<String>>,
    /// The number of tokens that may still be parsed.
    pub tokens_left: Cell<usize>,
}

/// Limit of the tokens that are parsed for a reading, without the bodies of functions that are left out.
const MOST_TOKENS: usize = 2_000_000;

impl<'a> Texts<'a> {
    pub fn new(sources: &'a dyn Sources) -> Self {
        let (problems, read) = (RefCell::default(), RefCell::default());
        let tokens_left = Cell::new(MOST_TOKENS);
        Self { sources, problems, read, declared: RefCell::default(), tokens_left }
    }

    /// Allows to read a package that a Cargo.toml names by its path.
    pub fn allow_folder(&self, folder: &str) {
        if is_outside(folder) {
            self.declared.borrow_mut().insert(folder.to_owned());
        }
    }

    /// Returns whether a file may be read. What is read is printed, so a clone may lead to none of its reader's files:
    /// outside of the workspace's folder these are the files of declared packages, and each Cargo.toml that cargo would
    /// read.
    pub fn allows_path(&self, path: &str) -> bool {
        let is_declared = |folder: &String| {
            let rest = path.strip_prefix(folder.as_str());
            // `../..` is above `..`, not below it.
            rest.is_some_and(|rest| {
                rest.is_empty()
                    || rest.starts_with('/') && rest != "/.." && !rest.starts_with("/../")
            })
        };
        !is_outside(path)
            || path.ends_with("/Cargo.toml")
            || self.declared.borrow().iter().any(is_declared)
    }

    /// The same; where the file may not be read, that is a problem of the Cargo.toml that names it.
    pub fn ensure_allowed(&self, path: &SourcePath, folder: &str) -> bool {
        let is_allowed = self.allows_path(path.as_str());
        if !is_allowed {
            let manifest = below(folder, "Cargo.toml").parse();
            let place = Place::start(manifest.unwrap_or_else(|_| SourcePath::fixed("Cargo.toml")));
            let problem =
                Problem::new(place, outside_message(path.as_str())).with_hint(OUTSIDE_HINT);
            self.problems.borrow_mut().push(problem);
        }
        is_allowed
    }

    /// The text of a file; nothing where there is none. One that cannot be read is a problem.
    pub fn read_text(&self, path: &SourcePath) -> Option<Rc<str>> {
        if !self.allows_path(path.as_str()) {
            self.report_problem(path.clone(), outside_message(path.as_str()));
            return None;
        }
        let text = self.sources.text(path).unwrap_or_else(|error| {
            self.report_problem(path.clone(), error.root_cause().to_string());
            None
        });
        if let Some(text) = &text {
            self.read.borrow_mut().0.insert(path.clone(), hash_of(text));
        }
        text
    }

    /// Cargo's configuration. A file that cannot be read is a problem.
    pub fn cargo_configs(&self) -> Vec<ConfigFile> {
        let files = self.sources.cargo_configs().unwrap_or_else(|error| {
            self.report_problem(SourcePath::fixed(".cargo/config.toml"), format!("{error:#}"));
            Vec::new()
        });
        let hashes = files.iter().map(|file| (file.path.clone(), hash_of(&file.text)));
        self.read.borrow_mut().0.extend(hashes);
        files
    }

    /// Returns what is in a folder; nothing where there is none. One that cannot be listed is a problem.
    pub fn list_names(&self, folder: &str) -> Vec<String> {
        self.sources.names(folder).unwrap_or_else(|error| {
            let path = folder.parse().unwrap_or_else(|_| SourcePath::fixed("Cargo.toml"));
            self.report_problem(path, format!("{error:#}"));
            Vec::new()
        })
    }

    /// Says that what a folder lists is not there any more.
    pub fn report_missing(&self, path: SourcePath) {
        self.report_problem(
            path,
            "it was moved or removed meanwhile: run the command again".to_owned(),
        );
    }

    fn report_problem(&self, path: SourcePath, message: String) {
        let place = Place { path, line: 1, column: 1 };
        self.problems.borrow_mut().push(Problem::new(place, message));
    }

    pub fn contains_key(&self, path: &SourcePath) -> bool {
        self.allows_path(path.as_str()) && self.sources.is_file(path)
    }

    /// Every Rust file below a folder. Hidden folders and cargo's own `target` are passed by.
    pub fn list_rust_files(&self, folder: &str) -> Vec<SourcePath> {
        let mut files: Vec<SourcePath> = Vec::new();
        let mut open = vec![folder.to_owned()];
        let mut seen = 0;
        while let Some(here) = open.pop() {
            seen += 1;
            if seen > MOST_FOLDERS {
                let path = folder.parse().unwrap_or_else(|_| SourcePath::fixed("Cargo.toml"));
                self.report_problem(
                    path,
                    format!("it contains more than {MOST_FOLDERS} directories, or one that leads back to it"),
                );
                break;
            }
            let names = self.list_names(&here);
            if names.is_empty() && here != folder && !self.lists_folder(&here) {
                self.report_missing(
                    here.parse().unwrap_or_else(|_| SourcePath::fixed("Cargo.toml")),
                );
            }
            for name in names {
                match name.strip_suffix('/') {
                    Some(name) if name.starts_with('.') || name == "target" => {}
                    Some(name) => open.push(below(&here, name)),
                    None if name.ends_with(".rs") => files.extend(below(&here, &name).parse()),
                    None => {}
                }
            }
        }
        files.sort();
        files
    }

    /// Returns whether a folder is in the one that it was found in.
    fn lists_folder(&self, folder: &str) -> bool {
        let (above, name) = folder.rsplit_once('/').unwrap_or(("", folder));
        self.list_names(above).iter().any(|entry| entry.strip_suffix('/') == Some(name))
    }
}

/// Limit of the directories that are searched: symlinks may lead back.
const MOST_FOLDERS: usize = 5_000;

/// A project in a map. Packages from a registry are in it at `cargo/<name>-<version>`, variables at `$<name>`.
impl Sources for BTreeMap<SourcePath, String> {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        Ok(self.get(path).map(|text| Rc::from(text.as_str())))
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        self.contains_key(path)
    }

    fn package_folder(&self, locked: &Locked) -> Option<String> {
        let folder = format!("cargo/{}-{}", locked.name, locked.version);
        let manifest = format!("{folder}/Cargo.toml");
        self.keys().any(|path| path.as_str() == manifest).then_some(folder)
    }

    fn cargo_configs(&self) -> anyhow::Result<Vec<ConfigFile>> {
        let path = SourcePath::fixed(".cargo/config.toml");
        let file = self.get(&path).map(|text| ConfigFile { path, text: Rc::from(text.as_str()) });
        Ok(Vec::from_iter(file))
    }

    fn cargo_variables(&self) -> BTreeMap<String, String> {
        let variable = |(path, value): (&SourcePath, &String)| {
            Some((path.as_str().strip_prefix('$')?.to_owned(), value.clone()))
        };
        self.iter().filter_map(variable).collect()
    }

    fn file_reader(&self, folder: &str) -> ReadFile {
        let (files, folder) = (self.clone(), folder.to_owned());
        Rc::new(move |path| files.get(&below(&folder, path).parse().ok()?).cloned())
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.keys().filter_map(|path| path.as_str().strip_prefix(&start));
        let mut names: Vec<String> = below
            .map(|rest| {
                rest.split_once('/').map_or(rest.to_owned(), |(folder, _)| format!("{folder}/"))
            })
            .collect();
        names.sort();
        names.dedup();
        Ok(names)
    }
}

#[test]
fn a_folder_that_cannot_be_listed_is_told_and_not_taken_for_an_empty_one() {
    struct Broken(BTreeMap<SourcePath, String>);
    impl Sources for Broken {
        fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
            self.0.text(path)
        }
        fn is_file(&self, path: &SourcePath) -> bool {
            self.0.is_file(path)
        }
        fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
            match folder {
                "src/locked" => anyhow::bail!("no leave"),
                folder => self.0.names(folder),
            }
        }
        fn package_folder(&self, locked: &Locked) -> Option<String> {
            self.0.package_folder(locked)
        }
        fn file_reader(&self, folder: &str) -> ReadFile {
            self.0.file_reader(folder)
        }
    }
    let files = ["src/a.rs", "src/locked/b.rs", "src/c/d.rs"];
    let broken = Broken(files.map(|file| (SourcePath::fixed(file), String::new())).into());
    let texts = Texts::new(&broken);
    let found: Vec<String> = texts.list_rust_files("src").iter().map(ToString::to_string).collect();
    assert_eq!(found, ["src/a.rs", "src/c/d.rs"]);
    let problems: Vec<String> = texts.problems.borrow().iter().map(ToString::to_string).collect();
    assert_eq!(problems, ["src/locked:1:1: no leave"]);
}
