//! Whole projects that were changed at random, and one or two commands in each: it ends in time with
//! an exit code of ours, and a command that fails or only looks leaves everything as it was.
//!
//! A case is made of its seed alone: `FUZZ_SEED=… FUZZ_CASES=1` repeats it.

mod case;
mod mutate;
mod seeds;
mod structure;

use std::{
    collections::BTreeMap,
    env,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    thread,
    time::{Duration, Instant},
};

use case::{COMMANDS, Case, restore};

use crate::{run, world::World};

fn number(name: &str) -> Option<u64> {
    env::var(name).ok().map(|it| it.parse().expect("it is a number"))
}

#[test]
fn the_seeds_are_a_project_that_every_command_takes() {
    let world = World::around(seeds::files());
    for command in COMMANDS.iter().flat_map(|it| it.1) {
        let outcome = run::run(&world, &run::words(command), false);
        let stale = command.contains("--check") && outcome.code == Some(1);
        assert!(outcome.code == Some(0) || stale, "{command}: {}", outcome.text());
        restore(&world, &world.inside());
    }
    assert!(world.inside().len() < 145, "the project is not small");
}

#[test]
fn a_project_that_was_changed_at_random_is_taken_or_refused_and_left_alone() {
    let first = number("FUZZ_SEED").unwrap_or(1);
    let cases = number("FUZZ_CASES").unwrap_or(u64::MAX);
    let limit = Duration::from_secs(number("FUZZ_SECONDS").unwrap_or(20));
    let (next, done, start) = (AtomicU64::new(0), AtomicU64::new(0), Instant::now());
    let failed: Mutex<BTreeMap<String, String>> = Mutex::new(BTreeMap::new());
    let threads = thread::available_parallelism().map_or(2, usize::from);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let world = World::around(seeds::files());
                let outside = world.outside();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if cases <= number || limit < start.elapsed() && number != 0 {
                        next.fetch_sub(1, Ordering::Relaxed);
                        return;
                    }
                    let case = Case::of(first.wrapping_add(number));
                    let faults = case.faults(&world, &outside, &done);
                    if !faults.is_empty() {
                        note(&failed, &case, &faults);
                    }
                }
            });
        }
    });
    let (count, seconds) = (next.into_inner(), start.elapsed().as_secs_f64());
    let failed = failed.into_inner().expect("nobody panics with it");
    let said = format!("{count} cases in {seconds:.0} s, {:.0} a second", count as f64 / seconds);
    let done = done.into_inner();
    eprintln!(
        "fuzz: {said}, from the seed {first}: {done} commands succeeded, {} kinds of fault",
        failed.len()
    );
    let text: Vec<&str> = failed.values().map(String::as_str).collect();
    assert!(failed.is_empty(), "{said}\n{}", text.join("\n"));
}

/// Notes a fault once, by the command and the beginning of what is wrong with it.
fn note(failed: &Mutex<BTreeMap<String, String>>, case: &Case, faults: &[String]) {
    let first = faults[0].lines().next().unwrap_or("");
    let kind: String = first.chars().filter(|it| !it.is_ascii_digit()).collect();
    let mut failed = failed.lock().expect("nobody panics with it");
    failed.entry(kind).or_insert_with(|| {
        let dir = case.save();
        format!(
            "FUZZ_SEED={} FUZZ_CASES=1, in {}:\n    {}",
            case.seed,
            dir.display(),
            faults.join("\n    ")
        )
    });
}
