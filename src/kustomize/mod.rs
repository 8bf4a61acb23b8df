//! A kustomization tree in, Kubernetes objects out: what `kustomize build` 5.8.1 prints, equal as data
//! and in the same order.
//!
//! It knows the subset that scaffolded trees and common overlays use, and refuses any other field by
//! its name. It reads through a [`Tree`] only: no disk, no network, no plugins.
//!
//! ```text
//! load        a kustomization.yaml → Kustomization, or what in it is not known
//! resources   files and folders → Objects           generators  literals and files → Objects
//! patches (merge, lists, json_patch, selector) → namespace → names → labels → replicas → images
//! references  once at the end: who names an object by its old name gets the new one
//! order       as kustomize sorts by default
//! ```

mod fields;
mod generators;
mod images;
mod json_patch;
mod labels;
mod lists;
mod load;
mod merge;
mod names;
mod namespace;
mod object;
mod order;
mod patches;
mod references;
mod replicas;
mod resources;
mod scope;
mod selector;

#[cfg(test)]
mod tests;

use anyhow::Context as _;

pub use self::images::Image;
use self::{load::Kustomization, object::Objects};
use crate::{
    hint::{Hint as _, hinted},
    model::{Problem, ProjectPath},
    plan::Tree,
    yaml::Value,
};

/// The way out for whatever is not rendered natively.
const WAY_OUT: &str =
    "render it with kustomize itself: `kustomize build … | operator-rs bundle --input -`";

/// Renders the kustomization in `folder`. Each image replaces what the tree's `images` say of its
/// name, as `kustomize edit set image` would; one that the tree does not name applies to the whole.
pub fn build(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
) -> anyhow::Result<Vec<Value>> {
    build_in(tree, folder, images, None)
}

/// The same in another namespace, as `kustomize edit set namespace` would put it.
pub fn build_in(
    tree: &impl Tree,
    folder: &ProjectPath,
    images: &[Image],
    namespace: Option<&str>,
) -> anyhow::Result<Vec<Value>> {
    let mut build = Build { tree, images, met: vec![false; images.len()], work: 0 };
    let mut top = load::load(tree, folder)?;
    if let Some(namespace) = namespace {
        top.namespace = Some(namespace.to_owned());
    }
    if top.component {
        return Err(anyhow::format_err!(
            "{}: this is a component, which cannot stand alone",
            top.path
        ))
        .hint("build the overlay that takes it in");
    }
    let mut objects = Objects::default();
    build.accumulate(&top, &mut vec![folder.clone()], &mut objects)?;
    for (it, met) in images.iter().zip(&build.met) {
        if !met {
            images::transform(&mut objects, &it.entry())?;
        }
    }
    generators::add_hashes(&mut objects)?;
    references::fix(&mut objects)?;
    objects.0.retain(|it| !it.is_local());
    if top.sorted {
        order::sort(&mut objects);
    }
    objects.0.into_iter().map(object::Object::finish).collect()
}

struct Build<'a, T> {
    tree: &'a T,
    images: &'a [Image],
    /// Which of the images a kustomization names.
    met: Vec<bool>,
    /// How much was rendered so far.
    work: usize,
}

/// How deep folders may take in one another.
const DEEPEST: usize = 100;

/// How much is rendered: 5 000 kustomizations, or 5 000 objects through 200 of them. Two folders a level that each
/// take in both of the next are twice as many with every level; kustomize itself would go on for ever.
const MOST: usize = 1_000_000;
const EACH: usize = 200;

