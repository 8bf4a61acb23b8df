#![allow(clippy::disallowed_methods, reason = "a test looks at the disk from outside")]

mod attributes;
mod faults;
mod links;

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use super::{
    crash::{self, Disk, Failure},
    journal, *,
};
use crate::plan::{Changes, Plan};
use model::{FileContent, ProjectPath, Tree as _, display_path};

type Files = BTreeMap<String, String>;

fn path(text: &str) -> ProjectPath {
    ProjectPath::fixed(text)
}

impl Root {
    fn write(&self, changes: &Changes) -> anyhow::Result<()> {
        write_all(&[(self, changes)])
    }
}

/// A folder with `a`, `d/gone` and `e/c`.
fn old() -> tempfile::TempDir {
    let dir = tempfile::tempdir().expect("a folder");
    let mut plan = Plan::default();
    plan.generate(path("a"), "old\n".to_owned(), "x", "test");
    plan.generate(path("d/gone"), "old\n".to_owned(), "x", "test");
    plan.generate(path("e/c"), "old\n".to_owned(), "x", "test");
    let root = Root::new(dir.path()).expect("it is a folder");
    root.write(&plan.changes_against(&root, false).expect("no conflict")).expect("it writes");
    dir
}

/// Changes to such a folder that touch five files, and create two folders.
fn plan() -> Plan {
    let mut plan = Plan::default();
    plan.generate(path("a"), "new\n".to_owned(), "x", "test");
    plan.generate(path("deep/er/b"), "new\n".to_owned(), "x", "test");
    plan.generate(path("e/c"), "new\n".to_owned(), "x", "test");
    plan.generate(path("PROJECT"), "new\n".to_owned(), "x", "test");
    plan.remove_stale(path("d"), &[""], "test");
    plan
}

fn changes(root: &Root) -> Changes {
    plan().changes_against(root, false).expect("no conflict")
}

fn write(dir: &Path) -> anyhow::Result<()> {
    let root = Root::new(dir)?;
    root.recover_changes()?.map_or(Ok(()), |it| it.require_no_edits())?;
    root.write(&plan().changes_against(&root, false)?)
}

/// Every file, by its path.
fn files(dir: &Path) -> Files {
    let walk = walkdir::WalkDir::new(dir).min_depth(1);
    let entries = walk.into_iter().map(|it| it.expect("it lists"));
    let text = |it: walkdir::DirEntry| {
        let path = display_path(&it.path().strip_prefix(dir).expect("below"));
        (path, fs::read_to_string(it.path()).expect("it is text"))
    };
    entries.filter(|it| it.file_type().is_file()).map(text).collect()
}

/// Draws numbers from 0 to what it is given, the same ones in every run.
fn draw() -> impl FnMut(usize) -> usize {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    move |most| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).expect("it is 31 bits") % (most + 1)
    }
}

fn before_and_after() -> (Files, Files) {
    let dir = old();
    let before = files(dir.path());
    write(dir.path()).expect("it writes");
    let after = files(dir.path());
    assert_eq!(before.keys().collect::<Vec<_>>(), ["a", "d/gone", "e/c"]);
    assert_eq!(after.keys().collect::<Vec<_>>(), ["PROJECT", "a", "deep/er/b", "e/c"]);
    (before, after)
}

/// Whether the folder is the new one, after the next run has looked at it; it is the old one otherwise.
#[track_caller]
fn settled(dir: &Path, before: &Files, after: &Files, what: &str) -> bool {
    let root = Root::new(dir).expect("it is a folder");
    let mixed = root.require_whole().is_err();
    let mut found = files(dir);
    let recovered = root.recover_changes().expect("it recovers");
    if found.contains_key(journal::TAKEN_BACK) {
        assert!(mixed || recovered.as_ref().is_some_and(|it| it.restored.is_empty()), "{what}");
        found.retain(|path, _| !journal::is_temporary(path.as_ref()));
    } else {
        assert_eq!(recovered.is_some(), mixed, "{what}");
    }
    assert_eq!(recovered.map_or(Vec::new(), |it| it.edited), [], "{what}");
    let is = files(dir);
    assert!(is == *before || is == *after, "{what}: {is:#?}");
    // Where nothing was said, there is nothing to be said.
    assert!(
        mixed || found.iter().filter(|it| it.0 != journal::UNFINISHED).eq(&is),
        "{what}: {found:#?}"
    );
    assert_eq!(root.recover_changes().expect("nothing to do"), None, "{what}");
    root.require_whole().expect("nothing is left");
    is == *after
}

