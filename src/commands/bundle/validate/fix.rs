//! `operator-rs bundle validate --fix`

use std::{collections::BTreeSet, path::Path};

use anyhow::Context as _;

use crate::project::Project;
use crate::{
    bundle::validate::{
        Files,
        fix::{Fixed, Outcome, is_fixable},
        rules::Suite,
    },
    commands::{
        Mode, begin,
        bundle::source,
        folder::{below, folders},
        images::Access,
        location,
    },
    disk::{self, Root},
    plan::{self, Plan},
    terminal,
};
use diagnostics::Hint as _;
use model::{Found, ProjectPath, Tree as _};

use super::Finding;

#[derive(Clone, clap::Args)]
pub struct Fix {
    /// Correct the bundle's files where a problem has only one correction, then validate them
    #[arg(long, conflicts_with_all = ["list", "list_optional"])]
    fix: bool,
    /// With `--fix`: list the changes and write nothing
    #[arg(long, requires = "fix", conflicts_with_all = ["diff", "output"])]
    dry_run: bool,
    /// With `--fix`: show the changes as a diff and write nothing
    #[arg(long, requires = "fix", conflicts_with = "output")]
    diff: bool,
}

impl Fix {
    pub fn is_given(&self) -> bool {
        self.fix
    }

    fn mode(&self) -> Mode {
        Mode { dry_run: self.dry_run, diff: self.diff, check: false, force: false }
    }

    /// The directory of the bundle, locked where it will be written.
    pub fn open(&self, dir: &Path, text: &str, access: &Access) -> anyhow::Result<Directory> {
        let path = dir.join(text);
        let is_folder = path.is_dir() && !path.join("oci-layout").exists();
        let is_bundle = path.join("manifests").is_dir() || path.join("metadata").is_dir();
        if !is_folder || !is_bundle {
            let (label, is_image) = match source::is_remote(dir, text) {
                true => (text.to_owned(), true),
                false => {
                    // Whatever is wrong with the name is known there.
                    let found = source::contents(dir, text, access)?;
                    (found.label, found.labels.is_some())
                }
            };
            let what = if is_image { "an image" } else { "no bundle" };
            return Err(anyhow::format_err!(
                "`{label}` is {what}, and `--fix` corrects a directory"
            ))
            .hint("name the directory with `manifests` and `metadata`");
        }
        let around = Root::around(dir, Path::new(text))?;
        let (root, name) = around.with_context(|| format!("cannot read `{text}`"))?;
        // The bundle of a project is written as part of it. Others are apart from what is beside them.
        let (root, prefix) = match root.look(&Project::path())? {
            Found::Nothing => (Root::output(dir, &root.real().join(name.as_str()))?, None),
            _ => (root, Some(name)),
        };
        location::annotate(&root);
        begin(&root, &self.mode())?;
        let is_apart = prefix.is_none() && text != ".";
        let read = Directory::read(root, prefix, text);
        if is_apart { read.with_context(|| format!("cannot read `{text}`")) } else { read }
    }

    /// Writes the corrected files, or shows what would be written. Returns whether to report on the result.
    pub fn settle(&self, at: &Directory, outcome: &Outcome, is_text: bool) -> anyhow::Result<bool> {
        let mode = self.mode();
        let plan = at.plan(&outcome.files)?;
        let changes = plan.against(&at.root, false)?;
        if mode.writes() {
            let written = at.root.write(&changes);
            match at.prefix.is_none() && at.label != "." {
                true => written.with_context(|| format!("cannot write into `{}`", at.label))?,
                false => written?,
            }
        }
        if mode.diff {
            terminal::diff(&changes.diff());
        } else if is_text {
            let line = |it: &Fixed| {
                let (place, rule) = (it.finding.place(&at.label), it.finding.rule);
                format!("fixed   {place}: {} ({rule})\n", it.change)
            };
            let done = outcome.fixed.iter().filter(|_| mode.writes());
            let lines: String = done.map(line).collect();
            let folded = || changes.folded().map(|it| lines.clone() + &it);
            terminal::list(&format!("{lines}{changes}"), folded);
        }
        Ok(mode.writes() || changes.is_empty())
    }
}

