//! config/webhook/manifests.yaml, and the kustomization that has to list it.

mod called;

use crate::app::config::listing::lists_file;
use crate::app::scaffolding::api::webhook::WebhookTarget;
use crate::manifests::WEBHOOKS;
use crate::plan::{self, Plan};
use crate::project::{
    DEFAULT_CONFIG, MANIFESTS_COMMAND, Operator, Problem, Project, Resource, Webhook,
};
use crate::source;
use diagnostics::Diagnostic;
use model::{FileContent, ProjectPath, Tree};

pub use called::{astray, untrusted, warn_of_deadlocks};

const LIST: &str = "config/webhook/kustomization.yaml";

/// The file with the operator's list of controllers and webhooks.
const LIBRARY: &str = "src/lib.rs";

/// Returns whether the operator registers all of its webhooks, as `create webhook` does it.
pub fn registers(project: &Project, tree: &impl Tree) -> anyhow::Result<bool> {
    let file = tree.read_content(&ProjectPath::fixed(source::REGISTRATIONS))?;
    Ok(project.has_webhooks() || file != FileContent::Nothing)
}

/// A webhook that PROJECT lists.
struct ListedWebhook<'a> {
    resource: &'a Resource,
    mutating: bool,
    path: String,
}

impl ListedWebhook<'_> {
    /// Returns its word in messages, its flag, and its keys in PROJECT.
    fn webhook_words(&self) -> [&'static str; 4] {
        if self.mutating {
            ["defaulting", "--defaulting", "defaulting", "defaultingPath"]
        } else {
            ["validating", "--programmatic-validation", "validation", "validationPath"]
        }
    }

    fn is_at(&self, it: &Webhook) -> bool {
        it.arguments.mutating == self.mutating && it.arguments.path == self.path
    }
}

fn listed_webhooks(project: &Project) -> anyhow::Result<Vec<ListedWebhook<'_>>> {
    let mut res = Vec::new();
    for resource in &project.resources {
        let Some(webhooks) = &resource.webhooks else { continue };
        let Some(target) = WebhookTarget::of(project, resource)? else { continue };
        let mut add = |mutating, path| res.push(ListedWebhook { resource, mutating, path });
        if webhooks.defaulting {
            add(true, target.defaulting_path(webhooks));
        }
        if webhooks.validation {
            add(false, target.validation_path(webhooks));
        }
    }
    Ok(res)
}

/// Returns the webhooks in PROJECT that no comment has: without their code, API servers would no longer call them.
pub fn missing(project: &Project, operator: &Operator) -> anyhow::Result<Vec<Diagnostic>> {
    let mut diagnostics = Vec::new();
    for listed in listed_webhooks(project)? {
        if operator.webhooks.iter().any(|webhook| listed.is_at(webhook)) {
            continue;
        }
        let ListedWebhook { resource, mutating, path } = &listed;
        let Resource { kind, version, .. } = resource;
        let [what, flag, _, key] = listed.webhook_words();
        let mut of_kind =
            operator.webhooks.iter().filter(|webhook| webhook.arguments.mutating == *mutating);
        let other = of_kind
            .find(|webhook| is_for(webhook, resource))
            .map(|webhook| &webhook.arguments.path);
        let other = other.map(|other| {
            format!(
                "write `{key}: {other}` under `webhooks` of the kind, if that is its path now; or "
            )
        });
        let other = other.unwrap_or_default();
        let message = format!(
            "no +kubebuilder:webhook comment in src has `{path}`, the path of the {what} webhook of {version} {kind} that is listed here"
        );
        let hint = format!(
            "{other}restore the comment and the code below it; or remove the webhook with `{}`",
            resource.command_line("delete webhook", flag)
        );
        diagnostics.push(Diagnostic::in_file(Project::path().as_str(), message).with_hint(hint));
    }
    Ok(diagnostics)
}

