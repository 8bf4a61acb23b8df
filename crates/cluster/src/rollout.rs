//! The progress of a rollout, and the reasons why its pods are not ready.

use super::object::find_condition;
use go_data::yaml::Value;

/// The longest part of a container's last line that an error repeats, in characters.
const LAST_LINE: usize = 400;

/// The progress of a rollout.
#[derive(Debug, PartialEq, Eq)]
pub enum Progress {
    Done,
    /// Not done yet: how far it is.
    Not(String),
    /// It will not be done without a change: why.
    Never(String),
}

/// The progress of a Deployment, StatefulSet or DaemonSet.
pub fn progress(object: &Value) -> Progress {
    let (spec, status) = (&object["spec"], &object["status"]);
    let number = |value: &Value| value.as_i64().unwrap_or(0);
    if number(&status["observedGeneration"]) < number(&object["metadata"]["generation"]) {
        return Progress::Not("no controller has observed it yet".to_owned());
    }
    // Other reasons may resolve themselves, as when a quota is raised.
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    if let Some(late) =
        conditions.find(|condition| condition["reason"] == "ProgressDeadlineExceeded")
    {
        let message = late["message"].as_str().unwrap_or("its progress deadline was exceeded");
        return Progress::Never(message.to_owned());
    }
    let (desired, updated, all, available) = if object["kind"] == "DaemonSet" {
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
    if updated < desired {
        Progress::Not(format!("{updated} of {desired} replicas are up to date"))
    } else if updated < all {
        let old = all - updated;
        let what = if old == 1 { "old replica is" } else { "old replicas are" };
        Progress::Not(format!("{old} {what} still running"))
    } else if available < desired {
        Progress::Not(format!("{available} of {desired} replicas are available"))
    } else {
        Progress::Done
    }
}

/// Returns the reasons why a pod is not ready, in one line each.
pub fn pod_problems(pod: &Value) -> Vec<String> {
    let mut problems = Vec::new();
    if let Some(("False", message)) = find_condition(pod, "PodScheduled") {
        problems.push(format!("it is not scheduled: {message}"));
    }
    for list in ["initContainerStatuses", "containerStatuses"] {
        for container in pod["status"][list].as_array().into_iter().flatten() {
            let name = container["name"].as_str().unwrap_or_default();
            let waiting = &container["state"]["waiting"];
            let ended = [&container["state"]["terminated"], &container["lastState"]["terminated"]];
            let ended = ended
                .into_iter()
                .find(|state| state["exitCode"].as_i64().is_some_and(|code| code != 0));
            let mut parts = Vec::new();
            match waiting["reason"].as_str() {
                // These are passing states.
                None | Some("ContainerCreating" | "PodInitializing") => {}
                Some(reason) => parts.push(with_message(reason, &waiting["message"])),
            }
            if let Some(ended) = ended {
                let code = &ended["exitCode"];
                let reason = ended["reason"].as_str().unwrap_or("Error");
                let how = format!("it exited with code {code} ({reason})");
                parts.push(match last_line(&ended["message"]) {
                    None => how,
                    Some(line) => format!("{how}: {line}"),
                });
            }
            if !parts.is_empty() {
                problems.push(format!("container `{name}`: {}", parts.join("; ")));
            }
        }
    }
    problems
}

/// The last line of a termination message: why the container ended. With `FallbackToLogsOnError` the message is the end
/// of its log.
pub fn last_line(message: &Value) -> Option<String> {
    let line = message.as_str()?.lines().map(str::trim).rfind(|line| !line.is_empty())?;
    let mut letters = line.chars();
    let start: String = letters.by_ref().take(LAST_LINE).collect();
    Some(if letters.next().is_some() { start + "…" } else { start })
}

/// A reason, with its message in one line if there is one.
fn with_message(reason: &str, message: &Value) -> String {
    match message.as_str().map(str::trim) {
        None | Some("") => reason.to_owned(),
        Some(text) => format!("{reason}: {}", text.lines().collect::<Vec<_>>().join(" ")),
    }
}

/// The label selector of a workload's pods.
pub fn pod_selector(object: &Value) -> Option<String> {
    let labels = object["spec"]["selector"]["matchLabels"].as_object()?;
    let pairs =
        labels.iter().map(|(key, value)| format!("{key}={}", value.as_str().unwrap_or_default()));
    Some(pairs.collect::<Vec<_>>().join(","))
}

#[test]
fn a_deployment_is_done_when_all_its_replicas_are_new_and_available() {
    use go_data::yaml::json;
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
    check(json!(1), json!({"observedGeneration": 1}), not("no controller has observed it yet"));
    check(json!(null), json!({"observedGeneration": 2}), not("0 of 1 replicas are up to date"));
    let status = |all: i32, updated: i32, available: i32| json!({"observedGeneration": 2, "replicas": all, "updatedReplicas": updated, "availableReplicas": available});
    check(json!(2), status(3, 2, 2), not("1 old replica is still running"));
    check(json!(2), status(2, 2, 1), not("1 of 2 replicas are available"));
    check(json!(2), status(2, 2, 2), Progress::Done);
    check(json!(0), status(0, 0, 0), Progress::Done);
    let late = json!({"observedGeneration": 2, "conditions": [
        {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "it has timed out"},
    ]});
    check(json!(1), late, Progress::Never("it has timed out".to_owned()));
}

#[test]
fn what_keeps_a_pod_from_being_ready_is_named() {
    use go_data::yaml::json;
    let check = |status: Value, expected: &[&str]| {
        assert_eq!(pod_problems(&json!({"status": status})), expected);
    };
    check(json!({}), &[]);
    check(
        json!({"conditions": [{"type": "PodScheduled", "status": "False", "message": "0/1 nodes"}]}),
        &["it is not scheduled: 0/1 nodes"],
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
        &["container `a`: CrashLoopBackOff; it exited with code 1 (Error)"],
    );
    let ended = |message: &str| json!({"name": "a", "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": message}}});
    check(
        json!({"containerStatuses": [ended("starting\nerror: it may not list Secrets\n\n")]}),
        &["container `a`: it exited with code 1 (Error): error: it may not list Secrets"],
    );
    let long = format!("container `a`: it exited with code 1 (Error): {}…", "ä".repeat(LAST_LINE));
    check(json!({"containerStatuses": [ended(&"ä".repeat(LAST_LINE + 1))]}), &[&long]);
    check(
        json!({"containerStatuses": [ended(" \n")]}),
        &["container `a`: it exited with code 1 (Error)"],
    );
}
