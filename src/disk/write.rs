//! All of a command's changes, or none of them, also on `kill -9` and when the power goes.
//!
//! ```text
//! is each file as the command has read it? ─ journal ─ new texts under temporary names ─ renames ─ journal gone
//!     no: nothing is written                    └ from here on, the next command that writes completes it
//! ```
//!
//! Each arrow waits until what came before is on the disk itself.

use std::collections::BTreeSet;

use anyhow::Context as _;

use super::{
    folder::{Folder, Kind},
    journal::{Journal, Step, UNFINISHED, hash},
    root::{Root, Way, busy},
};
use crate::{
    hint::Hint as _,
    model::{Project, ProjectPath},
    plan::{Change, Changes},
};

/// What an interrupted run has left, and is completed now.
#[derive(Debug, PartialEq)]
pub struct Recovered {
    /// The files that were written or removed.
    pub completed: Vec<ProjectPath>,
    /// Those that were edited meanwhile, and stay as they are. What the run would have written is beside each,
    /// under the name that is given; none where it would have removed the file.
    pub edited: Vec<(ProjectPath, Option<ProjectPath>)>,
}

/// How a file is, seen from a step that is to change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Before,
    After,
    Edited,
}

impl Root {
    /// Writes every change or none. PROJECT comes last, so that it never names what is not there.
    pub fn write(&self, changes: &Changes) -> anyhow::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let folder = self.made()?;
        self.lock()?;
        if Journal::read(folder)?.is_some() {
            return Err(anyhow::format_err!("another operator-rs was interrupted here meanwhile"))
                .hint("run it again: that completes what the other had begun");
        }
        let mut list: Vec<&Change> = changes.iter().collect();
        list.sort_by_key(|it| it.path == Project::path());
        let steps = list.into_iter().map(|it| Step {
            path: it.path.clone(),
            before: it.before.as_deref().map(|it| hash(it.as_bytes())),
            after: it.after.clone(),
        });
        let journal = Journal::new(token(), steps.collect())?;
        for step in &journal.steps {
            if self.state(step)? != State::Before {
                return Err(anyhow::format_err!("{} changed while the command ran", step.path))
                    .hint("nothing was written: run it again");
            }
        }
        journal.put(folder).hint("nothing was written")?;
        let todo: Vec<(usize, &Step)> = journal.steps.iter().enumerate().collect();
        let mut made = Vec::new();
        if let Err(error) = self.prepare(&journal, &todo, &mut made) {
            self.sweep(&journal, &todo);
            made.iter().rev().for_each(|it| self.remove_folder(it)); // only if it is empty
            Journal::remove(folder)?;
            return Err(error)
                .hint("nothing was written: make room or give leave to write, and run it again");
        }
        let edited = self.put_in_place(&journal, &todo)?;
        Journal::remove(folder)?;
        match edited.is_empty() {
            true => Ok(()),
            false => tell_edited(&edited),
        }
    }

    /// Completes what an interrupted run had begun, if there was one.
    pub fn recover(&self) -> anyhow::Result<Option<Recovered>> {
        let Some(folder) = self.folder() else { return Ok(None) };
        if folder.kind(UNFINISHED)? != Kind::Nothing {
            // Killed while it wrote the journal itself: what that was to say had not begun.
            self.lock()?;
            folder.remove(UNFINISHED).context("removing an unfinished journal")?;
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
                State::Edited => edited.push(step),
            }
        }
        let kept = self.beside(&edited)?;
        let all: Vec<(usize, &Step)> = journal.steps.iter().enumerate().collect();
        self.sweep(&journal, &all);
        self.prepare(&journal, &todo, &mut Vec::new())
            .inspect_err(|_| self.sweep(&journal, &all))
            .hint("make room or give leave to write, and run it again: it goes on from here")?;
        let late = self.put_in_place(&journal, &todo)?;
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
        Err(anyhow::format_err!("an operator-rs that wrote here was interrupted, and some of its files are missing"))
            .hint("run a command that writes, `operator-rs generate` for one: it completes what was begun")
    }

    fn state(&self, step: &Step) -> anyhow::Result<State> {
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

    /// Makes every new file under its temporary name, and what folders it needs.
    fn prepare(
        &self,
        journal: &Journal,
        todo: &[(usize, &Step)],
        made: &mut Vec<ProjectPath>,
    ) -> anyhow::Result<()> {
        for (at, step) in todo {
            let Some(text) = &step.after else { continue };
            let writing = || format!("writing {}", step.path);
            let folder = self.folder_of(&step.path, made)?;
            let like = folder.permissions(step.path.name());
            folder.create(&journal.temporary(*at), text.as_bytes(), like).with_context(writing)?;
        }
        for (at, step) in todo.iter().filter(|it| it.1.after.is_some()) {
            let folder = self.folder_of(&step.path, made)?;
            folder
                .sync_file(journal.temporary(*at))
                .with_context(|| format!("writing {}", step.path))?;
        }
        Ok(())
    }

    /// Renames and removes. A file that was edited at the last moment stays, and is returned.
    fn put_in_place(
        &self,
        journal: &Journal,
        todo: &[(usize, &Step)],
    ) -> anyhow::Result<Vec<(ProjectPath, Option<ProjectPath>)>> {
        let mut edited = Vec::new();
        let mut folders = BTreeSet::new();
        for (at, step) in todo {
            let putting = || format!("putting {} in place", step.path);
            if self.state(step)? == State::Edited {
                edited.extend(self.beside(&[step])?);
                continue;
            }
            let folder = match self.way(&step.path)? {
                Way::To(folder) => folder,
                Way::Missing => continue,
                Way::Blocked(what) => return blocked(&step.path, &what),
            };
            match &step.after {
                Some(_) => folder.rename(&journal.temporary(*at), step.path.name()),
                None => folder.remove(step.path.name()),
            }
            .with_context(putting)
            .hint(
                "run any operator-rs command that writes here again: it completes what was begun",
            )?;
            // A new folder's own name is in the one above it.
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
        Ok(edited)
    }

    /// Puts what steps would have written beside files that were edited, and says where.
    fn beside(&self, steps: &[&Step]) -> anyhow::Result<Vec<(ProjectPath, Option<ProjectPath>)>> {
        let mut res = Vec::new();
        for step in steps {
            let Some(text) = &step.after else {
                res.push((step.path.clone(), None));
                continue;
            };
            let beside: ProjectPath = format!("{}.operator-rs-new", step.path).parse()?;
            let writing = || format!("writing {beside}");
            let folder = self.folder_of(&beside, &mut Vec::new())?;
            match folder.kind(beside.name()).with_context(writing)? {
                Kind::Nothing => {
                    folder.create(beside.name(), text.as_bytes(), None).with_context(writing)?;
                    folder.sync_file(beside.name()).with_context(writing)?;
                    folder.sync().with_context(writing)?;
                }
                Kind::File if folder.read(beside.name()).is_ok_and(|it| it == text.as_bytes()) => {}
                _ => {
                    return Err(anyhow::format_err!("{beside} is there already"))
                        .hint("move it away, then run this again");
                }
            }
            res.push((step.path.clone(), Some(beside)));
        }
        Ok(res)
    }

    /// The folder of a path; those that are missing are made, and added to `made`.
    fn folder_of(&self, path: &ProjectPath, made: &mut Vec<ProjectPath>) -> anyhow::Result<Folder> {
        if let Way::Blocked(what) = self.way(path)? {
            return blocked(path, &what);
        }
        let mut folder = self.made()?.again().with_context(|| format!("opening {path}"))?;
        let names: Vec<&str> = path.as_str().split('/').collect();
        for depth in 1..names.len() {
            let here: ProjectPath = names[..depth].join("/").parse()?;
            let (inner, new) = folder
                .folder_or_new(names[depth - 1])
                .with_context(|| format!("making the folder {here}"))?;
            folder = inner;
            if new {
                made.push(here);
            }
        }
        Ok(folder)
    }

    /// Takes temporary files away, as far as that can be done.
    fn sweep(&self, journal: &Journal, steps: &[(usize, &Step)]) {
        for (at, step) in steps.iter().filter(|it| it.1.after.is_some()) {
            if let Ok(Way::To(folder)) = self.way(&step.path) {
                let _ = folder.remove(journal.temporary(*at));
            }
        }
    }

    fn remove_folder(&self, path: &ProjectPath) {
        if let Ok(Way::To(folder)) = self.way(path) {
            let _ = folder.remove_folder(path.name());
        }
    }
}

/// What became of edits, as an error.
fn tell_edited<T>(edited: &[(ProjectPath, Option<ProjectPath>)]) -> anyhow::Result<T> {
    let lines = edited.iter().map(|(path, beside)| match beside {
        Some(beside) => format!("\n  {path}: the new text is in {beside}"),
        None => format!("\n  {path}: it would have been removed"),
    });
    Err(anyhow::format_err!(
        "files that were edited meanwhile stay as they are; all others were written:{}",
        lines.collect::<String>()
    ))
    .hint("bring each edit and its new text together by hand, and delete the latter; then run this again")
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

fn blocked<T>(path: &ProjectPath, what: &str) -> anyhow::Result<T> {
    Err(anyhow::format_err!("{path} cannot be written: {what}"))
        .hint("move away what is in its place")
}

/// Sixteen hexadecimal digits that nobody can guess: no file that is there has them in its name.
fn token() -> String {
    let mut bytes = [0; 8];
    // Where there is no chance to be had, exclusive creation still refuses a name that is taken.
    let _ = getrandom::fill(&mut bytes);
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}
