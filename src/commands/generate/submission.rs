//! `operator-rs generate submission`

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use crate::{
    commands::{
        Mode, Outcome, begin, bundle::validate, catalog::Source, folder::below, images::Access,
        project, reading,
    },
    disk::Root,
    plan::{self, Plan},
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::{self, Dialect};
use model::{Found, ProjectPath, Tree as _};

/// Copy the bundle into a clone of community-operators, as operatorhub.io wants it
///
/// Writes `operators/<package>/<version>` and, for a new operator, `operators/<package>/ci.yaml`. A version that is
/// already there is never changed.
#[derive(clap::Args)]
pub struct Args {
    /// Directory of a clone of community-operators, inside or outside the project
    #[arg(long, value_name = "DIR", default_value = "submission")]
    output_dir: PathBuf,
    /// Directory of the bundle
    #[arg(long, value_name = "DIR", default_value = "bundle")]
    bundle_dir: String,
    /// GitHub accounts that may approve changes, separated by commas
    #[arg(long, value_name = "ACCOUNTS", value_delimiter = ',')]
    reviewers: Vec<String>,
    /// How the index orders the versions [default: replaces-mode]
    #[arg(long, value_enum, value_name = "MODE")]
    update_graph: Option<UpdateGraph>,
    #[command(flatten)]
    pub mode: Mode,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum UpdateGraph {
    /// By `replaces`, `skips` and `olm.skipRange` of the ClusterServiceVersions
    ReplacesMode,
    /// By version
    SemverMode,
}

impl UpdateGraph {
    fn word(self) -> &'static str {
        match self {
            Self::ReplacesMode => "replaces-mode",
            Self::SemverMode => "semver-mode",
        }
    }
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        project(&reading(dir)?)?;
        let root = Root::output(dir, &self.output_dir)?;
        begin(&root, &self.mode)?;
        let mut plan = self.plan(dir, &root)?;
        plan.show_in(&self.output_dir.to_string_lossy());
        Outcome::from(plan).settle(&root, &self.mode)
    }

    fn plan(&self, dir: &Path, root: &Root) -> anyhow::Result<Plan> {
        if !dir.join(&self.bundle_dir).is_dir() {
            return Err(anyhow::format_err!("found no bundle in `{}`", self.bundle_dir))
                .hint("generate a bundle with `operator-rs bundle`");
        }
        for account in &self.reviewers {
            let inside = |it: char| it.is_ascii_alphanumeric() || it == '-';
            if account.is_empty() || !account.chars().all(inside) {
                return Err(anyhow::format_err!("`{account}` is not the name of a GitHub account"))
                    .hint("write names as in `--reviewers alice,bob`, without `@`");
            }
        }
        let source = Source::open(dir, &self.bundle_dir, &Access::default())?;
        let bundle = source.bundle()?;
        let all = source.all()?;
        let (errors, warnings) = validate::found(source.title(), &all)?;
        if !errors.is_empty() {
            let headline = "the bundle is not valid, and nothing was written".to_owned();
            return Err(Diagnostics { headline, list: errors }.into());
        }
        let folder: ProjectPath = "operators".parse()?;
        let (package, version): (ProjectPath, ProjectPath) =
            (bundle.package.parse()?, bundle.version.parse()?);
        if package.as_str().contains('/') || version.as_str().contains('/') {
            return Err(anyhow::format_err!(
                "`{package}` and `{version}` must be names of directories"
            ))
            .hint("correct the package's name and the version of the bundle");
        }
        let folder = folder.join(package.as_str())?;
        let mut plan = Plan::default();
        warnings.into_iter().for_each(|it| plan.warn(it));
        let ci = folder.join("ci.yaml")?;
        if let Found::Text(text) = root.look(&ci)?
            && let Some(missing) = self.missing(&text)
        {
            let path = self.output_dir.join(&ci);
            let message = format!("{} stays as it is: it has no {missing}", path.display());
            plan.warn(Diagnostic::from(message).with_hint("write it there by hand"));
        }
        plan.scaffold(ci.clone(), self.ci());
        plan.only_offer(&ci);
        let version = folder.join(version.as_str())?;
        let mut wanted = BTreeMap::new();
        for (path, bytes) in all {
            let is_part = ["manifests/", "metadata/", "tests/"]
                .iter()
                .any(|it| path.as_str().starts_with(it));
            if !is_part {
                let message = format!(
                    "{}/{path} is not copied: only `manifests`, `metadata` and `tests` are",
                    self.bundle_dir
                );
                plan.warn(
                    Diagnostic::from(message).with_hint("copy it by hand if the index needs it"),
                );
                continue;
            }
            let text = String::from_utf8(bytes)
                .map_err(|_| anyhow::format_err!("{}/{path} is not UTF-8 text", self.bundle_dir))?;
            let text = plan::without_signature(&path, &text).to_owned();
            wanted.insert(version.join(path.as_str())?, text);
        }
        self.require_same(root, &version, &wanted)?;
        wanted.into_iter().for_each(|(path, text)| plan.scaffold(path, text));
        plan.next(
            "Next: commit the new files with `git commit --signoff`, and open a pull request"
                .to_owned(),
        );
        Ok(plan)
    }

    /// A version that is already there is never changed.
    fn require_same(
        &self,
        root: &Root,
        version: &ProjectPath,
        wanted: &BTreeMap<ProjectPath, String>,
    ) -> anyhow::Result<()> {
        let there: BTreeSet<ProjectPath> = root.list(version)?.into_iter().collect();
        if there.is_empty() {
            return Ok(());
        }
        let mut list = String::new();
        for path in there.iter().chain(wanted.keys().filter(|it| !there.contains(*it))) {
            below(path, version)?;
            let what = match wanted.get(path) {
                None => "not in the bundle",
                Some(_) if !there.contains(path) => "missing",
                Some(text) if root.bytes(path)?.as_deref() != Some(text.as_bytes()) => "changed",
                Some(_) => continue,
            };
            list += &format!("\n  {}: {what}", self.output_dir.join(path).display());
        }
        if list.is_empty() {
            return Ok(());
        }
        let version = version.name();
        Err(anyhow::format_err!(
            "the version {version} is already there, and differs from the bundle:{list}"
        ))
        .hint("give the bundle a new version, or remove the directory if it was never submitted")
    }

    /// What the flags ask for and an existing ci.yaml does not have.
    fn missing(&self, text: &str) -> Option<String> {
        let ci = yaml::from_text(text, Dialect::Kubernetes).unwrap_or_default();
        let mode = self.update_graph.map(UpdateGraph::word);
        if let Some(mode) = mode.filter(|it| ci["updateGraph"] != **it) {
            return Some(format!("`updateGraph: {mode}`"));
        }
        let listed = ci["reviewers"].as_array().map(Vec::as_slice).unwrap_or_default();
        let other = self.reviewers.iter().find(|it| !listed.iter().any(|one| one == it.as_str()));
        other.map(|it| format!("reviewer `{it}`"))
    }

    fn ci(&self) -> String {
        let mode = self.update_graph.unwrap_or(UpdateGraph::ReplacesMode).word();
        let mut res = format!(
            "---\n# How the index orders the versions: `replaces-mode` or `semver-mode`.\nupdateGraph: {mode}\n"
        );
        if self.reviewers.is_empty() {
            res += "# GitHub accounts that may approve changes to this operator.\n# reviewers:\n#   - alice\n";
        } else {
            res += "# GitHub accounts that may approve changes to this operator.\nreviewers:\n";
            let list = yaml::to_text(&yaml::to_value(&self.reviewers));
            res.extend(list.lines().map(|it| format!("  {it}\n")));
        }
        res
    }
}
