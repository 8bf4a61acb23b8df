//! Who is asked whether a project may be compiled, and what counts as an answer.

use std::{fs, path::Path, process::Stdio};

use rexpect::{
    reader::Options,
    session::{PtySession, spawn_with_options},
};

use crate::{
    project::{Project, output, unreadable},
    support,
};

/// A cargo that says that it was run, and fails.
const CARGO: &str = "echo cargo was run >&2; exit 1";

fn answers(project: &Project) -> Vec<String> {
    let folder = project.state.path().join("operator-rs/allowed");
    let entries = fs::read_dir(folder).into_iter().flatten();
    let text = |it: fs::DirEntry| fs::read_to_string(it.path()).unwrap();
    entries.map(|it| text(it.unwrap()).lines().next().unwrap_or_default().to_owned()).collect()
}

fn keep(project: &Project, word: &str) {
    keep_in(project.state.path(), project, word);
}

fn keep_in(state: &Path, project: &Project, word: &str) {
    use sha2::{Digest as _, Sha256};
    let top = fs::canonicalize(project.folder.path()).unwrap();
    let text = format!("{word}\n{}\n", top.display());
    let name = Sha256::digest(top.to_str().unwrap());
    let name: String = name.iter().map(|it| format!("{it:02x}")).collect();
    let folder = state.join("operator-rs/allowed");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), text).unwrap();
}

#[test]
fn an_answer_that_a_clone_has_brought_does_not_count() {
    let project = unreadable();
    let cargo = project.cargo(CARGO);
    let refused = |variables: &[(&str, &Path)], why: &str| {
        let mut command = project.command(&[]);
        command.env_remove("XDG_STATE_HOME").env("CARGO", &cargo).env_remove("CARGO_TARGET_DIR");
        command.envs(variables.iter().copied());
        let (printed, text) = output(&mut command);
        assert_eq!(printed, None);
        assert!(!text.contains("cargo was run"), "{text}");
        assert!(text.contains(why) && text.contains("hint: pass `--compile`"), "{text}");
        assert!(text.contains("hint: set XDG_STATE_HOME to a directory"), "{text}");
    };
    let home = project.folder.path();
    keep_in(&home.join(".local/state"), &project, "yes");
    refused(&[("HOME", home)], "is inside of");
    refused(&[("XDG_STATE_HOME", &home.join(".local/state"))], "is inside of");
    // By way of a symlink, too.
    let elsewhere = tempfile::tempdir().unwrap();
    let linked = elsewhere.path().join("linked");
    std::os::unix::fs::symlink(home.join(".local/state"), &linked).unwrap();
    refused(&[("XDG_STATE_HOME", &linked)], "is inside of");
    // Only root can give a file to somebody else.
    keep_in(elsewhere.path(), &project, "yes");
    let given = elsewhere.path().join("operator-rs/allowed");
    if std::os::unix::fs::chown(&given, Some(65_534), None).is_ok() {
        refused(&[("XDG_STATE_HOME", elsewhere.path())], "belongs to another user");
    }
}

#[test]
fn without_a_person_flags_and_earlier_answers_count() {
    let check = |earlier: Option<&str>, flags: &[&str], is_run: bool, hint: &str| {
        let project = unreadable();
        let cargo = project.cargo(CARGO);
        earlier.into_iter().for_each(|it| keep(&project, it));
        let mut command = project.command(flags);
        let (printed, text) = output(command.env("CARGO", cargo).env_remove("CARGO_TARGET_DIR"));
        assert_eq!(printed, None);
        assert_eq!(text.contains("cargo was run"), is_run, "{earlier:?} {flags:?}\n{text}");
        assert!(text.contains(hint), "{earlier:?} {flags:?}\n{text}");
        assert_eq!(answers(&project), earlier.into_iter().collect::<Vec<_>>());
    };
    let compiles = "`asked` does not compile";
    check(
        None,
        &[],
        false,
        "hint: pass `--compile` to use the compiled code: this runs build scripts",
    );
    check(None, &["--compile"], true, compiles);
    check(None, &["--no-compile"], false, "Asked → spec.size");
    check(Some("yes"), &[], true, compiles);
    check(Some("yes"), &["--no-compile"], false, "Asked → spec.size");
    check(Some("no"), &[], false, "you declined earlier, and `rm ");
    check(Some("no"), &["--compile"], true, compiles);
    check(Some("maybe"), &[], false, "hint: pass `--compile`");
}

#[test]
fn a_person_is_asked_once() {
    for (letter, word) in [("y", "yes"), ("n", "no"), ("\r", "no")] {
        let project = unreadable();
        let mut terminal = start(&project, "");
        expect(&mut terminal, "--> src/lib.rs:");
        expect(&mut terminal, "compiling runs the project's build scripts and macros");
        expect(&mut terminal, "Compile this project to get its CRDs? [y/N]");
        terminal.send(letter).unwrap();
        terminal.flush().unwrap();
        expect(&mut terminal, "the answer is stored in");
        expect(
            &mut terminal,
            if word == "yes" { "cargo was run" } else { "hint: pass `--compile`" },
        );
        expect(&mut terminal, "ended with 1");
        assert_eq!(answers(&project), [word]);
        let mut again = start(&project, "");
        let text = again.exp_eof().unwrap();
        assert!(!text.contains("[y/N]"), "{text}");
        assert_eq!(text.contains("cargo was run"), word == "yes", "{text}");
    }
}

