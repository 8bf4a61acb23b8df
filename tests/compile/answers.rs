//! Answers of the compiled code are kept until something that went in changes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Stdio,
};

use serde_json::Value;

use crate::{
    project::{Project, output, size, unreadable},
    support,
};

/// What is printed where cargo cannot run.
fn without_cargo(project: &Project) -> (Option<Vec<Value>>, String) {
    output(project.command(&[]).env("CARGO", "/bin/false"))
}

/// The folder of the throwaway program, which the answer is in.
fn build_dir(project: &Project) -> PathBuf {
    let all = fs::read_dir(support::generated_target().join("operator-rs")).unwrap();
    let text = project.folder.path().display().to_string();
    let is_ours = |it: &PathBuf| {
        fs::read_to_string(it.join("answer.json")).is_ok_and(|it| it.contains(&text))
    };
    all.map(|it| it.unwrap().path()).find(is_ours).expect("there is an answer")
}

#[test]
fn an_answer_counts_until_something_changes() {
    let project = unreadable();
    project.put(
        "src/lib.rs",
        &format!("{}const _: &str = include_str!(\"../text\");\n", project.text("src/lib.rs")),
    );
    project.put("text", "a");
    let (first, text) = project.crds(&["--compile"]);
    let first = first.expect(&text);
    // Nobody is asked, and no cargo is run.
    assert_eq!(without_cargo(&project), (Some(first.clone()), String::new()));

    for (path, old, new) in [
        ("src/lib.rs", "map_or(7", "map_or(8"),
        ("text", "a", "b"),
        ("Cargo.toml", "version = \"0.1.0\"", "version = \"0.1.0\" "),
        ("Cargo.lock", "\n", "\n\n"),
    ] {
        project.edit(path, old, new);
        let (printed, text) = without_cargo(&project);
        assert_eq!(printed, None, "{path} was edited");
        assert!(text.contains("pass `--compile`"), "{text}");
        project.edit(path, new, old);
        assert_eq!(without_cargo(&project).0.as_ref(), Some(&first), "{path} is as it was");
    }
    for (path, text) in [
        (".cargo/config.toml", "[build]\nrustflags = [\"--cfg\", \"other\"]\n"),
        ("rust-toolchain", "stable\n"),
    ] {
        project.put(path, text);
        assert_eq!(without_cargo(&project).0, None, "{path} is new");
        fs::remove_file(project.at(path)).unwrap();
    }
    let flags = output(project.command(&[]).env("CARGO", "/bin/false").env("RUSTFLAGS", "-g"));
    assert_eq!(flags.0, None, "other flags of the compiler");
    // The code itself reads this one when it prints.
    let mut command = project.command(&[]);
    command.env("CARGO", "/bin/false").env("NOBODY_SETS_THIS", "long");
    assert_eq!(output(&mut command).0, None, "another variable that the code reads");
    let features = output(project.command(&["--all-features"]).env("CARGO", "/bin/false"));
    assert_eq!(features.0.as_ref(), Some(&first), "there are no other features");

    project.edit("src/lib.rs", "map_or(7", "map_or(8");
    let (second, text) = project.crds(&["--compile"]);
    assert_eq!(size(&second.expect(&text)[0])["maxLength"], 8);
    assert_eq!(size(&without_cargo(&project).0.unwrap()[0])["maxLength"], 8);
}

#[test]
fn an_answer_is_believed_where_this_user_has_got_it() {
    let project = unreadable();
    let (first, text) = project.crds(&["--compile"]);
    let first = first.expect(&text);
    let path = build_dir(&project).join("answer.json");
    let answer = fs::read_to_string(&path).unwrap();
    let check = |text: &str, is_believed: bool| {
        fs::write(&path, text).unwrap();
        let (printed, said) = without_cargo(&project);
        assert_eq!(printed.is_some(), is_believed, "{said}");
    };
    check(&answer.replace("\"maxLength\":7", "\"maxLength\":9"), false);
    check(&answer[..answer.len() / 2], false);
    check("", false);
    check(&answer, true);
    // One of another version of the tool, with its own digest.
    let version = format!("operator-rs {}", env!("CARGO_PKG_VERSION"));
    let other = answer.replace(&version, "operator-rs 0.0.0");
    assert_ne!(other, answer);
    digest(&project, &other);
    check(&other, false);
    digest(&project, &answer);
    check(&answer, true);
    // Another user has no digest of it.
    let elsewhere = tempfile::tempdir().unwrap();
    let mut command = project.command(&[]);
    command.env("CARGO", "/bin/false").env("XDG_STATE_HOME", elsewhere.path());
    assert_eq!(output(&mut command).0, None);
    assert_eq!(without_cargo(&project).0, Some(first));
}

/// Puts the digest of a text in the place of the one that is kept.
fn digest(project: &Project, text: &str) {
    use sha2::{Digest as _, Sha256};
    let folder = project.state.path().join("operator-rs/answers");
    let entry = fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
    let digest: String = Sha256::digest(text).iter().map(|it| format!("{it:02x}")).collect();
    fs::write(entry, digest).unwrap();
}

#[test]
fn an_answer_that_cannot_be_kept_is_printed_all_the_same() {
    let project = unreadable();
    let file = tempfile::NamedTempFile::new().unwrap();
    let full = file.path().join("state");
    let run = |home: &Path| {
        let mut command = project.command(&["--compile"]);
        command.env("XDG_STATE_HOME", home);
        output(&mut command)
    };
    let (printed, text) = run(&full);
    assert_eq!(printed.expect(&text).len(), 1);
    assert!(text.contains("warning: the CRDs of `asked` cannot be cached"), "{text}");
    // Without a home there is no place to keep anything.
    let mut command = project.command(&["--compile"]);
    command.env_remove("XDG_STATE_HOME").env("HOME", "").env("CARGO_HOME", cargo_home());
    command.env("RUSTUP_HOME", rustup_home());
    let (printed, text) = output(&mut command);
    assert_eq!(printed.expect(&text).len(), 1);
    assert!(!text.contains("cannot be cached"), "{text}");
}

fn cargo_home() -> PathBuf {
    home("CARGO_HOME", ".cargo")
}

fn rustup_home() -> PathBuf {
    home("RUSTUP_HOME", ".rustup")
}

fn home(name: &str, folder: &str) -> PathBuf {
    let own = std::env::var_os("HOME").unwrap_or_default();
    std::env::var_os(name).map_or_else(|| Path::new(&own).join(folder), PathBuf::from)
}

#[test]
fn of_two_runs_at_once_the_second_takes_the_answer_of_the_first() {
    let project = unreadable();
    let run = || {
        let mut command = project.command(&["--compile"]);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let both = [run(), run()].map(|it| it.wait_with_output().unwrap());
    let text: String = both.iter().map(support::said).collect();
    assert!(both.iter().all(|it| it.status.success()), "{text}");
    assert_eq!(both[0].stdout, both[1].stdout);
    assert_eq!(text.matches("Finished `dev`").count(), 1, "{text}");
}
