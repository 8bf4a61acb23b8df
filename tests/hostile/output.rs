//! Output that nobody takes: a full disk behind stdout or stderr, or a reader that has gone. The
//! command ends with an exit code of its own, and what was lost is no success.

use crate::{commands::LINES, run, world::World};

/// Where the output goes, and whether what is printed is lost.
const PLACES: &[(&str, bool)] = &[
    (">/dev/full", true),
    ("2>/dev/full", false),
    (">/dev/full 2>/dev/full", true),
    (">&-", false),
    ("2>&-", false),
    (">&- 2>&-", false),
    ("<&-", false),
    ("| :", false),
];

#[test]
fn a_command_whose_output_is_lost_ends_with_its_own_exit_code() {
    let mut faults = Vec::new();
    for (number, line) in LINES.iter().enumerate() {
        for (place, (redirection, loses)) in PLACES.iter().enumerate() {
            // The modes take turns, so that each meets each place.
            let mode = ["", "--check", "--diff", "--dry-run"][(number + place) % 4];
            let text = match line.words.split_once(" -- ") {
                Some((words, rest)) => format!("{words} {mode} -- {rest}"),
                None => format!("{} {mode}", line.words),
            };
            let words = run::words(&text);
            let whole = run::run(&World::new(line.base), &words, false);
            let world = World::new(line.base);
            let outcome = run::run_to(&world, &words, false, redirection);
            let title = format!("operator-rs {text} {redirection}");
            faults.extend(outcome.faults().into_iter().map(|it| format!("{title}: {it}")));
            let lost = *loses && !whole.stdout.is_empty() && whole.code == Some(0);
            if lost && outcome.code != Some(1) {
                faults.push(format!("{title}: it is lost, and {}", outcome.text()));
            }
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