#[test]
fn a_person_is_not_asked_where_a_flag_says_it() {
    for (flag, is_run) in [("--compile", true), ("--no-compile", false)] {
        let project = unreadable();
        let text = start(&project, flag).exp_eof().unwrap();
        assert!(!text.contains("[y/N]"), "{text}");
        assert_eq!(text.contains("cargo was run"), is_run, "{text}");
        assert!(answers(&project).is_empty(), "a flag is for one run");
    }
}

/// The compiler would refuse it, too.
#[test]
fn nobody_is_asked_about_a_type_that_is_not_defined() {
    let project = unreadable();
    let path = project.folder.path().join("src/lib.rs");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("#[schemars(schema", "pub missing: Missing, #[schemars(schema", 1),
    )
    .unwrap();
    let text = start(&project, "").exp_eof().unwrap();
    assert!(text.contains("`Missing` is not found"), "{text}");
    assert!(!text.contains("[y/N]"), "{text}");
    assert!(answers(&project).is_empty());
}

#[test]
fn an_interrupted_question_is_no_answer() {
    let project = unreadable();
    let mut terminal = start(&project, "");
    expect(&mut terminal, "[y/N]");
    terminal.send_control('c').unwrap();
    terminal.flush().unwrap();
    let text = terminal.exp_eof().unwrap();
    assert!(!text.contains("cargo was run") && !text.contains("ended with 0"), "{text}");
    assert!(answers(&project).is_empty());
}

#[test]
fn without_a_home_a_person_is_asked_each_time() {
    let project = unreadable();
    for _ in 0..2 {
        let mut terminal = start_with(&project, "", "unset XDG_STATE_HOME HOME;");
        expect(&mut terminal, "[y/N]");
        terminal.send("n").unwrap();
        terminal.flush().unwrap();
        expect(&mut terminal, "ended with 1");
    }
    assert!(answers(&project).is_empty());
}

#[test]
fn an_operator_is_asked_by_each_command_that_reads_its_source() {
    let dir = support::fresh("compile-permission");
    support::done(&dir, "init --domain example.com --project-name asked");
    support::done(&dir, "create api --group cache --kind Memcached");
    let types = dir.join("api/src/cache/v1alpha1/memcached.rs");
    let text = fs::read_to_string(&types).unwrap();
    let field = "pub struct MemcachedSpec {\n    #[schemars(schema_with = \"outside\")]\n    pub outside: String,";
    let function = "\nfn outside(_: &mut schemars::SchemaGenerator) -> schemars::Schema {\n    \
                    let it = std::env::var(\"NOBODY_SETS_THIS\").map_or(7, |it| it.len());\n    \
                    schemars::json_schema!({ \"maxLength\": it })\n}\n";
    assert!(text.contains("pub struct MemcachedSpec {"), "{text}");
    fs::write(&types, text.replace("pub struct MemcachedSpec {", field) + function).unwrap();
    let state = tempfile::tempdir().unwrap();
    let run = |words: &str| {
        let mut command = support::command(support::BINARY, &dir);
        command.args(words.split(' ')).env("XDG_STATE_HOME", state.path());
        command.env("CARGO", "/bin/false").stdout(Stdio::null());
        let output = command.output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    for words in ["manifests", "generate", "manifests --check", "generate --diff"] {
        let text = run(words);
        assert!(text.contains("hint: pass `--compile`"), "{words}\n{text}");
        let text = run(&format!("{words} --compile"));
        assert!(text.contains("`asked_api` does not compile"), "{words}\n{text}");
    }
    let text = run("bundle");
    assert!(text.contains("hint: run `operator-rs generate crds --compile` first"), "{text}");
    // What a command is about to write cannot be compiled yet.
    let before = support::tree(&dir);
    let text = run("create api --group cache --kind Other");
    assert!(text.contains("hint: pass `--compile`"), "{text}");
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
    let text = run("create api --group cache --kind Other --compile");
    assert!(text.contains("run `operator-rs manifests` afterwards"), "{text}");
    assert!(dir.join("api/src/cache/v1alpha1/other.rs").exists());
    assert!(!dir.join("config/crd/bases/cache.example.com_others.yaml").exists());
}

fn start(project: &Project, flags: &str) -> PtySession {
    start_with(project, flags, "")
}

/// The tool at a terminal, with a cargo that only says that it was run.
fn start_with(project: &Project, flags: &str, before: &str) -> PtySession {
    let mut command = project.command(&[]);
    let cargo = project.cargo(CARGO);
    let mut shell = support::command("bash", project.folder.path());
    shell.stdin(Stdio::inherit());
    for (name, value) in command.env_remove("CARGO_TARGET_DIR").get_envs() {
        match value {
            Some(value) => shell.env(name, value),
            None => shell.env_remove(name),
        };
    }
    let script =
        format!("trap : INT; {before} \"$0\" generate crds {flags}; echo \"ended with $?\"");
    shell.args(["-c", &script, support::BINARY]).env("TERM", "xterm").env("CARGO", cargo);
    let options = Options::new().timeout_ms(Some(20_000)).strip_ansi_escape_codes(true);
    spawn_with_options(shell, options).expect("there are pseudo-terminals")
}

#[track_caller]
fn expect(terminal: &mut PtySession, text: &str) {
    terminal.exp_string(text).unwrap_or_else(|it| panic!("waiting for `{text}`: {it}"));
}
