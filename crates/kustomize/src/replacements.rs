//! `replacements`: copies a value of one object into others.

use std::borrow::Cow;

use super::{
    budget,
    fields::Gvk,
    id::Id,
    object::Object,
    objects::Indexed,
    part::Part,
    path::{self, Visitor},
    selector::Selector,
    share,
};
use diagnostics::Hint as _;
use go_data::yaml::{self, Dialect, Mark, Value};

#[derive(Debug)]
pub struct Replacement {
    pub mark: Mark,
    pub source: ReplacementSource,
    pub targets: Vec<Target>,
}

#[derive(Debug)]
pub enum ReplacementSource {
    Value(String),
    Field { id: SourceSelector, path: String, part: Part },
}

/// Selects the source; an empty field matches any value.
#[derive(Debug, Default)]
pub struct SourceSelector {
    pub gvk: Gvk,
    pub name: String,
    pub namespace: String,
}

#[derive(Debug)]
pub struct Target {
    pub select: Selector,
    pub reject: Vec<Selector>,
    pub paths: Vec<String>,
    pub part: Part,
}

pub fn apply_replacement(
    objects: &mut Indexed<'_>,
    replacement: &Replacement,
) -> anyhow::Result<()> {
    let value = match &replacement.source {
        ReplacementSource::Value(text) => text.as_str().into(),
        ReplacementSource::Field { id, path, part } => resolve_source(objects, id, path, part)?,
    };
    for target in &replacement.targets {
        for at in objects.positions_with_name(target.select.literal_name())? {
            let object = &mut objects.objects.0[at];
            if !target.selects_object(object)? {
                continue;
            }
            object.budget.count_value(&object.value)?;
            for path in &target.paths {
                replace_value(object, path, &value, &target.part)
                    .map_err(|error| error.context(format!("at `{path}` of {}", object.id())))?;
            }
            share::propagate_changes(&mut object.value, &object.budget)?;
            objects.record_change(at);
        }
    }
    objects.remove_empty()
}

fn resolve_source(
    objects: &Indexed<'_>,
    id: &SourceSelector,
    path: &str,
    part: &Part,
) -> anyhow::Result<Value> {
    let positions =
        objects.positions_with_name(Some(id.name.as_str()).filter(|name| !name.is_empty()))?;
    let candidates = positions.into_iter().map(|at| &objects.objects.0[at]);
    let found: Vec<&Object> = candidates
        .filter(|object| collect_ids(object).iter().any(|other| id.selects_id(other)))
        .collect();
    let object = match found.as_slice() {
        [object] => object,
        [] => anyhow::bail!("nothing is selected by {id}"),
        [first, second, ..] => {
            anyhow::bail!("{id} selects both {} and {}", first.id(), second.id())
        }
    };
    let (keys, budget) = (path::split_path(path), &object.budget);
    let mut value = match path::find_value(&object.value, &keys, budget)? {
        None | Some(Value::Null) => anyhow::bail!("there is no `{path}` in {}", object.id()),
        Some(value) if *value == yaml::json!({}) || *value == yaml::json!([]) => {
            anyhow::bail!("`{path}` of {} is empty", object.id())
        }
        Some(value) => value.clone(),
    };
    share::remove_notes(&mut value);
    if let Some(spelling) = path::find_spelling(&object.value, &keys, budget) {
        value = spelling.into();
    }
    if part.delimiter.is_empty() {
        return Ok(value);
    }
    let text = scalar_text(&value)?;
    let range = part.find_range(&text).ok_or_else(|| {
        let Part { delimiter, index, .. } = part;
        anyhow::format_err!(
            "split at `{delimiter}`, `{path}` of {} has no part {index}",
            object.id()
        )
    })?;
    Ok(text[range].into())
}

/// Returns the current identity and all former ones.
fn collect_ids(object: &Object) -> Vec<Id> {
    std::iter::once(object.id()).chain(object.former_ids()).collect()
}

impl SourceSelector {
    fn selects_id(&self, id: &Id) -> bool {
        let is = |wanted: &str, actual: &str| wanted.is_empty() || wanted == actual;
        let namespace =
            if id.written_namespace.is_empty() { "default" } else { &id.written_namespace };
        self.gvk.selects_id(id) && is(&self.name, &id.name) && is(&self.namespace, namespace)
    }
}

impl std::fmt::Display for SourceSelector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { gvk: Gvk { group, version, kind }, name, namespace } = self;
        let all = [
            ("group", group),
            ("version", version),
            ("kind", kind),
            ("name", name),
            ("namespace", namespace),
        ];
        let all = all.iter().filter(|field| !field.1.is_empty());
        let all: Vec<String> = all.map(|(key, value)| format!("{key} `{value}`")).collect();
        f.write_str(&all.join(", "))
    }
}

