//! The progress of OLM with an operator, and the reason why it does not continue.

use super::{
    copied_from, plan,
    requirements::{one_line, text_or_empty, unmet_requirements},
};
use go_data::yaml::Value;

/// OLM's objects about one operator, as far as they exist.
#[derive(Debug, Default)]
pub struct Seen {
    pub source: Option<Value>,
    pub subscription: Option<Value>,
    /// The InstallPlan that the Subscription names.
    pub plan: Option<Value>,
    /// The ClusterServiceVersion that is to be installed.
    pub csv: Option<Value>,
}

impl Seen {
    /// Returns the InstallPlan if it installs this version.
    pub fn plan_of(&self, csv: &str) -> Option<&Value> {
        self.plan.as_ref().filter(|plan| planned_csvs(plan).iter().any(|name| name == csv))
    }
}

/// The progress of an installation.
#[derive(Debug, PartialEq)]
pub enum Progress {
    /// The ClusterServiceVersion is `Succeeded`.
    Done,
    /// The InstallPlan waits for approval.
    Approve,
    /// Not done yet, with the current state.
    Not(String),
    /// Not done until another object changes, with the reason.
    Stuck(String),
    /// It failed, with the reason.
    Never(String),
}

/// Returns the progress of OLM with this ClusterServiceVersion.
pub fn install_progress(seen: &Seen, csv: &str) -> Progress {
    if let Some(found) = &seen.csv {
        if let Some(from) = copied_from(found) {
            return Progress::Never(format!(
                "it is already installed in namespace `{from}`, for all namespaces"
            ));
        }
        let installed = seen
            .subscription
            .as_ref()
            .map(|subscription| text_or_empty(&subscription["status"]["installedCSV"]));
        return match (csv_progress(found), installed) {
            (Progress::Done, installed) if installed != Some(csv) => Progress::Not(format!(
                "ClusterServiceVersion {csv} is Succeeded, but is not what the Subscription has installed"
            )),
            (Progress::Not(why), _) => with_plan(why, seen.plan_of(csv)),
            (progress, _) => progress,
        };
    }
    if let Some(plan) = seen.plan_of(csv) {
        return plan_progress(plan);
    }
    let Some(subscription) = &seen.subscription else {
        return Progress::Never("the Subscription no longer exists".to_owned());
    };
    subscription_progress(subscription, seen.source.as_ref(), csv)
}

fn csv_progress(csv: &Value) -> Progress {
    let status = &csv["status"];
    let phase = text_or_empty(&status["phase"]);
    let name = text_or_empty(&csv["metadata"]["name"]);
    let mut lines = vec![match (phase, one_line(text_or_empty(&status["message"]))) {
        ("", _) => format!("ClusterServiceVersion {name}: OLM has not processed it yet"),
        (phase, message) if message.is_empty() => {
            format!("ClusterServiceVersion {name} is {phase}")
        }
        (phase, message) => {
            format!(
                "ClusterServiceVersion {name} is {phase} ({}): {message}",
                text_or_empty(&status["reason"])
            )
        }
    }];
    lines.extend(unmet_requirements(csv).into_iter().map(|line| format!("  {line}")));
    let text = lines.join("\n");
    match phase {
        "Succeeded" => Progress::Done,
        "Failed" => Progress::Never(text),
        _ => Progress::Not(text),
    }
}

/// Adds the reason of the InstallPlan to that of a version that waits for objects which the InstallPlan cannot
/// create.
fn with_plan(why: String, plan: Option<&Value>) -> Progress {
    match plan.filter(|plan| !plan::failure_reason(plan).is_empty()).map(plan_progress) {
        Some(Progress::Never(reason)) => Progress::Never(format!("{reason}\n  {why}")),
        Some(Progress::Stuck(reason)) => Progress::Stuck(format!("{reason}\n  {why}")),
        Some(Progress::Not(reason)) => Progress::Not(format!("{reason}\n  {why}")),
        _ => Progress::Not(why),
    }
}

/// Returns the progress of an InstallPlan.
fn plan_progress(plan: &Value) -> Progress {
    let status = &plan["status"];
    let name = text_or_empty(&plan["metadata"]["name"]);
    // An object may not be created, for example. OLM retries for a minute, or forever if it lacks a permission.
    let reason = plan::failure_reason(plan);
    let why = if reason.is_empty() { reason } else { format!(": {reason}") };
    match text_or_empty(&status["phase"]) {
        "RequiresApproval" if plan["spec"]["approved"] != true => Progress::Approve,
        "Failed" => Progress::Never(format!("InstallPlan {name} failed{why}")),
        _ if plan::is_refused(plan) => {
            Progress::Stuck(format!("OLM cannot execute InstallPlan {name}{why}"))
        }
        _ => Progress::Not(format!("InstallPlan {name} is installing{why}")),
    }
}

