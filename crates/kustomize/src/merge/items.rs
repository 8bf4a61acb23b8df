//! Lists whose items are merged by their keys. The order of the items is not the obvious one: it is kustomize's.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::kinds::Type, walk};
use go_data::yaml::Value;

/// Merges two lists by the keys of their items, of which there are one or two.
pub fn items(
    ours: Vec<Value>,
    patch: Vec<Value>,
    keys: &[&str],
    inner: Option<Type>,
) -> anyhow::Result<Vec<Value>> {
    let identities = identities(&ours, &patch, keys)?;
    let is_used = |key: &usize| identities.iter().any(|identity| !identity[*key].is_empty());
    let used: Vec<usize> = (0..keys.len()).filter(is_used).collect();
    let keys: Vec<&str> = used.iter().map(|key| keys[*key]).collect();

    let (mut ours, mut patch) = (Keyed::new(ours, &keys), Keyed::new(patch, &keys));
    let mut added = Keyed::new(Vec::new(), &keys);
    for identity in &identities {
        let values: Vec<&str> = used.iter().map(|key| identity[*key].as_str()).collect();
        let (at, new) = (ours.first(&values), patch.first(&values));
        let (mine, theirs) = (at.map(|at| &ours.list[at]), new.map(|new| &patch.list[new]));
        if mine.is_some() && theirs.is_some_and(|item| item["$patch"] == "replace") {
            anyhow::bail!("`$patch: replace` in an item of a list is not supported");
        }
        let merged = walk(mine.cloned(), theirs.cloned(), inner)?;
        let merged = merged.filter(|item| item.as_object().is_some_and(|map| !map.is_empty()));
        let Some(mut merged) = merged else {
            for place in ours.with_keys(&values) {
                ours.set(place, Value::Null);
            }
            // The patch's item has been applied.
            if let Some(new) = new {
                patch.set(new, Value::Null);
            }
            continue;
        };
        for (key, value) in keys.iter().zip(&values) {
            if merged.get(*key).is_none() && !value.is_empty() {
                // A key that only the other side gave: kustomize writes it down as it is spelled.
                merged[*key] = spelled(value);
            }
        }
        if let Some(at) = at {
            ours.set(at, merged.clone());
        }
        added.put(merged, &values);
    }
    for item in ours.into_items() {
        let identity = identity(&item, &keys)?;
        let values: Vec<&str> = identity.iter().map(String::as_str).collect();
        if keys.len() == 1 {
            added.put(item, &values);
            continue;
        }
        for place in added.places(&values) {
            added.set(place, Value::Null);
        }
        added.push(item);
    }
    Ok(added.into_items().collect())
}

/// The identities of all items, those of the patch first.
fn identities(ours: &[Value], patch: &[Value], keys: &[&str]) -> anyhow::Result<Vec<Vec<String>>> {
    let mut identities = Vec::new();
    let mut known = BTreeSet::new();
    for item in patch.iter().chain(ours) {
        let values = identity(item, keys)?;
        if values[0].is_empty() {
            anyhow::bail!("an item has no `{}`, the merge key of its list", keys[0]);
        }
        if known.insert(values.clone()) {
            identities.push(values);
        }
    }
    complete(&mut identities);
    Ok(identities)
}

/// An item without a second key is the first one with the same first key that has one.
fn complete(identities: &mut [Vec<String>]) {
    let mut seconds = BTreeMap::new();
    for identity in &*identities {
        if let [first, second] = identity.as_slice()
            && !second.is_empty()
        {
            seconds.entry(first.clone()).or_insert_with(|| second.clone());
        }
    }
    for identity in identities {
        if let [first, second] = identity.as_mut_slice()
            && second.is_empty()
            && let Some(known) = seconds.get(first)
        {
            second.clone_from(known);
        }
    }
}

/// Items and the places of each identity among them.
struct Keyed<'k> {
    keys: &'k [&'k str],
    /// `null` in the place of an item that was removed.
    list: Vec<Value>,
    places: BTreeMap<Vec<String>, BTreeSet<usize>>,
}

