//! Webhook configurations from `+kubebuilder:webhook:` comments, by controller-gen's algorithm. Anything that every API
//! server would refuse is refused, at the argument that it comes from.

mod patch;

use std::collections::BTreeMap;

use super::{CrdOptions, GeneratedManifests, Manifest, conversions};
use crate::project::{Argument, MarkerArguments, Operator, Problem, Webhook, WebhookArguments};
use crd::webhook::refusals;
use go_data::yaml::{Map, Value, json, pointer};
use model::ProjectPath;

/// The file of both configurations.
pub const FILE: &str = "config/webhook/manifests.yaml";

pub fn generate(operator: &Operator, _: &CrdOptions) -> GeneratedManifests {
    let mut manifests = GeneratedManifests::default();
    let mut objects = Vec::new();
    for mutating in [true, false] {
        let name = configuration_name(operator, mutating, &mut manifests.problems);
        let webhooks = webhook_objects(operator, mutating, &mut manifests);
        if !webhooks.is_empty() {
            let kind = if mutating { "Mutating" } else { "Validating" };
            objects.push(json!({
                "apiVersion": "admissionregistration.k8s.io/v1",
                "kind": format!("{kind}WebhookConfiguration"),
                "metadata": { "name": name },
                "webhooks": webhooks,
            }));
        }
    }
    manifests.problems.extend(unserved_problems(operator));
    manifests.problems.extend(conversions::unknown(operator));
    if !objects.is_empty() {
        let edit = "the +kubebuilder:webhook comments in src".to_owned();
        manifests.manifests.push(Manifest { path: ProjectPath::fixed(FILE), objects, edit });
    }
    manifests
}

/// Returns the comments whose path the operator does not serve, and the webhooks that it serves and no comment names.
/// An operator that has no place for registrations serves its webhooks in another way.
fn unserved_problems(operator: &Operator) -> Vec<Problem> {
    let served = &operator.registrations;
    if !operator.registers_webhooks {
        return Vec::new();
    }
    let word = |mutating| if mutating { "mutating" } else { "validating" };
    let mut problems = Vec::new();
    for it in operator.webhooks.iter().filter(|webhook| !webhook.arguments.path.is_empty()) {
        let (path, mutating) = (&it.arguments.path, it.arguments.mutating);
        let at_path = served.iter().find(|other| other.path == *path);
        let (message, hint) = match at_path {
            Some(at) if at.mutating == mutating => continue,
            Some(at) => (
                format!("`{path}` is a {} webhook, registered at {}", word(at.mutating), at.place),
                format!("write `mutating={}`", at.mutating),
            ),
            None => (
                format!("the operator serves no webhook at `{path}`"),
                format!(
                    "register it in src/webhook/mod.rs, with `operator_rs_runtime::{}_webhook(\"{path}\", …)`",
                    word(mutating)
                ),
            ),
        };
        let argument = if at_path.is_some() { "mutating" } else { "path" };
        problems.push(Problem::new(it.place_of(argument), message).with_hint(hint));
    }
    for (at, it) in served.iter().enumerate() {
        if let Some(first) = served[..at].iter().find(|first| first.path == it.path) {
            let message =
                format!("`{}` is also the path of the webhook at {}", it.path, first.place);
            let hint = "give each webhook its own path, or remove one of the two lines";
            problems.push(Problem::new(it.place.clone(), message).with_hint(hint));
        }
        let is_named = |webhook: &Webhook| webhook.arguments.path == it.path;
        if !operator.webhooks.iter().any(is_named) {
            let message = format!(
                "no +kubebuilder:webhook comment names `{}`, so no API server would call it",
                it.path
            );
            let hint = "write the comment above the `impl`, or remove this line";
            problems.push(Problem::new(it.place.clone(), message).with_hint(hint));
        }
    }
    problems
}

/// Returns the name of a configuration.
fn configuration_name(operator: &Operator, mutating: bool, problems: &mut Vec<Problem>) -> String {
    let all = operator.webhook_configurations.iter();
    let mut named = all.filter(|configuration| configuration.arguments.mutating == mutating);
    let first = named.next();
    if let (Some(first), Some(second)) = (first, named.next()) {
        let message = format!("another comment at {} names the same configuration", first.place);
        problems.push(
            Problem::new(second.place.clone(), message).with_hint("delete one of the two comments"),
        );
    }
    let default = if mutating {
        "mutating-webhook-configuration"
    } else {
        "validating-webhook-configuration"
    };
    let Some(first) = first.filter(|first| !first.arguments.name.is_empty()) else {
        return default.to_owned();
    };
    let faults = go_data::kubernetes::names::validate_subdomain(&first.arguments.name);
    problems.extend(faults.into_iter().map(|fault| {
        Problem::new(first.place.clone(), format!("`name`: {fault}"))
            .with_hint("choose another name")
    }));
    first.arguments.name.clone()
}

