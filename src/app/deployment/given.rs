//! Manifests that a command is given, in place of those in config/.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::{Path, PathBuf},
};

use super::manifest_files::{ManifestLocation, objects_with_files, parsed, shown};
use crate::app::{charts::ChartRelease, config::namespaces};
use crate::{
    disk::{self, Root},
    project::Project,
    terminal,
};
use anyhow::Context as _;
use cluster::Id;
use diagnostics::{Diagnostic, Hint as _};
use go_data::yaml::{self, Value};
use model::{Deadline, FileContent, Image, Namespace, ProjectPath, Tree, display_path};

/// Location of the operator's manifests
#[derive(Clone, Debug, Default, clap::Args)]
pub struct ManifestsArg {
    /// Manifests of the operator: a kustomization, a directory of YAML files, a chart, a file, or `-` for stdin
    /// [default: those that PROJECT names, else config/]
    #[arg(long, value_name = "DIR|FILE", allow_hyphen_values = true)]
    pub manifests: Option<PathBuf>,
}

/// Manifests, and how a message names them.
pub struct GivenManifests {
    pub name: String,
    pub objects: Vec<Value>,
    /// The files that have the objects, by their kinds and names; none of what Helm has rendered.
    files: BTreeMap<(String, String), String>,
    /// True if Helm has rendered them, for the namespace that was given.
    is_release: bool,
}

/// The manifests to read in place of config/, and the deadline for reading them.
#[derive(Clone, Copy, Default)]
pub struct ManifestsRequest<'a> {
    manifests: Option<&'a Path>,
    deadline: Option<Deadline>,
}

impl ManifestsArg {
    /// Returns the manifests of a command with this deadline, if it has one.
    pub fn until(&self, deadline: impl Into<Option<Deadline>>) -> ManifestsRequest<'_> {
        ManifestsRequest { manifests: self.manifests.as_deref(), deadline: deadline.into() }
    }

    /// Returns whether the objects are of the chart that PROJECT names, which `helm` renders.
    pub fn is_recorded_chart(&self, project: &Project) -> bool {
        let inputs = &project.inputs;
        let is_recorded = inputs.chart.is_some() && inputs.manifests.is_none();
        self.manifests.is_none() && project.is_adopted() && is_recorded
    }
}

impl ManifestsRequest<'_> {
    /// Returns the objects of the flag, or else of what PROJECT names: manifests, or the chart of an operator in place.
    pub fn of(
        self,
        root: &Root,
        project: &Project,
        namespace: Option<&Namespace>,
    ) -> anyhow::Result<Option<GivenManifests>> {
        let chart = project.inputs.chart.as_ref().filter(|_| project.is_adopted());
        let recorded = project.inputs.manifests.as_ref().or(chart);
        match recorded.filter(|_| self.manifests.is_none()) {
            None => self.read(root, namespace),
            Some(recorded) => {
                let path = root.resolved_path().join(recorded.as_str());
                self.read_from(root, ManifestLocation::Recorded(&path), namespace).map(Some)
            }
        }
    }

    /// Returns the objects, with those in lists; none if the flag was not given. A kustomization is rendered, and a
    /// chart is for this namespace. Hooks of Helm are left out with a warning.
    pub fn read(
        self,
        root: &Root,
        namespace: Option<&Namespace>,
    ) -> anyhow::Result<Option<GivenManifests>> {
        let location = self.manifests.map(|path| ManifestLocation::Named(path, self.deadline));
        location.map(|location| self.read_from(root, location, namespace)).transpose()
    }

    fn read_from(
        self,
        root: &Root,
        location: ManifestLocation<'_>,
        namespace: Option<&Namespace>,
    ) -> anyhow::Result<GivenManifests> {
        let path = location.path();
        let name = if location.is_stdin() { "stdin".to_owned() } else { shown(root, path) };
        let release = ChartRelease::of(root, path, namespace);
        let mut files = BTreeMap::new();
        let objects = match &release {
            Some(release) => {
                let rendered = release.render(self.deadline)?;
                let mut objects = parsed(&format!("helm template {name}"), &rendered)?;
                release.place(&mut objects);
                objects
            }
            None => {
                let located = objects_with_files(root, location)?;
                files.extend(located.iter().map(|(file, object)| (key(object), file.clone())));
                if !location.is_stdin() {
                    warn_of_subdirectories(root, path)?;
                }
                located.into_iter().map(|pair| pair.1).collect()
            }
        };
        if objects.is_empty() {
            return Err(anyhow::format_err!("`{name}` has no manifests"))
                .hint("name a kustomization, a chart or YAML files");
        }
        let (hooks, objects): (Vec<_>, Vec<_>) = objects.into_iter().partition(is_hook);
        warn_of_hooks(&hooks);
        Ok(GivenManifests { name, objects, files, is_release: release.is_some() })
    }
}

