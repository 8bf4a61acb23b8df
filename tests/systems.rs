//! What differs between operating systems: line ends, separators, long paths, names, programs, files that are open, Ctrl-C.
//! Each is tried with the program of this system and, with `PROGRAMS=tests/windows/bin`, with that for Windows under wine.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::BTreeMap,
    env, fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use support::page::programs;

/// Returns whether the program that is tried is the one for Windows.
fn is_windows() -> bool {
    cfg!(windows) || programs().ends_with("windows/bin")
}

fn is_wine() -> bool {
    is_windows() && !cfg!(windows)
}

fn command(dir: &Path, words: &[&str]) -> Command {
    let program = programs().join(format!("operator-rs{}", env::consts::EXE_SUFFIX));
    let mut command = support::command(program, dir);
    command.args(words);
    command
}

/// Runs a command line of words without spaces; returns what it prints, and its exit status.
fn run(dir: &Path, line: &str) -> String {
    run_words(dir, &line.split_whitespace().collect::<Vec<_>>())
}

fn run_words(dir: &Path, words: &[&str]) -> String {
    support::said(&command(dir, words).output().expect("the program starts"))
}

/// The same for a command that must succeed.
fn done(dir: &Path, line: &str) -> String {
    let said = run(dir, line);
    assert!(said.contains("[exit status: 0]"), "{line}\n{said}");
    said
}

fn project(name: &str) -> PathBuf {
    let dir = support::fresh(name).join("cache-operator");
    fs::create_dir(&dir).unwrap();
    done(&dir, "init --domain example.com");
    done(&dir, "create api --group cache --kind Memcached");
    dir
}

fn copy(from: &Path, to: &Path) {
    support::put(&support::tree(from), to);
}

type Files = BTreeMap<String, Vec<u8>>;

fn with_line_ends(files: Files, end: &str) -> Files {
    let convert = |bytes: Vec<u8>| {
        let text = String::from_utf8(bytes).expect("a project is text");
        text.replace("\r\n", "\n").replace('\n', end).into_bytes()
    };
    files.into_iter().map(|(path, bytes)| (path, convert(bytes))).collect()
}

/// Commands that read and change every kind of file that a project has.
const EVERY_FILE: &[&str] = &[
    "manifests --check",
    "generate --check",
    "bundle",
    "bundle --check",
    "bundle validate",
    "generate chart",
    "generate chart --check",
    "chart check chart --observed PROJECT",
    "generate installer --output-file dist/install.yaml",
    "status",
    "generate docs --output-dir docs/api",
    "generate catalog --image quay.io/a/b:v1",
    "create api --group cache --kind Redis",
    "create webhook --group cache --kind Redis --version v1alpha1 --defaulting",
    "create api --group cache --kind Redis --version v1beta1",
    "manifests --check",
    "edit --group cache --kind Redis --storage-version v1beta1",
    "crds diff config/crd/bases",
    "delete webhook --group cache --kind Redis",
    "delete api --group cache --kind Redis --version v1alpha1",
    "delete api --group cache --kind Redis",
    "bundle",
    "generate --check",
];

#[test]
fn every_command_does_the_same_in_a_project_with_the_line_ends_of_windows() {
    let unix = project("line-ends");
    let windows = unix.with_file_name("crlf").join("cache-operator");
    for line in EVERY_FILE {
        // As git checks them out, also what the commands before have written.
        support::put(&with_line_ends(support::tree(&unix), "\r\n"), &windows);
        assert_eq!(run(&windows, line), run(&unix, line), "{line}");
        let (is, expected) = (support::tree(&windows), support::tree(&unix));
        for (path, bytes) in &is {
            let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
            let carriages = bytes.iter().filter(|byte| **byte == b'\r').count();
            assert!(carriages == 0 || carriages == ends, "{line}: {path} has both line ends");
        }
        let difference = support::difference(&expected, &with_line_ends(is, "\n"));
        assert_eq!(difference, None, "{line}");
    }
}

#[test]
fn flags_take_the_separators_of_the_system() {
    if !is_windows() {
        return;
    }
    let slash = project("separators");
    let backslash = slash.with_file_name("backslash").join("cache-operator");
    copy(&slash, &backslash);
    for line in [
        "generate crds --output-dir config/crd/bases --check",
        "generate crds --output-dir ../crds",
        "generate crds --manifest-path api/Cargo.toml --output-file out/crds.yaml",
        "generate schemas --output-dir out/schemas --crds config/crd/bases",
        "generate docs --output-dir out/docs --crds config/crd --samples config/samples",
        "generate installer --output-file dist/install.yaml --manifests config/default",
        "generate chart --output-dir out/chart",
        "chart check out/chart --observed ./PROJECT",
        "bundle --output-dir out/bundle",
        "bundle validate out/bundle/",
        "bundle validate ./out/bundle/manifests",
        "bundle build --bundle-dir out/bundle --archive out/bundle.tar",
        "bundle diff out/bundle.tar ./out/bundle",
        "generate catalog --bundle-dir out/bundle --image quay.io/a/b:v1",
        "catalog add out/bundle --image quay.io/a/b:v1 --catalog-dir out/catalog",
        "catalog validate --catalog-dir out/catalog",
        "scorecard out/bundle --list",
        "crds diff config/crd/bases --to ./config/crd/bases",
        "create api --group cache --kind Redis --dir ./.",
        "deploy --kubeconfig none/config",
    ] {
        let words = |separator: &str| line.replace("quay.io/a/b", "IMAGE").replace('/', separator);
        let run =
            |dir: &Path, separator| run(dir, &words(separator).replace("IMAGE", "quay.io/a/b"));
        assert_eq!(run(&backslash, "\\"), run(&slash, "/"), "{line}");
        let difference = support::difference(&support::tree(&slash), &support::tree(&backslash));
        assert_eq!(difference, None, "{line}");
    }
}

