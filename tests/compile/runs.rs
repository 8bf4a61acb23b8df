//! Cargo while it runs: two runs at once, what hangs, and what is not there.

use std::{
    fs,
    os::unix::fs::symlink,
    process::{Command, Stdio},
    thread,
    time::Duration,
};

use crate::{
    project::{output, unreadable},
    support,
};

#[test]
fn concurrent_runs_do_not_share_their_scratch_crate() {
    let project = unreadable();
    // In place of cargo: it says so where another one is running, and that it does not compile.
    let cargo = project.cargo(
        "mkdir running || echo overlap >> overlaps\necho run >> runs\nsleep 0.5\nrmdir running\nexit 1",
    );
    let run = || {
        let mut command = project.command(&["--compile"]);
        command.env("CARGO", &cargo).env_remove("CARGO_TARGET_DIR");
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        command.spawn().unwrap()
    };
    let both = [run(), run()].map(|it| it.wait_with_output().unwrap());
    let text: String = both.iter().map(support::said).collect();
    assert_eq!(project.text("runs"), "run\nrun\n", "{text}");
    assert!(!project.at("overlaps").exists(), "{text}");
    assert_eq!(
        text.matches("waiting for another operator-rs that is compiling here").count(),
        1,
        "{text}"
    );
}

#[test]
fn a_target_folder_that_is_a_symlink_is_not_swept() {
    let project = unreadable();
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("theirs"), "theirs").unwrap();
    symlink(elsewhere.path(), project.at("target")).unwrap();
    let (_, text) = output(project.command(&["--compile"]).env_remove("CARGO_TARGET_DIR"));
    assert!(
        text.contains("error: `target` is a symlink, and nothing is written through symlinks"),
        "{text}"
    );
    assert!(
        text.contains("hint: choose another target directory: `export CARGO_TARGET_DIR=…`"),
        "{text}"
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

#[test]
fn where_there_is_no_cargo_the_refusal_says_so() {
    let project = unreadable();
    for flags in [&["--compile"][..], &[]] {
        let mut command = project.command(flags);
        command.env("PATH", project.state.path()).env_remove("CARGO");
        let (printed, text) = output(&mut command);
        assert_eq!(printed, None);
        assert!(text.contains("Asked → spec.size"), "{text}");
        assert!(text.contains("there is no `cargo` on PATH"), "{text}");
    }
}

#[test]
fn a_hanging_compilation_ends_with_ctrl_c_and_with_a_signal() {
    for signal in ["INT", "TERM", "KILL"] {
        let project = unreadable();
        let mark = project.state.path().join("alive").display().to_string();
        // A build script that hangs and does not listen, as a child of a child of cargo.
        let cargo = project.cargo(&format!(
            "sh -c 'trap \"\" INT TERM HUP; echo $$ > {mark}; while :; do sleep 0.1; done' &\nwait"
        ));
        let mut command = project.command(&["--compile"]);
        command.env("CARGO", &cargo).env_remove("CARGO_TARGET_DIR");
        let mut command = support::obedient(&command);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = command.spawn().unwrap();
        let mut pid = String::new();
        let started = within_half_a_minute(|| {
            pid = fs::read_to_string(&mark).unwrap_or_default();
            pid.ends_with('\n')
        });
        let pid = pid.trim();
        assert!(started && is_alive(pid), "cargo did not start");
        let us = run.id().to_string();
        assert!(Command::new("kill").args(["-s", signal, &us]).status().unwrap().success());
        let mut status = None;
        let ended = within_half_a_minute(|| {
            status = run.try_wait().unwrap();
            status.is_some()
        });
        if !ended {
            run.kill().unwrap();
        }
        assert!(ended, "SIG{signal} does not end the tool");
        assert!(!status.is_some_and(|it| it.success()));
        // It ignores the signals, so it is killed a while later.
        let ended = within_half_a_minute(|| !is_alive(pid));
        assert!(ended, "{signal} leaves process {pid}");
    }
}

/// Checks every 20 ms until it is true, up to half a minute.
fn within_half_a_minute(mut is_done: impl FnMut() -> bool) -> bool {
    (0..1500).any(|_| {
        let res = is_done();
        if !res {
            thread::sleep(Duration::from_millis(20));
        }
        res
    })
}

fn is_alive(pid: &str) -> bool {
    let kill = Command::new("kill").args(["-0", pid]).stderr(Stdio::null()).status().unwrap();
    // What nobody waits for is no process any more.
    let state = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    kill.success() && !state.contains(") Z ")
}
