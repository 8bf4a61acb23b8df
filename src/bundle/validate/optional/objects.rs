//! What operator-framework/api recommends of objects beside the CSV, in a validator that operator-sdk does not run.

use super::super::{Findings, Rule, load::Loaded, of};
use go_data::yaml::{Value, json};

/// OpenShift's own security context constraints.
const CONSTRAINTS: &[&str] = &[
    "privileged",
    "restricted",
    "anyuid",
    "hostaccess",
    "hostmount-anyuid",
    "hostnetwork",
    "node-exporter",
    "nonroot",
];

pub fn check(bundle: &Loaded, findings: &mut Findings) {
    for it in &bundle.objects {
        let (path, object) = (it.path, &it.object);
        match of::kind(object) {
            "PodDisruptionBudget" => budget(path, object, findings),
            "PriorityClass" if object["globalDefault"] == true => findings.warning(
                Rule::PriorityDefault,
                (path, "/globalDefault"),
                "globalDefault field cannot be set to true",
            ),
            "Role" | "ClusterRole" => role(path, object, findings),
            _ => {}
        }
    }
}

fn budget(path: &str, object: &Value, findings: &mut Findings) {
    let is =
        |field: &str, values: &[Value]| object.pointer(field).is_some_and(|it| values.contains(it));
    let (most, least) = ("/spec/maxUnavailable", "/spec/minAvailable");
    if is(most, &[json!(0), json!("0%")]) {
        let message = "maxUnavailable field cannot be set to 0 or 0%";
        findings.warning(Rule::BudgetUnavailable, (path, most), message);
    }
    if is(least, &[json!("100%")]) {
        let message = "minAvailable field cannot be set to 100%";
        findings.warning(Rule::BudgetAvailable, (path, least), message);
    }
}

fn role(path: &str, object: &Value, findings: &mut Findings) {
    for (at, rule) in of::list(object, "/rules").iter().enumerate() {
        let has =
            |field: &str, words: &[&str]| of::texts(rule, field).any(|it| words.contains(&it));
        let place = || (path, format!("/rules/{at}"));
        if has("/apiGroups", &["policy"])
            && has("/resources", &["poddisruptionbudgets"])
            && has("/verbs", &["*", "create", "update", "patch"])
        {
            findings.warning(
                Rule::BudgetPermission,
                place(),
                "RBAC includes permission to create/update poddisruptionbudgets, which could impact cluster stability",
            );
        }
        if has("/apiGroups", &["security.openshift.io"])
            && has("/resources", &["securitycontextconstraints"])
            && has("/verbs", &["*", "delete", "update", "patch"])
            && has("/resourceNames", CONSTRAINTS)
        {
            findings.warning(
                Rule::SccPermission,
                place(),
                "RBAC includes permission to modify default securitycontextconstraints, which could impact cluster stability",
            );
        }
    }
}
