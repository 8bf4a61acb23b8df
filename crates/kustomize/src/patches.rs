//! `patches`, `patchesStrategicMerge` and `patchesJson6902`: strategic merges and JSON patches, in files or inline.

use super::{
    budget::Budget,
    json_patch,
    load::{Kustomization, Origin, Patch, Source},
    merge,
    object::Object,
    objects::Indexed,
    resources, share,
};
use diagnostics::Hint as _;
use go_data::yaml::{self, Data, Dialect, Node, Value};
use model::Tree;

/// How a patch finds its target, and what it may change.
#[derive(Debug, Default, Clone, Copy, PartialEq)]
pub struct Options {
    pub new_name: bool,
    pub new_kind: bool,
    pub list: List,
}

/// The field that lists a patch. Only `patches` accepts an empty one.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub enum List {
    #[default]
    Patches,
    /// Treats metadata as a patch with a `target` does.
    StrategicMerge,
    Json6902,
}

pub fn transform(
    tree: &impl Tree,
    of: &Kustomization,
    patch: &Patch,
    objects: &mut Indexed<'_>,
    budget: &Budget,
) -> anyhow::Result<()> {
    let (path, text, field) = match &patch.source {
        Source::Path(item) => {
            let (path, text) = resources::text(tree, of, item)?;
            (path, text, None)
        }
        Source::Inline(item) => (of.path.clone(), item.text.trim().to_owned(), Some(item.mark)),
    };
    let whole = if field.is_some() { &of.text } else { &text };
    let origin = Origin { path: &path, text: whole, field };
    let wrong = |error: anyhow::Error| error.context(origin.to_string());
    let nodes = origin.nodes(&text, Dialect::Kustomize)?;
    match nodes.as_slice() {
        [] if patch.options.list != List::Patches => {
            Err(of.problem(patch.mark, &format!("{origin} is empty")))
                .hint("remove the line, or list the patch under `patches`, where it may be empty")
        }
        [] => Ok(()),
        [node, ..] if matches!(node.data, Data::List(_)) => {
            if nodes.len() > 1 {
                return Err(of.problem(patch.mark, &format!("{origin} has a second document")))
                    .hint("kustomize ignores it: give it an entry of its own under `patches`");
            }
            let list = match text.starts_with('[') {
                true => yaml::from_json(&text).map_err(|it| {
                    anyhow::format_err!("it begins with `[`, so it has to be JSON: {it}")
                }),
                false => yaml::from_text(&text, Dialect::Kubernetes),
            };
            let Value::Array(list) = list.map_err(wrong)? else { return Ok(()) };
            json(of, patch, &list, objects).map_err(wrong)
        }
        [node, ..] if node.get("op").is_some() && node.get("kind").is_none() => {
            Err(origin.problem(node.mark, "this operation is not in a list", None))
                .hint("a JSON patch is a list: write `- op: …`")
        }
        [node, ..] if patch.options.list == List::Json6902 => {
            Err(origin.problem(node.mark, "`patchesJson6902` must hold JSON patches", None))
                .hint("list it under `patches`")
        }
        _ => {
            nodes.iter().try_for_each(|it| check_times(&origin, it))?;
            let patches = resources::objects(&origin, nodes, budget)?;
            strategic(of, patch, &patches, objects).map_err(wrong)
        }
    }
}

/// Whether kustomize prints a value of a patch in braces is known only once it is merged.
fn check_times(origin: &Origin<'_>, node: &Node) -> anyhow::Result<()> {
    match &node.data {
        Data::Map(entries) => entries.iter().try_for_each(|it| check_times(origin, &it.value)),
        Data::List(items) => items.iter().try_for_each(|it| check_times(origin, it)),
        Data::Scalar(_) if node.is_respelled_time() => {
            let message = "kustomize spells this time in its own way in some places";
            Err(origin.problem(node.mark, message, Some("write it in quotes")))
        }
        Data::Scalar(_) => Ok(()),
    }
}

