//! What a command would do, as a value. Building one touches nothing; [`Plan::against`] only reads.

mod changes;
mod fragment;
mod ours;
mod overlay;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

pub use changes::{Change, Changes};
pub use overlay::Overlay;

use crate::{
    hint::Diagnostic,
    model::{self, ProjectPath},
};
use fragment::Fragment;

/// Whether a file is as the command of these words (`manifests`) has generated it.
pub fn is_ours(path: &ProjectPath, text: &str, by: &str) -> bool {
    matches!(ours::state(path, text, by), ours::State::Ours | ours::State::Older)
}

/// What a plan needs to see of the project: on disk, or in a test's map.
pub trait Tree {
    /// What a file that is written to a path would meet there: a symlink is a symlink.
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found>;

    /// Its folder on disk, if it has one.
    fn dir(&self) -> Option<&Path> {
        None
    }

    /// Every file below a folder, in path order; empty where there is no such folder.
    fn list(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>>;

    /// What is in a folder, sorted, folders with a `/` behind their names; `""` is the project's own.
    /// Empty where there is no such folder.
    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>>;

    /// The text of a file, or nothing where there is none. Symlinks may lead to it, as long as they stay inside of
    /// the project. What is there but is no text is an error.
    fn read(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        match self.look(path)? {
            Found::Nothing => Ok(None),
            Found::Text(text) => Ok(Some(text)),
            Found::Other(what) => Err(anyhow::format_err!("{path} cannot be read: {what}")),
        }
    }

    /// The same of a file that need not be text.
    fn bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        Ok(self.read(path)?.map(String::into_bytes))
    }
}

/// What stands at a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Found {
    Nothing,
    Text(String),
    /// Something that no text file can replace; what it is, for a message.
    Other(String),
}

/// What should be true of the project afterwards.
#[derive(Debug, Default)]
pub struct Plan {
    intents: BTreeMap<ProjectPath, Intent>,
    owned: BTreeMap<ProjectPath, Owned>,
    retired: BTreeMap<ProjectPath, &'static str>,
    /// Whose files at the top go, where they are not in this plan.
    swept: Option<&'static str>,
    /// The folder that paths are shown in, with a `/`; empty where they are seen from the project's own.
    shown_in: String,
    /// Files of the user that stay, and why that is worth a word.
    kept: Vec<(ProjectPath, String)>,
    warnings: Vec<Diagnostic>,
    next: Option<String>,
}

/// What is generated into a folder, and what is not generated any more is removed from it.
#[derive(Debug)]
struct Owned {
    by: &'static str,
    extensions: BTreeSet<&'static str>,
}

#[derive(Debug)]
enum Intent {
    /// Written once; the user's from then on.
    Scaffold(String),
    /// Written where there is nothing; what is there stays.
    Offer(String),
    /// The user's file, which gains the lines it lacks.
    Lines(String),
    /// Ours: replaced on every run of the command `by`. `edit` says where a hand edit belongs.
    Generate { text: String, edit: String, by: &'static str },
    /// The user's file, our lines: each goes in above its marker, once.
    /// `seed` is what the file starts from where there is none.
    Insert { seed: Option<String>, fragments: Vec<Fragment>, removals: Vec<String> },
    /// The user's file that goes. `known` are the texts with which it may: a file with another one was edited.
    Delete { known: Vec<String> },
    /// The user's file, which the command has read as `before`, and edited.
    Edit { before: String, after: String },
}

impl Plan {
    pub fn scaffold(&mut self, path: ProjectPath, text: String) {
        match self.intents.get_mut(&path) {
            Some(Intent::Insert { seed, .. }) => *seed = Some(text),
            _ => drop(self.intents.insert(path, Intent::Scaffold(text))),
        }
    }

    /// What a scaffold would write at `path` is only offered: a file that is there stays as it is.
    pub fn only_offer(&mut self, path: &ProjectPath) {
        if let Some(Intent::Scaffold(text)) = self.intents.remove(path) {
            self.intents.insert(path.clone(), Intent::Offer(text));
        }
    }