impl<T: Tree> Build<'_, T> {
    /// Adds what a kustomization stands for. A component works on what is there already.
    fn accumulate(
        &mut self,
        of: &Kustomization,
        visited: &mut Vec<ProjectPath>,
        objects: &mut Objects,
    ) -> anyhow::Result<()> {
        for resource in &of.resources {
            match resources::find(self.tree, of, resource)? {
                resources::Found::File(path) => {
                    resources::read(self.tree, &path)?
                        .into_iter()
                        .try_for_each(|it| objects.add(it))?;
                }
                resources::Found::Folder(folder) => {
                    let inner = self.enter(of, resource, folder, visited, objects)?;
                    if inner.component {
                        return Err(
                            of.problem(resource.mark, "this is a component, not a resource")
                        )
                        .hint("list it under `components`");
                    }
                    let mut below = Objects::default();
                    self.accumulate(&inner, visited, &mut below)?;
                    visited.pop();
                    below.0.into_iter().try_for_each(|it| objects.add(it))?;
                }
            }
        }
        for generator in &of.generators {
            objects.absorb(generators::generate(self.tree, of, generator)?)?;
        }
        for component in &of.components {
            let resources::Found::Folder(folder) = resources::find(self.tree, of, component)?
            else {
                return Err(
                    of.problem(component.mark, "this is a file, and a component is a folder")
                );
            };
            let inner = self.enter(of, component, folder, visited, objects)?;
            if !inner.component {
                return Err(of.problem(component.mark, "this is not a component"))
                    .hint("list it under `resources`, or give it `kind: Component`");
            }
            self.accumulate(&inner, visited, objects)?;
            visited.pop();
        }
        self.transform(of, objects).with_context(|| format!("rendering {}", of.path))
    }

    fn enter(
        &mut self,
        of: &Kustomization,
        item: &load::Text,
        folder: ProjectPath,
        visited: &mut Vec<ProjectPath>,
        objects: &Objects,
    ) -> anyhow::Result<Kustomization> {
        self.work += EACH + objects.0.len();
        if DEEPEST < visited.len() || MOST < self.work {
            let what = match DEEPEST < visited.len() {
                true => format!("folders take in one another deeper than {DEEPEST} levels"),
                false => "kustomizations take in one another too often".to_owned(),
            };
            return Err(of.problem(item.mark, &format!("`{}`: {what}", item.text)))
                .hint("list each folder in one place only");
        }
        // A folder may not take in itself, nor one that it is in.
        if visited.iter().any(|it| *it == folder || it.is_in(&folder)) {
            return Err(of.problem(item.mark, &format!("`{}` leads back to {folder}", item.text)))
                .hint("resources form a tree: take the line out");
        }
        let res = load::load(self.tree, &folder)?;
        visited.push(folder);
        Ok(res)
    }

    /// In kustomize's order, whatever the order of the fields.
    fn transform(&mut self, of: &Kustomization, objects: &mut Objects) -> anyhow::Result<()> {
        for patch in &of.patches {
            patches::transform(self.tree, of, patch, objects)?;
            objects.0.retain(|it| !it.is_empty());
        }
        if let Some(namespace) = &of.namespace {
            namespace::transform(objects, namespace)?;
        }
        if let Some(prefix) = &of.name_prefix {
            names::prefix(objects, prefix);
        }
        if let Some(suffix) = &of.name_suffix {
            names::suffix(objects, suffix);
        }
        for label in &of.labels {
            labels::transform(objects, label)?;
        }
        labels::annotate(objects, &of.common_annotations)?;
        for replica in &of.replicas {
            replicas::transform(objects, replica)
                .map_err(|it| of.problem(replica.mark, &it.to_string()))?;
        }
        for entry in &of.images {
            let over = self.images.iter().position(|it| it.name == entry.name);
            if let Some(at) = over {
                self.met[at] = true;
            }
            match over {
                Some(at) => images::transform(objects, &self.images[at].entry())?,
                None => images::transform(objects, entry)?,
            }
        }
        Ok(())
    }
}

/// Every problem of a file in one error.
fn refuse(problems: Vec<Problem>) -> anyhow::Result<()> {
    let mut hints: Vec<String> = problems.iter().filter_map(|it| it.hint.clone()).collect();
    hints.dedup();
    let list: Vec<String> = problems.iter().map(ToString::to_string).collect();
    if list.is_empty() {
        return Ok(());
    }
    hinted(anyhow::format_err!("{}", list.join("\n")), hints.into_iter())
}
