use std::{collections::BTreeMap, mem, path::Path};

use super::{Change, Changes, Intent, Owned, Plan, ours, outcome::Outcome, portable::Names};
use diagnostics::{Diagnostic, Diagnostics};
use model::{Found, ProjectPath, Tree};

/// The files of a project with everything that a command has written so far, none of which is on disk yet: each step of
/// the command reads what the steps before it wrote. `disk` writes the changes at the end.
#[derive(Clone)]
pub struct WorkTree<'a> {
    disk: &'a dyn Tree,
    /// Whether generated files that were edited by hand are replaced without a conflict.
    force: bool,
    /// All plans that were applied, as one.
    plan: Plan,
    outcomes: BTreeMap<ProjectPath, Outcome>,
    names: Names,
}

impl<'a> WorkTree<'a> {
    pub fn new(disk: &'a dyn Tree, force: bool) -> Self {
        Self {
            disk,
            force,
            plan: Plan::default(),
            outcomes: BTreeMap::new(),
            names: Names::default(),
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
            self.evaluate(path)?;
        }
        for (path, why) in kept {
            self.forget(&path);
            self.leave(path, &why);
        }
        for (folder, owned) in owned {
            self.clear(folder, &owned)?;
        }
        Ok(())
    }

    /// Leaves a file as it is on disk, whatever was written before.
    pub fn forget(&mut self, path: &ProjectPath) {
        self.plan.intents.remove(path);
        self.outcomes.remove(path);
    }

    /// A warning: the command continues.
    pub fn warn(&mut self, warning: impl Into<Diagnostic>) {
        self.plan.warn(warning);
    }

    /// The next steps, shown after everything is written.
    pub fn next(&mut self, text: String) {
        self.plan.next(text);
    }

    /// The files as they are on disk.
    pub fn before(&self) -> &'a dyn Tree {
        self.disk
    }

    /// The files that differ from those on disk so far, in the order of their paths.
    pub fn changed(&self) -> impl Iterator<Item = &Change> {
        self.outcomes.values().filter_map(|it| it.change.as_ref())
    }

    /// For each line of a changed file, its number before the changes, counted from 1: none for new lines. None for a
    /// file that stays as it is.
    pub fn lines_before(&self, path: &str) -> Option<Vec<Option<usize>>> {
        let change = self.changed().find(|it| it.path.as_str() == path)?;
        let (before, after) = (change.before.as_deref()?, change.after.as_deref()?);
        Some(lines_before(before, after))
    }

    /// Fails if there is a conflict that remains even with `--force`, with all others.
    pub fn require_writable(&self) -> anyhow::Result<()> {
        match self.conflicts(true).is_empty() {
            true => Ok(()),
            false => self.fail(self.conflicts(self.force)),
        }
    }

    /// The changes to write. Fails if there is a conflict, with all of them at once.
    pub fn writable(&self) -> anyhow::Result<Changes> {
        self.fail(self.conflicts(self.force))?;
        Ok(self.changes())
    }

    /// The changes to show: conflicts are no error yet, and generated files that were edited by hand are among them.
    pub fn changes(&self) -> Changes {
        let all = || self.outcomes.iter();
        Changes {
            changes: self.changed().cloned().collect(),
            edited: all().filter(|it| it.1.is_edited).map(|it| it.0.clone()).collect(),
            forced: all().filter(|it| it.1.is_forced).map(|it| it.0.clone()).collect(),
            stays: all().filter_map(|(path, it)| Some((path.clone(), it.stays.clone()?))).collect(),
            sources: self.plan.sources.iter().cloned().collect(),
            shown_in: self.plan.shown_in.clone(),
            conflicts: self.conflicts(self.force),
            warnings: {
                let files = all().flat_map(|it| &it.1.warnings);
                self.plan.warnings.iter().chain(files).cloned().collect()
            },
            next: self.plan.next.clone(),
        }
    }

    /// The conflicts, or with `forced` those that `--force` does not settle. A file or link that blocks several paths is
    /// among them once.
    fn conflicts(&self, forced: bool) -> Vec<Diagnostic> {
        let refusals = self.plan.refusals.iter().filter(|_| !forced).cloned();
        let mut res: Vec<Diagnostic> = refusals.collect();
        let mut blocked_by = Vec::new();
        for conflict in self.outcomes.values().flat_map(|it| &it.conflicts) {
            if forced && conflict.yields_to_force {
                continue;
            }
            if conflict.is_blocked && conflict.problem.message.starts_with('`') {
                if blocked_by.contains(&&conflict.problem.message) {
                    continue;
                }
                blocked_by.push(&conflict.problem.message);
            }
            if !res.contains(&conflict.problem) {
                res.push(conflict.problem.clone());
            }
        }
        res
    }

    fn fail(&self, list: Vec<Diagnostic>) -> anyhow::Result<()> {
        if list.is_empty() {
            return Ok(());
        }
        Err(Diagnostics { headline: "nothing was written".to_owned(), list }.into())
    }

    fn evaluate(&mut self, path: ProjectPath) -> anyhow::Result<()> {
        let Some(intent) = self.plan.intents.get(&path) else { return Ok(()) };
        let mut outcome = Outcome::new(&path, &self.plan.shown_in);
        // Some systems find a file by its name in another case, so the names are compared first.
        let added = match intent {
            Intent::Delete { .. } => Ok(()),
            _ => self.names.add(self.disk, &path),
        };
        match (added, self.disk.look(&path)?) {
            (Err(refused), _) if matches!(intent, Intent::Offer(_)) => {
                outcome.stays = Some(refused.why);
            }
            (Err(refused), _) => outcome.refused(&refused),
            (_, Found::Nothing) => intent.apply(&path, None, self.force, &mut outcome),
            (_, Found::Text(before)) => {
                intent.apply(&path, Some(before), self.force, &mut outcome);
            }
            (_, Found::Other(_)) if matches!(intent, Intent::Offer(_)) => {}
            (_, Found::Other(what)) => outcome.blocked(&what),
        }
        self.outcomes.insert(path, outcome);
        Ok(())
    }

    /// Leaves a file as it is, and says why.
    fn leave(&mut self, path: ProjectPath, why: &str) {
        let mut outcome = Outcome::new(&path, &self.plan.shown_in);
        outcome.stays = Some(why.to_owned());
        self.outcomes.insert(path, outcome);
    }

    fn delete(&mut self, path: ProjectPath, before: String) {
        let mut outcome = Outcome::new(&path, &self.plan.shown_in);
        outcome.delete(&path, before);
        self.outcomes.insert(path, outcome);
    }

    /// Deletes what was generated in a folder and is generated no longer.
    fn clear(&mut self, folder: ProjectPath, owned: &Owned) -> anyhow::Result<()> {
        let paths = match self.disk.look(&folder)? {
            Found::Text(_) => vec![folder],
            _ => self.disk.list(&folder)?,
        };
        for path in paths {
            let is_left = self.outcomes.get(&path).is_some_and(|outcome| outcome.stays.is_some());
            if is_left || self.plan.intents.contains_key(&path) || !owned.includes(&path) {
                continue;
            }
            let Found::Text(before) = self.disk.look(&path)? else {
                self.leave(path, "not generated by operator-rs");
                continue;
            };
            match (ours::state(&path, &before, owned.by), owned.hint) {
                (ours::State::Edited, Some(hint)) => {
                    let mut outcome = Outcome::new(&path, &self.plan.shown_in);
                    outcome.is_forced = self.force;
                    if !self.force {
                        outcome.retired(hint);
                    }
                    outcome.delete(&path, before);
                    self.outcomes.insert(path, outcome);
                }
                (ours::State::Ours, _) => match &owned.left {
                    Some(left) if !left.except.contains(&path) => self.leave(path, &left.why),
                    _ => self.delete(path, before),
                },
                (ours::State::Theirs, _) => self.leave(path, "not generated by operator-rs"),
                (ours::State::Another { by }, _) => {
                    self.leave(path, &format!("generated by `operator-rs {by}`"));
                }
                (ours::State::Edited, None) => self.leave(path, EDITED),
            }
        }
        Ok(())
    }

    /// The text that was written, or none for a file that was deleted; nothing for a file that is as it was.
    fn written(&self, path: &ProjectPath) -> Option<Option<&str>> {
        let change = self.outcomes.get(path)?.change.as_ref()?;
        Some(change.after.as_deref())
    }
}

