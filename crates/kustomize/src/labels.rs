//! `labels`, `commonLabels` and `commonAnnotations`.

use std::collections::BTreeMap;

use super::{
    budget::Budget,
    config::{self, Config},
    fields::{Field, Gvk},
    kustomization::{Label, Reach},
    object::Object,
    objects::Objects,
    share,
};
use go_data::yaml::{Value, json};

pub fn add_labels(
    objects: &mut Objects,
    label: &Label,
    config: &Config,
    budget: &Budget,
) -> anyhow::Result<()> {
    let mut fields = label.fields.clone();
    let lists: &[&str] = match label.reach {
        Reach::Metadata => &["labels"],
        Reach::Templates => &["labels", "templateLabels"],
        Reach::Selectors => &["labels", "commonLabels"],
    };
    for field in lists.iter().flat_map(|list| config.fields_for(list)) {
        config::insert_field(&mut fields, field.clone(), budget)?;
    }
    if label.reach != Reach::Selectors {
        config::insert_field(
            &mut fields,
            Field::new(Gvk::default(), "metadata/labels", true),
            budget,
        )?;
    }
    set_pairs(objects, &label.pairs, &fields)
}

/// Sets all pairs in the maps at the fields.
pub fn set_pairs(
    objects: &mut Objects,
    pairs: &BTreeMap<String, String>,
    fields: &[Field],
) -> anyhow::Result<()> {
    for object in &mut objects.0 {
        object.budget.count_fields(fields.len())?;
        let fields: Vec<&Field> =
            fields.iter().filter(|field| field.selects_object(object)).collect();
        for (key, value) in pairs {
            set_entry(object, &fields, key, value)?;
        }
    }
    Ok(())
}

/// Sets an entry of all maps at the fields of an object.
fn set_entry(object: &mut Object, fields: &[&Field], key: &str, value: &str) -> anyhow::Result<()> {
    object.shared += 1;
    object.budget.count_objects(1)?;
    let budget = object.budget.clone();
    let mut setter = share::Setter::new(key, value, object.shared);
    for field in fields {
        field.visit_if_selected(object, Some(&json!({})), &mut |value| match value {
            Value::Object(map) => setter.set_entry(map, &budget),
            Value::Null => Ok(()),
            _ => anyhow::bail!("a map is expected there"),
        })?;
    }
    setter.update_shared(&mut object.value, &object.budget)
}