impl<'k> Keyed<'k> {
    fn new(list: Vec<Value>, keys: &'k [&'k str]) -> Self {
        let mut keyed = Self { keys, list: Vec::new(), places: BTreeMap::new() };
        list.into_iter().for_each(|item| keyed.push(item));
        keyed
    }

    fn push(&mut self, item: Value) {
        self.list.push(Value::Null);
        self.set(self.list.len() - 1, item);
    }

    /// Replaces an item; `null` removes it.
    fn set(&mut self, place: usize, item: Value) {
        let old = std::mem::replace(&mut self.list[place], item);
        if !old.is_null() {
            let identity = self.identity(&old);
            if let Some(places) = self.places.get_mut(&identity) {
                places.remove(&place);
                if places.is_empty() {
                    self.places.remove(&identity);
                }
            }
        }
        if !self.list[place].is_null() {
            let identity = self.identity(&self.list[place]);
            self.places.entry(identity).or_default().insert(place);
        }
    }

    /// Replaces the items that have these values, or adds one.
    fn put(&mut self, item: Value, values: &[&str]) {
        let places = self.with_keys(values);
        if places.is_empty() {
            self.push(item);
            return;
        }
        for place in places {
            self.set(place, item.clone());
        }
    }

    fn identity(&self, item: &Value) -> Vec<String> {
        self.keys.iter().map(|key| text(item, key).unwrap_or_default()).collect()
    }

    /// The places of items with these values, of which an empty one stands for any.
    fn places(&self, values: &[&str]) -> BTreeSet<usize> {
        let start: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        if !values.contains(&"") {
            return self.places.get(&start).cloned().unwrap_or_default();
        }
        let has_first = |identity: &Vec<String>| identity.first() == start.first();
        let found =
            self.places.range(start.clone()..).take_while(|(identity, _)| has_first(identity));
        found.flat_map(|(_, places)| places).copied().collect()
    }

    /// The first place of an item with these values.
    fn first(&self, values: &[&str]) -> Option<usize> {
        self.places(values).first().copied()
    }

    /// The places of items with these values that have all keys, though a value may be empty.
    fn with_keys(&self, values: &[&str]) -> Vec<usize> {
        let has_keys =
            |place: &usize| self.keys.iter().all(|key| self.list[*place].get(*key).is_some());
        self.places(values).into_iter().filter(has_keys).collect()
    }

    fn into_items(self) -> impl Iterator<Item = Value> {
        self.list.into_iter().filter(|item| !item.is_null())
    }
}

fn identity(item: &Value, keys: &[&str]) -> anyhow::Result<Vec<String>> {
    keys.iter().map(|key| text(item, key)).collect()
}

/// A key's value as it is written; empty where there is none.
fn text(item: &Value, key: &str) -> anyhow::Result<String> {
    #[cfg(test)]
    tests::READS.with(|reads| reads.set(reads.get() + 1));
    match item.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(it)) => Ok(it.clone()),
        Some(Value::Number(it)) => Ok(it.to_string()),
        Some(_) => anyhow::bail!("`{key}`, the merge key of a list, is not a scalar"),
    }
}

fn spelled(text: &str) -> Value {
    text.parse::<i64>().map_or_else(|_| text.into(), Value::from)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::{super::super::kinds, *};
    use go_data::yaml::json;

    thread_local! {
        /// How often a key of an item was read.
        pub static READS: Cell<usize> = const { Cell::new(0) };
    }

    const KEYS: &[&str] = &["port", "protocol"];

    #[test]
    fn twice_the_items_are_twice_the_work() {
        type Item = fn(usize) -> Value;
        let table: [(&str, Item, Item); 5] = [
            (
                "distinct",
                |n| json!({"port": n, "protocol": "TCP"}),
                |n| json!({"port": n, "protocol": "TCP"}),
            ),
            (
                "a key left open",
                |n| json!({"port": n, "protocol": "TCP"}),
                |n| json!({"port": n, "a": 1}),
            ),
            (
                "one port",
                |n| json!({"port": 1, "protocol": n}),
                |n| json!({"port": 1, "protocol": n}),
            ),
            ("the same", |_| json!({"port": 1, "protocol": "TCP"}), |_| json!({"port": 1})),
            (
                "deleted",
                |n| json!({"port": n, "protocol": "TCP"}),
                |n| json!({"port": n, "$patch": "delete"}),
            ),
        ];
        for (case, mine, theirs) in table {
            let work = |count: usize| {
                READS.set(0);
                let (ours, patch) = ((0..count).map(mine), (0..count).rev().map(theirs));
                items(ours.collect(), patch.collect(), KEYS, None).unwrap();
                READS.get()
            };
            let (once, twice) = (work(100), work(200));
            assert!(twice * 10 <= once * 22, "{case}: {once} reads for 100, {twice} for 200");
        }
    }

    #[test]
    fn an_item_without_a_second_key_is_the_first_one_that_has_it() {
        let text =
            |all: &[[&str; 2]]| all.iter().map(|pair| pair.map(str::to_owned).to_vec()).collect();
        let mut identities: Vec<Vec<String>> =
            text(&[["1", ""], ["2", ""], ["3", "a"], ["1", "b"], ["1", "c"], ["3", ""]]);
        complete(&mut identities);
        let expected: Vec<Vec<String>> =
            text(&[["1", "b"], ["2", ""], ["3", "a"], ["1", "b"], ["1", "c"], ["3", "a"]]);
        assert_eq!(identities, expected);
    }

    #[test]
    fn no_list_is_merged_by_more_than_two_keys() {
        assert_eq!(kinds::most_merge_keys(), 2);
    }
}
