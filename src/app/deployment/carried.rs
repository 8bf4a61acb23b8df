//! The CRDs that manifests have, against those of the source, which are the ones to use.

use super::given::GivenManifests;
use crate::app::{
    cargo::Workspace,
    compile,
    crds::{crd_comparison::comparable, declared},
    findings,
};
use crate::{project::Project, terminal};
use cluster::Id;
use diagnostics::{Diagnostic, Diagnostics, collect_hints, with_hints};
use go_data::yaml::{self, Value};

/// Returns the CRDs of the manifests, which have to be those of the source, and those that only the source has. If the
/// source cannot be read, the CRDs of the manifests are used, with a warning.
pub fn crds(
    workspace: &Workspace,
    flags: Option<compile::CompileFlags>,
    manifests: &GivenManifests,
) -> anyhow::Result<Vec<Value>> {
    let mut crds: Vec<Value> =
        manifests.objects.iter().filter(|object| Id::of(object).is_crd()).cloned().collect();
    let declared = match declared::crds(workspace, flags) {
        Ok(declared) => declared,
        Err(error) if !crds.is_empty() => {
            warn_of_unread(manifests, &error);
            return Ok(crds);
        }
        Err(error) => return Err(error),
    };
    require_same(workspace, manifests, &crds, &declared)?;
    let is_missing = |object: &Value| !crds.iter().any(|carried| Id::of(carried) == Id::of(object));
    let missing: Vec<Value> = declared.into_iter().filter(is_missing).collect();
    crds.splice(0..0, missing);
    Ok(crds)
}

fn warn_of_unread(manifests: &GivenManifests, error: &anyhow::Error) {
    let name = &manifests.name;
    let warning = Diagnostic::from(format!(
        "the CRDs were read from `{name}` and may be out of date: {error:#}"
    ));
    terminal::warn(collect_hints(error).into_iter().fold(warning, |it, hint| it.with_hint(hint)));
}

fn require_same(
    workspace: &Workspace,
    manifests: &GivenManifests,
    crds: &[Value],
    declared: &[Value],
) -> anyhow::Result<()> {
    let mut list = Vec::new();
    let mut are_generated = true;
    let project = Project::find_in(&workspace.root)?;
    let folders = project.map(|project| project.inputs.crds).unwrap_or_default();
    for crd in crds {
        let Some(declared) = declared.iter().find(|object| Id::of(object) == Id::of(crd)) else {
            continue;
        };
        let (one, other) = (comparable(crd, declared), comparable(declared, declared));
        if one == other {
            continue;
        }
        let (at, carried, declared) = yaml::first_difference(&one, &other);
        let (carried, declared) = (findings::shortened(&carried), findings::shortened(&declared));
        let file = manifests.file_of(crd);
        are_generated &= folders
            .iter()
            .any(|value| file.rsplit_once('/').is_some_and(|(folder, _)| value.as_str() == folder));
        let message = format!(
            "{}: at `{at}`, the file has {carried}, and the source declares {declared}",
            Id::of(crd).name
        );
        list.push(Diagnostic::in_file(file, message));
    }
    if list.is_empty() {
        return Ok(());
    }
    let headline =
        format!("the CRDs in `{}` differ from those that the source declares", manifests.name);
    let renew = if are_generated {
        "generate them again: `operator-rs manifests`"
    } else {
        "replace them with the output of `operator-rs generate crds`"
    };
    let patched = "for CRDs that are patched on purpose: `kubectl apply --server-side` applies them, and `operator-rs test --crds DIR|FILE` tests with them";
    with_hints(
        Diagnostics { headline, list }.into(),
        [renew, patched].map(str::to_owned).into_iter(),
    )
}
