//! Properties of kustomize's trees that a JSON value has not: one scalar can be shared by several fields, so that a
//! change of one field changes all of them; and a scalar has a spelling: a merge drops a `null` that is not written.
//!
//! Such an entry of a map has a note, a second entry whose key begins with NUL: the number of the shared scalar, its
//! spelling, or a boolean that says if it is in quotes, as the scalar that replaces it in a merge then is. Notes are
//! removed before a value leaves this crate.

use std::collections::BTreeMap;

use super::budget::Budget;
use diagnostics::Hint as _;
use go_data::yaml::{self, Map, Value, json};

pub fn is_note(key: &str) -> bool {
    key.starts_with('\0')
}

fn note_key(key: &str) -> String {
    format!("\0{key}")
}

/// Notes the spelling of an entry that is not a string.
pub fn note_spelling(map: &mut Map<String, Value>, key: &str, spelling: &str) {
    map.insert(note_key(key), spelling.into());
}

/// Returns the spelling of an entry, if JSON would spell it in another way.
pub fn find_spelling<'m>(map: &'m Map<String, Value>, key: &str) -> Option<&'m str> {
    map.get(&note_key(key)).and_then(Value::as_str)
}

/// Notes that an entry is in quotes or in a block.
pub fn note_quotes(map: &mut Map<String, Value>, key: &str) {
    map.insert(note_key(key), true.into());
}

