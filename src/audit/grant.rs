//! The rules of roles, and what each allows.

use super::Access;
use crate::project::Rule;
use go_data::yaml::Value;

/// Every rule of Roles and ClusterRoles, in order. Other objects have none.
pub fn collect_rules(roles: &[Value]) -> Vec<Rule> {
    let mut res = Vec::new();
    for role in roles {
        let namespace = role["metadata"]["namespace"].as_str();
        let namespace = namespace.filter(|_| role["kind"] == "Role").map(str::to_owned);
        for rule in role["rules"].as_array().into_iter().flatten() {
            res.push(Rule {
                groups: list(&rule["apiGroups"]),
                resources: list(&rule["resources"]),
                resource_names: list(&rule["resourceNames"]),
                urls: list(&rule["nonResourceURLs"]),
                verbs: list(&rule["verbs"]),
                namespace: namespace.clone(),
                role_name: None,
            });
        }
    }
    res
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// A rule split into one rule for each verb on each resource or path.
pub fn parts(rule: &Rule) -> Vec<Rule> {
    let one = |it: &String| vec![it.clone()];
    let mut res = Vec::new();
    for verb in &rule.verbs {
        let bare = Rule { verbs: one(verb), namespace: rule.namespace.clone(), ..Rule::default() };
        res.extend(rule.urls.iter().map(|url| Rule { urls: one(url), ..bare.clone() }));
        for group in &rule.groups {
            res.extend(rule.resources.iter().map(|resource| Rule {
                groups: one(group),
                resources: one(resource),
                resource_names: rule.resource_names.clone(),
                ..bare.clone()
            }));
        }
    }
    res
}

/// A request that a rule allows. Wildcards stay as they are.
pub fn accesses(rule: &Rule) -> Vec<Access> {
    let first = |it: &[String]| it.first().cloned().unwrap_or_default();
    let mut res = Vec::new();
    for part in parts(rule) {
        let access = Access {
            verb: first(&part.verbs),
            group: first(&part.groups),
            resource: first(&part.resources),
            url: first(&part.urls),
            name: String::new(),
            namespace: part.namespace.unwrap_or_default(),
        };
        if part.resource_names.is_empty() {
            res.push(access);
        } else {
            let names = part.resource_names.into_iter();
            res.extend(names.map(|name| Access { name, ..access.clone() }));
        }
    }
    res
}

/// Returns whether a rule allows this, as Kubernetes' RBAC authorizer decides it.
pub fn allows(rule: &Rule, access: &Access) -> bool {
    let has = |list: &[String], word: &str| list.iter().any(|it| it == "*" || it == word);
    if !has(&rule.verbs, &access.verb) {
        return false;
    }
    if access.resource.is_empty() {
        return rule.namespace.is_none()
            && rule.urls.iter().any(|it| matches_path(it, &access.url));
    }
    // `*/scale` is the subresource of every resource.
    let sub = access.resource.split_once('/').map(|(_, sub)| format!("*/{sub}"));
    rule.namespace.as_ref().is_none_or(|it| *it == access.namespace)
        && has(&rule.groups, &access.group)
        && (has(&rule.resources, &access.resource)
            || sub.is_some_and(|it| rule.resources.contains(&it)))
        && (rule.resource_names.is_empty() || rule.resource_names.contains(&access.name))
}

/// Returns whether a pattern, which may end with `*`, matches a path.
fn matches_path(pattern: &str, url: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => url.starts_with(start),
        None => pattern == url,
    }
}
