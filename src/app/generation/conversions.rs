//! The code that converts between the versions of a kind, from their types.

use std::collections::{BTreeMap, BTreeSet};

use crate::plan::WorkTree;
use crate::project::{
    CRD_CONFIG, DEFAULT_CONFIG, DeclaredKind, Operator, Project, Resource, kind_command,
};
use crate::source::conversion::{GeneratedConversion, VersionSource, generate_conversion};
use cluster::Id;
use diagnostics::{Diagnostic, Hint as _};
use go_data::yaml::{Value, pointer};
use model::{ProjectPath, Tree, Version};

/// Returns the code that converts between the hub and a spoke.
pub fn written(
    tree: &impl Tree,
    operator: &Operator,
    hub: &Resource,
    spoke: Version,
) -> anyhow::Result<GeneratedConversion> {
    let (_, hub_text) = text(tree, operator, hub, hub.version)?;
    let (_, spoke_text) = text(tree, operator, hub, spoke)?;
    between(hub, &hub_text, spoke, &spoke_text)
}

/// Returns the code that converts between the texts of two versions.
pub fn between(
    hub: &Resource,
    hub_text: &str,
    spoke: Version,
    spoke_text: &str,
) -> anyhow::Result<GeneratedConversion> {
    let group = hub.group.as_ref().map(|group| group.module_name()).unwrap_or_default();
    let (first, second) = (hub.version.to_string(), spoke.to_string());
    let first = VersionSource { module: &first, text: hub_text };
    let second = VersionSource { module: &second, text: spoke_text };
    generate_conversion(&hub.kind.to_string(), &group, &first, &second).map_err(anyhow::Error::msg)
}

/// Returns the file that declares a version of a kind, and its text.
pub fn text(
    tree: &impl Tree,
    operator: &Operator,
    kind: &Resource,
    version: Version,
) -> anyhow::Result<(ProjectPath, String)> {
    let Some(found) = declared(operator, kind, version)? else {
        return Err(anyhow::format_err!(
            "no type in the source declares {version} {} of {}",
            kind.kind,
            kind.api_group()
        ))
        .hint("run `operator-rs manifests` to see why");
    };
    let path: ProjectPath = found.place.path.as_str().parse()?;
    let text = tree.read_text(&path)?.unwrap_or_default();
    Ok((path, text))
}

/// Returns the type of a version, which must have the name of the kind; none if the source has none.
pub fn declared<'a>(
    operator: &'a Operator,
    kind: &Resource,
    version: Version,
) -> anyhow::Result<Option<&'a DeclaredKind>> {
    let (group, name) = (kind.api_group(), kind.kind.to_string());
    let is = |kind: &&DeclaredKind| {
        kind.group.as_deref() == Some(&*group)
            && kind.kind.as_deref() == Some(&*name)
            && kind.version == Some(version.to_string())
    };
    let found = operator.kinds.iter().find(is);
    match found.filter(|project| project.name != name) {
        Some(other) => {
            Err(anyhow::format_err!("{}: the Rust type of {name} is `{}`", other.place, other.name))
                .hint("give the type the name of the kind: remove `root` from `#[kube(…)]`")
        }
        None => Ok(found),
    }
}

/// Returns the note about a conversion in an operator that watches one namespace.
pub fn olm_warning(project: &Project) -> Option<Diagnostic> {
    let message = "OLM installs an operator with a conversion webhook for all namespaces only, and this one watches one namespace: `operator-rs bundle` will refuse it";
    let hint = "install it in another way, such as `operator-rs deploy` or a chart; for OLM, start from `operator-rs init` without `--namespaced`, or keep the versions' schemas identical, so that no conversion is needed";
    project.namespaced.then(|| Diagnostic::from(message).with_hint(hint))
}

const CRD_LIST: &str = "config/crd/kustomization.yaml";

