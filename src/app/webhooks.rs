//! config/webhook/manifests.yaml, and the kustomization that has to list it.

use super::api::{needed, webhook::Target};
use super::{derive::MANIFESTS, rendered::EVERYTHING};
use crate::manifests::{Manifest, WEBHOOKS};
use crate::plan::{self, Plan};
use crate::project::{Operator, Problem, Project, Resource, Webhook, Webhooks};
use crate::source;
use diagnostics::Diagnostic;
use go_data::yaml::{self, Value};
use model::{Found, ProjectPath, Tree};

const LIST: &str = "config/webhook/kustomization.yaml";

/// What the operator runs.
const LIBRARY: &str = "src/lib.rs";

/// Whether the operator registers all of its webhooks, as `create webhook` does it.
pub fn registers(project: &Project, tree: &impl Tree) -> anyhow::Result<bool> {
    let file = tree.look(&ProjectPath::fixed(source::REGISTRATIONS))?;
    Ok(project.has_webhooks() || file != Found::Nothing)
}

/// The webhooks in PROJECT that no comment has: without their code, API servers would no longer call them.
pub fn missing(project: &Project, operator: &Operator) -> anyhow::Result<Vec<Diagnostic>> {
    let mut res = Vec::new();
    for resource in &project.resources {
        let Some(webhooks) = &resource.webhooks else { continue };
        let Some(target) = Target::of(project, resource)? else { continue };
        let Resource { group, kind, version, .. } = resource;
        let group = group.as_ref().map(ToString::to_string).unwrap_or_default();
        for (is_there, mutating, path, what, flag) in [
            (
                webhooks.defaulting,
                true,
                target.defaulting_path(webhooks),
                "defaulting",
                "--defaulting",
            ),
            (
                webhooks.validation,
                false,
                target.validation_path(webhooks),
                "validating",
                "--programmatic-validation",
            ),
        ] {
            let of_kind =
                || operator.webhooks.iter().filter(|it| it.arguments.mutating == mutating);
            if is_there && !of_kind().any(|it| it.arguments.path == path) {
                let other = of_kind().find(|it| is_for(it, resource)).map(|it| &it.arguments.path);
                let other = other.map(|it| {
                    let key = if mutating { "defaultingPath" } else { "validationPath" };
                    format!("write `{key}: {it}` under `webhooks` of the kind, if that is its path now; or ")
                });
                let other = other.unwrap_or_default();
                let message = format!(
                    "no +kubebuilder:webhook comment in src has `{path}`, the path of the {what} webhook of {version} {kind} that is listed here"
                );
                let hint = format!(
                    "{other}restore the comment and the code below it; or remove the webhook with `operator-rs delete webhook --group {group} --version {version} --kind {kind} {flag}`"
                );
                res.push(Diagnostic::in_file(Project::path().as_str(), message).with_hint(hint));
            }
        }
    }
    Ok(res)
}

