//! The requests that API servers send to the webhooks, by the configurations that are generated.

use super::{ListedWebhook, listed_webhooks};
use crate::app::scaffolding::api::needed;
use crate::manifests::{Manifest, WEBHOOKS};
use crate::plan::Plan;
use crate::project::{Certificates, Operator, Problem, Project, Resource, Webhook};
use diagnostics::Diagnostic;
use go_data::yaml::pointer::{list, text, texts};
use go_data::yaml::{self, Value};
use model::{ProjectPath, Tree};

/// The label that every namespace has.
const NAME: &str = "kubernetes.io/metadata.name";

/// The kinds of `admissionregistration.k8s.io` that API servers call no webhook for (IsExemptAdmissionConfigurationResource).
const EXEMPT: (&str, &[&str]) = (
    "admissionregistration.k8s.io",
    &[
        "mutatingwebhookconfigurations",
        "validatingwebhookconfigurations",
        "mutatingadmissionpolicies",
        "mutatingadmissionpolicybindings",
        "validatingadmissionpolicies",
        "validatingadmissionpolicybindings",
    ],
);

/// Returns the webhooks of all configurations, and whether they are mutating.
fn called_webhooks(manifests: &[Manifest]) -> impl Iterator<Item = (bool, &Value)> {
    let files = manifests.iter().filter(|manifest| manifest.path.as_str() == WEBHOOKS);
    files.flat_map(|file| &file.objects).flat_map(|object| {
        let mutating = object["kind"] == "MutatingWebhookConfiguration";
        list(object, "/webhooks").iter().map(move |webhook| (mutating, webhook))
    })
}

/// Returns the webhooks that API servers call with other objects than those of the version that PROJECT lists them for,
/// or not with all of these.
pub fn astray(
    project: &Project,
    operator: &Operator,
    manifests: &[Manifest],
) -> anyhow::Result<Vec<Problem>> {
    let listed = listed_webhooks(project)?;
    let mut problems = Vec::new();
    for (mutating, webhook) in called_webhooks(manifests) {
        let path = text(webhook, "/clientConfig/service/path");
        let name = text(webhook, "/name");
        let mut of_path = { operator.webhooks.iter() }.filter(|webhook| {
            webhook.arguments.mutating == mutating && webhook.arguments.path == path
        });
        let Some(marker) =
            of_path.clone().find(|webhook| webhook.arguments.name == name).or(of_path.next())
        else {
            continue;
        };
        // Misspelt words were reported when they were read.
        let is_here = |problem: &Problem| {
            problem.place.path == marker.place.path && problem.place.line == marker.place.line
        };
        if operator.warnings.iter().any(is_here) {
            continue;
        }
        if let Some(plural) = exempt_resource(webhook) {
            let message = format!("API servers call no webhook for {plural}");
            problems.push(marker_problem(marker, "resources", message, "remove the webhook"));
            continue;
        }
        let of_path =
            listed.iter().find(|webhook| webhook.mutating == mutating && webhook.path == path);
        if let Some(it) = of_path {
            problems.extend(it.check_rules(project, marker, webhook));
        }
    }
    Ok(problems)
}

fn marker_problem(marker: &Webhook, argument: &str, message: String, hint: &str) -> Problem {
    // A patch may have set what is called.
    let argument = if marker.arguments.patch.contains("\"rules\"") { "patch" } else { argument };
    Problem::new(marker.place_of(argument), message).with_hint(hint).with_rule("webhook-coverage")
}

fn exempt_resource(webhook: &Value) -> Option<&'static str> {
    let mut rules = list(webhook, "/rules").iter();
    let has = |rule: &Value, key, word| texts(rule, key).any(|text| text == word);
    rules.find_map(|rule| {
        let mut plurals = EXEMPT.1.iter().filter(|resource| has(rule, "/resources", **resource));
        plurals.next().copied().filter(|_| has(rule, "/apiGroups", EXEMPT.0))
    })
}

