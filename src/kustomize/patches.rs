//! `patches`: strategic merges and JSON patches, in files or inline.

use super::{
    json_patch,
    load::{self, Kustomization, Patch, Source},
    merge,
    object::{Object, Objects},
    resources,
};
use crate::{
    hint::Hint as _,
    model::ProjectPath,
    plan::Tree,
    yaml::{Data, Dialect, Value},
};

pub fn transform(
    tree: &impl Tree,
    of: &Kustomization,
    patch: &Patch,
    objects: &mut Objects,
) -> anyhow::Result<()> {
    let (origin, text) = match &patch.source {
        Source::Path(item) => resources::text(tree, of, item)?,
        Source::Inline(item) => (of.path.clone(), item.text.trim().to_owned()),
    };
    let shown = match &patch.source {
        Source::Path(_) => origin.to_string(),
        Source::Inline(item) => {
            format!("{origin}:{}:{}: the inline patch", item.mark.line, item.mark.column)
        }
    };
    let wrong = |error: anyhow::Error| error.context(shown.clone());
    let nodes = match &patch.source {
        Source::Path(_) => load::nodes(&origin, &text, Dialect::Kustomize)?,
        Source::Inline(_) => load::nodes(&origin, &text, Dialect::Kustomize).map_err(|_| {
            of.problem(patch.mark, "the inline patch is not YAML that every reader reads alike")
        })?,
    };
    match nodes.as_slice() {
        [] => Err(of.problem(patch.mark, &format!("{shown} is empty"))),
        [node] if matches!(node.data, Data::List(_)) => {
            let Value::Array(list) = node.clone().into_value() else { return Ok(()) };
            let operations = json_patch::parse(&list).map_err(wrong)?;
            let Some(target) = &patch.target else {
                return Err(of.problem(patch.mark, "a JSON patch needs a `target`"));
            };
            for object in objects.0.iter_mut().filter(|it| target.selects(it)) {
                object.remember();
                let whole = format!("{shown}, on {}", object.id());
                json_patch::apply(&mut object.value, &operations)
                    .map_err(|it| it.context(whole))?;
                named(object).map_err(wrong)?;
            }
            Ok(())
        }
        _ => {
            let patches = resources::objects(&origin, &text)?;
            strategic(of, patch, &patches, objects, &origin).map_err(wrong)
        }
    }
}

fn strategic(
    of: &Kustomization,
    entry: &Patch,
    patches: &[Object],
    objects: &mut Objects,
    origin: &ProjectPath,
) -> anyhow::Result<()> {
    if let Some(target) = &entry.target {
        let [patch] = patches else {
            return Err(of.problem(entry.mark, "a patch with a `target` is one document"));
        };
        return objects
            .0
            .iter_mut()
            .filter(|it| target.selects(it))
            .try_for_each(|it| merge(it, patch));
    }
    for patch in patches {
        let id = patch.original_id();
        match objects.by_any_id(&id)[..] {
            [at] => merge(&mut objects.0[at], patch)?,
            [] => {
                return Err(anyhow::format_err!("{origin}: there is no {id} to patch"))
                    .hint("a patch names its object as it is at this point, with its apiVersion and namespace; or give it a `target`");
            }
            _ => anyhow::bail!("{origin}: there is more than one {id} to patch"),
        }
    }
    Ok(())
}

/// Kind, name and namespace stay, whatever the patch says.
fn merge(object: &mut Object, patch: &Object) -> anyhow::Result<()> {
    let (kind, name) = (object.kind().to_owned(), object.name().to_owned());
    let namespace = Some(object.namespace().to_owned()).filter(|it| !it.is_empty());
    let mut change = patch.value.clone();
    // With a target, the patch takes over the apiVersion of what it is for.
    change["apiVersion"] = object.value["apiVersion"].clone();
    let merged = merge::merge(object.value.take(), change)
        .map_err(|it| it.context(format!("merging into {kind} `{name}`")))?;
    object.value = merged.unwrap_or(Value::Null);
    if object.is_empty() {
        return Ok(());
    }
    object.value["kind"] = kind.into();
    object.set_name(&name);
    object.set_namespace(namespace.as_deref());
    Ok(())
}

/// A JSON patch may change anything, but what is left has to be an object.
fn named(object: &Object) -> anyhow::Result<()> {
    if object.kind().is_empty() || object.name().is_empty() {
        anyhow::bail!("it leaves an object without kind or name");
    }
    Ok(())
}