/// Returns the ClusterServiceVersions of an InstallPlan.
fn planned_csvs(plan: &Value) -> Vec<String> {
    super::string_list(&plan["spec"]["clusterServiceVersionNames"])
}

fn subscription_progress(subscription: &Value, source: Option<&Value>, csv: &str) -> Progress {
    let name = text_or_empty(&subscription["metadata"]["name"]);
    let condition = |kind: &str| {
        let conditions = subscription["status"]["conditions"].as_array().into_iter().flatten();
        let mut matching = conditions
            .filter(|condition| condition["type"] == *kind && condition["status"] == "True");
        matching.next().map(|condition| {
            (
                text_or_empty(&condition["reason"]).to_owned(),
                one_line(text_or_empty(&condition["message"])),
            )
        })
    };
    if let Some((_, message)) = condition("BundleUnpackFailed") {
        return Progress::Never(format!("the bundle cannot be unpacked: {message}"));
    }
    let connection = source.map(|source| &source["status"]["connectionState"]["lastObservedState"]);
    let is_ready = connection.is_some_and(|state| *state == "READY");
    let not_ready = || {
        let address = source.map_or("", |source| text_or_empty(&source["spec"]["address"]));
        let state = match connection.map_or("", text_or_empty) {
            "" => "not connected yet",
            state => state,
        };
        format!("OLM's connection to the catalog at {address} is {state}")
    };
    if let Some((reason, message)) = condition("ResolutionFailed") {
        return match (is_ready, reason.as_str()) {
            (true, "ConstraintsNotSatisfiable") => {
                Progress::Stuck(format!("OLM cannot resolve Subscription {name}: {message}"))
            }
            (true, _) => {
                Progress::Not(format!("OLM cannot resolve Subscription {name}: {message}"))
            }
            // OLM's message would only be that the catalog has no such package.
            (false, _) => Progress::Not(not_ready()),
        };
    }
    if let Some((_, message)) = condition("InstallPlanFailed") {
        return Progress::Never(format!(
            "the InstallPlan of Subscription {name} failed: {message}"
        ));
    }
    if let Some((reason, message)) = condition("BundleUnpacking") {
        return Progress::Not(format!("OLM is unpacking the bundle: {reason} {message}"));
    }
    if !is_ready {
        return Progress::Not(not_ready());
    }
    let offer = match text_or_empty(&subscription["status"]["currentCSV"]) {
        current if !current.is_empty() && current != csv => format!(" beyond `{current}`"),
        _ => String::new(),
    };
    Progress::Not(format!(
        "OLM has not created an InstallPlan for Subscription {name}{offer}, although it reads the catalog: does that offer `{csv}` in channel `{}`?",
        text_or_empty(&subscription["spec"]["channel"])
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    fn check(seen: Value, expected: &Progress) {
        let part = |key: &str| seen.get(key).cloned();
        let seen = Seen {
            source: part("source"),
            subscription: part("subscription"),
            plan: part("plan"),
            csv: part("csv"),
        };
        assert_eq!(install_progress(&seen, "a.v1"), *expected);
    }

    #[test]
    fn a_subscription_tells_why_there_is_no_install_plan() {
        let not = |it: &str| Progress::Not(it.to_owned());
        let source = |state: &str| json!({"spec": {"address": "a:1"}, "status": {"connectionState": {"lastObservedState": state}}});
        let subscription = |kind: &str, reason: &str| {
            json!({"metadata": {"name": "s"}, "status": {"conditions": [
                {"type": kind, "status": "True", "reason": reason, "message": "no\n  such b"},
                {"type": "InstallPlanFailed", "status": "False", "message": "x"},
            ]}})
        };
        let none = json!({"metadata": {"name": "s"}});
        check(
            json!({"subscription": none}),
            &not("OLM's connection to the catalog at  is not connected yet"),
        );
        check(
            json!({"subscription": none, "source": source("CONNECTING")}),
            &not("OLM's connection to the catalog at a:1 is CONNECTING"),
        );
        check(
            json!({"subscription": none, "source": source("READY")}),
            &not(
                "OLM has not created an InstallPlan for Subscription s, although it reads the catalog: does that offer `a.v1` in channel ``?",
            ),
        );
        let older = json!({"metadata": {"name": "s"}, "spec": {"channel": "x"}, "status": {"currentCSV": "a.v0"}});
        check(
            json!({"subscription": older, "source": source("READY")}),
            &not(
                "OLM has not created an InstallPlan for Subscription s beyond `a.v0`, although it reads the catalog: does that offer `a.v1` in channel `x`?",
            ),
        );
        let unresolved = subscription("ResolutionFailed", "ConstraintsNotSatisfiable");
        check(
            json!({"subscription": unresolved, "source": source("CONNECTING")}),
            &not("OLM's connection to the catalog at a:1 is CONNECTING"),
        );
        check(
            json!({"subscription": unresolved, "source": source("READY")}),
            &Progress::Stuck("OLM cannot resolve Subscription s: no such b".into()),
        );
        check(
            json!({"subscription": subscription("BundleUnpackFailed", "x"), "source": source("READY")}),
            &Progress::Never("the bundle cannot be unpacked: no such b".into()),
        );
        check(json!({}), &Progress::Never("the Subscription no longer exists".into()));
    }

    #[test]
    fn an_install_plan_counts_only_if_it_installs_the_version() {
        let plan = |csv: &str, phase: &str, approved: bool| {
            json!({"metadata": {"name": "p"}, "spec": {"clusterServiceVersionNames": [csv], "approved": approved},
                "status": {"phase": phase, "conditions": [{"type": "Installed", "status": "False", "message": "bad\nrole"}]}})
        };
        let seen = |plan: Value| json!({"plan": plan, "subscription": {"metadata": {"name": "s"}}});
        check(seen(plan("a.v1", "RequiresApproval", false)), &Progress::Approve);
        check(
            seen(plan("a.v1", "Failed", true)),
            &Progress::Never("InstallPlan p failed: bad role".into()),
        );
        check(
            seen(plan("a.v1", "Installing", true)),
            &Progress::Not("InstallPlan p is installing: bad role".into()),
        );
        check(
            seen(plan("a.v0", "Complete", true)),
            &Progress::Not("OLM's connection to the catalog at  is not connected yet".into()),
        );
    }

    #[test]
    fn an_install_plan_tells_why_a_version_waits() {
        let seen = |phase: &str, message: &str| {
            json!({
                "plan": {"metadata": {"name": "p"}, "spec": {"clusterServiceVersionNames": ["a.v1"], "approved": true},
                    "status": {"phase": phase, "message": message}},
                "csv": {"metadata": {"name": "a.v1"}, "status": {"phase": "Pending", "reason": "R", "message": "m"}},
            })
        };
        let version = "ClusterServiceVersion a.v1 is Pending (R): m";
        check(seen("Complete", ""), &Progress::Not(version.into()));
        check(
            seen("Failed", "bad role"),
            &Progress::Never(format!("InstallPlan p failed: bad role\n  {version}")),
        );
        check(
            seen("Installing", "bad role"),
            &Progress::Not(format!("InstallPlan p is installing: bad role\n  {version}")),
        );
        check(
            seen("Installing", "roles is forbidden: no"),
            &Progress::Stuck(format!(
                "OLM cannot execute InstallPlan p: roles is forbidden: no\n  {version}"
            )),
        );
    }

    #[test]
    fn a_csv_tells_what_it_lacks() {
        let csv = |status: Value| json!({"csv": {"metadata": {"name": "a.v1"}, "status": status}});
        let mut seen = csv(json!({"phase": "Succeeded"}));
        check(
            seen.clone(),
            &Progress::Not("ClusterServiceVersion a.v1 is Succeeded, but is not what the Subscription has installed".into()),
        );
        seen["subscription"] = json!({"status": {"installedCSV": "a.v1"}});
        check(seen.clone(), &Progress::Done);
        for place in ["labels", "annotations"] {
            let mut copy = seen.clone();
            copy["csv"]["metadata"][place] = json!({"olm.copiedFrom": "x"});
            check(
                copy,
                &Progress::Never(
                    "it is already installed in namespace `x`, for all namespaces".into(),
                ),
            );
        }
        check(
            csv(json!({})),
            &Progress::Not("ClusterServiceVersion a.v1: OLM has not processed it yet".into()),
        );
        let status = json!({
            "phase": "Pending", "reason": "RequirementsNotMet", "message": "one or more requirements couldn't be found",
            "requirementStatus": [
                {"kind": "CustomResourceDefinition", "group": "apiextensions.k8s.io", "name": "as.x.y", "status": "NotPresent", "message": "CRD is not present"},
                {"kind": "ServiceAccount", "name": "sa", "status": "PresentNotSatisfied", "message": "Policy rule not satisfied for service account", "dependents": [
                    {"kind": "PolicyRule", "status": "NotSatisfied", "message": "cluster rule:{}"},
                    {"kind": "PolicyRule", "status": "Satisfied", "message": "rule:{}"},
                ]},
                {"kind": "ServiceAccount", "name": "other", "status": "Present"},
            ],
        });
        let expected = "ClusterServiceVersion a.v1 is Pending (RequirementsNotMet): one or more requirements couldn't be found
  CustomResourceDefinition as.x.y (apiextensions.k8s.io): CRD is not present
  ServiceAccount sa: Policy rule not satisfied for service account
    NotSatisfied: cluster rule:{}";
        check(csv(status), &Progress::Not(expected.into()));
    }
}