impl ListedWebhook<'_> {
    fn check_rules(&self, project: &Project, marker: &Webhook, webhook: &Value) -> Option<Problem> {
        let Resource { kind, version, .. } = self.resource;
        let (group, plural) = (self.resource.api_group(), self.resource.plural().to_string());
        let version = version.to_string();
        let rules = || list(webhook, "/rules").iter();
        let base = |text: &str| text.split('/').next().unwrap_or_default().to_owned();
        let is_kind = |value: &&Value| {
            has_word(value, "/apiGroups", &group)
                && texts(value, "/resources").any(|text| [&plural, "*"].contains(&&*base(text)))
        };
        let other = rules().find_map(|rule| {
            let other_group = texts(rule, "/apiGroups").find(|text| *text != group);
            let other = texts(rule, "/resources").find(|text| base(text) != plural);
            other
                .map(|other| ("resources", other))
                .or(other_group.map(|other_group| ("groups", other_group)))
        });
        let write = format!(
            "write `groups={},resources={plural},versions={version}`",
            if group.is_empty() { "\"\"" } else { &group }
        );
        if let Some((argument, other)) = other {
            let message = format!(
                "API servers call this webhook for `{other}`, and its code reads {kind} only"
            );
            let hint = format!("{write}; `operator-rs create webhook` adds one for another kind");
            return Some(marker_problem(marker, argument, message, &hint));
        }
        let versions: Vec<&str> =
            rules().filter(is_kind).flat_map(|rule| texts(rule, "/apiVersions")).collect();
        if versions.is_empty() {
            let message = format!(
                "API servers do not call this webhook for {kind}, which PROJECT lists it for"
            );
            return Some(marker_problem(marker, "resources", message, &write));
        }
        if let Some(other) = versions.iter().find(|other| **other != version) {
            let message = format!(
                "API servers send objects of {other} to this webhook, and PROJECT lists it for {version} of {kind}"
            );
            let hint = format!(
                "write `versions={version}`: API servers convert objects of the other versions before they call it"
            );
            return Some(marker_problem(marker, "versions", message, &hint));
        }
        let is_other = |resource: &&Resource| {
            resource.is_same_kind(self.resource)
                && resource.api.is_some()
                && resource.version != self.resource.version
        };
        let other = project.resources.iter().find(is_other);
        let other = other.filter(|_| webhook["matchPolicy"] == "Exact")?;
        let message = format!(
            "API servers do not call this webhook for objects that are written in {}",
            other.version
        );
        let hint = "leave out `matchPolicy=Exact`: API servers then convert these objects before they call it";
        let problem = Problem::new(marker.place_of("matchPolicy"), message).with_hint(hint);
        Some(problem.with_rule("webhook-coverage"))
    }
}

fn has_word(rule: &Value, key: &str, word: &str) -> bool {
    texts(rule, key).any(|text| text == word || text == "*")
}

/// The files that have the names of the configurations, where the operator makes its own certificate.
const NAMED: [&str; 2] =
    ["config/certificates/cluster_role.yaml", "config/default/manager_webhook_patch.yaml"];

/// Returns the configurations into which the operator does not write what its certificate is trusted by.
pub fn untrusted(
    project: &Project,
    operator: &Operator,
    tree: &impl Tree,
) -> anyhow::Result<Vec<Problem>> {
    fn contains_string(value: &Value, name: &str) -> bool {
        let list = value.as_array().into_iter().flatten();
        let fields = value.as_object().into_iter().flatten().map(|pair| pair.1);
        value == name || list.chain(fields).any(|value| contains_string(value, name))
    }
    let mut problems = Vec::new();
    if project.inputs.certificates != Certificates::SelfManaged {
        return Ok(problems);
    }
    for file in NAMED {
        let Some(text) = tree.read_text(&ProjectPath::fixed(file))? else { continue };
        let documents = yaml::parse_documents(&text, yaml::Dialect::Kubernetes).unwrap_or_default();
        for it in operator
            .webhook_configurations
            .iter()
            .filter(|configuration| !configuration.arguments.name.is_empty())
        {
            if !documents.iter().any(|document| contains_string(document, &it.arguments.name)) {
                let message = format!(
                    "{file} does not have this name, so that no API server would trust the operator's certificate"
                );
                let hint = "write it there in place of the former name, or leave out the comment";
                let problem = Problem::new(it.place.clone(), message).with_hint(hint);
                problems.push(problem.with_rule("configuration-name"));
            }
        }
    }
    Ok(problems)
}

