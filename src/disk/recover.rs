//! Completes the changes of an interrupted run, and takes back those of a failed one; the next command that writes does so.

use anyhow::Context as _;

use super::{
    folder::{FileKind, Folder},
    journal::{Journal, JournalStep, UNFINISHED, is_temporary},
    places::OpenFolders,
    root::{Root, busy_error},
    transaction::{StepState, Transaction},
};
use diagnostics::Hint as _;
use model::ProjectPath;

const GOES_ON: &str = "correct the cause (free some space, for example, or change the permissions), then run the command again: it \
                       continues from here";

/// The changes of an interrupted run, which are complete now, or those of a failed one, which are taken back.
#[derive(Debug, Default, PartialEq)]
pub struct Recovered {
    /// The files that were written or removed.
    pub completed: Vec<ProjectPath>,
    /// The files that were edited in the meantime and stay as they are, each with the path of the new text next to it;
    /// none if the run would have removed the file.
    pub edited: Vec<(ProjectPath, Option<ProjectPath>)>,
    /// True if the run had failed, so that its changes were taken back.
    pub is_taken_back: bool,
    /// The files that have their former content again.
    pub restored: Vec<ProjectPath>,
}

impl Root {
    /// Completes the changes of an interrupted run or takes back those of a failed one, if there was one.
    pub fn recover_changes(&self) -> anyhow::Result<Option<Recovered>> {
        let Some(folder) = self.folder() else { return Ok(None) };
        if folder.kind(UNFINISHED)? != FileKind::Nothing {
            // The run was killed while it wrote the journal itself: no change had begun.
            self.lock()?;
            folder
                .remove(UNFINISHED)
                .with_context(|| format!("cannot remove `{UNFINISHED}`, an unfinished journal"))
                .hint("remove it by hand")?;
        }
        let Some(journal) = Journal::read(folder)? else { return Ok(None) };
        self.lock()?;
        let paths = journal.steps.iter().map(|step| &step.path);
        let mut transaction = Transaction::new(&journal, OpenFolders::open(self, folder, paths)?);
        if journal.is_taken_back
            && let Some(steps) = transaction.steps_to_take_back().hint(GOES_ON)?
        {
            return take_back(folder, &mut transaction, steps).map(Some);
        }
        let mut edited = Vec::new();
        transaction.todo.clear();
        // Every file is inspected before the first change.
        for (at, step) in journal.steps.iter().enumerate() {
            transaction.restore_edit(at).hint(GOES_ON)?;
            match transaction.step_state(step)? {
                StepState::Before => transaction.todo.push(at),
                StepState::After => {}
                StepState::Edited => edited.push(at),
            }
        }
        require_swept(&transaction.remove_temporary_files().hint(GOES_ON)?)?;
        let edited = edited.into_iter().map(|index| write_beside(&mut transaction, index));
        let edited = edited.collect::<anyhow::Result<_>>().hint(GOES_ON)?;
        if let Err(error) = transaction.run() {
            // Files that this run has replaced are swapped back, with edits of the last moment; the journal stays.
            let _ = transaction.take_back(&|_| None);
            return Err(error).hint(GOES_ON);
        }
        transaction.finish().hint(GOES_ON)?;
        Journal::remove(folder).hint(GOES_ON)?;
        let completed = transaction.todo.iter().map(|index| journal.steps[*index].path.clone());
        Ok(Some(Recovered { completed: completed.collect(), edited, ..Recovered::default() }))
    }

    /// For a command that writes nothing: fails if an interrupted run has left incomplete changes.
    pub fn require_whole(&self) -> anyhow::Result<()> {
        let Some(folder) = self.folder() else { return Ok(()) };
        let Some(journal) = Journal::read(folder)? else { return Ok(()) };
        if self.is_busy() {
            return busy_error();
        }
        if !journal.is_taken_back {
            return Err(anyhow::format_err!(
                "an earlier run was interrupted while it wrote here, and its changes are incomplete"
            ))
            .hint("run a command that writes, such as `operator-rs generate`: it completes them first");
        }
        let paths = journal.steps.iter().map(|step| &step.path);
        let transaction = Transaction::new(&journal, OpenFolders::open(self, folder, paths)?);
        if transaction.steps_to_take_back()?.is_some_and(|steps| steps.is_empty()) {
            return Ok(());
        }
        Err(anyhow::format_err!(
            "an earlier run failed while it wrote here, and not all of its changes are taken back"
        ))
        .hint("run a command that writes, such as `operator-rs generate`: it takes them back first")
    }
}

/// Gives the files of a failed run their former content.
fn take_back(
    folder: &Folder,
    transaction: &mut Transaction<'_>,
    steps: Vec<usize>,
) -> anyhow::Result<Recovered> {
    let journal = transaction.journal;
    let paths: Vec<ProjectPath> = steps.iter().map(|at| journal.steps[*at].path.clone()).collect();
    let kept = transaction.take_back_rest(steps).hint(GOES_ON)?;
    let temporary: Vec<ProjectPath> =
        kept.iter().filter(|path| is_temporary(path.as_ref())).cloned().collect();
    require_swept(&temporary)?;
    transaction.places.sync_all().hint(GOES_ON)?;
    Journal::remove(folder).hint(GOES_ON)?;
    let restored = paths.into_iter().filter(|path| !kept.contains(path)).collect();
    Ok(Recovered { is_taken_back: true, restored, ..Recovered::default() })
}

/// Fails if a file with a temporary name is left because its text is unknown.
fn require_swept(left: &[ProjectPath]) -> anyhow::Result<()> {
    let Some(other) = left.first() else { return Ok(()) };
    Err(anyhow::format_err!(
        "{other} does not have the content that the interrupted run wrote: it may contain an edit of a file next to it"
    ))
    .hint("save what you need of it and delete it, then run the command again")
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
fn write_beside(
    transaction: &mut Transaction<'_>,
    at: usize,
) -> anyhow::Result<(ProjectPath, Option<ProjectPath>)> {
    let journal = transaction.journal;
    let JournalStep { path, after, .. } = &journal.steps[at];
    let Some(text) = after else { return Ok((path.clone(), None)) };
    let beside: ProjectPath = format!("{path}.operator-rs-new").parse()?;
    let writing = || format!("cannot write {beside}");
    let folder = transaction.places.folder_of_or_new(path)?;
    match folder.kind(beside.name()).with_context(writing)? {
        FileKind::Nothing => {
            let new = journal.new_text_name(at);
            let like = folder.attributes_like(path.name()).with_context(writing)?;
            folder.create(&new, text.as_bytes(), &like).with_context(writing)?;
            folder.sync_file(&new).with_context(writing)?;
            folder.rename_new(&new, beside.name()).with_context(writing)?;
            folder.sync().with_context(writing)?;
        }
        FileKind::File if folder.read(beside.name()).with_context(writing)? == text.as_bytes() => {}
        _ => {
            return Err(anyhow::format_err!("{beside} already exists"))
                .hint("move or delete it, then run the command again");
        }
    }
    Ok((path.clone(), Some(beside)))
}
