//! Nothing outside of the folder is written, removed or read through symlinks.

use std::os::unix::fs::symlink;

use super::*;
use model::display_path;

#[test]
fn a_journal_that_names_other_places_does_nothing() {
    let outside = tempfile::tempdir().expect("a folder");
    let victim = outside.path().join("victim");
    fs::write(&victim, "theirs\n").expect("it writes");
    let dir = old();
    symlink(outside.path(), dir.path().join("out")).expect("a link");
    let hash = sha256_hex(b"theirs\n");
    let step = |path: &str| format!(r#"{{"path":{path:?},"before":"{hash}","after":"x"}}"#);
    let journal =
        |steps: &str| format!(r#"{{"version":2,"token":"0123456789abcdef","steps":[{steps}]}}"#);
    let absolute = display_path(&victim);
    for text in [
        journal(&step("../victim")),
        journal(&step(&absolute)),
        journal(&step("out/victim")),
        journal(&step(".git/hooks/post-checkout")),
        journal(&step("a/.GIT/x")),
        journal(&format!("{},{}", step("b"), step("b"))),
        journal(&format!("{},{}", step("b"), step("b/c"))),
        journal(&step(journal::NAME)),
        journal(&step("b")).replace("0123456789abcdef", "../../../../victim"),
        journal(&step("b")).replace("\"version\":2", "\"version\":1"),
        r#"{"phase":"commit","folders":[],"steps":[{"path":"../victim","new":null,"before":null}]}"#.to_owned(),
        String::new(),
        "{".to_owned(),
        "[".repeat(100_000),
    ] {
        fs::write(dir.path().join(journal::NAME), &text).expect("it writes");
        let was = files(dir.path());
        let root = Root::new(dir.path()).expect("it is a folder");
        root.recover_changes().expect_err(&text);
        root.require_whole().expect_err(&text);
        root.write(&changes(&root)).expect_err(&text);
        assert_eq!(files(dir.path()), was, "{text}");
        assert_eq!(fs::read_to_string(&victim).expect("it is there"), "theirs\n");
    }
}

#[test]
fn nothing_is_written_or_removed_through_a_symlink() {
    let outside = tempfile::tempdir().expect("a folder");
    let victim = |name: &str| {
        let path: PathBuf = outside.path().join(name);
        fs::write(&path, "theirs\n").expect("it writes");
        path
    };
    let cases: &[(&str, &str)] = &[
        ("a", "a"),
        ("PROJECT", "b"),
        ("deep", ""),
        (journal::UNFINISHED, "c"),
        (journal::NAME, "d"),
        ("d/gone", "e"),
    ];
    for (link, to) in cases {
        let dir = old();
        let link = dir.path().join(link);
        let _ = fs::remove_file(&link);
        let to = if to.is_empty() { outside.path().to_owned() } else { victim(to) };
        symlink(&to, &link).expect("a link");
        let was = files(outside.path());
        // It is refused, or done beside the link.
        drop(write(dir.path()));
        assert_eq!(files(outside.path()), was, "{}", display_path(&link));
    }
}

#[test]
fn what_is_linked_inside_the_project_is_read_and_not_written() {
    let dir = old();
    fs::rename(dir.path().join("a"), dir.path().join("real")).expect("it moves");
    symlink("real", dir.path().join("a")).expect("a link");
    symlink("../..", dir.path().join("out")).expect("a link");
    symlink("a-loop", dir.path().join("a-loop")).expect("a link");
    let root = Root::new(dir.path()).expect("it is a folder");
    assert!(root.read_text(&path("a")).expect("it reads").is_some_and(|it| it.ends_with("old\n")));
    let link = "`a` is a symlink, and nothing is written through symlinks";
    assert_eq!(
        root.read_content(&path("a")).expect("it looks"),
        FileContent::Other(link.to_owned())
    );
    for (name, why) in [
        ("out/x", "out/x cannot be read: `out` is a symlink that leads out of the project"),
        ("a-loop", "a-loop cannot be read: `a-loop` is a broken symlink"),
        ("real/x", "real/x cannot be read: `real` is a file, not a directory"),
        ("d", "d cannot be read: it is a directory, not a file"),
    ] {
        assert_eq!(root.read_text(&path(name)).expect_err("it cannot be read").to_string(), why);
    }
    assert_eq!(root.read_text(&path("none/x")).expect("there is none"), None);
}

#[test]
fn an_output_folder_is_not_reached_through_a_symlink_of_the_project() {
    let (dir, outside) = (old(), tempfile::tempdir().expect("a folder"));
    symlink(outside.path(), dir.path().join("out")).expect("a link");
    let absolute = dir.path().join("out/crds");
    for folder in
        ["out", "out/crds", "./out/crds", "d/../out/crds", absolute.to_str().expect("UTF-8")]
    {
        let found = Root::open_output(dir.path(), Path::new(folder));
        let error = found.err().unwrap_or_else(|| panic!("{folder}")).to_string();
        assert_eq!(error, "`out` is a symlink, and nothing is written through symlinks");
    }
    // A file elsewhere that the user names is the user's own.
    Root::open_output(dir.path(), outside.path()).expect("it is a folder");
    let root = Root::open_output(dir.path(), Path::new("new/crds")).expect("it is none yet");
    let mut plan = Plan::default();
    plan.generate(path("a"), "1\n".to_owned(), "x", "test");
    root.write(&plan.changes_against(&root, false).expect("no conflict")).expect("it writes");
    assert!(dir.path().join("new/crds/a").is_file());
}

#[test]
fn one_operator_rs_at_a_time_writes_in_a_folder() {
    let dir = old();
    let root = Root::new(dir.path()).expect("it is a folder");
    root.lock().expect("nobody has it");
    let other = Root::new(dir.path()).expect("it is a folder");
    other.lock().expect_err("the first has it");
    drop(root);
    other.lock().expect("it locks");
    other.lock().expect("it has the lock");
    let third = Root::new(dir.path()).expect("it is a folder");
    let error = third.write(&changes(&third)).expect_err("the other is writing");
    assert_eq!(error.to_string(), "another operator-rs is writing here");
}
