//! Which rights the operator needs: by the markers of the source, or by what was observed while its tests ran.

use super::Source;
use crate::{
    app::roles::OwnNamespace,
    audit::{self, Access},
    project::Rule,
};
use diagnostics::Hint as _;

/// Rights that the operator needs.
pub struct Known {
    pub needs: Vec<Need>,
    /// Rights that markers do not mention, and that config/ of the project grants.
    pub deployed: Vec<Need>,
    /// Where they are from.
    pub from: String,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Need {
    pub access: Access,
    /// Whether the name of the object is unknown.
    pub is_of_any_name: bool,
    /// Whether it is needed in every namespace.
    pub is_everywhere: bool,
    /// True if it is needed in a namespace that is not the operator's.
    pub is_elsewhere: bool,
}

/// The rights of markers; those that were observed, if a file of them is given. None if nothing is known.
pub fn known_rights(
    source: &Source,
    observed: Option<(&str, &str)>,
) -> anyhow::Result<Option<Known>> {
    let (mut needs, deployed, from) = match observed {
        Some((name, text)) => (self::observed(name, text)?, Vec::new(), name.to_owned()),
        None if source.rules.is_empty() => return Ok(None),
        None => {
            let mut deployed = of_rules(&source.deployed, None);
            // A release gives objects other names.
            deployed.iter_mut().for_each(|it| it.is_of_any_name = true);
            (
                of_rules(&source.rules, source.own_namespace.as_ref()),
                deployed,
                "the markers".to_owned(),
            )
        }
    };
    needs.sort();
    needs.dedup();
    Ok(Some(Known { needs, deployed, from }))
}

/// The rights of rules. Where it is known, a namespace is the operator's own or not.
fn of_rules(rules: &[Rule], own: Option<&OwnNamespace>) -> Vec<Need> {
    let accesses = rules.iter().flat_map(audit::accesses);
    let need = |mut access: Access| {
        if access.group == "core" {
            access.group.clear();
        }
        let is_everywhere = access.namespace.is_empty();
        let is_elsewhere =
            !is_everywhere && own.is_some_and(|own| !own.includes(&access.namespace));
        Need { access, is_of_any_name: false, is_everywhere, is_elsewhere }
    };
    accesses.map(need).collect()
}

/// What `operator-rs test --audit-rbac` printed, or the audit log of an API server.
fn observed(name: &str, text: &str) -> anyhow::Result<Vec<Need>> {
    let res = match text.trim_start().starts_with('{') {
        true => of_log(text),
        false => of_report(text),
    };
    if res.is_empty() {
        return Err(anyhow::format_err!("`{name}` contains no request from an operator")).hint(
            "pass the output of `operator-rs test --audit-rbac`, or the audit log of an API server as JSON lines",
        );
    }
    Ok(res)
}

/// The requests of every ServiceAccount that is none of Kubernetes' own.
fn of_log(text: &str) -> Vec<Need> {
    let users = audit::users(text);
    let is_operator = |it: &&String| {
        it.starts_with("system:serviceaccount:")
            && !it.starts_with("system:serviceaccount:kube-system:")
    };
    let calls = users.iter().filter(is_operator).flat_map(|it| audit::calls(text, it));
    // Without the CRDs of the cluster, the resource of an owner's kind is unknown.
    let accesses = calls.flat_map(|it| {
        if it.is_refused() { it.refused(|_, _| None) } else { it.needs(|_, _| None) }
    });
    accesses
        .map(|access| Need {
            access,
            is_of_any_name: false,
            is_everywhere: false,
            is_elsewhere: false,
        })
        .collect()
}

/// The lines `used …`, `granted …` and `refused …` of a report.
fn of_report(text: &str) -> Vec<Need> {
    let mut res = Vec::new();
    for line in text.lines() {
        let Some((word, rest)) = line.trim().split_once(' ') else { continue };
        let Some((target, verbs)) = rest.trim().rsplit_once(": ") else { continue };
        if !["used", "granted", "refused"].contains(&word) || target.contains(' ') {
            continue;
        }
        let is_verb = |it: &&str| !it.contains(' ') && *it != "once";
        for verb in verbs.split(", ").take_while(is_verb) {
            let access = Access { verb: verb.to_owned(), ..audit::of_target(target) };
            res.push(Need {
                access,
                is_of_any_name: true,
                is_everywhere: false,
                is_elsewhere: false,
            });
        }
    }
    res
}

#[test]
fn a_report_is_read_as_the_audit_prints_it() {
    let text = "used    deployments.apps/status: get, update\nunused  secrets: get\nrefused pods: list, watch, 3 times; add\n          // +kubebuilder:rbac:groups=\"\",resources=pods,verbs=list;watch\nused    /metrics: get\n7 calls, 3 refused, 1 unused\n";
    let needs = of_report(text);
    let shown: Vec<String> = needs
        .iter()
        .map(|it| format!("{} {}", audit::target(&it.access), it.access.verb))
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
