//! Collects the rights that the operator needs, from the markers of the source or from the requests of a test run.

use super::ChartSource;
use crate::{
    app::config::roles::OwnNamespace,
    audit::{self, Access},
    project::Rule,
};
use diagnostics::Hint as _;

/// Rights that the operator needs.
pub struct NeededRights {
    pub needs: Vec<NeededRight>,
    /// Rights that markers do not mention, and that config/ of the project grants.
    pub deployed: Vec<NeededRight>,
    /// The origin of the rights.
    pub from: String,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct NeededRight {
    pub access: Access,
    /// True if the name of the object is unknown.
    pub is_of_any_name: bool,
    /// True if it is needed in every namespace.
    pub is_everywhere: bool,
    /// True if it is needed in a namespace that is not the operator's.
    pub is_elsewhere: bool,
}

/// Returns the rights of markers; those that were observed, if a file of them is given. None if nothing is known.
pub fn known_rights(
    source: &ChartSource,
    observed: Option<(&str, &str)>,
) -> anyhow::Result<Option<NeededRights>> {
    let (mut needs, deployed, from) = match observed {
        Some((name, text)) => (self::observed_needs(name, text)?, Vec::new(), name.to_owned()),
        None if source.rules.is_empty() => return Ok(None),
        None => {
            let mut deployed = of_rules(&source.deployed, None);
            // A release gives objects other names.
            deployed.iter_mut().for_each(|rule| rule.is_of_any_name = true);
            (
                of_rules(&source.rules, source.own_namespace.as_ref()),
                deployed,
                "the markers".to_owned(),
            )
        }
    };
    needs.sort();
    needs.dedup();
    Ok(Some(NeededRights { needs, deployed, from }))
}

/// Returns the rights of rules. Where it is known, a namespace is the operator's own or not.
fn of_rules(rules: &[Rule], own: Option<&OwnNamespace>) -> Vec<NeededRight> {
    let accesses = rules.iter().flat_map(audit::accesses);
    let need = |mut access: Access| {
        if access.group == "core" {
            access.group.clear();
        }
        let is_everywhere = access.namespace.is_empty();
        let is_elsewhere =
            !is_everywhere && own.is_some_and(|own| !own.includes(&access.namespace));
        NeededRight { access, is_of_any_name: false, is_everywhere, is_elsewhere }
    };
    accesses.map(need).collect()
}

/// Parses the output of `operator-rs test --audit-rbac`, or the audit log of an API server.
fn observed_needs(name: &str, text: &str) -> anyhow::Result<Vec<NeededRight>> {
    let rights = if text.trim_start().starts_with('{') { of_log(text) } else { of_report(text) };
    if rights.is_empty() {
        return Err(anyhow::format_err!("`{name}` contains no request from an operator")).hint(
            "pass the output of `operator-rs test --audit-rbac`, or the audit log of an API server as JSON lines",
        );
    }
    Ok(rights)
}

/// Returns the requests of every ServiceAccount that is none of Kubernetes' own.
fn of_log(text: &str) -> Vec<NeededRight> {
    let users = audit::users(text);
    let is_operator = |user: &&String| {
        user.starts_with("system:serviceaccount:")
            && !user.starts_with("system:serviceaccount:kube-system:")
    };
    let calls = users.iter().filter(is_operator).flat_map(|user| audit::calls(text, user));
    // Without the CRDs of the cluster, the resource of an owner's kind is unknown.
    let accesses = calls.flat_map(|call| {
        if call.is_refused() { call.refused(|_, _| None) } else { call.needs(|_, _| None) }
    });
    accesses
        .map(|access| NeededRight {
            access,
            is_of_any_name: false,
            is_everywhere: false,
            is_elsewhere: false,
        })
        .collect()
}

/// Returns the lines `used …`, `granted …` and `refused …` of a report.
fn of_report(text: &str) -> Vec<NeededRight> {
    let mut rights = Vec::new();
    for line in text.lines() {
        let Some((word, rest)) = line.trim().split_once(' ') else { continue };
        let Some((target, verbs)) = rest.trim().rsplit_once(": ") else { continue };
        if !["used", "granted", "refused"].contains(&word) || target.contains(' ') {
            continue;
        }
        let is_verb = |target: &&str| !target.contains(' ') && *target != "once";
        for verb in verbs.split(", ").take_while(is_verb) {
            let access = Access { verb: verb.to_owned(), ..audit::of_target(target) };
            rights.push(NeededRight {
                access,
                is_of_any_name: true,
                is_everywhere: false,
                is_elsewhere: false,
            });
        }
    }
    rights
}

#[test]
fn a_report_is_read_as_the_audit_prints_it() {
    let text = "used    deployments.apps/status: get, update\nunused  secrets: get\nrefused pods: list, watch, 3 times; add\n          // +kubebuilder:rbac:groups=\"\",resources=pods,verbs=list;watch\nused    /metrics: get\n7 calls, 3 refused, 1 unused\n";
    let needs = of_report(text);
    let shown: Vec<String> = needs
        .iter()
        .map(|need| format!("{} {}", audit::target(&need.access), need.access.verb))
        .collect();
    assert_eq!(
        shown,
        [
            "deployments.apps/status get",
            "deployments.apps/status update",
            "pods list",
            "pods watch",
            "/metrics get"
        ]
    );
    assert_eq!(needs[0].access.group, "apps");
}
