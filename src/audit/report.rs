//! The report of an audit: the rules that were used and those that were not, and the requests that were refused.

use crate::project;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    Access, Call,
    grant::{allows, parts},
};
use go_data::yaml::Value;

/// The use of rules, and the refused calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of calls, and of those that were refused.
    pub calls: usize,
    pub refused_calls: usize,
    /// The used and unused parts of each rule.
    pub rules: Vec<Rule>,
    /// The refused requests, with the verbs, and how often each was refused.
    pub refused: BTreeMap<Target, Refusal>,
    pub roles: RolesFrom,
}

/// One rule of a role: resources in their groups, or paths, with verbs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rule {
    pub used: BTreeMap<String, BTreeSet<String>>,
    /// Unused, but held so that the account may grant it.
    pub granted: BTreeMap<String, BTreeSet<String>>,
    pub unused: BTreeMap<String, BTreeSet<String>>,
}

/// The permission that one comment or rule would add.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Without a verb. One rule covers all names, and all namespaces in which it applies.
    access: Access,
    /// The account was about to grant it.
    is_grant: bool,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    pub times: usize,
    pub verbs: BTreeSet<String>,
}

/// Facts that are neither in the rules nor in the log.
#[derive(Clone, Copy)]
pub struct Known<'a> {
    /// The resource of a group and kind.
    pub plural: &'a dyn Fn(&str, &str) -> Option<String>,
    /// A role of the cluster, or of the namespace of the request.
    pub role: &'a dyn Fn(&Access) -> Option<Value>,
    /// The namespace to which the rules are limited, if they are.
    pub namespace: Option<&'a str>,
    pub roles: RolesFrom,
}

/// The place to add rights that are missing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RolesFrom {
    /// A role is made from comments in the source.
    #[default]
    Comments,
    /// A role is written by hand.
    Manifests,
}

/// Compares rules with calls.
pub fn report(grants: &[project::Rule], calls: &[Call], known: Known<'_>) -> Report {
    let (refused, served): (Vec<&Call>, Vec<&Call>) = calls.iter().partition(|it| it.is_refused());
    let mut needed: BTreeSet<Access> =
        served.iter().flat_map(|it| it.needs(known.plural)).collect();
    let mut granted = BTreeSet::new();
    for grant in served.iter().filter_map(|it| it.grant.as_ref()) {
        // An API server asks for this first.
        if grants.iter().any(|it| allows(it, &grant.bypass)) {
            needed.insert(grant.bypass.clone());
            continue;
        }
        let grants = served.iter().filter_map(|it| it.grant.as_ref());
        let grants = grants.filter(|it| it.is_of(&grant.bypass)).filter_map(|it| it.role.as_ref());
        let mut roles: Vec<Value> = match &grant.role {
            Some(role) => vec![role.clone()],
            None => grants.cloned().collect(),
        };
        if roles.is_empty() {
            roles.extend((known.role)(&grant.bypass));
        }
        granted.extend(roles.iter().flat_map(|it| grant.rights(it)));
    }
    let rules = grants.iter().map(|it| rule(it, &needed, &granted)).collect();
    let mut res = Report {
        calls: calls.len(),
        refused_calls: refused.len(),
        rules,
        refused: BTreeMap::new(),
        roles: known.roles,
    };
    for call in refused {
        let mut targets: BTreeMap<Target, BTreeSet<String>> = BTreeMap::new();
        for access in call.refused(known.plural) {
            let is_grant = call.is_escalation();
            // A Role cannot grant access to cluster-scoped objects.
            let namespace = known.namespace.filter(|_| !access.namespace.is_empty());
            let (verb, mut access) = (access.verb.clone(), access);
            access.verb.clear();
            access.namespace = namespace.unwrap_or_default().to_owned();
            if !is_grant {
                access.name.clear();
            }
            targets.entry(Target { access, is_grant }).or_default().insert(verb);
        }
        for (target, verbs) in targets {
            let refusal = res.refused.entry(target).or_default();
            refusal.times += 1;
            refusal.verbs.extend(verbs);
        }
    }
    res
}

fn rule(grant: &project::Rule, needed: &BTreeSet<Access>, granted: &BTreeSet<Access>) -> Rule {
    let mut res = Rule::default();
    for part in parts(grant) {
        let is_allowed = |it: &&Access| allows(&part, it);
        let used: Vec<&Access> = needed.iter().filter(is_allowed).collect();
        let held: Vec<&Access> = granted.iter().filter(is_allowed).collect();
        // In place of a `*`, name what was used.
        match (used.is_empty(), held.is_empty()) {
            (false, _) => {
                used.iter().for_each(|it| add(&mut res.used, target(it), it.verb.clone()))
            }
            (true, false) => {
                held.iter().for_each(|it| add(&mut res.granted, target(it), it.verb.clone()));
            }
            (true, true) => add(&mut res.unused, part_target(&part), part.verbs[0].clone()),
        }
    }
    res
}

