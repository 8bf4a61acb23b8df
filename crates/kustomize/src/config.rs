//! The fields that transformations change: kustomize's own (`defaults.txt`), and those added by `configurations`.

use std::{collections::BTreeMap, sync::LazyLock};

use super::{
    budget::Budget,
    fields::{Field, Gvk},
    order,
};

/// Lists of fields by the names that they have in a configuration.
#[derive(Clone, Debug, Default)]
pub struct Config {
    lists: BTreeMap<String, Vec<Field>>,
    /// The fields that name objects of a kind.
    pub references: Vec<(Gvk, Vec<Field>)>,
    /// The path of a field that was added for one kind and already exists for more kinds.
    pub narrower: Option<String>,
}

const LISTS: &str = "namePrefix nameSuffix namespace commonLabels labels templateLabels commonAnnotations images \
replicas";

pub fn is_list(name: &str) -> bool {
    LISTS.split(' ').any(|list| list == name)
}

impl Config {
    pub fn fields_for(&self, name: &str) -> &[Field] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.references.is_empty()
    }

    pub fn add_field(&mut self, list: &str, field: Field, budget: &Budget) -> anyhow::Result<()> {
        let fields = self.lists.entry(list.to_owned()).or_default();
        let is_narrower = |known: &Field| known.path == field.path && known.gvk == Gvk::default();
        if !matches!(list, "images" | "namespace")
            && field.gvk != Gvk::default()
            && fields.iter().any(is_narrower)
        {
            self.narrower = Some(field.path.join("/"));
        }
        insert_field(fields, field, budget)
    }

    pub fn add_reference(
        &mut self,
        target: &Gvk,
        field: Field,
        budget: &Budget,
    ) -> anyhow::Result<()> {
        budget.count_fields(self.references.len())?;
        let at = self.references.iter().position(|entry| entry.0 == *target).unwrap_or_else(|| {
            self.references.push((target.clone(), Vec::new()));
            self.references.len() - 1
        });
        insert_field(&mut self.references[at].1, field, budget)
    }

    pub fn merge_config(&mut self, other: &Self, budget: &Budget) -> anyhow::Result<()> {
        for (name, fields) in &other.lists {
            fields.iter().try_for_each(|field| self.add_field(name, field.clone(), budget))?;
        }
        for (target, fields) in &other.references {
            fields
                .iter()
                .try_for_each(|field| self.add_reference(target, field.clone(), budget))?;
        }
        self.references.sort_by_cached_key(|entry| order::sort_key(&entry.0));
        Ok(())
    }
}

/// Inserts a field, unless a field with its path exists for its kind.
pub fn insert_field(fields: &mut Vec<Field>, field: Field, budget: &Budget) -> anyhow::Result<()> {
    budget.count_fields(fields.len())?;
    let Gvk { group, version, kind } = &field.gvk;
    let wider = |known: &&Field| {
        let is = |wanted: &str, actual: &str| wanted.is_empty() || wanted == actual;
        known.path == field.path
            && is(group, &known.gvk.group)
            && is(version, &known.gvk.version)
            && is(kind, &known.gvk.kind)
    };
    match fields.iter().find(wider) {
        Some(other) if other.create != field.create => {
            anyhow::bail!("`{}` already exists with a different `create`", field.path.join("/"))
        }
        Some(_) => {}
        None => fields.push(field),
    }
    Ok(())
}

/// The path of the pod's spec in the kinds that run pods.
const PODS: &[(&str, &str)] = &[
    ("Pod", "spec"),
    ("PodTemplate", "template/spec"),
    ("Deployment", "spec/template/spec"),
    ("ReplicaSet", "spec/template/spec"),
    ("DaemonSet", "spec/template/spec"),
    ("StatefulSet", "spec/template/spec"),
    ("Job", "spec/template/spec"),
    ("ReplicationController", "spec/template/spec"),
    ("CronJob", "spec/jobTemplate/spec/template/spec"),
];

pub static DEFAULT: LazyLock<Config> = LazyLock::new(|| {
    let mut config = Config::default();
    let budget = Budget::default();
    let (mut list, mut target) = ("", None);
    for line in include_str!("defaults.txt").lines().filter(|line| !line.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            (list, target) = match name.split_once(' ') {
                Some((list, kind)) => (list, Some(parse_gvk(kind))),
                None => (name, None),
            };
            continue;
        }
        for field in parse_fields(line) {
            match &target {
                Some(target) => {
                    config.add_reference(target, field, &budget).expect("the defaults agree")
                }
                None => config.add_field(list, field, &budget).expect("the defaults agree"),
            }
        }
    }
    // Selectors are changed with all other labels.
    for field in config.fields_for("templateLabels").to_vec() {
        config.add_field("commonLabels", field, &budget).expect("the defaults agree");
    }
    config
});

fn parse_gvk(text: &str) -> Gvk {
    let mut parts = text.split('/').map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    Gvk { group: next(), version: next(), kind: next() }
}

fn parse_fields(line: &str) -> Vec<Field> {
    let mut words = line.split(' ');
    let (Some(gvk), Some(path), create) = (words.next(), words.next(), words.next().is_some())
    else {
        return Vec::new();
    };
    if let Some(absent) = gvk.strip_prefix("pods") {
        let absent: Vec<&str> = absent.split(['-', ',']).collect();
        let present = PODS.iter().filter(|entry| !absent.contains(&entry.0));
        return present
            .map(|(name, base)| {
                let gvk = Gvk { kind: (*name).to_owned(), ..Gvk::default() };
                Field::new(gvk, &format!("{base}/{path}"), create)
            })
            .collect();
    }
    let all = parse_gvk(gvk.trim_start_matches('*'));
    let each = all.kind.split(',').map(|kind| Gvk { kind: kind.to_owned(), ..all.clone() });
    each.map(|gvk| Field::new(gvk, path, create)).collect()
}
