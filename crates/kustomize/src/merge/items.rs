//! Lists whose items are merged by their keys. The order of the items is not the obvious one: it is kustomize's.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::kinds::Type, merge_values};
use go_data::yaml::Value;

/// Merges two lists by the keys of their items, of which there are one or two.
pub fn merge_items(
    ours: Vec<Value>,
    patch: Vec<Value>,
    keys: &[&str],
    inner: Option<Type>,
) -> anyhow::Result<Vec<Value>> {
    let identities = collect_identities(&ours, &patch, keys)?;
    let is_used = |key: &usize| identities.iter().any(|identity| !identity[*key].is_empty());
    let used: Vec<usize> = (0..keys.len()).filter(is_used).collect();
    let keys: Vec<&str> = used.iter().map(|key| keys[*key]).collect();

    let (mut ours, mut patch) = (Keyed::new(ours, &keys), Keyed::new(patch, &keys));
    let mut added = Keyed::new(Vec::new(), &keys);
    for identity in &identities {
        let values: Vec<&str> = used.iter().map(|key| identity[*key].as_str()).collect();
        let (at, new) = (ours.find_first(&values), patch.find_first(&values));
        let (mine, theirs) = (at.map(|at| &ours.list[at]), new.map(|new| &patch.list[new]));
        if mine.is_some() && theirs.is_some_and(|item| item["$patch"] == "replace") {
            anyhow::bail!("`$patch: replace` in an item of a list is not supported");
        }
        let merged = merge_values(mine.cloned(), theirs.cloned(), inner)?;
        let merged = merged.filter(|item| item.as_object().is_some_and(|map| !map.is_empty()));
        let Some(mut merged) = merged else {
            for position in ours.find_with_keys(&values) {
                ours.replace_item(position, Value::Null);
            }
            // The patch's item has been applied.
            if let Some(new) = new {
                patch.replace_item(new, Value::Null);
            }
            continue;
        };
        for (key, value) in keys.iter().zip(&values) {
            if merged.get(*key).is_none() && !value.is_empty() {
                // A key that only the other side gave: kustomize writes it down as it is spelled.
                merged[*key] = parse_scalar(value);
            }
        }
        if let Some(at) = at {
            ours.replace_item(at, merged.clone());
        }
        added.replace_or_push(merged, &values);
    }
    for item in ours.into_items() {
        let identity = read_identity(&item, &keys)?;
        let values: Vec<&str> = identity.iter().map(String::as_str).collect();
        if keys.len() == 1 {
            added.replace_or_push(item, &values);
            continue;
        }
        for position in added.find_positions(&values) {
            added.replace_item(position, Value::Null);
        }
        added.push(item);
    }
    Ok(added.into_items().collect())
}

/// Collects the identities of all items, those of the patch first.
fn collect_identities(
    ours: &[Value],
    patch: &[Value],
    keys: &[&str],
) -> anyhow::Result<Vec<Vec<String>>> {
    let mut identities = Vec::new();
    let mut known = BTreeSet::new();
    for item in patch.iter().chain(ours) {
        let values = read_identity(item, keys)?;
        if values[0].is_empty() {
            anyhow::bail!("an item has no `{}`, the merge key of its list", keys[0]);
        }
        if known.insert(values.clone()) {
            identities.push(values);
        }
    }
    fill_second_keys(&mut identities);
    Ok(identities)
}

/// Gives an item without a second key that of the first item with the same first key that has one.
fn fill_second_keys(identities: &mut [Vec<String>]) {
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

/// Items, with their positions by identity.
struct Keyed<'k> {
    keys: &'k [&'k str],
    /// The items; `null` stands for one that was removed.
    list: Vec<Value>,
    positions: BTreeMap<Vec<String>, BTreeSet<usize>>,
}

