//! Strategic merge, as kustomize does it: lists of known kinds are merged by the keys of their items,
//! new items first; all other lists are replaced.
//!
//! Cases in which kustomize has a bug, or no defined behavior, are refused.

mod items;

use std::collections::BTreeSet;

use self::items::merge_items;
use super::{
    kinds::{self, Type},
    share,
};
use diagnostics::Hint as _;
use go_data::yaml::{Map, Value};

/// Merges a patch into an object. Returns `None` if the patch deletes it.
pub fn merge_objects(object: Value, patch: Value) -> anyhow::Result<Option<Value>> {
    if patch["$patch"] == "replace" {
        return Err(anyhow::format_err!(
            "`$patch: replace` of a whole object does nothing in kustomize"
        ))
        .hint("patch the fields that should change");
    }
    merge_values(Some(object), Some(patch), None)
}

/// Merges both sides of a field, whose type may be known.
fn merge_values(
    ours: Option<Value>,
    patch: Option<Value>,
    value_type: Option<Type>,
) -> anyhow::Result<Option<Value>> {
    let value_type =
        value_type.or_else(|| type_of(ours.as_ref())).or_else(|| type_of(patch.as_ref()));
    let lead = [&ours, &patch].into_iter().flatten().find(|value| !value.is_null());
    match lead {
        // A written `null` of the object stays; only the caller knows if it is written.
        None => Ok(ours.filter(|_| patch.is_none())),
        Some(Value::Object(_)) => merge_mappings(ours, patch, value_type),
        Some(Value::Array(_)) => {
            ensure_types(&ours, &patch, Value::is_array)?;
            Ok(if patch.is_some() { patch } else { ours })
        }
        Some(_) => {
            ensure_types(&ours, &patch, |value| !value.is_array() && !value.is_object())?;
            Ok(if patch.is_some() { patch } else { ours })
        }
    }
}

fn ensure_types(
    ours: &Option<Value>,
    patch: &Option<Value>,
    is: fn(&Value) -> bool,
) -> anyhow::Result<()> {
    if [ours, patch].into_iter().flatten().all(|value| value.is_null() || is(value)) {
        return Ok(());
    }
    anyhow::bail!("the patch has a value of another type there")
}

fn type_of(value: Option<&Value>) -> Option<Type> {
    let text = |key: &str| value?.get(key)?.as_str();
    kinds::find_type(text("apiVersion")?, text("kind")?)
}

#[derive(PartialEq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// Removes the `$patch` of a map, and returns it.
fn take_directive(map: &mut Map<String, Value>) -> anyhow::Result<Directive> {
    let other = ["$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList"];
    if let Some(key) = map.keys().find(|key| other.iter().any(|start| key.starts_with(start))) {
        anyhow::bail!(
            "`{key}` is not supported: the only supported directive is `$patch`; a JSON patch can make the change"
        );
    }
    let Some(directive) = map.get("$patch") else { return Ok(Directive::Merge) };
    let parsed = match directive.as_str() {
        Some("merge") => Directive::Merge,
        Some("replace") => Directive::Replace,
        Some("delete") => Directive::Delete,
        _ => anyhow::bail!("`$patch` must be `merge`, `replace` or `delete`"),
    };
    map.remove("$patch");
    Ok(parsed)
}

