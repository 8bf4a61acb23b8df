//! How far OLM v1 is, from the conditions of its objects.

use crate::lifecycle::requirements::{one_line, text};
use go_data::yaml::Value;

/// What the status of an object says.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// Not yet, for this reason.
    Not(String),
    /// OLM reports a failure, and tries again.
    Retrying(String),
    /// OLM does not try again.
    Blocked(String),
}

/// Whether catalogd serves the content of this image, which is named by its digest.
pub fn serving(catalog: &Value, image: &str) -> Progress {
    let resolved = text(&catalog["status"]["resolvedSource"]["image"]["ref"]);
    let is_current = digest(resolved).is_some_and(|it| Some(it) == digest(image));
    let is_serving = condition(catalog, "Serving").is_some_and(|it| it["status"] == "True");
    if catalog["spec"]["availabilityMode"] == "Unavailable" {
        let why = "its `availabilityMode` is Unavailable, so catalogd does not serve it";
        return Progress::Blocked(format!("{}: {why}", name(catalog)));
    }
    match of_conditions(catalog) {
        Some(trouble) => trouble,
        None if is_current && is_serving => Progress::Done,
        None => Progress::Not(format!("{}: catalogd has not unpacked it yet", name(catalog))),
    }
}

/// Whether this bundle is installed: by its name, and by the image that was installed, which is named by its digest.
pub fn installed(extension: &Value, bundle: &str, image: &str) -> Progress {
    let installed = condition(extension, "Installed");
    let is_there = extension["status"]["install"]["bundle"]["name"] == *bundle
        && installed.is_some_and(|it| {
            let message = text(&it["message"]);
            // A version of OLM may not name the image.
            let is_image = |it: &str| !message.contains('@') || message.contains(it);
            it["status"] == "True" && digest(image).is_none_or(is_image)
        });
    match of_conditions(extension) {
        Some(trouble) => trouble,
        None if is_there && is_settled(extension) => Progress::Done,
        None => Progress::Not(format!(
            "{}: operator-controller has not installed `{bundle}` yet",
            name(extension)
        )),
    }
}

/// The conditions of an object that are not as they are in the end, in one line each.
pub fn conditions(object: &Value) -> Vec<String> {
    let all = object["status"]["conditions"].as_array().into_iter().flatten();
    let wrong = all.filter(|it| match text(&it["type"]) {
        "Installed" | "Serving" => it["status"] != "True",
        "Progressing" => it["reason"] != "Succeeded",
        // Deprecations say nothing about the installation.
        _ => false,
    });
    let line = |it: &Value| {
        let [kind, reason, message] = ["type", "reason", "message"].map(|key| text(&it[key]));
        format!("{}: {kind} ({reason}): {}", name(object), one_line(message))
    };
    wrong.map(line).collect()
}

/// The trouble that the current specification has met.
fn of_conditions(object: &Value) -> Option<Progress> {
    let progressing = condition(object, "Progressing").filter(|_| is_observed(object))?;
    let line = format!("{}: {}", name(object), one_line(text(&progressing["message"])));
    match text(&progressing["reason"]) {
        "Retrying" => Some(Progress::Retrying(line)),
        "Blocked" | "InvalidConfiguration" | "ProgressDeadlineExceeded" => {
            Some(Progress::Blocked(line))
        }
        _ => None,
    }
}

fn is_settled(object: &Value) -> bool {
    is_observed(object)
        && condition(object, "Progressing").is_some_and(|it| it["reason"] == "Succeeded")
}

/// Whether OLM has looked at the current specification.
fn is_observed(object: &Value) -> bool {
    condition(object, "Progressing")
        .is_some_and(|it| it["observedGeneration"] == object["metadata"]["generation"])
}

fn condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|it| it["type"] == *kind)
}

fn digest(image: &str) -> Option<&str> {
    Some(image.split_once('@')?.1)
}

fn name(object: &Value) -> String {
    format!("{} {}", text(&object["kind"]), text(&object["metadata"]["name"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use go_data::yaml::json;

    fn object(kind: &str, conditions: Value, status: Value) -> Value {
        let mut res =
            json!({"kind": kind, "metadata": {"name": "a", "generation": 2}, "status": status});
        res["status"]["conditions"] = conditions;
        res
    }

    fn progressing(reason: &str, generation: u32) -> Value {
        json!({"type": "Progressing", "reason": reason, "message": "no\n such image", "observedGeneration": generation})
    }

    #[test]
    fn a_catalog_is_served_when_its_current_image_is() {
        let check = |reason: &str, image: &str, expected: &Progress| {
            let serving = json!({"type": "Serving", "status": "True"});
            let status = json!({"resolvedSource": {"image": {"ref": image}}});
            let catalog =
                object("ClusterCatalog", json!([serving, progressing(reason, 2)]), status);
            assert_eq!(super::serving(&catalog, "x/a@sha256:1"), *expected);
        };
        check("Succeeded", "x/a@sha256:1", &Progress::Done);
        let old = "ClusterCatalog a: catalogd has not unpacked it yet";
        check("Succeeded", "x/a@sha256:0", &Progress::Not(old.into()));
        let why = "ClusterCatalog a: no such image".to_owned();
        check("Retrying", "x/a@sha256:0", &Progress::Retrying(why.clone()));
        check("Blocked", "x/a@sha256:0", &Progress::Blocked(why));
        let mut off = object("ClusterCatalog", json!([]), json!({}));
        off["spec"] = json!({"availabilityMode": "Unavailable"});
        let why = "ClusterCatalog a: its `availabilityMode` is Unavailable, so catalogd does not serve it";
        assert_eq!(super::serving(&off, "x/a@sha256:1"), Progress::Blocked(why.into()));
    }

    #[test]
    fn an_extension_is_installed_when_olm_is_done_with_its_specification() {
        let check = |reason: &str, generation: u32, message: &str, expected: &Progress| {
            let installed = json!({"type": "Installed", "status": "True", "message": message});
            let status = json!({"install": {"bundle": {"name": "a.v1"}}});
            let all = json!([installed, progressing(reason, generation)]);
            let extension = object("ClusterExtension", all, status);
            assert_eq!(super::installed(&extension, "a.v1", "x/a@sha256:1"), *expected);
        };
        let current = "Installed bundle x/a@sha256:1 successfully";
        let not = "ClusterExtension a: operator-controller has not installed `a.v1` yet";
        check("Succeeded", 2, current, &Progress::Done);
        check("Succeeded", 1, current, &Progress::Not(not.into()));
        check("Succeeded", 2, "Installed bundle x/a@sha256:0", &Progress::Not(not.into()));
        // What it reports of an earlier specification is no trouble of this one.
        check("Retrying", 1, current, &Progress::Not(not.into()));
        let why = "ClusterExtension a: no such image";
        check("Retrying", 2, current, &Progress::Retrying(why.into()));
    }

    #[test]
    fn conditions_that_are_not_met_are_listed() {
        let installed = json!({"type": "Installed", "status": "False", "reason": "Failed", "message": "No bundle installed"});
        let all = json!([installed, progressing("Retrying", 2), {"type": "Deprecated", "status": "False"}]);
        assert_eq!(
            conditions(&object("ClusterExtension", all, json!({}))),
            [
                "ClusterExtension a: Installed (Failed): No bundle installed",
                "ClusterExtension a: Progressing (Retrying): no such image",
            ]
        );
    }
}
