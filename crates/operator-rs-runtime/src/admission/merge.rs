//! Merges the changes of a defaulter into the object as the API server sent it. A patch from that object to the
//! serialized type would remove the fields that the type does not know, and add fields that only the type sets.

use serde_json::{Map, Value};
use std::collections::{HashMap, HashSet, VecDeque};

/// Returns `raw`, which deserializes as `before`, with the changes from `before` to `after`.
pub fn merge_changes(raw: &Value, before: &Value, after: &Value) -> Value {
    if before == after {
        return raw.clone();
    }
    match (raw, before, after) {
        (Value::Object(raw), Value::Object(before), Value::Object(after)) => merge_fields(raw, before, after).into(),
        (Value::Array(raw), Value::Array(before), Value::Array(after)) if all_read_as(raw, before) => {
            let merged = find_origins(before, after).into_iter().zip(after).map(|(origin, after)| match origin {
                Some(index) => merge_changes(&raw[index], &before[index], after),
                None => after.clone(),
            });
            merged.collect()
        }
        _ => after.clone(),
    }
}

fn merge_fields(
    raw: &Map<String, Value>,
    before: &Map<String, Value>,
    after: &Map<String, Value>,
) -> Map<String, Value> {
    let mut merged = raw.clone();
    for (name, value) in after {
        match (raw.get(name), before.get(name)) {
            (_, Some(old)) if old == value => {}
            (Some(raw), Some(old)) => drop(merged.insert(name.clone(), merge_changes(raw, old, value))),
            _ => drop(merged.insert(name.clone(), value.clone())),
        }
    }
    merged.retain(|name, _| after.contains_key(name) || !before.contains_key(name));
    merged
}

/// Returns true if each item was read from the raw item at the same index. This is not so if the type is a set.
fn all_read_as(raw: &[Value], read: &[Value]) -> bool {
    raw.len() == read.len() && raw.iter().zip(read).all(|(raw, read)| reads_as(raw, read))
}

fn reads_as(raw: &Value, read: &Value) -> bool {
    match (raw, read) {
        (Value::Object(raw), Value::Object(read)) => {
            raw.iter().all(|(name, raw)| read.get(name).is_none_or(|read| reads_as(raw, read)))
        }
        (Value::Array(raw), Value::Array(read)) => all_read_as(raw, read) || are_same_set(raw, read),
        (Value::Number(raw), Value::Number(read)) => raw.as_f64() == read.as_f64(),
        (raw, read) => raw == read,
    }
}

fn are_same_set(a: &[Value], b: &[Value]) -> bool {
    a.iter().collect::<HashSet<_>>() == b.iter().collect()
}

/// Finds the index that each item of `after` had in `before`, if it is unambiguous.
fn find_origins(before: &[Value], after: &[Value]) -> Vec<Option<usize>> {
    if let (Some(before), Some(after)) = (unique_names(before), unique_names(after)) {
        return find_each(&before, &after);
    }
    let (before, after): (Vec<_>, Vec<_>) = (before.iter().collect(), after.iter().collect());
    let equal = find_each(&before, &after);
    let are_moved = equal.iter().all(Option::is_some);
    if before.len() != after.len() || are_moved {
        return equal;
    }
    let is_renamed = |i: usize| matches!((before[i].get("name"), after[i].get("name")), (Some(a), Some(b)) if a != b);
    (0..after.len()).map(|i| (!is_renamed(i)).then_some(i)).collect()
}

/// Returns the names of the items if every item has a name and no two are the same.
fn unique_names(items: &[Value]) -> Option<Vec<&Value>> {
    let names: Vec<_> = items.iter().map(|item| item.get("name")).collect::<Option<_>>()?;
    let unique: HashSet<_> = names.iter().collect();
    (unique.len() == names.len()).then_some(names)
}

