//! The objects of config/ that go to a cluster, as the source defines them now, whether or not the manifests have been
//! brought up to date.

use super::derive::{self, GenerateOptions};
use crate::project::Project;
use crate::{disk::Root, plan::WorkTree};
use go_data::yaml::Value;
use model::{Image, Namespace, ProjectPath};

/// All objects to deploy.
pub const EVERYTHING: &str = "config/default";
/// The CRDs alone.
pub const CRDS: &str = "config/crd";

/// The project with what the source calls for and is not on disk yet. A generated file that was edited by hand is refused
/// as `manifests` refuses it, for neither the edit nor its loss would be seen.
pub fn derived<'a>(root: &'a Root, project: &Project) -> anyhow::Result<WorkTree<'a>> {
    let mut tree = WorkTree::new(root, false);
    derive::source(&mut tree, project, &GenerateOptions::default())?;
    tree.writable()?;
    Ok(tree)
}

/// The objects of a kustomization, with another image for the manager and in another namespace where
/// these are given.
pub fn objects(
    root: &Root,
    project: &Project,
    folder: &'static str,
    image: Option<&Image>,
    namespace: Option<&Namespace>,
) -> anyhow::Result<Vec<Value>> {
    let tree = derived(root, project)?;
    let images: Vec<_> = image.into_iter().map(kustomize::Image::of_manager).collect();
    let namespace = namespace.map(ToString::to_string);
    kustomize::build_in(&tree, &ProjectPath::fixed(folder), &images, namespace.as_deref())
}

/// What a kustomization renders, and the same with other names.
pub struct Renamed {
    /// The prefix and the namespace of the project.
    pub names: kustomize::Names,
    pub plain: Vec<Value>,
    pub renamed: Vec<Value>,
}

/// All objects to deploy, as they are and with other names. None if config/default gives them no prefix and namespace.
pub fn renamed(
    root: &Root,
    project: &Project,
    image: Option<&Image>,
    names: &kustomize::Names,
) -> anyhow::Result<Option<Renamed>> {
    let tree = derived(root, project)?;
    let folder = ProjectPath::fixed(EVERYTHING);
    let images: Vec<_> = image.into_iter().map(kustomize::Image::of_manager).collect();
    let Some(own) = kustomize::names(&tree, &folder)? else { return Ok(None) };
    let plain = kustomize::build(&tree, &folder, &images)?;
    let renamed = kustomize::build_with_names(&tree, &folder, &images, names)?;
    Ok(Some(Renamed { names: own, plain, renamed }))
}