/// Why a generated file with an edit stays.
pub const EDITED: &str = "no longer generated, and edited or copied by hand";

/// For each line of a text, its number before a change, counted from 1: none for new lines.
pub fn lines_before(before: &str, after: &str) -> Vec<Option<usize>> {
    let diff = similar::TextDiff::from_lines(before, after);
    let lines = diff.iter_all_changes().filter(|it| it.new_index().is_some());
    lines.map(|it| it.old_index().map(|it| it + 1)).collect()
}

impl Tree for WorkTree<'_> {
    fn look(&self, path: &ProjectPath) -> anyhow::Result<Found> {
        match self.written(path) {
            Some(Some(text)) => Ok(Found::Text(text.to_owned())),
            Some(None) => Ok(Found::Nothing),
            None => self.disk.look(path),
        }
    }

    fn read(&self, path: &ProjectPath) -> anyhow::Result<Option<String>> {
        match self.written(path) {
            Some(text) => Ok(text.map(str::to_owned)),
            None => self.disk.read(path),
        }
    }

    fn bytes(&self, path: &ProjectPath) -> anyhow::Result<Option<Vec<u8>>> {
        match self.written(path) {
            Some(text) => Ok(text.map(|it| it.as_bytes().to_vec())),
            None => self.disk.bytes(path),
        }
    }

    fn dir(&self) -> Option<&Path> {
        self.disk.dir()
    }

    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let mut res = self.disk.names(folder)?;
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        for Change { path, after, .. } in self.changed() {
            let Some(inner) = path.as_str().strip_prefix(&start) else { continue };
            match (inner.split_once('/'), after) {
                (Some((name, _)), Some(_)) => res.push(format!("{name}/")),
                (None, Some(_)) => res.push(inner.to_owned()),
                (None, None) => res.retain(|it| it != inner),
                // The directory may be empty now; nobody looks for anything in it then.
                (Some(_), None) => {}
            }
        }
        res.sort();
        res.dedup();
        Ok(res)
    }

    fn list(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        let mut res = self.disk.list(folder)?;
        res.retain(|it| self.written(it).is_none_or(|it| it.is_some()));
        let written = self.changed().filter(|it| it.after.is_some() && it.path.is_in(folder));
        res.extend(written.map(|it| it.path.clone()));
        res.sort();
        res.dedup();
        Ok(res)
    }
}
