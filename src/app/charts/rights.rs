//! The rights that all roles together grant the operator, against those that it needs.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Chart, Finding, Rendering, Rule,
    markers::{NeededRight, NeededRights},
    rendering::RenderedObject,
    workloads::{self, BoundRoles},
};
use crate::{
    audit::{self, Access},
    project,
};

/// Rights by resource, each with its verbs.
type Rights = BTreeMap<String, BTreeSet<String>>;

pub fn check(chart: &Chart, rendering: &Rendering, known: Option<&NeededRights>) -> Vec<Finding> {
    let whole = || Some(chart.place("Chart.yaml", 0, 0));
    let unknown = |why: &str| {
        let what = format!("the rights of the operator were not checked: {why}");
        vec![Rule::RightsUnknown.to_finding(&chart.name, what, whole())]
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
    let mut findings = Vec::new();
    if !bound.unknown.contains("ClusterRole cluster-admin") {
        findings = find_missing(chart, rendering, &bound, known);
        findings.extend(find_limited(chart, rendering, &bound, known));
    }
    findings.extend(find_unused(chart, rendering, &bound, known));
    findings
}

/// Returns the rights that no role grants.
fn find_missing(
    chart: &Chart,
    rendering: &Rendering,
    bound: &BoundRoles<'_>,
    known: &NeededRights,
) -> Vec<Finding> {
    let grants: Vec<&project::Rule> = bound.roles.iter().flat_map(|pair| &pair.1).collect();
    let mut lacking = Rights::new();
    let is_missing = |need: &&NeededRight| !grants.iter().any(|grant| may_allow(grant, need));
    for need in known.needs.iter().filter(is_missing) {
        let mut resource = describe_target(&need.access);
        if need.is_elsewhere {
            resource += &format!(" in the namespace `{}`", need.access.namespace);
        }
        lacking.entry(resource).or_default().insert(need.access.verb.clone());
    }
    let place = first_bound_role(chart, bound).or_else(|| Some(chart.place("Chart.yaml", 0, 0)));
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
            format_verbs(&verbs),
            known.from,
            verb_ending(known),
            rendering.with_values()
        );
        reasons.iter().for_each(|reason| what += &format!("; {reason}"));
        rule.to_finding(resource, what, place.clone())
    };
    lacking.into_iter().map(finding).collect()
}

/// Returns the rights that are needed everywhere and granted in namespaces, each at the first role that grants it.
fn find_limited(
    chart: &Chart,
    rendering: &Rendering,
    bound: &BoundRoles<'_>,
    known: &NeededRights,
) -> Vec<Finding> {
    let mut found: BTreeMap<String, (&RenderedObject, BTreeSet<String>)> = BTreeMap::new();
    for need in known.needs.iter().filter(|need| need.is_everywhere) {
        let grants = |rule: &project::Rule| may_allow(rule, need);
        let mut rules = bound.roles.iter().flat_map(|pair| &pair.1);
        if rules.any(|rule| rule.namespace.is_none() && grants(rule)) {
            continue;
        }
        let role = bound.roles.iter().find(|pair| pair.1.iter().any(grants));
        let Some((role, _)) = role else { continue };
        let (_, verbs) =
            found.entry(describe_target(&need.access)).or_insert((role, BTreeSet::new()));
        verbs.insert(need.access.verb.clone());
    }
    let finding = |(resource, (role, verbs)): (String, (&RenderedObject, BTreeSet<String>))| {
        let what = format!(
            "{} is granted only in a namespace, and {} need{} it everywhere{}",
            format_verbs(&verbs),
            known.from,
            verb_ending(known),
            rendering.with_values()
        );
        let place = role.place(chart, None).filter(|_| role.is_own);
        let place = place.or_else(|| Some(chart.place("Chart.yaml", 0, 0)));
        Rule::RightInNamespace.to_finding(resource, what, place)
    };
    found.into_iter().map(finding).collect()
}

