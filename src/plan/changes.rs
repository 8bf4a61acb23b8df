use std::{collections::BTreeMap, fmt};

use diagnostics::{Diagnostic, Diagnostics, with_hints};
use model::ProjectPath;

/// The number of changes that a terminal lists one by one, and that of the new files of a directory in a longer list.
const LONGEST_LIST: usize = 20;
const FEW: usize = 3;

/// The files that will differ on disk.
#[derive(Debug, Default)]
pub struct Changes {
    pub(super) changes: Vec<Change>,
    /// Files whose edits by hand would be lost.
    pub(super) edited: Vec<ProjectPath>,
    /// Files whose edits by hand are lost, as `--force` is given.
    pub(super) forced: Vec<ProjectPath>,
    pub(super) stays: Vec<(ProjectPath, String)>,
    /// Directories of source whose changes are listed as one line.
    pub(super) sources: Vec<ProjectPath>,
    /// The prefix of each path in messages.
    pub(super) shown_in: String,
    pub(super) conflicts: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    pub next: Option<String>,
}

/// One file that is created, changed or (if `after` is none) deleted.
#[derive(Clone, Debug)]
pub struct Change {
    pub path: ProjectPath,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Changes {
    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    /// Returns the files that are not as they should be, as messages name them, and whether each was edited by hand.
    pub fn list_stale_files(&self) -> impl Iterator<Item = (String, bool)> {
        let shown = |path: &ProjectPath| format!("{}{path}", self.shown_in);
        let changed: Vec<_> = self
            .changes
            .iter()
            .map(|change| (shown(&change.path), self.edited.contains(&change.path)))
            .collect();
        let blocked = self.conflicts.iter().filter_map(|conflict| conflict.file.clone());
        let blocked =
            blocked.filter(|blocked| !changed.iter().any(|changed| changed.0 == *blocked));
        let blocked: Vec<_> = blocked.map(|blocked| (blocked, false)).collect();
        changed.into_iter().chain(blocked)
    }

    /// Fails if there is a conflict, with all of them at once.
    pub fn require_no_conflicts(&self, heading: &str) -> anyhow::Result<()> {
        if self.conflicts.is_empty() {
            return Ok(());
        }
        let list = self.conflicts.clone();
        Err(Diagnostics { headline: heading.to_owned(), list }.into())
    }

    /// Fails if anything would change; `hint` says how to bring the files up to date.
    pub fn require_none(&self, hint: &str) -> anyhow::Result<()> {
        if self.changes.is_empty() {
            return self.require_no_conflicts("nothing was checked");
        }
        let change = |change: &Change| {
            let message = match (&change.before, &change.after) {
                (None, _) => "is missing",
                (Some(_), Some(_)) => "is out of date",
                (Some(_), None) => "is no longer generated",
            };
            let listed = Some(self.format_change(change).trim_end().to_owned());
            let file = format!("{}{}", self.shown_in, change.path);
            Diagnostic { listed, ..Diagnostic::in_file(file, message) }
        };
        let mut list: Vec<Diagnostic> = self.changes.iter().map(change).collect();
        let kept = self.format_kept_files();
        list.extend(kept.lines().map(Diagnostic::from));
        // The list of changes names the edited files.
        let edited: Vec<String> =
            self.edited.iter().map(|path| format!("{}{path}", self.shown_in)).collect();
        let is_edited = |diagnostic: &&Diagnostic| {
            diagnostic.file.as_ref().is_some_and(|file| edited.contains(file))
        };
        list.extend(self.conflicts.iter().filter(|conflict| !is_edited(conflict)).cloned());
        let mut hints: Vec<String> = self
            .conflicts
            .iter()
            .filter(is_edited)
            .flat_map(|conflict| conflict.hints.clone())
            .collect();
        if self.conflicts.is_empty() {
            hints.push(hint.to_owned());
        }
        hints.dedup();
        let headline = match self.changes.len() {
            1 => "1 file is out of date".to_owned(),
            files => format!("{files} files are out of date"),
        };
        with_hints(Diagnostics { headline, list }.into(), hints.into_iter())
    }

    /// Returns the list of changes, in which those in a directory of generated source are one line.
    pub fn format_list(&self) -> String {
        let verb = |change: &Change| (change.before.is_some(), change.after.is_some());
        let source = |change: &Change| {
            let is_plain =
                !self.edited.contains(&change.path) && !self.forced.contains(&change.path);
            let source = self.sources.iter().find(|folder| change.path.is_in(folder));
            source.filter(|_| is_plain).map(|folder| (folder, verb(change)))
        };
        let mut counts = BTreeMap::new();
        for key in self.changes.iter().filter_map(source) {
            *counts.entry(key).or_insert(0) += 1;
        }
        let mut output = String::new();
        for change in &self.changes {
            let Some(key) = source(change) else {
                output += &self.format_change(change);
                continue;
            };
            match counts.get(&key).copied() {
                Some(count) if count > FEW => {
                    let line = self.format_change(change);
                    let verb = line.split_once(' ').map_or("", |(verb, _)| verb);
                    let (folder, shown_in) = (key.0, &self.shown_in);
                    output += &format!(
                        "{verb:<7} {shown_in}{folder}/ ({count} files; `--verbose` lists them)\n"
                    );
                    // The line is in the place of the first file.
                    counts.insert(key, 0);
                }
                Some(0) => {}
                _ => output += &self.format_change(change),
            }
        }
        output + &self.format_kept_files()
    }

    /// Returns a shorter form of a long list: new files are counted for each top-level directory, other changes are
    /// listed. None if the list is not long.
    pub fn format_short_list(&self) -> Option<String> {
        if self.changes.len() <= LONGEST_LIST {
            return None;
        }
        let top = |change: &Change| {
            let folder = change.path.as_str().split_once('/').map(|pair| pair.0.to_owned());
            folder.filter(|_| change.before.is_none())
        };
        let mut new: BTreeMap<String, usize> = BTreeMap::new();
        for folder in self.changes.iter().filter_map(top) {
            *new.entry(folder).or_default() += 1;
        }
        let mut output = String::new();
        for it in &self.changes {
            // The line of a directory is in the place of its first file; its count is then removed from the map.
            match top(it).map(|folder| (new.get(&folder).copied(), folder)) {
                Some((None, _)) => {}
                Some((Some(count), folder)) if FEW < count => {
                    output += &format!("create  {}{folder}/ ({count} files)\n", self.shown_in);
                    new.remove(&folder);
                }
                _ => output += &self.format_change(it),
            }
        }
        output += &self.format_kept_files();
        Some(output + "(`--verbose` lists every file)\n")
    }

    fn format_change(&self, Change { path, before, after }: &Change) -> String {
        let is_forced = self.forced.contains(path);
        let verb = match (before, after) {
            (None, _) => "create",
            (Some(_), Some(_)) if is_forced => "replace",
            (Some(_), Some(_)) => "update",
            (Some(_), None) => "delete",
        };
        let note = match () {
            () if self.edited.contains(path) => " (needs `--force`)",
            () if is_forced => " (was edited)",
            () => "",
        };
        format!("{verb:<7} {}{path}{note}\n", self.shown_in)
    }

    fn format_kept_files(&self) -> String {
        let line = |(path, why): &(ProjectPath, String)| {
            format!("leave   {}{path} ({why})\n", self.shown_in)
        };
        self.stays.iter().map(line).collect()
    }

    /// One diff a file.
    pub fn format_diffs(&self) -> impl Iterator<Item = String> {
        let folder = &self.shown_in;
        self.iter().map(move |Change { path, before, after }| {
            let side = |text: &Option<String>, name: String| match text {
                // `patch` reads a name with blanks up to a tab.
                Some(_) if name.contains(' ') => name + "\t",
                Some(_) => name,
                None => "/dev/null".to_owned(),
            };
            let (old, new) = (
                side(before, format!("a/{folder}{path}")),
                side(after, format!("b/{folder}{path}")),
            );
            let (before, after) = (before.as_deref().unwrap_or(""), after.as_deref().unwrap_or(""));
            similar::TextDiff::from_lines(before, after)
                .unified_diff()
                .header(&old, &new)
                .to_string()
        })
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: String = self.changes.iter().map(|change| self.format_change(change)).collect();
        write!(f, "{lines}{}", self.format_kept_files())
    }
}