/// Notes the texts that kustomize quotes when it prints a value again; `false` if that is not known.
pub fn note_printed(value: &mut Value) {
    match value {
        Value::Object(map) => {
            let mut notes = Vec::new();
            for (key, value) in map.iter_mut().filter(|entry| !is_note(entry.0)) {
                match value {
                    Value::String(text) => match yaml::is_written_in_quotes(text) {
                        Some(false) => {}
                        known => notes.push((note_key(key), known.unwrap_or(false))),
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

/// Returns the scalar that a merge results in, which is a string if it replaces a quoted one. Takes the previous value,
/// and the maps of both sides for their notes.
pub fn keep_quotes(
    mine: Option<&Value>,
    merged: Value,
    key: &str,
    ours: &mut Map<String, Value>,
    patch: Option<&Map<String, Value>>,
) -> anyhow::Result<Value> {
    let theirs = patch.and_then(|entries| entries.get(&note_key(key)));
    if merged.is_object() || merged.is_array() || merged.is_null() {
        return Ok(merged);
    }
    let is_known = match (mine, ours.get(&note_key(key))) {
        (None | Some(Value::Null), _) => {
            if let Some(Value::Bool(true)) = theirs {
                note_quotes(ours, key);
            }
            return Ok(merged);
        }
        (_, Some(Value::Bool(is_known))) => *is_known,
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

/// Returns true if an entry that is `null` is written out, so that it stays.
pub fn is_written_null(map: &Map<String, Value>, key: &str) -> bool {
    map.get(&note_key(key)).is_none_or(|spelling| spelling != "")
}

/// Converts all scalars of a map to strings, as they are written.
pub fn convert_to_strings(map: &mut Map<String, Value>) -> anyhow::Result<()> {
    for key in map.keys().filter(|key| !is_note(key)).cloned().collect::<Vec<_>>() {
        let spelling = map.get(&note_key(&key)).and_then(Value::as_str).map(str::to_owned);
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

/// Sets the same entry of several maps of one object, as kustomize's setters do: an existing scalar changes in place,
/// and a new one is shared by all maps.
#[derive(Debug)]
pub struct Setter<'a> {
    pub key: &'a str,
    pub value: &'a str,
    /// The number of the new shared scalar.
    pub scalar: usize,
    changed: Vec<Value>,
}

impl<'a> Setter<'a> {
    pub fn new(key: &'a str, value: &'a str, scalar: usize) -> Self {
        Self { key, value, scalar, changed: Vec::new() }
    }

    pub fn set_entry(
        &mut self,
        map: &mut Map<String, Value>,
        budget: &Budget,
    ) -> anyhow::Result<()> {
        match map.get(self.key) {
            None => budget.take_entry(self.key, self.value)?,
            Some(old) => budget.take_text(old.as_str().unwrap_or_default(), self.value)?,
        }
        if map.insert(self.key.to_owned(), self.value.into()).is_none() {
            map.insert(note_key(self.key), self.scalar.into());
            return Ok(());
        }
        match map.get(&note_key(self.key)) {
            Some(scalar @ Value::Number(_)) => self.changed.push(scalar.clone()),
            Some(Value::Bool(_)) | None => {}
            Some(_) => drop(map.remove(&note_key(self.key))),
        }
        Ok(())
    }

    /// Changes the other fields that share a scalar which `set_entry` has changed.
    pub fn update_shared(self, object: &mut Value, budget: &Budget) -> anyhow::Result<()> {
        let changed = self.changed.iter().filter_map(Value::as_u64);
        let changes = changed.map(|scalar| (scalar, self.value.into())).collect();
        apply_all_changes(object, &changes, budget)
    }
}

/// Updates the note of an entry that was changed in place.
pub fn note_change_in_place(map: &mut Map<String, Value>, key: &str) {
    let is_shared = map.get(&note_key(key)).is_some_and(Value::is_number);
    // Only a shared scalar needs its new value.
    let value = if is_shared { map.get(key).cloned() } else { Some(Value::Null) };
    note_change(map, key, value.as_ref());
}

/// Updates the note of an entry that a merge has changed or removed.
pub fn note_change(map: &mut Map<String, Value>, key: &str, value: Option<&Value>) {
    let note = note_key(key);
    match (value, map.get(&note)) {
        (_, None) | (Some(_), Some(Value::Bool(_))) => {}
        (Some(value), Some(Value::Number(scalar))) => {
            let change = json!([scalar, value]);
            map.insert(note, change);
        }
        _ => drop(map.remove(&note)),
    }
}

/// Applies changes of shared scalars to all fields that share them; of several changes the last one counts.
pub fn propagate_changes(object: &mut Value, budget: &Budget) -> anyhow::Result<()> {
    let mut changes = Vec::new();
    collect_changes(object, &mut changes);
    let last: BTreeMap<u64, Value> =
        changes.into_iter().filter_map(|change| Some((change.0.as_u64()?, change.1))).collect();
    apply_all_changes(object, &last, budget)
}

fn apply_all_changes(
    object: &mut Value,
    changes: &BTreeMap<u64, Value>,
    budget: &Budget,
) -> anyhow::Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    budget.count_value(object)?;
    apply_changes(object, changes, budget)
}

fn collect_changes(value: &mut Value, changes: &mut Vec<(Value, Value)>) {
    match value {
        // The notes come first, in the order of their entries.
        Value::Object(map) => map.iter_mut().for_each(|(key, value)| match value {
            Value::Array(change) if is_note(key) => {
                if let [scalar, new] = change.as_slice() {
                    changes.push((scalar.clone(), new.clone()));
                    *value = changes[changes.len() - 1].0.clone();
                }
            }
            value => collect_changes(value, changes),
        }),
        Value::Array(items) => items.iter_mut().for_each(|item| collect_changes(item, changes)),
        _ => {}
    }
}

fn apply_changes(
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
                    None => apply_changes(value, changes, budget)?,
                }
            }
            map.extend(found);
        }
        Value::Array(items) => {
            items.iter_mut().try_for_each(|item| apply_changes(item, changes, budget))?
        }
        _ => {}
    }
    Ok(())
}

/// Removes all notes: no scalar is shared any more, and every `null` is written.
pub fn remove_notes(value: &mut Value) {
    match value {
        Value::Object(map) => {
            map.retain(|key, _| !is_note(key));
            map.values_mut().for_each(remove_notes);
        }
        Value::Array(items) => items.iter_mut().for_each(remove_notes),
        _ => {}
    }
}
