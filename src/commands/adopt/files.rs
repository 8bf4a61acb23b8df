//! The files of a repository that concern an operator: its CRDs, the manifests that deploy it, its charts.

use std::collections::{BTreeMap, BTreeSet};

use crate::{disk::Root, manifests, project::DeclaredKind};
use go_data::yaml::{self, Value};
use model::{ProjectPath, Tree as _};

/// The files that were found in a repository.
#[derive(Default)]
pub struct RepositoryFiles {
    /// The folders with CRDs of declared kinds.
    pub crds: BTreeMap<ProjectPath, CrdFolder>,
    /// Charts with a workload, that are in no other chart.
    pub charts: Vec<ProjectPath>,
    /// The groups of the CRDs.
    groups: BTreeSet<String>,
    /// The groups and kinds of the CRDs.
    defined: BTreeSet<(String, String)>,
    kustomizations: Vec<ProjectPath>,
    /// Files with objects of the declared kinds, by the groups of these.
    samples: Vec<(String, ProjectPath)>,
    /// Folders with a ClusterServiceVersion.
    bundles: BTreeSet<ProjectPath>,
    /// Folders with a workload in a plain file.
    workloads: BTreeSet<ProjectPath>,
}

/// The files with CRDs in a folder.
#[derive(Clone, Copy, Default)]
pub struct CrdFolder {
    /// True if a file has the name that `generate crds` gives it.
    is_named_as_ours: bool,
    /// True if a file also has other objects, which `manifests` does not write.
    has_others: bool,
}

/// Folders that never have sources.
const SKIPPED: [&str; 4] = ["target", "node_modules", "vendor", "testdata"];
/// Folders whose manifests do not deploy the operator.
const OF_OTHERS: [&str; 7] = ["test", "tests", "e2e", "example", "examples", "fake", "fixtures"];
/// The maximal depth of folders that are searched.
const DEEPEST: usize = 8;

const KUSTOMIZATIONS: [&str; 3] = ["kustomization.yaml", "kustomization.yml", "Kustomization"];

impl RepositoryFiles {
    /// Looks through the repository, but for hidden folders and those of build tools. A file that is no YAML, as a template
    /// of a chart is not, has no CRD.
    pub fn scan_repository(root: &Root, kinds: &[DeclaredKind]) -> anyhow::Result<Self> {
        let mut files = Self::default();
        files.scan_folder(root, kinds, "", false)?;
        Ok(files)
    }

    fn scan_folder(
        &mut self,
        root: &Root,
        kinds: &[DeclaredKind],
        folder: &str,
        mut in_chart: bool,
    ) -> anyhow::Result<()> {
        let names = root.list_names(folder)?;
        let at = |name: &str| match folder {
            "" => name.parse::<ProjectPath>(),
            folder => format!("{folder}/{name}").parse(),
        };
        let here = folder.parse::<ProjectPath>().ok();
        let has = |name: &str| names.iter().any(|entry| entry == name);
        if let Some(here) = here.as_ref().filter(|_| has("Chart.yaml") && !in_chart) {
            in_chart = true;
            if has_workload(root, &here.join("templates")?)? {
                self.charts.push(here.clone());
            }
        }
        let is_kustomization = KUSTOMIZATIONS.iter().any(|file_name| has(file_name));
        if let Some(here) = here.as_ref().filter(|_| is_kustomization) {
            self.kustomizations.push(here.clone());
        }
        for name in &names {
            let Ok(path) = at(name.trim_end_matches('/')) else { continue };
            if let Some(name) = name.strip_suffix('/') {
                let is_skipped = name.starts_with('.') || SKIPPED.contains(&name);
                if !is_skipped && path.as_str().matches('/').count() < DEEPEST {
                    self.scan_folder(root, kinds, path.as_str(), in_chart)?;
                }
            } else if let (true, Some(here)) = (is_yaml(name), &here)
                && let Ok(Some(text)) = root.read_text(&path)
            {
                self.add_crds_of(&text, kinds, here, name);
                if let Some(group) = group_of_object(&text, kinds) {
                    self.samples.push((group, path.clone()));
                }
                if text.lines().any(|line| line.trim_end() == "kind: ClusterServiceVersion") {
                    self.bundles.insert(here.clone());
                }
                if !(in_chart || is_kustomization || is_of_others(here)) && is_workload(&text) {
                    self.workloads.insert(here.clone());
                }
            }
        }
        Ok(())
    }

