//! Accumulates the objects of a kustomization and of the kustomizations that it lists, and transforms them.

use std::borrow::Cow;

use anyhow::Context as _;

use super::{
    WAY_OUT,
    budget::Budget,
    config::{self, Config},
    generators,
    images::{self, Image},
    kustomization::{Kustomization, Patch, Text},
    labels, load,
    names::{self, Affix},
    namespace,
    objects::{Indexed, Objects},
    patches, references, replacements, replicas, resources,
};
use diagnostics::Hint as _;
use model::{ProjectPath, Tree};

/// Returns the objects of a kustomization, with all transformations and references applied.
pub fn build_objects(
    tree: &impl Tree,
    top: Kustomization,
    images: &[Image],
    budget: Budget,
) -> anyhow::Result<Objects> {
    let mut build = Build { tree, images, met: vec![false; images.len()], work: 0, budget };
    let mut all = Accumulator::new();
    build.accumulate_kustomization(&top, &mut vec![top.folder.clone()], &mut all)?;
    let Accumulator { mut objects, config } = all;
    for (image, met) in images.iter().zip(&build.met) {
        if !met {
            images::replace_images(
                &mut objects,
                &image.to_entry(),
                config.fields_for("images"),
                &build.budget,
            )?;
        }
    }
    generators::add_hashes(&mut objects)?;
    references::update_references(&mut objects, &config)?;
    objects.0.retain(|object| !object.is_local());
    objects.check_identities()?;
    if let Some(order) = &top.order {
        order.sort_objects(&mut objects);
    }
    Ok(objects)
}

/// The objects of a kustomization and of all kustomizations that it lists.
struct Accumulator {
    objects: Objects,
    /// The configuration of kustomize itself, until a kustomization adds to it.
    config: Cow<'static, Config>,
}

impl Accumulator {
    fn new() -> Self {
        Self { objects: Objects::default(), config: Cow::Borrowed(&*config::DEFAULT) }
    }
}

struct Build<'a, T> {
    tree: &'a T,
    images: &'a [Image],
    /// True for images that have an entry in a kustomization.
    met: Vec<bool>,
    /// The amount of work so far.
    work: usize,
    budget: Budget,
}

/// The deepest level of nested folders.
const MAX_DEPTH: usize = 100;

/// The largest amount of work: 5 000 kustomizations, or 5 000 objects through 200 of them. If each of two folders lists
/// both folders of the next level, every level doubles their number, and kustomize itself would not end.
const MAX_WORK: usize = 1_000_000;
const KUSTOMIZATION_WORK: usize = 200;

