//! What kustomize's trees have and a JSON value has not: one scalar that stands in several places, so that who
//! changes it in one changes it in all, and how it is written: a merge drops a `null` of which nothing is written.
//!
//! Beside such an entry of a map is a note, an entry whose key begins with NUL: a number that says which scalar it is,
//! its spelling, or whether it stands in quotes: what a merge puts in its place does, too. Notes are taken out before
//! anybody else sees the value.

use std::collections::BTreeMap;

use super::budget::Budget;
use diagnostics::Hint as _;
use go_data::yaml::{self, Map, Value, json};

pub fn is_note(key: &str) -> bool {
    key.starts_with('\0')
}

fn note(key: &str) -> String {
    format!("\0{key}")
}

/// Notes how an entry that is not a string is written.
pub fn note_spelling(map: &mut Map<String, Value>, key: &str, spelling: &str) {
    map.insert(note(key), spelling.into());
}

/// How an entry is written, where JSON would not write it so.
pub fn spelling<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(&note(key)).and_then(Value::as_str)
}

/// Notes that an entry is in quotes or in a block.
pub fn note_quotes(map: &mut Map<String, Value>, key: &str) {
    map.insert(note(key), true.into());
}

/// Notes which texts kustomize puts in quotes where it writes a value anew: `false` where that is not known.
pub fn note_printed(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let mut notes = Vec::new();
            for (key, value) in map.iter_mut().filter(|it| !is_note(it.0)) {
                match value {
                    Value::String(text) => match yaml::is_written_in_quotes(text) {
                        Some(false) => {}
                        known => notes.push((note(key), known.unwrap_or(false))),
                    },
                    value => note_printed(value),
                }
            }
            for (note, is_known) in notes {
                map.entry(note).or_insert(is_known.into());
            }
        }
        Value::Array(items) => items.iter_mut().for_each(note_printed),
        _ => {}
    }
}

/// The scalar that a merge results in: in place of a quoted one it is a string. Takes the previous value, and the
/// maps of both sides for their notes.
pub fn keep_quotes(
    mine: Option<&Value>,
    merged: Value,
    key: &str,
    ours: &mut Map<String, Value>,
    patch: Option<&Map<String, Value>>,
) -> anyhow::Result<Value> {
    let theirs = patch.and_then(|it| it.get(&note(key)));
    if merged.is_object() || merged.is_array() || merged.is_null() {
        return Ok(merged);
    }
    let is_known = match (mine, ours.get(&note(key))) {
        (None | Some(Value::Null), _) => {
            if let Some(Value::Bool(true)) = theirs {
                note_quotes(ours, key);
            }
            return Ok(merged);
        }
        (_, Some(Value::Bool(it))) => *it,
        _ => return Ok(merged),
    };
    let spelling = theirs.and_then(Value::as_str);
    if merged.is_string() && spelling.is_none() {
        return Ok(merged);
    }
    let text = spelling.map_or_else(|| merged.to_string(), str::to_owned);
    if !is_known {
        return Err(anyhow::format_err!(
            "`{text}` replaces a string, and kustomize may or may not convert it to one"
        ))
        .hint("write it in quotes");
    }
    Ok(text.into())
}

/// Whether an entry, if it is a `null`, is written out, and so stays.
pub fn is_written_null(map: &Map<String, Value>, key: &str) -> bool {
    map.get(&note(key)).is_none_or(|it| it != "")
}

/// Makes strings of all scalars of a map, as they are written.
pub fn stringify(map: &mut Map<String, Value>) -> anyhow::Result<()> {
    for key in map.keys().filter(|it| !is_note(it)).cloned().collect::<Vec<_>>() {
        let spelling = map.get(&note(&key)).and_then(Value::as_str).map(str::to_owned);
        let Some(value) = map.get_mut(&key) else { continue };
        if value.is_object() || value.is_array() {
            anyhow::bail!("`{key}` is not a string");
        }
        match (spelling, &*value) {
            (Some(spelling), _) => *value = spelling.into(),
            (None, Value::String(_)) => {}
            (None, other) => *value = other.to_string().into(),
        }
    }
    Ok(())
}

/// Sets the same entry of several maps of one object, as kustomize's setters do: what is there changes in place, and
/// what is new is one scalar in all of them.
#[derive(Debug)]
pub struct Setter<'a> {
    pub key: &'a str,
    pub value: &'a str,
    /// The scalar's identity in its new place.
    pub scalar: usize,
    changed: Vec<Value>,
}

