//! The rules of roles, and what each of them allows.

use super::Access;
use crate::yaml::Value;

/// One rule of one role.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Where a Role's rules hold; none for a ClusterRole's.
    pub namespace: Option<String>,
    pub groups: Vec<String>,
    pub resources: Vec<String>,
    pub names: Vec<String>,
    pub urls: Vec<String>,
    pub verbs: Vec<String>,
}

/// Every rule of Roles and ClusterRoles, in their order. Other objects have none.
pub fn grants(roles: &[Value]) -> Vec<Grant> {
    let mut res = Vec::new();
    for role in roles {
        let namespace = role["metadata"]["namespace"].as_str();
        let namespace = namespace.filter(|_| role["kind"] == "Role").map(str::to_owned);
        for rule in role["rules"].as_array().into_iter().flatten() {
            res.push(Grant {
                namespace: namespace.clone(),
                groups: list(&rule["apiGroups"]),
                resources: list(&rule["resources"]),
                names: list(&rule["resourceNames"]),
                urls: list(&rule["nonResourceURLs"]),
                verbs: list(&rule["verbs"]),
            });
        }
    }
    res
}

fn list(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}

impl Grant {
    /// Every verb on every thing that this rule names, each apart.
    pub fn parts(&self) -> Vec<Grant> {
        let one = |it: &String| vec![it.clone()];
        let mut res = Vec::new();
        for verb in &self.verbs {
            for url in &self.urls {
                res.push(Grant { urls: one(url), verbs: one(verb), ..self.bare() });
            }
            for group in &self.groups {
                for resource in &self.resources {
                    res.push(Grant {
                        groups: one(group),
                        resources: one(resource),
                        names: self.names.clone(),
                        verbs: one(verb),
                        ..self.bare()
                    });
                }
            }
        }
        res
    }

    fn bare(&self) -> Grant {
        Grant { namespace: self.namespace.clone(), ..Grant::default() }
    }

    /// Whether it allows this, by the rules of Kubernetes' RBAC authorizer.
    pub fn allows(&self, access: &Access) -> bool {
        let has = |list: &[String], word: &str| list.iter().any(|it| it == "*" || it == word);
        if !has(&self.verbs, &access.verb) {
            return false;
        }
        if access.resource.is_empty() {
            return self.namespace.is_none() && self.urls.iter().any(|it| path(it, &access.url));
        }
        // `*/scale` is the subresource of every resource.
        let sub = access.resource.split_once('/').map(|(_, sub)| format!("*/{sub}"));
        self.namespace.as_ref().is_none_or(|it| *it == access.namespace)
            && has(&self.groups, &access.group)
            && (has(&self.resources, &access.resource)
                || sub.is_some_and(|it| self.resources.contains(&it)))
            && (self.names.is_empty() || self.names.contains(&access.name))
    }
}

/// A path, or one with a `*` at its end for whatever follows.
fn path(pattern: &str, url: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => url.starts_with(start),
        None => pattern == url,
    }
}
