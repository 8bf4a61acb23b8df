//! Every command with every flag that says what becomes of its changes: the flag is in the command's
//! help and does what it says, or it is refused by name. No flag is accepted and ignored.

mod options;
mod table;

use std::{
    collections::BTreeSet,
    fs,
    process::{Command, Stdio},
};

use table::{Acts, COMMANDS, FLAGS, Known, found};

use crate::{
    run::{self, Outcome},
    support,
    template::Files,
    world::{self, Base, World},
};

/// Collects what is wrong, so that one run tells of every command and flag.
#[derive(Default)]
struct Faults(Vec<String>);

impl Faults {
    fn unless(&mut self, right: bool, line: &str, what: &str, outcome: &Outcome) {
        if !right {
            self.0.push(format!("operator-rs {line}: {what}: {}", outcome.text()));
        }
    }
}

impl Drop for Faults {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert!(self.0.is_empty(), "{} faults:\n{}", self.0.len(), self.0.join("\n"));
        }
    }
}

fn tree(world: &World) -> Files {
    support::tree(&world.project)
}

#[test]
fn every_command_of_the_help_is_known_here() {
    let known: BTreeSet<String> = COMMANDS.iter().map(|it| it.path.to_owned()).collect();
    let found: BTreeSet<String> = found("").into_iter().collect();
    assert_eq!(found, known, "add the command to the table, so that its flags are judged");
}

