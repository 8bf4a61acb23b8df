//! Writes all of a command's changes or none of them, also on `kill -9` or a power failure.
//!
//! ```text
//! is each file as the command has read it? ─ journal ─ new texts under temporary names ─ renames ─ journal gone
//!     no: nothing is written                    └ from here on, the next command that writes completes it
//! ```
//!
//! Each step waits until the previous one is on the disk. A file that is replaced is swapped with the new one, and a
//! file that is removed is renamed first. The old file is then compared with the expected text: if somebody has edited
//! it, it is put back. If a file cannot be replaced at all, the others get their old texts back.

use std::{collections::BTreeSet, io};

use anyhow::Context as _;

use super::{
    folder::{Folder, Kind},
    journal::{Journal, Step, hash, is_git},
    root::{Root, Way},
};
use crate::{
    hint::Hint as _,
    model::{Project, ProjectPath},
    plan::{Change, Changes},
};

/// The state of a file that a step is about to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    Before,
    After,
    Edited,
}

impl Root {
    /// Writes every change or none. PROJECT comes last, so that it never lists anything that does not exist.
    pub fn write(&self, changes: &Changes) -> anyhow::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        if self.real().components().any(|it| is_git(&it.as_os_str().to_string_lossy())) {
            anyhow::bail!(
                "`{}` is git's own directory, and operator-rs does not write there",
                self.real().display()
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
        list.sort_by_key(|it| it.path == Project::path());
        let steps = list.iter().map(|it| Step {
            path: it.path.clone(),
            before: it.before.as_deref().map(|it| hash(it.as_bytes())),
            after: it.after.clone(),
        });
        let journal = Journal::new(token(), steps.collect())?;
        for step in &journal.steps {
            if self.state(step)? != State::Before {
                return Err(anyhow::format_err!("{} changed while the command ran", step.path))
                    .hint("nothing was written: run the command again");
            }
        }
        journal.put(folder).hint("nothing was written")?;
        let todo: Vec<(usize, &Step)> = journal.steps.iter().enumerate().collect();
        let mut new_folders = Vec::new();
        if let Err(error) = self.prepare(&journal, &todo, &mut new_folders) {
            let _ = self.sweep(&journal, &todo);
            new_folders.iter().rev().for_each(|it| self.remove_folder(it)); // only if it is empty
            self.sync(&todo)?;
            Journal::remove(folder)?;
            return Err(error)
                .hint("nothing was written: free some space or correct the permissions, then run the command again");
        }
        let mut done = Vec::new();
        let edited = match self.put_in_place(&journal, &todo, &mut done) {
            Ok(edited) => edited,
            Err(error) => {
                // A file cannot be replaced: the others get their old texts back.
                if self.take_back(&journal, &list, &done).is_err() {
                    return Err(error).hint(
                        "once the cause is corrected, the next command that writes here completes the changes",
                    );
                }
                self.sweep(&journal, &todo).context("removing temporary files")?;
                new_folders.iter().rev().for_each(|it| self.remove_folder(it));
                // Everything must be on the disk before the journal is removed.
                self.sync(&todo)?;
                Journal::remove(folder)?;
                return Err(error)
                    .hint("nothing was written: correct the cause, then run the command again");
            }
        };
        self.sweep(&journal, &todo).context("removing temporary files")?;
        self.sync(&todo)?;
        Journal::remove(folder)?;
        match edited.is_empty() {
            true => Ok(()),
            false => report_edited(&edited),
        }
    }

    pub(super) fn state(&self, step: &Step) -> anyhow::Result<State> {
        let looking = || format!("reading {}", step.path);
        let now = match self.way(&step.path)? {
            Way::Missing => None,
            Way::Blocked(what) => return blocked(&step.path, &what),
            Way::To(folder) => match folder.kind(step.path.name()).with_context(looking)? {
                Kind::Nothing => None,
                Kind::File => Some(folder.read(step.path.name()).with_context(looking)?),
                _ => return blocked(&step.path, "it is not a regular file"),
            },
        };
        Ok(match now {
            now if now.as_deref() == step.after.as_deref().map(str::as_bytes) => State::After,
            now if now.as_deref().map(hash) == step.before => State::Before,
            _ => State::Edited,
        })
    }

    /// Writes every new file under its temporary name, and creates missing folders.
    pub(super) fn prepare(
        &self,
        journal: &Journal,
        todo: &[(usize, &Step)],
        new_folders: &mut Vec<ProjectPath>,
    ) -> anyhow::Result<()> {
        for (at, step) in todo {
            let Some(text) = &step.after else { continue };
            let writing = || format!("writing {}", step.path);
            let folder = self.folder_of(&step.path, new_folders)?;
            let like = folder.like(step.path.name());
            folder.create(&journal.temporary(*at), text.as_bytes(), &like).with_context(writing)?;
        }
        for (at, step) in todo.iter().filter(|it| it.1.after.is_some()) {
            let folder = self.folder_of(&step.path, new_folders)?;
            folder
                .sync_file(journal.temporary(*at))
                .with_context(|| format!("writing {}", step.path))?;
        }
        Ok(())
    }

    /// Puts new files in place and removes old ones. A file that was edited at the last moment stays, and is returned;
    /// the indices of the others are added to `done`.
    pub(super) fn put_in_place(
        &self,
        journal: &Journal,
        todo: &[(usize, &Step)],
        done: &mut Vec<usize>,
    ) -> anyhow::Result<Vec<(ProjectPath, Option<ProjectPath>)>> {
        let mut edited = Vec::new();
        for (at, step) in todo {
            let putting = || format!("putting {} in place", step.path);
            let folder = match self.way(&step.path)? {
                Way::To(folder) => folder,
                Way::Missing => continue,
                Way::Blocked(what) => return blocked(&step.path, &what),
            };
            let as_expected = self.state(step)? == State::Before
                && change(&folder, step, &journal.temporary(*at)).with_context(putting)?;
            if as_expected {
                done.push(*at);
            } else {
                edited.extend(self.beside(journal, &[(*at, step)])?);
                self.sweep(journal, &[(*at, step)]).with_context(putting)?;
            }
        }
        Ok(edited)
    }

    /// Gives files their old texts back; fails at a new file that somebody has edited.
    fn take_back(
        &self,
        journal: &Journal,
        changes: &[&Change],
        done: &[usize],
    ) -> anyhow::Result<()> {
        for at in done.iter().rev() {
            let step = &journal.steps[*at];
            anyhow::ensure!(self.state(step)? == State::After, "{} was edited", step.path);
            let Way::To(folder) = self.way(&step.path)? else { continue };
            let (new, name) = (journal.temporary(*at), step.path.name());
            let Some(text) = &changes[*at].before else {
                folder.remove(name)?;
                continue;
            };
            // If the old file itself was kept, it is renamed back.
            if folder.kind(&new)? == Kind::Nothing {
                folder.create(&new, text.as_bytes(), &folder.like(name))?;
                folder.sync_file(&new)?;
            }
            folder.rename(&new, name)?;
        }
        Ok(())
    }

    /// Returns when the names of these files, and of the folders that they are in, are on the disk.
    pub(super) fn sync(&self, steps: &[(usize, &Step)]) -> anyhow::Result<()> {
        let mut folders = BTreeSet::new();
        for (_, step) in steps {
            let mut above = step.path.parent();
            while let Some(it) = above {
                above = it.parent();
                folders.insert(it);
            }
        }
        for path in folders {
            if let Way::To(folder) = self.into(&path)? {
                folder.sync().with_context(|| format!("writing {path} to the disk"))?;
            }
        }
        if let Some(top) = self.folder() {
            top.sync().context("writing to the disk")?;
        }
        Ok(())
    }

    /// Writes the new texts next to files that were edited, and returns the paths of both.
    pub(super) fn beside(
        &self,
        journal: &Journal,
        steps: &[(usize, &Step)],
    ) -> anyhow::Result<Vec<(ProjectPath, Option<ProjectPath>)>> {
        let mut res = Vec::new();
        for (at, step) in steps {
            let Some(text) = &step.after else {
                res.push((step.path.clone(), None));
                continue;
            };
            let beside: ProjectPath = format!("{}.operator-rs-new", step.path).parse()?;
            let writing = || format!("writing {beside}");
            let folder = self.folder_of(&beside, &mut Vec::new())?;
            match folder.kind(beside.name()).with_context(writing)? {
                Kind::Nothing => {
                    let (new, like) = (journal.temporary(*at), folder.like(step.path.name()));
                    if folder.kind(&new).with_context(writing)? == Kind::Nothing {
                        folder.create(&new, text.as_bytes(), &like).with_context(writing)?;
                    }
                    folder.sync_file(&new).with_context(writing)?;
                    folder.rename_new(&new, beside.name()).with_context(writing)?;
                    folder.sync().with_context(writing)?;
                }
                Kind::File if folder.read(beside.name()).is_ok_and(|it| it == text.as_bytes()) => {}
                _ => {
                    return Err(anyhow::format_err!("{beside} already exists"))
                        .hint("move or delete it, then run the command again");
                }
            }
            res.push((step.path.clone(), Some(beside)));
        }
        Ok(res)
    }

    /// Opens the folder of a path. Missing folders are created and added to `new_folders`.
    fn folder_of(
        &self,
        path: &ProjectPath,
        new_folders: &mut Vec<ProjectPath>,
    ) -> anyhow::Result<Folder> {
        if let Way::Blocked(what) = self.way(path)? {
            return blocked(path, &what);
        }
        let mut folder =
            self.folder_or_new()?.again().with_context(|| format!("opening {path}"))?;
        let names: Vec<&str> = path.as_str().split('/').collect();
        for depth in 1..names.len() {
            let here: ProjectPath = names[..depth].join("/").parse()?;
            let (inner, new) = folder
                .folder_or_new(names[depth - 1])
                .with_context(|| format!("creating the directory {here}"))?;
            folder = inner;
            if new {
                new_folders.push(here);
            }
        }
        Ok(folder)
    }

    /// Removes temporary files: new texts, complete or truncated, and replaced files. Any other text is an edit, and
    /// stays.
    pub(super) fn sweep(&self, journal: &Journal, steps: &[(usize, &Step)]) -> anyhow::Result<()> {
        for (at, step) in steps {
            let Way::To(folder) = self.way(&step.path)? else { continue };
            let name = journal.temporary(*at);
            let is_edit = match folder.kind(&name)? {
                Kind::Nothing => continue,
                Kind::File => {
                    let found = folder.read(&name).with_context(|| format!("reading {name}"))?;
                    let new = step.after.as_ref().map(String::as_bytes);
                    !new.is_some_and(|it| it.starts_with(&found))
                        && Some(hash(&found)) != step.before
                }
                _ => false,
            };
            if !is_edit {
                folder.remove(&name).with_context(|| format!("removing {name}"))?;
            }
        }
        Ok(())
    }

    fn remove_folder(&self, path: &ProjectPath) {
        if let Ok(Way::To(folder)) = self.way(path) {
            let _ = folder.remove_folder(path.name());
        }
    }
}

/// Makes one change. If the file has been edited at that very moment, it stays, and the result is false. Afterwards,
/// the replaced or removed file has the temporary name.
fn change(folder: &Folder, step: &Step, new: &str) -> io::Result<bool> {
    let name = step.path.name();
    let is_before = |it: &str| {
        let found = folder.read(it).ok().map(|it| hash(&it));
        found.is_some() && found == step.before
    };
    match (&step.before, &step.after) {
        (None, _) => match folder.rename_new(new, name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            done => done.map(|()| true),
        },
        (Some(_), Some(_)) => {
            if !folder.exchange(new, name)? {
                return folder.rename(new, name).map(|()| true);
            }
            let is_before = is_before(new);
            if !is_before {
                folder.exchange(new, name)?;
            }
            Ok(is_before)
        }
        (Some(_), None) => {
            folder.rename_new(name, new)?;
            let is_before = is_before(new);
            if !is_before {
                folder.rename_new(new, name)?;
            }
            Ok(is_before)
        }
    }
}

/// Lists edited files in an error.
pub(super) fn report_edited<T>(edited: &[(ProjectPath, Option<ProjectPath>)]) -> anyhow::Result<T> {
    let lines = edited.iter().map(|(path, beside)| match beside {
        Some(beside) => format!("\n  {path}: the new text is in {beside}"),
        None => format!("\n  {path}: it would have been removed"),
    });
    Err(anyhow::format_err!(
        "some files were edited in the meantime and stay as they are; all others were written:{}",
        lines.collect::<String>()
    ))
    .hint("merge each edit with its new text by hand and delete the file with the new text, then run the command again")
}

fn blocked<T>(path: &ProjectPath, what: &str) -> anyhow::Result<T> {
    Err(anyhow::format_err!("{path} cannot be written: {what}"))
        .hint("move or delete it, then run the command again")
}

/// Sixteen random hexadecimal digits, which no existing file has in its name.
fn token() -> String {
    let mut bytes = [0; 8];
    // If the system has no random numbers, exclusive creation still refuses a name that exists.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