/// Returns the rights of the chart's own roles that nothing needs.
fn find_unused(
    chart: &Chart,
    rendering: &Rendering,
    bound: &BoundRoles<'_>,
    known: &NeededRights,
) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (role, rules) in bound.roles.iter().filter(|pair| pair.0.is_own) {
        let mut rights = Rights::new();
        for part in rules.iter().flat_map(audit::parts) {
            let as_needs = audit::accesses(&part);
            let is_needed = known.needs.iter().chain(&known.deployed).any(|need| {
                let marker = as_rule(&need.access);
                may_allow(&part, need) || as_needs.iter().any(|need| audit::allows(&marker, need))
            });
            if !is_needed {
                as_needs.iter().for_each(|need| add_access(&mut rights, need));
            }
        }
        for (resource, verbs) in rights {
            let what = format!(
                "the role grants {}, which {} do{} not need{}",
                format_verbs(&verbs),
                known.from,
                verb_ending_es(known),
                rendering.with_values()
            );
            let name = resource.split(['.', '/']).next().unwrap_or_default();
            findings.push(Rule::RightUnused.to_finding(
                format!("{}: {resource}", role.subject()),
                what,
                role.place(chart, Some(name)),
            ));
        }
    }
    findings
}

/// Returns whether a rule allows this somewhere: the namespaces of a rendering are none of those that a test ran in, and the
/// operator's own is another one in each release.
fn may_allow(rule: &project::Rule, need: &NeededRight) -> bool {
    let mut rule = rule.clone();
    if !need.access.resource.is_empty() && !need.is_elsewhere {
        rule.namespace = None;
    }
    if need.is_of_any_name {
        rule.resource_names.clear();
    }
    audit::allows(&rule, &need.access)
}

/// Returns the rule that allows just this.
fn as_rule(access: &Access) -> project::Rule {
    let one = |it: &String| Some(it).filter(|name| !name.is_empty()).cloned().into_iter().collect();
    project::Rule {
        groups: if access.url.is_empty() { vec![access.group.clone()] } else { Vec::new() },
        resources: one(&access.resource),
        resource_names: one(&access.name),
        urls: one(&access.url),
        verbs: vec![access.verb.clone()],
        ..project::Rule::default()
    }
}

/// Returns the first role of the chart that is bound.
fn first_bound_role(
    chart: &Chart,
    bound: &BoundRoles<'_>,
) -> Option<crate::app::findings::SourceSpan> {
    let roles = || bound.roles.iter().map(|pair| pair.0).filter(|role| role.is_own);
    let cluster = roles().find(|role: &&RenderedObject| role.is("ClusterRole"));
    cluster.or_else(|| roles().next())?.place(chart, None)
}

fn add_access(to: &mut Rights, access: &Access) {
    to.entry(describe_target(access)).or_default().insert(access.verb.clone());
}

/// Returns what a right is about.
fn describe_target(access: &Access) -> String {
    let name = if access.name.is_empty() { String::new() } else { format!(" `{}`", access.name) };
    audit::target(access) + &name
}

fn format_verbs(verbs: &BTreeSet<String>) -> String {
    let verbs: Vec<String> = verbs.iter().map(|verb| format!("`{verb}`")).collect();
    verbs.join(", ")
}

/// Returns the ends of verbs: the markers need, a file needs.
fn verb_ending(known: &NeededRights) -> &'static str {
    if known.from == "the markers" { "" } else { "s" }
}

fn verb_ending_es(known: &NeededRights) -> &'static str {
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
        let need =
            NeededRight { access, is_of_any_name: false, is_everywhere: false, is_elsewhere };
        assert_eq!(may_allow(&rule, &need), expected, "{rule:?}");
    };
    check(None, true, true);
    check(Some("infra"), true, true);
    check(Some("default"), true, false);
    // The namespace of a release is not that of the comments.
    check(Some("default"), false, true);
}
