//! A project that somebody else has prepared: no command in any mode touches what is outside of it,
//! hangs or panics; a mode that only looks changes nothing; a command that fails has changed nothing.

use std::{
    fs,
    path::Path,
    sync::{
        Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
};

use crate::{
    commands::{LINES, Line, MODES, only_looks},
    random::Random,
    run::{self, Outcome},
    snapshot::{self, Snapshot},
    tricks::{self, Trick},
    world::{LASTING, PINNED, World},
};

/// How many cases of each family are run where `HOSTILE` is neither `all` nor another number.
const SAMPLE: usize = 130;
const SEED: u64 = 20_260_729;

#[test]
fn links_in_place_of_files_lead_no_command_out_of_the_project() {
    judge("links of files", tricks::links::of_files());
}

#[test]
fn links_in_place_of_folders_lead_no_command_out_of_the_project() {
    judge("links of folders", tricks::links::of_folders());
}

#[test]
fn pipes_sockets_and_unreadable_files_stop_no_command() {
    judge("special files", tricks::files::all());
}

#[test]
fn a_journal_that_somebody_else_wrote_is_not_obeyed() {
    judge("journals", tricks::journals::all());
}

#[test]
fn a_project_file_of_strange_values_is_refused_or_read() {
    judge("PROJECT", tricks::project::all());
}

#[test]
fn manifests_and_configuration_of_cargo_lead_no_command_out_of_the_project() {
    judge("cargo", tricks::cargo::all());
}

#[test]
fn kustomizations_lead_no_command_out_of_the_project() {
    judge("kustomize", tricks::kustomize::all());
}

#[test]
fn names_that_are_hard_to_print_are_escaped() {
    judge("names", tricks::names::all());
}

#[test]
fn source_and_bundles_of_strange_text_are_refused_or_read() {
    judge("source", tricks::source::all());
}

#[test]
fn two_tricks_at_once_are_no_worse_than_one() {
    let mut random = Random::new(SEED);
    let families = || -> [Vec<Trick>; 5] {
        [
            tricks::links::of_files(),
            tricks::links::of_folders(),
            tricks::files::all(),
            tricks::journals::all(),
            tricks::project::all(),
        ]
    };
    let mut pairs = Vec::new();
    for _ in 0..20 {
        let mut families = families();
        let first = random.below(families.len());
        let second = (first + 1 + random.below(families.len() - 1)) % families.len();
        for _ in 0..10 {
            let mut draw = |of: usize| {
                let family = &mut families[of];
                let at = random.below(family.len());
                family.swap_remove(at)
            };
            let (first, second) = (draw(first), draw(second));
            pairs.push(first.and(second));
        }
    }
    judge("pairs", pairs);
}

/// A trick, a command line and a mode of it.
type Case<'a> = (&'a Trick, &'static Line, &'static str);

/// Runs the cases of a family: all of them, or a sample that is the same in every run.
fn judge(family: &str, tricks: Vec<Trick>) {
    let wanted = std::env::var("HOSTILE").unwrap_or_default();
    let only = std::env::var("HOSTILE_ONLY").unwrap_or_default();
    let mut cases: Vec<Case<'_>> = Vec::new();
    for trick in &tricks {
        for line in LINES.iter().filter(|it| it.touches(&trick.place)) {
            cases.extend(MODES.iter().map(|mode| (trick, line, *mode)));
        }
    }
    cases.retain(|it| title(it).contains(&only));
    let total = cases.len();
    if wanted != "all" && only.is_empty() {
        cases = sample(family, &cases, wanted.parse().unwrap_or(SAMPLE));
    }
    let (next, faults) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let found = faults_of(case);
                    if !found.is_empty() {
                        let line = format!("{}\n    {}", title(case), found.join("\n    "));
                        faults.lock().expect("nobody panics with it").push(line);
                    }
                }
            });
        }
    });
    let mut faults = faults.into_inner().expect("nobody panics with it");
    faults.sort();
    eprintln!("{family}: {} of {total} cases, {} failed", cases.len(), faults.len());
    let name = format!("hostile-{}.txt", family.replace(' ', "-"));
    let report = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    fs::write(&report, faults.join("\n")).expect("target/tmp can be written");
    assert!(
        faults.is_empty(),
        "{} of {} cases failed; the first ones of {}:\n{}",
        faults.len(),
        cases.len(),
        report.display(),
        faults.iter().take(10).cloned().collect::<Vec<_>>().join("\n")
    );
}