/// The webhooks that PROJECT does not list for a kind that it has, and those that are called with objects of another version
/// than that of their code.
pub fn unlisted(project: &Project, operator: &Operator) -> anyhow::Result<Vec<Problem>> {
    let mut res = Vec::new();
    for it in &operator.webhooks {
        let arguments = &it.arguments;
        let of_kind: Vec<&Resource> =
            project.resources.iter().filter(|resource| is_for(it, resource)).collect();
        let is_listed = |resource: &&Resource| {
            let has =
                |it: &Webhooks| if arguments.mutating { it.defaulting } else { it.validation };
            resource.webhooks.as_ref().is_some_and(has)
        };
        // Those that something else serves are nobody's business here.
        let is_served = operator.registrations.iter().any(|it| it.path == arguments.path);
        let Some(first) = of_kind.first().filter(|_| is_served) else { continue };
        let Some(listed) = of_kind.iter().copied().find(is_listed) else {
            let key = if arguments.mutating { "defaulting" } else { "validation" };
            let message = format!("PROJECT does not list this webhook of {}", first.kind);
            let hint = format!(
                "add `{key}: true` and the path under `webhooks` of the version, or remove the webhook"
            );
            res.push(Problem::new(it.place.clone(), message).with_hint(hint));
            continue;
        };
        let Some(target) = Target::of(project, listed)? else { continue };
        let webhooks = listed.webhooks.clone().unwrap_or_default();
        let path = match arguments.mutating {
            true => target.defaulting_path(&webhooks),
            false => target.validation_path(&webhooks),
        };
        let version = listed.version.to_string();
        let other = arguments.versions.iter().find(|it| **it != version);
        // One that no kind has was doubted when it was read.
        let is_doubted = operator.warnings.iter().any(|known| known.place == it.at("versions"));
        if let Some(other) = other.filter(|_| path == arguments.path && !is_doubted) {
            let message = format!(
                "API servers send objects of {other} to this webhook, and PROJECT lists it for {version} of {}",
                listed.kind
            );
            let hint = format!(
                "write `versions={version}`: API servers convert objects of the other versions before they call it"
            );
            res.push(Problem::new(it.at("versions"), message).with_hint(hint));
        }
    }
    Ok(res)
}

/// Warns of webhooks that are registered in a function that nothing calls.
fn warn_of_no_call(plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
    let Found::Text(text) = tree.look(&ProjectPath::fixed(source::REGISTRATIONS))? else {
        return Ok(());
    };
    let library = tree.read(&ProjectPath::fixed(LIBRARY))?;
    let Some(library) = library.filter(|_| text.contains("pub fn all(")) else { return Ok(()) };
    let main = tree.read(&ProjectPath::fixed("src/main.rs"))?.unwrap_or_default();
    if ![library, main].iter().any(|it| source::names_webhooks(it)) {
        let message = "nothing calls `webhook::all()`, so the operator serves no webhook";
        let problem = Diagnostic::in_file(LIBRARY, message);
        plan.warn(problem.with_hint("add `webhook::all(),` below `controller::all(),`"));
    }
    Ok(())
}

/// Whether a comment names a resource.
fn is_for(webhook: &Webhook, resource: &Resource) -> bool {
    let (group, plural) = (resource.api_group(), resource.plural().to_string());
    let is_group = |it: &String| *it == group || it == "core" && group.is_empty();
    webhook.arguments.groups.iter().any(is_group) && webhook.arguments.resources.contains(&plural)
}

/// Warns of webhooks that the operator's own start depends on, because they are called for its own namespace, too.
pub fn warn_of_deadlocks(
    plan: &mut Plan,
    tree: &impl Tree,
    project: &Project,
    manifests: &[Manifest],
) -> anyhow::Result<()> {
    let mut needed = Vec::new();
    for resource in project.resources.iter().filter(|it| needed::is_needed(project, it)) {
        let has_webhooks = resource.webhooks.as_ref().is_some_and(|it| !it.is_empty());
        let target = if has_webhooks { Target::of(project, resource)? } else { None };
        // `create webhook` warns of what no selector leaves out.
        needed.extend(target.filter(Target::selects_namespaces).map(|it| it.resource));
    }
    if needed.is_empty() {
        return Ok(());
    }
    let namespace = needed::namespace(project, tree)?;
    let objects =
        manifests.iter().filter(|it| it.path.as_str() == WEBHOOKS).flat_map(|it| &it.objects);
    let webhooks = objects.flat_map(|it| it["webhooks"].as_array().into_iter().flatten());
    for webhook in webhooks.filter(|it| it["failurePolicy"] != "Ignore") {
        let Some(resource) = needed.iter().find(|it| calls_for(webhook, it)) else { continue };
        if !may_select(&webhook["namespaceSelector"], &namespace)
            || !webhook["objectSelector"].is_null()
        {
            continue;
        }
        let name = webhook["name"].as_str().unwrap_or_default();
        let message = format!(
            "`{name}` is called for {} in the namespace of the operator, `{namespace}`, too: while no replica answers, none can start",
            resource.plural()
        );
        let hint = format!(
            "leave the namespace out in the comment in src/webhook/: patch=`{{\"namespaceSelector\":{{\"matchExpressions\":[{{\"key\":\"{NAME}\",\"operator\":\"NotIn\",\"values\":[\"{namespace}\"]}}]}}}}`; or write `failurePolicy=ignore`"
        );
        plan.warn(Diagnostic::in_file(WEBHOOKS, message).with_hint(hint));
    }
    Ok(())
}

