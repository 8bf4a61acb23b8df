//! `namePrefix` and `nameSuffix`.

use super::{
    fields::Field,
    object::{Object, PREFIXES, SUFFIXES},
    objects::Objects,
};
use go_data::yaml::Value;

#[derive(Clone, Copy)]
pub enum Affix<'a> {
    Prefix(&'a str),
    Suffix(&'a str),
}

impl Affix<'_> {
    fn apply_to(self, name: &str) -> String {
        match self {
            Self::Prefix(text) => format!("{text}{name}"),
            Self::Suffix(text) => format!("{name}{text}"),
        }
    }
}

pub fn add_affix(objects: &mut Objects, affix: Affix<'_>, fields: &[Field]) -> anyhow::Result<()> {
    for object in objects.0.iter_mut().filter(|object| is_renamed(object)) {
        let original = object.original_id();
        object.budget.count_fields(fields.len())?;
        for field in fields.iter().filter(|field| field.gvk.selects_id(&original)) {
            if field.has_path("metadata/name") {
                match affix {
                    Affix::Prefix(text) => object.append_annotation(PREFIXES, text)?,
                    Affix::Suffix(text) => object.append_annotation(SUFFIXES, text)?,
                }
                object.record_identity()?;
            }
            field.visit_if_selected(object, Some(&"".into()), &mut |value| match value {
                Value::String(name) => {
                    *name = affix.apply_to(name);
                    Ok(())
                }
                _ => anyhow::bail!("a string is expected there"),
            })?;
        }
    }
    Ok(())
}

/// Returns false for kinds whose names have a meaning, and are not changed.
fn is_renamed(object: &Object) -> bool {
    let original = object.original_id();
    match original.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => false,
        "APIService" => original.group != "apiregistration.k8s.io",
        _ => true,
    }
}
