//! Directories outside of the project's layout that a command writes the same files into.

use std::path::{Path, PathBuf};

use super::{
    location,
    outcome::{OutputMode, begin, settle_all},
};
use crate::{
    disk::Root,
    plan::{self, Plan, WorkTree},
};
use diagnostics::Hint as _;
use model::display_path;

pub struct OutputDirs<'a> {
    pub roots: Vec<(&'a Path, Root)>,
    mode: &'a OutputMode,
}

impl<'a> OutputDirs<'a> {
    /// Opens the directories, and locks them if they are to be written into. They may not be inside of each other: each
    /// has separate files. The names of those in the project are ones that every system can have, as those of the files
    /// in all of them; what is outside of the project need not move to other systems.
    pub fn open(dir: &Path, folders: &'a [PathBuf], mode: &'a OutputMode) -> anyhow::Result<Self> {
        let mut roots: Vec<(&Path, Root)> = Vec::new();
        for folder in folders {
            let root = Root::open_output(dir, folder)?;
            if let Some(below) = root.path_below_base() {
                plan::require_portable(&Root::new(dir)?, &below)?;
            }
            let real = root.resolved_path();
            let meets = |root: &Root| {
                real.starts_with(root.resolved_path()) || root.resolved_path().starts_with(real)
            };
            if let Some((other, _)) = roots.iter().find(|pair| meets(&pair.1)) {
                let (one, other) = (display_path(&folder), display_path(&other));
                return Err(anyhow::format_err!(
                    "`{one}` and `{other}` are the same directory, or one is inside of the other"
                ))
                .hint("choose directories of which none contains another");
            }
            location::annotate(&root);
            begin(&root, mode)?;
            roots.push((folder, root));
        }
        Ok(Self { roots, mode })
    }

    /// Applies a plan to each directory. All are written or none.
    pub fn settle(
        &self,
        plan: impl Fn(&Path, &Root) -> anyhow::Result<Plan>,
    ) -> anyhow::Result<()> {
        let mut trees = Vec::new();
        for (folder, root) in &self.roots {
            let mut tree = WorkTree::new(root, self.mode.force);
            let mut plan = plan(folder, root)?;
            if *folder != Path::new("") {
                plan.display_relative_to(&display_path(folder));
            }
            tree.apply(plan)?;
            trees.push((tree, root));
        }
        let trees: Vec<_> = trees.iter().map(|(tree, root)| (tree, *root)).collect();
        settle_all(&trees, self.mode)
    }
}
