//! Roles from `+kubebuilder:rbac:` comments, by controller-gen's algorithm: the same rules in the same order.

use std::collections::BTreeMap;

use super::{CrdOptions, GeneratedManifests, Manifest};
use crate::project::{Operator, Rule};
use go_data::yaml::{Map, Value, json};
use model::ProjectPath;

/// The role of comments that name none.
pub const MANAGER_ROLE: &str = "manager-role";

/// The file of all roles.
pub const FILE: &str = "config/rbac/role.yaml";

pub fn generate(operator: &Operator, _: &CrdOptions) -> GeneratedManifests {
    let mut roles: BTreeMap<(String, String), Vec<Rule>> = BTreeMap::new();
    for rule in operator.rules.iter().map(|marker| &marker.rule) {
        let namespace = rule.namespace.clone().unwrap_or_default();
        let name = rule.role_name.clone().unwrap_or_else(|| MANAGER_ROLE.to_owned());
        roles.entry((namespace, name)).or_default().extend(by_resource(rule));
    }
    let objects: Vec<Value> = roles
        .into_iter()
        .map(|((namespace, name), rules)| role_object(&namespace, &name, normalize_rules(rules)))
        .collect();
    let manifests = if objects.is_empty() { Vec::new() } else { vec![roles_manifest(objects)] };
    GeneratedManifests { manifests, ..GeneratedManifests::default() }
}

/// Returns the role of a manager without any rule, for a project that binds it: a ClusterRole where there is no
/// namespace.
pub fn without_rules(namespace: Option<&str>) -> Manifest {
    roles_manifest(vec![role_object(namespace.unwrap_or_default(), MANAGER_ROLE, Vec::new())])
}

fn roles_manifest(objects: Vec<Value>) -> Manifest {
    let edit = "the +kubebuilder:rbac comments in src".to_owned();
    Manifest { path: ProjectPath::fixed(FILE), objects, edit }
}

fn role_object(namespace: &str, name: &str, rules: Vec<Rule>) -> Value {
    let rules: Vec<Value> = rules.into_iter().map(rule_object).collect();
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

fn rule_object(rule: Rule) -> Value {
    let mut map = Map::new();
    for (key, list) in [
        ("apiGroups", rule.groups),
        ("nonResourceURLs", rule.urls),
        ("resourceNames", rule.resource_names),
        ("resources", rule.resources),
        ("verbs", rule.verbs),
    ] {
        if !list.is_empty() {
            map.insert(key.to_owned(), list.into());
        }
    }
    Value::Object(map)
}

/// One rule for each resource of a comment.
fn by_resource(rule: &Rule) -> Vec<Rule> {
    let mut rule = rule.clone();
    let resources = std::mem::take(&mut rule.resources);
    if resources.is_empty() {
        return vec![rule];
    }
    resources
        .into_iter()
        .map(|resource| Rule { resources: vec![resource], ..rule.clone() })
        .collect()
}

/// True for each list of a rule that is compared: groups, resources, names, urls, verbs.
type ComparedLists = [bool; 5];

/// Merges rules that differ in one list only. Each step is done once, in this order.
fn normalize_rules(rules: Vec<Rule>) -> Vec<Rule> {
    let rules = rules.into_iter().map(|mut rule| {
        for group in rule.groups.iter_mut().filter(|group| *group == "core") {
            group.clear();
        }
        sort_lists(rule)
    });
    let rules = merge_rules(rules.collect(), [true, true, true, true, false], |to, from| {
        to.verbs.extend(from.verbs);
    });
    let rules = merge_rules(rules, [true, false, true, true, true], |to, from| {
        to.resources.extend(from.resources);
    });
    let rules = merge_rules(rules, [false, true, true, true, true], |to, from| {
        to.groups.extend(from.groups);
    });
    let mut rules = merge_rules(rules, [true, true, true, false, true], |to, from| {
        to.urls.extend(from.urls);
    });
    rules.sort_by_key(|rule| comparison_key(rule, [true, true, true, true, false]));
    for rule in rules.iter_mut().filter(|rule| rule.verbs.iter().any(|verb| verb == "*")) {
        rule.verbs = vec!["*".to_owned()];
    }
    rules
}

fn merge_rules(rules: Vec<Rule>, parts: ComparedLists, join: fn(&mut Rule, Rule)) -> Vec<Rule> {
    let mut pairs: Vec<(String, Rule)> = Vec::new();
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    for rule in rules {
        let key = comparison_key(&rule, parts);
        match places.get(&key) {
            Some(place) => join(&mut pairs[*place].1, rule),
            None => {
                places.insert(key.clone(), pairs.len());
                pairs.push((key, rule));
            }
        }
    }
    // If merged rules differ only in their verbs, controller-gen keeps an arbitrary one.
    let mut whole: BTreeMap<String, Rule> = BTreeMap::new();
    for (_, rule) in pairs {
        let rule = sort_lists(rule);
        let same = whole.entry(comparison_key(&rule, [true, true, true, true, false]));
        let same = same.or_insert_with(|| rule.clone());
        same.verbs.extend(rule.verbs);
        *same = sort_lists(std::mem::take(same));
    }
    whole.into_values().collect()
}

fn comparison_key(rule: &Rule, parts: ComparedLists) -> String {
    let lists = [&rule.groups, &rule.resources, &rule.resource_names, &rule.urls, &rule.verbs];
    let lists: Vec<String> = lists
        .iter()
        .zip(parts)
        .filter(|(_, is_included)| *is_included)
        .map(|(list, _)| list.join("&"))
        .collect();
    lists.join(" + ")
}

fn sort_lists(mut rule: Rule) -> Rule {
    let Rule { groups, resources, resource_names, urls, verbs, .. } = &mut rule;
    for list in [groups, resources, resource_names, urls, verbs] {
        list.sort();
        list.dedup();
    }
    rule
}
