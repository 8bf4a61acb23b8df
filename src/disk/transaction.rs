//! The changes of one write, as far as they have come.
//!
//! Each step requires the state that it expects; anything else is a failure. Up to [`Transaction::run`]'s end, a failure
//! can be taken back: a replaced file is swapped with the new one, so that it still exists under the temporary name,
//! and swapping them again brings back whatever it was, also with an edit of the last moment.

use std::io;

use anyhow::Context as _;

use super::{
    content::LONGEST,
    folder::{Folder, Kind, is_missing},
    inputs::digest,
    journal::{Journal, Step},
    places::{Meanwhile, Places, blocked},
};
use model::ProjectPath;

/// The state of a file that a step is about to change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    Before,
    After,
    Edited,
}

pub struct Transaction<'a> {
    pub journal: &'a Journal,
    pub places: Places<'a>,
    /// The indices of the steps to take.
    pub todo: Vec<usize>,
    /// The names that are taken.
    done: Vec<usize>,
}

impl<'a> Transaction<'a> {
    pub fn new(journal: &'a Journal, places: Places<'a>) -> Self {
        Self { journal, places, todo: (0..journal.steps.len()).collect(), done: Vec::new() }
    }

    pub fn state(&self, step: &Step) -> anyhow::Result<State> {
        let looking = || format!("cannot read {}", step.path);
        let (folder, name) = (self.places.of(&step.path), step.path.name());
        let kind = folder.map_or(Ok(Kind::Nothing), |it| it.kind(name)).with_context(looking)?;
        let now = match (folder, kind) {
            (None, _) | (_, Kind::Nothing) => None,
            (Some(folder), Kind::File) => {
                match folder.read_up_to(name, longest(step)) {
                    Err(error) if is_missing(&error) => None,
                    // A file that is that long is neither the old one nor the new one.
                    Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                        return Ok(State::Edited);
                    }
                    bytes => Some(bytes.with_context(looking)?),
                }
            }
            _ => return blocked(&step.path, "it is not a regular file"),
        };
        Ok(match now {
            now if now.as_deref() == step.after.as_deref().map(str::as_bytes) => State::After,
            now if now.as_deref().map(digest) == step.before => State::Before,
            _ => State::Edited,
        })
    }

    /// Puts all new files in place, and removes old ones: they remain under their temporary names until `finish`.
    pub fn run(&mut self) -> anyhow::Result<()> {
        self.prepare()?;
        for at in self.todo.clone() {
            self.put(at)?;
        }
        for at in &self.done {
            if let Some(Old::Other | Old::Part) = self.old(*at)? {
                return Err(Meanwhile::edited(&self.journal.steps[*at].path));
            }
        }
        self.places.require_in_place()
    }

    /// Writes every new file under its temporary name, and creates missing folders.
    fn prepare(&mut self) -> anyhow::Result<()> {
        let (journal, mut new) = (self.journal, Vec::new());
        for at in &self.todo {
            let Step { path, after: Some(text), .. } = &journal.steps[*at] else { continue };
            let folder = self.places.of_or_new(path)?;
            let like = folder.like(path.name());
            like.and_then(|it| folder.create(&journal.temporary(*at), text.as_bytes(), &it))
                .with_context(|| format!("cannot write {path}"))?;
            new.push((path, journal.temporary(*at)));
        }
        for (path, name) in new {
            self.folder(path)?.sync_file(name).with_context(|| format!("cannot write {path}"))?;
        }
        Ok(())
    }

    fn folder(&self, path: &ProjectPath) -> anyhow::Result<&Folder> {
        self.places.of(path).ok_or_else(|| Meanwhile::edited(path))
    }

    fn put(&mut self, at: usize) -> anyhow::Result<()> {
        let step = &{ self.journal }.steps[at];
        if self.state(step)? != State::Before {
            return Err(Meanwhile::edited(&step.path));
        }
        let folder = self.folder(&step.path)?;
        let (new, name) = (self.journal.temporary(at), step.path.name());
        let put = match (&step.before, &step.after) {
            (None, _) => folder.rename_new(&new, name),
            (Some(_), None) => folder.rename_new(name, &new),
            (Some(_), Some(_)) => folder.exchange(&new, name).and_then(|is_possible| {
                if is_possible { Ok(()) } else { folder.rename(&new, name) }
            }),
        };
        match put {
            Ok(()) => self.done.push(at),
            Err(error) if is_interference(&error) => return Err(Meanwhile::edited(&step.path)),
            Err(error) => {
                return Err(error).with_context(|| format!("cannot put {} in place", step.path));
            }
        }
        Ok(())
    }

    /// The file with the temporary name of a step, if there is one.
    fn old(&self, at: usize) -> anyhow::Result<Option<Old>> {
        let step = &self.journal.steps[at];
        let Some(folder) = self.places.of(&step.path) else { return Ok(None) };
        let name = self.journal.temporary(at);
        let found = match folder.read_up_to(&name, longest(step)) {
            Err(error) if is_missing(&error) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Ok(Some(Old::Other));
            }
            found => found
                .with_context(|| format!("cannot read the previous version of {}", step.path))?,
        };
        let new = step.after.as_ref().map(String::as_bytes);
        Ok(Some(match found {
            found if Some(digest(&found)) == step.before => Old::Before,
            found if new == Some(&found) => Old::New,
            found if new.is_some_and(|it| it.starts_with(&found)) => Old::Part,
            _ => Old::Other,
        }))
    }

    /// Removes the files that were replaced, and returns when all names are on the disk.
    pub fn finish(&self) -> anyhow::Result<()> {
        for at in &self.done {
            let step = &self.journal.steps[*at];
            if step.before.is_some() {
                self.folder(&step.path)?.remove(self.journal.temporary(*at)).with_context(
                    || format!("cannot remove the previous version of {}", step.path),
                )?;
            }
        }
        self.places.sync()
    }

    /// The steps of a failed run that are still to be taken back; none if an old text is lost, as this system cannot swap
    /// files: then only the new texts can be completed.
    pub fn steps_to_take_back(&self) -> anyhow::Result<Option<Vec<usize>>> {
        let mut steps = Vec::new();
        for (at, step) in self.journal.steps.iter().enumerate() {
            if self.state(step)? != State::After {
                continue;
            }
            match (self.old(at)?, &step.before, &step.after) {
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
        kept.extend(self.sweep()?);
        self.places.remove_new();
        Ok(kept)
    }

    /// The result is false if the file was edited, removed or replaced after it had been put in place.
    fn take_back_one(&self, at: usize, before: Option<&str>) -> anyhow::Result<bool> {
        let step = &self.journal.steps[at];
        let folder = self.folder(&step.path)?;
        let (old, name) = (self.journal.temporary(at), step.path.name());
        if step.before.is_some() && folder.kind(&old)? == Kind::Nothing {
            return self.rewrite(at, folder, before);
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
            // A new file that somebody has removed since is where it was before.
            Err(error) if is_interference(&error) => return Ok(is_created && is_missing(&error)),
            Err(error) => return Err(error.into()),
        }
        if matches!(self.old(at)?, Some(Old::New)) {
            return Ok(true);
        }
        // It is an edit, and comes back.
        match is_created {
            true => folder.rename_new(&old, name)?,
            false => drop(folder.exchange(&old, name)?),
        }
        Ok(false)
    }

    /// Renames the old file over the new one, on a system that cannot swap files.
    fn put_back(&self, at: usize, folder: &Folder) -> anyhow::Result<bool> {
        let step = &self.journal.steps[at];
        if self.state(step)? != State::After {
            return Ok(false);
        }
        folder.rename(&self.journal.temporary(at), step.path.name())?;
        Ok(true)
    }

    /// Writes the old text again: the system cannot swap files, or somebody has removed the old one.
    fn rewrite(&self, at: usize, folder: &Folder, before: Option<&str>) -> anyhow::Result<bool> {
        let step = &self.journal.steps[at];
        let (new, name) = (self.journal.rewritten(at), step.path.name());
        let state = self.state(step)?;
        let Some(text) = before.filter(|_| state == State::After) else { return Ok(false) };
        match folder.create(&new, text.as_bytes(), &folder.like(name)?) {
            // The directory itself was removed.
            Err(error) if is_missing(&error) => return Ok(false),
            created => created?,
        }
        folder.sync_file(&new)?;
        folder.rename(&new, name)?;
        Ok(true)
    }

    /// Brings back an edit that an interrupted run has swapped with the new file just before it ended.
    pub fn restore(&self, at: usize) -> anyhow::Result<()> {
        let step = &self.journal.steps[at];
        if step.before.is_some()
            && matches!(self.old(at)?, Some(Old::Other))
            && self.state(step)? == State::After
        {
            let folder = self.folder(&step.path)?;
            let (old, name) = (self.journal.temporary(at), step.path.name());
            match step.after {
                Some(_) => drop(folder.exchange(&old, name)?),
                None => folder.rename_new(&old, name)?,
            }
        }
        Ok(())
    }

    /// Removes temporary files: new texts, complete or truncated, and replaced files. Any other text is an edit; it
    /// stays, and its path is returned.
    pub fn sweep(&self) -> anyhow::Result<Vec<ProjectPath>> {
        let mut res = Vec::new();
        for (at, step) in self.journal.steps.iter().enumerate() {
            let (found, name) = (self.old(at)?, self.journal.temporary(at));
            if let Some(folder) = self.places.of(&step.path) {
                folder
                    .remove(self.journal.rewritten(at))
                    .context("cannot remove a temporary file")?;
            }
            match (found, step.path.parent()) {
                (None, _) => {}
                (Some(Old::Other), Some(folder)) => res.push(format!("{folder}/{name}").parse()?),
                (Some(Old::Other), None) => res.push(name.parse()?),
                (Some(_), _) => self
                    .folder(&step.path)?
                    .remove(&name)
                    .with_context(|| format!("cannot remove {name}"))?,
            }
        }
        Ok(res)
    }
}

/// The most bytes that the old text or the new one can have: a longer file is an edit.
fn longest(step: &Step) -> u64 {
    step.after.as_ref().map_or(0, |it| it.len() as u64).max(LONGEST)
}

/// A file under a temporary name.
enum Old {
    /// The one that is replaced.
    Before,
    /// The new one.
    New,
    /// The beginning of the new one.
    Part,
    Other,
}

/// Whether a rename failed because somebody has removed or created one of the names.
fn is_interference(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::AlreadyExists)
}
