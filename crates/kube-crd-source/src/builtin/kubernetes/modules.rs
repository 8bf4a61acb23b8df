//! Paths → files, by the `mod` and `pub use` lines of the modules on the path.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{Miss, ReadFile};

const CRATE: &str = "k8s_openapi";

pub struct Modules {
    /// The folder of the chosen version of Kubernetes.
    folder: String,
    read: ReadFile,
    known: RefCell<BTreeMap<String, Option<Rc<Module>>>>,
}

/// What one `mod.rs` shows.
struct Module {
    modules: BTreeSet<String>,
    /// The file of each type, without `.rs`.
    types: BTreeMap<String, String>,
}

impl Modules {
    pub fn new(feature: &str, read: ReadFile) -> Self {
        Self { folder: format!("src/{feature}"), read, known: RefCell::default() }
    }

    /// The file in which a type is written, its text, and the type's name.
    pub fn file_of<'a>(&self, path: &'a str) -> Result<(String, String, &'a str), Miss> {
        let (module, name) = path.rsplit_once("::").ok_or(Miss::Absent)?;
        let (folder, there) = self.walk(module)?;
        let Some(stem) = there.types.get(name) else {
            // What the crate has at its top besides is the same in every version: `ByteString`, traits.
            let top = module == CRATE && !there.modules.contains(name);
            return Err(if top { Miss::Bare } else { Miss::Absent });
        };
        let file = format!("{folder}/{stem}.rs");
        match (self.read)(&file) {
            Some(text) => Ok((file, text, name)),
            None => Err(Miss::Unread { file, what: super::CHANGED.to_owned() }),
        }
    }

    /// The names of the modules and types in a module.
    pub fn names(&self, module: &str) -> Option<Vec<String>> {
        let (_, there) = self.walk(module).ok()?;
        Some(there.modules.iter().chain(there.types.keys()).cloned().collect())
    }

    fn walk(&self, module: &str) -> Result<(String, Rc<Module>), Miss> {
        let mut parts = module.split("::");
        if parts.next() != Some(CRATE) {
            return Err(Miss::Absent);
        }
        let mut folder = self.folder.clone();
        let mut here = self.module(&folder)?;
        for part in parts {
            if !here.modules.contains(part) {
                return Err(Miss::Absent);
            }
            folder = format!("{folder}/{part}");
            here = self.module(&folder)?;
        }
        Ok((folder, here))
    }

    fn module(&self, folder: &str) -> Result<Rc<Module>, Miss> {
        let file = format!("{folder}/mod.rs");
        let read = || (self.read)(&file).map(|it| Rc::new(Module::read(&it)));
        let found = self.known.borrow_mut().entry(folder.to_owned()).or_insert_with(read).clone();
        found.ok_or_else(|| Miss::Unread { file: file.clone(), what: super::CHANGED.to_owned() })
    }
}

impl Module {
    /// Modules are shown by `pub mod x;`, types by `pub use self::x::X;`, one a line.
    fn read(text: &str) -> Self {
        let mut res = Self { modules: BTreeSet::new(), types: BTreeMap::new() };
        for line in text.lines().filter_map(|it| it.strip_suffix(';')) {
            if let Some(name) = line.strip_prefix("pub mod ") {
                res.modules.insert(name.to_owned());
            } else if let Some((stem, name)) =
                line.strip_prefix("pub use self::").and_then(|it| it.split_once("::"))
            {
                res.types.insert(name.to_owned(), stem.to_owned());
            }
        }
        res
    }
}