#[test]
fn a_write_that_is_killed_at_any_step_leaves_the_old_project_or_one_that_the_next_run_completes() {
    let (before, after) = before_and_after();
    let (mut undone, mut completed) = (0, 0);
    for step in 0.. {
        let dir = old();
        let (done, _) = crash::run_with_failures(Some((step, Failure::Kill)), || write(dir.path()));
        if settled(dir.path(), &before, &after, &format!("killed at step {step}")) {
            completed += 1
        } else {
            undone += 1
        }
        write(dir.path()).expect("it writes");
        assert_eq!(files(dir.path()), after, "{step}");
        if done.is_some() {
            break;
        }
    }
    assert!(2 < undone && 8 < completed, "{undone} undone, {completed} completed");
}

#[test]
fn where_one_of_several_folders_cannot_be_written_none_is() {
    let (before, after) = before_and_after();
    let (mut refused, mut written) = (0, 0);
    for step in 0.. {
        let dirs = [old(), old()];
        let roots = dirs.each_ref().map(|it| Root::new(it.path()).expect("it is a folder"));
        let changes = roots.each_ref().map(changes);
        let all = [(&roots[0], &changes[0]), (&roots[1], &changes[1])];
        let (done, _) = crash::run_with_failures(Some((step, Failure::Fail)), || write_all(&all));
        let done = done.expect("nobody is killed");
        let is_written = done.as_ref().err().is_none_or(|it| {
            diagnostics::collect_hints(it).iter().any(|it| it.starts_with("all files were written"))
        });
        let expected = if is_written { &after } else { &before };
        for root in &roots {
            root.recover_changes().expect("it recovers");
            assert_eq!(files(root.resolved_path()), *expected, "{step}: {done:?}");
        }
        if is_written {
            written += 1
        } else {
            refused += 1
        }
        if done.is_ok() {
            break;
        }
    }
    assert!(20 < refused && 4 < written, "{refused} refused, {written} written");
}

#[test]
fn a_recovery_that_is_killed_at_any_step_is_completed_by_the_next_one() {
    let (before, after) = before_and_after();
    for first in 0.. {
        let dir = old();
        if crash::run_with_failures(Some((first, Failure::Kill)), || write(dir.path())).0.is_some()
        {
            assert!(first > 8);
            break;
        }
        let broken = Disk::from_synced(dir.path());
        for second in 0.. {
            let copy = tempfile::tempdir().expect("a folder");
            broken.write_after_crash(copy.path(), &mut |most| most);
            let recover = || Root::new(copy.path()).and_then(|it| it.recover_changes());
            let (done, _) = crash::run_with_failures(Some((second, Failure::Kill)), recover);
            settled(copy.path(), &before, &after, &format!("killed at {first}, then at {second}"));
            if done.is_some() {
                break;
            }
        }
    }
}

#[test]
fn a_step_that_fails_leaves_the_old_project_or_one_that_the_next_run_completes() {
    let (before, after) = before_and_after();
    let (mut undone, mut forward) = (0, 0);
    let mut draw = draw();
    for step in 0.. {
        let dir = old();
        let mut disk = Disk::from_synced(dir.path());
        let (done, steps) =
            crash::run_with_failures(Some((step, Failure::Fail)), || write(dir.path()));
        // When the power goes behind the failure, too.
        steps.iter().for_each(|it| disk.record_step(it));
        for round in 0..4 {
            let crashed = tempfile::tempdir().expect("a folder");
            disk.write_after_crash(crashed.path(), &mut draw);
            settled(crashed.path(), &before, &after, &format!("failed at {step}, round {round}"));
        }
        let error = match done.expect("it was not killed") {
            Ok(()) if crash::step_counts().0 <= step => break,
            // For example, a file that was created cannot be removed again.
            Ok(()) => continue,
            Err(error) => error,
        };
        let (hints, found) = (diagnostics::collect_hints(&error).join(" "), files(dir.path()));
        let error = format!("{error:#}");
        let is_said = error.contains("Input/output error") || error.contains("no storage space");
        assert!(is_said, "{step}: {error}");
        if hints.contains("nothing was written") {
            undone += 1;
            assert_eq!(found, before, "{step}: {hints}");
        } else if hints.contains("all files were written") {
            forward += 1;
            assert!(after.iter().all(|it| found.get(it.0) == Some(it.1)), "{step}: {found:#?}");
        } else {
            assert_eq!(found, before, "it has not begun at {step}: {error}");
        }
        settled(dir.path(), &before, &after, &format!("failed at step {step}"));
    }
    assert!(30 < undone && 4 < forward, "{undone} undone, {forward} completed");
}

