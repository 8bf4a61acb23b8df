//! `--check`: whether committed files contain the CRDs that the source declares, however they are formatted, as API
//! servers would hold both.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::{FILE, FOLDER};
use crate::{
    app::{
        crd_comparison::{FieldDifference, differences},
        crd_files::objects,
        derive::MANIFESTS,
        file_owner::{FileOwners, Owner},
        outcome::writing_hint,
    },
    disk::Root,
    manifests::Manifest,
    plan,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::{self, Value};
use model::{ProjectPath, Tree};

/// Committed files, and the CRDs that should be in them.
pub struct Committed<'a> {
    pub root: &'a Root,
    /// The only file, relative to the root; none if every file directly in it is read.
    pub file: Option<ProjectPath>,
    /// The prefix of each path in messages.
    pub shown_in: String,
    pub crds: &'a [Manifest],
    /// Whether `crds` are all kinds of the workspace, so that other CRDs are left over.
    pub whole: bool,
    pub owners: &'a FileOwners,
    /// The differences that are accepted: the name of the CRD, and the path of the field.
    pub allowed: &'a [String],
}

/// A CRD in a committed file.
struct Found {
    path: ProjectPath,
    crd: Value,
    writer: Writer,
    owner: Owner,
}

/// Who has written a committed file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    GenerateCrds,
    /// The directory is config/crd/bases of a project.
    Manifests,
    Other,
}

impl Committed<'_> {
    /// Fails if a CRD is missing, differs, or is left over.
    pub fn require_current(&self) -> anyhow::Result<()> {
        let found = self.find()?;
        let mut list = Vec::new();
        let mut writers = Vec::new();
        let mut report = |it: &Found, what: &str, name: &str, why: &str| {
            let file = format!("{}{}", self.shown_in, it.path);
            let listed = Some(format!("{what}: {name} in {file}: {why}"));
            let message = format!("{what}: {name}: {why}");
            list.push(Diagnostic { listed, ..Diagnostic::in_file(file, message) });
            writers.push(it.writer);
        };
        let mut missing = Vec::new();
        for crd in self.crds.iter().flat_map(|it| &it.objects) {
            let name = name(crd);
            match found.get(name) {
                None => missing.push(Diagnostic::from(match self.shown_in.trim_end_matches('/') {
                    "" | "." => format!("missing: {name}"),
                    folder => format!("missing: {name} in {folder}"),
                })),
                Some(found) => {
                    for file in found {
                        for it in self.unaccepted(name, differences(&file.crd, crd)) {
                            let FieldDifference { path, in_file, declared } = it;
                            let why = format!(
                                "at `{path}`, {in_file} is committed, and {declared} is declared"
                            );
                            report(file, "stale", name, &why);
                        }
                    }
                }
            }
        }
        for (name, found) in &found {
            found.iter().filter(|it| self.is_left_over(name, it)).for_each(|it| {
                report(it, "left over", name, "no kind declares it");
            });
        }
        list.extend(missing);
        if list.is_empty() {
            return Ok(());
        }
        list.sort_by_key(ToString::to_string);
        let headline = "the committed CRDs are out of date".to_owned();
        let hint = if writers.contains(&Writer::Manifests) {
            "`operator-rs manifests` generates these files: run it".to_owned()
        } else if writers.contains(&Writer::Other) {
            format!(
                "replace the content of these files with the output of `operator-rs generate crds`; or delete them, and {}",
                writing_hint()
            )
        } else {
            writing_hint()
        };
        let declared = "if your program changes what `crd()` returns, declare it instead: `#[kube(annotation(…), label(…), doc = \"…\")]`; or accept a difference: `--allow-at 'CRD FIELD'`";
        let is_patched =
            writers.iter().all(|writer| *writer == Writer::Other) && !writers.is_empty();
        let error = Err(anyhow::Error::from(Diagnostics { headline, list })).hint(hint);
        if is_patched { error.hint(declared) } else { error }
    }

    /// The differences that `--allow-at` does not accept.
    fn unaccepted(&self, name: &str, found: Vec<FieldDifference>) -> Vec<FieldDifference> {
        let is_accepted = |it: &FieldDifference| {
            let place = [name, &it.path];
            self.allowed.iter().any(|allowed| allowed.split_whitespace().eq(place))
        };
        found.into_iter().filter(|it| !is_accepted(it)).collect()
    }

    /// Returns whether a CRD is one of this workspace's, and no kind declares it any more: this command has written it
    /// for one of its packages, or nobody knows who has, and its group is one of ours.
    fn is_left_over(&self, name: &str, it: &Found) -> bool {
        let mut declared = self.crds.iter().flat_map(|it| &it.objects);
        let group = |it: &Value| it["spec"]["group"].clone();
        let is_declared = declared.clone().any(|crd| group(crd) == group(&it.crd));
        let is_ours = match (&it.writer, &it.owner) {
            (Writer::GenerateCrds, Owner::Ours) => {
                self.owners.reason_to_stay(&it.owner, is_declared).is_none()
            }
            (Writer::GenerateCrds, Owner::Another(_)) => false,
            _ => is_declared,
        };
        self.whole
            && self.owners.knows_all_kinds()
            && is_ours
            && declared.all(|crd| self::name(crd) != name)
    }

    fn find(&self) -> anyhow::Result<BTreeMap<String, Vec<Found>>> {
        let mut res: BTreeMap<String, Vec<Found>> = BTreeMap::new();
        for path in self.paths()? {
            let Some(text) = self.root.read(&path)? else { continue };
            if !text.contains("CustomResourceDefinition") {
                continue;
            }
            let documents = yaml::documents(&text, yaml::Dialect::Kubernetes);
            let documents =
                documents.with_context(|| format!("cannot read {}{path}", self.shown_in))?;
            let writer = if [FOLDER, FILE].iter().any(|by| plan::is_ours(&path, &text, by)) {
                Writer::GenerateCrds
            } else if plan::is_generated_by(&path, &text, MANIFESTS) {
                Writer::Manifests
            } else {
                Writer::Other
            };
            let objects = documents.into_iter().flat_map(objects);
            for crd in objects.filter(|it| it["kind"] == "CustomResourceDefinition") {
                let name = name(&crd).to_owned();
                let owner = self.owners.owner(&path, &text);
                let found = Found { path: path.clone(), crd, writer, owner };
                res.entry(name).or_default().push(found);
            }
        }
        Ok(res)
    }

    fn paths(&self) -> anyhow::Result<Vec<ProjectPath>> {
        if let Some(file) = &self.file {
            return Ok(vec![file.clone()]);
        }
        let names = self.root.names("")?;
        let paths = names.iter().filter_map(|it| it.parse::<ProjectPath>().ok());
        Ok(paths.filter(|it| ["yaml", "yml", "json"].contains(&it.extension())).collect())
    }
}

fn name(crd: &Value) -> &str {
    crd["metadata"]["name"].as_str().unwrap_or_default()
}
