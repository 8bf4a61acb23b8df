//! k8s-openapi at any version: its source is generated, so what a type's schema is can be read from the type's file.
//!
//! Only the files that a type needs are read, by a function of the caller. What is written in another way than
//! the generator of k8s-openapi writes it is refused, never guessed.

pub mod linked;
mod modules;
mod schema;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::text::sources::ReadFile;
use modules::Modules;
pub use schema::Template;

/// Why a file cannot be read.
const CHANGED: &str = "the file is missing, or differs from the published one";

/// The way to get such a file back.
pub const RESTORE: &str = "restore the crate: with `cargo vendor` if it is vendored, or by removing its directory below `registry/src` of cargo's \
     folder and `cargo fetch`";

/// The types of k8s-openapi that a project has.
#[derive(Default)]
pub enum Kubernetes {
    /// Those that are linked here.
    #[default]
    Linked,
    Source(Source),
}

/// The source of the crate, with one of its `v1_…` features on.
pub struct Source {
    modules: Modules,
    models: RefCell<BTreeMap<String, FoundModel>>,
}

type FoundModel = Result<Rc<Model>, KubernetesMiss>;

/// One type, as the crate's source writes it.
pub struct Model {
    /// The path that users write: `k8s_openapi::api::core::v1::Pod`.
    pub path: String,
    /// The schema name, which is the schema id too.
    pub name: String,
    pub schema: Template,
    /// The file that declares the type, relative to the crate's folder.
    pub file: String,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KubernetesMiss {
    /// The crate has no type of that path.
    Absent,
    /// It has, but without a schema, or with a schema that takes types.
    Bare,
    /// A file is not there, or is not written as we know it.
    Unread { file: String, what: String },
}

impl Kubernetes {
    /// The crate with a feature such as `v1_34` on, and the files of its folder.
    pub fn from_source(feature: &str, read: ReadFile) -> Self {
        Self::Source(Source::new(feature, read))
    }

    /// A type by its whole path; none without the source, and for paths of other crates.
    pub fn find_type(&self, path: &str) -> Option<FoundModel> {
        match self {
            Self::Source(it) if path.starts_with("k8s_openapi::") => Some(it.find_type(path)),
            _ => None,
        }
    }

    /// Returns whether a path is a module of the crate; none without the source, and for paths of other crates.
    pub fn is_module(&self, path: &str) -> Option<bool> {
        match self {
            Self::Source(it) if path.starts_with("k8s_openapi::") => {
                Some(it.names_in(path).is_some())
            }
            _ => None,
        }
    }

    /// Why a type that another type of the crate needs is not there.
    pub fn broken_message(&self, model: &Model, path: &str) -> String {
        let what = match self.find_type(path) {
            Some(Err(KubernetesMiss::Unread { file, what })) => {
                format!("{file} cannot be read: {what}")
            }
            _ => "it is not there".to_owned(),
        };
        format!("`{}` asks for `{path}`, but {what}", model.path)
    }
}

impl Source {
    /// `feature` is e.g. `v1_33`.
    pub fn new(feature: &str, read: ReadFile) -> Self {
        Self { modules: Modules::new(feature, read), models: RefCell::default() }
    }

    /// A type by its whole path, which starts with `k8s_openapi::`.
    pub fn find_type(&self, path: &str) -> FoundModel {
        if let Some(found) = self.models.borrow().get(path) {
            return found.clone();
        }
        let found = self.read_type(path);
        self.models.borrow_mut().insert(path.to_owned(), found.clone());
        found
    }

    fn read_type(&self, path: &str) -> FoundModel {
        let (file, text, name) = self.modules.file_of(path)?;
        let unread = |what: String| KubernetesMiss::Unread { file: file.clone(), what };
        let Some(code) =
            find_item(&text, &format!("impl crate::schemars::JsonSchema for {name} {{"))
        else {
            return Err(KubernetesMiss::Bare);
        };
        let (name, schema) = schema::parse_impl(name, code)
            .map_err(|odd| unread(format!("`{}` is not expected there", odd.line)))?;
        Ok(Rc::new(Model { path: path.to_owned(), name, schema, file }))
    }

    /// The names in a module, e.g. of `k8s_openapi::api::core::v1`.
    pub fn names_in(&self, module: &str) -> Option<Vec<String>> {
        self.modules.names_in(module)
    }
}

/// The text of an item that starts a line with `head`, as rustfmt ends it: at the first line that is `}`.
fn find_item<'a>(text: &'a str, head: &str) -> Option<&'a str> {
    let start = text
        .match_indices(head)
        .map(|(at, _)| at)
        .find(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')?;
    let rest = &text[start..];
    let end = rest.find("\n}").map(|at| at + 2)?;
    Some(&rest[..end])
}