/// The directory of a bundle that is corrected.
pub struct Directory {
    root: Root,
    /// Where it is in `root`, if it is not `root` itself.
    prefix: Option<ProjectPath>,
    pub label: String,
    pub files: Files,
    /// Its directories, also those without files.
    pub folders: Vec<String>,
    /// The files that operator-rs has generated: they are not edited.
    generated: BTreeSet<ProjectPath>,
    /// Those among them that were edited since.
    edited: BTreeSet<ProjectPath>,
}

impl Directory {
    fn read(root: Root, prefix: Option<ProjectPath>, text: &str) -> anyhow::Result<Self> {
        let label =
            text.parse::<ProjectPath>().map_or_else(|_| text.to_owned(), |it| it.to_string());
        let (generated, edited) = <(BTreeSet<_>, BTreeSet<_>)>::default();
        let folders = folders(&root, prefix.as_ref().map_or("", ProjectPath::as_str))?;
        let files = Files::new();
        let mut res = Self { root, prefix, label, files, folders, generated, edited };
        for path in res.paths()? {
            let whole = res.whole(&path)?;
            let Some(bytes) = res.root.bytes(&whole)? else { continue };
            let text = std::str::from_utf8(&bytes).unwrap_or_default();
            if plan::without_signature(&whole, text) != text {
                res.generated.insert(path.clone());
                // The line names the path in the project.
                if res.prefix.is_some() && !plan::is_ours(&whole, text, "bundle") {
                    res.edited.insert(path.clone());
                }
            }
            res.files.insert(path, bytes);
        }
        Ok(res)
    }

    /// The paths of its files, inside of it.
    fn paths(&self) -> anyhow::Result<Vec<ProjectPath>> {
        if let Some(prefix) = &self.prefix {
            return self.root.list_all(prefix)?.iter().map(|it| below(it, prefix)).collect();
        }
        let mut res = Vec::new();
        for name in self.root.names("")?.into_iter().filter(|it| !it.starts_with('.')) {
            let Ok(path) = name.trim_end_matches('/').parse::<ProjectPath>() else { continue };
            match name.ends_with('/') {
                true => res.extend(self.root.list_all(&path)?),
                false => res.push(path),
            }
        }
        Ok(res)
    }

    fn whole(&self, path: &ProjectPath) -> anyhow::Result<ProjectPath> {
        let join = |it: &ProjectPath| it.join(path.as_str());
        Ok(self.prefix.as_ref().map_or_else(|| Ok(path.clone()), join)?)
    }

    pub fn may_edit(&self, path: &ProjectPath) -> bool {
        !self.generated.contains(path) && !disk::is_temporary(path.as_ref())
    }

    fn plan(&self, after: &Files) -> anyhow::Result<Plan> {
        let mut plan = Plan::default();
        let text = |it: &[u8]| String::from_utf8(it.to_vec()).unwrap_or_default();
        for (path, before) in &self.files {
            let whole = self.whole(path)?;
            match after.get(path) {
                Some(after) if after == before => {}
                Some(after) => plan.edit(whole, text(before), text(after)),
                None => plan.delete(whole, vec![text(before)]),
            }
        }
        for (path, bytes) in after.iter().filter(|it| !self.files.contains_key(it.0)) {
            plan.scaffold(self.whole(path)?, text(bytes));
        }
        // As in the messages.
        let folder = match &self.prefix {
            Some(prefix) => self.label.strip_suffix(prefix.as_str()),
            None => Some(self.label.as_str()),
        };
        if folder != Some("") {
            plan.show_in(folder.unwrap_or(".."));
        }
        Ok(plan)
    }

    /// Where the correction of a finding belongs that `--fix` has not made because the file is generated.
    pub fn hint(&self, finding: &Finding) -> Option<String> {
        let path: ProjectPath = finding.file.parse().ok()?;
        if !is_fixable(finding.rule) || !self.generated.contains(&path) {
            return None;
        }
        if self.edited.contains(&path) {
            let again = "`operator-rs bundle --force` generates it again";
            return Some(format!(
                "`--fix` does not edit generated files, and this one was edited since: {again} without the edits"
            ));
        }
        let source = match finding.rule.about().suite {
            Suite::Format => "config/manifests/metadata",
            _ if finding.file.ends_with(".clusterserviceversion.yaml") => {
                "the ClusterServiceVersion in config/manifests/bases"
            }
            _ => "config/ or the Rust source",
        };
        Some(format!(
            "`--fix` does not edit generated files: make the change in {source}, then run `operator-rs bundle`"
        ))
    }
}
