//! The changes of one write, as far as they have come.
//!
//! Each step requires the state that it expects; anything else is a failure. Up to [`Transaction::run`]'s end, a failure
//! can be taken back: a replaced file is swapped with the new one, so that it still exists under the temporary name,
//! and swapping them again brings back whatever it was, also with an edit of the last moment.

use std::io;

use anyhow::Context as _;

use super::{
    changed_meanwhile::ChangedMeanwhile,
    content::LONGEST,
    folder::{FileKind, Folder},
    inputs::sha256_hex,
    journal::{Journal, JournalStep},
    places::{OpenFolders, blocked_path},
    system_errors::is_missing,
};
use model::ProjectPath;

/// The state of a file that a step is about to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepState {
    Before,
    After,
    Edited,
}

pub struct Transaction<'a> {
    pub journal: &'a Journal,
    pub places: OpenFolders<'a>,
    /// The indices of the steps to take.
    pub todo: Vec<usize>,
    /// The names that are taken.
    done: Vec<usize>,
}

impl<'a> Transaction<'a> {
    pub fn new(journal: &'a Journal, places: OpenFolders<'a>) -> Self {
        Self { journal, places, todo: (0..journal.steps.len()).collect(), done: Vec::new() }
    }

    pub fn step_state(&self, step: &JournalStep) -> anyhow::Result<StepState> {
        let looking = || format!("cannot read {}", step.path);
        let (folder, name) = (self.places.folder_of(&step.path), step.path.name());
        let kind = folder
            .map_or(Ok(FileKind::Nothing), |folder| folder.kind(name))
            .with_context(looking)?;
        let now = match (folder, kind) {
            (None, _) | (_, FileKind::Nothing) => None,
            (Some(folder), FileKind::File) => {
                match folder.read_up_to(name, longest_text(step)) {
                    Err(error) if is_missing(&error) => None,
                    // A file that is that long is neither the old one nor the new one.
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                        return Ok(StepState::Edited);
                    }
                    bytes => Some(bytes.with_context(looking)?),
                }
            }
            _ => return blocked_path(&step.path, "it is not a regular file"),
        };
        Ok(match now {
            now if now.as_deref() == step.after.as_deref().map(str::as_bytes) => StepState::After,
            now if now.as_deref().map(sha256_hex) == step.before => StepState::Before,
            _ => StepState::Edited,
        })
    }

    /// Puts all new files in place, and removes old ones: they remain under their temporary names until `finish`.
    pub fn run(&mut self) -> anyhow::Result<()> {
        self.write_new_texts()?;
        for at in self.todo.clone() {
            self.put_in_place(at)?;
        }
        for at in &self.done {
            if let Some(TemporaryFile::Other | TemporaryFile::Part) =
                self.find_temporary_file(*at)?
            {
                return Err(ChangedMeanwhile::edited_file(&self.journal.steps[*at].path));
            }
        }
        self.places.require_in_place()
    }

    /// Writes every new file under its temporary name, and creates missing folders.
    fn write_new_texts(&mut self) -> anyhow::Result<()> {
        let (journal, mut new) = (self.journal, Vec::new());
        for at in &self.todo {
            let JournalStep { path, after: Some(text), .. } = &journal.steps[*at] else { continue };
            let folder = self.places.folder_of_or_new(path)?;
            let like = folder.attributes_like(path.name());
            like.and_then(|like| {
                folder.create(&journal.new_text_name(*at), text.as_bytes(), &like)
            })
            .with_context(|| format!("cannot write {path}"))?;
            new.push((path, journal.new_text_name(*at)));
        }
        for (path, name) in new {
            self.folder_of(path)?
                .sync_file(name)
                .with_context(|| format!("cannot write {path}"))?;
        }
        Ok(())
    }

    fn folder_of(&self, path: &ProjectPath) -> anyhow::Result<&Folder> {
        self.places.folder_of(path).ok_or_else(|| ChangedMeanwhile::edited_file(path))
    }

    fn put_in_place(&mut self, at: usize) -> anyhow::Result<()> {
        let step = &{ self.journal }.steps[at];
        if self.step_state(step)? != StepState::Before {
            return Err(ChangedMeanwhile::edited_file(&step.path));
        }
        let folder = self.folder_of(&step.path)?;
        let (new, name) = (self.journal.new_text_name(at), step.path.name());
        let put = match (&step.before, &step.after) {
            (None, _) => folder.rename_new(&new, name),
            (Some(_), None) => folder.rename_new(name, &new),
            (Some(_), Some(_)) => folder.exchange(&new, name).and_then(|is_possible| {
                if is_possible { Ok(()) } else { folder.rename(&new, name) }
            }),
        };
        match put {
            Ok(()) => self.done.push(at),
            Err(error) if is_interference(&error) => {
                return Err(ChangedMeanwhile::edited_file(&step.path));
            }
            Err(error) => {
                return Err(error).with_context(|| format!("cannot put {} in place", step.path));
            }
        }
        Ok(())
    }

    /// Returns the file with the temporary name of a step, if there is one.
    fn find_temporary_file(&self, at: usize) -> anyhow::Result<Option<TemporaryFile>> {
        let step = &self.journal.steps[at];
        let Some(folder) = self.places.folder_of(&step.path) else { return Ok(None) };
        let name = self.journal.new_text_name(at);
        let found = match folder.read_up_to(&name, longest_text(step)) {
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Ok(Some(TemporaryFile::Other));
            }
            found => found
                .with_context(|| format!("cannot read the previous version of {}", step.path))?,
        };
        let new = step.after.as_ref().map(String::as_bytes);
        Ok(Some(match found {
            found if Some(sha256_hex(&found)) == step.before => TemporaryFile::Before,
            found if new == Some(&found) => TemporaryFile::New,
            found if new.is_some_and(|text| text.starts_with(&found)) => TemporaryFile::Part,
            _ => TemporaryFile::Other,
        }))
    }

    /// Removes the files that were replaced, and returns when all names are on the disk.
    pub fn finish(&self) -> anyhow::Result<()> {
        for at in &self.done {
            let step = &self.journal.steps[*at];
            if step.before.is_some() {
                self.folder_of(&step.path)?.remove(self.journal.new_text_name(*at)).with_context(
                    || format!("cannot remove the previous version of {}", step.path),
                )?;
            }
        }
        self.places.sync_all()
    }

    /// Returns the steps of a failed run that are still to be taken back; none if an old text is lost, as this system
    /// cannot swap files: then only the new texts can be completed.
    pub fn steps_to_take_back(&self) -> anyhow::Result<Option<Vec<usize>>> {
        let mut steps = Vec::new();
        for (at, step) in self.journal.steps.iter().enumerate() {
            if self.step_state(step)? != StepState::After {
                continue;
            }
            match (self.find_temporary_file(at)?, &step.before, &step.after) {
                (None, Some(_), Some(_)) => return Ok(None),
                // Another program has removed the file since.
                (None, Some(_), None) => {}
                _ => steps.push(at),
            }
        }
        Ok(Some(steps))
    }

    /// Takes back what a run that failed has left, and returns as `take_back` does.
    pub fn take_back_rest(&mut self, steps: Vec<usize>) -> anyhow::Result<Vec<ProjectPath>> {
        self.done = steps;
        self.take_back(&|_| None)
    }

    /// Gives all files their former content back; `before` has the old text of a step if it is known. Returns those
    /// that were edited after they had been put in place, and stay. `Places::sync` makes it last.
    pub fn take_back(
        &mut self,
        before: &dyn Fn(usize) -> Option<&'a str>,
    ) -> anyhow::Result<Vec<ProjectPath>> {
        let mut kept = Vec::new();
        for at in self.done.iter().rev() {
            let path = &self.journal.steps[*at].path;
            let taken = self.take_back_one(*at, before(*at));
            if !taken.with_context(|| format!("cannot restore {path}"))? {
                kept.push(path.clone());
            }
        }
        kept.extend(self.remove_temporary_files()?);
        self.places.remove_new();
        Ok(kept)
    }

    /// The result is false if the file was edited, removed or replaced after it had been put in place.
    fn take_back_one(&self, at: usize, before: Option<&str>) -> anyhow::Result<bool> {
        let step = &self.journal.steps[at];
        let folder = self.folder_of(&step.path)?;
        let (old, name) = (self.journal.new_text_name(at), step.path.name());
        if step.before.is_some() && folder.kind(&old)? == FileKind::Nothing {
            return self.rewrite_old_text(at, folder, before);
        }
        let is_created = step.before.is_none();
        let swapped = match &step.after {
            Some(_) if is_created => folder.rename_new(name, &old).map(|()| true),
            Some(_) => folder.exchange(&old, name),
            None => folder.rename_new(&old, name).map(|()| true),
        };
        match swapped {
            Ok(true) if step.after.is_none() => return Ok(true),
            Ok(true) => {}
            Ok(false) => return self.put_back(at, folder),
            // A new file that another program has removed since is in its former state.
            Err(error) if is_interference(&error) => return Ok(is_created && is_missing(&error)),
            Err(error) => return Err(error.into()),
        }
        if matches!(self.find_temporary_file(at)?, Some(TemporaryFile::New)) {
            return Ok(true);
        }
        // It is an edit, and comes back.
        if is_created {
            folder.rename_new(&old, name)?;
        } else {
            folder.exchange(&old, name)?;
        }
        Ok(false)
    }

    /// Renames the old file over the new one, on a system that cannot swap files.
    fn put_back(&self, at: usize, folder: &Folder) -> anyhow::Result<bool> {
        let step = &self.journal.steps[at];
        if self.step_state(step)? != StepState::After {
            return Ok(false);
        }
        folder.rename(&self.journal.new_text_name(at), step.path.name())?;
        Ok(true)
    }

    /// Writes the old text again: the system cannot swap files, or another program has removed the old one.
    fn rewrite_old_text(
        &self,
        at: usize,
        folder: &Folder,
        before: Option<&str>,
    ) -> anyhow::Result<bool> {
        let step = &self.journal.steps[at];
        let (new, name) = (self.journal.old_text_name(at), step.path.name());
        let state = self.step_state(step)?;
        let Some(text) = before.filter(|_| state == StepState::After) else { return Ok(false) };
        match folder.create(&new, text.as_bytes(), &folder.attributes_like(name)?) {
            // The directory itself was removed.
            Err(error) if is_missing(&error) => return Ok(false),
            created => created?,
        }
        folder.sync_file(&new)?;
        folder.rename(&new, name)?;
        Ok(true)
    }

    /// Brings back an edit that an interrupted run has swapped with the new file just before it ended.
    pub fn restore_edit(&self, at: usize) -> anyhow::Result<()> {
        let step = &self.journal.steps[at];
        if step.before.is_some()
            && matches!(self.find_temporary_file(at)?, Some(TemporaryFile::Other))
            && self.step_state(step)? == StepState::After
        {
            let folder = self.folder_of(&step.path)?;
            let (old, name) = (self.journal.new_text_name(at), step.path.name());
            match step.after {
                Some(_) => drop(folder.exchange(&old, name)?),
                None => folder.rename_new(&old, name)?,
            }
        }
        Ok(())
    }

    /// Removes temporary files: new texts, complete or truncated, and replaced files. Any other text is an edit; it
    /// stays, and its path is returned.
    pub fn remove_temporary_files(&self) -> anyhow::Result<Vec<ProjectPath>> {
        let mut paths = Vec::new();
        for (at, step) in self.journal.steps.iter().enumerate() {
            let (found, name) = (self.find_temporary_file(at)?, self.journal.new_text_name(at));
            if let Some(folder) = self.places.folder_of(&step.path) {
                folder
                    .remove(self.journal.old_text_name(at))
                    .context("cannot remove a temporary file")?;
            }
            match (found, step.path.parent()) {
                (None, _) => {}
                (Some(TemporaryFile::Other), Some(folder)) => {
                    paths.push(format!("{folder}/{name}").parse()?)
                }
                (Some(TemporaryFile::Other), None) => paths.push(name.parse()?),
                (Some(_), _) => self
                    .folder_of(&step.path)?
                    .remove(&name)
                    .with_context(|| format!("cannot remove {name}"))?,
            }
        }
        Ok(paths)
    }
}

/// Returns the most bytes that the old text or the new one can have: a longer file is an edit.
fn longest_text(step: &JournalStep) -> u64 {
    step.after.as_ref().map_or(0, |after| after.len() as u64).max(LONGEST)
}

/// A file under a temporary name.
enum TemporaryFile {
    /// The one that is replaced.
    Before,
    /// The new one.
    New,
    /// The beginning of the new one.
    Part,
    Other,
}

/// Returns whether a rename failed because another program has removed or created one of the names.
fn is_interference(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
}
