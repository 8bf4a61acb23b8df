//! What becomes of a project when a command is killed, the disk is full, the folder cannot be written,
//! or two commands run at once: the old tree or the new one, and the next run knows which.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Stdio,
    time::{Duration, Instant},
};

type Tree = BTreeMap<String, Vec<u8>>;

const INIT: &str = "init --domain example.com --project-name interrupted";
const CREATE: &str = "create api --group cache --kind Memcached";

#[test]
fn a_killed_init_leaves_an_empty_folder_or_the_whole_project() {
    kill_and_look("kill-init", &Tree::new(), &after(&Tree::new(), INIT, "kill-init-whole"), INIT);
}

#[test]
fn a_killed_create_api_leaves_the_old_project_or_the_new_one() {
    let old = after(&Tree::new(), INIT, "kill-create-old");
    let new = after(&old, CREATE, "kill-create-whole");
    kill_and_look("kill-create", &old, &new, CREATE);
}

/// The tree that a command makes of another when nothing comes between.
fn after(old: &Tree, words: &str, name: &str) -> Tree {
    let dir = support::fresh(name);
    support::put(old, &dir);
    support::done(&dir, words);
    let new = support::tree(&dir);
    assert!(*old != new, "`{words}` does nothing that could be interrupted");
    new
}

/// Kills the command at many moments: after a time, or as soon as a file stands (the journal, one of
/// the temporary files, one of the files in its place). The moments are drawn from a fixed seed.
fn kill_and_look(name: &str, old: &Tree, new: &Tree, words: &str) {
    let mut files: Vec<PathBuf> = vec![".operator-rs.journal".into()];
    for path in new.keys().filter(|it| old.get(*it) != new.get(*it)).map(Path::new) {
        let file = path.file_name().expect("a file has a name").to_string_lossy();
        files.push(path.with_file_name(format!(".{file}.operator-rs-new")));
        if !old.contains_key(&path.to_string_lossy().into_owned()) {
            files.push(path.to_owned());
        }
    }
    let (mut undone, mut completed) = (0, 0);
    for round in 0..400_u64 {
        if 40 <= round && 3 <= undone && 3 <= completed {
            return;
        }
        let dir = support::fresh(name);
        support::put(old, &dir);
        let draw = (round + 1).wrapping_mul(6_364_136_223_846_793_005) >> 33;
        let mut child = support::command(support::BINARY, &dir)
            .args(words.split(' '))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let start = Instant::now();
        if round % 4 == 0 {
            std::thread::sleep(Duration::from_micros(draw % 40_000));
        } else {
            let file = dir.join(&files[usize::try_from(draw).unwrap() % files.len()]);
            while fs::symlink_metadata(&file).is_err()
                && child.try_wait().unwrap().is_none()
                && start.elapsed() < Duration::from_secs(20)
            {}
        }
        child.kill().unwrap();
        child.wait().unwrap();

        let next = support::operator_rs(&dir, "manifests --check");
        let said = support::said(&next);
        undone += usize::from(said.contains("before it wrote"));
        completed += usize::from(said.contains("while it wrote"));
        let is = support::tree(&dir);
        if is == *new {
            assert!(next.status.success(), "round {round}: the new project is not whole: {said}");
        } else if let Some(it) = support::difference(old, &is) {
            let other = support::difference(new, &is).unwrap_or_default();
            panic!("round {round}: neither the old project ({it}) nor the new one ({other})");
        } else {
            support::done(&dir, words);
            assert!(support::tree(&dir) == *new, "round {round}: run again, it does otherwise");
        }
    }
    panic!("of 400 rounds {undone} were killed before the first rename, {completed} amid them");
}

#[test]
fn a_disk_that_is_full_in_mid_write_leaves_the_old_project() {
    let old = after(&Tree::new(), INIT, "full-old");
    let new = after(&old, CREATE, "full-whole");
    let (init, create) = (
        fill("full-init", &Tree::new(), &after(&Tree::new(), INIT, "full-x"), INIT),
        fill("full-create", &old, &new, CREATE),
    );
    assert!(2 < init && 2 < create, "the limit was met {init} and {create} times only");
}