/// Returns the webhooks of one configuration, in the order of their names.
fn webhook_objects(
    operator: &Operator,
    mutating: bool,
    into: &mut GeneratedManifests,
) -> Vec<Value> {
    let mut objects: BTreeMap<String, (Value, &Webhook)> = BTreeMap::new();
    for it in operator.webhooks.iter().filter(|webhook| webhook.arguments.mutating == mutating) {
        let object = match checked_webhook(it) {
            Ok(object) => object,
            Err(problems) => {
                into.problems.extend(problems);
                continue;
            }
        };
        if !mutating && !it.arguments.reinvocation_policy.is_empty() {
            let message = "a validating webhook has no `reinvocationPolicy`, and this is left out";
            into.warnings.push(
                Problem::new(it.place_of("reinvocationPolicy"), message)
                    .with_hint("delete the argument")
                    .with_rule("marker"),
            );
        }
        let path = pointer::text(&object, "/clientConfig/service/path");
        if operator.registers_webhooks && !path.is_empty() && path != it.arguments.path {
            let message = format!(
                "the patch sets another path, `{path}`, than `path`, which is what the operator serves"
            );
            into.problems.push(
                Problem::new(it.place_of("patch"), message)
                    .with_hint("write the path as `path`, and leave it out of the patch"),
            );
        }
        // A patch may have changed it.
        let name = object["name"].as_str().unwrap_or_default().to_owned();
        if let Some((_, other)) = objects.get(&name) {
            let place = other.place_of("name");
            let message = format!(
                "`{name}` is also the name of the webhook at {place}, and API servers refuse two of one name"
            );
            into.problems.push(
                Problem::new(it.place_of("name"), message)
                    .with_hint("give each webhook its own name"),
            );
            continue;
        }
        objects.insert(name, (object, it));
    }
    objects.into_values().map(|pair| pair.0).collect()
}

fn checked_webhook(webhook: &Webhook) -> Result<Value, Vec<Problem>> {
    let problem = |argument: &str, message: String, hint: &str| {
        vec![Problem::new(webhook.place_of(argument), message).with_hint(hint)]
    };
    let arguments = &webhook.arguments;
    if let Some(version) = arguments.webhook_versions.iter().find(|version| *version != "v1") {
        let message = format!("there is no version `{version}` of webhook configurations");
        return Err(problem("webhookVersions", message, "leave out `webhookVersions`"));
    }
    let reinvocation = &arguments.reinvocation_policy;
    if arguments.mutating
        && !reinvocation.is_empty()
        && WebhookArguments::argument("reinvocationPolicy")
            .canonical_spelling(reinvocation)
            .is_none()
    {
        let message = format!("`{reinvocation}` is not a reinvocation policy");
        return Err(problem("reinvocationPolicy", message, "write `Never` or `IfNeeded`"));
    }
    if arguments.path.is_empty() == arguments.url.is_empty() {
        let (argument, message) = if arguments.path.is_empty() {
            ("path", "neither `path` nor `url` is given")
        } else {
            ("url", "both `path` and `url` are given")
        };
        let hint = "give `path` for a webhook that the manager serves, or `url` for another one";
        return Err(problem(argument, message.to_owned(), hint));
    }
    let object = patch::apply(webhook_object(arguments), webhook)?;
    let faults = refusals(&object, arguments.mutating);
    if faults.is_empty() {
        return Ok(object);
    }
    let problem = |message: String| {
        let argument = argument_of(&message, webhook);
        let message = format!("API servers refuse the webhook: {message}");
        Problem::new(webhook.place_of(argument), message).with_hint(format!("change `{argument}`"))
    };
    Err(faults.into_iter().map(problem).collect())
}

/// Returns the argument that a field comes from, by the message of an API server, which begins with the field.
fn argument_of<'a>(message: &str, webhook: &'a Webhook) -> &'a str {
    let sets_field =
        |argument: &&Argument| argument.api_field.is_some_and(|field| message.starts_with(field));
    let found = WebhookArguments::ARGUMENTS.iter().find(sets_field).map(|argument| argument.name);
    // A patch may have set the field.
    let is_patched = !webhook.arguments.patch.is_empty()
        && found.is_none_or(|_| {
            let field = message.split(['.', ':', '[']).next().unwrap_or_default();
            webhook.arguments.patch.contains(&format!("\"{field}\""))
        });
    if is_patched { "patch" } else { found.unwrap_or("name") }
}

/// Returns the webhook before its patch.
fn webhook_object(it: &WebhookArguments) -> Value {
    let spelled = |argument: &str, word: &String| {
        WebhookArguments::argument(argument).canonical_spelling(word).unwrap_or(word).to_owned()
    };
    let operations: Vec<String> = it.verbs.iter().map(|verb| spelled("verbs", verb)).collect();
    let group = |verb: &String| if verb == "core" { String::new() } else { verb.clone() };
    let groups: Vec<String> = it.groups.iter().map(group).collect();
    let mut rule = Map::new();
    for (key, list) in [
        ("apiGroups", &groups),
        ("apiVersions", &it.versions),
        ("operations", &operations),
        ("resources", &it.resources),
    ] {
        if !list.is_empty() {
            rule.insert(key.to_owned(), list.clone().into());
        }
    }
    let or = |text: &String, default: &str| {
        if text.is_empty() { default.to_owned() } else { text.clone() }
    };
    let client = if it.path.is_empty() {
        json!({ "url": it.url })
    } else {
        let mut service = json!({
            "name": or(&it.service_name, "webhook-service"),
            "namespace": or(&it.service_namespace, "system"),
            "path": it.path,
        });
        if let Some(port) = it.service_port {
            service["port"] = port.into();
        }
        json!({ "service": service })
    };
    let mut value = json!({
        "admissionReviewVersions": it.admission_review_versions,
        "clientConfig": client,
        "failurePolicy": spelled("failurePolicy", &it.failure_policy),
        "name": it.name,
        "rules": [rule],
    });
    if !it.match_policy.is_empty() {
        value["matchPolicy"] = spelled("matchPolicy", &it.match_policy).into();
    }
    if !it.side_effects.is_empty() {
        value["sideEffects"] = spelled("sideEffects", &it.side_effects).into();
    }
    if it.timeout_seconds != 0 {
        value["timeoutSeconds"] = it.timeout_seconds.into();
    }
    let reinvocation = WebhookArguments::argument("reinvocationPolicy");
    let policy = reinvocation.canonical_spelling(&it.reinvocation_policy);
    if let Some(policy) = policy.filter(|_| it.mutating) {
        value["reinvocationPolicy"] = policy.into();
    }
    value
}