/// Returns the kind and the name of an object, which stay if its namespace is set.
pub fn key(object: &Value) -> (String, String) {
    let Id { kind, name, .. } = Id::of(object);
    (kind, name)
}

/// Names the directories below one of YAML files that have manifests, too: they are not read.
fn warn_of_subdirectories(root: &Root, path: &Path) -> anyhow::Result<()> {
    if !path.is_dir() || has_kustomization(path)? {
        return Ok(());
    }
    let real = disk::resolve_folder(path)?;
    let mut unread = Vec::new();
    find_manifests_below(&real, 0, &mut unread)?;
    if unread.is_empty() {
        return Ok(());
    }
    let given = shown(root, path);
    let inside = |folder: &PathBuf| display_path(folder.strip_prefix(&real).unwrap_or(folder));
    let list: Vec<String> = unread.iter().map(inside).collect();
    terminal::warn(
        Diagnostic::from(format!(
            "`{given}` is read without its subdirectories, and these have manifests: {}",
            list.join(", ")
        ))
        .with_hint("name all of them as `resources` of a kustomization.yaml there, or give another directory or file: `--manifests DIR|FILE`"),
    );
    Ok(())
}

fn has_kustomization(folder: &Path) -> anyhow::Result<bool> {
    let names = disk::list_names(folder)?;
    Ok(["kustomization.yaml", "kustomization.yml", "Kustomization"]
        .iter()
        .any(|kustomization| names.iter().any(|name| name == kustomization)))
}

/// Returns whether an object may be a part of an operator that nothing else provides: the source has its CRDs, and
/// custom resources are samples.
fn is_part(object: &Value) -> bool {
    let id = Id::of(object);
    let is_of_kubernetes = !id.group().contains('.') || id.group().ends_with(".k8s.io");
    is_of_kubernetes && !id.is_crd()
}

/// How many levels of directories are searched for manifests that the command does not read, to point them out.
const DEEPEST: usize = 4;

/// The directories below this one with a file that has a manifest.
fn find_manifests_below(
    folder: &Path,
    depth: usize,
    found: &mut Vec<PathBuf>,
) -> anyhow::Result<()> {
    for name in disk::list_names(folder)? {
        let Some(name) = name.strip_suffix('/').filter(|name| !name.starts_with('.')) else {
            continue;
        };
        let inner = folder.join(name);
        let is_manifest = |name: &String| {
            [".yaml", ".yml", ".json"].iter().any(|end| name.ends_with(end))
                && disk::read_text(&inner.join(name))
                    .is_ok_and(|text| parsed(name, &text).is_ok_and(|all| all.iter().any(is_part)))
        };
        if disk::list_names(&inner)?.iter().any(is_manifest) {
            found.push(inner.clone());
        }
        if depth < DEEPEST {
            find_manifests_below(&inner, depth + 1, found)?;
        }
    }
    Ok(())
}

/// Returns whether only Helm creates this object, at some step of an installation or a test.
fn is_hook(object: &Value) -> bool {
    !object["metadata"]["annotations"]["helm.sh/hook"].is_null()
}

