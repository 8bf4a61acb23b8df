//! The objects that go to a cluster: those of config/, as the source defines them now, whether or not the manifests have
//! been brought up to date; or those of the manifests that a command or PROJECT names.

use super::{
    carried,
    given::{self, key},
};
use crate::app::{
    cargo::Workspace,
    charts,
    config::{references, roles},
    crds::declared,
    generation::derive::{self, GenerateOptions},
};
use crate::project::{CRD_CONFIG, DEFAULT_CONFIG, Project};
use crate::{disk::Root, plan::WorkTree, terminal};
use cluster::Id;
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::{Image, Namespace, ProjectPath};

/// Returns the project with what the source calls for and is not on disk yet. A generated file that was edited by hand
/// is refused as `manifests` refuses it, for neither the edit nor its loss would be seen.
pub fn derived<'a>(root: &'a Root, project: &Project) -> anyhow::Result<WorkTree<'a>> {
    let mut tree = WorkTree::new(root, false);
    derive::source(&mut tree, project, &GenerateOptions::default())?;
    tree.writable_changes()?;
    Ok(tree)
}

/// The changes that are made to what is rendered.
#[derive(Clone, Copy, Default)]
pub struct RenderChanges<'a> {
    /// In place of the manager's.
    pub image: Option<&'a Image>,
    pub namespace: Option<&'a Namespace>,
}

/// The purpose of the objects. To delete them, their names suffice.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum RenderPurpose {
    Apply,
    Delete,
}

/// Returns all objects to deploy, with the CRDs. Those of an operator in place are never applied as the source does not
/// declare them.
pub fn everything(
    root: &Root,
    project: &Project,
    given: given::ManifestsRequest<'_>,
    purpose: RenderPurpose,
    changes: RenderChanges<'_>,
) -> anyhow::Result<Vec<Value>> {
    let RenderChanges { image, namespace } = changes;
    let Some(manifests) = given.of(root, project, namespace)? else {
        if project.is_adopted() {
            return Err(anyhow::format_err!("PROJECT does not say which manifests deploy the operator"))
                .hint("give them or a chart: `--manifests DIR|FILE`, or record them in PROJECT as `manifests` or `chart` of `plugins.rust.operator-rs.io/v1`");
        }
        let tree = derived(root, project)?;
        let objects = build_kustomization(&tree, DEFAULT_CONFIG, changes)?;
        if purpose == RenderPurpose::Apply {
            warn_of_rights(&tree);
            terminal::warn_all(references::warnings(&objects, |_| None));
        }
        return Ok(objects);
    };
    charts::require_namespace(&manifests.objects, "give it: `--namespace NAME`")?;
    let crds = match purpose {
        RenderPurpose::Apply if project.is_adopted() => {
            carried::crds(&Workspace::find(root.resolved_path(), None)?, None, &manifests)?
        }
        _ if manifests.objects.iter().any(|object| Id::of(object).is_crd()) => Vec::new(),
        _ => own_crds(root, project)?,
    };
    let files = manifests.files();
    let mut objects = manifests.with(image, namespace)?;
    let is_there = |crd: &Value| objects.iter().any(|object| Id::of(object) == Id::of(crd));
    let missing: Vec<Value> = crds.into_iter().filter(|crd| !is_there(crd)).collect();
    objects.splice(0..0, missing);
    if purpose == RenderPurpose::Apply {
        let file_of = |object: &Value| files.get(&key(object)).map(String::as_str);
        terminal::warn_all(references::warnings(&objects, file_of));
    }
    Ok(objects)
}

/// Returns the CRDs, to be applied.
pub fn crds(
    root: &Root,
    project: &Project,
    given: given::ManifestsRequest<'_>,
) -> anyhow::Result<Vec<Value>> {
    let manifests = if project.is_adopted() { given.of(root, project, None)? } else { None };
    let crds = match manifests {
        Some(manifests) => {
            carried::crds(&Workspace::find(root.resolved_path(), None)?, None, &manifests)?
        }
        None => crds_to_remove(root, project, given)?,
    };
    charts::require_namespace(
        &crds,
        "`operator-rs deploy --namespace NAME` applies the CRDs as well; or render the chart for a namespace: `helm template … | operator-rs … --manifests -`",
    )?;
    Ok(crds)
}

