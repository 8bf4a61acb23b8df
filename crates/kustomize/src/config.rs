//! The fields that transformations change: kustomize's own (`defaults.txt`), and those added by `configurations`.

use std::{collections::BTreeMap, sync::LazyLock};

use super::{
    budget::Budget,
    fields::{Field, Kind},
    order,
};

/// Lists of fields by the names that they have in a configuration.
#[derive(Clone, Debug, Default)]
pub struct Config {
    lists: BTreeMap<String, Vec<Field>>,
    /// Which fields name objects of a kind.
    pub references: Vec<(Kind, Vec<Field>)>,
    /// A field that was added for some kind, and is there for more kinds already.
    pub narrower: Option<String>,
}

const LISTS: &str = "namePrefix nameSuffix namespace commonLabels labels templateLabels commonAnnotations images \
replicas";

pub fn is_list(name: &str) -> bool {
    LISTS.split(' ').any(|it| it == name)
}

impl Config {
    pub fn list(&self, name: &str) -> &[Field] {
        self.lists.get(name).map_or(&[], Vec::as_slice)
    }

    pub fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.references.is_empty()
    }

    pub fn add(&mut self, list: &str, field: Field, budget: &Budget) -> anyhow::Result<()> {
        let fields = self.lists.entry(list.to_owned()).or_default();
        let is_narrower = |it: &Field| it.path == field.path && it.of == Kind::default();
        if !matches!(list, "images" | "namespace")
            && field.of != Kind::default()
            && fields.iter().any(is_narrower)
        {
            self.narrower = Some(field.path.join("/"));
        }
        add(fields, field, budget)
    }

    pub fn add_reference(
        &mut self,
        target: &Kind,
        field: Field,
        budget: &Budget,
    ) -> anyhow::Result<()> {
        budget.look_at_fields(self.references.len())?;
        let at = self.references.iter().position(|it| it.0 == *target).unwrap_or_else(|| {
            self.references.push((target.clone(), Vec::new()));
            self.references.len() - 1
        });
        add(&mut self.references[at].1, field, budget)
    }

    pub fn merge(&mut self, other: &Self, budget: &Budget) -> anyhow::Result<()> {
        for (name, fields) in &other.lists {
            fields.iter().try_for_each(|it| self.add(name, it.clone(), budget))?;
        }
        for (target, fields) in &other.references {
            fields.iter().try_for_each(|it| self.add_reference(target, it.clone(), budget))?;
        }
        self.references.sort_by_cached_key(|it| order::key(&it.0));
        Ok(())
    }
}

/// Adds a field that is not there yet.
pub fn add(fields: &mut Vec<Field>, field: Field, budget: &Budget) -> anyhow::Result<()> {
    budget.look_at_fields(fields.len())?;
    let Kind { group, version, kind } = &field.of;
    let wider = |it: &&Field| {
        let is = |wanted: &str, it: &str| wanted.is_empty() || wanted == it;
        it.path == field.path
            && is(group, &it.of.group)
            && is(version, &it.of.version)
            && is(kind, &it.of.kind)
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
    let mut res = Config::default();
    let budget = Budget::default();
    let (mut list, mut target) = ("", None);
    for line in include_str!("defaults.txt").lines().filter(|it| !it.starts_with('#')) {
        if let Some(name) = line.strip_prefix('[').and_then(|it| it.strip_suffix(']')) {
            (list, target) = match name.split_once(' ') {
                Some((list, it)) => (list, Some(kind(it))),
                None => (name, None),
            };
            continue;
        }
        for field in fields(line) {
            match &target {
                Some(target) => {
                    res.add_reference(target, field, &budget).expect("the defaults agree")
                }
                None => res.add(list, field, &budget).expect("the defaults agree"),
            }
        }
    }
    // Selectors are changed with all other labels.
    for field in res.list("templateLabels").to_vec() {
        res.add("commonLabels", field, &budget).expect("the defaults agree");
    }
    res
});

fn kind(text: &str) -> Kind {
    let mut parts = text.split('/').map(str::to_owned);
    let mut next = || parts.next().unwrap_or_default();
    Kind { group: next(), version: next(), kind: next() }
}

fn fields(line: &str) -> Vec<Field> {
    let mut words = line.split(' ');
    let (Some(of), Some(path), create) = (words.next(), words.next(), words.next().is_some())
    else {
        return Vec::new();
    };
    if let Some(absent) = of.strip_prefix("pods") {
        let absent: Vec<&str> = absent.split(['-', ',']).collect();
        let present = PODS.iter().filter(|it| !absent.contains(&it.0));
        return present
            .map(|(name, base)| {
                let of = Kind { kind: (*name).to_owned(), ..Kind::default() };
                Field::new(of, &format!("{base}/{path}"), create)
            })
            .collect();
    }
    let all = kind(of.trim_start_matches('*'));
    let each = all.kind.split(',').map(|it| Kind { kind: it.to_owned(), ..all.clone() });
    each.map(|of| Field::new(of, path, create)).collect()
}
