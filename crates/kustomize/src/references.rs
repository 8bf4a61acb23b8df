//! Updates references to objects whose names have changed.
//!
//! If several objects had a name, the referenced one is chosen as in kustomize.

use std::collections::BTreeMap;

use super::{
    config::Config,
    fields::{Field, Kind},
    object::{Object, PREFIXES, SUFFIXES},
    objects::Objects,
};
use go_data::yaml::Value;

pub fn fix(objects: &mut Objects, config: &Config) -> anyhow::Result<()> {
    let mut former = Former::new(objects);
    let fields = config.references.iter().map(|(_, fields)| fields.len()).sum();
    for at in 0..objects.0.len() {
        objects.0[at].budget.look_at_fields(fields)?;
        let id = objects.0[at].original_id();
        let mut fixed: Option<Object> = None;
        for (target, fields) in &config.references {
            for field in fields.iter().filter(|it| it.of.selects_id(&id)) {
                let referrer = &objects.0[at];
                let search = Search { objects, former: &former, referrer, target, field };
                let object = fixed.get_or_insert_with(|| referrer.clone());
                field.visit_any(object, None, &mut |it| set(it, &search))?;
            }
        }
        if let Some(fixed) = fixed {
            let old = std::mem::replace(&mut objects.0[at], fixed);
            let new = &objects.0[at];
            // Only a configuration can name such fields as references.
            if old.id() != new.id() || !old.former_ids().eq(new.former_ids()) {
                new.budget.look_at(objects.0.len())?;
                former = Former::new(objects);
            }
        }
    }
    Ok(())
}

fn set(value: &mut Value, search: &Search<'_>) -> anyhow::Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => items.iter_mut().try_for_each(|it| match it {
            Value::Null => Ok(()),
            it => set(it, search),
        }),
        Value::Object(map) => {
            let Some(name) = map.get("name").and_then(Value::as_str) else {
                anyhow::bail!("there is no `name` there");
            };
            let namespace = map.get("namespace").and_then(Value::as_str);
            if let Some(found) = search.find(name, Some(namespace))? {
                let budget = &found.budget;
                budget.take_text(name, found.name())?;
                budget.take_text(namespace.unwrap_or_default(), found.namespace())?;
                map.insert("name".to_owned(), found.name().into());
                if !found.namespace().is_empty() {
                    map.insert("namespace".to_owned(), found.namespace().into());
                }
            }
            Ok(())
        }
        Value::String(name) => {
            if let Some(found) = search.find(name, None)? {
                found.budget.take_text(name, found.name())?;
                *name = found.name().to_owned();
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Positions of objects by their original name and by their original namespace.
struct Former {
    names: BTreeMap<String, Vec<usize>>,
    /// For each original namespace, one object of each current namespace. A reference that sees one of them sees them all.
    namespaces: BTreeMap<String, BTreeMap<(String, String), usize>>,
}

impl Former {
    fn new(objects: &Objects) -> Self {
        let mut former = Self { names: BTreeMap::new(), namespaces: BTreeMap::new() };
        for (at, object) in objects.0.iter().enumerate() {
            for name in object.former_names() {
                let places = former.names.entry(name.to_owned()).or_default();
                if places.last() != Some(&at) {
                    places.push(at);
                }
            }
            let current = (object.id().namespace, object.namespace().to_owned());
            let first = former.namespaces.entry(object.original_id().namespace).or_default();
            first.entry(current).or_insert(at);
        }
        former
    }
}

struct Search<'a> {
    objects: &'a Objects,
    former: &'a Former,
    referrer: &'a Object,
    target: &'a Kind,
    field: &'a Field,
}

impl<'a> Search<'a> {
    /// The object that had a name. Of a map, the namespace beside the name is looked at too, where it is written.
    fn find(&self, name: &str, map: Option<Option<&str>>) -> anyhow::Result<Option<&'a Object>> {
        let empty = Vec::new();
        let places = self.former.names.get(name).unwrap_or(&empty);
        self.referrer.budget.look_at(1 + places.len())?;
        let candidates = places.iter().map(|at| &self.objects.0[*at]);
        let mut all: Vec<&Object> = candidates
            .filter(|it| it.former_ids().any(|it| self.target.selects_id(&it)))
            .filter(|it| self.sees(it))
            .collect();
        if let Some(namespace) = map.flatten() {
            // First by the former namespace, then by the current one.
            let originally = |it: &&Object| it.original_id().namespace == namespace;
            let places = self.former.namespaces.get(namespace);
            let places = places.into_iter().flat_map(BTreeMap::values);
            let mut looked = 0;
            let any = places.inspect(|_| looked += 1).any(|at| self.sees(&self.objects.0[*at]));
            self.referrer.budget.look_at(looked)?;
            all.retain(|it| if any { originally(it) } else { it.id().namespace == namespace });
        }
        all.retain(|it| self.fits(it));
        if all.len() == 1 {
            return Ok(all.pop());
        }
        all.retain(|it| self.same_affixes(it, true));
        if all.len() > 1 {
            all.retain(|it| self.same_affixes(it, false));
        }
        let Some(first) = all.first() else { return Ok(None) };
        let same = |it: &&Object| {
            it.name() == first.name() && (map.is_none() || it.namespace() == first.namespace())
        };
        if all.iter().all(same) {
            return Ok(Some(first));
        }
        let all: Vec<String> = all.iter().map(|it| it.id().to_string()).collect();
        anyhow::bail!("`{name}` is ambiguous: it may refer to {}", all.join(", "))
    }

    /// The objects that the referrer can name: those in its namespace, those in none, and, for a RoleBinding, those in
    /// its subjects' namespaces.
    fn sees(&self, object: &Object) -> bool {
        let (own, id) = (self.referrer.id(), object.id());
        own.is_cluster_scoped()
            || id.is_cluster_scoped()
            || id.namespace == own.namespace
            || self.referrer.kind() == "RoleBinding"
                && self.referrer.value["subjects"].as_array().into_iter().flatten().any(|it| {
                    it["kind"] == "ServiceAccount" && it["namespace"] == object.namespace()
                })
    }

    fn fits(&self, object: &Object) -> bool {
        let own = self.referrer.id();
        let role = &self.referrer.value["roleRef"];
        let is_role = match (role["apiGroup"].as_str(), role["kind"].as_str()) {
            (Some(group), Some(kind))
                if self.field.path.ends_with(&["roleRef".into(), "name".into()]) =>
            {
                let kind =
                    Kind { group: group.to_owned(), kind: kind.to_owned(), ..Kind::default() };
                object.former_ids().any(|it| kind.selects_id(&it))
            }
            _ => true,
        };
        is_role
            && (own.is_cluster_scoped()
                || object.is_cluster_scoped()
                || object.kind() == "ServiceAccount"
                || object.id().namespace == own.namespace)
    }

    fn same_affixes(&self, other: &Object, empty_is_any: bool) -> bool {
        [PREFIXES, SUFFIXES].iter().all(|key| {
            let (own, others) = (self.referrer.words(key), other.words(key));
            let (mut own, mut others) = (own.rev().peekable(), others.rev().peekable());
            match (own.peek().is_none(), others.peek().is_none()) {
                (false, false) => own.zip(others).all(|(a, b)| a == b),
                (a, b) => empty_is_any || a == b,
            }
        })
    }
}