/// Finds the index of each wanted value in `values`. No index is returned twice.
fn find_each(values: &[&Value], wanted: &[&Value]) -> Vec<Option<usize>> {
    let mut indexes = HashMap::<&Value, VecDeque<usize>>::new();
    values.iter().enumerate().for_each(|(i, value)| indexes.entry(value).or_default().push_back(i));
    wanted.iter().map(|value| indexes.get_mut(*value)?.pop_front()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::{Deserialize, Serialize};
    use serde_json::json;
    use std::collections::{BTreeMap, BTreeSet};

    /// A type with every feature that changes an object when it is only read and written.
    #[derive(Clone, Debug, Default, Deserialize, Serialize)]
    struct Known {
        absent: Option<i64>,
        #[serde(default)]
        made_up: i64,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        name: Option<String>,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        items: Vec<Known>,
        #[serde(default)]
        by_name: BTreeMap<String, Known>,
        #[serde(default)]
        sorted: BTreeSet<String>,
    }

    /// Returns the object after the patch, and checks that the patch applies.
    fn edit(raw: &Value, edit: impl FnOnce(&mut Known)) -> Value {
        let mut known: Known = serde_json::from_value(raw.clone()).unwrap();
        let before = json!(known);
        edit(&mut known);
        let after = json!(known);
        let merged = merge_changes(raw, &before, &after);
        let (mut patched, patch) = (raw.clone(), json_patch::diff(raw, &merged));
        json_patch::patch(&mut patched, &patch).unwrap_or_else(|error| panic!("{raw}\n{patch}\n{error}"));
        assert_eq!(patched, merged, "{raw}\n{patch}");
        let read: Known = serde_json::from_value(patched).unwrap();
        assert_eq!(json!(read), after, "{raw}");
        merged
    }

    #[test]
    fn a_change_of_nothing_is_none() {
        let raw = json!({ "unknown": 1, "items": [{ "unknown": 2 }], "sorted": ["b", "a"] });
        assert_eq!(edit(&raw, |_| {}), raw);
    }

    #[test]
    fn fields_that_the_type_makes_up_are_added_when_they_are_set() {
        let raw = json!({});
        assert_eq!(edit(&raw, |known| known.absent = Some(1)), json!({ "absent": 1 }));
        assert_eq!(edit(&raw, |known| known.made_up = 1), json!({ "made_up": 1 }));
        let raw = json!({ "absent": 1, "unknown": null });
        assert_eq!(edit(&raw, |known| known.absent = None), json!({ "absent": null, "unknown": null }));
    }

    #[test]
    fn fields_that_the_type_does_not_know_survive_in_lists() {
        let raw = json!({ "items": [{ "name": "a", "x": 1 }, { "name": "b", "x": 2 }, { "x": 3 }] });
        let defaulted = edit(&raw, |known| known.items.iter_mut().for_each(|item| item.made_up = 7));
        let expected = json!([{ "name": "a", "x": 1, "made_up": 7 }, { "name": "b", "x": 2, "made_up": 7 }, { "x": 3, "made_up": 7 }]);
        assert_eq!(defaulted["items"], expected);
        let removed = edit(&raw, |known| drop(known.items.remove(0)));
        assert_eq!(removed["items"], json!([raw["items"][1], raw["items"][2]]));
        let turned = edit(&raw, |known| known.items.reverse());
        assert_eq!(turned["items"], json!([raw["items"][2], raw["items"][1], raw["items"][0]]));
        let renamed = edit(&raw, |known| known.items[0].name = Some("c".into()));
        assert_eq!(renamed["items"][0].get("x"), None, "it is another one");
        assert_eq!((&renamed["items"][1], &renamed["items"][2]), (&raw["items"][1], &raw["items"][2]));
    }

    #[test]
    fn items_with_names_may_move_and_change_at_once() {
        let raw = json!({ "items": [{ "name": "a", "x": 1 }, { "name": "b", "x": 2 }] });
        let inserted = edit(&raw, |known| {
            known.items.insert(0, Known { name: Some("new".into()), ..Known::default() });
            known.items[2].made_up = 7;
        });
        assert_eq!(inserted["items"][0].get("x"), None);
        assert_eq!(inserted["items"][1], raw["items"][0]);
        assert_eq!(inserted["items"][2], json!({ "name": "b", "x": 2, "made_up": 7 }));
    }

    #[test]
    fn a_list_that_the_type_sorts_becomes_what_the_type_writes() {
        let raw = json!({ "sorted": ["c", "a"] });
        let inserted = edit(&raw, |known| known.sorted.extend(["b".into()]));
        assert_eq!(inserted["sorted"], json!(["a", "b", "c"]));
    }

    struct Random(u64);

    impl Random {
        fn below(&mut self, n: u64) -> u64 {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            self.0 % n
        }

        fn raw(&mut self, depth: u64) -> Value {
            let mut object = Map::new();
            for field in ["absent", "made_up", "unknown"] {
                if self.below(2) == 0 {
                    object.insert(field.into(), self.below(3).into());
                }
            }
            if self.below(2) == 0 {
                object.insert("name".into(), ["a", "b", "c"][self.below(3) as usize].into());
            }
            if depth > 0 && self.below(4) > 0 {
                object.insert("items".into(), (0..self.below(4)).map(|_| self.raw(depth - 1)).collect());
                object.insert("by_name".into(), json!({ "k/~": self.raw(depth - 1) }));
                object.insert(
                    "sorted".into(),
                    json!((0..self.below(3)).map(|n| (9 - n).to_string()).collect::<Vec<_>>()),
                );
            }
            object.into()
        }

        fn change(&mut self, known: &mut Known) {
            match self.below(9) {
                0 => known.absent = Some(5),
                1 => known.absent = None,
                2 => known.made_up += 1,
                3 => known.items.push(Known { made_up: 9, ..Known::default() }),
                4 => known.items.insert(0, Known { made_up: 9, ..Known::default() }),
                5 => drop(known.items.pop()),
                6 => known.sorted.extend(["5".into()]),
                7 => known.by_name.clear(),
                _ => known.items.reverse(),
            }
            for child in known.items.iter_mut().chain(known.by_name.values_mut()) {
                if self.below(2) == 0 {
                    self.change(child);
                }
            }
        }
    }

    fn mark(known: &mut Known) {
        known.made_up += 1;
        known.items.iter_mut().chain(known.by_name.values_mut()).for_each(mark);
    }

    #[test]
    fn no_field_is_lost_when_all_items_are_edited() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        let unknown = |object: &Value| object.to_string().matches("unknown").count();
        let mut seen = 0;
        for _ in 0..2000 {
            let raw = random.raw(2);
            assert_eq!(unknown(&edit(&raw, mark)), unknown(&raw), "{raw}");
            seen += unknown(&raw);
        }
        assert!(seen > 1000);
    }

    #[test]
    fn every_patch_applies_and_reads_as_what_the_defaulter_made() {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for _ in 0..5000 {
            let raw = random.raw(2);
            edit(&raw, |known| random.change(known));
        }
    }
}
