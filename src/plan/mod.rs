//! The changes that a command intends: a [`Plan`] says what is to be in which file, and a [`WorkTree`] has the files of
//! the project as the plans so far leave them. Neither touches the disk but to read.

mod amendment;
mod changes;
mod entries;
mod intent;
mod line_numbers;
mod ours;
mod outcome;
mod portable;
mod storage;
mod work_tree;

use std::collections::{BTreeMap, BTreeSet};

pub use amendment::{COMMIT, LastCommit, NOT_COMMITTED, remove_fragments};
pub use changes::{Change, Changes};
pub use ours::{package_of, without_signature};
pub use storage::with_storage;
pub use work_tree::{EDITED, WorkTree};

use amendment::Amendment;
use diagnostics::{Diagnostic, Hint as _, Lines};
use intent::Intent;
use model::{ProjectPath, Tree};

/// Returns whether a file is unchanged since this command (e.g. `manifests`) has generated it.
pub fn is_unchanged_output(path: &ProjectPath, text: &str, by: &str) -> bool {
    matches!(ours::generated_state(path, text, by), ours::GeneratedState::Ours)
}

/// Returns whether this command has generated a file, which may have been edited or copied since, or is a merge
/// conflict.
pub fn is_generated_by(path: &ProjectPath, text: &str, by: &str) -> bool {
    ours::is_in_conflict(path, text)
        || !matches!(
            ours::generated_state(path, text, by),
            ours::GeneratedState::Theirs | ours::GeneratedState::Another { .. }
        )
}

/// Refuses a new path that other systems could not have next to what is on the disk.
pub fn require_portable(disk: &dyn Tree, path: &ProjectPath) -> anyhow::Result<()> {
    match portable::PortableNames::default().add_path(disk, path) {
        Ok(()) => Ok(()),
        Err(refused) => Err(anyhow::format_err!("{path}: {}", refused.why)).hint(refused.hint),
    }
}

/// Returns the first item in a Rust file that has one of these names as a type.
pub fn find_definition(path: &ProjectPath, text: &str, names: &[String]) -> Option<Diagnostic> {
    let (place, _) = entries::EntryLocation::from_fragment(path, "mod any;").ok()?;
    let content = place.find_content(text).ok().flatten()?;
    content.entries.iter().find_map(|entry| {
        let name = entry.defines.iter().find(|name| names.contains(name))?;
        let message = format!("`{name}` is already the name of something else here");
        let at = Diagnostic::in_file(path.as_str(), message)
            .at_position(entry.line + 1, entry.column + 1);
        Some(at.quote(&mut Lines::new(text)))
    })
}

/// The files that a command intends to write, each with its content, and those that it intends to delete.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    intents: BTreeMap<ProjectPath, Intent>,
    owned: BTreeMap<ProjectPath, GeneratedFolder>,
    /// Directories of source that lists of changes show as one line.
    sources: BTreeSet<ProjectPath>,
    /// The directory that is shown before paths, with a `/`; empty for the project's own.
    shown_in: String,
    /// Files of the user that stay, with the reason that is shown.
    kept: Vec<(ProjectPath, String)>,
    /// Problems that `--force` overrides.
    refusals: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    next: Option<String>,
}

/// A directory of generated files: those that are no longer generated are removed.
#[derive(Clone, Debug)]
struct GeneratedFolder {
    by: &'static str,
    /// None for all files.
    extensions: Option<BTreeSet<&'static str>>,
    /// The hint of the conflict that an edited file is. Without a hint, the file stays.
    hint: Option<&'static str>,
    left: Option<LeftFiles>,
}

/// Generated files that stay, though they are generated no longer.
#[derive(Clone, Debug)]
pub struct LeftFiles {
    /// The reason that is shown.
    pub why: String,
    /// Those that are removed all the same.
    pub except: BTreeSet<ProjectPath>,
}

impl Plan {
    pub fn scaffold(&mut self, path: ProjectPath, text: String) {
        match self.intents.get_mut(&path) {
            Some(Intent::Amend { seed, .. }) => *seed = Some(text),
            _ => drop(self.intents.insert(path, Intent::Scaffold(text))),
        }
    }