#[test]
fn a_command_that_failed_on_a_full_disk_takes_no_effect_later() {
    let (before, after) = before_and_after();
    let mut draw = draw();
    for failure in [Failure::FailSyncs, Failure::FailAll] {
        let mut results = [0; 4];
        for step in 0.. {
            let dir = old();
            let mut disk = Disk::from_synced(dir.path());
            let (done, steps) =
                crash::run_with_failures(Some((step, failure.clone())), || write(dir.path()));
            let what = format!("{failure:?} from {step}");
            // When the power goes behind the failure, too.
            steps.iter().for_each(|it| disk.record_step(it));
            for round in 0..4 {
                let crashed = tempfile::tempdir().expect("a folder");
                disk.write_after_crash(crashed.path(), &mut draw);
                settled(crashed.path(), &before, &after, &format!("{what}, round {round}"));
            }
            let error = match done.expect("it was not killed") {
                Ok(()) if crash::step_counts().0 <= step => break,
                Ok(()) => continue,
                Err(error) => error,
            };
            let hints = diagnostics::collect_hints(&error).join(" ");
            let is_later =
                |text: &str| hints.contains(&format!("next command that writes here {text}"));
            let (result, expected) = match () {
                () if hints.contains("all files were written") => (0, &after),
                () if is_later("restores them") => (1, &before),
                () if is_later("completes the changes") || is_later("makes the changes") => {
                    (2, &after)
                }
                () => (3, &before),
            };
            results[result] += 1;
            if result == 3 {
                let mut found = files(dir.path());
                found.retain(|path, _| !journal::is_temporary(path.as_ref()));
                assert_eq!(found, before, "{what}: {hints}");
                Root::new(dir.path()).and_then(|root| root.require_whole()).expect(&what);
            }
            let is_new = settled(dir.path(), &before, &after, &what);
            assert_eq!(is_new, expected == &after, "{what}: {error:#} {hints}");
        }
        // Only where not even a rename is possible does the next command have to complete the changes.
        assert_eq!(results[2] > 0, failure == Failure::FailAll, "{failure:?}: {results:?}");
        assert!(results[3] > 8 && results[0] > 2, "{failure:?}: {results:?}");
    }
}

#[test]
fn a_power_failure_during_a_write_loses_nothing() {
    let (before, after) = before_and_after();
    let mut draw = draw();
    let dir = old();
    let mut disk = Disk::from_synced(dir.path());
    let (done, steps) = crash::run_with_failures(None, || write(dir.path()));
    done.expect("it was not killed").expect("it writes");
    let (mut undone, mut completed) = (0, 0);
    for at in 0..=steps.len() {
        for round in 0..12 {
            let crashed = tempfile::tempdir().expect("a folder");
            disk.write_after_crash(crashed.path(), &mut draw);
            if settled(crashed.path(), &before, &after, &format!("step {at}, round {round}")) {
                completed += 1
            } else {
                undone += 1
            }
        }
        steps.get(at).into_iter().for_each(|it| disk.record_step(it));
    }
    assert!(12 < undone && 100 < completed, "{undone} undone, {completed} completed");
    // Once it has said that it is done, it is.
    let crashed = tempfile::tempdir().expect("a folder");
    disk.write_after_crash(crashed.path(), &mut |_| 0);
    assert_eq!(files(crashed.path()), after);
}

#[test]
fn an_edit_after_an_interrupted_run_is_kept_and_so_is_the_new_text() {
    let (_, after) = before_and_after();
    let dir = old();
    // Behind the journal and before the first rename.
    for step in 0.. {
        crash::run_with_failures(Some((step, Failure::Kill)), || write(dir.path()));
        if dir.path().join(journal::NAME).exists() {
            break;
        }
    }
    fs::write(dir.path().join("a"), "mine\n").expect("it writes");
    fs::write(dir.path().join("d/gone"), b"mine\xff\n").expect("it writes");
    let root = Root::new(dir.path()).expect("it is a folder");
    root.require_whole().expect_err("it is a mix");
    let recovered = root.recover_changes().expect("it recovers").expect("it was interrupted");
    assert_eq!(recovered.completed, [path("deep/er/b"), path("e/c"), path("PROJECT")]);
    let kept = [(path("a"), Some(path("a.operator-rs-new"))), (path("d/gone"), None)];
    assert_eq!(recovered.edited, kept);
    let error = recovered.require_no_edits().expect_err("there are two").to_string();
    assert!(error.contains("a: the new text is in a.operator-rs-new"), "{error}");
    let read = |it: &str| fs::read(dir.path().join(it)).expect("it is there");
    assert_eq!(read("a"), b"mine\n");
    assert_eq!(read("a.operator-rs-new"), after["a"].as_bytes());
    assert_eq!(read("d/gone"), b"mine\xff\n");
    assert_eq!(read("PROJECT"), after["PROJECT"].as_bytes());
    root.require_whole().expect("it is said once");
}

#[test]
fn a_file_that_changes_while_the_command_runs_is_not_overwritten() {
    let dir = old();
    let root = Root::new(dir.path()).expect("it is a folder");
    let changes = changes(&root);
    for text in [&b"mine\n"[..], b"mine\xff"] {
        fs::write(dir.path().join("a"), text).expect("it writes");
        root.write(&changes).expect_err("it was changed");
        assert_eq!(fs::read(dir.path().join("a")).expect("it is there"), text);
        assert!(!dir.path().join("PROJECT").exists());
    }
}
