//! Lists whose items are merged by their keys. The order of the items is not the obvious one: it is kustomize's.

use std::collections::{BTreeMap, BTreeSet};

use super::{super::kinds::Type, walk};
use go_data::yaml::Value;

pub fn items(
    mut ours: Vec<Value>,
    mut patch: Vec<Value>,
    keys: &[&str],
    inner: Option<Type>,
) -> anyhow::Result<Vec<Value>> {
    // The identities of the items, those of the patch first.
    let mut identities: Vec<Vec<String>> = Vec::new();
    let mut known = BTreeSet::new();
    for item in patch.iter().chain(&ours) {
        let values: Vec<String> = keys.iter().map(|it| text(item, it)).collect::<Result<_, _>>()?;
        if values[0].is_empty() {
            anyhow::bail!("an item has no `{}`, the merge key of its list", keys[0]);
        }
        if known.insert(values.clone()) {
            identities.push(values);
        }
    }
    if keys.len() > 1 {
        complete(&mut identities);
    }
    let valid: Vec<usize> =
        (0..keys.len()).filter(|at| identities.iter().any(|it| !it[*at].is_empty())).collect();
    let keys: Vec<&str> = valid.iter().map(|it| keys[*it]).collect();

    let (our_places, their_places) = (places(&ours, &keys), places(&patch, &keys));
    let (mut added, mut added_places) = (Vec::new(), places(&[], &keys));
    for values in &identities {
        let values: Vec<&str> = valid.iter().map(|it| values[*it].as_str()).collect();
        let at = find(&ours, our_places.as_ref(), &keys, &values);
        let new = find(&patch, their_places.as_ref(), &keys, &values);
        let replaces = new.is_some_and(|it| patch[it]["$patch"] == "replace");
        if replaces && at.is_some() {
            anyhow::bail!("`$patch: replace` in an item of a list is not supported");
        }
        let merged = walk(at.map(|it| ours[it].clone()), new.map(|it| patch[it].clone()), inner)?;
        let merged = merged.filter(|it| it.as_object().is_some_and(|it| !it.is_empty()));
        let Some(mut merged) = merged else {
            ours.iter_mut()
                .filter(|it| matches(it, &keys, &values))
                .for_each(|it| *it = Value::Null);
            // The patch's item has been applied.
            if let Some(new) = new {
                patch[new] = Value::Null;
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
            ours[at] = merged.clone();
        }
        put(&mut added, &mut added_places, merged, &keys, &values);
    }
    for item in ours.into_iter().filter(|it| !it.is_null()) {
        let values: Vec<String> =
            keys.iter().map(|it| text(&item, it)).collect::<Result<_, _>>()?;
        let there: Vec<&str> =
            values.iter().map(String::as_str).filter(|it| !it.is_empty()).collect();
        if there.len() < keys.len() {
            // Its other keys identify it.
            added.retain(|it| !matches(it, &keys[..there.len().min(1)], &there));
            added.push(item);
            continue;
        }
        if keys.len() > 1 {
            added.retain(|it| !matches(it, &keys, &there));
            added.push(item);
        } else {
            put(&mut added, &mut added_places, item, &keys, &there);
        }
    }
    Ok(added)
}

/// Where the items of a list are, by their only key.
type Places = Option<BTreeMap<String, usize>>;

/// The first place of each. With several keys, an item may leave one open, and so has to be searched.
fn places(list: &[Value], keys: &[&str]) -> Places {
    let [key] = keys else { return None };
    let mut res = BTreeMap::new();
    for (at, item) in list.iter().enumerate() {
        res.entry(text(item, key).ok()?).or_insert(at);
    }
    Some(res)
}

fn find(
    list: &[Value],
    places: Option<&BTreeMap<String, usize>>,
    keys: &[&str],
    values: &[&str],
) -> Option<usize> {
    if let (Some(places), [value]) = (places, values) {
        return places.get(*value).copied();
    }
    let is = |it: &Value| {
        let mut pairs = keys.iter().zip(values);
        pairs.all(|(key, value)| value.is_empty() || text(it, key).is_ok_and(|it| it == *value))
    };
    list.iter().position(is)
}

/// Replaces the item that has these values, or adds one.
fn put(list: &mut Vec<Value>, places: &mut Places, item: Value, keys: &[&str], values: &[&str]) {
    if let (Some(places), [value]) = (places, values) {
        match places.get(*value) {
            Some(at) => list[*at] = item,
            None => {
                places.insert((*value).to_owned(), list.len());
                list.push(item);
            }
        }
        return;
    }
    let mut found = false;
    for it in list.iter_mut() {
        if matches(it, keys, values) {
            found = true;
            *it = item.clone();
        }
    }
    if !found {
        list.push(item);
    }
}

/// Where no value is wanted, it is enough that the key is there.
fn matches(item: &Value, keys: &[&str], values: &[&str]) -> bool {
    keys.iter().zip(values).all(|(key, value)| match item.get(*key) {
        None => false,
        Some(_) if value.is_empty() => true,
        Some(_) => text(item, key).is_ok_and(|it| it == **value),
    })
}

/// Items that agree in one key, where each says what the other leaves open, are one item.
fn complete(identities: &mut [Vec<String>]) {
    for a in 0..identities.len() {
        for b in 0..identities.len() {
            let pairs = || identities[a].iter().zip(&identities[b]);
            let conflict = pairs().any(|(a, b)| a != b && !a.is_empty() && !b.is_empty());
            if conflict || !pairs().any(|(a, b)| a == b) {
                continue;
            }
            let both: Vec<String> =
                pairs().map(|(a, b)| if a.is_empty() { b.clone() } else { a.clone() }).collect();
            identities[a].clone_from(&both);
            identities[b] = both;
        }
    }
}

/// A key's value as it is written; empty where there is none.
fn text(item: &Value, key: &str) -> anyhow::Result<String> {
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
