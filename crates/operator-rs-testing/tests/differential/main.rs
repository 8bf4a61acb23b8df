//! Sends the same random requests to the server in memory and to a real one, and compares the answers and the events.
//! `SEED=7 CASES=100` runs others.
//!
//! Not compared, as the server in memory does not do it or does it otherwise: validation against schemas, defaults of
//! built-in kinds, subresources other than `status` (501), empty lists in the metadata of a patch, namespaces that do not
//! exist (all do), empty maps in the metadata of custom resources (the README says why), the garbage collector (no
//! controllers run beside the real server), the sentences of errors, and further causes of a refusal.

mod kinds;
mod random;
mod selectors;
mod server;
mod side;
mod webhooks;

use kinds::TARGETS;
use kube::Client;
use operator_rs_testing::Cluster;
use random::{JSON, Random, Step, collection, step};
use serde_json::{Value, json};
use side::{Session, Side, differences};
use std::{
    cell::Cell,
    env,
    time::{Duration, Instant},
};

/// How many requests a sequence has.
const STEPS: usize = 40;

struct Lab {
    memory: Side,
    real: Side,
    /// The reviews of both, if they have webhooks.
    logs: Option<[webhooks::Log; 2]>,
    namespaces: Cell<usize>,
}

impl Lab {
    fn new(client: impl Future<Output = Client>, has_webhooks: bool) -> Self {
        let runtime = || tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let crds: Vec<Value> = serde_json::from_str(include_str!("crds.json")).unwrap();
        let theirs = runtime();
        let real = Side { client: theirs.block_on(client), runtime: theirs };
        for crd in &crds {
            let name = crd["metadata"]["name"].as_str().unwrap();
            let send = |method: &str, path: &str, body: &Value| {
                let request = http::Request::builder().method(method).uri(path).header("content-type", JSON);
                let request = request.body(body.to_string().into_bytes()).unwrap();
                real.runtime.block_on(real.client.request::<Value>(request)).unwrap()
            };
            let path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
            send("POST", path, crd);
            let until = Instant::now() + Duration::from_secs(20);
            let is_established =
                |it: Value| it["status"]["conditions"].to_string().contains("the initial names have been accepted");
            while !is_established(send("GET", &format!("{path}/{name}"), &Value::Null)) {
                assert!(Instant::now() < until, "{name} is not established");
            }
        }
        std::thread::sleep(Duration::from_secs(2));
        // Garbage is collected after a time that never passes: the real server has no collector.
        let paused = tokio::runtime::Builder::new_current_thread().enable_all().start_paused(true).build().unwrap();
        let (mut cluster, mut logs) = (Cluster::default().with_crds(&crds), None);
        if has_webhooks {
            let (with, log) = webhooks::in_memory(cluster);
            (cluster, logs) = (with, Some([log, webhooks::really(&real)]));
        }
        let client = paused.block_on(async { cluster.client() });
        Self { memory: Side { runtime: paused, client }, real, logs, namespaces: Cell::new(0) }
    }

    /// The first difference, and the step that it is after.
    fn play(&self, steps: &[Step]) -> Option<(usize, Vec<String>)> {
        self.play_slowly(steps, Duration::ZERO)
    }

    /// `play`, with a pause before each step.
    fn play_slowly(&self, steps: &[Step], pause: Duration) -> Option<(usize, Vec<String>)> {
        self.namespaces.set(self.namespaces.get() + 1);
        let namespace = format!("n{}", self.namespaces.get());
        let mut memory = Session::start(&self.memory, &namespace);
        let mut real = Session::start(&self.real, &namespace);
        for target in TARGETS.iter().take(2) {
            for query in ["", "labelSelector=l%3Dx"] {
                memory.watch(&collection(target), query);
                real.watch(&collection(target), query);
            }
        }
        self.logs.iter().flatten().for_each(|it| it.lock().unwrap().clear());
        for (at, step) in steps.iter().enumerate() {
            std::thread::sleep(pause);
            let (ours, theirs) = (memory.ask(step), real.ask(step));
            let mut found = compare(&ours, &theirs);
            if let Some([ours, theirs]) = &self.logs {
                let [ours, theirs] = [ours, theirs].map(|it| std::mem::take(&mut *it.lock().unwrap()));
                let theirs = webhooks::without_repeated(theirs, &ours);
                let (ours, theirs) = (memory.rewrite(json!(ours)), real.rewrite(json!(theirs)));
                differences("reviews", &ours, &theirs, &mut found);
            }
            if !found.is_empty() {
                return Some((at, found));
            }
        }
        for target in TARGETS.iter().take(2) {
            let body = json!({ "apiVersion": target.api_version, "kind": target.kind,
                "metadata": { "name": "end", "labels": { "l": "x" } } });
            let end = Step { method: "POST", path: collection(target), content: JSON, body };
            memory.ask(&end);
            real.ask(&end);
        }
        let mut found = Vec::new();
        for (ours, theirs) in memory.events("end").iter().zip(&real.events("end")) {
            differences(&format!("events of {}", ours.0), &json!(ours.1), &json!(theirs.1), &mut found);
        }
        (!found.is_empty()).then_some((steps.len(), found))
    }