    fn add_crds_of(
        &mut self,
        text: &str,
        kinds: &[DeclaredKind],
        folder: &ProjectPath,
        name: &str,
    ) {
        if !text.contains("CustomResourceDefinition") {
            return;
        }
        let Ok(documents) = yaml::parse_documents(text, yaml::Dialect::Kubernetes) else { return };
        let is_declared = |crd: &Value| {
            let (group, kind) =
                (crd["spec"]["group"].as_str(), crd["spec"]["names"]["kind"].as_str());
            let is_it = |declared: &DeclaredKind| {
                declared.group.as_deref() == group && declared.kind.as_deref() == kind
            };
            crd["kind"] == "CustomResourceDefinition" && group.is_some() && kinds.iter().any(is_it)
        };
        let (crds, others): (Vec<_>, Vec<_>) =
            documents.iter().partition(|document| is_declared(document));
        for crd in &crds {
            let word = |field: &Value| field.as_str().unwrap_or_default().to_owned();
            self.groups.insert(word(&crd["spec"]["group"]));
            let kind = word(&crd["spec"]["names"]["kind"]);
            self.defined.insert((word(&crd["spec"]["group"]), kind));
            let ours = manifests::crd_path(
                &word(&crd["spec"]["group"]),
                &word(&crd["spec"]["names"]["plural"]),
            );
            let found = self.crds.entry(folder.clone()).or_default();
            found.is_named_as_ours |= ours.name() == name && documents.len() == 1;
            found.has_others |= !others.is_empty();
        }
    }

    /// The files directly in these manifests that have objects of the operator's own kinds. A kustomization names its files.
    pub fn samples_in(&self, manifests: &ProjectPath) -> Vec<&ProjectPath> {
        let is_plain = !self.kustomizations.contains(manifests);
        let is_own = |group: &String| self.groups.is_empty() || self.groups.contains(group);
        let is_in = |sample: &&ProjectPath| {
            is_plain
                && sample
                    .as_str()
                    .rsplit_once('/')
                    .is_some_and(|parts| parts.0 == manifests.as_str())
        };
        self.samples
            .iter()
            .filter(|sample| is_own(&sample.0))
            .map(|sample| &sample.1)
            .filter(is_in)
            .collect()
    }

    /// The folders that `manifests` may write CRDs to: those whose files have the names that `generate crds` gives them,
    /// else the only one. A bundle is written by `bundle`.
    pub fn crd_folders(&self) -> Vec<ProjectPath> {
        let ours: Vec<_> = self
            .crds
            .iter()
            .filter(|entry| entry.1.is_named_as_ours)
            .map(|entry| entry.0.clone())
            .collect();
        let usual = self.plain_crds();
        match (ours.is_empty(), usual.len()) {
            (true, 1) => usual,
            _ => ours,
        }
    }

    /// The folders whose files have nothing but CRDs, without bundles, examples and tests.
    pub fn plain_crds(&self) -> Vec<ProjectPath> {
        let is_plain = |entry: &(&ProjectPath, &CrdFolder)| {
            !entry.1.has_others && !is_of_others(entry.0) && !self.bundles.contains(entry.0)
        };
        self.crds.iter().filter(is_plain).map(|entry| entry.0.clone()).collect()
    }