/// Returns the CRDs: those of the manifests if they have any, as only these know how a cluster reaches a webhook that
/// converts. Those of a chart may name no real namespace there.
pub fn crds_to_remove(
    root: &Root,
    project: &Project,
    given: given::ManifestsRequest<'_>,
) -> anyhow::Result<Vec<Value>> {
    if let Some(manifests) = given.of(root, project, None)? {
        let crds = only_crds(manifests.objects);
        if !crds.is_empty() {
            return Ok(crds);
        }
    }
    let mut crds = own_crds(root, project)?;
    // The name of the Service that converts is known only with the prefix and the namespace of the whole.
    if !project.is_adopted()
        && crds.iter().any(|crd| crd["spec"]["conversion"]["strategy"] == "Webhook")
    {
        let deployed =
            only_crds(render_folder(root, project, DEFAULT_CONFIG, RenderChanges::default())?);
        for crd in &mut crds {
            if let Some(it) = deployed.iter().find(|object| Id::of(object) == Id::of(crd)) {
                crd.clone_from(it);
            }
        }
    }
    Ok(crds)
}

fn only_crds(mut objects: Vec<Value>) -> Vec<Value> {
    objects.retain(|object| Id::of(object).is_crd());
    objects
}

/// Returns the CRDs that the project's source declares.
fn own_crds(root: &Root, project: &Project) -> anyhow::Result<Vec<Value>> {
    if project.is_adopted() {
        let workspace = Workspace::find(root.resolved_path(), None)?;
        return declared::crds(&workspace, None);
    }
    let mut crds = render_folder(root, project, CRD_CONFIG, RenderChanges::default())?;
    crds.retain(|object| Id::of(object).is_crd());
    Ok(crds)
}

/// Warns of rights that comments ask for and that the operator will not have.
fn warn_of_rights(tree: &WorkTree<'_>) {
    let warnings = tree.changes().warnings;
    terminal::warn_all(
        warnings.into_iter().filter(|warning| warning.code == Some(roles::NOT_HELD)),
    );
}

/// Returns the objects of a kustomization of config/.
fn render_folder(
    root: &Root,
    project: &Project,
    folder: &'static str,
    changes: RenderChanges<'_>,
) -> anyhow::Result<Vec<Value>> {
    build_kustomization(&derived(root, project)?, folder, changes)
}

fn build_kustomization(
    tree: &WorkTree<'_>,
    folder: &'static str,
    changes: RenderChanges<'_>,
) -> anyhow::Result<Vec<Value>> {
    let images: Vec<_> = changes.image.into_iter().map(kustomize::Image::of_manager).collect();
    let namespace = changes.namespace.map(ToString::to_string);
    kustomize::build_in(tree, &ProjectPath::fixed(folder), &images, namespace.as_deref())
}

/// The objects of a kustomization, and the same with other names.
pub struct RenamedObjects {
    /// The prefix and the namespace of the project.
    pub names: kustomize::Names,
    pub plain: Vec<Value>,
    pub renamed: Vec<Value>,
}

/// Returns all objects to deploy, as they are and with other names. None if config/default gives them no prefix and
/// namespace.
pub fn renamed(
    root: &Root,
    project: &Project,
    image: Option<&Image>,
    names: &kustomize::Names,
) -> anyhow::Result<Option<RenamedObjects>> {
    let tree = derived(root, project)?;
    warn_of_rights(&tree);
    let folder = ProjectPath::fixed(DEFAULT_CONFIG);
    let images: Vec<_> = image.into_iter().map(kustomize::Image::of_manager).collect();
    let Some(own) = kustomize::read_names(&tree, &folder)? else { return Ok(None) };
    let plain = kustomize::build(&tree, &folder, &images)?;
    let renamed = kustomize::build_with_names(&tree, &folder, &images, names)?;
    Ok(Some(RenamedObjects { names: own, plain, renamed }))
}
