use std::{collections::BTreeMap, mem, path::Path};

use super::{
    Change, Changes, GeneratedFolder, Intent, Plan, line_numbers::lines_before, ours,
    outcome::FileOutcome, portable::PortableNames,
};
use diagnostics::{Diagnostic, Diagnostics};
use model::{FileContent, ProjectPath, Tree};

/// The files of a project with everything that a command has written so far, none of which is on disk yet: each step of
/// the command reads what the steps before it wrote. `disk` writes the changes at the end.
#[derive(Clone)]
pub struct WorkTree<'a> {
    disk: &'a dyn Tree,
    /// True if generated files that were edited by hand are replaced without a conflict.
    force: bool,
    /// All plans that were applied, as one.
    plan: Plan,
    outcomes: BTreeMap<ProjectPath, FileOutcome>,
    names: PortableNames,
}

impl<'a> WorkTree<'a> {
    pub fn new(disk: &'a dyn Tree, force: bool) -> Self {
        Self {
            disk,
            force,
            plan: Plan::default(),
            outcomes: BTreeMap::new(),
            names: PortableNames::default(),
        }
    }

    /// Writes what a plan intends. A path that an earlier plan named too is as both leave it; if both give its whole text,
    /// this plan wins.
    pub fn apply(&mut self, mut plan: Plan) -> anyhow::Result<()> {
        let owned = mem::take(&mut plan.owned);
        let kept = mem::take(&mut plan.kept);
        let paths: Vec<ProjectPath> = plan.intents.keys().cloned().collect();
        self.plan.extend(plan);
        for path in paths {
            self.evaluate_path(path)?;
        }
        for (path, why) in kept {
            self.keep_as_on_disk(&path);
            self.leave_file(path, &why);
        }
        for (folder, owned) in owned {
            self.delete_stale_files(folder, &owned)?;
        }
        Ok(())
    }

    /// Leaves a file as it is on disk, whatever was written before.
    pub fn keep_as_on_disk(&mut self, path: &ProjectPath) {
        self.plan.intents.remove(path);
        self.outcomes.remove(path);
    }

    /// A warning: the command continues.
    pub fn warn(&mut self, warning: impl Into<Diagnostic>) {
        self.plan.warn(warning);
    }

    /// The next steps, shown after everything is written.
    pub fn set_next_steps(&mut self, text: String) {
        self.plan.set_next_steps(text);
    }

