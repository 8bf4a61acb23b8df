//! What is told while a cluster is changed.

use std::fmt;

use super::Id;

/// Something to tell, in the order in which it happens.
#[derive(Debug)]
pub enum Told {
    /// What became of an object.
    Became(Became),
    /// What is waited for.
    Waiting(String),
    /// What the server says about a request, although it served it.
    Warning(String),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Became {
    pub verb: Verb,
    pub id: Id,
    /// Why so, where it needs saying.
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Create,
    Update,
    Unchanged,
    /// Of a dry run: what could not be asked.
    Unchecked,
    Delete,
    Leave,
}

impl Became {
    pub fn new(verb: Verb, id: &Id) -> Self {
        Self { verb, id: id.clone(), note: String::new() }
    }

    pub fn because(verb: Verb, id: &Id, note: impl Into<String>) -> Self {
        Self { verb, id: id.clone(), note: note.into() }
    }
}

impl fmt::Display for Verb {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Create => "create",
            Self::Update => "update",
            Self::Unchanged => "unchanged",
            Self::Unchecked => "unchecked",
            Self::Delete => "delete",
            Self::Leave => "leave",
        })
    }
}

impl fmt::Display for Became {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, id, note } = self;
        write!(f, "{verb:<9}  {id}")?;
        if note.is_empty() { Ok(()) } else { write!(f, " ({note})") }
    }
}
