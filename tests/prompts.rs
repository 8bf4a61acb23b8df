//! What is asked of a person at a terminal, through a pseudo-terminal: a prompt accepts what the flag
//! accepts, and Ctrl-C writes nothing.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::path::{Path, PathBuf};

use rexpect::{
    reader::Options,
    session::{PtySession, spawn_with_options},
};

#[test]
fn a_prompt_accepts_what_the_flag_accepts_and_asks_again_otherwise() {
    let asked = project("asked");
    let mut terminal = start(&asked, "create api");
    expect(&mut terminal, "group (e.g. cache)");
    answer(&mut terminal, "Cache");
    expect(&mut terminal, "must hold only lowercase letters");
    clear(&mut terminal, "Cache");
    answer(&mut terminal, "cache");
    expect(&mut terminal, "kind (e.g. Memcached)");
    answer(&mut terminal, "memcached");
    expect(&mut terminal, "must start with a capital letter");
    clear(&mut terminal, "memcached");
    answer(&mut terminal, "Memcached");
    expect(&mut terminal, "PROJECT");
    assert_eq!(ended(&mut terminal), "0");

    let flags = project("flags");
    support::done(&flags, "create api --group cache --kind Memcached");
    assert_eq!(support::difference(&support::tree(&flags), &support::tree(&asked)), None);
}

#[test]
fn ctrl_c_at_a_prompt_writes_nothing() {
    for (name, first) in [("left-at-once", None), ("left-later", Some("cache"))] {
        let dir = project(name);
        let before = support::tree(&dir);
        let mut terminal = start(&dir, "create api");
        expect(&mut terminal, "group (e.g. cache)");
        if let Some(first) = first {
            answer(&mut terminal, first);
            expect(&mut terminal, "kind (e.g. Memcached)");
        }
        terminal.send_control('c').unwrap();
        terminal.flush().unwrap();
        assert_ne!(ended(&mut terminal), "0");
        assert_eq!(support::difference(&before, &support::tree(&dir)), None);
        support::done(&dir, "generate --check");
    }
}

#[test]
fn what_is_edited_while_a_prompt_waits_is_kept() {
    let dir = project("edited");
    let mut terminal = start(&dir, "create api --group cache");
    expect(&mut terminal, "kind (e.g. Memcached)");
    let path = dir.join("PROJECT");
    let edited = std::fs::read_to_string(&path).unwrap() + "# mine\n";
    std::fs::write(&path, &edited).unwrap();
    answer(&mut terminal, "Memcached");
    expect(&mut terminal, "PROJECT: it changed while the command ran");
    assert_ne!(ended(&mut terminal), "0");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), edited);
    assert!(!dir.join("src/controller/memcached.rs").exists());
    support::done(&dir, "create api --group cache --kind Memcached");
}

#[test]
fn nobody_is_asked_what_the_flags_say() {
    let dir = project("told");
    let mut terminal = start(&dir, "create api --group cache --kind Memcached");
    let said = terminal.exp_eof().unwrap();
    assert!(!said.contains("e.g.") && said.contains("ended with 0"), "{said}");
}

#[test]
fn a_manual_page_can_be_read_on_a_terminal() {
    let mut terminal = start(&support::fresh("prompts-man"), "man create api");
    let said = terminal.exp_eof().unwrap();
    assert!(said.contains("Usage: operator-rs create api") && !said.contains(".SH"), "{said}");
}

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("prompts-{name}"));
    support::done(&dir, "init --domain example.com --project-name prompts");
    dir
}

fn start(dir: &Path, words: &str) -> PtySession {
    let mut command = support::command("bash", dir);
    command.stdin(std::process::Stdio::inherit());
    let script = format!("trap : INT; \"$0\" {words}; echo \"ended with $?\"");
    command.args(["-c", &script, support::BINARY]).env("TERM", "xterm");
    let options = Options::new().timeout_ms(Some(20_000)).strip_ansi_escape_codes(true);
    spawn_with_options(command, options).expect("there are pseudo-terminals")
}

#[track_caller]
fn expect(terminal: &mut PtySession, text: &str) {
    terminal.exp_string(text).unwrap_or_else(|it| panic!("waiting for `{text}`: {it}"));
}

/// What was refused stays on the line to be mended: takes it back letter by letter.
fn clear(terminal: &mut PtySession, text: &str) {
    terminal.send(&"\u{7f}".repeat(text.len())).unwrap();
    terminal.flush().unwrap();
}

fn answer(terminal: &mut PtySession, text: &str) {
    terminal.send(&format!("{text}\r")).unwrap();
    terminal.flush().unwrap();
}

/// The exit code, as a shell sees it.
#[track_caller]
fn ended(terminal: &mut PtySession) -> String {
    expect(terminal, "ended with ");
    terminal.read_line().expect("a line").trim().to_owned()
}