impl<'k> Keyed<'k> {
    fn new(list: Vec<Value>, keys: &'k [&'k str]) -> Self {
        let mut keyed = Self { keys, list: Vec::new(), positions: BTreeMap::new() };
        list.into_iter().for_each(|item| keyed.push(item));
        keyed
    }

    fn push(&mut self, item: Value) {
        self.list.push(Value::Null);
        self.replace_item(self.list.len() - 1, item);
    }

    /// Replaces an item; `null` removes it.
    fn replace_item(&mut self, position: usize, item: Value) {
        let old = std::mem::replace(&mut self.list[position], item);
        if !old.is_null() {
            let identity = self.identity_of(&old);
            if let Some(positions) = self.positions.get_mut(&identity) {
                positions.remove(&position);
                if positions.is_empty() {
                    self.positions.remove(&identity);
                }
            }
        }
        if !self.list[position].is_null() {
            let identity = self.identity_of(&self.list[position]);
            self.positions.entry(identity).or_default().insert(position);
        }
    }

    /// Replaces the items that have these values, or adds one.
    fn replace_or_push(&mut self, item: Value, values: &[&str]) {
        let positions = self.find_with_keys(values);
        if positions.is_empty() {
            self.push(item);
            return;
        }
        for position in positions {
            self.replace_item(position, item.clone());
        }
    }

    fn identity_of(&self, item: &Value) -> Vec<String> {
        self.keys.iter().map(|key| key_text(item, key).unwrap_or_default()).collect()
    }

    /// Returns the positions of items with these values, of which an empty one stands for any.
    fn find_positions(&self, values: &[&str]) -> BTreeSet<usize> {
        let start: Vec<String> = values.iter().map(|value| (*value).to_owned()).collect();
        if !values.contains(&"") {
            return self.positions.get(&start).cloned().unwrap_or_default();
        }
        let has_first = |identity: &Vec<String>| identity.first() == start.first();
        let found =
            self.positions.range(start.clone()..).take_while(|(identity, _)| has_first(identity));
        found.flat_map(|(_, positions)| positions).copied().collect()
    }

    /// Returns the first position of an item with these values.
    fn find_first(&self, values: &[&str]) -> Option<usize> {
        self.find_positions(values).first().copied()
    }

    /// Returns the positions of items with these values that have all keys, though a value may be empty.
    fn find_with_keys(&self, values: &[&str]) -> Vec<usize> {
        let has_keys =
            |position: &usize| self.keys.iter().all(|key| self.list[*position].get(*key).is_some());
        self.find_positions(values).into_iter().filter(has_keys).collect()
    }

    fn into_items(self) -> impl Iterator<Item = Value> {
        self.list.into_iter().filter(|item| !item.is_null())
    }
}

fn read_identity(item: &Value, keys: &[&str]) -> anyhow::Result<Vec<String>> {
    keys.iter().map(|key| key_text(item, key)).collect()
}

/// Returns the value of a key as it is written, or an empty text if there is none.
fn key_text(item: &Value, key: &str) -> anyhow::Result<String> {
    #[cfg(test)]
    tests::READS.with(|reads| reads.set(reads.get() + 1));
    match item.get(key) {
        None | Some(Value::Null) => Ok(String::new()),
        Some(Value::String(text)) => Ok(text.clone()),
        Some(Value::Number(number)) => Ok(number.to_string()),
        Some(_) => anyhow::bail!("`{key}`, the merge key of a list, is not a scalar"),
    }
}

fn parse_scalar(text: &str) -> Value {
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
                merge_items(ours.collect(), patch.collect(), KEYS, None).unwrap();
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
        fill_second_keys(&mut identities);
        let expected: Vec<Vec<String>> =
            text(&[["1", "b"], ["2", ""], ["3", "a"], ["1", "b"], ["1", "c"], ["3", "a"]]);
        assert_eq!(identities, expected);
    }

    #[test]
    fn no_list_is_merged_by_more_than_two_keys() {
        assert_eq!(kinds::most_merge_keys(), 2);
    }
}
