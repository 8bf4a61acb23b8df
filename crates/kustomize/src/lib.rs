//! A kustomization tree in, Kubernetes objects out: what `kustomize build` 5.8.1 prints, equal as data
//! and in the same order.
//!
//! It supports the fields that trees without plugins use, and refuses any other field by name. It reads only through
//! a [`Tree`]: no disk, no network, no plugins.
//!
//! ```text
//! load        a kustomization.yaml → Kustomization, or what in it is not known
//! resources   files and folders → Objects           generators  literals and files → Objects
//! patches (merge, kinds, json_patch, selector) → namespace → names → labels → late patches → replicas → images
//!             → replacements; config says in which fields
//! references  once at the end: who names an object by its old name gets the new one
//! order       as kustomize sorts by default
//! ```
//!
//! Refused, although kustomize renders it:
//! - what needs a network, a program or a plugin: remote resources, Helm charts, `generators`, `transformers`, `validators`;
//! - `crds`, `openapi`, `buildMetadata`: rare, and of no use to an operator; `vars`: `replacements` have replaced them;
//! - what kustomize gets wrong: directives in lists that are not there, `$patch: replace` in items and of whole objects,
//!   numbers beyond 2^53 beside a JSON patch, operations without a value, a number that a merge puts in the place of a
//!   text of which only kustomize's printer knows whether it stands in quotes, configurations that make it forget a field;
//! - times without quotes in patches, which it spells anew or not, as the text around them is written in the end;
//! - more than it is reasonable to add to objects: see `budget`;
//! - resources in folders behind a symlink, keys in another case (`nameprefix`);
//! - typing errors that it passes over: fields of an operation that it does not know, a `behavior` that is none,
//!   a second document of a JSON patch or a configuration;
//! - replacements inside of a text that is JSON or YAML itself.

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
mod labels;
mod load;
mod merge;
mod named_paths;
mod names;
mod namespace;
mod object;
mod objects;
mod order;
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

use std::borrow::Cow;

use anyhow::Context as _;

use self::{
    budget::Budget,
    config::Config,
    load::Kustomization,
    names::Affix,
    objects::{Indexed, Objects},
};
pub use self::{
    images::Image,
    kinds::is_cluster_scoped,
    named_paths::{is_kustomization_name, path_problems},
};
use diagnostics::Hint as _;
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

/// An object that was rendered, and where it came from.
pub struct Rendered {
    pub value: Value,
    pub origin: ProjectPath,
    /// Its name in that file.
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
    let rendered = |it: object::Object| {
        let (origin, id) = (it.origin.clone(), it.original_id());
        let (original_name, original_namespace) = (id.name, id.own_namespace);
        Ok(Rendered { value: it.finish()?, origin, original_name, original_namespace })
    };
    let budget = Budget::default();
    let mut top = load::load(tree, folder, &budget)?;
    if let Some(namespace) = namespace {
        top.namespace = Some(namespace.to_owned());
    }
    objects(tree, top, images, budget)?.0.into_iter().map(rendered).collect()
}

/// Builds a folder in another namespace, which `kustomize edit set namespace` would set.
pub fn build_in(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
    namespace: Option<&str>,
) -> anyhow::Result<Vec<Value>> {
    let rendered = build_in_with_origins(tree, folder, images, namespace)?;
    Ok(rendered.into_iter().map(|it| it.value).collect())
}

/// What a kustomization gives to all of its objects.
#[derive(Clone, Debug)]
pub struct Names {
    /// The prefix of their names.
    pub prefix: String,
    pub namespace: String,
}

/// The `namePrefix` and the `namespace` of a kustomization, if it has both.
pub fn names(tree: &impl Tree, folder: &ProjectPath) -> anyhow::Result<Option<Names>> {
    let top = load::load(tree, folder, &Budget::default())?;
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
    let mut top = load::load(tree, folder, &budget)?;
    top.name_prefix = Some(names.prefix.clone());
    top.namespace = Some(names.namespace.clone());
    let objects = objects(tree, top, images, budget)?;
    objects.0.into_iter().map(object::Object::finish).collect()
}

