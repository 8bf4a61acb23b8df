//! Updates references to objects whose names have changed.
//!
//! If several objects had a name, the referenced one is chosen as in kustomize.

use std::collections::BTreeMap;

use super::{
    config::Config,
    fields::{Field, Gvk},
    object::{Object, PREFIXES, SUFFIXES},
    objects::Objects,
};
use go_data::yaml::Value;

pub fn update_references(objects: &mut Objects, config: &Config) -> anyhow::Result<()> {
    let mut former = FormerNames::new(objects);
    let fields = config.references.iter().map(|(_, fields)| fields.len()).sum();
    for at in 0..objects.0.len() {
        objects.0[at].budget.count_fields(fields)?;
        let id = objects.0[at].original_id();
        let mut fixed: Option<Object> = None;
        for (target, fields) in &config.references {
            for field in fields.iter().filter(|field| field.gvk.selects_id(&id)) {
                let referrer = &objects.0[at];
                let search = Search { objects, former: &former, referrer, target, field };
                let object = fixed.get_or_insert_with(|| referrer.clone());
                field.visit_values(object, None, &mut |value| update_value(value, &search))?;
            }
        }
        if let Some(fixed) = fixed {
            let old = std::mem::replace(&mut objects.0[at], fixed);
            let new = &objects.0[at];
            // Only a configuration can name such fields as references.
            if old.id() != new.id() || !old.former_ids().eq(new.former_ids()) {
                new.budget.count_objects(objects.0.len())?;
                former = FormerNames::new(objects);
            }
        }
    }
    Ok(())
}

fn update_value(value: &mut Value, search: &Search<'_>) -> anyhow::Result<()> {
    match value {
        Value::Null => Ok(()),
        Value::Array(items) => items.iter_mut().try_for_each(|item| match item {
            Value::Null => Ok(()),
            item => update_value(item, search),
        }),
        Value::Object(map) => {
            let Some(name) = map.get("name").and_then(Value::as_str) else {
                anyhow::bail!("there is no `name` there");
            };
            let namespace = map.get("namespace").and_then(Value::as_str);
            if let Some(found) = search.find_object(name, Some(namespace))? {
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
            if let Some(found) = search.find_object(name, None)? {
                found.budget.take_text(name, found.name())?;
                *name = found.name().to_owned();
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

/// Positions of objects by their original name and by their original namespace.
struct FormerNames {
    names: BTreeMap<String, Vec<usize>>,
    /// One object of each current namespace, by original namespace. A reference that can see one of them can see all.
    namespaces: BTreeMap<String, BTreeMap<(String, String), usize>>,
}

impl FormerNames {
    fn new(objects: &Objects) -> Self {
        let mut former = Self { names: BTreeMap::new(), namespaces: BTreeMap::new() };
        for (at, object) in objects.0.iter().enumerate() {
            for name in object.former_names() {
                let positions = former.names.entry(name.to_owned()).or_default();
                if positions.last() != Some(&at) {
                    positions.push(at);
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
    former: &'a FormerNames,
    referrer: &'a Object,
    target: &'a Gvk,
    field: &'a Field,
}

impl<'a> Search<'a> {
    /// Returns the object that had a name. `map` is the namespace that a reference which is a map may have.
    fn find_object(
        &self,
        name: &str,
        map: Option<Option<&str>>,
    ) -> anyhow::Result<Option<&'a Object>> {
        let empty = Vec::new();
        let positions = self.former.names.get(name).unwrap_or(&empty);
        self.referrer.budget.count_objects(1 + positions.len())?;
        let candidates = positions.iter().map(|at| &self.objects.0[*at]);
        let mut all: Vec<&Object> = candidates
            .filter(|object| object.former_ids().any(|id| self.target.selects_id(&id)))
            .filter(|object| self.can_see(object))
            .collect();
        if let Some(namespace) = map.flatten() {
            // First by the former namespace, then by the current one.
            let originally = |object: &&Object| object.original_id().namespace == namespace;
            let positions = self.former.namespaces.get(namespace);
            let positions = positions.into_iter().flat_map(BTreeMap::values);
            let mut looked = 0;
            let any =
                positions.inspect(|_| looked += 1).any(|at| self.can_see(&self.objects.0[*at]));
            self.referrer.budget.count_objects(looked)?;
            all.retain(
                |object| if any { originally(object) } else { object.id().namespace == namespace },
            );
        }
        all.retain(|object| self.allows_target(object));
        if all.len() == 1 {
            return Ok(all.pop());
        }
        all.retain(|object| self.has_same_affixes(object, true));
        if all.len() > 1 {
            all.retain(|object| self.has_same_affixes(object, false));
        }
        let Some(first) = all.first() else { return Ok(None) };
        let same = |object: &&Object| {
            object.name() == first.name()
                && (map.is_none() || object.namespace() == first.namespace())
        };
        if all.iter().all(same) {
            return Ok(Some(first));
        }
        let all: Vec<String> = all.iter().map(|object| object.id().to_string()).collect();
        anyhow::bail!("`{name}` is ambiguous: it may refer to {}", all.join(", "))
    }

    /// Returns true for objects that the referrer can name: those in its namespace, those in none, and, for a
    /// RoleBinding, those in its subjects' namespaces.
    fn can_see(&self, object: &Object) -> bool {
        let (own, id) = (self.referrer.id(), object.id());
        own.is_cluster_scoped()
            || id.is_cluster_scoped()
            || id.namespace == own.namespace
            || self.referrer.kind() == "RoleBinding"
                && self.referrer.value["subjects"].as_array().into_iter().flatten().any(|subject| {
                    subject["kind"] == "ServiceAccount"
                        && subject["namespace"] == object.namespace()
                })
    }

    fn allows_target(&self, object: &Object) -> bool {
        let own = self.referrer.id();
        let role = &self.referrer.value["roleRef"];
        let is_role = match (role["apiGroup"].as_str(), role["kind"].as_str()) {
            (Some(group), Some(kind))
                if self.field.path.ends_with(&["roleRef".into(), "name".into()]) =>
            {
                let kind = Gvk { group: group.to_owned(), kind: kind.to_owned(), ..Gvk::default() };
                object.former_ids().any(|id| kind.selects_id(&id))
            }
            _ => true,
        };
        is_role
            && (own.is_cluster_scoped()
                || object.is_cluster_scoped()
                || object.kind() == "ServiceAccount"
                || object.id().namespace == own.namespace)
    }

    fn has_same_affixes(&self, other: &Object, empty_is_any: bool) -> bool {
        [PREFIXES, SUFFIXES].iter().all(|key| {
            let (own, others) = (self.referrer.annotation_items(key), other.annotation_items(key));
            let (mut own, mut others) = (own.rev().peekable(), others.rev().peekable());
            match (own.peek().is_none(), others.peek().is_none()) {
                (false, false) => own.zip(others).all(|(a, b)| a == b),
                (a, b) => empty_is_any || a == b,
            }
        })
    }
}
