//! `labels`, `commonLabels` and `commonAnnotations`.

use std::collections::BTreeMap;

use super::{
    budget::Budget,
    config::{self, Config},
    fields::{Field, Kind},
    load::Label,
    objects::Objects,
};

/// Where labels are added.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// `metadata.labels` only.
    Metadata,
    /// Also those of pods and other templates.
    Templates,
    /// Labels and selectors.
    Selectors,
}

pub fn transform(
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
    for field in lists.iter().flat_map(|it| config.list(it)) {
        config::add(&mut fields, field.clone(), budget)?;
    }
    if label.reach != Reach::Selectors {
        config::add(&mut fields, Field::new(Kind::default(), "metadata/labels", true), budget)?;
    }
    put(objects, &label.pairs, &fields)
}

/// Sets all pairs in the maps at the fields.
pub fn put(
    objects: &mut Objects,
    pairs: &BTreeMap<String, String>,
    fields: &[Field],
) -> anyhow::Result<()> {
    for object in &mut objects.0 {
        object.budget.look_at_fields(fields.len())?;
        let fields: Vec<&Field> = fields.iter().filter(|field| field.selects(object)).collect();
        for (key, value) in pairs {
            object.set_entry(&fields, key, value)?;
        }
    }
    Ok(())
}
