//! Kubernetes' own kinds as kustomize 5.8.1 knows them: the scope of each, and the lists that a strategic merge patch
//! merges, with the merge keys of their items. The facts are in `kinds.txt`.
//!
//! A kind that is not listed, such as a custom resource, counts as namespaced, and a patch replaces its lists whole.

use std::{collections::BTreeMap, sync::LazyLock};

/// A type, as far as it leads to a list that is merged: its fields by name.
pub type Type = &'static BTreeMap<&'static str, TypeField>;

#[derive(Debug, PartialEq)]
pub struct TypeField {
    /// The merge keys of a list that is merged; none if its items are scalars.
    pub keys: Option<Vec<&'static str>>,
    /// The type of the field, or of the list's items.
    inner: &'static str,
}

impl TypeField {
    pub fn inner_type(&self) -> Option<Type> {
        TABLE.types.get(self.inner)
    }
}

pub fn is_cluster_scoped(api_version: &str, kind: &str) -> bool {
    TABLE.kinds.get(&(api_version, kind)).is_some_and(|entry| entry.0)
}

/// Returns the type of a kind.
pub fn find_type(api_version: &str, kind: &str) -> Option<Type> {
    TABLE.types.get(TABLE.kinds.get(&(api_version, kind))?.1)
}

/// Returns the largest number of merge keys of a list.
#[cfg(test)]
pub fn most_merge_keys() -> usize {
    let fields = TABLE.types.values().flat_map(BTreeMap::values);
    fields.filter_map(|field| field.keys.as_ref()).map(Vec::len).max().unwrap_or_default()
}

struct Table {
    /// Its scope (true if it is cluster-scoped) and its type, by apiVersion and kind.
    kinds: BTreeMap<(&'static str, &'static str), (bool, &'static str)>,
    types: BTreeMap<&'static str, BTreeMap<&'static str, TypeField>>,
}

static TABLE: LazyLock<Table> = LazyLock::new(|| {
    let lines = |text: &'static str| {
        text.split('\n').filter(|line| !line.starts_with('#')).fold(Vec::new(), |mut all, line| {
            match (line.split_once(": "), all.last_mut()) {
                (Some((name, words)), _) => all.push((name, vec![words])),
                (None, Some((_, more))) => more.push(line),
                (None, None) => {}
            }
            all
        })
    };
    let (kinds, types) = include_str!("kinds.txt").split_once("\n\n").unwrap_or_default();
    let types: BTreeMap<_, BTreeMap<_, _>> = lines(types)
        .into_iter()
        .map(|(name, text)| {
            (name, text.into_iter().flat_map(str::split_whitespace).map(parse_field).collect())
        })
        .collect();
    let mut table = Table { kinds: BTreeMap::new(), types };
    for (api_version, text) in lines(kinds) {
        for word in text.into_iter().flat_map(str::split_whitespace) {
            let (kind, name) = word.split_once('=').unwrap_or((word, ""));
            let bare = kind.trim_start_matches('!');
            let name = match name {
                "" if table.types.contains_key(bare) => bare,
                "" => "Object",
                name => name,
            };
            table.kinds.insert((api_version, bare), (kind != bare, name));
        }
    }
    table
});

/// Parses `name[key,key]:Type`.
fn parse_field(word: &'static str) -> (&'static str, TypeField) {
    let (name, inner) = word.split_once(':').unwrap_or((word, ""));
    let Some((name, keys)) = name.split_once('[') else {
        return (name, TypeField { keys: None, inner });
    };
    let keys = keys.trim_end_matches(']').split(',').filter(|key| !key.is_empty()).collect();
    (name, TypeField { keys: Some(keys), inner })
}
