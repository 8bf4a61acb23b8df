//! The journal: a file at the root that holds every new text until all of them are written.
//!
//! It is created atomically before the first change and removed after the last one. As long as it exists, the same
//! steps lead from any mix of old and new files to the new project: steps that are done are skipped, and nothing has
//! to be undone. Without it, a generated file that nothing refers to yet, or a line inserted into a user's file, would
//! go unnoticed after a kill, whatever the order of writes.
//!
//! A cloned repository may contain a journal. It can do no more than the repository's other files can: it names paths
//! of the project outside of `.git`, holds texts of files, and gives the digest of each text that it replaces.

use std::{collections::BTreeSet, path::Path};

use anyhow::{Context as _, ensure};
use serde::{Deserialize, Serialize};

use super::{
    folder::{FileKind, Folder},
    like::NewFileAttributes,
    lock,
};
use diagnostics::Hint as _;
use model::ProjectPath;

pub const NAME: &str = ".operator-rs.journal";
/// The journal while it is being written.
pub const UNFINISHED: &str = ".operator-rs.journal.new";
/// The journal of changes that are taken back, because the command failed.
pub const TAKEN_BACK: &str = ".operator-rs.journal.undo";
/// The prefix of the names of other temporary files.
const TEMPORARY: &str = ".operator-rs.new-";
const VERSION: u32 = 2;
/// The deepest path in a journal: no project has deeper folders.
const DEEPEST: usize = 64;
/// The longest journal, in bytes: every journal that is written can be read again.
const LONGEST: u64 = if cfg!(test) { 24 << 20 } else { 256 << 20 };

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Journal {
    version: u32,
    /// The random part of the names of its temporary files.
    token: String,
    pub steps: Vec<JournalStep>,
    /// True if its command has failed, so that the old files come back and the new ones do not.
    #[serde(skip)]
    pub is_taken_back: bool,
}

/// A file to write or, without a new text, to remove.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JournalStep {
    pub path: ProjectPath,
    /// The SHA-256 of the text that it replaces, in hexadecimal digits; none if there was no file.
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Journal {
    pub fn new(token: String, steps: Vec<JournalStep>) -> anyhow::Result<Self> {
        let journal = Self { version: VERSION, token, steps, is_taken_back: false };
        journal.require_valid()?;
        Ok(journal)
    }

    /// Reads the journal of an interrupted or failed run, if there is one.
    pub fn read(folder: &Folder) -> anyhow::Result<Option<Self>> {
        match Self::read_file(folder, NAME)? {
            None => Self::read_file(folder, TAKEN_BACK)
                .map(|journal| journal.map(|journal| Self { is_taken_back: true, ..journal })),
            journal => Ok(journal),
        }
    }

    fn read_file(folder: &Folder, name: &str) -> anyhow::Result<Option<Self>> {
        let reading = || format!("cannot read {name}");
        match folder.kind(name).with_context(reading)? {
            FileKind::Nothing => return Ok(None),
            FileKind::File => {}
            _ => return foreign_journal(name, "it is not a regular file"),
        }
        let bytes = folder.read_up_to(name, LONGEST).with_context(reading)?;
        let journal: Self = match serde_json::from_slice(&bytes) {
            Ok(journal) => journal,
            Err(error) => return foreign_journal(name, &error.to_string()),
        };
        match journal.require_valid() {
            Ok(()) => Ok(Some(journal)),
            Err(error) => foreign_journal(name, &error.to_string()),
        }
    }

    /// Records that the changes are taken back. A rename needs no space on a full disk. Returns whether it succeeded.
    pub fn mark_taken_back(folder: &Folder) -> bool {
        folder.rename_new(NAME, TAKEN_BACK).is_ok()
    }

    /// Refuses a journal that this module would never have written.
    fn require_valid(&self) -> anyhow::Result<()> {
        ensure!(self.version == VERSION, "its version is {}", self.version);
        let is_hex =
            |digest: &str| digest.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        ensure!(self.token.len() == 16 && is_hex(&self.token), "its token is malformed");
        let paths: BTreeSet<&ProjectPath> = self.steps.iter().map(|step| &step.path).collect();
        ensure!(paths.len() == self.steps.len(), "it has two steps for the same path");
        for path in &paths {
            let depth = path.as_str().split('/').count();
            ensure!(depth <= DEEPEST, "a path in it has {depth} directories");
            ensure!(!path.as_str().split('/').any(is_git), "{path} belongs to git");
            ensure!(!is_temporary(path.as_ref()), "{path} is a temporary file");
            let mut folder = path.parent();
            while let Some(it) = folder {
                ensure!(!paths.contains(&it), "{it} cannot be a file, because {path} is below it");
                folder = it.parent();
            }
        }
        Ok(())
    }

    /// Writes it to the disk, atomically.
    pub fn write_new(&self, folder: &Folder) -> anyhow::Result<()> {
        let text = serde_json::to_string(self).context("cannot write the journal")?;
        if LONGEST < text.len() as u64 {
            return Err(anyhow::format_err!(
                "the changed files have more than {} MiB, which is more than one command writes",
                LONGEST >> 20
            ))
            .hint("nothing was written: generate fewer files at once");
        }
        let put = || {
            folder.remove(UNFINISHED)?;
            // It may hold the text of files that other users must not read.
            folder.create(UNFINISHED, text.as_bytes(), &NewFileAttributes::private())?;
            folder.sync_file(UNFINISHED)?;
            folder.rename_new(UNFINISHED, NAME)?;
            folder.sync()
        };
        let Err(error) = put() else { return Ok(()) };
        // There was no journal before. If it cannot be synced, the changes do not begin.
        let is_gone = folder.remove(UNFINISHED).and_then(|()| folder.remove(NAME)).is_ok()
            || Self::mark_taken_back(folder)
            || matches!(folder.kind(NAME), Ok(FileKind::Nothing));
        Err(error).with_context(|| format!("cannot write {NAME}")).hint(if is_gone {
            "nothing was written: correct the cause, then run the command again"
        } else {
            "no file was changed yet: the next command that writes here makes the changes"
        })
    }

    pub fn remove(folder: &Folder) -> anyhow::Result<()> {
        let removed = folder.remove(NAME).and_then(|()| folder.remove(TAKEN_BACK));
        removed.and_then(|()| folder.sync()).with_context(|| format!("cannot remove {NAME}"))
    }

    /// Returns the temporary name of a step's new text, in the folder of its path.
    pub fn new_text_name(&self, at: usize) -> String {
        format!("{TEMPORARY}{}-{at}", self.token)
    }

    /// Returns the temporary name of a step's old text when it is written again.
    pub fn old_text_name(&self, at: usize) -> String {
        format!("{}-old", self.new_text_name(at))
    }
}

/// Returns whether this is git's own folder, also by a name that some file systems treat as the same.
pub fn is_git(name: &str) -> bool {
    let name = name.trim_end_matches([' ', '.']);
    name.eq_ignore_ascii_case(".git") || name.eq_ignore_ascii_case("git~1")
}

fn foreign_journal<T>(name: &str, why: &str) -> anyhow::Result<T> {
    Err(anyhow::format_err!("`{name}` is not a journal that this operator-rs has written: {why}")).hint(
        "if another version of operator-rs was interrupted here, run that one again; otherwise look at what \
         `git status` shows, and delete the file",
    )
}

pub fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| {
        name.starts_with(TEMPORARY) || [NAME, UNFINISHED, TAKEN_BACK, lock::NAME].contains(&name)
    })
}
