//! Selects the requests that a webhook reviews.

use super::{
    super::{refusal::Refusal, request::Request},
    configuration::{Rule, Webhook},
};

/// # Errors
/// If a real server would convert the object to the version of a rule.
pub fn is_reviewed_by(webhook: &Webhook, request: &Request, operation: &str) -> Result<bool, Refusal> {
    let (resource, group) = request.resource.split_once('.').unwrap_or((&request.resource, ""));
    let version = request.api_version.rsplit('/').next().unwrap_or_default();
    if group == "admissionregistration.k8s.io" {
        return Ok(false); // webhooks could keep each other from being mended
    }
    if !is_in_namespaces(webhook, request, resource) {
        return Ok(false);
    }
    let mut other = None;
    for rule in &webhook.rules {
        let matches = allows(&rule.operations, operation)
            && allows(&rule.groups, group)
            && rule.resources.iter().any(|pattern| is_resource(pattern, resource, &request.subresource))
            && is_scope(rule, resource, &request.namespace);
        if matches && allows(&rule.versions, version) {
            return Ok(true);
        }
        if matches {
            other = rule.versions.first();
        }
    }
    match other {
        Some(other) if webhook.is_equivalent => Err(Refusal::unsupported(&format!(
            "webhook `{}` for {} of {version}: it reviews {other}, and objects are not converted for webhooks",
            webhook.name, request.resource
        ))),
        _ => Ok(false),
    }
}

/// The selector of namespaces says nothing of objects outside of namespaces, but for the namespaces themselves.
fn is_in_namespaces(webhook: &Webhook, request: &Request, resource: &str) -> bool {
    let namespace = if resource == "namespaces" { &request.name } else { &request.namespace };
    namespace.is_empty()
        || webhook.namespaces.iter().all(|selector| selector.is_in == selector.names.contains(namespace))
}

fn allows(list: &[String], word: &str) -> bool {
    list.iter().any(|allowed| allowed == "*" || allowed == word)
}

/// `*` is all resources, `*/*` all with all subresources, `pods/*` all subresources of one and itself.
fn is_resource(pattern: &str, resource: &str, subresource: &str) -> bool {
    let (one, sub) = pattern.split_once('/').unwrap_or((pattern, ""));
    (one == "*" || one == resource) && (sub == "*" || sub == subresource)
}

fn is_scope(rule: &Rule, resource: &str, namespace: &str) -> bool {
    let is_namespaced = resource != "namespaces" && !namespace.is_empty();
    match rule.scope.as_str() {
        "Namespaced" => is_namespaced,
        "Cluster" => !is_namespaced,
        _ => true,
    }
}