    /// Returns the files as they are on disk.
    pub fn files_on_disk(&self) -> &'a dyn Tree {
        self.disk
    }

    /// Returns the files that differ from those on disk so far, in the order of their paths.
    pub fn changed_files(&self) -> impl Iterator<Item = &Change> {
        self.outcomes.values().filter_map(|outcome| outcome.change.as_ref())
    }

    /// For each line of a changed file, its number before the changes, counted from 1: none for new lines. None for a
    /// file that stays as it is.
    pub fn lines_before(&self, path: &str) -> Option<Vec<Option<usize>>> {
        let change = self.changed_files().find(|change| change.path.as_str() == path)?;
        let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
        Some(lines_before(before, after))
    }

    /// Fails if there is a conflict that remains even with `--force`, with all others.
    pub fn require_writable(&self) -> anyhow::Result<()> {
        if self.collect_conflicts(true).is_empty() {
            Ok(())
        } else {
            self.refuse_conflicts(self.collect_conflicts(self.force))
        }
    }

    /// Returns the changes to write. Fails if there is a conflict, with all of them at once.
    pub fn writable_changes(&self) -> anyhow::Result<Changes> {
        self.refuse_conflicts(self.collect_conflicts(self.force))?;
        Ok(self.changes())
    }

    /// Returns the changes to show: conflicts are no error yet, and generated files that were edited by hand are among
    /// them.
    pub fn changes(&self) -> Changes {
        let all = || self.outcomes.iter();
        Changes {
            changes: self.changed_files().cloned().collect(),
            edited: all().filter(|pair| pair.1.is_edited).map(|pair| pair.0.clone()).collect(),
            forced: all().filter(|pair| pair.1.is_forced).map(|pair| pair.0.clone()).collect(),
            stays: all()
                .filter_map(|(path, outcome)| Some((path.clone(), outcome.stays.clone()?)))
                .collect(),
            sources: self.plan.sources.iter().cloned().collect(),
            shown_in: self.plan.shown_in.clone(),
            conflicts: self.collect_conflicts(self.force),
            warnings: {
                let files = all().flat_map(|pair| &pair.1.warnings);
                self.plan.warnings.iter().chain(files).cloned().collect()
            },
            next: self.plan.next.clone(),
        }
    }

    /// Returns the conflicts, or with `forced` those that `--force` does not settle. A file or link that blocks several
    /// paths is among them once.
    fn collect_conflicts(&self, forced: bool) -> Vec<Diagnostic> {
        let refusals = self.plan.refusals.iter().filter(|_| !forced).cloned();
        let mut diagnostics: Vec<Diagnostic> = refusals.collect();
        let mut blocked_by = Vec::new();
        for conflict in self.outcomes.values().flat_map(|outcome| &outcome.conflicts) {
            if forced && conflict.yields_to_force {
                continue;
            }
            if conflict.is_blocked && conflict.problem.message.starts_with('`') {
                if blocked_by.contains(&&conflict.problem.message) {
                    continue;
                }
                blocked_by.push(&conflict.problem.message);
            }
            if !diagnostics.contains(&conflict.problem) {
                diagnostics.push(conflict.problem.clone());
            }
        }
        diagnostics
    }

    fn refuse_conflicts(&self, list: Vec<Diagnostic>) -> anyhow::Result<()> {
        if list.is_empty() {
            return Ok(());
        }
        Err(Diagnostics { headline: "nothing was written".to_owned(), list }.into())
    }

    fn evaluate_path(&mut self, path: ProjectPath) -> anyhow::Result<()> {
        let Some(intent) = self.plan.intents.get(&path) else { return Ok(()) };
        let mut outcome = FileOutcome::new(&path, &self.plan.shown_in);
        // Some systems find a file by its name in another case, so the names are compared first.
        let added = match intent {
            Intent::Delete { .. } => Ok(()),
            _ => self.names.add_path(self.disk, &path),
        };
        match (added, self.disk.read_content(&path)?) {
            (Err(refused), _) if matches!(intent, Intent::CreateIfMissing(_)) => {
                outcome.stays = Some(refused.why);
            }
            (Err(refused), _) => outcome.conflict_with_path(&refused),
            (_, FileContent::Nothing) => intent.apply(&path, None, self.force, &mut outcome),
            (_, FileContent::Text(before)) => {
                intent.apply(&path, Some(before), self.force, &mut outcome);
            }
            (_, FileContent::Other(_)) if matches!(intent, Intent::CreateIfMissing(_)) => {}
            (_, FileContent::Other(what)) => outcome.conflict_with_non_file(&what),
        }
        self.outcomes.insert(path, outcome);
        Ok(())
    }

    /// Leaves a file as it is, and says why.
    fn leave_file(&mut self, path: ProjectPath, why: &str) {
        let mut outcome = FileOutcome::new(&path, &self.plan.shown_in);
        outcome.stays = Some(why.to_owned());
        self.outcomes.insert(path, outcome);
    }

    fn delete_file(&mut self, path: ProjectPath, before: String) {
        let mut outcome = FileOutcome::new(&path, &self.plan.shown_in);
        outcome.delete_file(&path, before);
        self.outcomes.insert(path, outcome);
    }

    /// Deletes what was generated in a folder and is generated no longer.
    fn delete_stale_files(
        &mut self,
        folder: ProjectPath,
        owned: &GeneratedFolder,
    ) -> anyhow::Result<()> {
        let paths = match self.disk.read_content(&folder)? {
            FileContent::Text(_) => vec![folder],
            _ => self.disk.list_files(&folder)?,
        };
        for path in paths {
            let is_left = self.outcomes.get(&path).is_some_and(|outcome| outcome.stays.is_some());
            if is_left || self.plan.intents.contains_key(&path) || !owned.includes(&path) {
                continue;
            }
            let FileContent::Text(before) = self.disk.read_content(&path)? else {
                self.leave_file(path, "not generated by operator-rs");
                continue;
            };
            match (ours::generated_state(&path, &before, owned.by), owned.hint) {
                (ours::GeneratedState::Edited, Some(hint)) => {
                    let mut outcome = FileOutcome::new(&path, &self.plan.shown_in);
                    outcome.is_forced = self.force;
                    if !self.force {
                        outcome.conflict_with_edit_of_stale_file(hint);
                    }
                    outcome.delete_file(&path, before);
                    self.outcomes.insert(path, outcome);
                }
                (ours::GeneratedState::Ours, _) => match &owned.left {
                    Some(left) if !left.except.contains(&path) => self.leave_file(path, &left.why),
                    _ => self.delete_file(path, before),
                },
                (ours::GeneratedState::Theirs, _) => {
                    self.leave_file(path, "not generated by operator-rs")
                }
                (ours::GeneratedState::Another { by }, _) => {
                    self.leave_file(path, &format!("generated by `operator-rs {by}`"));
                }
                (ours::GeneratedState::Edited, None) => self.leave_file(path, EDITED),
            }
        }
        Ok(())
    }

    /// Returns the text that was written, or none for a file that was deleted; nothing for a file that is as it was.
    fn written_text(&self, path: &ProjectPath) -> Option<Option<&str>> {
        let change = self.outcomes.get(path)?.change.as_ref()?;
        Some(change.after.as_deref())
    }
}

/// Why a generated file with an edit stays.
pub const EDITED: &str = "no longer generated, and edited or copied by hand";

impl Tree for WorkTree<'_> {
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
        match self.written_text(path) {
            Some(Some(text)) => Ok(FileContent::Text(text.to_owned())),
            Some(None) => Ok(FileContent::Nothing),
            None => self.disk.read_content(path),
        }
    }

    fn read_text(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        match self.written_text(path) {
            Some(text) => Ok(text.map(str::to_owned)),
            None => self.disk.read_text(path),
        }
    }

    fn read_bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        match self.written_text(path) {
            Some(text) => Ok(text.map(|text| text.as_bytes().to_vec())),
            None => self.disk.read_bytes(path),
        }
    }

    fn root_dir(&self) -> Option<&Path> {
        self.disk.root_dir()
    }

    fn list_names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let mut res = self.disk.list_names(folder)?;
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for Change { path, after, .. } in self.changed_files() {
            let Some(inner) = path.as_str().strip_prefix(&start) else { continue };
            match (inner.split_once('/'), after) {
                (Some((name, _)), Some(_)) => res.push(format!("{name}/")),
                (None, Some(_)) => res.push(inner.to_owned()),
                (None, None) => res.retain(|folder| folder != inner),
                // The directory may be empty now; its files are not looked up then.
                (Some(_), None) => {}
            }
        }
        res.sort();
        res.dedup();
        Ok(res)
    }

    fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        let mut paths = self.disk.list_files(folder)?;
        paths.retain(|path| self.written_text(path).is_none_or(|written| written.is_some()));
        let written = self
            .changed_files()
            .filter(|changed| changed.after.is_some() && changed.path.is_in(folder));
        paths.extend(written.map(|written| written.path.clone()));
        paths.sort();
        paths.dedup();
        Ok(paths)
    }
}
