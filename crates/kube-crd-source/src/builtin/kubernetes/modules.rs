//! Paths → files, by the `mod` and `pub use` lines of the modules on the path.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use super::{KubernetesMiss, ReadFile};

const CRATE: &str = "k8s_openapi";

pub struct Modules {
    /// The folder of the chosen version of Kubernetes.
    folder: String,
    read: ReadFile,
    known: RefCell<BTreeMap<String, Option<Rc<ModuleNames>>>>,
}

/// The names that one `mod.rs` exports.
struct ModuleNames {
    modules: BTreeSet<String>,
    /// The file of each type, without `.rs`.
    types: BTreeMap<String, String>,
}

impl Modules {
    pub fn new(feature: &str, read: ReadFile) -> Self {
        Self { folder: format!("src/{feature}"), read, known: RefCell::default() }
    }

    /// The file in which a type is written, its text, and the type's name.
    pub fn file_of<'a>(&self, path: &'a str) -> Result<(String, String, &'a str), KubernetesMiss> {
        let (module, name) = path.rsplit_once("::").ok_or(KubernetesMiss::Absent)?;
        let (folder, there) = self.resolve_module(module)?;
        let Some(stem) = there.types.get(name) else {
            // The other names at the top of the crate are the same in every version: `ByteString`, traits.
            let top = module == CRATE && !there.modules.contains(name);
            return Err(if top { KubernetesMiss::Bare } else { KubernetesMiss::Absent });
        };
        let file = format!("{folder}/{stem}.rs");
        match (self.read)(&file) {
            Some(text) => Ok((file, text, name)),
            None => Err(KubernetesMiss::Unread { file, what: super::CHANGED.to_owned() }),
        }
    }

    /// The names of the modules and types in a module.
    pub fn names_in(&self, module: &str) -> Option<Vec<String>> {
        let (_, there) = self.resolve_module(module).ok()?;
        Some(there.modules.iter().chain(there.types.keys()).cloned().collect())
    }

    fn resolve_module(&self, module: &str) -> Result<(String, Rc<ModuleNames>), KubernetesMiss> {
        let mut parts = module.split("::");
        if parts.next() != Some(CRATE) {
            return Err(KubernetesMiss::Absent);
        }
        let mut folder = self.folder.clone();
        let mut here = self.module_in(&folder)?;
        for part in parts {
            if !here.modules.contains(part) {
                return Err(KubernetesMiss::Absent);
            }
            folder = format!("{folder}/{part}");
            here = self.module_in(&folder)?;
        }
        Ok((folder, here))
    }

    fn module_in(&self, folder: &str) -> Result<Rc<ModuleNames>, KubernetesMiss> {
        let file = format!("{folder}/mod.rs");
        let read = || (self.read)(&file).map(|text| Rc::new(ModuleNames::parse(&text)));
        let found = self.known.borrow_mut().entry(folder.to_owned()).or_insert_with(read).clone();
        found.ok_or_else(|| KubernetesMiss::Unread {
            file: file.clone(),
            what: super::CHANGED.to_owned(),
        })
    }
}

impl ModuleNames {
    /// Modules are shown by `pub mod x;`, types by `pub use self::x::X;`, one a line.
    fn parse(text: &str) -> Self {
        let mut names = Self { modules: BTreeSet::new(), types: BTreeMap::new() };
        for line in text.lines().filter_map(|line| line.strip_suffix(';')) {
            if let Some(name) = line.strip_prefix("pub mod ") {
                names.modules.insert(name.to_owned());
            } else if let Some((stem, name)) =
                line.strip_prefix("pub use self::").and_then(|path| path.split_once("::"))
            {
                names.types.insert(name.to_owned(), stem.to_owned());
            }
        }
        names
    }
}