/// About as many cases as are wanted, from the whole of the list.
fn sample<'a>(family: &str, all: &[Case<'a>], wanted: usize) -> Vec<Case<'a>> {
    let mut random = Random::of(SEED, family);
    let stride = (all.len() / wanted.max(1)).max(1);
    let mut at = random.below(stride);
    let mut res = Vec::new();
    while let Some(case) = all.get(at) {
        res.push(*case);
        at += 1 + random.below(2 * stride - 1);
    }
    assert!(!res.is_empty(), "there is nothing to run in {family}");
    res
}

fn title((trick, line, mode): &Case<'_>) -> String {
    format!("{}: operator-rs {} {mode}", trick.name.escape_debug(), line.words)
}

fn faults_of((trick, line, mode): &Case<'_>) -> Vec<String> {
    let world = World::new(line.base);
    trick.plant(&world);
    if trick.nobody && run::is_root() {
        world.give_to(run::NOBODY);
    }
    let (outside, inside) = (world.outside(), world.inside());
    // A mode is an option of the program, not an argument of what it runs.
    let text = match line.words.split_once(" -- ") {
        Some((words, rest)) => format!("{words} {mode} -- {rest}"),
        None => format!("{} {mode}", line.words),
    };
    let outcome = run::run(&world, &run::words(&text), trick.nobody);
    let mut res = outcome.faults();
    let changed = snapshot::differences(&outside, &world.outside());
    res.extend(changed.into_iter().map(|it| format!("outside: {it}")));
    let changed = changes_inside(trick, line, mode, &outcome, &inside, &world.inside());
    res.extend(changed);
    if !res.is_empty() {
        res.push(outcome.text());
    }
    res
}

fn changes_inside(
    trick: &Trick,
    line: &Line,
    mode: &str,
    outcome: &Outcome,
    was: &Snapshot,
    is: &Snapshot,
) -> Vec<String> {
    let pinned = |of: &Snapshot| -> Snapshot {
        let kept = of.iter().filter(|(path, _)| PINNED.iter().any(|it| path.starts_with(it)));
        kept.map(|(path, entry)| (path.clone(), entry.clone())).collect()
    };
    let mut res: Vec<String> = snapshot::differences(&pinned(was), &pinned(is))
        .into_iter()
        .map(|it| format!("written by hand: {it}"))
        .collect();
    let lost = LASTING.iter().filter(|it| was.contains_key(Path::new(it)));
    let lost = lost.filter(|it| !is.contains_key(Path::new(it)));
    res.extend(lost.map(|it| format!("{it} is gone")));
    // A command that writes no file may complete an interrupted run, where no mode forbids it.
    let looks = only_looks(mode) || !line.writes.files() && !trick.recovers;
    let same = if looks && !line.writes.target() {
        *was == *is
    } else if looks || outcome.failed() && !trick.recovers {
        // Times may change where files were made and taken back.
        let plain = |of: &Snapshot| -> Snapshot {
            let mut res = of.clone();
            res.retain(|path, _| !line.writes.target() || !path.starts_with("target"));
            res.values_mut().for_each(|it| it.stamps = [0; 6]);
            res
        };
        let (was, is) = (plain(was), plain(is));
        if was != is {
            res.extend(inside(&was, &is, looks));
        }
        return res;
    } else {
        true
    };
    if !same {
        res.extend(inside(was, is, looks));
    }
    res
}

fn inside(was: &Snapshot, is: &Snapshot, looks: bool) -> Vec<String> {
    let why = if looks { "a command that only looks" } else { "a command that failed" };
    let changed = snapshot::differences(was, is);
    changed.into_iter().map(|it| format!("{why} changed the project: {it}")).collect()
}
