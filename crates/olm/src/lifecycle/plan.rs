//! An InstallPlan: the objects that OLM creates with it, and how far it is.

use super::requirements::{one_line, text};
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

/// The objects that an InstallPlan creates or writes over, if OLM has begun with it. OLM records what it has done only
/// after it has tried all of them, so that an object may exist for which nothing is recorded.
pub fn steps(plan: &Value) -> Vec<Step> {
    let owned = |it: &Value| text(it).to_owned();
    let phase = text(&plan["status"]["phase"]);
    let steps = plan["status"]["plan"].as_array().into_iter().flatten();
    steps
        .filter(|_| ["Installing", "Complete", "Failed"].contains(&phase))
        .map(|it| {
            let resource = &it["resource"];
            let (group, version) = (text(&resource["group"]), owned(&resource["version"]));
            Step {
                api_version: if group.is_empty() { version } else { format!("{group}/{version}") },
                kind: owned(&resource["kind"]),
                name: owned(&resource["name"]),
                source: (owned(&resource["sourceName"]), owned(&resource["sourceNamespace"])),
                csv: owned(&it["resolving"]),
            }
        })
        .collect()
}

/// Whether OLM may create objects of an InstallPlan at any moment.
pub fn is_running(plan: &Value) -> bool {
    let status = &plan["status"];
    let is_approved = status["phase"] == "RequiresApproval" && plan["spec"]["approved"] == true;
    let has_begun = status["phase"] == "Installing" && !steps(plan).is_empty();
    (is_approved || has_begun) && !is_refused(plan)
}

/// Whether OLM lacks a permission or a service account, for which it retries without an end.
pub fn is_refused(plan: &Value) -> bool {
    let conditions = plan["status"]["conditions"].as_array().into_iter().flatten();
    let mut failed = conditions.filter(|it| it["status"] == "False");
    failed.any(|it| it["reason"] == "InstallCheckFailed")
        || text(&plan["status"]["message"]).contains(" is forbidden: ")
}

/// What OLM reports about an object that it cannot create; empty if it reports nothing.
pub fn reason(plan: &Value) -> String {
    let status = &plan["status"];
    let conditions = status["conditions"].as_array().into_iter().flatten();
    let failed = conditions.filter(|it| it["status"] == "False").map(|it| &it["message"]);
    let messages = [&status["message"]].into_iter().chain(failed);
    let mut res: Vec<String> = messages.map(|it| one_line(text(it))).collect();
    res.retain(|it| !it.is_empty());
    res.dedup();
    res.join("; ")
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
        assert_eq!((steps(plan).len(), is_running(plan)), (many, running), "{plan}");
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
    assert_eq!(reason(&checked), "no account");
    let step = steps(&plan("Complete", "")).remove(0);
    assert_eq!(
        (step.api_version.as_str(), step.csv.as_str()),
        ("rbac.authorization.k8s.io/v1", "a.v1")
    );
}
