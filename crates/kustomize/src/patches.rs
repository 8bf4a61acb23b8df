//! `patches`, `patchesStrategicMerge` and `patchesJson6902`: strategic merges and JSON patches, in files or inline.

use super::{
    budget::Budget,
    json_patch,
    kustomization::{Kustomization, Patch, PatchField, PatchOptions, PatchSource},
    merge, named_files,
    object::Object,
    objects::Indexed,
    origin::Origin,
    resources, share,
};
use diagnostics::Hint as _;
use go_data::yaml::{self, Data, Dialect, Node, Value};
use model::Tree;

pub fn apply_patch(
    tree: &impl Tree,
    kustomization: &Kustomization,
    patch: &Patch,
    objects: &mut Indexed<'_>,
    budget: &Budget,
) -> anyhow::Result<()> {
    let (path, text, field) = match &patch.source {
        PatchSource::Path(item) => {
            let (path, text) = named_files::read_text(tree, kustomization, item)?;
            (path, text, None)
        }
        PatchSource::Inline(item) => {
            (kustomization.path.clone(), item.text.trim().to_owned(), Some(item.mark))
        }
    };
    let whole = if field.is_some() { &kustomization.text } else { &text };
    let origin = Origin { path: &path, text: whole, field };
    let wrong = |error: anyhow::Error| error.context(origin.to_string());
    let nodes = origin.parse_nodes(&text, Dialect::Kustomize)?;
    match nodes.as_slice() {
        [] if patch.options.field != PatchField::Patches => {
            Err(kustomization.error_at(patch.mark, &format!("{origin} is empty")))
                .hint("remove the line, or list the patch under `patches`, where it may be empty")
        }
        [] => Ok(()),
        [node, ..] if matches!(node.data, Data::List(_)) => {
            if nodes.len() > 1 {
                return Err(
                    kustomization.error_at(patch.mark, &format!("{origin} has a second document"))
                )
                .hint("kustomize ignores it: give it an entry of its own under `patches`");
            }
            let list = if text.starts_with('[') {
                yaml::from_json(&text).map_err(|error| {
                    anyhow::format_err!("it begins with `[`, so it has to be JSON: {error}")
                })
            } else {
                yaml::from_text(&text, Dialect::Kubernetes)
            };
            let Value::Array(list) = list.map_err(wrong)? else { return Ok(()) };
            apply_json(kustomization, patch, &list, objects).map_err(wrong)
        }
        [node, ..] if node.get("op").is_some() && node.get("kind").is_none() => {
            Err(origin.error_at(node.mark, "this operation is not in a list", None))
                .hint("a JSON patch is a list: write `- op: …`")
        }
        [node, ..] if patch.options.field == PatchField::Json6902 => {
            Err(origin.error_at(node.mark, "`patchesJson6902` must hold JSON patches", None))
                .hint("list it under `patches`")
        }
        _ => {
            nodes.iter().try_for_each(|node| check_times(&origin, node))?;
            let patches = resources::collect_objects(&origin, nodes, budget)?;
            apply_strategic(kustomization, patch, &patches, objects).map_err(wrong)
        }
    }
}

/// Refuses times without quotes: only after the merge is it known if kustomize prints them in braces.
fn check_times(origin: &Origin<'_>, node: &Node) -> anyhow::Result<()> {
    match &node.data {
        Data::Map(entries) => {
            entries.iter().try_for_each(|entry| check_times(origin, &entry.value))
        }
        Data::List(items) => items.iter().try_for_each(|item| check_times(origin, item)),
        Data::Scalar(_) if node.is_respelled_time() => {
            let message = "kustomize spells this time in its own way in some places";
            Err(origin.error_at(node.mark, message, Some("write it in quotes")))
        }
        Data::Scalar(_) => Ok(()),
    }
}

fn apply_json(
    kustomization: &Kustomization,
    patch: &Patch,
    list: &[Value],
    objects: &mut Indexed<'_>,
) -> anyhow::Result<()> {
    let operations = json_patch::parse_operations(list)?;
    let Some(target) = &patch.target else {
        return Err(kustomization.error_at(patch.mark, "a JSON patch needs a `target`"));
    };
    for at in objects.positions_with_name(target.literal_name())? {
        let object = &mut objects.objects.0[at];
        if !target.selects_object(object)? {
            continue;
        }
        object.budget.count_value(&object.value)?;
        object.keep_history()?;
        // kustomize forgets the former name in `patchesJson6902`.
        if patch.options.field != PatchField::Json6902 {
            object.record_identity()?;
        }
        let internal = object.internal_annotations();
        let whole = format!("on {}", object.id());
        share::remove_notes(&mut object.value);
        object.knows_quotes = false;
        json_patch::apply_operations(&mut object.value, &operations, &object.budget)
            .map_err(|error| error.context(whole))?;
        if object.kind().is_empty() || object.name().is_empty() {
            anyhow::bail!("it leaves an object without kind or name");
        }
        for (key, text) in internal {
            object.set_annotation(&key, &text);
        }
        objects.record_change(at);
    }
    Ok(())
}

