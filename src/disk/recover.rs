//! What an interrupted run has left: the next command that writes completes it.

use anyhow::Context as _;

use super::{
    folder::Kind,
    journal::{Journal, Step, UNFINISHED},
    root::{Root, busy},
    write::{State, tell_edited},
};
use crate::{hint::Hint as _, model::ProjectPath};

/// What an interrupted run has left, and is completed now.
#[derive(Debug, PartialEq)]
pub struct Recovered {
    /// The files that were written or removed.
    pub completed: Vec<ProjectPath>,
    /// Those that were edited meanwhile, and stay as they are. What the run would have written is beside each,
    /// under the name that is given; none where it would have removed the file.
    pub edited: Vec<(ProjectPath, Option<ProjectPath>)>,
}

impl Root {
    /// Completes what an interrupted run had begun, if there was one.
    pub fn recover(&self) -> anyhow::Result<Option<Recovered>> {
        let Some(folder) = self.folder() else { return Ok(None) };
        if folder.kind(UNFINISHED)? != Kind::Nothing {
            // Killed while it wrote the journal itself: what that was to say had not begun.
            self.lock()?;
            folder
                .remove(UNFINISHED)
                .with_context(|| format!("removing `{UNFINISHED}`, an unfinished journal"))
                .hint("remove it by hand")?;
        }
        let Some(journal) = Journal::read(folder)? else { return Ok(None) };
        self.lock()?;
        let mut todo = Vec::new();
        let mut edited = Vec::new();
        // All is looked at before anything is done.
        for (at, step) in journal.steps.iter().enumerate() {
            match self.state(step)? {
                State::Before => todo.push((at, step)),
                State::After => {}
                State::Edited => edited.push((at, step)),
            }
        }
        let goes_on = "free some space or correct the permissions, then run the command again: it continues from here";
        let all: Vec<(usize, &Step)> = journal.steps.iter().enumerate().collect();
        self.sweep(&journal, &all).context("removing temporary files").hint(goes_on)?;
        let kept = self.beside(&journal, &edited).hint(goes_on)?;
        self.prepare(&journal, &todo, &mut Vec::new())
            .inspect_err(|_| drop(self.sweep(&journal, &all)))
            .hint(goes_on)?;
        let late = self
            .put_in_place(&journal, &todo, &mut Vec::new())
            .hint("it is completed by the next command that writes here, once that can be done")?;
        self.sweep(&journal, &all).context("removing temporary files")?;
        self.sync(&all)?;
        Journal::remove(folder)?;
        let completed = todo.iter().map(|it| it.1.path.clone());
        let completed = completed.filter(|it| !late.iter().any(|late| late.0 == *it)).collect();
        Ok(Some(Recovered { completed, edited: [kept, late].concat() }))
    }

    /// For a command that writes nothing: an error where an interrupted run has left a mix.
    pub fn require_whole(&self) -> anyhow::Result<()> {
        let Some(folder) = self.folder() else { return Ok(()) };
        if Journal::read(folder)?.is_none() {
            return Ok(());
        }
        if self.is_busy() {
            return busy();
        }
        Err(anyhow::format_err!(
            "an earlier run was interrupted while it wrote here, and its changes are incomplete"
        ))
        .hint("run a command that writes, such as `operator-rs generate`: it completes them first")
    }
}

impl Recovered {
    /// An error where a hand edit met what was to be written: the two are to be brought together first.
    pub fn require_no_edits(&self) -> anyhow::Result<()> {
        match self.edited.is_empty() {
            true => Ok(()),
            false => tell_edited(&self.edited),
        }
    }
}