fn objects(
    tree: &impl Tree,
    top: Kustomization,
    images: &[Image],
    budget: Budget,
) -> anyhow::Result<Objects> {
    let mut build = Build { tree, images, met: vec![false; images.len()], work: 0, budget };
    let mut all = All::new();
    build.accumulate(&top, &mut vec![top.folder.clone()], &mut all)?;
    let All { mut objects, config } = all;
    for (it, met) in images.iter().zip(&build.met) {
        if !met {
            images::transform(&mut objects, &it.entry(), config.list("images"), &build.budget)?;
        }
    }
    generators::add_hashes(&mut objects)?;
    references::fix(&mut objects, &config)?;
    objects.0.retain(|it| !it.is_local());
    objects.check()?;
    if let Some(order) = &top.order {
        order.sort(&mut objects);
    }
    Ok(objects)
}

/// The result of a kustomization and all below it.
struct All {
    objects: Objects,
    /// Kustomize's own, until a kustomization adds to it.
    config: Cow<'static, Config>,
}

impl All {
    fn new() -> Self {
        Self { objects: Objects::default(), config: Cow::Borrowed(&*config::DEFAULT) }
    }
}

struct Build<'a, T> {
    tree: &'a T,
    images: &'a [Image],
    /// Which of the images have an entry in a kustomization.
    met: Vec<bool>,
    /// The amount of work so far.
    work: usize,
    budget: Budget,
}

/// How deep folders may be nested.
const DEEPEST: usize = 100;

/// How much is rendered: 5 000 kustomizations, or 5 000 objects through 200 of them. Two folders a level that each
/// take in both of the next are twice as many with every level; kustomize itself would go on for ever.
const MOST: usize = 1_000_000;
const EACH: usize = 200;

