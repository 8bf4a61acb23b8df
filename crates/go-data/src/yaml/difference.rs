//! Where two objects differ.

use std::collections::BTreeMap;

use super::{Map, Value, pointer};

/// The first place where two values differ, and both values there.
pub fn difference(one: &Value, other: &Value) -> (String, String, String) {
    below(String::new(), one, other)
}

fn below(at: String, one: &Value, other: &Value) -> (String, String, String) {
    let nothing = || "nothing".to_owned();
    let step = |name: &str| if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            for key in left.keys().chain(right.keys()) {
                match (left.get(key), right.get(key)) {
                    (Some(one), Some(other)) if one == other => {}
                    (Some(one), Some(other)) => return below(step(key), one, other),
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
                Some((index, (one, other))) => below(format!("{at}[{index}]"), one, other),
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

/// Every difference. Items of lists are matched by what names them, as Kubernetes merges lists; a list without names is
/// one part. Null counts as nothing.
pub fn differences<'a>(old: &'a Value, new: &'a Value) -> Vec<Difference<'a>> {
    let top = |value| Part { pointer: String::new(), value };
    let mut res = Vec::new();
    compare(String::new(), top(old), top(new), &mut res);
    res
}

fn compare<'a>(path: String, old: Part<'a>, new: Part<'a>, res: &mut Vec<Difference<'a>>) {
    if old.value == new.value {
        return;
    }
    let (olds, news) = match (entries(&old), entries(&new)) {
        (Some(olds), Some(news)) if olds.0 == news.0 => (olds.1, news.1),
        _ => return res.push(Difference { path, old: Some(old), new: Some(new) }),
    };
    let mut both: BTreeMap<String, (Option<Part>, Option<Part>)> = BTreeMap::new();
    olds.into_iter().for_each(|(key, it)| both.entry(key).or_default().0 = Some(it));
    news.into_iter().for_each(|(key, it)| both.entry(key).or_default().1 = Some(it));
    for (key, pair) in both {
        let path = if path.is_empty() || key.starts_with('[') {
            path.clone() + &key
        } else {
            format!("{path}.{key}")
        };
        match pair {
            (Some(old), Some(new)) => compare(path, old, new, res),
            (old, new) => res.push(Difference { path, old, new }),
        }
    }
}

/// Parts by what they are called in a path.
type Steps<'a> = Vec<(String, Part<'a>)>;

/// The field that names the items of a list, `None` for a map; and the parts.
fn entries<'a>(part: &Part<'a>) -> Option<(Option<&'static str>, Steps<'a>)> {
    let below = |step: &str, value| {
        let step = pointer::escaped(step);
        Part { pointer: format!("{}/{step}", part.pointer), value }
    };
    match part.value {
        Value::Object(map) => {
            let all = map.iter().filter(|it| !it.1.is_null());
            Some((None, all.map(|(key, it)| (key.clone(), below(key, it))).collect()))
        }
        Value::Array(items) => {
            let (key, names) = names(items)?;
            let all = names.into_iter().zip(items).enumerate();
            let item = |(at, (name, it)): (usize, (String, &'a Value))| {
                (format!("[{name}]"), below(&at.to_string(), it))
            };
            Some((Some(key), all.map(item).collect()))
        }
        _ => None,
    }
}

/// The key that names every item of a list, each differently, and the names.
fn names(items: &[Value]) -> Option<(&'static str, Vec<String>)> {
    const KEYS: [&str; 6] = ["name", "mountPath", "containerPort", "port", "key", "jsonPath"];
    let name = |map: &Map<String, Value>, key: &str| match map.get(key)? {
        Value::String(name) => Some(name.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    KEYS.into_iter().find_map(|key| {
        let names =
            items.iter().map(|it| name(it.as_object()?, key)).collect::<Option<Vec<_>>>()?;
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
            |it: &Option<Part>| it.as_ref().map_or("-".to_owned(), |it| it.pointer.clone());
        let found = differences(&old, &new);
        let found: Vec<_> =
            found.iter().map(|it| (it.path.clone(), pointer(&it.old), pointer(&it.new))).collect();
        let found: Vec<_> =
            found.iter().map(|it| (it.0.as_str(), it.1.as_str(), it.2.as_str())).collect();
        assert_eq!(found, expected);
    };
    let list = |it: Value| json!({ "list": it });
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
        let (at, one, other) = difference(&one, &other);
        assert_eq!((at.as_str(), one.as_str(), other.as_str()), expected);
    };
    check(json!({ "a": [{ "b": 1 }] }), json!({ "a": [{ "b": 2 }] }), ("a[0].b", "1", "2"));
    check(json!({ "a": 1 }), json!({ "a": 1, "b": "x" }), ("b", "nothing", "\"x\""));
    check(json!([1]), json!([1, 2]), ("", "[1]", "[1,2]"));
}
