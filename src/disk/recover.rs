//! Completes the changes of an interrupted run; the next command that writes does so.

use anyhow::Context as _;

use super::{
    folder::Kind,
    journal::{Journal, Step, UNFINISHED},
    places::Places,
    root::{Root, busy},
    transaction::{State, Transaction},
};
use diagnostics::Hint as _;
use model::ProjectPath;

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
                .with_context(|| format!("cannot remove `{UNFINISHED}`, an unfinished journal"))
                .hint("remove it by hand")?;
        }
        let Some(journal) = Journal::read(folder)? else { return Ok(None) };
        self.lock()?;
        let goes_on = "correct the cause (free some space, for example, or change the permissions), then run the command again: it \
                       continues from here";
        let paths = journal.steps.iter().map(|it| &it.path);
        let mut transaction = Transaction::new(&journal, Places::open(self, folder, paths)?);
        let mut edited = Vec::new();
        transaction.todo.clear();
        // Every file is inspected before the first change.
        for (at, step) in journal.steps.iter().enumerate() {
            transaction.restore(at).hint(goes_on)?;
            match transaction.state(step)? {
                State::Before => transaction.todo.push(at),
                State::After => {}
                State::Edited => edited.push(at),
            }
        }
        if let Some(other) = transaction.sweep().hint(goes_on)?.first() {
            return Err(anyhow::format_err!(
                "{other} does not have the content that the interrupted run wrote: it may contain an edit of a file next to it"
            ))
            .hint("save what you need of it and delete it, then run the command again");
        }
        let edited = edited.into_iter().map(|it| beside(&mut transaction, it));
        let edited = edited.collect::<anyhow::Result<_>>().hint(goes_on)?;
        if let Err(error) = transaction.run() {
            // Files that this run has replaced are swapped back, with edits of the last moment; the journal stays.
            let _ = transaction.take_back(&|_| None);
            return Err(error).hint(goes_on);
        }
        transaction.finish().hint(goes_on)?;
        Journal::remove(folder).hint(goes_on)?;
        let completed = transaction.todo.iter().map(|it| journal.steps[*it].path.clone());
        Ok(Some(Recovered { completed: completed.collect(), edited }))
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
        if self.edited.is_empty() {
            return Ok(());
        }
        let lines = self.edited.iter().map(|(path, beside)| match beside {
            Some(beside) => format!("\n  {path}: the new text is in {beside}"),
            None => format!("\n  {path}: it would have been removed"),
        });
        Err(anyhow::format_err!(
            "some files were edited in the meantime and stay as they are; all others were written:{}",
            lines.collect::<String>()
        ))
        .hint(
            "merge each edit with its new text by hand and delete the file with the new text: this completes the \
             interrupted run; then run this command again, unless it is the one that was interrupted",
        )
    }
}

/// Writes the new text of a step next to a file that was edited, and returns the paths of both.
fn beside(
    transaction: &mut Transaction<'_>,
    at: usize,
) -> anyhow::Result<(ProjectPath, Option<ProjectPath>)> {
    let journal = transaction.journal;
    let Step { path, after, .. } = &journal.steps[at];
    let Some(text) = after else { return Ok((path.clone(), None)) };
    let beside: ProjectPath = format!("{path}.operator-rs-new").parse()?;
    let writing = || format!("cannot write {beside}");
    let folder = transaction.places.of_or_new(path)?;
    match folder.kind(beside.name()).with_context(writing)? {
        Kind::Nothing => {
            let new = journal.temporary(at);
            let like = folder.like(path.name()).with_context(writing)?;
            folder.create(&new, text.as_bytes(), &like).with_context(writing)?;
            folder.sync_file(&new).with_context(writing)?;
            folder.rename_new(&new, beside.name()).with_context(writing)?;
            folder.sync().with_context(writing)?;
        }
        Kind::File if folder.read(beside.name()).with_context(writing)? == text.as_bytes() => {}
        _ => {
            return Err(anyhow::format_err!("{beside} already exists"))
                .hint("move or delete it, then run the command again");
        }
    }
    Ok((path.clone(), Some(beside)))
}
