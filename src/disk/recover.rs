//! Completes the changes of an interrupted run; the next command that writes does so.

use anyhow::Context as _;

use super::{
    folder::Kind,
    journal::{Journal, Step, UNFINISHED},
    root::{Root, busy},
    write::{State, report_edited},
};
use crate::{hint::Hint as _, model::ProjectPath};

/// The changes of an interrupted run, which are complete now.
#[derive(Debug, PartialEq)]
pub struct Recovered {
    /// The files that were written or removed.
    pub completed: Vec<ProjectPath>,
    /// The files that were edited in the meantime and stay as they are, each with the path of the new text next to it;
    /// none if the run would have removed the file.
    pub edited: Vec<(ProjectPath, Option<ProjectPath>)>,
}

impl Root {
    /// Completes the changes of an interrupted run, if there was one.
    pub fn recover(&self) -> anyhow::Result<Option<Recovered>> {
        let Some(folder) = self.folder() else { return Ok(None) };
        if folder.kind(UNFINISHED)? != Kind::Nothing {
            // The run was killed while it wrote the journal itself: no change had begun.
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
        // Every file is inspected before the first change.
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
        let late = self.put_in_place(&journal, &todo, &mut Vec::new()).hint(
            "once the cause is corrected, the next command that writes here completes the changes",
        )?;
        self.sweep(&journal, &all).context("removing temporary files")?;
        self.sync(&all)?;
        Journal::remove(folder)?;
        let completed = todo.iter().map(|it| it.1.path.clone());
        let completed = completed.filter(|it| !late.iter().any(|late| late.0 == *it)).collect();
        Ok(Some(Recovered { completed, edited: [kept, late].concat() }))
    }

    /// For a command that writes nothing: fails if an interrupted run has left incomplete changes.
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
    /// Fails if a file was edited by hand that the run would have written: the user has to merge the two first.
    pub fn require_no_edits(&self) -> anyhow::Result<()> {
        match self.edited.is_empty() {
            true => Ok(()),
            false => report_edited(&self.edited),
        }
    }
}