/// Refuses a conversion in PROJECT that the CRD does not have, and warns of one that only the CRD has: kustomize renders
/// what API servers get. A kustomization that cannot be rendered is reported where it is used.
pub fn require_in_crds(tree: &mut WorkTree<'_>, project: &Project) -> anyhow::Result<()> {
    let mut own: BTreeMap<(String, String), BTreeSet<Version>> = BTreeMap::new();
    for resource in project.resources.iter().filter(|resource| resource.api.is_some()) {
        let kind = (resource.api_group(), resource.kind.to_string());
        own.entry(kind).or_default().insert(resource.version);
    }
    if own.values().all(|versions| versions.len() < 2) {
        return Ok(());
    }
    let converted = project.converted_versions();
    let mut deployed = None;
    for crd in render_crds(tree, CRD_CONFIG).unwrap_or_default() {
        let text = |crd: &Value| crd.as_str().unwrap_or_default().to_owned();
        let (group, kind) = (text(&crd["spec"]["group"]), text(&crd["spec"]["names"]["kind"]));
        let id = (group, kind);
        let kind = &id.1;
        match (converted.get(&id), is_converted(&crd)) {
            (Some(converted), false) => {
                // The kustomization that deploys the operator may have the patch, too.
                let all = deployed.get_or_insert_with(|| render_crds(tree, DEFAULT_CONFIG));
                let is_it = |object: &Value| {
                    Id::of(object).name == Id::of(&crd).name && is_converted(object)
                };
                if all.as_ref().is_some_and(|all| !all.iter().any(is_it)) {
                    return Err(not_converted(kind, &crd, &converted.hub).into_error());
                }
            }
            (Some(_), true) => {
                if let Some(wrong) = wrong_call(&crd) {
                    return Err(called_otherwise(kind, wrong).into_error());
                }
            }
            (None, true) if own.contains_key(&id) => tree.warn(unlisted_crd(kind, &crd)),
            _ => {}
        }
    }
    Ok(())
}

fn not_converted(kind: &str, crd: &Value, hub: &str) -> Diagnostic {
    let (name, plural) = (Id::of(crd).name, crd["spec"]["names"]["plural"].as_str());
    let message = format!(
        "PROJECT lists a conversion of `{kind}`, and its CRD has none: API servers would drop the fields that another version does not have"
    );
    Diagnostic::in_file(CRD_LIST, message).with_hint(format!(
        "list the patch that sets `spec.conversion` of {name} under `patches`, e.g. `- path: patches/webhook_in_…_{}.yaml`; or remove the conversion with `{}`",
        plural.unwrap_or_default(),
        conversion_command("delete webhook", crd, hub)
    ))
}

/// Returns the difference between a CRD's conversion and the one that the operator serves. With a URL, another program
/// may serve it.
fn wrong_call(crd: &Value) -> Option<String> {
    let webhook = &crd["spec"]["conversion"]["webhook"];
    let service = &webhook["clientConfig"]["service"];
    let path = pointer::text(service, "/path");
    if !service.is_null() && path != "/convert" {
        return Some(format!("`path: {path}`, and the operator converts at `/convert`"));
    }
    let mut versions = pointer::texts(webhook, "/conversionReviewVersions");
    let is_known = versions.any(|version| version == "v1");
    (!is_known).then(|| {
        "`conversionReviewVersions` without `v1`, the only one that the operator reads".to_owned()
    })
}

fn called_otherwise(kind: &str, wrong: String) -> Diagnostic {
    let message =
        format!("the CRD of `{kind}` has {wrong}: no object of another version could be read");
    Diagnostic::in_file(CRD_LIST, message)
        .with_hint("change it in the patch that sets `spec.conversion`")
}

fn conversion_command(command: &str, crd: &Value, hub: &str) -> String {
    let text = |pointer: &str| pointer::text(crd, pointer);
    let flags = format!("--version {hub} --conversion");
    kind_command(command, text("/spec/group"), text("/spec/names/kind"), &flags)
}

fn unlisted_crd(kind: &str, crd: &Value) -> Diagnostic {
    let versions = pointer::list(crd, "/spec/versions");
    let stored = versions.iter().find(|version| version["storage"] == true);
    let stored = stored.map(|version| pointer::text(version, "/name")).unwrap_or_default();
    let message = format!(
        "the CRD of `{kind}` has API servers call a conversion webhook, and PROJECT lists no conversion of it"
    );
    Diagnostic::in_file(CRD_LIST, message).with_hint(format!(
        "if this operator is to convert it, run `{}`; otherwise, remove the patch",
        conversion_command("create webhook", crd, stored)
    ))
}

fn is_converted(crd: &Value) -> bool {
    crd["spec"]["conversion"]["strategy"] == "Webhook"
}

/// Returns the CRDs of a kustomization; none if it cannot be rendered.
fn render_crds(tree: &WorkTree<'_>, folder: &str) -> Option<Vec<Value>> {
    let mut crds = kustomize::build_in(tree, &ProjectPath::fixed(folder), &[], None).ok()?;
    crds.retain(|object| Id::of(object).is_crd());
    Some(crds)
}
