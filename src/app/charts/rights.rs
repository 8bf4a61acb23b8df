//! The rights that all roles together grant the operator, against those that it needs.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Chart, Finding, Rendering, Rule,
    markers::{Known, Need},
    rendering::Object,
    workloads::{self, Bound},
};
use crate::{
    audit::{self, Access},
    project,
};

/// Rights by resource, each with its verbs.
type Rights = BTreeMap<String, BTreeSet<String>>;

pub fn check(chart: &Chart, rendering: &Rendering, known: Option<&Known>) -> Vec<Finding> {
    let accounts = workloads::accounts(rendering);
    if accounts.is_empty() {
        return Vec::new();
    }
    let whole = || Some(chart.place("Chart.yaml", 0, 0));
    let Some(known) = known else {
        let what = "the rights of the operator were not checked: the source has no `+kubebuilder:rbac` markers, and no requests were given with `--observed FILE`".to_owned();
        return vec![Rule::RightsUnknown.finding(&chart.name, what, whole())];
    };
    let mut all = Bound { roles: Vec::new(), unknown: BTreeSet::new() };
    for account in &accounts {
        let Bound { roles, unknown } = workloads::bound(rendering, account);
        all.roles.extend(roles);
        all.unknown.extend(unknown);
    }
    let place = place(chart, &all).or_else(whole);
    let mut res = missing(rendering, &all, known, &place);
    res.extend(unused(chart, rendering, &all, known));
    res
}

/// The rights that no role grants, or none everywhere.
fn missing(
    rendering: &Rendering,
    bound: &Bound<'_>,
    known: &Known,
    place: &Option<crate::app::findings::Place>,
) -> Vec<Finding> {
    if bound.unknown.contains("ClusterRole cluster-admin") {
        return Vec::new();
    }
    let grants: Vec<&project::Rule> = bound.roles.iter().flat_map(|it| &it.1).collect();
    let (mut lacking, mut limited) = (Rights::new(), Rights::new());
    for need in &known.needs {
        if !grants.iter().any(|it| allows(it, need)) {
            add(&mut lacking, &need.access);
        } else if need.is_everywhere
            && !grants.iter().any(|it| it.namespace.is_none() && allows(it, need))
        {
            add(&mut limited, &need.access);
        }
    }
    let with = rendering.with_values();
    let from = &known.from;
    let unknown = bound.unknown.iter().cloned().collect::<Vec<_>>().join(", ");
    let mut res = Vec::new();
    for (resource, verbs) in lacking {
        let verbs = words(&verbs);
        let what = match unknown.as_str() {
            "" => format!(
                "no role of the operator grants {verbs}, which {from} need{}{with}",
                s(known)
            ),
            _ => format!(
                "no role in the chart grants {verbs}, which {from} need{}{with}; it is unknown what {unknown} grants",
                s(known)
            ),
        };
        let rule = if unknown.is_empty() { Rule::RightMissing } else { Rule::RightsUnknown };
        res.push(rule.finding(resource, what, place.clone()));
    }
    for (resource, verbs) in limited {
        let what = format!(
            "{} is granted only in a namespace, and {from} need{} it everywhere{with}",
            words(&verbs),
            s(known)
        );
        res.push(Rule::RightInNamespace.finding(resource, what, place.clone()));
    }
    res
}

/// The rights of the chart's own roles that nothing needs.
fn unused(chart: &Chart, rendering: &Rendering, bound: &Bound<'_>, known: &Known) -> Vec<Finding> {
    let mut res = Vec::new();
    for (role, rules) in bound.roles.iter().filter(|it| it.0.is_own) {
        let mut rights = Rights::new();
        for part in rules.iter().flat_map(audit::parts) {
            let as_needs = audit::accesses(&part);
            let is_needed = known.needs.iter().any(|need| {
                let marker = as_rule(&need.access);
                allows(&part, need) || as_needs.iter().any(|it| audit::allows(&marker, it))
            });
            if !is_needed {
                as_needs.iter().for_each(|it| add(&mut rights, it));
            }
        }
        for (resource, verbs) in rights {
            let what = format!(
                "the role grants {}, which {} do{} not need{}",
                words(&verbs),
                known.from,
                es(known),
                rendering.with_values()
            );
            let name = resource.split(['.', '/']).next().unwrap_or_default();
            res.push(Rule::RightUnused.finding(
                format!("{}: {resource}", role.subject()),
                what,
                role.place(chart, Some(name)),
            ));
        }
    }
    res
}

/// Whether a rule allows this somewhere: the namespaces of a rendering are none of those that a test ran in.
fn allows(rule: &project::Rule, need: &Need) -> bool {
    let mut rule = rule.clone();
    if !need.access.resource.is_empty() {
        rule.namespace = None;
    }
    if need.is_of_any_name {
        rule.resource_names.clear();
    }
    audit::allows(&rule, &need.access)
}

/// The rule that allows just this.
fn as_rule(access: &Access) -> project::Rule {
    let one = |it: &String| Some(it).filter(|it| !it.is_empty()).cloned().into_iter().collect();
    project::Rule {
        groups: if access.url.is_empty() { vec![access.group.clone()] } else { Vec::new() },
        resources: one(&access.resource),
        resource_names: one(&access.name),
        urls: one(&access.url),
        verbs: vec![access.verb.clone()],
        ..project::Rule::default()
    }
}

/// The first role of the chart that is bound.
fn place(chart: &Chart, bound: &Bound<'_>) -> Option<crate::app::findings::Place> {
    let roles = || bound.roles.iter().map(|it| it.0).filter(|it| it.is_own);
    let cluster = roles().find(|it: &&Object| it.is("ClusterRole"));
    cluster.or_else(|| roles().next())?.place(chart, None)
}

fn add(to: &mut Rights, access: &Access) {
    let name = if access.name.is_empty() { String::new() } else { format!(" `{}`", access.name) };
    to.entry(audit::target(access) + &name).or_default().insert(access.verb.clone());
}

fn words(verbs: &BTreeSet<String>) -> String {
    let verbs: Vec<String> = verbs.iter().map(|it| format!("`{it}`")).collect();
    verbs.join(", ")
}

/// The ends of verbs: the markers need, a file needs.
fn s(known: &Known) -> &'static str {
    if known.from == "the markers" { "" } else { "s" }
}

fn es(known: &Known) -> &'static str {
    if known.from == "the markers" { "" } else { "es" }
}