    /// Returns whether a file here has the CRD of a kind.
    pub fn has_crd(&self, kind: &DeclaredKind) -> bool {
        kind.group
            .as_ref()
            .zip(kind.kind.as_ref())
            .is_some_and(|(group, kind)| self.defined.contains(&(group.clone(), kind.clone())))
    }

    /// The manifests that may deploy the operator: config/default; else kustomizations with a workload that no other one
    /// takes in; else folders with one.
    pub fn find_manifests(&self, root: &Root) -> anyhow::Result<Vec<ProjectPath>> {
        let usual = ProjectPath::fixed("config/default");
        if self.kustomizations.contains(&usual) {
            return Ok(vec![usual]);
        }
        let mut found = Vec::new();
        let mut taken_in = BTreeSet::new();
        for folder in &self.kustomizations {
            // One that needs what is not here, such as a remote base, deploys nothing by itself.
            let Ok(objects) = kustomize::build_with_origins(root, folder, &[]) else { continue };
            taken_in.extend(objects.iter().map(|object| (folder.clone(), object.origin.clone())));
            if objects.iter().any(|object| is_workload_kind(&object.value["kind"])) {
                found.push(folder.clone());
            }
        }
        let parts = |of: &ProjectPath| {
            taken_in
                .iter()
                .filter(move |entry| entry.0 == *of)
                .map(|entry| entry.1.clone())
                .collect::<BTreeSet<_>>()
        };
        let all = found.clone();
        found.retain(|folder| {
            let own = parts(folder);
            let is_part = |other: &&ProjectPath| *other != folder && parts(other).is_superset(&own);
            !all.iter().any(|other| is_part(&other) && parts(other).len() > own.len())
        });
        if found.is_empty() { Ok(self.workloads.iter().cloned().collect()) } else { Ok(found) }
    }
}

fn is_of_others(folder: &ProjectPath) -> bool {
    folder.as_str().split('/').any(|name| OF_OTHERS.contains(&name))
}

fn is_yaml(name: &str) -> bool {
    [".yaml", ".yml", ".json"].iter().any(|extension| name.ends_with(extension))
}

/// The group of the first object in a file that is of one of these kinds.
fn group_of_object(text: &str, kinds: &[DeclaredKind]) -> Option<String> {
    let of_group = |kind: &&DeclaredKind| {
        kind.group.as_ref().is_some_and(|group| text.contains(group.as_str()))
    };
    let kinds: Vec<&DeclaredKind> = kinds.iter().filter(of_group).collect();
    if kinds.is_empty() {
        return None;
    }
    let documents = yaml::parse_documents(text, yaml::Dialect::Kubernetes).ok()?;
    documents.iter().find_map(|object| {
        let group = object["apiVersion"]
            .as_str()
            .and_then(|api_version| api_version.split_once('/'))
            .map(|parts| parts.0);
        let kind = object["kind"].as_str();
        let is_it = |declared: &&DeclaredKind| {
            declared.group.as_deref() == group && declared.kind.as_deref() == kind
        };
        kinds.iter().copied().any(|declared| is_it(&declared)).then(|| group.map(str::to_owned))?
    })
}

fn is_workload_kind(kind: &Value) -> bool {
    ["Deployment", "StatefulSet", "DaemonSet"].iter().any(|workload| kind == workload)
}

/// Returns whether a manifest, or a template of one, describes a workload.
fn is_workload(text: &str) -> bool {
    ["Deployment", "StatefulSet", "DaemonSet"]
        .iter()
        .any(|workload| text.lines().any(|line| line.trim_end() == format!("kind: {workload}")))
}

fn has_workload(root: &Root, folder: &ProjectPath) -> anyhow::Result<bool> {
    for path in root.list_files(folder)? {
        if is_yaml(path.name())
            && root.read_text(&path).is_ok_and(|text| text.is_some_and(|text| is_workload(&text)))
        {
            return Ok(true);
        }
    }
    Ok(false)
}
