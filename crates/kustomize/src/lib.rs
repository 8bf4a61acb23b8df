//! Renders a kustomization tree to Kubernetes objects: those that `kustomize build` 5.8.1 prints, equal as data and in
//! the same order.
//!
//! It supports the fields that trees without plugins use, and refuses any other field by name. It reads only through
//! a [`Tree`]: no disk, no network, no plugins.
//!
//! ```text
//! load        a kustomization.yaml → Kustomization, or the fields in it that are not known
//! resources   files and folders → Objects           generators  literals and files → Objects
//! patches (merge, kinds, json_patch, selector) → namespace → names → labels → late patches → replicas → images
//!             → replacements; config lists the fields that they change
//! references  once at the end: references to an object by its old name get the new one
//! order       as kustomize sorts by default
//! ```
//!
//! It refuses, although kustomize renders it:
//! - fields that need a network, a program or a plugin: remote resources, Helm charts, `generators`, `transformers`,
//!   `validators`;
//! - `crds`, `openapi`, `buildMetadata`: rare, and of no use to an operator; `vars`: `replacements` have replaced them;
//! - cases that kustomize gets wrong: directives in lists that do not exist, `$patch: replace` in items and of whole
//!   objects, numbers beyond 2^53 in an object with a JSON patch, operations without a value, a number that replaces a
//!   string in a merge if only kustomize's printer knows whether that string is quoted, configurations that make it
//!   forget a field;
//! - times without quotes in patches, whose spelling kustomize may change, depending on the text around them;
//! - additions to objects beyond the limits of `budget`;
//! - resources in folders behind a symlink, keys in another case (`nameprefix`);
//! - typing errors that it ignores: fields of an operation that it does not know, an unknown `behavior`,
//!   a second document of a JSON patch or a configuration;
//! - replacements inside of a string that is JSON or YAML itself.

mod accumulate;
mod budget;
#[cfg(test)]
mod budget_tests;
mod config;
mod fields;
mod generators;
mod id;
mod images;
mod json_patch;
mod kinds;
mod kustomization;
mod labels;
mod load;
mod merge;
mod named_files;
mod named_paths;
mod names;
mod namespace;
mod object;
mod objects;
mod order;
mod origin;
mod part;
mod patches;
mod path;
mod pattern;
mod references;
mod replacements;
mod replicas;
mod resources;
mod selector;
mod share;

use self::{accumulate::build_objects, budget::Budget};
pub use self::{
    images::Image,
    kinds::is_cluster_scoped,
    named_paths::{is_kustomization_name, path_problems},
};
use go_data::yaml::Value;
use model::{ProjectPath, Tree};

/// The hint for everything that is not supported.
const WAY_OUT: &str = "render it with kustomize itself: `kustomize build DIR`; pipe its output to `operator-rs bundle --input -` or `kubectl apply --server-side -f -`";

/// Renders the kustomization in `folder`. Each image replaces the entry with its name in the tree's `images`, as
/// `kustomize edit set image` would. An image without such an entry applies to the whole tree.
pub fn build(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
) -> anyhow::Result<Vec<Value>> {
    build_in(tree, folder, images, None)
}

/// An object that was rendered, and its origin.
pub struct Rendered {
    pub value: Value,
    pub origin: ProjectPath,
    /// The name that it has in that file.
    pub original_name: String,
    /// Its namespace in that file; empty if it names none.
    pub original_namespace: String,
}

/// Builds a folder, and returns each object with the file that it came from.
pub fn build_with_origins(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
) -> anyhow::Result<Vec<Rendered>> {
    build_in_with_origins(tree, folder, images, None)
}

/// Builds a folder in another namespace, if one is given, and returns each object with the file that it came from.
pub fn build_in_with_origins(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
    namespace: Option<&str>,
) -> anyhow::Result<Vec<Rendered>> {
    let rendered = |object: object::Object| {
        let (origin, id) = (object.origin.clone(), object.original_id());
        let (original_name, original_namespace) = (id.name, id.written_namespace);
        Ok(Rendered { value: object.into_printed()?, origin, original_name, original_namespace })
    };
    let budget = Budget::default();
    let mut top = load::load_kustomization(tree, folder, &budget)?;
    if let Some(namespace) = namespace {
        top.namespace = Some(namespace.to_owned());
    }
    build_objects(tree, top, images, budget)?.0.into_iter().map(rendered).collect()
}

/// Builds a folder in another namespace, which `kustomize edit set namespace` would set.
pub fn build_in(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
    namespace: Option<&str>,
) -> anyhow::Result<Vec<Value>> {
    let rendered = build_in_with_origins(tree, folder, images, namespace)?;
    Ok(rendered.into_iter().map(|object| object.value).collect())
}

/// The prefix and the namespace that a kustomization gives to all of its objects.
#[derive(Clone, Debug)]
pub struct Names {
    /// The prefix of their names.
    pub prefix: String,
    pub namespace: String,
}

/// Reads the `namePrefix` and the `namespace` of a kustomization, if it has both.
pub fn read_names(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Option<Names>> {
    let top = load::load_kustomization(tree, folder, &Budget::default())?;
    Ok(top.name_prefix.zip(top.namespace).map(|(prefix, namespace)| Names { prefix, namespace }))
}

/// Builds a folder with another prefix and another namespace, which its references follow.
pub fn build_with_names(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
    names: &Names,
) -> anyhow::Result<Vec<Value>> {
    let budget = Budget::default();
    let mut top = load::load_kustomization(tree, folder, &budget)?;
    top.name_prefix = Some(names.prefix.clone());
    top.namespace = Some(names.namespace.clone());
    let objects = build_objects(tree, top, images, budget)?;
    objects.0.into_iter().map(object::Object::into_printed).collect()
}
