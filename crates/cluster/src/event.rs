//! Events of changes to a cluster.

use std::fmt;

use super::Id;

/// A step to report to the user, in the order in which it happens.
#[derive(Debug)]
pub enum ProgressEvent {
    /// An object was changed, or would be.
    Action(Action),
    /// A wait for this, in words.
    Waiting(String),
    /// A warning of the server about a request that it has served.
    Warning(String),
}

/// The action on an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Action {
    pub verb: Verb,
    pub id: Id,
    /// The reason, if it needs to be stated.
    pub note: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Create,
    Update,
    Unchanged,
    /// In a dry run: the server could not check it.
    Unchecked,
    Delete,
    Leave,
}

impl Action {
    pub fn new(verb: Verb, id: &Id) -> Self {
        Self { verb, id: id.clone(), note: String::new() }
    }

    pub fn with_note(verb: Verb, id: &Id, note: impl Into<String>) -> Self {
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

impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { verb, id, note } = self;
        write!(f, "{verb:<9}  {id}")?;
        if note.is_empty() { Ok(()) } else { write!(f, " ({note})") }
    }
}
