//! Waits until workloads run, and explains why they do not.

use anyhow::Context as _;
use kube::api::{ListParams, LogParams};

use super::{
    Cluster, Event, Id,
    discovery::Resource,
    object::condition,
    path::segment,
    rollout::{self, Progress},
    wait::State,
};
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::Deadline;

impl Cluster {
    /// Waits until the workloads among these objects are rolled out. `way_out` is what can be done if they are not.
    pub fn available(
        &self,
        objects: &[Value],
        deadline: Deadline,
        way_out: &str,
        report: &mut dyn FnMut(Event),
    ) -> anyhow::Result<()> {
        let mut workloads = Vec::new();
        for id in objects.iter().map(Id::of) {
            if id.is_workload()
                && let Some(resource) = self.resource(&id)?
            {
                workloads.push((id, resource));
            }
        }
        let mut last = None;
        let left = self.until(deadline, report, || {
            for (id, resource) in &workloads {
                let object = self.workload(id, resource)?;
                match rollout::progress(&object) {
                    Progress::Done => {}
                    Progress::Not(how_far) => {
                        let troubles = self.troubles(id, &object)?;
                        let why = troubles.first().map_or(String::new(), |it| format!(": {it}"));
                        last = Some((id.clone(), object));
                        return Ok(State::Not(format!("{id}: {how_far}{why}")));
                    }
                    Progress::Never(why) => {
                        let explanation = self.explanation(id, &object)?;
                        return Err(anyhow::format_err!(
                            "{id} did not become available: {why}{explanation}"
                        ))
                        .hint(format!("the applied objects stay: fix the problem and {way_out}"));
                    }
                }
            }
            Ok(State::Done)
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

    /// Why a workload that was read is not rolled out; none if it is.
    pub fn lag(object: &Value) -> Option<String> {
        match rollout::progress(object) {
            Progress::Done => None,
            Progress::Not(why) | Progress::Never(why) => Some(why),
        }
    }

    /// Everything that the server knows about why a workload does not run, in one line each.
    pub fn why_not(&self, id: &Id) -> anyhow::Result<Vec<String>> {
        let Some(object) = self.read(id)? else { return Ok(vec![format!("{id} does not exist")]) };
        match rollout::progress(&object) {
            Progress::Done => Ok(Vec::new()),
            Progress::Not(why) | Progress::Never(why) => {
                let explanation = self.explanation(id, &object)?;
                let lines = explanation.lines().map(str::trim).filter(|it| !it.is_empty());
                Ok([format!("{id}: {why}")].into_iter().chain(lines.map(str::to_owned)).collect())
            }
        }
    }

    fn workload(&self, id: &Id, resource: &Resource) -> anyhow::Result<Value> {
        let found = self.one(resource, id)?;
        let found = found.map_err(|it| it.into_error(&format!("{id} cannot be read")))?;
        found.with_context(|| format!("{id} no longer exists"))
    }

    /// What keeps a workload's pods from being ready, in one line each.
    fn troubles(&self, id: &Id, object: &Value) -> anyhow::Result<Vec<String>> {
        let mut res = Vec::new();
        if let Some(("True", message)) = condition(object, "ReplicaFailure") {
            res.push(message.to_owned());
        }
        for pod in self.pods(id, object)? {
            let name = pod["metadata"]["name"].as_str().unwrap_or_default();
            res.extend(rollout::troubles(&pod).into_iter().map(|it| format!("pod {name}: {it}")));
        }
        Ok(res)
    }

    /// The pods of a workload; none if the user may not list them.
    fn pods(&self, id: &Id, object: &Value) -> anyhow::Result<Vec<Value>> {
        let Some(selector) = rollout::selector(object) else { return Ok(Vec::new()) };
        let requests = Resource::new("v1", "Pod", "pods", true)?.all(&id.namespace)?;
        let request = requests.list(&ListParams::default().labels(&selector))?;
        Ok(self.send(&request)?.body["items"].as_array().cloned().unwrap_or_default())
    }

    /// The explanation after the deadline, as far as the server gives it at once.
    fn late_explanation(&self, id: &Id, object: &Value) -> String {
        self.explanation(id, object).unwrap_or_default()
    }

    /// Everything that the server knows about why a workload does not run, as lines of an error.
    fn explanation(&self, id: &Id, object: &Value) -> anyhow::Result<String> {
        let mut lines = Vec::new();
        for kind in ["Available", "Progressing"] {
            if let Some(("False", message)) = condition(object, kind) {
                lines.push(format!("condition {kind} is False: {message}"));
            }
        }
        lines.extend(self.troubles(id, object)?);
        for pod in self.pods(id, object)? {
            lines.extend(self.last_log_lines(&pod)?);
        }
        let requests = Resource::new("v1", "Event", "events", true)?.all(&id.namespace)?;
        let request = requests.list(&ListParams::default().fields("type=Warning"))?;
        lines.extend(warnings(&self.send(&request)?.body, &id.name));
        Ok(lines.iter().map(|it| format!("\n  {it}")).collect())
    }

    /// The last lines that containers wrote before they failed.
    fn last_log_lines(&self, pod: &Value) -> anyhow::Result<Vec<String>> {
        let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
        let (namespace, name) =
            (text(&pod["metadata"]["namespace"]), text(&pod["metadata"]["name"]));
        let mut res = Vec::new();
        for it in pod["status"]["containerStatuses"].as_array().into_iter().flatten() {
            if !it["lastState"]["terminated"].is_object() {
                continue;
            }
            // That line is in the pod's status and has been reported.
            let known = rollout::last_line(&it["lastState"]["terminated"]["message"]);
            let container = text(&it["name"]);
            let params = LogParams {
                container: Some(container.clone()),
                previous: true,
                tail_lines: Some(5),
                ..LogParams::default()
            };
            let pods = Resource::new("v1", "Pod", "pods", true)?.all(&namespace)?;
            let answer = self.send(&pods.logs(&segment(&name)?, &params)?)?;
            if let (200, Value::String(log)) = (answer.code, &answer.body) {
                res.extend(
                    log.lines()
                        .filter(|it| known.as_deref() != Some(it.trim()))
                        .map(|it| format!("pod {name}, container `{container}` logged: {it}")),
                );
            }
        }
        Ok(res)
    }
}

/// The newest warnings about objects whose names start with a workload's name, as those of its pods do.
fn warnings(list: &Value, name: &str) -> Vec<String> {
    let mut events: Vec<&Value> = list["items"].as_array().into_iter().flatten().collect();
    events
        .retain(|it| it["involvedObject"]["name"].as_str().is_some_and(|it| it.starts_with(name)));
    let text = |it: &Value| it.as_str().unwrap_or_default().to_owned();
    let when = |it: &Value| text(&it["lastTimestamp"]).max(text(&it["eventTime"]));
    events.sort_by_key(|it| when(it));
    let mut res: Vec<String> = Vec::new();
    for it in events.iter().rev() {
        let about = &it["involvedObject"];
        let line = format!(
            "event of {} {}: {}: {}",
            text(&about["kind"]),
            text(&about["name"]),
            text(&it["reason"]),
            text(&it["message"]).lines().collect::<Vec<_>>().join(" ")
        );
        if !res.contains(&line) {
            res.push(line);
        }
    }
    res.truncate(5);
    res.reverse();
    res
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
        warnings(&list, "a"),
        ["event of Pod a-1: Failed: first", "event of Pod a-1: Failed: second"]
    );
}