    /// Writes the scaffolded file only if there is none: an existing file stays as it is.
    pub fn create_if_missing(&mut self, path: &ProjectPath) {
        if let Some(Intent::Scaffold(text)) = self.intents.remove(path) {
            self.intents.insert(path.clone(), Intent::CreateIfMissing(text));
        }
    }

    /// Writes the scaffolded files of a folder only where there are none.
    pub fn create_if_missing_in(&mut self, folder: &ProjectPath) {
        let paths: Vec<_> =
            self.intents.keys().filter(|intent| intent.is_in(folder)).cloned().collect();
        paths.iter().for_each(|path| self.create_if_missing(path));
    }

    /// Changes the plan so that every existing file stays as it is.
    pub fn keep_existing_files(mut self) -> Self {
        let paths: Vec<_> = self.intents.keys().cloned().collect();
        paths.iter().for_each(|path| self.create_if_missing(path));
        self
    }

    /// Adds the lines of the scaffolded file to an existing one, if they are missing there.
    pub fn append_missing_lines(&mut self, path: &ProjectPath) {
        if let Some(Intent::Scaffold(text)) = self.intents.remove(path) {
            self.intents.insert(path.clone(), Intent::AppendMissingLines(text));
        }
    }

    /// Changes the text of a scaffolded file. Returns whether the plan has it.
    pub fn edit_scaffolded(
        &mut self,
        path: &ProjectPath,
        change: impl FnOnce(&str) -> String,
    ) -> bool {
        let Some(Intent::Scaffold(text)) = self.intents.get_mut(path) else { return false };
        *text = change(text);
        true
    }

    /// A generated file. `edit` completes "Do not edit: change … instead.": it says where changes belong. `by` is the
    /// command that generates the file: no other one replaces or removes it.
    pub fn generate(&mut self, path: ProjectPath, text: String, edit: &str, by: &'static str) {
        self.intents.insert(
            path,
            Intent::Generate {
                text,
                edit: edit.to_owned(),
                by,
                owner: None,
                takeover_reason: None,
            },
        );
    }

    /// Names the package that a generated file is for, where several projects may write.
    pub fn set_owner(&mut self, path: &ProjectPath, name: Option<String>) {
        if let Some(Intent::Generate { owner, .. }) = self.intents.get_mut(path) {
            *owner = name;
        }
    }

    /// Lets edits be lost that make a file differ as `takeover_reason` says, if it was not generated before.
    pub fn allow_takeover(&mut self, path: &ProjectPath, why: Option<String>) {
        if let Some(Intent::Generate { takeover_reason, .. }) = self.intents.get_mut(path) {
            *takeover_reason = why;
        }
    }

    /// Writes a scaffolded file to another path.
    pub fn move_scaffolded(&mut self, from: &ProjectPath, to: ProjectPath) {
        if let Some(intent) = self.intents.remove(from) {
            self.intents.insert(to, intent);
        }
    }

    /// Leaves a file as it is, and says so.
    pub fn keep_file(&mut self, path: ProjectPath, why: &str) {
        self.intents.remove(&path);
        self.kept.push((path, why.to_owned()));
    }

    /// Adds entries to a user's file, above a marker. `fragment` is a small copy of the file with only these.
    pub fn add_entries(&mut self, path: ProjectPath, marker: &str, fragment: String) {
        self.add_amendment(path, Amendment::Add { marker: marker.to_owned(), fragment });
    }

    /// Removes entries from a user's file. All fragments are for one place; an entry may be there as any of them shows it.
    pub fn remove_entries(
        &mut self,
        path: ProjectPath,
        fragments: Vec<String>,
        commit: LastCommit,
    ) {
        self.add_amendment(path, Amendment::Remove { fragments, commit });
    }

    fn add_amendment(&mut self, path: ProjectPath, amendment: Amendment) {
        let (seed, mut amendments) = match self.intents.remove(&path) {
            Some(Intent::Amend { seed, amendments }) => (seed, amendments),
            Some(Intent::Scaffold(text)) => (Some(text), Vec::new()),
            _ => (None, Vec::new()),
        };
        amendments.push(amendment);
        self.intents.insert(path, Intent::Amend { seed, amendments });
    }

    /// Deletes a user's file, unless its text is none of these and `--force` is not given.
    pub fn delete_file(&mut self, path: ProjectPath, known: Vec<String>) {
        self.intents.insert(path, Intent::Delete { known });
    }

