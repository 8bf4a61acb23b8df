//! `--check`: whether committed files contain the CRDs that the source declares, however they are formatted, as API
//! servers would hold both.

use std::collections::BTreeMap;

use anyhow::Context as _;

use super::{FILE, FOLDER};
use crate::{
    app::{
        crds::{
            crd_comparison::{FieldDifference, differences},
            crd_files::objects,
            file_owner::{FileOwner, FileOwners},
        },
        output::outcome::writing_hint,
    },
    disk::Root,
    manifests::Manifest,
    plan,
    project::MANIFESTS_COMMAND,
};
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::yaml::{self, Value};
use model::{ProjectPath, Tree};

/// Committed files, and the CRDs that should be in them.
pub struct CommittedCrds<'a> {
    pub root: &'a Root,
    /// The only file, relative to the root; none if every file directly in it is read.
    pub file: Option<ProjectPath>,
    /// The prefix of each path in messages.
    pub shown_in: String,
    pub crds: &'a [Manifest],
    /// True if `crds` are all kinds of the workspace, so that other CRDs are left over.
    pub whole: bool,
    pub owners: &'a FileOwners,
    /// The differences that are accepted: the name of the CRD, and the path of the field.
    pub allowed: &'a [String],
}

/// A CRD in a committed file.
struct CommittedCrd {
    path: ProjectPath,
    crd: Value,
    writer: Writer,
    owner: FileOwner,
}

/// The tool that has written a committed file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writer {
    GenerateCrds,
    /// The directory is config/crd/bases of a project.
    Manifests,
    Other,
}

impl CommittedCrds<'_> {
    /// Fails if a CRD is missing, differs, or is left over.
    pub fn require_current(&self) -> anyhow::Result<()> {
        let found = self.find_crds()?;
        let mut list = Vec::new();
        let mut writers = Vec::new();
        let mut report = |found: &CommittedCrd, what: &str, name: &str, why: &str| {
            let file = format!("{}{}", self.shown_in, found.path);
            let listed = Some(format!("{what}: {name} in {file}: {why}"));
            let message = format!("{what}: {name}: {why}");
            list.push(Diagnostic { listed, ..Diagnostic::in_file(file, message) });
            writers.push(found.writer);
        };
        let mut missing = Vec::new();
        for crd in self.crds.iter().flat_map(|manifest| &manifest.objects) {
            let name = crd_name(crd);
            match found.get(name) {
                None => missing.push(Diagnostic::from(match self.shown_in.trim_end_matches('/') {
                    "" | "." => format!("missing: {name}"),
                    folder => format!("missing: {name} in {folder}"),
                })),
                Some(found) => {
                    for file in found {
                        for difference in self.without_accepted(name, differences(&file.crd, crd)) {
                            let FieldDifference { path, in_file, declared } = difference;
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
            found.iter().filter(|file| self.is_left_over(name, file)).for_each(|file| {
                report(file, "left over", name, "no kind declares it");
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
    fn without_accepted(&self, name: &str, found: Vec<FieldDifference>) -> Vec<FieldDifference> {
        let is_accepted = |difference: &FieldDifference| {
            let place = [name, &difference.path];
            self.allowed.iter().any(|allowed| allowed.split_whitespace().eq(place))
        };
        found.into_iter().filter(|difference| !is_accepted(difference)).collect()
    }

    /// Returns whether a CRD is one of this workspace's, and no kind declares it any more: this command has written it
    /// for one of its packages, or its writer is unknown and its group is declared here.
    fn is_left_over(&self, name: &str, file: &CommittedCrd) -> bool {
        let mut declared = self.crds.iter().flat_map(|manifest| &manifest.objects);
        let group = |crd: &Value| crd["spec"]["group"].clone();
        let is_declared = declared.clone().any(|crd| group(crd) == group(&file.crd));
        let is_ours = match (&file.writer, &file.owner) {
            (Writer::GenerateCrds, FileOwner::Ours) => {
                self.owners.reason_to_stay(&file.owner, is_declared).is_none()
            }
            (Writer::GenerateCrds, FileOwner::Another(_)) => false,
            _ => is_declared,
        };
        self.whole
            && self.owners.knows_all_kinds()
            && is_ours
            && declared.all(|crd| self::crd_name(crd) != name)
    }

    fn find_crds(&self) -> anyhow::Result<BTreeMap<String, Vec<CommittedCrd>>> {
        let mut crds: BTreeMap<String, Vec<CommittedCrd>> = BTreeMap::new();
        for path in self.list_files()? {
            let Some(text) = self.root.read_text(&path)? else { continue };
            if !text.contains("CustomResourceDefinition") {
                continue;
            }
            let documents = yaml::parse_documents(&text, yaml::Dialect::Kubernetes);
            let documents =
                documents.with_context(|| format!("cannot read {}{path}", self.shown_in))?;
            let writer =
                if [FOLDER, FILE].iter().any(|by| plan::is_unchanged_output(&path, &text, by)) {
                    Writer::GenerateCrds
                } else if plan::is_generated_by(&path, &text, MANIFESTS_COMMAND) {
                    Writer::Manifests
                } else {
                    Writer::Other
                };
            let objects = documents.into_iter().flat_map(objects);
            for crd in objects.filter(|object| object["kind"] == "CustomResourceDefinition") {
                let name = crd_name(&crd).to_owned();
                let owner = self.owners.owner(&path, &text);
                let found = CommittedCrd { path: path.clone(), crd, writer, owner };
                crds.entry(name).or_default().push(found);
            }
        }
        Ok(crds)
    }

    fn list_files(&self) -> anyhow::Result<Vec<ProjectPath>> {
        if let Some(file) = &self.file {
            return Ok(vec![file.clone()]);
        }
        let names = self.root.list_names("")?;
        let paths = names.iter().filter_map(|name| name.parse::<ProjectPath>().ok());
        Ok(paths.filter(|path| ["yaml", "yml", "json"].contains(&path.extension())).collect())
    }
}

fn crd_name(crd: &Value) -> &str {
    crd["metadata"]["name"].as_str().unwrap_or_default()
}
