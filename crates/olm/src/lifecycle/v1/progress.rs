//! The progress of OLM v1, from the conditions of its objects.

use crate::lifecycle::requirements::{one_line, text_or_empty};
use go_data::yaml::Value;

/// The progress according to the status of an object.
#[derive(Debug, PartialEq, Eq)]
pub enum V1Progress {
    Done,
    /// Not done yet, for this reason.
    Not(String),
    /// OLM reports a failure, and tries again.
    Retrying(String),
    /// OLM does not try again.
    Blocked(String),
}

/// Returns the progress until catalogd serves the content of this image, which is named by its digest.
pub fn serving_progress(catalog: &Value, image: &str) -> V1Progress {
    let resolved = text_or_empty(&catalog["status"]["resolvedSource"]["image"]["ref"]);
    let is_current =
        image_digest(resolved).is_some_and(|digest| Some(digest) == image_digest(image));
    let is_serving =
        find_condition(catalog, "Serving").is_some_and(|condition| condition["status"] == "True");
    if catalog["spec"]["availabilityMode"] == "Unavailable" {
        let why = "its `availabilityMode` is Unavailable, so catalogd does not serve it";
        return V1Progress::Blocked(format!("{}: {why}", object_title(catalog)));
    }
    match condition_trouble(catalog) {
        Some(trouble) => trouble,
        None if is_current && is_serving => V1Progress::Done,
        None => {
            V1Progress::Not(format!("{}: catalogd has not unpacked it yet", object_title(catalog)))
        }
    }
}

/// Returns the progress until this bundle is installed, by its name and by its image, which is named by its digest.
pub fn installed_progress(extension: &Value, bundle: &str, image: &str) -> V1Progress {
    let installed = find_condition(extension, "Installed");
    let is_there = extension["status"]["install"]["bundle"]["name"] == *bundle
        && installed.is_some_and(|condition| {
            let message = text_or_empty(&condition["message"]);
            // A version of OLM may not name the image.
            let is_image = |image: &str| !message.contains('@') || message.contains(image);
            condition["status"] == "True" && image_digest(image).is_none_or(is_image)
        });
    match condition_trouble(extension) {
        Some(trouble) => trouble,
        None if is_there && is_settled(extension) => V1Progress::Done,
        None => V1Progress::Not(format!(
            "{}: operator-controller has not installed `{bundle}` yet",
            object_title(extension)
        )),
    }
}

/// Returns the conditions of an object that do not have their final value, in one line each.
pub fn unsettled_conditions(object: &Value) -> Vec<String> {
    let conditions = object["status"]["conditions"].as_array().into_iter().flatten();
    let wrong = conditions.filter(|condition| match text_or_empty(&condition["type"]) {
        "Installed" | "Serving" => condition["status"] != "True",
        "Progressing" => condition["reason"] != "Succeeded",
        // Deprecations say nothing about the installation.
        _ => false,
    });
    let line = |condition: &Value| {
        let [kind, reason, message] =
            ["type", "reason", "message"].map(|key| text_or_empty(&condition[key]));
        format!("{}: {kind} ({reason}): {}", object_title(object), one_line(message))
    };
    wrong.map(line).collect()
}

/// Returns the failure of the current specification, if there is one.
fn condition_trouble(object: &Value) -> Option<V1Progress> {
    let progressing = find_condition(object, "Progressing").filter(|_| is_observed(object))?;
    let line =
        format!("{}: {}", object_title(object), one_line(text_or_empty(&progressing["message"])));
    match text_or_empty(&progressing["reason"]) {
        "Retrying" => Some(V1Progress::Retrying(line)),
        "Blocked" | "InvalidConfiguration" | "ProgressDeadlineExceeded" => {
            Some(V1Progress::Blocked(line))
        }
        _ => None,
    }
}

fn is_settled(object: &Value) -> bool {
    is_observed(object)
        && find_condition(object, "Progressing")
            .is_some_and(|condition| condition["reason"] == "Succeeded")
}

/// Returns whether OLM has observed the current specification.
fn is_observed(object: &Value) -> bool {
    find_condition(object, "Progressing").is_some_and(|condition| {
        condition["observedGeneration"] == object["metadata"]["generation"]
    })
}

fn find_condition<'a>(object: &'a Value, kind: &str) -> Option<&'a Value> {
    object["status"]["conditions"].as_array()?.iter().find(|condition| condition["type"] == *kind)
}

fn image_digest(image: &str) -> Option<&str> {
    Some(image.split_once('@')?.1)
}

fn object_title(object: &Value) -> String {
    format!("{} {}", text_or_empty(&object["kind"]), text_or_empty(&object["metadata"]["name"]))
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
        let check = |reason: &str, image: &str, expected: &V1Progress| {
            let serving = json!({"type": "Serving", "status": "True"});
            let status = json!({"resolvedSource": {"image": {"ref": image}}});
            let catalog =
                object("ClusterCatalog", json!([serving, progressing(reason, 2)]), status);
            assert_eq!(super::serving_progress(&catalog, "x/a@sha256:1"), *expected);
        };
        check("Succeeded", "x/a@sha256:1", &V1Progress::Done);
        let old = "ClusterCatalog a: catalogd has not unpacked it yet";
        check("Succeeded", "x/a@sha256:0", &V1Progress::Not(old.into()));
        let why = "ClusterCatalog a: no such image".to_owned();
        check("Retrying", "x/a@sha256:0", &V1Progress::Retrying(why.clone()));
        check("Blocked", "x/a@sha256:0", &V1Progress::Blocked(why));
        let mut off = object("ClusterCatalog", json!([]), json!({}));
        off["spec"] = json!({"availabilityMode": "Unavailable"});
        let why = "ClusterCatalog a: its `availabilityMode` is Unavailable, so catalogd does not serve it";
        assert_eq!(super::serving_progress(&off, "x/a@sha256:1"), V1Progress::Blocked(why.into()));
    }

    #[test]
    fn an_extension_is_installed_when_olm_is_done_with_its_specification() {
        let check = |reason: &str, generation: u32, message: &str, expected: &V1Progress| {
            let installed = json!({"type": "Installed", "status": "True", "message": message});
            let status = json!({"install": {"bundle": {"name": "a.v1"}}});
            let all = json!([installed, progressing(reason, generation)]);
            let extension = object("ClusterExtension", all, status);
            assert_eq!(super::installed_progress(&extension, "a.v1", "x/a@sha256:1"), *expected);
        };
        let current = "Installed bundle x/a@sha256:1 successfully";
        let not = "ClusterExtension a: operator-controller has not installed `a.v1` yet";
        check("Succeeded", 2, current, &V1Progress::Done);
        check("Succeeded", 1, current, &V1Progress::Not(not.into()));
        check("Succeeded", 2, "Installed bundle x/a@sha256:0", &V1Progress::Not(not.into()));
        // What it reports of an earlier specification is no trouble of this one.
        check("Retrying", 1, current, &V1Progress::Not(not.into()));
        let why = "ClusterExtension a: no such image";
        check("Retrying", 2, current, &V1Progress::Retrying(why.into()));
    }

    #[test]
    fn conditions_that_are_not_met_are_listed() {
        let installed = json!({"type": "Installed", "status": "False", "reason": "Failed", "message": "No bundle installed"});
        let all = json!([installed, progressing("Retrying", 2), {"type": "Deprecated", "status": "False"}]);
        assert_eq!(
            unsettled_conditions(&object("ClusterExtension", all, json!({}))),
            [
                "ClusterExtension a: Installed (Failed): No bundle installed",
                "ClusterExtension a: Progressing (Retrying): no such image",
            ]
        );
    }
}
