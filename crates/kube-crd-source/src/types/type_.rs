//! A type, with its arguments.

use std::collections::BTreeMap;
use std::rc::Rc;

use crate::builtin::kubernetes::Model;
use crate::builtin::{self, Builtin};
use crate::tree::{ItemId, ModuleId};

#[derive(Clone)]
pub enum Type {
    /// A struct or enum of the project, with its arguments.
    Data(ItemId, Vec<Rc<Self>>),
    /// The struct that `#[derive(CustomResource)]` generates for a struct of the project.
    Root(ItemId),
    Foreign {
        path: &'static str,
        builtin: &'static Builtin,
        arguments: Vec<Rc<Self>>,
    },
    /// The schema of a function that `schema_with` names.
    Function(Rc<SchemaFunction>),
    /// A type of k8s-openapi whose source was read.
    Kubernetes(Rc<Model>),
}

impl Type {
    pub fn foreign(path: &str, arguments: Vec<Rc<Self>>) -> Option<Rc<Self>> {
        let (path, builtin) = builtin::find(path)?;
        (builtin.arguments == arguments.len())
            .then(|| Rc::new(Self::Foreign { path, builtin, arguments }))
    }

    /// The path of a foreign type; empty for a type of the project.
    pub fn path(&self) -> &str {
        match self {
            Self::Foreign { path, .. } => path,
            Self::Kubernetes(model) => &model.path,
            _ => "",
        }
    }

    /// The identity of a type: which it is, and its arguments.
    fn identity_key(&self) -> (u8, usize, &str, &[Rc<Self>]) {
        match self {
            Self::Data(id, arguments) => (0, *id, "", arguments),
            Self::Root(id) => (1, *id, "", &[]),
            Self::Foreign { path, arguments, .. } => (3, 0, path, arguments),
            Self::Function(it) => (5, it.scope.module, &it.id, &it.arguments),
            Self::Kubernetes(model) => (4, 0, &model.path, &[]),
        }
    }

    /// Takes one off for every type in it; false where there are more than that.
    pub(super) fn fits_within(&self, left: &mut usize) -> bool {
        *left = left.saturating_sub(1);
        *left > 0 && self.identity_key().3.iter().all(|ty| ty.fits_within(left))
    }
}

impl std::fmt::Debug for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.path())
    }
}

impl PartialEq for Type {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other) || self.identity_key() == other.identity_key()
    }
}

impl Eq for Type {}

impl PartialOrd for Type {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Type {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        if std::ptr::eq(self, other) {
            return std::cmp::Ordering::Equal;
        }
        self.identity_key().cmp(&other.identity_key())
    }
}

/// The place of a type in code: the module, and the arguments of the parameters around it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Scope {
    pub module: ModuleId,
    /// By name; `Self` among them, where there is one.
    pub parameters: Rc<BTreeMap<String, Rc<Type>>>,
}

impl From<ModuleId> for Scope {
    fn from(module: ModuleId) -> Self {
        Self { module, parameters: Rc::default() }
    }
}

/// A function that `schema_with` names.
#[derive(Clone)]
pub struct SchemaFunction {
    pub path: syn::ExprPath,
    pub scope: Scope,
    /// The schema id.
    pub id: String,
    pub arguments: Vec<Rc<Type>>,
}

impl SchemaFunction {
    /// The schema name.
    pub fn name(&self) -> String {
        self.path.path.segments.last().map(|segment| segment.ident.to_string()).unwrap_or_default()
    }
}

/// A type by the name that the table has for it, with what is in it. `zone` is the path of its first argument.
pub fn stands_for(
    path: &str,
    mut arguments: Vec<Rc<Type>>,
    zone: Option<&str>,
) -> (String, Vec<Rc<Type>>) {
    let name = match (path, &arguments[..]) {
        ("serde_json::Map", _) => "std::collections::BTreeMap",
        ("std::borrow::Cow", _) => "&",
        ("chrono::DateTime", _) if zone == Some("chrono::Utc") => "chrono::DateTime<Utc>",
        ("std::num::NonZero", [of]) => {
            let number = of.path();
            let (first, rest) = number.split_at(number.len().min(1));
            let number = first.to_ascii_uppercase() + rest;
            return (format!("std::num::NonZero{number}"), Vec::new());
        }
        // `SmallVec<[T; 4]>`.
        ("smallvec::SmallVec", [array]) => {
            if let Type::Foreign { path, arguments: inner, .. } = &**array
                && path.starts_with("[;")
            {
                arguments = inner.clone();
                "std::vec::Vec"
            } else {
                path
            }
        }
        _ => path,
    };
    (name.to_owned(), arguments)
}
