//! Waits until workloads run, and explains why they do not.

use anyhow::Context as _;
use kube::api::{ListParams, LogParams};

use super::{
    Cluster, Id, ProgressEvent,
    discovery::Resource,
    object::find_condition,
    path::path_segment,
    rollout::{self, Progress},
    wait::WaitState,
};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Deadline;

impl Cluster {
    /// Waits until the workloads among these objects are rolled out. `way_out` is what can be done if they are not.
    pub fn wait_until_available(
        &self,
        objects: &[Value],
        deadline: Deadline,
        way_out: &str,
        report: &mut dyn FnMut(ProgressEvent),
    ) -> anyhow::Result<()> {
        let mut workloads = Vec::new();
        for id in objects.iter().map(Id::of) {
            if id.is_workload()
                && let Some(resource) = self.find_resource(&id)?
            {
                workloads.push((id, resource));
            }
        }
        let mut last = None;
        let left = self.wait_until(deadline, report, || {
            for (id, resource) in &workloads {
                let object = self.read_workload(id, resource)?;
                match rollout::progress(&object) {
                    Progress::Done => {}
                    Progress::Not(how_far) => {
                        let problems = self.workload_problems(id, &object)?;
                        let why = problems
                            .first()
                            .map_or(String::new(), |problem| format!(": {problem}"));
                        last = Some((id.clone(), object));
                        return Ok(WaitState::Not(format!("{id}: {how_far}{why}")));
                    }
                    Progress::Never(why) => {
                        let explanation = self.rollout_explanation(id, &object)?;
                        return Err(anyhow::format_err!(
                            "{id} did not become available: {why}{explanation}"
                        ))
                        .hint(format!("the applied objects stay: fix the problem and {way_out}"));
                    }
                }
            }
            Ok(WaitState::Done)
        })?;
        let Some(reason) = left else { return Ok(()) };
        let explanation = match &last {
            Some((id, object)) => self.late_explanation(id, object),
            None => String::new(),
        };
        Err(anyhow::format_err!("timed out: {reason}{explanation}")).hint(format!(
            "the applied objects stay: wait longer with `--timeout`, fix the problem and {way_out}"
        ))
    }

    /// Returns why a workload that was read is not rolled out; none if it is.
    pub fn unavailability_reason(object: &Value) -> Option<String> {
        match rollout::progress(object) {
            Progress::Done => None,
            Progress::Not(why) | Progress::Never(why) => Some(why),
        }
    }

    /// Everything that the server knows about why a workload does not run, in one line each.
    pub fn explain_unavailability(&self, id: &Id) -> anyhow::Result<Vec<String>> {
        let Some(object) = self.read(id)? else { return Ok(vec![format!("{id} does not exist")]) };
        match rollout::progress(&object) {
            Progress::Done => Ok(Vec::new()),
            Progress::Not(why) | Progress::Never(why) => {
                let explanation = self.rollout_explanation(id, &object)?;
                let lines = explanation.lines().map(str::trim).filter(|line| !line.is_empty());
                Ok([format!("{id}: {why}")].into_iter().chain(lines.map(str::to_owned)).collect())
            }
        }
    }

    fn read_workload(&self, id: &Id, resource: &Resource) -> anyhow::Result<Value> {
        let found = self.read_object(resource, id)?;
        let found = found.map_err(|refusal| refusal.into_error(&format!("{id} cannot be read")))?;
        found.with_context(|| format!("{id} no longer exists"))
    }

    /// Returns the reasons why a workload's pods are not ready, in one line each.
    fn workload_problems(&self, id: &Id, object: &Value) -> anyhow::Result<Vec<String>> {
        let mut problems = Vec::new();
        if let Some(("True", message)) = find_condition(object, "ReplicaFailure") {
            problems.push(message.to_owned());
        }
        for pod in self.list_pods(id, object)? {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            problems.extend(
                rollout::pod_problems(&pod)
                    .into_iter()
                    .map(|problem| format!("pod {name}: {problem}")),
            );
        }
        Ok(problems)
    }

