//! Roles from `+kubebuilder:rbac:` comments, by controller-gen's algorithm: the same rules in the same order.

use std::collections::BTreeMap;

use super::{CrdOptions, Generated, Manifest};
use crate::project::{Operator, Rule};
use go_data::yaml::{Map, Value, json};
use model::ProjectPath;

/// The role of comments that name none.
pub const MANAGER_ROLE: &str = "manager-role";

/// The file of all roles.
pub const FILE: &str = "config/rbac/role.yaml";

pub fn generate(operator: &Operator, _: &CrdOptions) -> Generated {
    let mut roles: BTreeMap<(String, String), Vec<Rule>> = BTreeMap::new();
    for rule in operator.rules.iter().map(|marker| &marker.rule) {
        let namespace = rule.namespace.clone().unwrap_or_default();
        let name = rule.role_name.clone().unwrap_or_else(|| MANAGER_ROLE.to_owned());
        roles.entry((namespace, name)).or_default().extend(by_resource(rule));
    }
    let objects: Vec<Value> = roles
        .into_iter()
        .map(|((namespace, name), rules)| role(&namespace, &name, normal(rules)))
        .collect();
    let manifests = if objects.is_empty() { Vec::new() } else { vec![manifest(objects)] };
    Generated { manifests, ..Generated::default() }
}

/// The role of a manager without any rule, for a project that binds it: a ClusterRole where there is no namespace.
pub fn without_rules(namespace: Option<&str>) -> Manifest {
    manifest(vec![role(namespace.unwrap_or_default(), MANAGER_ROLE, Vec::new())])
}

fn manifest(objects: Vec<Value>) -> Manifest {
    let edit = "the +kubebuilder:rbac comments in src".to_owned();
    Manifest { path: ProjectPath::fixed(FILE), objects, edit }
}

fn role(namespace: &str, name: &str, rules: Vec<Rule>) -> Value {
    let rules: Vec<Value> = rules.into_iter().map(object).collect();
    let metadata = match namespace {
        "" => json!({ "name": name }),
        namespace => json!({ "name": name, "namespace": namespace }),
    };
    let kind = if namespace.is_empty() { "ClusterRole" } else { "Role" };
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": kind,
        "metadata": metadata,
        "rules": rules,
    })
}

fn object(rule: Rule) -> Value {
    let mut res = Map::new();
    for (key, list) in [
        ("apiGroups", rule.groups),
        ("nonResourceURLs", rule.urls),
        ("resourceNames", rule.resource_names),
        ("resources", rule.resources),
        ("verbs", rule.verbs),
    ] {
        if !list.is_empty() {
            res.insert(key.to_owned(), list.into());
        }
    }
    Value::Object(res)
}

/// One rule for each resource of a comment.
fn by_resource(rule: &Rule) -> Vec<Rule> {
    let mut rule = rule.clone();
    let resources = std::mem::take(&mut rule.resources);
    if resources.is_empty() {
        return vec![rule];
    }
    resources.into_iter().map(|it| Rule { resources: vec![it], ..rule.clone() }).collect()
}

/// Which of a rule's lists to compare: groups, resources, names, urls, verbs.
type Parts = [bool; 5];

/// Merges rules that differ in one list only. Each step is done once, in this order.
fn normal(rules: Vec<Rule>) -> Vec<Rule> {
    let rules = rules.into_iter().map(|mut rule| {
        for group in rule.groups.iter_mut().filter(|it| *it == "core") {
            group.clear();
        }
        sorted(rule)
    });
    let rules = merged(rules.collect(), [true, true, true, true, false], |to, from| {
        to.verbs.extend(from.verbs);
    });
    let rules = merged(rules, [true, false, true, true, true], |to, from| {
        to.resources.extend(from.resources);
    });
    let rules = merged(rules, [false, true, true, true, true], |to, from| {
        to.groups.extend(from.groups);
    });
    let mut rules = merged(rules, [true, true, true, false, true], |to, from| {
        to.urls.extend(from.urls);
    });
    rules.sort_by_key(|it| key(it, [true, true, true, true, false]));
    for rule in rules.iter_mut().filter(|it| it.verbs.iter().any(|it| it == "*")) {
        rule.verbs = vec!["*".to_owned()];
    }
    rules
}

fn merged(rules: Vec<Rule>, parts: Parts, join: fn(&mut Rule, Rule)) -> Vec<Rule> {
    let mut res: Vec<(String, Rule)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for rule in rules {
        let key = key(&rule, parts);
        match places.get(&key) {
            Some(place) => join(&mut res[*place].1, rule),
            None => {
                places.insert(key.clone(), res.len());
                res.push((key, rule));
            }
        }
    }
    // If merged rules differ only in their verbs, controller-gen keeps an arbitrary one.
    let mut whole: BTreeMap<String, Rule> = BTreeMap::new();
    for (_, rule) in res {
        let rule = sorted(rule);
        let same = whole.entry(key(&rule, [true, true, true, true, false]));
        let same = same.or_insert_with(|| rule.clone());
        same.verbs.extend(rule.verbs);
        *same = sorted(std::mem::take(same));
    }
    whole.into_values().collect()
}

fn key(rule: &Rule, parts: Parts) -> String {
    let lists = [&rule.groups, &rule.resources, &rule.resource_names, &rule.urls, &rule.verbs];
    let lists: Vec<String> = lists
        .iter()
        .zip(parts)
        .filter(|(_, is_included)| *is_included)
        .map(|(it, _)| it.join("&"))
        .collect();
    lists.join(" + ")
}

fn sorted(mut rule: Rule) -> Rule {
    let Rule { groups, resources, resource_names, urls, verbs, .. } = &mut rule;
    for list in [groups, resources, resource_names, urls, verbs] {
        list.sort();
        list.dedup();
    }
    rule
}
