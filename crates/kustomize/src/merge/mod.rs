//! Strategic merge, as kustomize does it: lists of known kinds are merged by the keys of their items,
//! new items first; all other lists are replaced.
//!
//! Cases in which kustomize has a bug, or no defined behavior, are refused.

mod items;

use std::collections::BTreeSet;

use self::items::items;
use super::{
    kinds::{self, Type},
    share,
};
use diagnostics::Hint as _;
use go_data::yaml::{Map, Value};

/// The merged object; nothing, if the patch deletes it.
pub fn merge(object: Value, patch: Value) -> anyhow::Result<Option<Value>> {
    if patch["$patch"] == "replace" {
        return Err(anyhow::format_err!(
            "`$patch: replace` of a whole object does nothing in kustomize"
        ))
        .hint("patch the fields that should change");
    }
    walk(Some(object), Some(patch), None)
}

/// Both sides of a field, and the type they have if it is known.
fn walk(
    ours: Option<Value>,
    patch: Option<Value>,
    of: Option<Type>,
) -> anyhow::Result<Option<Value>> {
    let of = of.or_else(|| type_of(ours.as_ref())).or_else(|| type_of(patch.as_ref()));
    let lead = [&ours, &patch].into_iter().flatten().find(|it| !it.is_null());
    match lead {
        // A `null` of the object's that is written stays; the caller knows whether it is.
        None => Ok(ours.filter(|_| patch.is_none())),
        Some(Value::Object(_)) => map(ours, patch, of),
        Some(Value::Array(_)) => {
            expect(&ours, &patch, Value::is_array)?;
            Ok(if patch.is_some() { patch } else { ours })
        }
        Some(_) => {
            expect(&ours, &patch, |it| !it.is_array() && !it.is_object())?;
            Ok(if patch.is_some() { patch } else { ours })
        }
    }
}

fn expect(
    ours: &Option<Value>,
    patch: &Option<Value>,
    is: fn(&Value) -> bool,
) -> anyhow::Result<()> {
    if [ours, patch].into_iter().flatten().all(|it| it.is_null() || is(it)) {
        return Ok(());
    }
    anyhow::bail!("the patch has a value of another type there")
}

fn type_of(value: Option<&Value>) -> Option<Type> {
    let text = |key: &str| value?.get(key)?.as_str();
    kinds::of(text("apiVersion")?, text("kind")?)
}

#[derive(PartialEq)]
enum Directive {
    Merge,
    Replace,
    Delete,
}

/// The map's `$patch`, which is taken out.
fn directive(map: &mut Map<String, Value>) -> anyhow::Result<Directive> {
    let other = ["$retainKeys", "$setElementOrder", "$deleteFromPrimitiveList"];
    if let Some(key) = map.keys().find(|key| other.iter().any(|it| key.starts_with(it))) {
        anyhow::bail!(
            "`{key}` is not supported: the only supported directive is `$patch`; a JSON patch can make the change"
        );
    }
    let Some(directive) = map.get("$patch") else { return Ok(Directive::Merge) };
    let res = match directive.as_str() {
        Some("merge") => Directive::Merge,
        Some("replace") => Directive::Replace,
        Some("delete") => Directive::Delete,
        _ => anyhow::bail!("`$patch` must be `merge`, `replace` or `delete`"),
    };
    map.remove("$patch");
    Ok(res)
}

fn map(
    ours: Option<Value>,
    patch: Option<Value>,
    of: Option<Type>,
) -> anyhow::Result<Option<Value>> {
    expect(&ours, &patch, Value::is_object)?;
    let (mut ours, mut patch) = match (ours, patch) {
        (ours, Some(Value::Object(mut patch))) => {
            let directive = directive(&mut patch)?;
            match (ours, directive) {
                (_, Directive::Delete) => return Ok(None),
                (Some(Value::Object(mut ours)), Directive::Merge) => {
                    // It is there where what is new is merged with itself.
                    ours.remove("$patch");
                    (ours, Some(patch))
                }
                // What is new is merged with itself: that takes out what says `null` or `$patch`.
                _ => (patch.clone(), Some(patch)),
            }
        }
        (Some(Value::Object(ours)), None) => (ours, None),
        // The patch says `null`.
        _ => return Ok(None),
    };
    let mut keys: Vec<String> = ours.keys().filter(|it| !share::is_note(it)).cloned().collect();
    let new = patch.iter().flat_map(Map::keys);
    keys.extend(new.filter(|it| !share::is_note(it) && !ours.contains_key(*it)).cloned());
    keys.sort();
    for key in keys {
        let (mine, theirs) = (ours.remove(&key), patch.as_mut().and_then(|it| it.remove(&key)));
        let patched = theirs.is_some();
        let before = mine.as_ref().filter(|it| !it.is_object() && !it.is_array()).cloned();
        let kept = !patched && share::is_written_null(&ours, &key);
        let field = of.and_then(|it| it.get(key.as_str()));
        let inner = field.and_then(kinds::Field::inner);
        let merged = match field.and_then(|it| it.keys.as_ref()) {
            Some(keys) => list(mine, theirs, keys, inner),
            None => walk(mine, theirs, inner),
        };
        let merged = merged.and_then(|it| match it {
            Some(it) if patched => {
                share::keep_quotes(before.as_ref(), it, &key, &mut ours, patch.as_ref()).map(Some)
            }
            it => Ok(it),
        });
        let merged = merged.map_err(|it| it.context(format!("at `{key}`")))?;
        let merged = merged.filter(|it| !it.is_null() || kept);
        if patched || merged.is_none() {
            share::note_change(&mut ours, &key, merged.as_ref());
        }
        if let Some(merged) = merged {
            ours.insert(key, merged);
        }
    }
    Ok(Some(Value::Object(ours)))
}

/// A list whose items are merged by keys, or as scalars if there are no keys.
fn list(
    ours: Option<Value>,
    patch: Option<Value>,
    keys: &[&str],
    inner: Option<Type>,
) -> anyhow::Result<Option<Value>> {
    if let (Some(Value::Null), None) = (&ours, &patch) {
        return Ok(ours);
    }
    expect(&ours, &patch, Value::is_array)?;
    let (ours, patch) = match (ours, patch) {
        (ours, Some(Value::Array(mut patch))) => match (ours, list_directive(&mut patch)?) {
            (Some(Value::Array(_)), Directive::Delete) => return Ok(None),
            (Some(Value::Array(mut ours)), Directive::Merge) => {
                ours.retain(|it| !is_directive(it));
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
    let res =
        if keys.is_empty() { scalars(ours, patch)? } else { items(ours, patch, keys, inner)? };
    Ok(Some(Value::Array(res)))
}

/// An item that contains only `$patch` applies to the whole list.
fn list_directive(list: &mut Vec<Value>) -> anyhow::Result<Directive> {
    let at = list.iter().position(|it| it.get("$patch").is_some());
    let Some(at) = at.filter(|at| is_directive(&list[*at])) else {
        return Ok(Directive::Merge);
    };
    let Value::Object(mut map) = list.remove(at) else { return Ok(Directive::Merge) };
    match directive(&mut map)? {
        Directive::Merge => anyhow::bail!("`$patch: merge` for a whole list is not supported"),
        directive => Ok(directive),
    }
}

fn is_directive(item: &Value) -> bool {
    item.as_object().is_some_and(|it| it.len() == 1 && it.contains_key("$patch"))
}

fn scalars(ours: Vec<Value>, patch: Vec<Value>) -> anyhow::Result<Vec<Value>> {
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