/// Windows has 260 characters for a path, unless it has the prefix `\\?\`. wine has no more for a directory.
#[test]
fn projects_in_long_paths_have_no_prefix_of_the_system() {
    let top = support::fresh("long");
    let length = if is_wine() { 200 } else { 400 } - top.as_os_str().len();
    let name = "directory-with-a-long-name/";
    let long = name.repeat(length / name.len());
    let long = long.trim_end_matches('/');
    fs::create_dir_all(top.join(long)).unwrap();
    for line in [
        "init --domain example.com --project-name cache-operator",
        "create api --group cache --kind Memcached",
        "manifests --check",
        "generate --check",
        "bundle",
        "bundle validate",
        "generate chart",
        "generate crds --output-dir out/crds",
        "create api --group cache --kind Memcached --version v1 --dry-run",
    ] {
        let said = done(&top, &format!("{line} --dir {long}"));
        assert!(!said.contains("\\\\?\\") && !said.contains("//?/"), "{line}\n{said}");
    }
    let files = support::tree(&top);
    assert!(files.keys().any(|path| top.join(path).as_os_str().len() > 260));
    let has_prefix = |bytes: &Vec<u8>| String::from_utf8_lossy(bytes).contains("\\\\?\\");
    assert!(!files.values().any(has_prefix));
}

#[test]
fn names_that_windows_does_not_have_or_that_differ_in_case_alone_are_refused() {
    let dir = project("names");
    let before = support::tree(&dir);
    let on_windows = [
        "generate crds --output-dir out/NUL",
        "generate crds --output-dir con",
        "generate docs --output-dir aux.d",
        "generate installer --output-file dist/com1.yaml",
        "bundle --output-dir PRN",
        "generate chart --output-dir lpt9",
    ];
    for line in on_windows.into_iter().filter(|_| is_windows()) {
        let said = run(&dir, line);
        assert!(said.contains("cannot be the name of a file on Windows"), "{line}\n{said}");
    }
    fs::write(dir.join("bundle.dockerfile"), "mine\n").unwrap();
    let said = run(&dir, "bundle");
    let expected =
        "`bundle.dockerfile` differs in case alone, and is the same file on Windows and macOS";
    assert!(said.contains(expected), "{said}");
    fs::remove_file(dir.join("bundle.dockerfile")).unwrap();
    assert_eq!(support::difference(&before, &support::tree(&dir)), None);
}

/// A program of this name for the shell, and one for the command interpreter of Windows.
fn plant(dir: &Path, name: &str, shell: &str, interpreter: &str) {
    fs::create_dir_all(dir).unwrap();
    let interpreter = format!("@echo off\r\n{interpreter}\r\n");
    fs::write(dir.join(format!("{name}.cmd")), &interpreter).unwrap();
    fs::write(dir.join(format!("{name}.bat")), &interpreter).unwrap();
    fs::write(dir.join(name), format!("#!/bin/sh\n{shell}\n")).unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let executable = fs::Permissions::from_mode(0o755);
        fs::set_permissions(dir.join(name), executable).unwrap();
    }
}

/// Runs a command with these entries of PATH before the others. Under wine, the program has a PATH of its own.
fn with_path(dir: &Path, folders: &[&str], words: &[&str]) -> String {
    let mut command = command(dir, words);
    if is_wine() {
        command.env("WINEPATH", folders.join(";"));
    } else {
        let inherited = env::var_os("PATH").unwrap_or_default();
        let inherited: Vec<PathBuf> = env::split_paths(&inherited).collect();
        let folders = folders.iter().map(PathBuf::from);
        command.env("PATH", env::join_paths(folders.chain(inherited)).unwrap());
    }
    support::said(&command.output().expect("the program starts"))
}

