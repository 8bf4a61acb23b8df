//! Differences between two values.

use std::collections::BTreeMap;

use super::{Map, Value, pointer};

/// Returns the path of the first difference between two values, and both values there.
pub fn first_difference(one: &Value, other: &Value) -> (String, String, String) {
    first_difference_below(String::new(), one, other)
}

fn first_difference_below(at: String, one: &Value, other: &Value) -> (String, String, String) {
    let nothing = || "nothing".to_owned();
    let step = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys()) {
                match (left.get(key), right.get(key)) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(one), Some(other)) => {
                        return first_difference_below(step(key), one, other);
                    }
                    (Some(one), None) => return (step(key), one.to_string(), nothing()),
                    (None, Some(other)) => return (step(key), nothing(), other.to_string()),
                    (None, None) => {}
                }
            }
            (at, nothing(), nothing())
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let found = left.iter().zip(right).enumerate().find(|(_, (one, other))| one != other);
            match found {
                Some((index, (one, other))) => {
                    first_difference_below(format!("{at}[{index}]"), one, other)
                }
                None => (at, nothing(), nothing()),
            }
        }
        _ => (at, one.to_string(), other.to_string()),
    }
}

/// One part that differs between two values: the smallest one that both have, or one that only one of them has.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference<'a> {
    /// Keys, with the names of list items: `containers[manager].args`.
    pub path: String,
    pub old: Option<Part<'a>>,
    pub new: Option<Part<'a>>,
}

/// A part of a value, and its JSON pointer from the top.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<'a> {
    pub pointer: String,
    pub value: &'a Value,
}

/// Returns every difference. Items of lists are matched by their names, as Kubernetes merges lists; a list without
/// names is one part. Null counts as nothing.
pub fn diff_values<'a>(old: &'a Value, new: &'a Value) -> Vec<Difference<'a>> {
    let top = |value| Part { pointer: String::new(), value };
    let mut differences = Vec::new();
    diff_parts(String::new(), top(old), top(new), &mut differences);
    differences
}

fn diff_parts<'a>(
    path: String,
    old: Part<'a>,
    new: Part<'a>,
    differences: &mut Vec<Difference<'a>>,
) {
    if old.value == new.value {
        return;
    }
    let (olds, news) = match (named_parts(&old), named_parts(&new)) {
        (Some(olds), Some(news)) if olds.0 == news.0 => (olds.1, news.1),
        _ => return differences.push(Difference { path, old: Some(old), new: Some(new) }),
    };
    let mut both: BTreeMap<String, (Option<Part>, Option<Part>)> = BTreeMap::new();
    olds.into_iter().for_each(|(key, part)| both.entry(key).or_default().0 = Some(part));
    news.into_iter().for_each(|(key, part)| both.entry(key).or_default().1 = Some(part));
    for (key, pair) in both {
        let path = if path.is_empty() || key.starts_with('[') {
            path.clone() + &key
        } else {
            format!("{path}.{key}")
        };
        match pair {
            (Some(old), Some(new)) => diff_parts(path, old, new, differences),
            (old, new) => differences.push(Difference { path, old, new }),
        }
    }
}

/// Parts with their names in a path.
type NamedParts<'a> = Vec<(String, Part<'a>)>;

/// Returns the field that names the items of a list, or `None` for a mapping; and the parts.
fn named_parts<'a>(part: &Part<'a>) -> Option<(Option<&'static str>, NamedParts<'a>)> {
    let below = |step: &str, value| {
        let step = pointer::escape_key(step);
        Part { pointer: format!("{}/{step}", part.pointer), value }
    };
    match part.value {
        Value::Object(map) => {
            let all = map.iter().filter(|entry| !entry.1.is_null());
            Some((None, all.map(|(key, value)| (key.clone(), below(key, value))).collect()))
        }
        Value::Array(items) => {
            let (key, names) = item_names(items)?;
            let all = names.into_iter().zip(items).enumerate();
            let item = |(at, (name, item)): (usize, (String, &'a Value))| {
                (format!("[{name}]"), below(&at.to_string(), item))
            };
            Some((Some(key), all.map(item).collect()))
        }
        _ => None,
    }
}

/// Returns the key that names every item of a list, each differently, and the names.
fn item_names(items: &[Value]) -> Option<(&'static str, Vec<String>)> {
    const KEYS: [&str; 6] = ["name", "mountPath", "containerPort", "port", "key", "jsonPath"];
    let name = |map: &Map<String, Value>, key: &str| match map.get(key)? {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    KEYS.into_iter().find_map(|key| {
        let names =
            items.iter().map(|item| name(item.as_object()?, key)).collect::<Option<Vec<_>>>()?;
        let mut sorted = names.clone();
        sorted.sort_unstable();
        sorted.dedup();
        (!names.is_empty() && sorted.len() == names.len()).then_some((key, names))
    })
}

#[test]
fn every_difference_is_found_once_by_the_names_of_items() {
    use super::json;
    let check = |old: Value, new: Value, expected: &[(&str, &str, &str)]| {
        let pointer =
            |part: &Option<Part>| part.as_ref().map_or("-".to_owned(), |part| part.pointer.clone());
        let found = diff_values(&old, &new);
        let found: Vec<_> = found
            .iter()
            .map(|difference| {
                (difference.path.clone(), pointer(&difference.old), pointer(&difference.new))
            })
            .collect();
        let found: Vec<_> = found
            .iter()
            .map(|parts| (parts.0.as_str(), parts.1.as_str(), parts.2.as_str()))
            .collect();
        assert_eq!(found, expected);
    };
    let list = |list: Value| json!({ "list": list });
    check(
        list(json!([{ "name": "a", "x/y": 1 }, { "name": "b" }])),
        list(json!([{ "name": "b", "z": [1] }, { "name": "a", "x/y": 2 }])),
        &[("list[a].x/y", "/list/0/x~1y", "/list/1/x~1y"), ("list[b].z", "-", "/list/0/z")],
    );
    check(list(json!([{ "name": "a" }])), list(json!([])), &[("list", "/list", "/list")]);
    check(list(json!(["a", "b"])), list(json!(["b", "a"])), &[("list", "/list", "/list")]);
    check(
        list(json!([{ "port": 1 }, { "port": 1 }])),
        list(json!([{ "port": 1 }])),
        &[("list", "/list", "/list")],
    );
    check(json!({ "a": null }), json!({ "b": 1 }), &[("b", "-", "/b")]);
    check(json!({ "a": {} }), json!({ "a": 1 }), &[("a", "/a", "/a")]);
}

#[test]
fn the_first_difference_is_named_by_its_path() {
    use super::json;
    let check = |one: Value, other: Value, expected: (&str, &str, &str)| {
        let (at, one, other) = first_difference(&one, &other);
        assert_eq!((at.as_str(), one.as_str(), other.as_str()), expected);
    };
    check(json!({ "a": [{ "b": 1 }] }), json!({ "a": [{ "b": 2 }] }), ("a[0].b", "1", "2"));
    check(json!({ "a": 1 }), json!({ "a": 1, "b": "x" }), ("b", "nothing", "\"x\""));
    check(json!([1]), json!([1, 2]), ("", "[1]", "[1,2]"));
}