#[test]
fn a_flag_is_listed_where_it_can_be_honoured_and_only_there() {
    let mut wrong = Vec::new();
    for command in Known::acting() {
        for flag in FLAGS {
            let can = match command.acts {
                // PROJECT, the only file of `adopt`, is never replaced.
                Acts::OnFiles(_) if command.path == "adopt" && *flag == "--force" => false,
                Acts::OnFiles(_) => *flag != "--dry-run=server",
                Acts::OnCluster => flag.starts_with("--dry-run"),
                Acts::OnNothing | Acts::Never => false,
            };
            if command.lists(flag) != can {
                let what = if can { "does not list" } else { "lists" };
                wrong.push(format!("operator-rs {} --help {what} {flag}", command.path));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_flag_that_is_not_listed_is_refused_by_name_and_nothing_is_done() {
    let mut faults = Faults::default();
    for command in Known::acting() {
        for flag in FLAGS.iter().filter(|it| !command.lists(it)) {
            let first = format!("{flag} {}", command.line(""));
            for line in [command.line(flag), first] {
                let world = World::new(command.base());
                let (inside, outside) = (world.inside(), world.outside());
                let outcome = run::run(&world, &run::words(&line), false);
                faults.unless(outcome.code == Some(2), &line, "is not refused", &outcome);
                let name = flag.split('=').next().unwrap_or(flag);
                let named = run::contains(&outcome.stderr, name.as_bytes());
                faults.unless(named, &line, "does not name the flag", &outcome);
                faults.unless(outcome.stdout.is_empty(), &line, "prints", &outcome);
                let same = inside == world.inside() && outside == world.outside();
                faults.unless(same, &line, "changes something", &outcome);
            }
        }
    }
}

#[test]
fn a_flag_that_is_listed_is_not_refused() {
    let mut faults = Faults::default();
    for command in Known::acting() {
        for flag in FLAGS.iter().filter(|it| it.is_empty() || command.lists(it)) {
            let world = World::new(command.base());
            let outcome = command.run(&world, flag);
            let line = command.line(flag);
            faults.unless(outcome.code != Some(2), &line, "is refused", &outcome);
            let first = format!("{flag} {}", command.line(""));
            let other = run::run(&World::new(command.base()), &run::words(&first), false);
            let same = other.code == Some(2) || other.code == outcome.code;
            faults.unless(same, &first, "ends in another way than with the flag last", &other);
        }
    }
}

#[test]
fn flags_that_only_look_change_nothing_alone_and_together() {
    let mut faults = Faults::default();
    let looks = ["--check", "--diff", "--dry-run"];
    for command in Known::acting() {
        for (at, flag) in looks.iter().enumerate() {
            for other in looks[at + 1..].iter().copied().chain(["", "--force"]) {
                let world = World::new(command.base());
                let (inside, outside) = (world.inside(), world.outside());
                let both = format!("{flag} {other}");
                let outcome = command.run(&world, &both);
                let same = inside == world.inside() && outside == world.outside();
                faults.unless(same, &command.line(&both), "changes something", &outcome);
            }
        }
    }
}

#[test]
fn check_fails_where_the_command_would_change_something_and_only_there() {
    let mut faults = Faults::default();
    for (command, _) in Known::writing() {
        let world = World::new(command.base());
        let line = command.line("--check");
        let outcome = command.run(&world, "--check");
        faults.unless(outcome.code == Some(1), &line, "does not exit 1", &outcome);
        let before = tree(&world);
        let outcome = command.run(&world, "");
        let changed = outcome.code == Some(0) && before != tree(&world);
        faults.unless(changed, &command.line(""), "does nothing, so nothing is tested", &outcome);
        let once = ["init", "create api", "create webhook", "delete api", "delete webhook"];
        if once.contains(&command.path) {
            continue; // What they add or delete is there or gone now, which is an error of its own.
        }
        let outcome = command.run(&world, "--check");
        faults.unless(outcome.code == Some(0), &line, "does not exit 0 afterwards", &outcome);
        let again = tree(&world);
        let outcome = command.run(&world, "");
        let still = outcome.code == Some(0) && again == tree(&world);
        faults.unless(still, &command.line(""), "is not settled by one run", &outcome);
    }
}

#[test]
fn what_diff_prints_is_what_the_command_writes() {
    if !Command::new("patch")
        .arg("--version")
        .stdout(Stdio::null())
        .status()
        .is_ok_and(|it| it.success())
    {
        support::missing("there is no `patch`");
        return;
    }
    let mut faults = Faults::default();
    for (command, _) in Known::writing() {
        let (world, other) = (World::new(command.base()), World::new(command.base()));
        let plain = command.run(&world, "");
        faults.unless(plain.code == Some(0), &command.line(""), "fails", &plain);
        let outcome = command.run(&other, "--diff");
        let diff = other.dir.join("tmp/diff");
        fs::write(&diff, &outcome.stdout).expect("the world is ours");
        let patched = support::command("patch", &other.project)
            .args(["-p1", "-s", "-E", "--no-backup-if-mismatch", "-i"])
            .arg(&diff)
            .output()
            .expect("it has just been run");
        let line = command.line("--diff");
        let what = format!("is no patch: {}", support::said(&patched));
        faults.unless(patched.status.success(), &line, &what, &outcome);
        if let Some(it) = support::difference(&tree(&world), &tree(&other)) {
            faults.unless(false, &line, &format!("is not what is written: {it}"), &outcome);
        }
    }
}

#[test]
fn dry_run_names_every_file_that_the_command_writes() {
    let mut faults = Faults::default();
    for (command, _) in Known::writing() {
        let world = World::new(command.base());
        let outcome = command.run(&world, "--dry-run --verbose");
        let listed = String::from_utf8_lossy(&outcome.stdout).into_owned();
        let listed: BTreeSet<&str> =
            listed.lines().filter_map(|it| it.split_once("  ")).map(|it| it.1.trim()).collect();
        let before = tree(&world);
        command.run(&world, "");
        let after = tree(&world);
        let changed =
            before.keys().chain(after.keys()).filter(|it| before.get(*it) != after.get(*it));
        let changed: BTreeSet<&str> = changed.map(String::as_str).collect();
        let what = format!("lists {listed:?} in place of {changed:?}");
        faults.unless(listed == changed, &command.line("--dry-run"), &what, &outcome);
    }
}

#[test]
fn an_edit_by_hand_is_kept_without_force_and_replaced_with_it() {
    let mut faults = Faults::default();
    for (command, generated) in Known::writing() {
        let after = World::new(command.base());
        command.run(&after, "");
        let written = tree(&after).remove(generated).unwrap_or_default();
        // A comment in YAML changes nothing for a reader, and stays.
        let edit: &[u8] = match generated.ends_with(".yaml") {
            true => b"\n---\nschema: edited.example.com\n",
            false => b"\n# edited by hand\n",
        };
        let edited = [written.as_slice(), edit].concat();
        for flag in
            ["", "--check", "--force"].into_iter().filter(|it| it.is_empty() || command.lists(it))
        {
            let world = World::new(command.base());
            world::put(&world.project.join(generated), &edited);
            let before = tree(&world);
            let outcome = command.run(&world, flag);
            let line = format!("{} with an edit in {generated}", command.line(flag));
            if generated == "PROJECT" {
                // It is the person's as much as the program's: entries are added, and all else stays.
                faults.unless(outcome.code == Some(0), &line, "fails", &outcome);
                faults.unless(before == tree(&world), &line, "changes something", &outcome);
            } else if flag == "--force" {
                faults.unless(outcome.code == Some(0), &line, "fails", &outcome);
                let now = tree(&world).remove(generated);
                faults.unless(now.as_ref() == Some(&written), &line, "does not replace", &outcome);
            } else {
                faults.unless(outcome.code == Some(1), &line, "does not exit 1", &outcome);
                faults.unless(before == tree(&world), &line, "changes something", &outcome);
                // Committed CRDs are compared as data, which a comment does not change.
                if command.path == "generate crds" && flag == "--check" {
                    continue;
                }
                let named = run::contains(&outcome.stderr, generated.as_bytes());
                faults.unless(named, &line, "does not name the file", &outcome);
            }
        }
    }
}

#[test]
fn what_is_printed_cannot_be_checked() {
    let mut faults = Faults::default();
    for line in ["generate crds", "generate installer"] {
        for flag in FLAGS {
            let world = World::new(Base::Project);
            let line = format!("{line} {flag}");
            let outcome = run::run(&world, &run::words(&line), false);
            faults.unless(outcome.code == Some(2), &line, "is not refused", &outcome);
            faults.unless(outcome.stdout.is_empty(), &line, "prints", &outcome);
        }
    }
}
