//! Who names another object by what it was called gets what it is called now.
//!
//! How it is found which object is meant, of several that were called so, is kustomize's way.

mod table;

use self::table::{Reference, Target, references};
use super::{
    fields::Field,
    object::{Object, Objects},
};
use crate::yaml::Value;

pub fn fix(objects: &mut Objects) -> anyhow::Result<()> {
    for at in 0..objects.0.len() {
        let references = references(&objects.0[at].original_id().kind);
        if references.is_empty() {
            continue;
        }
        let mut fixed = objects.0[at].clone();
        for Reference { target, field } in references {
            let search =
                Search { objects, referrer: &objects.0[at], target: &target, field: &field };
            field.visit(&mut fixed, None, &mut |it| set(it, &search))?;
        }
        objects.0[at] = fixed;
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
            let found = search.find(name, search.candidates(namespace), true)?;
            if let Some(found) = found {
                map.insert("name".to_owned(), found.name().into());
                if !found.namespace().is_empty() {
                    map.insert("namespace".to_owned(), found.namespace().into());
                }
            }
            Ok(())
        }
        Value::String(name) => {
            if let Some(found) = search.find(name, search.visible(), false)? {
                *name = found.name().to_owned();
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

struct Search<'a> {
    objects: &'a Objects,
    referrer: &'a Object,
    target: &'a Target,
    field: &'a Field,
}

impl<'a> Search<'a> {
    /// What the referrer can name at all: what is in its namespace, what is in none, and, for a
    /// RoleBinding, what is in its subjects' namespaces.
    fn visible(&self) -> Vec<&'a Object> {
        let own = self.referrer.id();
        let subjects = match &self.referrer.value["subjects"] {
            Value::Array(list) if self.referrer.kind() == "RoleBinding" => list.as_slice(),
            _ => &[],
        };
        let sees = |it: &&Object| {
            let id = it.id();
            own.is_cluster_scoped()
                || id.is_cluster_scoped()
                || id.namespace == own.namespace
                || subjects.iter().any(|subject| {
                    subject["kind"] == "ServiceAccount" && subject["namespace"] == it.namespace()
                })
        };
        self.objects.0.iter().filter(sees).collect()
    }

    /// Of those, what was, or else is, in the namespace that is named.
    fn candidates(&self, namespace: Option<&str>) -> Vec<&'a Object> {
        let mut all = self.visible();
        let Some(namespace) = namespace else { return all };
        let originally = |it: &&'a Object| it.original_id().namespace == namespace;
        if all.iter().any(originally) {
            all.retain(|it| originally(it));
        } else {
            all.retain(|it| it.id().namespace == namespace);
        }
        all
    }

    fn find(
        &self,
        name: &str,
        mut candidates: Vec<&'a Object>,
        with_namespace: bool,
    ) -> anyhow::Result<Option<&'a Object>> {
        candidates.retain(|it| it.former_ids().any(|it| it.name == name));
        candidates.retain(|it| it.former_ids().any(|it| self.target.selects(&it)));
        if self.field.path.ends_with("roleRef/name") {
            let role = &self.referrer.value["roleRef"];
            if let (Some(group), Some(kind)) = (role["apiGroup"].as_str(), role["kind"].as_str()) {
                candidates.retain(|it| {
                    it.former_ids().any(|it| {
                        (group.is_empty() || it.group == group)
                            && (kind.is_empty() || it.kind == kind)
                    })
                });
            }
        }
        let own = self.referrer.id();
        candidates.retain(|it| {
            own.is_cluster_scoped()
                || it.is_cluster_scoped()
                || it.kind() == "ServiceAccount"
                || it.id().namespace == own.namespace
        });
        if candidates.len() == 1 {
            return Ok(candidates.pop());
        }
        candidates.retain(|it| self.same_affixes(it, true));
        if candidates.len() > 1 {
            candidates.retain(|it| self.same_affixes(it, false));
        }
        let Some(first) = candidates.first() else { return Ok(None) };
        let same = |it: &&Object| {
            it.name() == first.name() && (!with_namespace || it.namespace() == first.namespace())
        };
        if candidates.iter().all(same) {
            return Ok(Some(first));
        }
        let all: Vec<String> = candidates.iter().map(|it| it.id().to_string()).collect();
        anyhow::bail!("`{name}` could be each of {}", all.join(", "))
    }

    fn same_affixes(&self, other: &Object, empty_is_any: bool) -> bool {
        let same = |a: &[String], b: &[String]| {
            let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
            match short {
                [] => empty_is_any || long.is_empty(),
                short => long.ends_with(short),
            }
        };
        same(&self.referrer.prefixes, &other.prefixes)
            && same(&self.referrer.suffixes, &other.suffixes)
    }
}