fn merge_mappings(
    ours: Option<Value>,
    patch: Option<Value>,
    value_type: Option<Type>,
) -> anyhow::Result<Option<Value>> {
    ensure_types(&ours, &patch, Value::is_object)?;
    let (mut ours, mut patch) = match (ours, patch) {
        (ours, Some(Value::Object(mut patch))) => {
            let directive = take_directive(&mut patch)?;
            match (ours, directive) {
                (_, Directive::Delete) => return Ok(None),
                (Some(Value::Object(mut ours)), Directive::Merge) => {
                    // A new value that is merged with itself has a directive on this side, too.
                    ours.remove("$patch");
                    (ours, Some(patch))
                }
                // A new value is merged with itself, which removes its `null` and `$patch` entries.
                _ => (patch.clone(), Some(patch)),
            }
        }
        (Some(Value::Object(ours)), None) => (ours, None),
        // The patch says `null`.
        _ => return Ok(None),
    };
    let mut keys: Vec<String> = ours.keys().filter(|key| !share::is_note(key)).cloned().collect();
    let new = patch.iter().flat_map(Map::keys);
    keys.extend(new.filter(|key| !share::is_note(key) && !ours.contains_key(*key)).cloned());
    keys.sort();
    for key in keys {
        let (mine, theirs) =
            (ours.remove(&key), patch.as_mut().and_then(|entries| entries.remove(&key)));
        let patched = theirs.is_some();
        let before = mine.as_ref().filter(|value| !value.is_object() && !value.is_array()).cloned();
        let kept = !patched && share::is_written_null(&ours, &key);
        let field = value_type.and_then(|fields| fields.get(key.as_str()));
        let inner = field.and_then(kinds::TypeField::inner_type);
        let merged = match field.and_then(|field| field.keys.as_ref()) {
            Some(keys) => merge_lists(mine, theirs, keys, inner),
            None => merge_values(mine, theirs, inner),
        };
        let merged = merged.and_then(|value| match value {
            Some(value) if patched => {
                share::keep_quotes(before.as_ref(), value, &key, &mut ours, patch.as_ref())
                    .map(Some)
            }
            value => Ok(value),
        });
        let merged = merged.map_err(|error| error.context(format!("at `{key}`")))?;
        let merged = merged.filter(|value| !value.is_null() || kept);
        if patched || merged.is_none() {
            share::note_change(&mut ours, &key, merged.as_ref());
        }
        if let Some(merged) = merged {
            ours.insert(key, merged);
        }
    }
    Ok(Some(Value::Object(ours)))
}

/// Merges lists by the keys of their items, or as scalars if there are no keys.
fn merge_lists(
    ours: Option<Value>,
    patch: Option<Value>,
    keys: &[&str],
    inner: Option<Type>,
) -> anyhow::Result<Option<Value>> {
    if let (Some(Value::Null), None) = (&ours, &patch) {
        return Ok(ours);
    }
    ensure_types(&ours, &patch, Value::is_array)?;
    let (ours, patch) = match (ours, patch) {
        (ours, Some(Value::Array(mut patch))) => match (ours, take_list_directive(&mut patch)?) {
            (Some(Value::Array(_)), Directive::Delete) => return Ok(None),
            (Some(Value::Array(mut ours)), Directive::Merge) => {
                ours.retain(|item| !is_directive(item));
                (ours, patch)
            }
            (None | Some(Value::Null), directive) if directive != Directive::Merge => {
                anyhow::bail!(
                    "`$patch` applies to a list that does not exist, and kustomize would print the directive"
                )
            }
            _ => (patch.clone(), patch),
        },
        (Some(Value::Array(ours)), None) => (ours, Vec::new()),
        _ => return Ok(None),
    };
    let merged = if keys.is_empty() {
        merge_scalars(ours, patch)?
    } else {
        merge_items(ours, patch, keys, inner)?
    };
    Ok(Some(Value::Array(merged)))
}

/// Removes the item that contains only `$patch`, which applies to the whole list, and returns its directive.
fn take_list_directive(list: &mut Vec<Value>) -> anyhow::Result<Directive> {
    let at = list.iter().position(|item| item.get("$patch").is_some());
    let Some(at) = at.filter(|at| is_directive(&list[*at])) else {
        return Ok(Directive::Merge);
    };
    let Value::Object(mut map) = list.remove(at) else { return Ok(Directive::Merge) };
    match take_directive(&mut map)? {
        Directive::Merge => anyhow::bail!("`$patch: merge` for a whole list is not supported"),
        directive => Ok(directive),
    }
}

fn is_directive(item: &Value) -> bool {
    item.as_object().is_some_and(|entries| entries.len() == 1 && entries.contains_key("$patch"))
}

fn merge_scalars(ours: Vec<Value>, patch: Vec<Value>) -> anyhow::Result<Vec<Value>> {
    let mut known = BTreeSet::new();
    let mut merged = Vec::new();
    for item in patch.into_iter().chain(ours) {
        let Some(text) = item.as_str() else {
            anyhow::bail!("a list of strings is expected there");
        };
        if known.insert(text.to_owned()) {
            merged.push(item);
        }
    }
    Ok(merged)
}
