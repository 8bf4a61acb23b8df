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
    fn on(self, name: &str) -> String {
        match self {
            Self::Prefix(text) => format!("{text}{name}"),
            Self::Suffix(text) => format!("{name}{text}"),
        }
    }
}

pub fn transform(objects: &mut Objects, affix: Affix<'_>, fields: &[Field]) -> anyhow::Result<()> {
    for object in objects.0.iter_mut().filter(|it| is_renamed(it)) {
        let original = object.original_id();
        object.budget.look_at_fields(fields.len())?;
        for field in fields.iter().filter(|it| it.of.selects_id(&original)) {
            if field.is("metadata/name") {
                match affix {
                    Affix::Prefix(text) => object.append(PREFIXES, text)?,
                    Affix::Suffix(text) => object.append(SUFFIXES, text)?,
                }
                object.remember()?;
            }
            field.visit(object, Some(&"".into()), &mut |it| match it {
                Value::String(name) => {
                    *name = affix.on(name);
                    Ok(())
                }
                _ => anyhow::bail!("a string is expected there"),
            })?;
        }
    }
    Ok(())
}

/// The names of these kinds have a meaning, and are not changed.
fn is_renamed(object: &Object) -> bool {
    let original = object.original_id();
    match original.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => false,
        "APIService" => original.group != "apiregistration.k8s.io",
        _ => true,
    }
}