fn json(
    of: &Kustomization,
    patch: &Patch,
    list: &[Value],
    objects: &mut Indexed<'_>,
) -> anyhow::Result<()> {
    let operations = json_patch::parse(list)?;
    let Some(target) = &patch.target else {
        return Err(of.problem(patch.mark, "a JSON patch needs a `target`"));
    };
    for at in objects.with_name(target.literal_name())? {
        let object = &mut objects.objects.0[at];
        if !target.selects(object)? {
            continue;
        }
        object.budget.look_through(&object.value)?;
        object.keep_history()?;
        // kustomize forgets the former name in `patchesJson6902`.
        if patch.options.list != List::Json6902 {
            object.remember()?;
        }
        let internal = object.internal_annotations();
        let whole = format!("on {}", object.id());
        share::clear(&mut object.value);
        object.knows_quotes = false;
        json_patch::apply(&mut object.value, &operations, &object.budget)
            .map_err(|it| it.context(whole))?;
        if object.kind().is_empty() || object.name().is_empty() {
            anyhow::bail!("it leaves an object without kind or name");
        }
        for (key, text) in internal {
            object.annotate(&key, &text);
        }
        objects.note_change(at);
    }
    Ok(())
}

fn strategic(
    of: &Kustomization,
    entry: &Patch,
    patches: &[Object],
    objects: &mut Indexed<'_>,
) -> anyhow::Result<()> {
    if let Some(target) = &entry.target {
        let [patch] = patches else {
            return Err(of.problem(entry.mark, "a patch with a `target` is one document"));
        };
        let patch = with_strings(patch)?;
        for at in objects.with_name(target.literal_name())? {
            if target.selects(&objects.objects.0[at])? {
                merge_at(objects, at, &patch, entry.options)?;
            }
        }
        objects.remove_empty()?;
        return objects.check();
    }
    for patch in patches {
        let id = patch.original_id();
        let patch =
            if entry.options.list == List::StrategicMerge { &with_strings(patch)? } else { patch };
        match objects.by_any_id(&id)?[..] {
            [at] => merge_at(objects, at, patch, entry.options)?,
            [] => {
                let message = format!("there is no {id} to patch");
                return Err(of.problem(entry.mark, &message))
                    .hint("a patch names its object as it is at this point, with its apiVersion and namespace; or give it a `target`");
            }
            _ => {
                let message = format!("there is more than one {id} to patch");
                return Err(of.problem(entry.mark, &message));
            }
        }
    }
    Ok(())
}

/// As kustomize reads a patch with a `target`: its labels and annotations are maps of strings, or absent.
fn with_strings(patch: &Object) -> anyhow::Result<Object> {
    let mut res = patch.clone();
    let Some(Value::Object(metadata)) = res.value.get_mut("metadata") else { return Ok(res) };
    for field in ["labels", "annotations"] {
        match metadata.get_mut(field) {
            Some(Value::Object(map)) if !map.is_empty() => share::stringify(map)?,
            _ => drop(metadata.remove(field)),
        }
    }
    Ok(res)
}

fn merge_at(
    objects: &mut Indexed<'_>,
    at: usize,
    patch: &Object,
    options: Options,
) -> anyhow::Result<()> {
    merge(&mut objects.objects.0[at], patch, options)?;
    if options.new_name || options.new_kind {
        objects.note_change(at);
    } else {
        objects.note_content(at);
    }
    Ok(())
}

/// Kind and name stay, unless they may change; the namespace stays.
fn merge(object: &mut Object, patch: &Object, options: Options) -> anyhow::Result<()> {
    let (kind, name) = (object.kind().to_owned(), object.name().to_owned());
    let namespace = Some(object.namespace().to_owned()).filter(|it| !it.is_empty());
    if options.new_name || options.new_kind {
        object.remember()?;
    }
    if patch.value["metadata"].get("annotations").is_some() {
        object.keep_history()?;
    }
    if !std::mem::replace(&mut object.knows_quotes, true) {
        share::note_printed(&mut object.value);
    }
    object.budget.look_through(&object.value)?;
    object.budget.look_through(&patch.value)?;
    object.budget.take_value(&patch.value, 0)?;
    let mut change = patch.value.clone();
    // With a target, the patch gets the apiVersion of its target.
    change["apiVersion"] = object.value["apiVersion"].clone();
    let merged = merge::merge(object.value.take(), change)
        .map_err(|it| it.context(format!("cannot merge into {kind} `{name}`")))?;
    object.value = merged.unwrap_or(Value::Null);
    if object.is_empty() {
        return Ok(());
    }
    share::settle(&mut object.value, &object.budget)?;
    if !options.new_kind {
        object.value["kind"] = kind.into();
    }
    if !options.new_name {
        object.set_name(&name)?;
    }
    object.set_namespace(namespace.as_deref())
}