fn add(to: &mut BTreeMap<String, BTreeSet<String>>, what: String, verb: String) {
    to.entry(what).or_default().insert(verb);
}

fn part_target(part: &project::Rule) -> String {
    match (part.urls.first(), part.groups.first(), part.resources.first()) {
        (Some(url), ..) => url.clone(),
        (_, Some(group), Some(resource)) => in_group(resource, group),
        _ => String::new(),
    }
}

/// The resource or the path of a request, as a report names it.
pub fn target(access: &Access) -> String {
    match access.resource.as_str() {
        "" => access.url.clone(),
        resource => in_group(resource, &access.group),
    }
}

/// The request, without a verb, that a report names so.
pub fn of_target(text: &str) -> Access {
    if text.starts_with('/') {
        return Access { url: text.to_owned(), ..Access::default() };
    }
    let (name, sub) = text.split_once('/').map_or((text, None), |it| (it.0, Some(it.1)));
    let (resource, group) = name.split_once('.').unwrap_or((name, ""));
    let resource = sub.map_or(resource.to_owned(), |sub| format!("{resource}/{sub}"));
    Access { resource, group: group.to_owned(), ..Access::default() }
}

/// The resource as kubectl writes it: `deployments.apps/status`.
fn in_group(resource: &str, group: &str) -> String {
    match (resource.split_once('/'), group) {
        (_, "") => resource.to_owned(),
        (None, group) => format!("{resource}.{group}"),
        (Some((resource, sub)), group) => format!("{resource}.{group}/{sub}"),
    }
}

/// The `+kubebuilder:rbac` comment that allows this.
fn marker(access: &Access, verbs: &BTreeSet<String>) -> String {
    let Access { group, resource, url, namespace, name, .. } = access;
    let verbs = words(verbs).replace(", ", ";");
    if resource.is_empty() {
        return format!("// +kubebuilder:rbac:urls={url},verbs={verbs}");
    }
    let group = if group.is_empty() { "\"\"" } else { group };
    let given = |key: &str, value: &str| match value {
        "" => String::new(),
        value => format!("{key}={value},"),
    };
    let (namespace, names) = (given("namespace", namespace), given("resourceNames", name));
    format!(
        "// +kubebuilder:rbac:groups={group},{namespace}resources={resource},{names}verbs={verbs}"
    )
}

/// The rule of a role that allows this.
fn manifest_rule(access: &Access, verbs: &BTreeSet<String>) -> String {
    let Access { group, resource, url, name, .. } = access;
    let verbs = words(verbs);
    if resource.is_empty() {
        return format!("- {{nonResourceURLs: [{url:?}], verbs: [{verbs}]}}");
    }
    let names = match name.as_str() {
        "" => String::new(),
        name => format!("resourceNames: [{name:?}], "),
    };
    format!("- {{apiGroups: [{group:?}], resources: [{resource:?}], {names}verbs: [{verbs}]}}")
}

fn words(verbs: &BTreeSet<String>) -> String {
    verbs.iter().cloned().collect::<Vec<_>>().join(", ")
}

impl Report {
    pub fn unused(&self) -> usize {
        self.rules.iter().flat_map(|it| it.unused.values()).map(BTreeSet::len).sum()
    }

    /// The refused requests, each with the comment or the rule to add.
    pub fn refusals(&self) -> String {
        let mut res = String::new();
        for (Target { access, is_grant }, Refusal { times, verbs }) in &self.refused {
            let times = if *times == 1 { "once".to_owned() } else { format!("{times} times") };
            let why = if *is_grant {
                ", because the operator may grant only rights that it has"
            } else {
                ""
            };
            res += &format!("refused {}: {}, {times}{why}; add\n", target(access), words(verbs));
            let remedy = match self.roles {
                RolesFrom::Comments => marker(access, verbs),
                RolesFrom::Manifests => manifest_rule(access, verbs),
            };
            res += &format!("          {remedy}\n");
        }
        res
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rule in &self.rules {
            for (word, list) in
                [("used   ", &rule.used), ("granted", &rule.granted), ("unused ", &rule.unused)]
            {
                for (what, verbs) in list {
                    writeln!(f, "{word} {what}: {}", words(verbs))?;
                }
            }
        }
        let Self { calls, refused_calls, .. } = self;
        let (refusals, unused) = (self.refusals(), self.unused());
        writeln!(f, "{refusals}{calls} calls, {refused_calls} refused, {unused} unused")
    }
}
