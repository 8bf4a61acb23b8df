//! `labels`, `commonLabels` and `commonAnnotations`.

use std::collections::BTreeMap;

use super::{
    budget::Budget,
    config::{self, Config},
    fields::{Field, Gvk},
    load::Label,
    objects::Objects,
};

/// The fields to which labels are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// `metadata.labels` only.
    Metadata,
    /// Also those of pods and other templates.
    Templates,
    /// Labels and selectors.
    Selectors,
}

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
            object.set_entry(&fields, key, value)?;
        }
    }
    Ok(())
}
