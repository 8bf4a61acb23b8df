//! How far a Deployment is, and what its pods say where it does not come any further.

use super::object::condition;
use crate::yaml::Value;

/// How much of a container's last line an error repeats, in characters.
const LAST_LINE: usize = 400;

/// Whether what was asked of a workload is there.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// Not yet, and how far it is.
    Not(String),
    /// It will not come any further by itself.
    Never(String),
}

/// How far a Deployment, StatefulSet or DaemonSet is.
pub fn progress(object: &Value) -> Progress {
    let (spec, status) = (&object["spec"], &object["status"]);
    let number = |it: &Value| it.as_i64().unwrap_or(0);
    if number(&status["observedGeneration"]) < number(&object["metadata"]["generation"]) {
        return Progress::Not("no controller has seen it yet".to_owned());
    }
    // Other reasons pass by themselves, as when a quota is raised.
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    if let Some(late) = conditions.find(|it| it["reason"] == "ProgressDeadlineExceeded") {
        let message = late["message"].as_str().unwrap_or("its progress deadline is over");
        return Progress::Never(message.to_owned());
    }
    let (wanted, updated, all, available) = if object["kind"] == "DaemonSet" {
        (
            number(&status["desiredNumberScheduled"]),
            number(&status["updatedNumberScheduled"]),
            number(&status["updatedNumberScheduled"]),
            number(&status["numberAvailable"]),
        )
    } else {
        (
            spec["replicas"].as_i64().unwrap_or(1),
            number(&status["updatedReplicas"]),
            number(&status["replicas"]),
            number(&status["availableReplicas"]),
        )
    };
    if updated < wanted {
        Progress::Not(format!("{updated} of {wanted} replicas are up to date"))
    } else if updated < all {
        let old = all - updated;
        let what = if old == 1 { "old replica has" } else { "old replicas have" };
        Progress::Not(format!("{old} {what} still to go"))
    } else if available < wanted {
        Progress::Not(format!("{available} of {wanted} replicas are available"))
    } else {
        Progress::Done
    }
}

/// What keeps a pod from being ready, in one line each.
pub fn troubles(pod: &Value) -> Vec<String> {
    let mut res = Vec::new();
    if let Some(("False", message)) = condition(pod, "PodScheduled") {
        res.push(format!("it is on no node: {message}"));
    }
    for list in ["initContainerStatuses", "containerStatuses"] {
        for it in pod["status"][list].as_array().into_iter().flatten() {
            let name = it["name"].as_str().unwrap_or_default();
            let waiting = &it["state"]["waiting"];
            let ended = [&it["state"]["terminated"], &it["lastState"]["terminated"]];
            let ended =
                ended.into_iter().find(|it| it["exitCode"].as_i64().is_some_and(|it| it != 0));
            let mut parts = Vec::new();
            match waiting["reason"].as_str() {
                // These pass by themselves.
                None | Some("ContainerCreating" | "PodInitializing") => {}
                Some(reason) => parts.push(said(reason, &waiting["message"])),
            }
            if let Some(ended) = ended {
                let code = &ended["exitCode"];
                let reason = ended["reason"].as_str().unwrap_or("Error");
                let how = format!("it ended with exit code {code} ({reason})");
                parts.push(match last_line(&ended["message"]) {
                    None => how,
                    Some(line) => format!("{how}: {line}"),
                });
            }
            if !parts.is_empty() {
                res.push(format!("container `{name}`: {}", parts.join("; ")));
            }
        }
    }
    res
}

/// The last line of what a container wrote: why it ended. With `FallbackToLogsOnError` the lines before it are its log.
pub fn last_line(message: &Value) -> Option<String> {
    let line = message.as_str()?.lines().map(str::trim).rfind(|it| !it.is_empty())?;
    let mut letters = line.chars();
    let start: String = letters.by_ref().take(LAST_LINE).collect();
    Some(if letters.next().is_some() { start + "…" } else { start })
}

/// A reason and, where there is one, its message in one line.
fn said(reason: &str, message: &Value) -> String {
    match message.as_str().map(str::trim) {
        None | Some("") => reason.to_owned(),
        Some(text) => format!("{reason}: {}", text.lines().collect::<Vec<_>>().join(" ")),
    }
}

/// The labels that select a workload's pods, as a list takes them.
pub fn selector(object: &Value) -> Option<String> {
    let labels = object["spec"]["selector"]["matchLabels"].as_object()?;
    let pairs =
        labels.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    Some(pairs.collect::<Vec<_>>().join(","))
}

#[test]
fn a_deployment_is_done_when_all_it_asks_for_is_there_and_nothing_else() {
    use crate::yaml::json;
    let check = |replicas: Value, status: Value, expected: Progress| {
        let object = json!({
            "kind": "Deployment",
            "metadata": {"generation": 2},
            "spec": {"replicas": replicas},
            "status": status,
        });
        assert_eq!(progress(&object), expected);
    };
    let not = |text: &str| Progress::Not(text.to_owned());
    check(json!(1), json!({"observedGeneration": 1}), not("no controller has seen it yet"));
    check(json!(null), json!({"observedGeneration": 2}), not("0 of 1 replicas are up to date"));
    let status = |all: i32, updated: i32, available: i32| json!({"observedGeneration": 2, "replicas": all, "updatedReplicas": updated, "availableReplicas": available});
    check(json!(2), status(3, 2, 2), not("1 old replica has still to go"));
    check(json!(2), status(2, 2, 1), not("1 of 2 replicas are available"));
    check(json!(2), status(2, 2, 2), Progress::Done);
    check(json!(0), status(0, 0, 0), Progress::Done);
    let late = json!({"observedGeneration": 2, "conditions": [
        {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "it has timed out"},
    ]});
    check(json!(1), late, Progress::Never("it has timed out".to_owned()));
}

#[test]
fn a_pod_says_what_keeps_it() {
    use crate::yaml::json;
    let check = |status: Value, expected: &[&str]| {
        assert_eq!(troubles(&json!({"status": status})), expected);
    };
    check(json!({}), &[]);
    check(
        json!({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]}),
        &["it is on no node: 0/1 nodes"],
    );
    let waiting = |reason: &str| json!({"name": "a", "state": {"waiting": {"reason": reason, "message": "no such image"}}});
    check(
        json!({"containerStatuses": [waiting("ImagePullBackOff")]}),
        &["container `a`: ImagePullBackOff: no such image"],
    );
    check(json!({"containerStatuses": [waiting("ContainerCreating")]}), &[]);
    let crashed = json!({
        "name": "a",
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}},
    });
    check(
        json!({"containerStatuses": [crashed]}),
        &["container `a`: CrashLoopBackOff; it ended with exit code 1 (Error)"],
    );
    let ended = |message: &str| json!({"name": "a", "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": message}}});
    check(
        json!({"containerStatuses": [ended("starting\nerror: it may not list Secrets\n\n")]}),
        &["container `a`: it ended with exit code 1 (Error): error: it may not list Secrets"],
    );
    let long =
        format!("container `a`: it ended with exit code 1 (Error): {}…", "ä".repeat(LAST_LINE));
    check(json!({"containerStatuses": [ended(&"ä".repeat(LAST_LINE + 1))]}), &[&long]);
    check(
        json!({"containerStatuses": [ended(" \n")]}),
        &["container `a`: it ended with exit code 1 (Error)"],
    );
}