impl<T: Tree> Build<'_, T> {
    /// Adds the objects of a kustomization. A component works on those that are already present.
    fn accumulate(
        &mut self,
        of: &Kustomization,
        visited: &mut Vec<ProjectPath>,
        all: &mut All,
    ) -> anyhow::Result<()> {
        let mut open = all.objects.open()?;
        for resource in &of.resources {
            match resources::find(self.tree, of, resource)? {
                resources::Found::File(path) => {
                    let objects = resources::read(self.tree, &path, &self.budget)?;
                    objects.into_iter().try_for_each(|it| open.add(it))?;
                }
                resources::Found::Folder(folder) => {
                    let inner = self.enter(of, resource, folder, visited, open.len())?;
                    if inner.component {
                        return Err(
                            of.problem(resource.mark, "this is a component, not a resource")
                        )
                        .hint("list it under `components`");
                    }
                    let mut below = All::new();
                    self.accumulate(&inner, visited, &mut below)?;
                    visited.pop();
                    below.objects.0.into_iter().try_for_each(|it| open.add(it))?;
                    if let Cow::Owned(config) = below.config {
                        all.config.to_mut().merge(&config, &self.budget)?;
                    }
                }
            }
        }
        if !of.config.is_empty() {
            let merged = all.config.to_mut().merge(&of.config, &self.budget);
            merged.with_context(|| format!("{}: its configurations", of.path))?;
            if let Some(path) = &all.config.narrower {
                let message = format!(
                    "{}: its configurations name `{path}` for some kind, and kustomize then forgets this field of other kinds",
                    of.path
                );
                return Err(anyhow::format_err!(message)).hint(WAY_OUT);
            }
        }
        self.generate(of, &mut all.objects)?;
        for component in &of.components {
            self.include(of, component, visited, all)?;
        }
        self.transform(of, all).with_context(|| format!("cannot render {}", of.path))
    }

    fn generate(&self, of: &Kustomization, objects: &mut Objects) -> anyhow::Result<()> {
        if of.generators.is_empty() {
            return Ok(());
        }
        let mut indexed = Indexed::new(objects);
        for generator in &of.generators {
            let object = generators::generate(self.tree, of, generator, &self.budget)?;
            indexed.absorb(object).map_err(|error| of.located(generator.mark, &error))?;
        }
        Ok(())
    }

    fn include(
        &mut self,
        of: &Kustomization,
        component: &load::Text,
        visited: &mut Vec<ProjectPath>,
        all: &mut All,
    ) -> anyhow::Result<()> {
        let resources::Found::Folder(folder) = resources::find(self.tree, of, component)? else {
            return Err(
                of.problem(component.mark, "this is a file, and a component must be a directory")
            );
        };
        let inner = self.enter(of, component, folder, visited, all.objects.0.len())?;
        if !inner.component {
            let message = format!("`{}` is not a Component", component.text);
            return Err(of.problem(component.mark, &message))
                .hint("list it under `resources`, or give it `kind: Component`");
        }
        self.accumulate(&inner, visited, all)?;
        visited.pop();
        all.objects.check()
    }

    fn enter(
        &mut self,
        of: &Kustomization,
        item: &load::Text,
        folder: ProjectPath,
        visited: &mut Vec<ProjectPath>,
        objects: usize,
    ) -> anyhow::Result<Kustomization> {
        self.work += EACH + objects;
        if DEEPEST < visited.len() || MOST < self.work {
            let what = match DEEPEST < visited.len() {
                true => format!("directories include each other deeper than {DEEPEST} levels"),
                false => "kustomizations include one another too often".to_owned(),
            };
            return Err(of.problem(item.mark, &format!("`{}`: {what}", item.text)))
                .hint("list each directory only once");
        }
        // A folder must not include itself, nor one that contains it.
        if visited.iter().any(|it| *it == folder || it.is_in(&folder)) {
            return Err(of.problem(item.mark, &format!("`{}` leads back to {folder}", item.text)))
                .hint("resources must not form a cycle: remove the line");
        }
        let res = load::load(self.tree, &folder, &self.budget)?;
        visited.push(folder);
        Ok(res)
    }

    /// In kustomize's order, which does not depend on the order of the fields.
    fn transform(&mut self, of: &Kustomization, all: &mut All) -> anyhow::Result<()> {
        let All { objects, config } = all;
        self.patch(of, &of.patches, objects)?;
        if let Some(namespace) = &of.namespace {
            namespace::transform(objects, namespace, config.list("namespace"))?;
        }
        if let Some(prefix) = &of.name_prefix {
            names::transform(objects, Affix::Prefix(prefix), config.list("namePrefix"))?;
        }
        if let Some(suffix) = &of.name_suffix {
            names::transform(objects, Affix::Suffix(suffix), config.list("nameSuffix"))?;
        }
        for label in &of.labels {
            labels::transform(objects, label, config, &self.budget)?;
        }
        labels::put(objects, &of.common_annotations, config.list("commonAnnotations"))?;
        self.patch(of, &of.late_patches, objects)?;
        if !of.replicas.is_empty() {
            let mut indexed = Indexed::new(objects);
            for replica in &of.replicas {
                replicas::transform(&mut indexed, replica, config.list("replicas"))
                    .map_err(|it| of.located(replica.mark, &it))?;
            }
        }
        for entry in &of.images {
            let over = self.images.iter().position(|it| it.name == entry.name);
            if let Some(at) = over {
                self.met[at] = true;
            }
            let over = over.map(|at| self.images[at].entry());
            let entry = over.as_ref().unwrap_or(entry);
            images::transform(objects, entry, config.list("images"), &self.budget)?;
        }
        if !of.replacements.is_empty() {
            let mut indexed = Indexed::new(objects);
            for replacement in &of.replacements {
                replacements::transform(&mut indexed, replacement)
                    .map_err(|it| of.located(replacement.mark, &it))?;
            }
        }
        Ok(())
    }

    fn patch(
        &self,
        of: &Kustomization,
        patches: &[load::Patch],
        objects: &mut Objects,
    ) -> anyhow::Result<()> {
        if patches.is_empty() {
            return Ok(());
        }
        let mut indexed = Indexed::new(objects);
        for patch in patches {
            patches::transform(self.tree, of, patch, &mut indexed, &self.budget)?;
            indexed.remove_empty()?;
        }
        Ok(())
    }
}