fn apply_strategic(
    kustomization: &Kustomization,
    entry: &Patch,
    patches: &[Object],
    objects: &mut Indexed<'_>,
) -> anyhow::Result<()> {
    if let Some(target) = &entry.target {
        let [patch] = patches else {
            return Err(
                kustomization.error_at(entry.mark, "a patch with a `target` is one document")
            );
        };
        let patch = with_strings(patch)?;
        for at in objects.positions_with_name(target.literal_name())? {
            if target.selects_object(&objects.objects.0[at])? {
                merge_at(objects, at, &patch, entry.options)?;
            }
        }
        objects.remove_empty()?;
        return objects.check_identities();
    }
    for patch in patches {
        let id = patch.original_id();
        let patch = if entry.options.field == PatchField::StrategicMerge {
            &with_strings(patch)?
        } else {
            patch
        };
        match objects.positions_with_id(&id)?[..] {
            [at] => merge_at(objects, at, patch, entry.options)?,
            [] => {
                let message = format!("there is no {id} to patch");
                return Err(kustomization.error_at(entry.mark, &message))
                    .hint("a patch names its object as it is at this point, with its apiVersion and namespace; or give it a `target`");
            }
            _ => {
                let message = format!("there is more than one {id} to patch");
                return Err(kustomization.error_at(entry.mark, &message));
            }
        }
    }
    Ok(())
}

/// Converts a patch as kustomize reads one with a `target`: its labels and annotations are maps of strings, or absent.
fn with_strings(patch: &Object) -> anyhow::Result<Object> {
    let mut converted = patch.clone();
    let Some(Value::Object(metadata)) = converted.value.get_mut("metadata") else {
        return Ok(converted);
    };
    for field in ["labels", "annotations"] {
        match metadata.get_mut(field) {
            Some(Value::Object(map)) if !map.is_empty() => share::convert_to_strings(map)?,
            _ => drop(metadata.remove(field)),
        }
    }
    Ok(converted)
}

fn merge_at(
    objects: &mut Indexed<'_>,
    at: usize,
    patch: &Object,
    options: PatchOptions,
) -> anyhow::Result<()> {
    merge_object(&mut objects.objects.0[at], patch, options)?;
    if options.new_name || options.new_kind {
        objects.record_change(at);
    } else {
        objects.record_content(at);
    }
    Ok(())
}

/// Merges a patch into an object. Kind and name stay, unless they may change; the namespace stays.
fn merge_object(object: &mut Object, patch: &Object, options: PatchOptions) -> anyhow::Result<()> {
    let (kind, name) = (object.kind().to_owned(), object.name().to_owned());
    let namespace = Some(object.namespace().to_owned()).filter(|namespace| !namespace.is_empty());
    if options.new_name || options.new_kind {
        object.record_identity()?;
    }
    if patch.value["metadata"].get("annotations").is_some() {
        object.keep_history()?;
    }
    if !std::mem::replace(&mut object.knows_quotes, true) {
        share::note_printed(&mut object.value);
    }
    object.budget.count_value(&object.value)?;
    object.budget.count_value(&patch.value)?;
    object.budget.take_value(&patch.value, 0)?;
    let mut change = patch.value.clone();
    // With a target, the patch gets the apiVersion of its target.
    change["apiVersion"] = object.value["apiVersion"].clone();
    let merged = merge::merge_objects(object.value.take(), change)
        .map_err(|error| error.context(format!("cannot merge into {kind} `{name}`")))?;
    object.value = merged.unwrap_or(Value::Null);
    if object.is_empty() {
        return Ok(());
    }
    share::propagate_changes(&mut object.value, &object.budget)?;
    if !options.new_kind {
        object.value["kind"] = kind.into();
    }
    if !options.new_name {
        object.set_name(&name)?;
    }
    object.set_namespace(namespace.as_deref())
}