    /// A shorter sequence with a difference of the same kind.
    fn shorten(&self, mut steps: Vec<Step>, found: (usize, Vec<String>)) -> (Vec<Step>, Vec<String>) {
        steps.truncate(found.0 + 1);
        let kind = |it: &[String]| it[0].split(':').next().unwrap_or_default().to_owned();
        let (mut found, mut at) = (found.1, steps.len());
        while 0 < at {
            at -= 1;
            let mut fewer = steps.clone();
            fewer.remove(at);
            if let Some((last, it)) = self.play(&fewer)
                && kind(&it) == kind(&found)
            {
                fewer.truncate(last + 1);
                at = at.min(fewer.len());
                (steps, found) = (fewer, it);
            }
        }
        (steps, found)
    }
}

fn compare(ours: &side::Answer, theirs: &side::Answer) -> Vec<String> {
    let mut out = Vec::new();
    if ours.0 != theirs.0 {
        return vec![format!("code: in memory {} {}, really {} {}", ours.0, ours.1, theirs.0, theirs.1)];
    }
    let strip = |it: &Value| {
        let mut it = it.clone();
        if let Some(causes) = it.pointer_mut("/details/causes").and_then(Value::as_array_mut) {
            // In memory, a refusal has one cause. It must be one of those that the real server gives.
            causes.retain(|it| ours.1["details"]["causes"].as_array().is_some_and(|ours| ours.contains(it)));
        }
        if let Some(object) = it.as_object_mut()
            && env::var_os("MESSAGES").is_none()
            && object.contains_key("reason")
        {
            object.remove("message");
        }
        it
    };
    differences("", &strip(&ours.1), &strip(&theirs.1), &mut out);
    out
}

#[test]
fn the_server_answers_as_a_real_one() {
    let Some(server) = server::Server::start() else { return };
    let lab = Lab::new(server.client(), false);
    let problems = selectors::differences(&lab);
    check(&lab, problems);
}

#[test]
fn the_server_calls_webhooks_as_a_real_one() {
    let Some(server) = server::Server::start() else { return };
    let lab = Lab::new(server.client(), true);
    let problems = webhooks::differences_by_time(&lab);
    check(&lab, problems);
}

fn check(lab: &Lab, mut problems: Vec<String>) {
    let number = |name: &str, default| env::var(name).map_or(default, |it| it.parse().expect("it is a number"));
    let (seed, cases) = (number("SEED", 1), number("CASES", 30));
    let mut seen = std::collections::BTreeSet::new();
    for seed in seed..seed + cases {
        let mut random = Random::new(seed);
        let steps: Vec<Step> = (0..STEPS).map(|_| step(&mut random)).collect();
        // The two servers are asked one after the other: where a second ends in between, times differ, but not twice.
        let Some(found) = lab.play(&steps).and_then(|_| lab.play(&steps)) else { continue };
        let (steps, found) = lab.shorten(steps, found);
        let last = steps.last().map(|it| (it.method, it.content, found[0].clone()));
        let key = format!("{last:?}");
        if !seen.insert(key) {
            continue;
        }
        let steps: Vec<_> =
            steps.iter().map(|it| format!("{} {} {} {}", it.method, it.path, it.content, it.body)).collect();
        problems.push(format!("SEED={seed}\n{}\n  {}\n", steps.join("\n"), found.join("\n  ")));
    }
    assert!(problems.is_empty(), "{} differences:\n\n{}", problems.len(), problems.join("\n"));
}
