//! All of a command's changes, or none of them, also on `kill -9`.

#![expect(clippy::disallowed_methods, reason = "this is the room that touches the disk")]

use std::{
    collections::BTreeSet,
    fs::{self, File},
    io::{self, Write as _},
    path::Path,
};

use anyhow::{Context as _, bail};
use sha2::{Digest as _, Sha256};

use super::{
    Root,
    journal::{self, Journal, Phase, Step},
};
use crate::{
    hint::Hint as _,
    model::Project,
    plan::{Change, Changes},
};

/// What became of a write that was interrupted.
#[derive(Debug, PartialEq)]
pub enum Recovered {
    Nothing,
    /// It had not begun: its temporary files are gone, the old project stands.
    Undone,
    /// It had begun: the new project stands.
    Completed,
}

impl Root {
    /// Writes every change or none. PROJECT comes last, so that it never names what is not there.
    pub fn write(&self, changes: &Changes) -> anyhow::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        fs::create_dir_all(&self.dir)
            .with_context(|| format!("making the folder `{}`", self.dir.display()))?;
        self.lock()?;
        if self.dir.join(journal::NAME).exists() {
            return Err(anyhow::format_err!("another operator-rs was interrupted here meanwhile"))
                .hint("run it again: that completes what the other had begun");
        }
        let mut list: Vec<&Change> = changes.iter().collect();
        list.sort_by_key(|it| it.path == Project::path());
        let mut journal = self.prepare(&list)?;
        journal.phase = Phase::Commit;
        if let Err(error) = journal.put(&self.dir) {
            self.undo(&journal);
            return Err(error).hint("nothing was written");
        }
        self.finish(&journal)
    }

    /// Brings an interrupted write to its end, or takes back what it had begun.
    pub fn recover(&self) -> anyhow::Result<Recovered> {
        let unfinished = self.dir.join(journal::UNFINISHED);
        if !self.dir.join(journal::NAME).exists() && !unfinished.exists() {
            return Ok(Recovered::Nothing);
        }
        self.lock()?;
        // Killed while it wrote the journal itself: what the journal was to say had not begun.
        let undone = fs::remove_file(unfinished).is_ok();
        match Journal::read(&self.dir)? {
            None if undone => Ok(Recovered::Undone),
            None => Ok(Recovered::Nothing),
            Some(journal) if journal.phase == Phase::Prepare => {
                self.undo(&journal);
                Ok(Recovered::Undone)
            }
            Some(journal) => self.finish(&journal).map(|()| Recovered::Completed),
        }
    }

    /// One operator-rs at a time that means to write in a folder, from before it reads until it ends,
    /// however that ends: what it writes follows from what it has read.
    pub fn lock(&self) -> anyhow::Result<()> {
        // Where a folder cannot be opened as a file there is no lock to be had.
        let Ok(folder) = File::open(&self.dir) else { return Ok(()) };
        if self.held.get().is_some() {
            return Ok(());
        }
        match folder.try_lock() {
            Ok(()) => {
                let _ = self.held.set(folder);
                Ok(())
            }
            Err(fs::TryLockError::WouldBlock) => {
                Err(anyhow::format_err!("another operator-rs is writing here"))
                    .hint("wait until it is done, then run this again")
            }
            Err(fs::TryLockError::Error(_)) => Ok(()),
        }
    }

    /// Makes every new file under its temporary name. On any failure nothing of it stays.
    fn prepare(&self, changes: &[&Change]) -> anyhow::Result<Journal> {
        let steps = changes.iter().map(|it| Step {
            path: self.target(it),
            new: it.after.as_ref().map(|_| journal::temporary(&self.target(it))),
            before: it.before.as_deref().map(hash),
        });
        let journal = Journal {
            phase: Phase::Prepare,
            folders: self.missing_folders(changes),
            steps: steps.collect(),
        };
        let unchanged = |(change, step): (&&Change, &Step)| match self.hash_of(&step.path) {
            Ok(now) if now == step.before => Ok(()),
            Ok(_) => Err(anyhow::format_err!("{} changed while the command ran", change.path))
                .hint("run it again"),
            Err(error) => Err(error).with_context(|| format!("reading {}", change.path)),
        };
        changes.iter().zip(&journal.steps).try_for_each(unchanged)?;
        journal.put(&self.dir).hint("nothing was written")?;
        let made = (|| {
            for folder in &journal.folders {
                fs::create_dir(self.dir.join(folder))
                    .with_context(|| format!("making the folder {folder}"))?;
            }
            for (change, step) in changes.iter().zip(&journal.steps) {
                if let (Some(new), Some(text)) = (&step.new, &change.after) {
                    self.put(new, text, &step.path)
                        .with_context(|| format!("writing {}", change.path))?;
                }
            }
            Ok(())
        })();
        if let Err(error) = made {
            self.undo(&journal);
            return Err::<Journal, anyhow::Error>(error)
                .hint("nothing was written: make room or give leave to write, and run it again");
        }
        Ok(journal)
    }

    /// One whole file under a temporary name, with the permissions of what it will replace.
    fn put(&self, new: &str, text: &str, old: &str) -> io::Result<()> {
        let mut file = File::create(self.dir.join(new))?;
        file.write_all(text.as_bytes())?;
        if let Ok(meta) = fs::metadata(self.dir.join(old)) {
            file.set_permissions(meta.permissions())?;
        }
        Ok(())
    }

    /// Renames and removes what is not yet; a step that was done already is passed over.
    fn finish(&self, journal: &Journal) -> anyhow::Result<()> {
        for step in &journal.steps {
            let path = self.dir.join(&step.path);
            let Some(new) = &step.new else {
                match self.hash_of(&step.path)? {
                    None => {}
                    now if now == step.before => {
                        fs::remove_file(&path)
                            .with_context(|| format!("removing {}", step.path))?;
                    }
                    Some(_) => self.edited_meanwhile(step)?,
                }
                continue;
            };
            let new = self.dir.join(new);
            if !new.exists() {
                continue;
            }
            if self.hash_of(&step.path)? != step.before {
                self.edited_meanwhile(step)?;
            }
            fs::rename(&new, &path)
                .with_context(|| format!("putting {} in place", step.path))
                .hint("run any operator-rs command here again: it completes what was begun")?;
        }
        Journal::remove(&self.dir)
    }

    fn edited_meanwhile(&self, step: &Step) -> anyhow::Result<()> {
        let new =
            step.new.as_deref().map_or("removed".to_owned(), |it| format!("replaced by `{it}`"));
        Err(anyhow::format_err!(
            "an interrupted run was to change {}, and it was edited since",
            step.path
        ))
        .hint(format!(
            "it was to be {new}: bring the two together by hand, then remove `{}`",
            journal::NAME
        ))
    }

    /// Takes back what a preparation has made. What cannot be removed is left; the journal goes last.
    fn undo(&self, journal: &Journal) {
        for new in journal.steps.iter().filter_map(|it| it.new.as_ref()) {
            let _ = fs::remove_file(self.dir.join(new));
        }
        for folder in journal.folders.iter().rev() {
            let _ = fs::remove_dir(self.dir.join(folder)); // only if it is empty
        }
        let _ = Journal::remove(&self.dir);
    }

    /// Where a change is written: behind a symlink that stays inside the project, if there is one.
    fn target(&self, change: &Change) -> String {
        let path = self.dir.join(&change.path);
        let is_link = fs::symlink_metadata(&path).is_ok_and(|it| it.is_symlink());
        let real = is_link.then(|| fs::canonicalize(&path).ok()).flatten();
        let below =
            real.as_deref().and_then(|it| it.strip_prefix(&self.real).ok()).and_then(Path::to_str);
        below.unwrap_or(change.path.as_str()).to_owned()
    }

    fn missing_folders(&self, changes: &[&Change]) -> Vec<String> {
        let mut res = BTreeSet::new();
        for change in changes.iter().filter(|it| it.after.is_some()) {
            let mut folder = change.path.parent();
            while let Some(it) = folder {
                if self.dir.join(&it).is_dir() {
                    break;
                }
                folder = it.parent();
                res.insert(it.as_str().to_owned());
            }
        }
        res.into_iter().collect()
    }

    fn hash_of(&self, path: &str) -> anyhow::Result<Option<String>> {
        match fs::read_to_string(self.dir.join(path)) {
            Ok(text) => Ok(Some(hash(&text))),
            Err(error)
                if matches!(
                    error.kind(),
                    io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
                ) =>
            {
                Ok(None)
            }
            Err(error) => bail!("{path}: {error}"),
        }
    }
}

fn hash(text: &str) -> String {
    Sha256::digest(text)[..16].iter().map(|it| format!("{it:02x}")).collect()
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