impl<'a> Setter<'a> {
    pub fn new(key: &'a str, value: &'a str, scalar: usize) -> Self {
        Self { key, value, scalar, changed: Vec::new() }
    }

    pub fn set(&mut self, map: &mut Map<String, Value>, budget: &Budget) -> anyhow::Result<()> {
        match map.get(self.key) {
            None => budget.take_entry(self.key, self.value)?,
            Some(old) => budget.take_text(old.as_str().unwrap_or_default(), self.value)?,
        }
        if map.insert(self.key.to_owned(), self.value.into()).is_none() {
            map.insert(note(self.key), self.scalar.into());
            return Ok(());
        }
        match map.get(&note(self.key)) {
            Some(scalar @ Value::Number(_)) => self.changed.push(scalar.clone()),
            Some(Value::Bool(_)) | None => {}
            Some(_) => drop(map.remove(&note(self.key))),
        }
        Ok(())
    }

    /// Changes the scalars that were met in place wherever they stand.
    pub fn finish(self, object: &mut Value, budget: &Budget) -> anyhow::Result<()> {
        let changed = self.changed.iter().filter_map(Value::as_u64);
        let changes = changed.map(|scalar| (scalar, self.value.into())).collect();
        spread_all(object, &changes, budget)
    }
}

/// To be called where an entry was changed in place.
pub fn note_change_in_place(map: &mut Map<String, Value>, key: &str) {
    let is_shared = map.get(&note(key)).is_some_and(Value::is_number);
    // Only a scalar that stands elsewhere, too, needs its new value.
    let value = if is_shared { map.get(key).cloned() } else { Some(Value::Null) };
    note_change(map, key, value.as_ref());
}

/// To be called where a merge has changed an entry, or has taken it out.
pub fn note_change(map: &mut Map<String, Value>, key: &str, value: Option<&Value>) {
    let note = note(key);
    match (value, map.get(&note)) {
        (_, None) | (Some(_), Some(Value::Bool(_))) => {}
        (Some(value), Some(Value::Number(scalar))) => {
            let change = json!([scalar, value]);
            map.insert(note, change);
        }
        _ => drop(map.remove(&note)),
    }
}

/// Carries what was changed in one place to the others; of several changes the last one holds.
pub fn settle(object: &mut Value, budget: &Budget) -> anyhow::Result<()> {
    let mut changes = Vec::new();
    collect(object, &mut changes);
    let last: BTreeMap<u64, Value> =
        changes.into_iter().filter_map(|it| Some((it.0.as_u64()?, it.1))).collect();
    spread_all(object, &last, budget)
}

fn spread_all(
    object: &mut Value,
    changes: &BTreeMap<u64, Value>,
    budget: &Budget,
) -> anyhow::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    budget.look_through(object)?;
    spread(object, changes, budget)
}

fn collect(value: &mut Value, changes: &mut Vec<(Value, Value)>) {
    match value {
        // The notes come first, and in the order of what they are about.
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| match value {
            Value::Array(change) if is_note(key) => {
                if let [scalar, new] = change.as_slice() {
                    changes.push((scalar.clone(), new.clone()));
                    *value = changes[changes.len() - 1].0.clone();
                }
            }
            value => collect(value, changes),
        }),
        Value::Array(items) => items.iter_mut().for_each(|it| collect(it, changes)),
        _ => {}
    }
}

fn spread(
    value: &mut Value,
    changes: &BTreeMap<u64, Value>,
    budget: &Budget,
) -> anyhow::Result<()> {
    match value {
        Value::Object(map) => {
            let mut found = Vec::new();
            for (key, value) in map.iter_mut() {
                match key.strip_prefix('\0') {
                    Some(key) => {
                        let change = value.as_u64().and_then(|scalar| changes.get(&scalar));
                        if let Some(new) = change {
                            budget.take_value(new, 0)?;
                            found.push((key.to_owned(), new.clone()));
                        }
                    }
                    None => spread(value, changes, budget)?,
                }
            }
            map.extend(found);
        }
        Value::Array(items) => items.iter_mut().try_for_each(|it| spread(it, changes, budget))?,
        _ => {}
    }
    Ok(())
}

/// Takes all notes out: nothing is shared any more, and what is `null` is written.
pub fn clear(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !is_note(key));
            map.values_mut().for_each(clear);
        }
        Value::Array(items) => items.iter_mut().for_each(clear),
        _ => {}
    }
}
