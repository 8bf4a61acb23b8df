use std::{collections::BTreeMap, fmt};

use crate::{
    hint::{Diagnostic, Diagnostics, hinted},
    model::{self, ProjectPath},
};

/// How many changes a terminal lists one by one, and how many new files of a directory in a longer list.
const LONGEST_LIST: usize = 20;
const FEW: usize = 3;

/// The files that will differ on disk.
#[derive(Debug, Default)]
pub struct Changes {
    changes: Vec<Change>,
    /// Generated files that were edited by hand and would be replaced.
    edited: Vec<ProjectPath>,
    stays: Vec<(ProjectPath, String)>,
    /// The prefix of each path in messages.
    shown_in: String,
    conflicts: Vec<Diagnostic>,
    pub warnings: Vec<Diagnostic>,
    pub next: Option<String>,
}

/// One file that is created, changed or (if `after` is none) deleted.
#[derive(Debug)]
pub struct Change {
    pub path: ProjectPath,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Changes {
    pub(super) fn new(warnings: &[Diagnostic], next: Option<&str>, shown_in: &str) -> Self {
        Self {
            warnings: warnings.to_vec(),
            next: next.map(str::to_owned),
            shown_in: shown_in.to_owned(),
            ..Self::default()
        }
    }

    pub fn iter(&self) -> impl Iterator<Item = &Change> {
        self.changes.iter()
    }

    pub fn is_empty(&self) -> bool {
        self.changes.is_empty()
    }

    pub(super) fn push(&mut self, change: Change) {
        if change.before != change.after {
            self.changes.push(change);
        }
    }

    pub(super) fn delete(&mut self, path: ProjectPath, before: String) {
        self.changes.push(Change { path, before: Some(before), after: None });
    }

    /// A file that stays as it is, and why.
    pub(super) fn stays(&mut self, path: &ProjectPath, why: &str) {
        self.stays.push((path.clone(), why.to_owned()));
    }

    fn conflict(&mut self, path: &ProjectPath, what: &str, hint: &str) {
        let file = format!("{}{path}", self.shown_in);
        self.conflicts.push(Diagnostic::in_file(file, what).with_hint(hint));
    }

    pub(super) fn theirs(&mut self, path: &ProjectPath) {
        let hint = "move or delete it, or choose another name or directory";
        self.conflict(path, "already exists and was not created by operator-rs", hint);
    }

    pub(super) fn another(&mut self, path: &ProjectPath, by: &str) {
        let what = format!("`operator-rs {by}` generates this file");
        self.conflict(path, &what, "choose another name or directory");
    }

    pub(super) fn changed(&mut self, path: &ProjectPath) {
        self.conflict(path, "it changed while the command ran", "run the command again");
    }

    pub(super) fn in_the_way(&mut self, path: &ProjectPath, what: &str) {
        // A file or link that blocks several paths is shown once.
        let is_known = what.starts_with('`') && self.conflicts.iter().any(|it| it.message == what);
        if !is_known {
            self.conflict(path, what, "move or delete it");
        }
    }

    /// A generated file that was edited by hand.
    pub(super) fn edited(&mut self, path: &ProjectPath, text: &str, edit: &str) {
        if let Some(conflict) = model::merge_conflict(path, text) {
            let hint = "give `--force` to generate the file again";
            self.edited.push(path.clone());
            return self.problem(Diagnostic { hints: vec![hint.to_owned()], ..conflict });
        }
        let what = format!("was generated from {edit}, and then edited by hand");
        let hint = format!(
            "make the change in {edit}, then run the command with `--force` to replace the edited file"
        );
        self.edited.push(path.clone());
        self.conflict(path, &what, &hint);
    }

    /// A user's file with edits that are stored nowhere else.
    pub(super) fn kept(&mut self, path: &ProjectPath) {
        let hint = "commit these files, so that git keeps your edits; or run the command with `--force` to delete them anyway";
        self.edited.push(path.clone());
        self.conflict(
            path,
            "was edited by hand, and the last commit does not have this text",
            hint,
        );
    }

    pub(super) fn missing(&mut self, path: &ProjectPath) {
        let hint = format!("restore {path} from version control: new lines are inserted there");
        self.conflict(path, "it is missing", &hint);
    }

    pub(super) fn problem(&mut self, problem: impl Into<Diagnostic>) {
        self.conflicts.push(problem.into());
    }

    pub(super) fn sort(&mut self) {
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Fails if there is a conflict, with all of them at once.
    pub fn require_no_conflicts(&self, heading: &str) -> anyhow::Result<()> {
        if self.conflicts.is_empty() {
            return Ok(());
        }
        let list = self.conflicts.clone();
        Err(Diagnostics { headline: heading.to_owned(), list }.into())
    }

    /// Fails if anything would change.
    pub fn require_none(&self) -> anyhow::Result<()> {
        if self.changes.is_empty() {
            return self.require_no_conflicts("nothing was checked");
        }
        let change = |it: &Change| {
            let message = match (&it.before, &it.after) {
                (None, _) => "is missing",
                (Some(_), Some(_)) => "is out of date",
                (Some(_), None) => "is not generated any more",
            };
            let listed = Some(self.line(it).trim_end().to_owned());
            let file = format!("{}{}", self.shown_in, it.path);
            Diagnostic { listed, ..Diagnostic::in_file(file, message) }
        };
        let mut list: Vec<Diagnostic> = self.changes.iter().map(change).collect();
        let kept = self.unchanged();
        list.extend(kept.lines().map(Diagnostic::from));
        // The list of changes names the edited files.
        let is_edited = |it: &&Diagnostic| {
            let file = it.file.as_deref().unwrap_or_default();
            self.edited.iter().any(|path| file.ends_with(path.as_str()))
        };
        list.extend(self.conflicts.iter().filter(|it| !is_edited(it)).cloned());
        let mut hints: Vec<String> =
            self.conflicts.iter().filter(is_edited).flat_map(|it| it.hints.clone()).collect();
        if self.conflicts.is_empty() {
            hints.push("run the command without `--check`".to_owned());
        }
        hints.dedup();
        let headline = "out of date".to_owned();
        hinted(Diagnostics { headline, list }.into(), hints.into_iter())
    }

    /// A shorter form of a long list: new files are counted for each top-level directory, other changes are listed. None
    /// if the list is not long.
    pub fn folded(&self) -> Option<String> {
        if self.changes.len() <= LONGEST_LIST {
            return None;
        }
        let top = |it: &Change| {
            let folder = it.path.as_str().split_once('/').map(|it| it.0.to_owned());
            folder.filter(|_| it.before.is_none())
        };
        let mut new: BTreeMap<String, usize> = BTreeMap::new();
        for folder in self.changes.iter().filter_map(top) {
            *new.entry(folder).or_default() += 1;
        }
        let mut res = String::new();
        for it in &self.changes {
            // The line of a directory is in the place of its first file; its count is then removed from the map.
            match top(it).map(|folder| (new.get(&folder).copied(), folder)) {
                Some((None, _)) => {}
                Some((Some(count), folder)) if FEW < count => {
                    res += &format!("create  {}{folder}/ ({count} files)\n", self.shown_in);
                    new.remove(&folder);
                }
                _ => res += &self.line(it),
            }
        }
        res += &self.unchanged();
        Some(res + "(`--verbose` lists every file)\n")
    }

    fn line(&self, Change { path, before, after }: &Change) -> String {
        let verb = match (before, after) {
            (None, _) => "create",
            (Some(_), Some(_)) => "update",
            (Some(_), None) => "delete",
        };
        let is_edited = self.edited.contains(path);
        let note = if is_edited { " (edited by hand: needs `--force`)" } else { "" };
        format!("{verb}  {}{path}{note}\n", self.shown_in)
    }

    fn unchanged(&self) -> String {
        let line = |(path, why): &(ProjectPath, String)| {
            format!("leave   {}{path} ({why})\n", self.shown_in)
        };
        self.stays.iter().map(line).collect()
    }

    pub fn diff(&self) -> String {
        let folder = &self.shown_in;
        self.iter()
            .map(|Change { path, before, after }| {
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
                let (before, after) =
                    (before.as_deref().unwrap_or(""), after.as_deref().unwrap_or(""));
                similar::TextDiff::from_lines(before, after)
                    .unified_diff()
                    .header(&old, &new)
                    .to_string()
            })
            .collect()
    }
}

impl fmt::Display for Changes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines: String = self.changes.iter().map(|it| self.line(it)).collect();
        write!(f, "{lines}{}", self.unchanged())
    }
}
