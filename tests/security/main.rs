//! SECURITY.md says what each command runs, reaches and writes. Here each is run where that is recorded, and the rows
//! are compared with what it did: a command without a row, and a claim that nothing shows, are faults, too.
//!
//! Only stubs are on `PATH`, and the proxy, the cluster and the home are ours. That no program is started, and no
//! connection opened, in another way is what `tests/layers.rs` checks.

#![cfg(unix)]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stderr, reason = "a test shows its runs where it is asked to")]

#[path = "../support/mod.rs"]
mod support;

mod recorder;
mod runs;
mod table;

use std::collections::{BTreeMap, BTreeSet};

use table::{Claim, Row};

/// The commands that do something, in every level of the help.
fn commands() -> BTreeSet<String> {
    let mut res = BTreeSet::new();
    let mut paths = vec![String::new()];
    while let Some(path) = paths.pop() {
        let help = support::done(support::home(), &format!("{path} --help"));
        let usage = help.lines().find_map(|it| it.strip_prefix("Usage: ")).unwrap_or_default();
        if !usage.contains("<COMMAND>") && !path.is_empty() {
            res.insert(path.clone());
        }
        let names = support::commands_in(&help).into_iter();
        paths.extend(names.map(|it| format!("{path} {it}").trim().to_owned()));
    }
    res
}

#[test]
fn every_command_has_a_row_and_does_what_it_says() {
    let rows = table::rows();
    let mut faults = Vec::new();
    for command in commands() {
        if !rows.iter().any(|it| it.command == command && it.flags.is_empty()) {
            faults.push(format!("`{command}` has no row in SECURITY.md"));
        }
    }
    let world = recorder::World::new();
    let mut observed: BTreeMap<&Row, (Claim, bool)> = BTreeMap::new();
    for words in runs::RUNS {
        let Some(row) = table::row_of(&rows, words) else {
            faults.push(format!("no row is about `{words}`"));
            continue;
        };
        let (did, is_done) = world.run(words);
        let all = observed.entry(row).or_default();
        all.0.add(did);
        all.1 |= is_done;
    }
    for row in &rows {
        let Some((did, is_done)) = observed.get(row) else {
            faults.push(format!(
                "no command line in tests/security/runs.rs is about the row of `{row}`"
            ));
            continue;
        };
        // What fails has perhaps not come to where it writes.
        let Claim { programs, network, writes } = &row.claim;
        let writes_it = if *is_done { did.writes == *writes } else { did.writes.is_subset(writes) };
        if did.programs != *programs || did.network != *network || !writes_it {
            faults.push(format!("`{row}`\n  says {:?}\n  does {did:?}", row.claim));
        }
        if row.runs_code[0] != row.runs_code[1] {
            faults.push(format!(
                "`{row}`: a clone's code is run by cargo and tests, and by nothing else"
            ));
        }
    }
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
}
