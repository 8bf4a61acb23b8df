//! An InstallPlan: the objects that OLM creates with it, and its progress.

use super::requirements::{one_line, text_or_empty};
use go_data::yaml::Value;

/// An object of an InstallPlan.
pub struct Step {
    pub api_version: String,
    pub kind: String,
    pub name: String,
    /// The name and the namespace of the CatalogSource.
    pub source: (String, String),
    /// The ClusterServiceVersion that it comes with.
    pub csv: String,
}

/// Returns the objects that an InstallPlan creates or overwrites, if OLM has started with it. OLM records its results
/// only after it has tried all of them, so that an object may exist without a record.
pub fn started_steps(plan: &Value) -> Vec<Step> {
    let owned = |value: &Value| text_or_empty(value).to_owned();
    let phase = text_or_empty(&plan["status"]["phase"]);
    let steps = plan["status"]["plan"].as_array().into_iter().flatten();
    steps
        .filter(|_| ["Installing", "Complete", "Failed"].contains(&phase))
        .map(|step| {
            let resource = &step["resource"];
            let (group, version) = (text_or_empty(&resource["group"]), owned(&resource["version"]));
            Step {
                api_version: if group.is_empty() { version } else { format!("{group}/{version}") },
                kind: owned(&resource["kind"]),
                name: owned(&resource["name"]),
                source: (owned(&resource["sourceName"]), owned(&resource["sourceNamespace"])),
                csv: owned(&step["resolving"]),
            }
        })
        .collect()
}

/// Returns whether OLM may create objects of an InstallPlan at any moment.
pub fn is_running(plan: &Value) -> bool {
    let status = &plan["status"];
    let is_approved = status["phase"] == "RequiresApproval" && plan["spec"]["approved"] == true;
    let has_begun = status["phase"] == "Installing" && !started_steps(plan).is_empty();
    (is_approved || has_begun) && !is_refused(plan)
}

/// Returns whether OLM lacks a permission or a service account, for which it retries forever.
pub fn is_refused(plan: &Value) -> bool {
    let conditions = plan["status"]["conditions"].as_array().into_iter().flatten();
    let mut failed = conditions.filter(|condition| condition["status"] == "False");
    failed.any(|condition| condition["reason"] == "InstallCheckFailed")
        || text_or_empty(&plan["status"]["message"]).contains(" is forbidden: ")
}

/// Returns the message of OLM about an object that it cannot create; empty if there is none.
pub fn failure_reason(plan: &Value) -> String {
    let status = &plan["status"];
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let failed = conditions
        .filter(|condition| condition["status"] == "False")
        .map(|condition| &condition["message"]);
    let messages = [&status["message"]].into_iter().chain(failed);
    let mut reasons: Vec<String> =
        messages.map(|message| one_line(text_or_empty(message))).collect();
    reasons.retain(|message| !message.is_empty());
    reasons.dedup();
    reasons.join("; ")
}

#[test]
fn a_plan_that_olm_has_begun_with_may_have_created_everything() {
    use go_data::yaml::json;
    let plan = |phase: &str, message: &str| {
        json!({"status": {"phase": phase, "message": message, "plan": [
            {"status": "Unknown", "resolving": "a.v1", "resource": {
                "group": "rbac.authorization.k8s.io", "version": "v1", "kind": "ClusterRole", "name": "a",
                "sourceName": "c", "sourceNamespace": "n",
            }},
        ]}})
    };
    let check = |plan: &Value, many: usize, running: bool| {
        assert_eq!((started_steps(plan).len(), is_running(plan)), (many, running), "{plan}");
    };
    check(&plan("RequiresApproval", ""), 0, false);
    let mut approved = plan("RequiresApproval", "");
    approved["spec"]["approved"] = true.into();
    check(&approved, 0, true);
    check(&plan("Installing", ""), 1, true);
    check(&plan("Installing", "retrying execution due to error: no such kind"), 1, true);
    let forbidden =
        "retrying execution due to error: roles \"a\" is forbidden: User \"b\" cannot create";
    check(&plan("Installing", forbidden), 1, false);
    check(&plan("Complete", ""), 1, false);
    check(&plan("Failed", "no"), 1, false);
    let mut checked = plan("Installing", "");
    checked["status"]["conditions"] = json!([
        {"type": "Installed", "status": "False", "reason": "InstallCheckFailed", "message": "no\n account"},
    ]);
    check(&checked, 1, false);
    assert_eq!(failure_reason(&checked), "no account");
    let step = started_steps(&plan("Complete", "")).remove(0);
    assert_eq!(
        (step.api_version.as_str(), step.csv.as_str()),
        ("rbac.authorization.k8s.io/v1", "a.v1")
    );
}
