//! What the reader sees of the disk.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use super::builtin::kubernetes::ReadFile;
use super::packages::Locked;
use crate::model::{Place, Problem, SourcePath, below};

/// Files and folders by their paths, seen from the workspace's own folder. The reader asks for what it
/// needs, and for nothing else.
pub trait Library {
    /// The text of a file; nothing where there is none. What is there and is no text is an error.
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>>;

    fn is_file(&self, path: &SourcePath) -> bool;

    /// What is in a folder: files, and folders with a `/` behind their names; `""` is the workspace's own.
    fn names(&self, folder: &str) -> Vec<String>;

    /// The folder of a package that is from elsewhere; none where it is not on this machine.
    fn package(&self, locked: &Locked) -> Option<String>;

    /// Reads the files of that folder later.
    fn shelf(&self, folder: &str) -> ReadFile;
}

/// The texts that were asked for, and what was in the way of others.
pub struct Texts<'a> {
    pub library: &'a dyn Library,
    pub problems: RefCell<Vec<Problem>>,
}

impl<'a> Texts<'a> {
    pub fn new(library: &'a dyn Library) -> Self {
        Self { library, problems: RefCell::default() }
    }

    /// The text of a file; nothing where there is none, or none that can be read, which is told.
    pub fn get(&self, path: &SourcePath) -> Option<Rc<str>> {
        self.library.text(path).unwrap_or_else(|error| {
            let place = Place { path: path.clone(), line: 1, column: 1 };
            let message = error.root_cause().to_string();
            self.problems.borrow_mut().push(Problem {
                place,
                message,
                way: Vec::new(),
                hint: None,
            });
            None
        })
    }

    pub fn contains_key(&self, path: &SourcePath) -> bool {
        self.library.is_file(path)
    }

    /// Every Rust file below a folder. Hidden folders and cargo's own `target` are passed by.
    pub fn below(&self, folder: &str) -> Vec<SourcePath> {
        let mut res: Vec<SourcePath> = Vec::new();
        let mut open = vec![folder.to_owned()];
        while let Some(folder) = open.pop() {
            for name in self.library.names(&folder) {
                match name.strip_suffix('/') {
                    Some(name) if name.starts_with('.') || name == "target" => {}
                    Some(name) => open.push(below(&folder, name)),
                    None if name.ends_with(".rs") => res.extend(below(&folder, &name).parse()),
                    None => {}
                }
            }
        }
        res.sort();
        res
    }
}

/// A project in a map, as tests give it.
impl Library for BTreeMap<SourcePath, String> {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        Ok(self.get(path).map(|it| Rc::from(it.as_str())))
    }

    fn is_file(&self, path: &SourcePath) -> bool {
        self.contains_key(path)
    }

    /// `cargo/<name>-<version>` in the map.
    fn package(&self, locked: &Locked) -> Option<String> {
        let folder = format!("cargo/{}-{}", locked.name, locked.version);
        let manifest = format!("{folder}/Cargo.toml");
        self.keys().any(|it| it.as_str() == manifest).then_some(folder)
    }

    fn shelf(&self, folder: &str) -> ReadFile {
        let (files, folder) = (self.clone(), folder.to_owned());
        Rc::new(move |path| files.get(&below(&folder, path).parse().ok()?).cloned())
    }

    fn names(&self, folder: &str) -> Vec<String> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below = self.keys().filter_map(|it| it.as_str().strip_prefix(&start));
        let mut res: Vec<String> = below
            .map(|it| it.split_once('/').map_or(it.to_owned(), |(folder, _)| format!("{folder}/")))
            .collect();
        res.sort();
        res.dedup();
        res
    }
}