    /// The pods of a workload; none if the user may not list them.
    fn list_pods(&self, id: &Id, object: &Value) -> anyhow::Result<Vec<Value>> {
        let Some(selector) = rollout::pod_selector(object) else { return Ok(Vec::new()) };
        let requests = Resource::new("v1", "Pod", "pods", true)?.requests_in(&id.namespace)?;
        let request = requests.list(&ListParams::default().labels(&selector))?;
        Ok(self.send(&request)?.body["items"].as_array().cloned().unwrap_or_default())
    }

    /// The explanation after the deadline, as far as the server gives it at once.
    fn late_explanation(&self, id: &Id, object: &Value) -> String {
        self.rollout_explanation(id, object).unwrap_or_default()
    }

    /// Everything that the server knows about why a workload does not run, as lines of an error.
    fn rollout_explanation(&self, id: &Id, object: &Value) -> anyhow::Result<String> {
        let mut lines = Vec::new();
        for kind in ["Available", "Progressing"] {
            if let Some(("False", message)) = find_condition(object, kind) {
                lines.push(format!("condition {kind} is False: {message}"));
            }
        }
        lines.extend(self.workload_problems(id, object)?);
        for pod in self.list_pods(id, object)? {
            lines.extend(self.last_log_lines(&pod)?);
        }
        let requests = Resource::new("v1", "Event", "events", true)?.requests_in(&id.namespace)?;
        let request = requests.list(&ListParams::default().fields("type=Warning"))?;
        lines.extend(newest_warnings(&self.send(&request)?.body, &id.name));
        Ok(lines.iter().map(|line| format!("\n  {line}")).collect())
    }

    /// The last lines that containers wrote before they failed.
    fn last_log_lines(&self, pod: &Value) -> anyhow::Result<Vec<String>> {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let (namespace, name) =
            (text(&pod["metadata"]["namespace"]), text(&pod["metadata"]["name"]));
        let mut lines = Vec::new();
        for status in pod["status"]["containerStatuses"].as_array().into_iter().flatten() {
            if !status["lastState"]["terminated"].is_object() {
                continue;
            }
            // This line is in the pod's status and has been reported.
            let known = rollout::last_line(&status["lastState"]["terminated"]["message"]);
            let container = text(&status["name"]);
            let params = LogParams {
                container: Some(container.clone()),
                previous: true,
                tail_lines: Some(5),
                ..LogParams::default()
            };
            let pods = Resource::new("v1", "Pod", "pods", true)?.requests_in(&namespace)?;
            let response = self.send(&pods.logs(&path_segment(&name)?, &params)?)?;
            if let (200, Value::String(log)) = (response.code, &response.body) {
                lines.extend(
                    log.lines()
                        .filter(|line| known.as_deref() != Some(line.trim()))
                        .map(|line| format!("pod {name}, container `{container}` logged: {line}")),
                );
            }
        }
        Ok(lines)
    }
}

/// The newest warnings about objects whose names start with a workload's name, as those of its pods do.
fn newest_warnings(list: &Value, name: &str) -> Vec<String> {
    let mut events: Vec<&Value> = list["items"].as_array().into_iter().flatten().collect();
    events.retain(|event| {
        event["involvedObject"]["name"].as_str().is_some_and(|object| object.starts_with(name))
    });
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let when = |event: &Value| text(&event["lastTimestamp"]).max(text(&event["eventTime"]));
    events.sort_by_key(|event| when(event));
    let mut lines: Vec<String> = Vec::new();
    for event in events.iter().rev() {
        let about = &event["involvedObject"];
        let line = format!(
            "event of {} {}: {}: {}",
            text(&about["kind"]),
            text(&about["name"]),
            text(&event["reason"]),
            text(&event["message"]).lines().collect::<Vec<_>>().join(" ")
        );
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    lines.truncate(5);
    lines.reverse();
    lines
}

#[test]
fn the_newest_warnings_are_listed_oldest_first() {
    use go_data::yaml::json;
    let event = |name: &str, at: &str, message: &str| {
        json!({
            "involvedObject": {"kind": "Pod", "name": name},
            "lastTimestamp": at, "reason": "Failed", "message": message,
        })
    };
    let list = json!({"items": [
        event("a-1", "2", "second"), event("b-1", "3", "another's"), event("a-1", "1", "first"),
    ]});
    assert_eq!(
        newest_warnings(&list, "a"),
        ["event of Pod a-1: Failed: first", "event of Pod a-1: Failed: second"]
    );
}
