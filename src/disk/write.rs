//! Writes all of a command's changes or none of them, also on `kill -9` or a power failure.
//!
//! ```text
//! is each file as the command has read it? ─ journal ─ new texts under temporary names ─ renames ─┬─ journal gone
//!     no: nothing is written      └ from here on, the next command that writes completes it      │
//!                                 is each replaced file, and each directory, still what it was? ─┘ no: all taken back
//! ```
//!
//! Each step waits until the previous one is on the disk. A file that is replaced is swapped with the new one, and a
//! file that is removed is renamed first. If anything fails, or another program changes a file or moves a directory in
//! the meantime, all files get their old texts back; a file that was edited after it had been replaced keeps the edit.

use std::io;

use super::{
    changed_meanwhile::ChangedMeanwhile,
    inputs::sha256_hex,
    journal::{Journal, JournalStep, is_git},
    open_elsewhere::is_open_elsewhere,
    places::OpenFolders,
    root::Root,
    transaction::{StepState, Transaction},
};
use crate::plan::{Change, Changes};
use crate::project::Project;
use diagnostics::Hint as _;
use model::{ProjectPath, display_path};

/// Writes every change of every folder or none. Only a machine that stops in between may leave some folders as they were
/// before: the next command that writes completes the others.
pub fn write_all(all: &[(&Root, &Changes)]) -> anyhow::Result<()> {
    write_and_warn(all)?.map_or(Ok(()), Err)
}

/// The same; what is wrong after all files were written is no error.
fn write_and_warn(all: &[(&Root, &Changes)]) -> anyhow::Result<Option<anyhow::Error>> {
    let Some(((root, changes), rest)) = all.split_first() else { return Ok(None) };
    if changes.is_empty() {
        write_and_warn(rest)
    } else {
        root.write_before(changes, || write_and_warn(rest))
    }
}

impl Root {
    /// Writes every change or none; everything is taken back if what comes next fails. PROJECT comes last, so that it never
    /// lists anything that does not exist.
    fn write_before(
        &self,
        changes: &Changes,
        next: impl FnOnce() -> anyhow::Result<Option<anyhow::Error>>,
    ) -> anyhow::Result<Option<anyhow::Error>> {
        if self
            .resolved_path()
            .components()
            .any(|component| is_git(&component.as_os_str().to_string_lossy()))
        {
            anyhow::bail!(
                "`{}` is git's own directory, and operator-rs does not write there",
                display_path(&self.resolved_path())
            );
        }
        let folder = self.folder_or_new()?;
        self.lock()?;
        if Journal::read(folder)?.is_some() {
            return Err(anyhow::format_err!(
                "another operator-rs was interrupted here in the meantime"
            ))
            .hint("run the command again: it completes the interrupted changes first");
        }
        let mut list: Vec<&Change> = changes.iter().collect();
        list.sort_by_key(|change| change.path == Project::path());
        let steps = list.iter().map(|change| JournalStep {
            path: change.path.clone(),
            before: change.before.as_deref().map(|before| sha256_hex(before.as_bytes())),
            after: change.after.clone(),
        });
        let journal = Journal::new(random_token(), steps.collect())?;
        let paths = journal.steps.iter().map(|step| &step.path);
        let mut transaction = Transaction::new(&journal, OpenFolders::open(self, folder, paths)?);
        for step in &journal.steps {
            if transaction.step_state(step)? != StepState::Before {
                return Err(ChangedMeanwhile::edited_file(&step.path))
                    .hint("nothing was written: run the command again");
            }
        }
        journal.write_new(folder)?;
        let run = transaction.run();
        let is_elsewhere = run.is_ok();
        let left = match run.and_then(|()| next()) {
            Ok(left) => left,
            Err(error) => {
                let is_marked = Journal::mark_taken_back(folder);
                let taken = transaction.take_back(&|at| list[at].before.as_deref());
                let taken = taken.and_then(|kept| {
                    match transaction.places.sync_all().and_then(|()| Journal::remove(folder)) {
                        // All files are the old ones, and so they stay: the next command that writes removes the mark.
                        Err(why) if !is_marked => Err(why),
                        _ => Ok(kept),
                    }
                });
                return match &taken {
                    // The error says already that nothing was written.
                    Ok(kept) if kept.is_empty() && is_elsewhere => Err(error),
                    Ok(_) => not_written(error, taken, ""),
                    Err(_)
                        if is_marked && !matches!(transaction.steps_to_take_back(), Ok(None)) =>
                    {
                        not_written(error, taken, "restores them")
                    }
                    Err(_) => not_written(error, taken, "completes the changes"),
                };
            }
        };
        let finished = transaction.finish().and_then(|()| Journal::remove(folder)).hint(
            "all files were written: once the cause is corrected, the next command that writes here removes what is \
             left under temporary names",
        );
        Ok(left.or(finished.err()))
    }
}

/// Returns why nothing was written, and what became of the files. `taken` has those that were edited and stay. `next`
/// says what the next command does if files could not be restored.
fn not_written(
    error: anyhow::Error,
    taken: anyhow::Result<Vec<ProjectPath>>,
    next: &str,
) -> anyhow::Result<Option<anyhow::Error>> {
    let again = match diagnostics::find_error::<ChangedMeanwhile>(&error) {
        Some(_) => "run the command again",
        None => {
            let code =
                diagnostics::find_error::<io::Error>(&error).and_then(io::Error::raw_os_error);
            disk_error_hint(code, cfg!(windows))
        }
    };
    match taken {
        Ok(kept) if kept.is_empty() => Err(error).hint(format!("nothing was written: {again}")),
        Ok(kept) => {
            let list: String = kept.iter().map(|path| format!("\n  {path}")).collect();
            Err(anyhow::format_err!(
                "{error:#}; some files were edited after they had been written, and keep the edit; all others are as \
                 they were before:{list}"
            ))
            .hint(format!("remove from them what the command has written; {again}"))
        }
        Err(why) => Err(error).hint(format!(
            "the files that were already written could not be restored ({why:#}): once the cause is corrected, the \
             next command that writes here {next}"
        )),
    }
}

/// Returns a hint for an error code of the disk.
fn disk_error_hint(code: Option<i32>, is_windows: bool) -> &'static str {
    if is_open_elsewhere(code, is_windows) {
        "close the file in other programs, or change its permissions, then run the command again"
    } else {
        "correct the cause (free some space, for example, or change the permissions), then run the command again"
    }
}

/// Returns sixteen random hexadecimal digits, which no existing file has in its name.
fn random_token() -> String {
    let mut bytes = [0; 8];
    // If the system has no random numbers, exclusive creation still refuses a name that exists.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn a_file_that_is_open_elsewhere_on_windows_has_a_hint_of_its_own() {
    let open_elsewhere =
        "close the file in other programs, or change its permissions, then run the command again";
    assert_eq!(disk_error_hint(Some(32), true), open_elsewhere);
    assert_eq!(disk_error_hint(Some(5), true), open_elsewhere);
    assert!(disk_error_hint(Some(5), false).starts_with("correct the cause"));
    assert!(disk_error_hint(None, true).starts_with("correct the cause"));
}
