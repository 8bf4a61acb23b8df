//! What an interrupted write has left, and how it is told: a file at the project's top that names
//! every temporary file before it is made (`prepare`), and is replaced by one that says `commit` when
//! all of them are whole. Before that moment the old project stands; after it, the new one.

#![expect(clippy::disallowed_methods, reason = "this is the room that touches the disk")]

use std::{fs, path::Path};

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

pub const NAME: &str = ".operator-rs.journal";
/// The journal until it is whole.
pub const UNFINISHED: &str = ".operator-rs.journal.operator-rs-new";
const TEMPORARY: &str = ".operator-rs-new";

#[derive(Debug, Serialize, Deserialize)]
pub struct Journal {
    pub phase: Phase,
    /// Folders that are made for this write, outer ones first.
    pub folders: Vec<String>,
    pub steps: Vec<Step>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    Prepare,
    Commit,
}

/// One file: `new` is renamed to `path`, or `path` is removed where there is no `new`.
#[derive(Debug, Serialize, Deserialize)]
pub struct Step {
    pub path: String,
    pub new: Option<String>,
    /// The hash of what was there, if anything was.
    pub before: Option<String>,
}

impl Journal {
    pub fn read(dir: &Path) -> anyhow::Result<Option<Self>> {
        match fs::read_to_string(dir.join(NAME)) {
            Ok(text) if text.is_empty() => {
                // Killed before its first byte: nothing else had been made.
                Ok(Some(Self { phase: Phase::Prepare, folders: Vec::new(), steps: Vec::new() }))
            }
            Ok(text) => {
                serde_json::from_str(&text).map(Some).with_context(|| format!("reading {NAME}"))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error).with_context(|| format!("reading {NAME}")),
        }
    }

    /// Puts the journal in place, whole or not at all.
    pub fn put(&self, dir: &Path) -> anyhow::Result<()> {
        let text = serde_json::to_string(self).context("writing the journal")?;
        let new = dir.join(UNFINISHED);
        let put = fs::write(&new, text).and_then(|()| fs::rename(&new, dir.join(NAME)));
        put.inspect_err(|_| drop(fs::remove_file(&new))).with_context(|| format!("writing {NAME}"))
    }

    pub fn remove(dir: &Path) -> anyhow::Result<()> {
        fs::remove_file(dir.join(NAME)).with_context(|| format!("removing {NAME}"))
    }
}

/// The temporary name of a file, in the same folder.
pub fn temporary(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((folder, name)) => format!("{folder}/.{name}{TEMPORARY}"),
        None => format!(".{path}{TEMPORARY}"),
    }
}

pub fn is_temporary(path: &Path) -> bool {
    path.file_name()
        .and_then(|it| it.to_str())
        .is_some_and(|it| it.starts_with('.') && it.ends_with(TEMPORARY))
}
