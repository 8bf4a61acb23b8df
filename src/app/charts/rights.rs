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
    let whole = || Some(chart.place("Chart.yaml", 0, 0));
    let unknown = |why: &str| {
        let what = format!("the rights of the operator were not checked: {why}");
        vec![Rule::RightsUnknown.finding(&chart.name, what, whole())]
    };
    if workloads::all(rendering).is_empty() {
        return unknown(&format!(
            "the chart has no workload, such as a Deployment{}",
            rendering.with_values()
        ));
    }
    let Some(known) = known else {
        return unknown(
            "the source has no `+kubebuilder:rbac` markers, and no requests were given with `--observed FILE`",
        );
    };
    let bound = workloads::bound_to_any(rendering);
    let mut res = Vec::new();
    if !bound.unknown.contains("ClusterRole cluster-admin") {
        res = missing(chart, rendering, &bound, known);
        res.extend(limited(chart, rendering, &bound, known));
    }
    res.extend(unused(chart, rendering, &bound, known));
    res
}

/// The rights that no role grants.
fn missing(chart: &Chart, rendering: &Rendering, bound: &Bound<'_>, known: &Known) -> Vec<Finding> {
    let grants: Vec<&project::Rule> = bound.roles.iter().flat_map(|it| &it.1).collect();
    let mut lacking = Rights::new();
    let is_missing = |need: &&Need| !grants.iter().any(|it| allows(it, need));
    for need in known.needs.iter().filter(is_missing) {
        let mut resource = target(&need.access);
        if need.is_elsewhere {
            resource += &format!(" in the namespace `{}`", need.access.namespace);
        }
        lacking.entry(resource).or_default().insert(need.access.verb.clone());
    }
    let place = place(chart, bound).or_else(|| Some(chart.place("Chart.yaml", 0, 0)));
    let (rule, roles, reasons) = match bound.unknown.iter().cloned().collect::<Vec<_>>().join(", ")
    {
        unknown if unknown.is_empty() => {
            (Rule::RightMissing, "role of the operator", bound.void.clone())
        }
        unknown => {
            let unknown = format!("it is unknown what {unknown} grants");
            let reasons = bound.void.iter().cloned().chain([unknown]).collect();
            (Rule::RightsUnknown, "role in the chart", reasons)
        }
    };
    let finding = |(resource, verbs): (String, BTreeSet<String>)| {
        let mut what = format!(
            "no {roles} grants {}, which {} need{}{}",
            words(&verbs),
            known.from,
            s(known),
            rendering.with_values()
        );
        reasons.iter().for_each(|it| what += &format!("; {it}"));
        rule.finding(resource, what, place.clone())
    };
    lacking.into_iter().map(finding).collect()
}

/// The rights that are needed everywhere and granted in namespaces, each at the first role that grants it.
fn limited(chart: &Chart, rendering: &Rendering, bound: &Bound<'_>, known: &Known) -> Vec<Finding> {
    let mut found: BTreeMap<String, (&Object, BTreeSet<String>)> = BTreeMap::new();
    for need in known.needs.iter().filter(|it| it.is_everywhere) {
        let grants = |it: &project::Rule| allows(it, need);
        let mut rules = bound.roles.iter().flat_map(|it| &it.1);
        if rules.any(|it| it.namespace.is_none() && grants(it)) {
            continue;
        }
        let role = bound.roles.iter().find(|it| it.1.iter().any(grants));
        let Some((role, _)) = role else { continue };
        let (_, verbs) = found.entry(target(&need.access)).or_insert((role, BTreeSet::new()));
        verbs.insert(need.access.verb.clone());
    }
    let finding = |(resource, (role, verbs)): (String, (&Object, BTreeSet<String>))| {
        let what = format!(
            "{} is granted only in a namespace, and {} need{} it everywhere{}",
            words(&verbs),
            known.from,
            s(known),
            rendering.with_values()
        );
        let place = role.place(chart, None).filter(|_| role.is_own);
        let place = place.or_else(|| Some(chart.place("Chart.yaml", 0, 0)));
        Rule::RightInNamespace.finding(resource, what, place)
    };
    found.into_iter().map(finding).collect()
}

/// The rights of the chart's own roles that nothing needs.
fn unused(chart: &Chart, rendering: &Rendering, bound: &Bound<'_>, known: &Known) -> Vec<Finding> {
    let mut res = Vec::new();
    for (role, rules) in bound.roles.iter().filter(|it| it.0.is_own) {
        let mut rights = Rights::new();
        for part in rules.iter().flat_map(audit::parts) {
            let as_needs = audit::accesses(&part);
            let is_needed = known.needs.iter().chain(&known.deployed).any(|need| {
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

/// Returns whether a rule allows this somewhere: the namespaces of a rendering are none of those that a test ran in, and the
/// operator's own is another one in each release.
fn allows(rule: &project::Rule, need: &Need) -> bool {
    let mut rule = rule.clone();
    if !need.access.resource.is_empty() && !need.is_elsewhere {
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
    to.entry(target(access)).or_default().insert(access.verb.clone());
}

/// What a right is about.
fn target(access: &Access) -> String {
    let name = if access.name.is_empty() { String::new() } else { format!(" `{}`", access.name) };
    audit::target(access) + &name
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

#[test]
fn a_right_in_a_namespace_that_is_not_the_operators_is_needed_there() {
    let access = Access {
        verb: "get".to_owned(),
        resource: "pods".to_owned(),
        namespace: "infra".to_owned(),
        ..Access::default()
    };
    let check = |granted_in: Option<&str>, is_elsewhere: bool, expected: bool| {
        let namespace = granted_in.map(str::to_owned);
        let rule = project::Rule { namespace, ..as_rule(&access) };
        let access = access.clone();
        let need = Need { access, is_of_any_name: false, is_everywhere: false, is_elsewhere };
        assert_eq!(allows(&rule, &need), expected, "{rule:?}");
    };
    check(None, true, true);
    check(Some("infra"), true, true);
    check(Some("default"), true, false);
    // The namespace of a release is not that of the comments.
    check(Some("default"), false, true);
}
