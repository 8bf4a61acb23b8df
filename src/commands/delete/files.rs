//! The files and entries that a command has added to a project, and their removal.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::{commit::Commit, modules};
use crate::{
    disk::Root,
    plan::{self, Plan},
    scaffold::{self, Target},
};
use model::{FileContent, ProjectPath, Tree as _};

/// Files, and entries in other files.
#[derive(Default)]
pub struct ScaffoldedFiles {
    /// Whole files, with every text that `create` may have written.
    pub files: BTreeMap<ProjectPath, Vec<String>>,
    /// Fragments in the user's files, by marker: every one that `create` may have added.
    pub fragments: BTreeMap<(ProjectPath, String), BTreeSet<String>>,
    /// The modules around the type, from the inside out, with the text that the templates wrote into them.
    pub modules: Vec<(ProjectPath, Option<String>, String)>,
}

impl ScaffoldedFiles {
    pub fn add_sets(&mut self, sets: &[&str], context: &impl Serialize) -> anyhow::Result<()> {
        for set in sets {
            for (target, text) in scaffold::render(set, context)? {
                match target {
                    Target::File(path) => self.files.entry(path).or_default().push(text),
                    Target::Entries(path, marker) => {
                        self.fragments.entry((path, marker)).or_default().insert(text);
                    }
                }
            }
        }
        Ok(())
    }

    /// Plans the removal of all files and entries that exist.
    pub fn plan_removal(
        self,
        plan: &mut Plan,
        root: &Root,
        commit: &mut Commit,
    ) -> anyhow::Result<()> {
        let has_entries = |path: &ProjectPath| self.fragments.keys().any(|key| key.0 == *path);
        for (path, mut known) in self.files.clone() {
            if root.read_content(&path)? == FileContent::Nothing {
                continue;
            }
            if has_entries(&path) {
                // Without its entries, the file is as it was written; otherwise it stays.
                if self.is_emptied(plan, root, commit, &path, &known)? {
                    let before = root.read_text(&path)?.unwrap_or_default();
                    plan.delete_file(path, vec![before.replace("\r\n", "\n"), before]);
                }
                continue;
            }
            let text = commit.read_text(&path, plan);
            known.extend(text.map(|committed| committed.replace("\r\n", "\n")));
            plan.delete_file(path, known);
        }
        for ((path, _), fragments) in self.fragments {
            if plan.deletes(&path) {
                continue;
            }
            let Some(text) = root.read_text(&path)? else { continue };
            let fragments: Vec<String> = fragments.into_iter().collect();
            let commit = commit.of_entries(&path, &text, &fragments, plan);
            plan.remove_entries(path, fragments, commit);
        }
        for (path, template, fragment) in self.modules {
            // A module with other content stays, and so do those around it.
            if !modules::prune_module(plan, root, path, fragment, template.as_deref(), commit)? {
                break;
            }
        }
        Ok(())
    }

    /// Returns whether a file has only the text that it was written with, once the entries are removed that git can
    /// restore.
    fn is_emptied(
        &self,
        plan: &mut Plan,
        root: &Root,
        commit: &mut Commit,
        path: &ProjectPath,
        known: &[String],
    ) -> anyhow::Result<bool> {
        let mut text = root.read_text(path)?.unwrap_or_default();
        for (_, fragments) in self.fragments.iter().filter(|entry| entry.0.0 == *path) {
            let fragments: Vec<String> = fragments.iter().cloned().collect();
            let committed = commit.of_entries(path, &text, &fragments, plan);
            match plan::remove_fragments(path, &text, &fragments, &committed) {
                Ok(removal) if removal.edited.is_empty() && removal.stuck.is_empty() => {
                    text = removal.text
                }
                _ => return Ok(false),
            }
        }
        Ok(known.iter().any(|written| written.lines().eq(text.lines())))
    }
}
