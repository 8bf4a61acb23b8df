use std::fmt;

use crate::{
    hint::{Hint as _, hinted},
    model::{Problem, ProjectPath},
};

/// What will differ on disk, and nothing else.
#[derive(Debug, Default)]
pub struct Changes {
    changes: Vec<Change>,
    /// Generated files that were edited by hand and would be replaced.
    edited: Vec<ProjectPath>,
    stays: Vec<(ProjectPath, String)>,
    /// What stands before each path where it is shown.
    shown_in: String,
    conflicts: Vec<String>,
    hints: Vec<String>,
    pub warnings: Vec<String>,
    pub next: Option<String>,
}

/// One file that is made, changed or (`after` is none) deleted.
#[derive(Debug)]
pub struct Change {
    pub path: ProjectPath,
    pub before: Option<String>,
    pub after: Option<String>,
}

impl Changes {
    pub(super) fn new(warnings: &[String], next: Option<&str>, shown_in: &str) -> Self {
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

    /// A file in a folder of ours that is not removed, and why.
    pub(super) fn stays(&mut self, path: &ProjectPath, why: &str) {
        self.stays.push((path.clone(), why.to_owned()));
    }

    fn conflict(&mut self, path: &ProjectPath, what: &str, hint: &str) {
        self.conflicts.push(format!("{}{path}: {what}", self.shown_in));
        self.hint(hint.to_owned());
    }

    pub(super) fn theirs(&mut self, path: &ProjectPath) {
        let hint = "move away what is yours, or choose another name or folder";
        self.conflict(path, "it is there already, and is yours", hint);
    }

    pub(super) fn another(&mut self, path: &ProjectPath, by: &str) {
        let what = format!("`operator-rs {by}` generates this file");
        self.conflict(path, &what, "choose another name or folder");
    }

    pub(super) fn changed(&mut self, path: &ProjectPath) {
        self.conflict(path, "it changed while the command ran", "run the command again");
    }

    pub(super) fn in_the_way(&mut self, path: &ProjectPath, what: &str) {
        // One file or link in the way of many is told once.
        let told = what.starts_with('`')
            && self.conflicts.iter().any(|it| it.ends_with(&format!(": {what}")));
        if !told {
            self.conflicts.push(format!("{}{path}: {what}", self.shown_in));
        }
        self.hint("move away what is in the way".to_owned());
    }

    pub(super) fn edited(&mut self, path: &ProjectPath, edit: &str) {
        let what = format!("was generated from {edit}, and then edited by hand");
        let hint = format!(
            "make the change in {edit}, then run the command with `--force` to replace the edited file"
        );
        self.edited.push(path.clone());
        self.conflict(path, &what, &hint);
    }

    /// A user's file that would be deleted with edits that nothing else has.
    pub(super) fn kept(&mut self, path: &ProjectPath) {
        let hint = "commit these files, and git keeps them; or run the command with `--force` to delete them with your edits";
        self.edited.push(path.clone());
        self.conflict(
            path,
            "was edited by hand, and the last commit does not have this text",
            hint,
        );
    }

    pub(super) fn missing(&mut self, path: &ProjectPath) {
        let hint = format!("take {path} back from version control: new lines go in there");
        self.conflict(path, "it is missing", &hint);
    }

    pub(super) fn problem(&mut self, problem: Problem) {
        self.conflicts.push(problem.to_string());
        self.hints.extend(problem.hint);
    }

    fn hint(&mut self, hint: String) {
        if !self.hints.contains(&hint) {
            self.hints.push(hint);
        }
    }

    pub(super) fn sort(&mut self) {
        self.changes.sort_by(|a, b| a.path.cmp(&b.path));
    }

    /// Fails if there is a conflict, with all of them at once.
    pub fn require_no_conflicts(&self, heading: &str) -> anyhow::Result<()> {
        if self.conflicts.is_empty() {
            return Ok(());
        }
        let list: String = self.conflicts.iter().map(|it| format!("\n  {it}")).collect();
        hinted(anyhow::format_err!("{heading}:{list}"), self.hints.clone().into_iter())
    }

    /// Fails if anything would change.
    pub fn require_none(&self) -> anyhow::Result<()> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let changes = self.to_string();
        // The list of changes names the edited files.
        let is_named = |it: &&String| self.edited.iter().any(|path| it.contains(path.as_str()));
        let conflicts = self.conflicts.iter().filter(|it| !is_named(it)).map(String::as_str);
        let list: String = changes.lines().chain(conflicts).map(|it| format!("\n  {it}")).collect();
        let error = anyhow::format_err!("out of date:{list}");
        match self.conflicts.is_empty() {
            true => Err(error).hint("run the command without `--check`"),
            false => hinted(error, self.hints.clone().into_iter()),
        }
    }

    pub fn diff(&self) -> String {
        let folder = &self.shown_in;
        self.iter()
            .map(|Change { path, before, after }| {
                let side = |text: &Option<String>, name: String| match text {
                    // `patch` takes a name with blanks up to a tab.
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
        for Change { path, before, after } in &self.changes {
            let verb = match (before, after) {
                (None, _) => "create",
                (Some(_), Some(_)) => "update",
                (Some(_), None) => "delete",
            };
            let edited = self.edited.contains(path);
            let note = if edited { " (edited by hand: needs `--force`)" } else { "" };
            writeln!(f, "{verb}  {}{path}{note}", self.shown_in)?;
        }
        for (path, why) in &self.stays {
            writeln!(f, "leave   {}{path} ({why})", self.shown_in)?;
        }
        Ok(())
    }
}
