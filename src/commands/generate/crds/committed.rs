//! `--check`: whether committed files contain the CRDs that the source declares, however they are formatted.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;

use super::{FILE, FOLDER};
use crate::commands::derive::MANIFESTS;
use crate::{
    disk::Root,
    hint::Hint as _,
    manifests::Manifest,
    model::ProjectPath,
    plan::{self, Tree},
    yaml::{self, Value},
};

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
}

/// A CRD in a committed file.
struct Found {
    path: ProjectPath,
    crd: Value,
    /// `generate crds` has written the file.
    ours: bool,
    /// `manifests` has written it: the directory is config/crd/bases of a project.
    of_manifests: bool,
}

impl Committed<'_> {
    /// Fails if a CRD is missing, differs, or is left over.
    pub fn require_current(&self) -> anyhow::Result<()> {
        let found = self.find()?;
        let mut lines = BTreeSet::new();
        let (mut hand_written, mut of_manifests) = (false, false);
        for crd in self.crds.iter().flat_map(|it| &it.objects) {
            let name = name(crd);
            let Some(there) = found.get(name) else {
                lines.insert(format!("missing: {name}"));
                continue;
            };
            for it in there.iter().filter(|it| it.crd != *crd) {
                let (at, committed, declared) = yaml::difference(&it.crd, crd);
                let (folder, path) = (&self.shown_in, &it.path);
                lines.insert(format!(
                    "stale: {name} in {folder}{path}: at `{at}`, {committed} is committed, and {declared} is declared"
                ));
                hand_written |= !it.ours;
                of_manifests |= it.of_manifests;
            }
        }
        for (name, it) in found.iter().flat_map(|(name, all)| all.iter().map(move |it| (name, it)))
        {
            if self.is_left_over(name, it) {
                let (folder, path) = (&self.shown_in, &it.path);
                lines.insert(format!("left over: {name} in {folder}{path}: no kind declares it"));
                hand_written |= !it.ours;
                of_manifests |= it.of_manifests;
            }
        }
        if lines.is_empty() {
            return Ok(());
        }
        let list: String = lines.iter().map(|it| format!("\n  {it}")).collect();
        let error = Err(anyhow::format_err!("the committed CRDs are out of date:{list}"));
        if of_manifests {
            return error.hint("`operator-rs manifests` generates these files: run it");
        }
        match hand_written {
            false => error.hint("run the command without `--check`"),
            true => error.hint(
                "replace the content of these files by the output of `operator-rs generate crds`; or delete them, and run the command without `--check`",
            ),
        }
    }

    /// Whether a CRD is one of this workspace's, and no kind declares it any more: this command has written it, or
    /// its group is one of ours.
    fn is_left_over(&self, name: &str, it: &Found) -> bool {
        let mut declared = self.crds.iter().flat_map(|it| &it.objects);
        let group = |it: &Value| it["spec"]["group"].clone();
        let is_ours = it.ours || declared.clone().any(|crd| group(crd) == group(&it.crd));
        self.whole && is_ours && declared.all(|crd| self::name(crd) != name)
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
                documents.with_context(|| format!("reading {}{path}", self.shown_in))?;
            let ours = [FOLDER, FILE].iter().any(|by| plan::is_ours(&path, &text, by));
            let of_manifests = plan::is_generated_by(&path, &text, MANIFESTS);
            let objects = documents.into_iter().flat_map(objects);
            for crd in objects.filter(|it| it["kind"] == "CustomResourceDefinition") {
                let name = name(&crd).to_owned();
                res.entry(name).or_default().push(Found {
                    path: path.clone(),
                    crd,
                    ours,
                    of_manifests,
                });
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

/// The objects of a document: itself, or those in a list.
fn objects(document: Value) -> Vec<Value> {
    match document {
        Value::Array(all) => all,
        Value::Object(mut list) if list.get("kind").is_some_and(|it| it == "List") => {
            match list.remove("items") {
                Some(Value::Array(all)) => all,
                _ => Vec::new(),
            }
        }
        one => vec![one],
    }
}

fn name(crd: &Value) -> &str {
    crd["metadata"]["name"].as_str().unwrap_or_default()
}