impl<T: Tree> Build<'_, T> {
    /// Adds the objects of a kustomization. A component works on those that are already present.
    fn accumulate_kustomization(
        &mut self,
        kustomization: &Kustomization,
        visited: &mut Vec<ProjectPath>,
        all: &mut Accumulator,
    ) -> anyhow::Result<()> {
        let mut open = all.objects.open_for_adding()?;
        for resource in &kustomization.resources {
            match resources::resolve_resource(self.tree, kustomization, resource)? {
                resources::Resource::File(path) => {
                    let objects = resources::read_objects(self.tree, &path, &self.budget)?;
                    objects.into_iter().try_for_each(|object| open.add_object(object))?;
                }
                resources::Resource::Folder(folder) => {
                    let inner =
                        self.enter_folder(kustomization, resource, folder, visited, open.len())?;
                    if inner.component {
                        return Err(kustomization
                            .error_at(resource.mark, "this is a component, not a resource"))
                        .hint("list it under `components`");
                    }
                    let mut below = Accumulator::new();
                    self.accumulate_kustomization(&inner, visited, &mut below)?;
                    visited.pop();
                    below.objects.0.into_iter().try_for_each(|object| open.add_object(object))?;
                    if let Cow::Owned(config) = below.config {
                        all.config.to_mut().merge_config(&config, &self.budget)?;
                    }
                }
            }
        }
        if !kustomization.config.is_empty() {
            let merged = all.config.to_mut().merge_config(&kustomization.config, &self.budget);
            merged.with_context(|| format!("{}: its configurations", kustomization.path))?;
            if let Some(path) = &all.config.narrower {
                let message = format!(
                    "{}: its configurations name `{path}` for some kind, and kustomize then forgets this field of other kinds",
                    kustomization.path
                );
                return Err(anyhow::format_err!(message)).hint(WAY_OUT);
            }
        }
        self.generate_objects(kustomization, &mut all.objects)?;
        for component in &kustomization.components {
            self.include_component(kustomization, component, visited, all)?;
        }
        self.transform_objects(kustomization, all)
            .with_context(|| format!("cannot render {}", kustomization.path))
    }

    fn generate_objects(
        &self,
        kustomization: &Kustomization,
        objects: &mut Objects,
    ) -> anyhow::Result<()> {
        if kustomization.generators.is_empty() {
            return Ok(());
        }
        let mut indexed = Indexed::new(objects);
        for generator in &kustomization.generators {
            let object =
                generators::generate_object(self.tree, kustomization, generator, &self.budget)?;
            indexed
                .add_or_merge(object)
                .map_err(|error| kustomization.locate_error(generator.mark, &error))?;
        }
        Ok(())
    }

    fn include_component(
        &mut self,
        kustomization: &Kustomization,
        component: &Text,
        visited: &mut Vec<ProjectPath>,
        all: &mut Accumulator,
    ) -> anyhow::Result<()> {
        let resources::Resource::Folder(folder) =
            resources::resolve_resource(self.tree, kustomization, component)?
        else {
            return Err(kustomization
                .error_at(component.mark, "this is a file, and a component must be a directory"));
        };
        let inner =
            self.enter_folder(kustomization, component, folder, visited, all.objects.0.len())?;
        if !inner.component {
            let message = format!("`{}` is not a Component", component.text);
            return Err(kustomization.error_at(component.mark, &message))
                .hint("list it under `resources`, or give it `kind: Component`");
        }
        self.accumulate_kustomization(&inner, visited, all)?;
        visited.pop();
        all.objects.check_identities()
    }

    fn enter_folder(
        &mut self,
        kustomization: &Kustomization,
        item: &Text,
        folder: ProjectPath,
        visited: &mut Vec<ProjectPath>,
        objects: usize,
    ) -> anyhow::Result<Kustomization> {
        self.work += KUSTOMIZATION_WORK + objects;
        if visited.len() > MAX_DEPTH || self.work > MAX_WORK {
            let reason = if visited.len() > MAX_DEPTH {
                format!("directories include each other deeper than {MAX_DEPTH} levels")
            } else {
                "kustomizations include one another too often".to_owned()
            };
            return Err(kustomization.error_at(item.mark, &format!("`{}`: {reason}", item.text)))
                .hint("list each directory only once");
        }
        // A folder must not include itself, nor one that contains it.
        if visited.iter().any(|parent| *parent == folder || parent.is_in(&folder)) {
            return Err(kustomization
                .error_at(item.mark, &format!("`{}` leads back to {folder}", item.text)))
            .hint("resources must not form a cycle: remove the line");
        }
        let inner = load::load_kustomization(self.tree, &folder, &self.budget)?;
        visited.push(folder);
        Ok(inner)
    }

    /// Applies the transformations in kustomize's order, which does not depend on the order of the fields.
    fn transform_objects(
        &mut self,
        kustomization: &Kustomization,
        all: &mut Accumulator,
    ) -> anyhow::Result<()> {
        let Accumulator { objects, config } = all;
        self.apply_patches(kustomization, &kustomization.patches, objects)?;
        if let Some(namespace) = &kustomization.namespace {
            namespace::set_namespace(objects, namespace, config.fields_for("namespace"))?;
        }
        if let Some(prefix) = &kustomization.name_prefix {
            names::add_affix(objects, Affix::Prefix(prefix), config.fields_for("namePrefix"))?;
        }
        if let Some(suffix) = &kustomization.name_suffix {
            names::add_affix(objects, Affix::Suffix(suffix), config.fields_for("nameSuffix"))?;
        }
        for label in &kustomization.labels {
            labels::add_labels(objects, label, config, &self.budget)?;
        }
        labels::set_pairs(
            objects,
            &kustomization.common_annotations,
            config.fields_for("commonAnnotations"),
        )?;
        self.apply_patches(kustomization, &kustomization.late_patches, objects)?;
        if !kustomization.replicas.is_empty() {
            let mut indexed = Indexed::new(objects);
            for replica in &kustomization.replicas {
                replicas::set_replicas(&mut indexed, replica, config.fields_for("replicas"))
                    .map_err(|error| kustomization.locate_error(replica.mark, &error))?;
            }
        }
        for entry in &kustomization.images {
            let over = self.images.iter().position(|image| image.name == entry.name);
            if let Some(at) = over {
                self.met[at] = true;
            }
            let over = over.map(|at| self.images[at].to_entry());
            let entry = over.as_ref().unwrap_or(entry);
            images::replace_images(objects, entry, config.fields_for("images"), &self.budget)?;
        }
        if !kustomization.replacements.is_empty() {
            let mut indexed = Indexed::new(objects);
            for replacement in &kustomization.replacements {
                replacements::apply_replacement(&mut indexed, replacement)
                    .map_err(|error| kustomization.locate_error(replacement.mark, &error))?;
            }
        }
        Ok(())
    }

    fn apply_patches(
        &self,
        kustomization: &Kustomization,
        patches: &[Patch],
        objects: &mut Objects,
    ) -> anyhow::Result<()> {
        if patches.is_empty() {
            return Ok(());
        }
        let mut indexed = Indexed::new(objects);
        for patch in patches {
            patches::apply_patch(self.tree, kustomization, patch, &mut indexed, &self.budget)?;
            indexed.remove_empty()?;
        }
        Ok(())
    }
}