/// Warns of webhooks that the operator's own start depends on, because they are called for what it needs.
pub fn warn_of_deadlocks(
    plan: &mut Plan,
    tree: &impl Tree,
    project: &Project,
    manifests: &[Manifest],
) -> anyhow::Result<()> {
    let namespace = needed::namespace(project, tree)?;
    for (_, webhook) in called_webhooks(manifests) {
        let is_blocking =
            webhook["failurePolicy"] != "Ignore" && webhook["clientConfig"]["url"].is_null();
        // Nobody knows which objects these leave out.
        let selects = !webhook["objectSelector"].is_null() || !webhook["matchConditions"].is_null();
        if !is_blocking || selects {
            continue;
        }
        let may_select = may_select(&webhook["namespaceSelector"], &namespace);
        let mut needed = needed::kinds(project);
        let found = needed.find(|(group, kind)| {
            let is_selected = needed::is_outside_of_namespaces(kind) || may_select;
            is_selected && blocks_resource(webhook, group, &needed::plural(kind))
        });
        let Some((_, kind)) = found else { continue };
        let name = text(webhook, "/name");
        let problem = if needed::is_outside_of_namespaces(kind) {
            Diagnostic::in_file(
                WEBHOOKS,
                format!("`{name}` is called for objects of {kind}, too, which this operator needs: while no replica answers, none can start"),
            )
            .with_hint("write `failurePolicy=ignore` in the comment in src/webhook/, or a `patch` with `matchConditions`: no selector of namespaces leaves out objects outside of them")
        } else {
            Diagnostic::in_file(
                WEBHOOKS,
                format!("`{name}` is called for objects of {kind} in the namespace of the operator, `{namespace}`, too: while no replica answers, none can start"),
            )
            .with_hint(format!(
                "leave the namespace out in the comment in src/webhook/: patch=`{{\"namespaceSelector\":{{\"matchExpressions\":[{{\"key\":\"{NAME}\",\"operator\":\"NotIn\",\"values\":[\"{namespace}\"]}}]}}}}`; or write `failurePolicy=ignore`"
            ))
        };
        plan.warn(problem);
    }
    Ok(())
}

/// Returns whether API servers call a webhook before they store an object of a resource.
fn blocks_resource(webhook: &Value, group: &str, plural: &str) -> bool {
    let all = format!("{plural}/*");
    list(webhook, "/rules").iter().any(|value| {
        let stores =
            texts(value, "/operations").any(|text| ["CREATE", "UPDATE", "*"].contains(&text));
        let mut resources = texts(value, "/resources");
        let is_it = |text: &str| ["*", "*/*", plural, &all].contains(&text);
        stores && has_word(value, "/apiGroups", group) && resources.any(is_it)
    })
}

/// Returns whether a selector selects a namespace as far as its name tells: its other labels are unknown.
fn may_select(selector: &Value, namespace: &str) -> bool {
    let excludes = |value: &Value| {
        let mut names = texts(value, "/values");
        match text(value, "/operator") {
            "NotIn" if value["key"] == NAME => names.any(|name| name == namespace),
            "In" if value["key"] == NAME => !names.any(|name| name == namespace),
            _ => true,
        }
    };
    selector["matchLabels"].is_null() && !list(selector, "/matchExpressions").iter().any(excludes)
}