impl Target {
    fn selects_object(&self, object: &Object) -> anyhow::Result<bool> {
        let (ids, budget) = (collect_ids(object), &object.budget);
        budget.count_items(self.reject.len())?;
        if !self.select.selects_metadata(object)? || !self.select.selects_any(&ids, budget)? {
            return Ok(false);
        }
        for reject in &self.reject {
            if reject.has_metadata() && reject.selects_metadata(object)?
                || reject.has_id() && reject.selects_any(&ids, budget)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

fn replace_value(
    object: &mut Object,
    path: &str,
    value: &Value,
    part: &Part,
) -> anyhow::Result<()> {
    let empty = match value {
        Value::Array(_) => yaml::json!([]),
        Value::Object(_) => yaml::json!({}),
        // A new scalar is parsed from its text, and is neither a number nor a boolean here.
        _ => yaml::json!("\0"),
    };
    let budget = &object.budget;
    let path = path::split_path(path);
    let depth = path.len();
    let mut set = |field: &mut Value| {
        budget.take_value(value, depth)?;
        if field.is_array() || field.is_object() {
            if !part.delimiter.is_empty() {
                anyhow::bail!("the value is not a scalar, so it cannot be split");
            }
            *field = value.clone();
            return Ok(());
        }
        let is_new = *field == "\0";
        let text = if part.delimiter.is_empty() {
            scalar_text(value)?.into_owned()
        } else {
            let old = if is_new { Cow::Borrowed("") } else { scalar_text(field)? };
            part.replace_in(&old, &scalar_text(value)?, budget)?
        };
        *field = build_scalar(if is_new { None } else { Some(field) }, text)?;
        Ok(())
    };
    let empty = Some(&empty).filter(|_| part.create);
    if part.create {
        path.iter().try_for_each(|key| budget.take_bytes(key.len()))?;
        budget::check_depth(depth)?;
    }
    let mut visitor = Visitor { empty, set: &mut set, budget };
    match visitor.visit_path(&mut object.value, &path)? {
        0 => Err(anyhow::format_err!("there is no such field"))
            .hint("correct the path, or create it with `options: {create: true}`"),
        _ => Ok(()),
    }
}

fn scalar_text(value: &Value) -> anyhow::Result<Cow<'_, str>> {
    if let Some(text) = value.as_str() {
        return Ok(text.into());
    }
    let fraction = || Some(value.as_number()?.to_string()).filter(|number| !number.contains('e'));
    path::scalar_text(value)
        .or_else(fraction)
        .map(Cow::from)
        .ok_or_else(|| anyhow::format_err!("{value} cannot be written into the text"))
}

fn is_integer(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_digit())
}

/// Converts a text to the type of the scalar that it replaces; a new scalar has the type of its text without quotes.
fn build_scalar(old: Option<&Value>, text: String) -> anyhow::Result<Value> {
    if old.is_some_and(Value::is_string) {
        return Ok(text.into());
    }
    if old.is_none() && yaml::is_respelled_time(&text) {
        return Err(anyhow::format_err!(
            "`{text}` is a time that kustomize may spell in its own way"
        ))
        .hint("give the target a field with a string in quotes, which it replaces");
    }
    let plain =
        !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "._+-~".contains(c));
    let read =
        if plain { yaml::from_text(&text, Dialect::Kustomize)? } else { text.clone().into() };
    match (old, &read) {
        (None, _) => Ok(read),
        (Some(Value::Number(old)), Value::Number(_)) if !old.is_f64() && is_integer(&text) => {
            Ok(read)
        }
        (Some(Value::Bool(_)), Value::Bool(_)) => Ok(read),
        (Some(old), _) => {
            anyhow::bail!("`{text}` cannot replace {old}: the type of the field stays the same")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::budget_tests::work;

    #[test]
    fn a_part_that_is_not_there_is_refused_with_the_field() {
        let fields = "replacements: [{source: {kind: Deployment, options: {delimiter: x, index: 3}}, targets: [{select: {kind: Deployment}}]}]\n";
        let error = work(1, fields).unwrap_err();
        let end = "split at `x`, `metadata.name` of apps/v1 Deployment `d0` in namespace `default` has no part 3";
        assert!(error.ends_with(end), "{error}");
    }

    #[test]
    fn a_search_for_an_item_counts_all_items() {
        let items: Vec<String> = (0..500).map(|at| format!(r#"{{"name": "c{at}"}}"#)).collect();
        let operation =
            format!(r#"{{"op": "add", "path": "/list", "value": [{}]}}"#, items.join(", "));
        let patch = format!("patches: [{{target: {{kind: Deployment}}, patch: '[{operation}]'}}]");
        let replacements = |path: &str| {
            format!(
                "{patch}\nreplacements: [{{source: {{kind: Deployment, fieldPath: '{path}'}}, targets: [{{select: {{kind: Deployment}}}}]}}]\n"
            )
        };
        let by_place = work(1, &replacements("list.499.name")).unwrap();
        let by_name = work(1, &replacements("list.[name=c499].name")).unwrap();
        assert!(by_name >= by_place + 500, "{by_place} {by_name}");
    }
}
