//! The files of a directory that the CRDs are written to: those that have them, whatever their names are.

use std::{collections::BTreeSet, path::Path};

use super::{declared::BY, findings::shortened};
use crate::{
    disk::Root,
    manifests::Manifest,
    plan::{self, Plan},
};
use cluster::Id;
use diagnostics::{Diagnostic, Diagnostics, Hint as _};
use go_data::{
    kubernetes::held_crd,
    yaml::{self, Value},
};
use model::{ProjectPath, Tree as _};

/// A file directly in the directory that has CRDs which are written.
struct File {
    path: ProjectPath,
    objects: Vec<Value>,
    /// Whether `generate crds` or `manifests` has written it, even if it was edited since.
    is_ours: bool,
}

/// Writes each CRD to every file directly in the directory that has it, else to a file of its own. A file of somebody else
/// that has the same CRDs stays as it is; a different one is replaced only if edits may be. If the CRDs are all of the
/// project, generated files of deleted kinds are removed.
pub fn plan(
    folder: &Path,
    root: &Root,
    manifests: &[Manifest],
    is_whole: bool,
) -> anyhow::Result<Plan> {
    let (mut res, mut written, mut problems) = (Plan::default(), BTreeSet::new(), Vec::new());
    for file in files(folder, root, manifests)? {
        let shown = || folder.join(file.path.as_str()).display().to_string();
        let sources: Vec<Option<&Manifest>> =
            file.objects.iter().map(|it| declaring(it, manifests)).collect();
        let others =
            || file.objects.iter().zip(&sources).filter(|it| it.1.is_none()).map(|it| it.0);
        if is_whole && !file.is_ours {
            for it in others().filter(|it| is_left_over(it, manifests)) {
                let message = format!("{} is left over: no kind declares it", Id::of(it).name);
                res.warn(Diagnostic::in_file(shown(), message));
            }
        }
        let own = file.objects.iter().zip(&sources).filter_map(|(old, it)| Some((old, (*it)?)));
        written.extend(own.clone().map(|it| &it.1.path));
        let mut own =
            own.flat_map(|(old, it)| it.objects.iter().map(move |new| (old, new, it))).peekable();
        let why = own.clone().find_map(|(old, new, _)| difference(old, new));
        if own.peek().is_none() || why.is_none() && !file.is_ours {
            continue;
        }
        if let Some(other) = others().next().filter(|_| !(is_whole && file.is_ours)) {
            let Id { kind, name, .. } = Id::of(other);
            let message = format!("has the {kind} {name} as well, which would be lost");
            problems.push(Diagnostic::in_file(shown(), message));
        } else if file.path.extension() == "json" {
            problems.push(Diagnostic::in_file(shown(), "is JSON, and CRDs are written as YAML"));
        }
        let text = own.clone().map(|it| it.2.to_text()).collect();
        let edits: BTreeSet<&str> = own.map(|it| it.2.edit.as_str()).collect();
        let edits: Vec<&str> = edits.into_iter().collect();
        res.generate(file.path.clone(), text, &edits.join(", "), BY);
        res.take_over(&file.path, why);
    }
    if !problems.is_empty() {
        let headline =
            "CRDs are out of date in files that cannot be replaced, and nothing was written";
        let error = Diagnostics { headline: headline.to_owned(), list: problems };
        return Err(anyhow::Error::from(error)).hint(
            "give the CRDs YAML files of their own, or write into another directory: `operator-rs generate crds --output-dir DIR`",
        );
    }
    for it in manifests.iter().filter(|it| !written.contains(&it.path)) {
        res.generate(it.path.name().parse()?, it.to_text(), &it.edit, BY);
    }
    if is_whole {
        res.sweep(BY);
    }
    Ok(res)
}

/// The manifest with the CRD of this name.
fn declaring<'a>(crd: &Value, manifests: &'a [Manifest]) -> Option<&'a Manifest> {
    let id = Id::of(crd);
    manifests
        .iter()
        .filter(|_| id.is_crd())
        .find(|it| it.objects.iter().any(|it| Id::of(it).name == id.name))
}

/// The files directly in a directory that have CRDs. One that is no YAML, as a template of a chart is not, has none.
fn files(folder: &Path, root: &Root, manifests: &[Manifest]) -> anyhow::Result<Vec<File>> {
    let mut res = Vec::new();
    for name in root.names("")? {
        let Ok(path) = name.parse::<ProjectPath>() else { continue };
        if !["yaml", "yml", "json"].contains(&path.extension()) {
            continue;
        }
        let Some(text) = root.read(&path)? else { continue };
        let is_ours = plan::is_generated_by(&path, &text, BY);
        match yaml::documents(&text, yaml::Dialect::Kubernetes) {
            Ok(objects) if objects.iter().any(|it| Id::of(it).is_crd()) => {
                res.push(File { path, objects, is_ours });
            }
            // The CRDs in it are unknown, and would be written to files of their own as well.
            Err(_) if is_ours && manifests.iter().all(|it| it.path.name() != path.as_str()) => {
                let shown = folder.join(&name).display().to_string();
                return Err(anyhow::format_err!(
                    "cannot read {shown}, which operator-rs has generated"
                ))
                .hint("restore it from version control, or delete it");
            }
            _ => {}
        }
    }
    Ok(res)
}

/// Whether it is a CRD in a group of the declared ones.
fn is_left_over(crd: &Value, declared: &[Manifest]) -> bool {
    let mut groups = declared.iter().flat_map(|it| &it.objects).map(|it| &it["spec"]["group"]);
    Id::of(crd).is_crd() && groups.any(|it| *it == crd["spec"]["group"])
}

/// What differs, as API servers would hold both.
fn difference(old: &Value, new: &Value) -> Option<String> {
    let (one, other) = (held_crd(old.clone()), held_crd(new.clone()));
    (one != other).then(|| {
        let (at, old, new) = yaml::difference(&one, &other);
        let (old, new) = (shortened(&old), shortened(&new));
        format!("at `{at}`, it has {old}, and the source declares {new}")
    })
}