/// Returns the webhooks that PROJECT does not list for a kind that it has.
pub fn unlisted(project: &Project, operator: &Operator) -> anyhow::Result<Vec<Problem>> {
    let listed = listed_webhooks(project)?;
    let mut problems = Vec::new();
    for it in &operator.webhooks {
        // Webhooks served by another process are not checked.
        let is_served = operator.registrations.iter().any(|one| one.path == it.arguments.path);
        let mut of_kind = project.resources.iter().filter(|resource| is_for(it, resource));
        let Some(first) = of_kind.next().filter(|_| is_served) else { continue };
        if listed.iter().any(|one| one.is_at(it)) {
            continue;
        }
        let key = if it.arguments.mutating { "defaulting" } else { "validation" };
        let message = format!("PROJECT does not list this webhook of {}", first.kind);
        let hint = format!(
            "add `{key}: true` and the path under `webhooks` of the version, or remove the webhook"
        );
        let problem = Problem::new(it.place.clone(), message).with_hint(hint);
        problems.push(problem.with_rule("not-in-project"));
    }
    Ok(problems)
}

/// Warns of webhooks that are registered in a function that nothing calls, or not in every build. A `main` that calls it
/// may do so in its own way.
fn warn_of_no_call(plan: &mut Plan, tree: &impl Tree) -> anyhow::Result<()> {
    let FileContent::Text(text) = tree.read_content(&ProjectPath::fixed(source::REGISTRATIONS))?
    else {
        return Ok(());
    };
    let library = tree.read_text(&ProjectPath::fixed(LIBRARY))?;
    let Some(library) = library.filter(|_| text.contains("pub fn all(")) else { return Ok(()) };
    let main = tree.read_text(&ProjectPath::fixed("src/main.rs"))?.unwrap_or_default();
    if source::all_includes_webhooks(&library) || source::names_webhooks(&main) {
        return Ok(());
    }
    let (message, hint) = if source::names_webhooks(&library) {
        (
            "cannot determine whether the operator serves its webhooks, which API servers call in any case",
            "write `pub mod webhook;` and, once in the list of `all()`, `webhook::all(),`, both without conditions",
        )
    } else {
        (
            "nothing calls `webhook::all()`, so the operator serves no webhook",
            "add `webhook::all(),` below `controller::all(),`",
        )
    };
    plan.warn(Diagnostic::in_file(LIBRARY, message).with_hint(hint));
    Ok(())
}

/// Returns whether a comment names a resource.
fn is_for(webhook: &Webhook, resource: &Resource) -> bool {
    let (group, plural) = (resource.api_group(), resource.plural().to_string());
    let is_group = |text: &String| *text == group || text == "core" && group.is_empty();
    webhook.arguments.groups.iter().any(is_group) && webhook.arguments.resources.contains(&plural)
}

/// Plans the removal of a file of webhooks that is generated no longer, and warns of a kustomization that does not list the
/// file.
pub fn update(plan: &mut Plan, tree: &impl Tree, is_generated: bool) -> anyhow::Result<()> {
    warn_of_no_call(plan, tree)?;
    let path = ProjectPath::fixed(WEBHOOKS);
    if is_generated {
        let (name, list) = (path.name(), tree.read_text(&ProjectPath::fixed(LIST))?);
        let is_listed = list.is_some_and(|list| lists_file(&list, name));
        // Other folders may be deployed instead of this one.
        let all =
            tree.read_text(&ProjectPath::fixed(DEFAULT_CONFIG).join("kustomization.yaml")?)?;
        if !is_listed || all.is_some_and(|text| !lists_file(&text, "../webhook")) {
            let message = "no kustomization lists the webhook configurations";
            plan.warn(Diagnostic::in_file(WEBHOOKS, message).with_hint(format!(
                "list `{name}` under `resources` in {LIST}, and `../webhook` in config/default/kustomization.yaml; \
                 `operator-rs create webhook` does that, too"
            )));
        }
        return Ok(());
    }
    let FileContent::Text(text) = tree.read_content(&path)? else { return Ok(()) };
    if !plan::is_generated_by(&path, &text, MANIFESTS_COMMAND) {
        return Ok(());
    }
    let hint = "restore the +kubebuilder:webhook comments, or pass `--force` to delete the file";
    plan.remove_generated(path.clone(), MANIFESTS_COMMAND, hint);
    Ok(())
}
