//! One trick, one command and one mode of it: what is run, and what is wrong afterwards.

use std::path::Path;

use crate::{
    commands::{Line, only_looks},
    run::{self, Outcome},
    snapshot::{self, Snapshot},
    tricks::Trick,
    world::{LASTING, PINNED, SECRET, World},
};

/// A trick, a command line and a mode of it.
pub type Case<'a> = (&'a Trick, &'static Line, &'static str);

pub fn title((trick, line, mode): &Case<'_>) -> String {
    let escape = |it: char| {
        let plain = (!it.is_control()).then_some(it);
        plain.into_iter().chain(it.is_control().then(|| it.escape_default()).into_iter().flatten())
    };
    let name: String = trick.name.chars().flat_map(escape).collect();
    format!("{name}: operator-rs {} {mode}", line.words)
}

pub fn faults_of((trick, line, mode): &Case<'_>) -> Vec<String> {
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
    let turn = run::Turn::wait();
    let outcome = run::run(&world, &run::words(&text), trick.nobody);
    drop(turn);
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
    let copied = is.iter().filter(|(path, it)| {
        it.kind == "file"
            && was.get(*path).is_none_or(|was| was.bytes != it.bytes)
            && run::contains(&it.bytes, SECRET.as_bytes())
    });
    res.extend(copied.map(|(path, _)| format!("a secret is in {}", path.display())));
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
