use std::{fs, path::Path};

use super::*;
use crate::{
    model::ProjectPath,
    plan::{Plan, Tree as _},
};

fn path(text: &str) -> ProjectPath {
    ProjectPath::fixed(text)
}

/// A folder with `a` and `gone`, and changes that touch three files and one folder.
fn begin() -> (tempfile::TempDir, Root, Changes) {
    let dir = tempfile::tempdir().expect("a folder");
    let root = Root::new(dir.path()).expect("it is a folder");
    let mut first = Plan::default();
    first.generate(path("a"), "old\n".to_owned(), "x");
    first.generate(path("d/gone"), "old\n".to_owned(), "x");
    root.write(&first.against(&root, false).expect("no conflict")).expect("it writes");
    let mut plan = Plan::default();
    plan.generate(path("a"), "new\n".to_owned(), "x");
    plan.generate(path("deep/er/b"), "new\n".to_owned(), "x");
    plan.generate(path("PROJECT"), "new\n".to_owned(), "x");
    plan.own(path("d"), &[""]);
    let changes = plan.against(&root, false).expect("no conflict");
    (dir, root, changes)
}

fn files(dir: &Path) -> Vec<String> {
    let walk = walkdir::WalkDir::new(dir).min_depth(1).sort_by_file_name();
    let name =
        |it: walkdir::DirEntry| it.path().strip_prefix(dir).expect("below").display().to_string();
    walk.into_iter().map(|it| name(it.expect("it lists"))).collect()
}

const OLD: &[&str] = &["a", "d", "d/gone"];
const NEW: &[&str] = &["PROJECT", "a", "d", "deep", "deep/er", "deep/er/b"];

#[test]
fn a_write_that_is_killed_while_it_prepares_leaves_the_old_project() {
    let (dir, root, changes) = begin();
    let before = fs::read_to_string(dir.path().join("a")).expect("it is there");
    let list: Vec<&Change> = changes.iter().collect();
    root.prepare(&list).expect("it prepares"); // and is killed here
    assert_ne!(files(dir.path()), OLD);
    assert_eq!(root.recover().expect("it recovers"), Recovered::Undone);
    assert_eq!(files(dir.path()), OLD);
    assert_eq!(fs::read_to_string(dir.path().join("a")).expect("it is there"), before);
}

#[test]
fn a_write_that_is_killed_between_renames_is_completed_by_the_next_run() {
    for renames in 0..=4 {
        let (dir, root, changes) = begin();
        let list: Vec<&Change> = changes.iter().collect();
        let mut journal = root.prepare(&list).expect("it prepares");
        journal.phase = Phase::Commit;
        journal.put(dir.path()).expect("it commits");
        for step in &journal.steps[..renames.min(journal.steps.len())] {
            match &step.new {
                Some(new) => fs::rename(dir.path().join(new), dir.path().join(&step.path))
                    .expect("it renames"),
                None => fs::remove_file(dir.path().join(&step.path)).expect("it goes"),
            }
        }
        assert_eq!(root.recover().expect("it recovers"), Recovered::Completed, "{renames}");
        assert_eq!(files(dir.path()), NEW, "{renames}");
        assert!(fs::read_to_string(dir.path().join("a")).expect("it is there").ends_with("new\n"));
        assert_eq!(root.recover().expect("nothing to do"), Recovered::Nothing);
    }
}

#[test]
fn a_journal_that_is_cut_off_goes() {
    let (dir, root, changes) = begin();
    fs::write(dir.path().join(journal::UNFINISHED), "{\"phase\":\"pre").expect("it writes");
    assert_eq!(root.recover().expect("it recovers"), Recovered::Undone);
    assert_eq!(files(dir.path()), OLD);
    assert_eq!(root.recover().expect("nothing to do"), Recovered::Nothing);
    root.write(&changes).expect("it writes");
}

#[test]
fn a_journal_of_another_run_is_not_overwritten() {
    let (dir, root, changes) = begin();
    let list: Vec<&Change> = changes.iter().collect();
    let mut other = root.prepare(&list).expect("it prepares");
    other.phase = Phase::Commit;
    other.put(dir.path()).expect("it commits");
    root.write(&changes).expect_err("the other is not at its end");
    assert_eq!(root.recover().expect("it recovers"), Recovered::Completed);
    assert_eq!(files(dir.path()), NEW);
}

#[test]
fn an_edit_after_an_interrupted_run_is_not_lost() {
    let (dir, root, changes) = begin();
    let list: Vec<&Change> = changes.iter().collect();
    let mut journal = root.prepare(&list).expect("it prepares");
    journal.phase = Phase::Commit;
    journal.put(dir.path()).expect("it commits");
    fs::write(dir.path().join("a"), "mine\n").expect("it writes");
    let error = root.recover().expect_err("both are wanted");
    assert!(error.to_string().contains("edited since"), "{error}");
    assert_eq!(fs::read_to_string(dir.path().join("a")).expect("it is there"), "mine\n");
}

#[test]
fn a_file_that_changes_while_the_command_runs_is_not_overwritten() {
    let (dir, root, changes) = begin();
    fs::write(dir.path().join("a"), "mine\n").expect("it writes");
    root.write(&changes).expect_err("it was changed");
    assert_eq!(files(dir.path()), OLD);
    assert_eq!(fs::read_to_string(dir.path().join("a")).expect("it is there"), "mine\n");
}

#[cfg(unix)]
#[test]
fn symlinks_are_followed_inside_the_project_and_not_out_of_it() {
    use std::os::unix::fs::symlink;
    let (dir, root, changes) = begin();
    let outside = tempfile::tempdir().expect("a folder");
    symlink(outside.path(), dir.path().join("out")).expect("a link");
    fs::rename(dir.path().join("a"), dir.path().join("real")).expect("it moves");
    symlink("real", dir.path().join("a")).expect("a link");
    let what = root.look(&path("out/x")).expect("it looks");
    assert_eq!(what, crate::plan::Found::Other("`out` is a symlink out of the project".to_owned()));
    root.write(&changes).expect("it writes");
    assert!(fs::symlink_metadata(dir.path().join("a")).expect("it is there").is_symlink());
    assert!(fs::read_to_string(dir.path().join("real")).expect("it is there").ends_with("new\n"));
    assert_eq!(files(outside.path()), Vec::<String>::new());
}

#[test]
fn one_operator_rs_at_a_time_writes_in_a_folder() {
    let (dir, root, changes) = begin();
    let other = Root::new(dir.path()).expect("it is a folder");
    other.lock().expect_err("the first has it since it wrote");
    drop(root);
    other.lock().expect("it locks");
    other.lock().expect("it has the lock");
    let third = Root::new(dir.path()).expect("it is a folder");
    let error = third.write(&changes).expect_err("the other is writing");
    assert_eq!(error.to_string(), "another operator-rs is writing here");
}