    /// The same plan, which leaves every file that is there as it is.
    pub fn offered(mut self) -> Self {
        let paths: Vec<_> = self.intents.keys().cloned().collect();
        paths.iter().for_each(|it| self.only_offer(it));
        self
    }

    /// What a scaffold would write at `path` are lines that a file that is there gains.
    pub fn only_lines(&mut self, path: &ProjectPath) {
        if let Some(Intent::Scaffold(text)) = self.intents.remove(path) {
            self.intents.insert(path.clone(), Intent::Lines(text));
        }
    }

    /// Changes the text that a scaffold would write at `path`.
    pub fn rework(&mut self, path: &ProjectPath, change: impl FnOnce(&str) -> String) {
        if let Some(Intent::Scaffold(text)) = self.intents.get_mut(path) {
            *text = change(text);
        }
    }

    /// A file of ours. `edit` completes "edit …, not this": where a change belongs. `by` are the words of the
    /// command that generates it: no other one replaces or removes it.
    pub fn generate(&mut self, path: ProjectPath, text: String, edit: &str, by: &'static str) {
        self.intents.insert(path, Intent::Generate { text, edit: edit.to_owned(), by });
    }

    /// What a scaffold would write at one path goes to another.
    pub fn relocate(&mut self, from: &ProjectPath, to: ProjectPath) {
        if let Some(intent) = self.intents.remove(from) {
            self.intents.insert(to, intent);
        }
    }

    /// Leaves a file as it is, and says so.
    pub fn keep(&mut self, path: ProjectPath, why: &str) {
        self.intents.remove(&path);
        self.kept.push((path, why.to_owned()));
    }

    /// Leaves a file as it is.
    pub fn forget(&mut self, path: &ProjectPath) {
        self.intents.remove(path);
    }

    pub fn insert(&mut self, path: ProjectPath, marker: &str, text: String) {
        let fragment = Fragment { marker: marker.to_owned(), text };
        let (seed, mut fragments, removals) = match self.intents.remove(&path) {
            Some(Intent::Insert { seed, fragments, removals }) => (seed, fragments, removals),
            Some(Intent::Scaffold(text)) => (Some(text), Vec::new(), Vec::new()),
            _ => (None, Vec::new(), Vec::new()),
        };
        fragments.push(fragment);
        self.intents.insert(path, Intent::Insert { seed, fragments, removals });
    }

    /// Removes a line from a user's file, wherever it is in there, and however it is indented.
    pub fn remove_line(&mut self, path: ProjectPath, line: &str) {
        match self.intents.get_mut(&path) {
            Some(Intent::Edit { after, .. }) => *after = fragment::without(after, line),
            Some(Intent::Insert { removals, .. }) => removals.push(line.to_owned()),
            _ => {
                let removals = vec![line.to_owned()];
                let insert = Intent::Insert { seed: None, fragments: Vec::new(), removals };
                self.intents.insert(path, insert);
            }
        }
    }

    /// Deletes a user's file, unless its text is none of these and `--force` is not given.
    pub fn delete(&mut self, path: ProjectPath, known: Vec<String>) {
        self.intents.insert(path, Intent::Delete { known });
    }

    /// A user's file: the text that the command has read, and the same after an edit that it has made and checked.
    pub fn edit(&mut self, path: ProjectPath, before: String, after: String) {
        self.intents.insert(path, Intent::Edit { before, after });
    }