#[test]
fn programs_in_the_current_directory_do_not_run() {
    let dir = project("current-directory");
    done(&dir, "generate chart");
    for name in ["git", "helm", "cargo", "rustc", "sh"] {
        for folder in [dir.clone(), dir.join("bin")] {
            plant(&folder, name, "touch ran", "echo > ran");
        }
    }
    for line in [
        "manifests --message-format github",
        "crds diff",
        "chart check chart",
        "generate crds --compile",
        "status",
    ] {
        with_path(&dir, &[".", "", "bin"], &line.split(' ').collect::<Vec<_>>());
        assert!(!dir.join("ran").exists(), "{line}");
    }
}

#[test]
fn programs_of_every_kind_are_found_on_path_and_get_their_arguments_whole() {
    let dir = project("programs");
    done(&dir, "generate chart --output-dir chart");
    copy(&dir.join("chart"), &dir.join("my chart"));
    let tools = dir.join("my tools");
    plant(
        &tools,
        "helm",
        "cd \"$(dirname \"$0\")\" || exit; printf '%s\\n' \"$@\" > arguments; cat rendered.yaml",
        "cd /d \"%~dp0\"\r\ntype nul > arguments\r\n:next\r\nif \"%~1\"==\"\" goto end\r\necho %~1>> arguments\r\nshift\r\ngoto next\r\n:end\r\ntype rendered.yaml",
    );
    fs::write(
        tools.join("rendered.yaml"),
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n",
    )
    .unwrap();
    let path = format!("{}{}", if is_wine() { "Z:" } else { "" }, tools.display());
    let said = with_path(&dir, &[&path], &["chart", "check", "my chart", "--observed", "PROJECT"]);
    let arguments = fs::read_to_string(tools.join("arguments"));
    let arguments = arguments.unwrap_or_else(|error| panic!("helm did not run: {error}\n{said}"));
    let arguments: Vec<&str> = arguments.lines().map(str::trim_end).collect();
    assert_eq!(arguments.first(), Some(&"template"), "{arguments:?}");
    assert!(arguments.iter().any(|it| it.ends_with("my chart")), "{arguments:?}");
    assert!(!arguments.iter().any(|it| it.contains("\\\\?\\")), "{arguments:?}");
}

/// A program that has a file open until it is dropped, as an editor on Windows may have it.
struct Holder(Child);

impl Holder {
    fn open(file: &Path) -> Option<Self> {
        let program = programs().join("hold-open");
        let Ok(mut child) =
            Command::new(program).arg(file).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()
        else {
            support::missing("no program holds a file open: run `tests/windows/build`");
            return None;
        };
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim(), "open");
        Some(Self(child))
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        drop(self.0.stdin.take());
        let _ = self.0.wait();
    }
}

#[test]
fn a_file_that_is_open_elsewhere_is_refused_and_nothing_is_written() {
    if !is_wine() {
        return;
    }
    let dir = project("open-elsewhere");
    let before = support::tree(&dir);
    let create = "create api --group cache --kind Redis";
    for path in ["PROJECT", "src/controller/mod.rs", "config/rbac/role.yaml"] {
        let Some(_holder) = Holder::open(&dir.join(path)) else { return };
        let said = run(&dir, create);
        assert!(said.contains(path) && said.contains("close the file in other programs"), "{said}");
        assert_eq!(support::difference(&before, &support::tree(&dir)), None, "{path}");
    }
    // It is closed while the command tries again.
    let holder = Holder::open(&dir.join("PROJECT")).expect("it was opened before");
    let closed = thread::spawn(move || {
        thread::sleep(Duration::from_millis(700));
        drop(holder);
    });
    done(&dir, create);
    closed.join().unwrap();
    done(&dir, "generate --check");
}

/// Ends a command as Ctrl-C does, after some time.
fn interrupt(mut child: Child, after: Duration) {
    thread::sleep(after);
    if cfg!(unix) {
        let process = child.id().to_string();
        let _ = Command::new("kill").args(["-INT", &process]).stderr(Stdio::null()).status();
    } else {
        let _ = child.kill();
    }
    let _ = child.wait();
}

#[test]
fn a_command_that_is_interrupted_leaves_the_old_project_or_is_completed_by_the_next_one() {
    let dir = project("interrupted");
    let expected = dir.with_file_name("expected").join("cache-operator");
    copy(&dir, &expected);
    let create = "create api --group cache --kind Redis";
    let start = Instant::now();
    done(&expected, create);
    let (whole, expected) = (start.elapsed(), support::tree(&expected));
    let moments = 8;
    for moment in 1..=moments {
        let copied = dir.with_file_name(format!("at-{moment}")).join("cache-operator");
        copy(&dir, &copied);
        let mut command = command(&copied, &create.split(' ').collect::<Vec<_>>());
        command.stdout(Stdio::null()).stderr(Stdio::null());
        interrupt(command.spawn().expect("the program starts"), whole * moment / moments);
        // It says that the kind exists if it was created, or completed now.
        let said = run(&copied, create);
        let difference = support::difference(&expected, &support::tree(&copied));
        assert_eq!(difference, None, "after {moment} of {moments}\n{said}");
    }
}