/// Runs a command with less and less scarce room for a file's bytes, once as an error (a write that
/// fails as on a full disk) and once as a death in mid-write. How often there was too little.
fn fill(name: &str, old: &Tree, new: &Tree, words: &str) -> usize {
    let mut res = 0;
    for kilobytes in [0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 1_000_000] {
        for signal in ["trap '' XFSZ;", "ulimit -c 0;"] {
            let dir = support::fresh(name);
            support::put(old, &dir);
            let script = format!("{signal} ulimit -f {kilobytes}; exec \"$0\" {words}");
            let output = support::command("bash", &dir)
                .args(["-c", &script, support::BINARY])
                .output()
                .unwrap();
            let said = support::said(&output);
            if output.status.success() {
                assert_eq!(support::difference(new, &support::tree(&dir)), None, "{kilobytes} kB");
                continue;
            }
            res += 1;
            if signal.starts_with("trap") {
                assert_eq!(output.status.code(), Some(1), "{said}");
                assert!(said.contains("File too large"), "{said}");
                assert!(said.contains("hint: nothing was written"), "{said}");
                // No next run is needed: it has tidied up itself.
                let is = support::tree(&dir);
                assert_eq!(support::difference(old, &is), None, "{kilobytes} kB: {said}");
            }
            support::done(&dir, words);
            assert_eq!(support::difference(new, &support::tree(&dir)), None, "{kilobytes} kB");
        }
    }
    assert!(support::difference(old, new).is_some());
    res
}

#[test]
fn a_folder_that_cannot_be_written_is_told_and_left_alone() {
    // Root is allowed everything, so the binary runs as somebody else, from where all may read.
    let dir = std::env::temp_dir().join(format!("operator-rs-unwritable-{}", std::process::id()));
    let project = dir.join("interrupted");
    fs::create_dir_all(&project).unwrap();
    let binary = dir.join("operator-rs");
    fs::copy(support::BINARY, &binary).unwrap();
    support::done(&project, INIT);
    let mode = |path: &Path, mode| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    };
    let set_all = |folder: u32, file: u32| {
        for entry in walkdir::WalkDir::new(&project).contents_first(true) {
            let entry = entry.unwrap();
            mode(entry.path(), if entry.file_type().is_dir() { folder } else { file });
        }
    };
    let old = support::tree(&project);
    let root =
        fs::metadata("/proc/self").map(|it| std::os::unix::fs::MetadataExt::uid(&it)).unwrap() == 0;
    let run = |words: &str| {
        let mut command = if root {
            let mut it = support::command("setpriv", &project);
            it.args(["--reuid", "65534", "--regid", "65534", "--clear-groups"]).arg(&binary);
            it
        } else {
            support::command(&binary, &project)
        };
        let output = command.args(words.split(' ')).output().expect("util-linux has setpriv");
        (output.status.code(), support::said(&output))
    };
    mode(&dir, 0o755);
    mode(&binary, 0o755);
    set_all(0o555, 0o444);
    // What only looks goes on.
    let looked = run("manifests --check");
    // A folder that cannot be written at all; then one below it.
    let whole = run(CREATE);
    mode(&project, 0o777);
    let below = run(CREATE);
    // A file that cannot be read.
    set_all(0o755, 0o644);
    mode(&project.join("PROJECT"), 0o000);
    let unread = run(CREATE);
    mode(&project.join("PROJECT"), 0o644);
    let is = support::tree(&project);
    fs::remove_dir_all(&dir).unwrap();

    assert_eq!(looked.0, Some(0), "{}", looked.1);
    for (code, said) in [whole, below] {
        assert_eq!(code, Some(1), "{said}");
        assert!(said.contains("Permission denied"), "{said}");
        assert!(said.contains("hint: nothing was written"), "{said}");
    }
    assert_eq!(unread.0, Some(1), "{}", unread.1);
    assert!(unread.1.contains("reading PROJECT"), "{}", unread.1);
    assert_eq!(support::difference(&old, &is), None);
}

#[test]
fn two_commands_at_once_do_not_mix() {
    let old = after(&Tree::new(), INIT, "at-once-old");
    let words = |kind: &str| format!("create api --group cache --kind {kind}");
    let kinds = ["Alpha", "Beta", "Gamma", "Delta"];
    for round in 0..8 {
        let dir = support::fresh("at-once");
        support::put(&old, &dir);
        let all: Vec<_> = kinds
            .iter()
            .map(|kind| {
                let mut it = support::command(support::BINARY, &dir);
                it.args(words(kind).split(' ')).stdout(Stdio::piped()).stderr(Stdio::piped());
                it.spawn().unwrap()
            })
            .collect();
        let mut made = Vec::new();
        for (kind, child) in kinds.iter().zip(all) {
            let output = child.wait_with_output().unwrap();
            let said = support::said(&output);
            if output.status.success() {
                made.push(*kind);
            } else {
                let known =
                    ["another operator-rs is writing here", "changed while the command ran"];
                assert!(known.iter().any(|it| said.contains(it)), "round {round}: {said}");
            }
        }
        assert!(!made.is_empty(), "round {round}: nobody got through");
        support::done(&dir, "generate --check");
        for kind in kinds.iter().filter(|it| !made.contains(it)) {
            support::done(&dir, &words(kind));
        }
        support::done(&dir, "generate --check");
        let project = fs::read_to_string(dir.join("PROJECT")).unwrap();
        for kind in kinds {
            assert!(project.contains(&format!("kind: {kind}\n")), "round {round}: {project}");
        }
    }
}
