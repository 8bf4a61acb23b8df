//! `images`.

use super::{
    budget::Budget,
    fields::Field,
    kustomization::ImageEntry,
    objects::Objects,
    pattern::{Pattern, Scope},
};
use go_data::yaml::Value;

/// An image that replaces the entry for a name in the kustomizations.
#[derive(Clone, Debug)]
pub struct Image {
    /// The name in the tree.
    pub name: String,
    pub image: model::Image,
}

impl Image {
    /// Returns the replacement of the manager's image, which scaffolds call `controller`.
    pub fn of_manager(image: &model::Image) -> Self {
        Self { name: "controller".to_owned(), image: image.clone() }
    }

    /// Returns the entry that `kustomize edit set image <name>=<image>` writes.
    pub fn to_entry(&self) -> ImageEntry {
        ImageEntry {
            name: self.name.clone(),
            new_name: self.image.name().to_owned(),
            new_tag: self.image.tag().unwrap_or_default().to_owned(),
            digest: self.image.digest().unwrap_or_default().to_owned(),
            tag_suffix: String::new(),
        }
    }
}

pub fn replace_images(
    objects: &mut Objects,
    entry: &ImageEntry,
    fields: &[Field],
    budget: &Budget,
) -> anyhow::Result<()> {
    // kustomize uses the name as a regular expression, so a dot in it matches any character.
    let pattern = Pattern::compile(&entry.name, Scope::ImageName, budget)
        .map_err(|error| error.context("the name of an image"))?;
    let mut set = |value: &mut Value| {
        match value {
            Value::String(text) if pattern.is_match(text, budget)? => {
                let new = renamed_image(text, entry);
                budget.take_text(text, &new)?;
                *text = new;
            }
            Value::Object(_) | Value::Array(_) => anyhow::bail!("an image is expected there"),
            _ => {}
        }
        Ok(())
    };
    for object in objects.0.iter_mut().filter(|object| object.kind() != "CustomResourceDefinition")
    {
        budget.count_objects(1)?;
        budget.count_fields(fields.len())?;
        budget.count_value(&object.value)?;
        // Twice, as in kustomize: a suffix of the tag is added each time.
        in_containers(&mut object.value, &mut set).map_err(|error| {
            error.context(format!("{}: the images of {}", object.origin, object.id()))
        })?;
        for field in fields {
            field.visit_if_selected(object, None, &mut set)?;
        }
    }
    Ok(())
}

/// Calls `set` on every `image` of an item in `containers` and `initContainers`, at any depth.
fn in_containers(
    value: &mut Value,
    set: &mut dyn FnMut(&mut Value) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    match value {
        Value::Array(items) => items.iter_mut().try_for_each(|item| in_containers(item, set)),
        Value::Object(map) => map.iter_mut().try_for_each(|(key, value)| {
            in_containers(value, set)?;
            let Value::Array(items) = value else { return Ok(()) };
            if key != "containers" && key != "initContainers" {
                return Ok(());
            }
            items.iter_mut().try_for_each(|item| match item {
                Value::Object(item) => item.get_mut("image").map_or(Ok(()), &mut *set),
                Value::Null => Ok(()),
                _ => anyhow::bail!("an item of `{key}` is not a map"),
            })
        }),
        _ => Ok(()),
    }
}

fn renamed_image(text: &str, entry: &ImageEntry) -> String {
    let (name, tag, digest) = split_image(text);
    let name = if entry.new_name.is_empty() { name } else { &entry.new_name };
    let suffixed = format!("{tag}{}", entry.tag_suffix);
    let (tag, digest) = match (entry.new_tag.as_str(), entry.digest.as_str()) {
        ("", "") if entry.tag_suffix.is_empty() => (tag, digest),
        ("", "") => (suffixed.as_str(), ""),
        (tag, digest) => (tag, digest),
    };
    let mut image = name.to_owned();
    for (sign, part) in [(":", tag), ("@", digest)] {
        if !part.is_empty() {
            image += sign;
            image += part;
        }
    }
    image
}

/// Splits an image into name, tag and digest; a colon before the first slash belongs to the registry.
fn split_image(text: &str) -> (&str, &str, &str) {
    let slash = text.find('/').unwrap_or(0);
    let (rest, digest) = match text[slash..].find('@') {
        Some(at) => (&text[..slash + at], &text[slash + at + 1..]),
        None => (text, ""),
    };
    match rest[slash..].find(':') {
        Some(at) => (&rest[..slash + at], &rest[slash + at + 1..], digest),
        None => (rest, "", digest),
    }
}
