//! Which rules were used, which were not, and which requests were refused.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use super::{
    Access, Call,
    grant::{allows, parts},
};
use crate::model;

/// The use of rules, and the refused calls.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The number of calls.
    pub calls: usize,
    /// What was used and not used of each rule.
    pub rules: Vec<Rule>,
    /// What was refused, how often, and the comment that would grant it.
    pub refused: BTreeMap<Access, Refusal>,
}

/// One rule of a role.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Rule {
    /// Resources in their groups, or paths, with the verbs that were used on them.
    pub used: BTreeMap<String, BTreeSet<String>>,
    /// The same for those that were not used.
    pub unused: BTreeMap<String, BTreeSet<String>>,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct Refusal {
    pub times: usize,
    /// The `+kubebuilder:rbac` comment to add.
    pub marker: String,
}

/// Compares rules with calls. `plural` returns the resource of a group and kind; `namespace` is the one to which the roles
/// are limited, if they are.
pub fn report(
    grants: &[model::Rule],
    calls: &[Call],
    plural: impl Fn(&str, &str) -> Option<String> + Copy,
    namespace: Option<&str>,
) -> Report {
    let served = calls.iter().filter(|it| !it.is_refused());
    let needed: BTreeSet<Access> = served.flat_map(|it| it.needs(plural)).collect();
    let rules = grants.iter().map(|grant| {
        let mut rule = Rule::default();
        for part in parts(grant) {
            let by: Vec<&Access> = needed.iter().filter(|it| allows(&part, it)).collect();
            match by.is_empty() {
                true => add(&mut rule.unused, part_target(&part), part.verbs[0].clone()),
                // In place of a `*`, name what was used.
                false => by.iter().for_each(|it| {
                    add(&mut rule.used, target(it), it.verb.clone());
                }),
            }
        }
        rule
    });
    let mut res = Report { calls: calls.len(), rules: rules.collect(), ..Report::default() };
    for access in calls.iter().filter(|it| it.is_refused()).flat_map(|it| it.refused(plural)) {
        // A Role cannot grant access to cluster-scoped objects.
        let marker = marker(&access, namespace.filter(|_| !access.namespace.is_empty()));
        // One rule covers all names, and all namespaces in which it applies.
        let key = Access { name: String::new(), namespace: String::new(), ..access };
        let refusal = res.refused.entry(key).or_default();
        refusal.times += 1;
        refusal.marker = marker;
    }
    res
}

fn add(to: &mut BTreeMap<String, BTreeSet<String>>, what: String, verb: String) {
    to.entry(what).or_default().insert(verb);
}

fn part_target(part: &model::Rule) -> String {
    match (part.urls.first(), part.groups.first(), part.resources.first()) {
        (Some(url), ..) => url.clone(),
        (_, Some(group), Some(resource)) => in_group(resource, group),
        _ => String::new(),
    }
}

fn target(access: &Access) -> String {
    match access.resource.as_str() {
        "" => access.url.clone(),
        resource => in_group(resource, &access.group),
    }
}

/// The resource as kubectl writes it: `deployments.apps/status`.
fn in_group(resource: &str, group: &str) -> String {
    match (resource.split_once('/'), group) {
        (_, "") => resource.to_owned(),
        (None, group) => format!("{resource}.{group}"),
        (Some((resource, sub)), group) => format!("{resource}.{group}/{sub}"),
    }
}

fn marker(access: &Access, namespace: Option<&str>) -> String {
    let Access { verb, group, resource, url, .. } = access;
    if resource.is_empty() {
        return format!("// +kubebuilder:rbac:urls={url},verbs={verb}");
    }
    let group = if group.is_empty() { "\"\"" } else { group };
    let namespace = namespace.map_or(String::new(), |it| format!("namespace={it},"));
    format!("// +kubebuilder:rbac:groups={group},{namespace}resources={resource},verbs={verb}")
}

impl Report {
    pub fn unused(&self) -> usize {
        self.rules.iter().flat_map(|it| it.unused.values()).map(BTreeSet::len).sum()
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verbs = |it: &BTreeSet<String>| it.iter().cloned().collect::<Vec<_>>().join(", ");
        for rule in &self.rules {
            for (what, used) in &rule.used {
                writeln!(f, "used    {what}: {}", verbs(used))?;
            }
            for (what, unused) in &rule.unused {
                writeln!(f, "unused  {what}: {}", verbs(unused))?;
            }
        }
        for (access, refusal) in &self.refused {
            let times =
                if refusal.times == 1 { "once" } else { &format!("{} times", refusal.times) };
            writeln!(f, "refused {}: {}, {times}; add", target(access), access.verb)?;
            writeln!(f, "          {}", refusal.marker)?;
        }
        let Self { calls, refused, .. } = self;
        let refused: usize = refused.values().map(|it| it.times).sum();
        writeln!(f, "{calls} calls, {refused} refused, {} unused", self.unused())
    }
}