/// The label that every namespace has.
const NAME: &str = "kubernetes.io/metadata.name";

/// Whether API servers call a webhook for a resource.
fn calls_for(webhook: &Value, resource: &Resource) -> bool {
    let (group, plural) = (resource.api_group(), resource.plural().to_string());
    let has = |list: &Value, word: &str| {
        list.as_array().into_iter().flatten().any(|it| it == word || it == "*")
    };
    let rules = webhook["rules"].as_array();
    rules
        .into_iter()
        .flatten()
        .any(|it| has(&it["apiGroups"], &group) && has(&it["resources"], &plural))
}

/// Whether a selector selects a namespace as far as its name tells: nobody knows its other labels.
fn may_select(selector: &Value, namespace: &str) -> bool {
    let expressions = selector["matchExpressions"].as_array();
    let is_other = !selector["matchLabels"].is_null();
    let excludes = |it: &Value| {
        let names = it["values"].as_array().into_iter().flatten();
        let names: Vec<&str> = names.filter_map(Value::as_str).collect();
        match it["operator"].as_str() {
            Some("NotIn") if it["key"] == NAME => names.contains(&namespace),
            Some("In") if it["key"] == NAME => !names.contains(&namespace),
            _ => true,
        }
    };
    !is_other && !expressions.into_iter().flatten().any(excludes)
}

/// Plans the removal of a file of webhooks that is generated no longer, and warns of a kustomization that does not list the
/// file, or lists one that is not there.
pub fn update(plan: &mut Plan, tree: &impl Tree, is_generated: bool) -> anyhow::Result<()> {
    warn_of_no_call(plan, tree)?;
    let path = ProjectPath::fixed(WEBHOOKS);
    let (name, list) = (path.name(), tree.read(&ProjectPath::fixed(LIST))?);
    let is_listed = list.is_some_and(|it| lists(&it, name));
    if is_generated {
        // Other folders may be deployed instead of this one.
        let all = tree.read(&ProjectPath::fixed(EVERYTHING).join("kustomization.yaml")?)?;
        if !is_listed || all.is_some_and(|it| !lists(&it, "../webhook")) {
            let message = "no kustomization lists the webhook configurations";
            plan.warn(Diagnostic::in_file(WEBHOOKS, message).with_hint(format!(
                "list `{name}` under `resources` in {LIST}, and `../webhook` in config/default/kustomization.yaml; \
                 `operator-rs create webhook` does that, too"
            )));
        }
        return Ok(());
    }
    let Found::Text(text) = tree.look(&path)? else { return Ok(()) };
    if !plan::is_generated_by(&path, &text, MANIFESTS) {
        return Ok(());
    }
    let hint = "restore the +kubebuilder:webhook comments, or give `--force` to delete the file";
    plan.retire(path.clone(), MANIFESTS, hint);
    if is_listed {
        let message = format!("`{name}` is no longer generated: the source has no webhooks");
        let hint = format!("remove `{name}` from `resources`");
        plan.warn(Diagnostic::in_file(LIST, message).with_hint(hint));
    }
    Ok(())
}

/// Whether a kustomization lists a file beside it.
pub fn lists(kustomization: &str, name: &str) -> bool {
    let documents = yaml::documents(kustomization, yaml::Dialect::Kubernetes).unwrap_or_default();
    let is_it = |it: &Value| it.as_str().is_some_and(|it| it.trim_start_matches("./") == name);
    let resources = |it: &Value| it["resources"].as_array().is_some_and(|it| it.iter().any(is_it));
    documents.iter().any(resources)
}