    /// Returns whether the plan deletes a file.
    pub fn deletes(&self, path: &ProjectPath) -> bool {
        matches!(self.intents.get(path), Some(Intent::Delete { .. }))
    }

    /// Plans an edit of a user's file: `before` is the text that the command has read, `after` the edited and checked text.
    pub fn edit_file(&mut self, path: ProjectPath, before: String, after: String) {
        // Libraries that edit a file write `\n`; git may have checked it out with the other line ends.
        let unix = after.replace("\r\n", "\n");
        let after = if uses_crlf(&before) { unix.replace('\n', "\r\n") } else { after };
        let amendments = vec![Amendment::Replace { before, after }];
        self.intents.insert(path, Intent::Amend { seed: None, amendments });
    }

    /// Removes the files with these extensions that `by` has generated into `folder` and that are not in this plan.
    pub fn remove_stale(
        &mut self,
        folder: ProjectPath,
        extensions: &[&'static str],
        by: &'static str,
    ) {
        let extensions = Some(extensions.iter().copied().collect());
        self.owned.insert(folder, GeneratedFolder { by, extensions, hint: None, left: None });
    }

    /// Leaves these files of a folder that [`remove_stale`](Self::remove_stale) has named as they are.
    pub fn leave_stale(&mut self, folder: &ProjectPath, left: LeftFiles) {
        if let Some(owned) = self.owned.get_mut(folder) {
            owned.left = Some(left);
        }
    }

    /// Lists the changes in a directory of generated source as one line, unless every file is asked for.
    pub fn list_as_one(&mut self, folder: ProjectPath) {
        self.sources.insert(folder);
    }

    /// Removes whatever `by` has generated at a path or below it. A file that was edited needs `--force`; the hint says
    /// what else to do.
    pub fn remove_generated(&mut self, path: ProjectPath, by: &'static str, hint: &'static str) {
        self.owned
            .insert(path, GeneratedFolder { by, extensions: None, hint: Some(hint), left: None });
    }

    /// Shows paths relative to the directory above this one.
    pub fn display_relative_to(&mut self, folder: &str) {
        self.shown_in = format!("{}/", folder.trim_end_matches('/'));
    }

    /// Refuses to write anything without `--force`.
    pub fn add_refusal(&mut self, problem: Diagnostic) {
        self.refusals.push(problem);
    }

    /// A warning: the command continues.
    pub fn warn(&mut self, warning: impl Into<Diagnostic>) {
        self.warnings.push(warning.into());
    }

    /// The next steps, shown after everything is written.
    pub fn set_next_steps(&mut self, text: String) {
        self.next = Some(text);
    }

    /// Adds another plan. If both name a path, the other plan wins.
    pub fn extend(&mut self, other: Self) {
        for (path, intent) in other.intents {
            match intent {
                Intent::Amend { seed, amendments } => {
                    if let Some(seed) = seed {
                        self.scaffold(path.clone(), seed);
                    }
                    amendments
                        .into_iter()
                        .for_each(|amendment| self.add_amendment(path.clone(), amendment));
                }
                Intent::Scaffold(text) => self.scaffold(path, text),
                other => drop(self.intents.insert(path, other)),
            }
        }
        self.owned.extend(other.owned);
        self.sources.extend(other.sources);
        self.kept.extend(other.kept);
        if !other.shown_in.is_empty() {
            self.shown_in = other.shown_in;
        }
        self.refusals.extend(other.refusals);
        self.warnings.extend(other.warnings);
        self.next = other.next.or(self.next.take());
    }
}

impl GeneratedFolder {
    fn includes(&self, path: &ProjectPath) -> bool {
        self.extensions.as_ref().is_none_or(|extension| extension.contains(path.extension()))
    }
}

#[cfg(test)]
impl Plan {
    /// Returns the changes of this plan alone.
    pub fn changes_against(&self, disk: &dyn model::Tree, force: bool) -> anyhow::Result<Changes> {
        let mut tree = WorkTree::new(disk, force);
        tree.apply(self.clone())?;
        tree.writable_changes()
    }
}

/// Returns whether every line of a text ends as on Windows.
pub fn uses_crlf(text: &str) -> bool {
    let ends = text.matches('\n').count();
    ends > 0 && text.matches("\r\n").count() == ends
}

#[cfg(test)]
mod tests;
