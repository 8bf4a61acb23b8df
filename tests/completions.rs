//! Completion, asked of real shells: bash and zsh by pressing Tab at a terminal, fish by `complete -C`.
//!
//! A shell that is not on PATH is taken from the tools; `tests/control-plane/build shells` fetches it there.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use rexpect::session::{PtySession, spawn_command};

/// A command line that ends in Tab, and what is shown then, in this order.
const LINES: &[(&str, &[&str])] = &[
    ("operator-rs create api --", &["--finalizer"]),
    ("operator-rs create api --group ", &["cache", "web"]),
    ("operator-rs create api --group web --kind ", &["Site"]),
    ("operator-rs create api --kind Memcached --version v1b", &["eta1"]),
    ("operator-rs generate crds --output-f", &["ile"]),
    ("operator-rs unde", &["ploy"]),
];

fn project() -> PathBuf {
    let dir = support::fresh("completions");
    support::done(&dir, "init --project-name completions");
    for words in [
        "--group cache --kind Memcached --version v1alpha1",
        "--group cache --kind Memcached --version v1beta1",
        "--group web --kind Site --version v2",
    ] {
        support::done(&dir, &format!("create api {words} --controller=false"));
    }
    dir
}

#[test]
fn bash_zsh_and_fish_complete_commands_flags_and_the_projects_apis() {
    let dir = project();
    let before = support::tree(&dir);
    if let Some(bash) = shell("bash") {
        let mut command = bash.command(&dir);
        command.args(["--norc", "--noprofile", "-i"]);
        press_tab("bash", command, "source <(operator-rs completion bash)");
    }
    if let Some(zsh) = shell("zsh") {
        // From a folder below the project.
        let mut command = zsh.command(&dir.join("src"));
        command.args(["-f", "-i"]);
        let load = "autoload -U compinit && compinit -u -D; source <(operator-rs completion zsh)";
        press_tab("zsh", command, load);
    }
    if let Some(fish) = shell("fish") {
        for (line, shown) in LINES {
            let ask = format!("operator-rs completion fish | source; complete -C '{line}'");
            let output = fish.command(&dir).args(["--no-config", "-c", &ask]).output().unwrap();
            let text = support::said(&output);
            for it in *shown {
                assert!(output.stderr.is_empty() && text.contains(it), "fish, {line}: {text}");
            }
        }
    }
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
}

fn press_tab(name: &str, mut command: Command, load: &str) {
    command.stdin(Stdio::inherit());
    let mut terminal = spawn_command(command, Some(20_000)).expect("the shell starts");
    // A terminal that does not echo is one that readline does not write on.
    terminal.send_line(&format!("stty echo; {load}; echo scr''ipt loaded")).unwrap();
    expect(name, &mut terminal, "script loaded");
    for (line, shown) in LINES {
        // Ctrl-U empties the line; two Tabs list the candidates, one completes the only one.
        terminal.send(&format!("\u{15}{line}\t\t")).unwrap();
        terminal.flush().unwrap();
        shown.iter().for_each(|it| expect(name, &mut terminal, it));
    }
    terminal.send("\u{15}exit\r").unwrap();
    terminal.flush().unwrap();
}

fn expect(name: &str, terminal: &mut PtySession, text: &str) {
    if let Err(error) = terminal.exp_string(text) {
        panic!("{name} does not show `{text}`: {error}");
    }
}

#[test]
fn completing_is_silent_and_changes_nothing_whatever_project_is() {
    let worlds: &[(&str, Put)] = &[
        ("nothing", |_| {}),
        ("a-folder", |it| fs::create_dir(it).unwrap()),
        ("no-utf-8", |it| fs::write(it, b"\xff\xfe").unwrap()),
        ("no-yaml", |it| fs::write(it, "a: [").unwrap()),
        ("control-characters", |it| {
            fs::write(it, "resources:\n- kind: \"\\e[31m\"\nversion: \"3\"\n").unwrap();
        }),
        ("a-link", |it| symlink("/dev/zero", it).unwrap()),
        ("a-pipe", |it| assert!(Command::new("mkfifo").arg(it).status().unwrap().success())),
    ];
    for (name, put) in worlds {
        let dir = support::fresh(&format!("completions-{name}"));
        put(&dir.join("PROJECT"));
        for shell in ["bash", "zsh", "fish", "powershell"] {
            let output = support::command(support::BINARY, &dir)
                .env("OPERATOR_RS_COMPLETE", shell)
                .env("_CLAP_COMPLETE_INDEX", "4")
                .args(["--", "operator-rs", "create", "api", "--group", ""])
                .output()
                .unwrap();
            let text = support::said(&output);
            assert!(output.status.success() && output.stderr.is_empty(), "{name}, {shell}: {text}");
            assert!(output.stdout.is_empty(), "{name}, {shell}: {text}");
        }
        assert_eq!(fs::read_dir(&dir).unwrap().count(), usize::from(*name != "nothing"), "{name}");
    }
}

#[test]
fn the_variable_alone_changes_no_command() {
    let dir = support::fresh("completions-variable");
    let mut command = support::command(support::BINARY, &dir);
    let output = command.env("OPERATOR_RS_COMPLETE", "bash").arg("manifests").output().unwrap();
    assert!(!output.status.success() && !output.stderr.is_empty(), "{}", support::said(&output));
}

/// Puts something at the path of PROJECT.
type Put = fn(&Path);

/// A shell, and the folder that its package was unpacked in.
struct Shell {
    program: PathBuf,
    unpacked: Option<PathBuf>,
}

fn shell(name: &str) -> Option<Shell> {
    let path = format!("shells/{name}");
    let program = support::installed(&[name], "shells", &path)?;
    let unpacked = program.parent().filter(|_| program.ends_with(&path)).map(Path::to_owned);
    Some(Shell { program, unpacked })
}

impl Shell {
    fn command(&self, dir: &Path) -> Command {
        let mut res = support::command(&self.program, dir);
        let programs = Path::new(support::BINARY).parent().unwrap().display();
        res.env("PATH", format!("{programs}:/usr/bin:/bin")).env("HOME", dir.parent().unwrap());
        res.env("TERM", "dumb").env("PS1", "> ");
        if let Some(unpacked) = &self.unpacked {
            let functions = unpacked.join("usr/share/zsh/functions");
            let folders = walkdir::WalkDir::new(functions).into_iter().filter_map(Result::ok);
            let folders = folders.filter(|it| it.file_type().is_dir()).map(|it| it.into_path());
            res.env("FPATH", std::env::join_paths(folders).unwrap());
            res.env("LD_LIBRARY_PATH", unpacked.join("lib"));
        }
        res
    }
}