fn warn_of_hooks(hooks: &[Value]) {
    for it in hooks {
        let (kind, name) = (&it["kind"], &it["metadata"]["name"]);
        let (kind, name) = (kind.as_str().unwrap_or_default(), name.as_str().unwrap_or_default());
        let note = format!("{kind} {name} is a hook, which Helm alone creates: it is left out");
        terminal::warn(Diagnostic::from(note).into_note());
    }
}

impl GivenManifests {
    /// Returns the file that has a CRD, or what all manifests are named.
    pub fn file_of(&self, crd: &Value) -> &str {
        self.files.get(&key(crd)).unwrap_or(&self.name)
    }

    /// Returns the files that have the objects, by their kinds and names.
    pub fn files(&self) -> BTreeMap<(String, String), String> {
        self.files.clone()
    }

    /// With another image for the operator, and in another namespace, as kustomize sets both. If no namespace is given,
    /// objects that name none are in the one where the bindings of their accounts look for them.
    pub fn with(
        mut self,
        image: Option<&Image>,
        namespace: Option<&Namespace>,
    ) -> anyhow::Result<Vec<Value>> {
        let namespace = namespace.filter(|_| !self.is_release);
        if !self.is_release
            && namespace.is_none()
            && let Some(expected) = namespaces::of_accounts(&self.objects)?
        {
            namespaces::place(&mut self.objects, &expected);
        }
        if image.is_none() && namespace.is_none() {
            return Ok(self.objects);
        }
        let replaced = |image: &Image| {
            anyhow::Ok(kustomize::Image { name: self.image_to_replace()?, image: image.clone() })
        };
        let images: Vec<_> = image.map(replaced).transpose()?.into_iter().collect();
        let namespace = namespace.map(ToString::to_string);
        let top = ProjectPath::fixed(ALONE);
        kustomize::build_in(&self, &top, &images, namespace.as_deref())
            .with_context(|| format!("reading {}", self.name))
    }

    /// Returns the image of the only container that runs, without its tag and digest.
    fn image_to_replace(&self) -> anyhow::Result<String> {
        let workloads = self.objects.iter().filter(|object| {
            ["Deployment", "StatefulSet", "DaemonSet"].iter().any(|kind| object["kind"] == *kind)
        });
        let containers = |object: &Value| object["spec"]["template"]["spec"]["containers"].clone();
        let images: BTreeSet<String> = workloads
            .flat_map(|workload| containers(workload).as_array().cloned().unwrap_or_default())
            .filter_map(|container| {
                container["image"].as_str().map(|text| name_of(text).to_owned())
            })
            .collect();
        match images.into_iter().collect::<Vec<_>>().as_slice() {
            [one] => Ok(one.clone()),
            [] => Err(anyhow::format_err!("`{}` has no container for `--image`", self.name))
                .hint("give manifests with the operator's Deployment"),
            several => Err(anyhow::format_err!(
                "`{}` has several images, and `--image` replaces one: {}",
                self.name,
                several.join(", ")
            ))
            .hint("leave out `--image`, and set the operator's image in the manifests"),
        }
    }
}

/// Returns an image without its tag and digest.
fn name_of(image: &str) -> &str {
    let image = image.split('@').next().unwrap_or(image);
    match image.rsplit_once(':') {
        Some((name, tag)) if !tag.contains('/') => name,
        _ => image,
    }
}

/// The folder of a kustomization that has nothing but the manifests.
const ALONE: &str = "all";

impl Tree for GivenManifests {
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
        Ok(match path.as_str() {
            "all/kustomization.yaml" => FileContent::Text("resources: [objects.yaml]\n".to_owned()),
            "all/objects.yaml" => {
                let texts: Vec<String> = self.objects.iter().map(yaml::to_text).collect();
                FileContent::Text(texts.join("---\n"))
            }
            ALONE => FileContent::Other("a directory".to_owned()),
            _ => FileContent::Nothing,
        })
    }

    fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        self.list_names(folder.as_str())?.iter().map(|name| Ok(folder.join(name)?)).collect()
    }

    fn list_names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        let names: &[&str] =
            if folder == ALONE { &["kustomization.yaml", "objects.yaml"] } else { &[] };
        Ok(names.iter().map(|name| (*name).to_owned()).collect())
    }
}
