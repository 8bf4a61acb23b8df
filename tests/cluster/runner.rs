//! Runs the trials: several at a time, for each of them mostly waits, and one that fails stops no other.
//! It takes the words that cargo's own runner takes: parts of names, `--exact`, `--list`, `--test-threads`.

use std::{
    io::Write as _,
    pin::Pin,
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{sync::Semaphore, task::JoinSet, time::timeout};

use crate::lab::Lab;

pub type Trial = fn(Arc<Lab>) -> Pin<Box<dyn Future<Output = ()> + Send>>;

/// A trial that takes longer is stuck.
const LIMIT: Duration = Duration::from_secs(900);

/// Which trials to run, and how.
struct Words {
    parts: Vec<String>,
    exact: bool,
    list: bool,
    at_once: usize,
}

impl Words {
    fn read() -> Self {
        let mut res = Self { parts: Vec::new(), exact: false, list: false, at_once: 4 };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            match word.strip_prefix("--test-threads").map(|it| it.trim_start_matches('=')) {
                Some("") => res.at_once = number(words.next().as_deref()),
                Some(it) => res.at_once = number(Some(it)),
                None if word == "--exact" => res.exact = true,
                None if word == "--list" => res.list = true,
                None if word.starts_with('-') => {}
                None => res.parts.push(word),
            }
        }
        res
    }

    fn wants(&self, name: &str, ignored: &[&str]) -> bool {
        let is = |it: &String| if self.exact { it == name } else { name.contains(it.as_str()) };
        if self.parts.is_empty() { !ignored.contains(&name) } else { self.parts.iter().any(is) }
    }
}

fn number(word: Option<&str>) -> usize {
    let number = word.and_then(|it| it.parse().ok()).filter(|it| *it > 0);
    number.expect("`--test-threads` takes a number above 0")
}

/// Runs those that are asked for; without a name, all that are not ignored. `ready` is false where there is nothing to
/// run them on, after it has said so.
pub fn run(
    trials: &[(&'static str, Trial)],
    ignored: &[&str],
    ready: impl FnOnce() -> bool,
) -> ExitCode {
    let words = Words::read();
    let unknown = ignored.iter().find(|name| trials.iter().all(|it| it.0 != **name));
    assert_eq!(unknown, None, "it is ignored, and there is no such trial");
    let asked: Vec<_> = trials.iter().filter(|it| words.wants(it.0, ignored)).copied().collect();
    if words.list {
        asked.iter().for_each(|it| println!("{}: test", it.0));
        return ExitCode::SUCCESS;
    }
    if asked.is_empty() || !ready() {
        println!("\n0 of {} trials run", trials.len());
        return ExitCode::SUCCESS;
    }
    let lab = Arc::new(Lab::new());
    println!("\nrunning {} trials", asked.len());
    for name in ignored.iter().filter(|_| words.parts.is_empty()) {
        println!("test {name} ... ignored, takes minutes: `tests/all --exhaustive` runs it");
    }
    let start = Instant::now();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    let runtime = runtime.expect("threads can be started");
    let failed = runtime.block_on(all(&asked, words.at_once, lab));
    let took = start.elapsed().as_secs();
    println!("\n{} passed, {} failed, in {took} s", asked.len() - failed.len(), failed.len());
    match failed.is_empty() {
        true => ExitCode::SUCCESS,
        false => {
            println!("failed: {}", failed.join(", "));
            ExitCode::from(101)
        }
    }
}

async fn all(trials: &[(&'static str, Trial)], at_once: usize, lab: Arc<Lab>) -> Vec<&'static str> {
    let places = Arc::new(Semaphore::new(at_once));
    let mut running = JoinSet::new();
    for (name, trial) in trials.iter().copied() {
        let (lab, places) = (lab.clone(), places.clone());
        running.spawn(async move {
            let _place = places.acquire().await.expect("it is never closed");
            let start = Instant::now();
            let end = tokio::spawn(async move {
                timeout(LIMIT, trial(lab)).await.expect("it ends in time");
            });
            (name, end.await.is_ok(), start.elapsed())
        });
    }
    let mut failed = Vec::new();
    while let Some(done) = running.join_next().await {
        let (name, passed, took) = done.expect("what panics is in a task of its own");
        let verdict = if passed { "ok" } else { "FAILED" };
        println!("test {name} ... {verdict} ({:.1} s)", took.as_secs_f64());
        let _ = std::io::stdout().flush();
        if !passed {
            failed.push(name);
        }
    }
    failed
}