    /// What else `by` has generated into `folder` with one of these extensions, and is not in this plan, goes.
    pub fn own(&mut self, folder: ProjectPath, extensions: &[&'static str], by: &'static str) {
        self.owned.insert(folder, Owned { by, extensions: extensions.iter().copied().collect() });
    }

    /// A file that `by` generated in earlier versions goes, unless it was edited.
    pub fn retire(&mut self, path: ProjectPath, by: &'static str) {
        self.retired.insert(path, by);
    }

    /// What else `by` has generated at the top of the folder, and is not in this plan, goes. Nothing else there is
    /// mentioned.
    pub fn sweep(&mut self, by: &'static str) {
        self.swept = Some(by);
    }

    /// Paths are shown as they are seen from the folder above this one.
    pub fn show_in(&mut self, folder: &str) {
        self.shown_in = format!("{}/", folder.trim_end_matches('/'));
    }

    /// Something the user should know although the command goes on.
    pub fn warn(&mut self, warning: impl Into<Diagnostic>) {
        self.warnings.push(warning.into());
    }

    /// What to do next, said once all is written.
    pub fn next(&mut self, text: String) {
        self.next = Some(text);
    }

    /// Takes over what another plan wants; where both name a path, the other's word counts.
    pub fn extend(&mut self, other: Self) {
        for (path, intent) in other.intents {
            match intent {
                Intent::Insert { seed, fragments, removals } => {
                    if let Some(seed) = seed {
                        self.scaffold(path.clone(), seed);
                    }
                    for Fragment { marker, text } in fragments {
                        self.insert(path.clone(), &marker, text);
                    }
                    for line in removals {
                        self.remove_line(path.clone(), &line);
                    }
                }
                Intent::Scaffold(text) => self.scaffold(path, text),
                other => drop(self.intents.insert(path, other)),
            }
        }
        self.owned.extend(other.owned);
        self.retired.extend(other.retired);
        self.swept = other.swept.or(self.swept);
        self.kept.extend(other.kept);
        self.warnings.extend(other.warnings);
        self.next = other.next.or(self.next.take());
    }

    /// Meets the plan with what is there. Reads only; tells every conflict at once. With `force`, files
    /// of ours that were edited by hand are replaced too.
    pub fn against(&self, tree: &impl Tree, force: bool) -> anyhow::Result<Changes> {
        let changes = self.forecast(tree, force)?;
        changes.require_no_conflicts("nothing was written")?;
        Ok(changes)
    }

    /// The same for a command that writes nothing: conflicts are not an error yet, and generated files that were edited
    /// by hand are among the changes.
    pub fn forecast(&self, tree: &impl Tree, force: bool) -> anyhow::Result<Changes> {
        let mut changes = self.met(tree, force)?;
        changes.sort();
        Ok(changes)
    }

    /// The project as the plan would leave it, where what conflicts stays as it is.
    pub fn preview(&self, tree: &impl Tree) -> anyhow::Result<Changes> {
        self.met(tree, true)
    }

    fn met(&self, tree: &impl Tree, force: bool) -> anyhow::Result<Changes> {
        let mut changes = Changes::new(&self.warnings, self.next.as_deref(), &self.shown_in);
        for (path, intent) in &self.intents {
            match tree.look(path)? {
                Found::Nothing => intent.meet(path, None, force, &mut changes),
                Found::Text(before) => intent.meet(path, Some(before), force, &mut changes),
                Found::Other(_) if matches!(intent, Intent::Offer(_)) => {}
                Found::Other(what) => changes.in_the_way(path, &what),
            }
        }
        for (path, why) in &self.kept {
            changes.stays(path, why);
        }
        for (path, by) in &self.retired {
            if let (Found::Text(before), false) =
                (tree.look(path)?, self.intents.contains_key(path))
            {
                match is_ours(path, &before, by) {
                    true => changes.delete(path.clone(), before),
                    false => {
                        changes.stays(path, "not generated any more, and edited or copied by hand")
                    }
                }
            }
        }
        if let Some(by) = self.swept {
            self.sweep_top(tree, by, &mut changes)?;
        }
        for (folder, Owned { by, extensions }) in &self.owned {
            for path in tree.list(folder)? {
                if self.intents.contains_key(&path) || !extensions.contains(path.extension()) {
                    continue;
                }
                let Found::Text(before) = tree.look(&path)? else {
                    changes.stays(&path, "not generated by operator-rs");
                    continue;
                };
                match ours::state(&path, &before, by) {
                    ours::State::Ours => changes.delete(path, before),
                    ours::State::Theirs => changes.stays(&path, "not generated by operator-rs"),
                    ours::State::Another { by } => {
                        changes.stays(&path, &format!("generated by `operator-rs {by}`"));
                    }
                    ours::State::Edited => {
                        changes
                            .stays(&path, "not generated any more, and edited or copied by hand");
                    }
                    ours::State::Older => changes.stays(
                        &path,
                        "not generated any more, or copied by hand: delete it if nothing needs it",
                    ),
                }
            }
        }
        Ok(changes)
    }
}

impl Plan {
    fn sweep_top(&self, tree: &impl Tree, by: &str, changes: &mut Changes) -> anyhow::Result<()> {
        for name in tree.names("")? {
            let Ok(path) = name.parse::<ProjectPath>() else { continue };
            let Found::Text(before) = tree.look(&path)? else { continue };
            if self.intents.contains_key(&path) {
                continue;
            }
            match ours::state(&path, &before, by) {
                ours::State::Ours => changes.delete(path, before),
                ours::State::Edited => {
                    changes.stays(&path, "not generated any more, and edited or copied by hand");
                }
                _ => {}
            }
        }
        Ok(())
    }
}

impl Intent {
    fn meet(&self, path: &ProjectPath, before: Option<String>, force: bool, changes: &mut Changes) {
        if let (Self::Insert { .. } | Self::Lines(_) | Self::Edit { .. }, Some(text)) =
            (self, &before)
            && let Some(conflict) = model::merge_conflict(path, text)
        {
            return changes.problem(conflict);
        }
        let after = match self {
            Self::Edit { before: read, after } => {
                if before.as_ref() != Some(read) {
                    return changes.changed(path);
                }
                after.clone()
            }
            Self::Scaffold(text) => match &before {
                Some(before) if *before != with_ends_of(before, text) => {
                    return changes.theirs(path);
                }
                Some(before) => before.clone(),
                None => text.clone(),
            },
            Self::Offer(text) => match &before {
                Some(_) => return,
                None => text.clone(),
            },
            Self::Lines(text) => fragment::lacking(before.as_deref().unwrap_or(""), text),
            Self::Generate { text, edit, by } => {
                let signed = ours::signed(path, text, edit, by);
                match &before {
                    None => signed,
                    Some(before) => match ours::state(path, before, by) {
                        // git's first marker may be above our line.
                        ours::State::Theirs if ours::is_in_conflict(path, before) => {
                            if !force {
                                changes.edited(path, before, edit);
                            }
                            with_ends_of(before, &signed)
                        }
                        ours::State::Theirs => return changes.theirs(path),
                        ours::State::Another { by } => return changes.another(path, &by),
                        ours::State::Edited if !force => {
                            changes.edited(path, before, edit);
                            with_ends_of(before, &signed)
                        }
                        // It is signed anew when there is something else to change.
                        ours::State::Older if ours::same(before, &signed) => before.clone(),
                        _ => with_ends_of(before, &signed),
                    },
                }
            }
            Self::Delete { known } => {
                let Some(before) = before else { return };
                if !force && !known.iter().any(|it| with_ends_of(&before, it) == before) {
                    changes.kept(path);
                }
                return changes.delete(path.clone(), before);
            }
            Self::Insert { seed, fragments, removals } => {
                let Some(mut text) = before.clone().or_else(|| seed.clone()) else {
                    return changes.missing(path);
                };
                for line in removals {
                    text = fragment::without(&text, line);
                }
                for fragment in fragments {
                    match fragment.put(path, &text) {
                        Ok(after) => text = after,
                        Err(problem) => return changes.problem(problem),
                    }
                }
                text
            }
        };
        changes.push(Change { path: path.clone(), before, after: Some(after) });
    }
}

/// A text with the line ends of the file that it replaces.
fn with_ends_of(before: &str, text: &str) -> String {
    match before.split_once('\n') {
        Some((first, _)) if first.ends_with('\r') => text.replace('\n', "\r\n"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests;
