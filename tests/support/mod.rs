//! What the suites share: the binary in a folder, trees of files, the oracles, and where generated
//! projects are built. It decides nothing about what is right.

#![allow(dead_code, reason = "each suite takes what it needs")]
#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stderr, reason = "a test that cannot be run says so")]

use std::{
    collections::BTreeMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use walkdir::WalkDir;

pub mod generated;
pub mod page;
pub mod registry;
pub mod shop;
pub mod workflow;

/// The program under test.
pub const BINARY: &str = env!("CARGO_BIN_EXE_operator-rs");

/// A Cargo.lock with the packages that a kind needs, for a package of this name.
pub fn lock_for(package: &str) -> String {
    let lock = fs::read_to_string(home().join("tests/schemas/Cargo.lock"));
    let lock = lock.expect("the file is in this repository");
    let own = format!("name = \"{package}\"\nversion = \"0.1.0\"");
    lock.replace("name = \"schemas\"\nversion = \"0.0.1\"", &own)
}

/// This repository.
pub fn home() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The folder of this name, the same one in every run. Each suite has its own ones, since suites run side by side.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("suites").join(env!("CARGO_CRATE_NAME")).join(name)
}

/// That folder, new and empty.
pub fn fresh(name: &str) -> PathBuf {
    let dir = folder(name);
    if dir.exists() {
        fs::remove_dir_all(&dir).expect("what an earlier run left can be removed");
    }
    fs::create_dir_all(&dir).expect("target/tmp can be written");
    dir
}

/// A folder for answers and downloads, which do not count inside of this repository.
pub fn outside() -> PathBuf {
    let mut hasher = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(env!("CARGO_TARGET_TMPDIR"), &mut hasher);
    let name = format!("operator-rs-tests-{:x}", std::hash::Hasher::finish(&hasher));
    env::temp_dir().join(name)
}

/// The program in a folder, with nobody to ask and nothing of the caller's environment.
pub fn command(program: impl AsRef<Path>, dir: &Path) -> Command {
    let mut res = Command::new(program.as_ref());
    res.current_dir(dir).stdin(std::process::Stdio::null()).env("LC_ALL", "C");
    // What is answered here is nobody's answer elsewhere.
    res.env("XDG_STATE_HOME", outside().join("state"));
    for name in ["SOURCE_DATE_EPOCH", "CLICOLOR_FORCE", "COLUMNS", "RUST_BACKTRACE"] {
        res.env_remove(name);
    }
    res
}

/// Runs `operator-rs` with these words.
pub fn operator_rs(dir: &Path, words: &str) -> Output {
    command(BINARY, dir).args(words.split_whitespace()).output().expect("the binary starts")
}

/// Runs `operator-rs`, which must succeed, and returns its stdout.
pub fn done(dir: &Path, words: &str) -> String {
    let output = operator_rs(dir, words);
    assert!(output.status.success(), "operator-rs {words}\n{}", said(&output));
    String::from_utf8(output.stdout).expect("stdout is UTF-8")
}

/// The commands that a help text lists, in groups or not, without `help`.
pub fn commands_in(help: &str) -> Vec<String> {
    let (_, rest) = help.split_once("Usage: ").expect("a help text says how the command is used");
    let (usage, rest) = rest.split_once("\n\n").unwrap_or((rest, ""));
    let lists = rest.split("\n\n").take_while(|it| !it.starts_with("Options:"));
    let lists = lists.filter(|it| !it.starts_with("Arguments:"));
    // A line that goes on is indented further.
    let lines = lists.flat_map(|it| it.lines().skip(1)).filter_map(|it| it.strip_prefix("  "));
    let names = lines.filter_map(|it| it.split(' ').next()).filter(|it| !it.is_empty());
    let res: Vec<String> = names.filter(|it| *it != "help").map(str::to_owned).collect();
    let has_some = usage.lines().any(|it| it.ends_with(" <COMMAND>"));
    assert_eq!(has_some, !res.is_empty(), "{help}");
    res
}

/// What a program said, for a message.
pub fn said(output: &Output) -> String {
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    format!("{}{}[{}]", text(&output.stdout), text(&output.stderr), output.status)
}

/// Every file, symlink and empty folder below a folder, hidden ones too, but for `.git` and `target`.
pub fn tree(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut res = BTreeMap::new();
    let skipped = |it: &walkdir::DirEntry| {
        it.depth() == 1 && (it.file_name() == ".git" || it.file_name() == "target")
    };
    for entry in WalkDir::new(root).into_iter().filter_entry(|it| !skipped(it)) {
        let entry = entry.expect("the folder can be listed");
        let path = entry.path().strip_prefix(root).expect("it is below").to_string_lossy();
        let path = if cfg!(windows) { path.replace('\\', "/") } else { path.into_owned() };
        let bytes = if entry.path_is_symlink() {
            let to = fs::read_link(entry.path()).expect("a symlink leads somewhere");
            format!("-> {}", to.display()).into_bytes()
        } else if entry.file_type().is_file() {
            fs::read(entry.path()).expect("the file can be read")
        } else {
            let mut below = fs::read_dir(entry.path()).expect("the folder can be listed");
            if entry.depth() == 0 || below.next().is_some() {
                continue;
            }
            res.insert(format!("{path}/"), Vec::new());
            continue;
        };
        res.insert(path, bytes);
    }
    res
}

/// The first difference of two trees; nothing if they are the same, byte for byte.
pub fn difference(
    was: &BTreeMap<String, Vec<u8>>,
    is: &BTreeMap<String, Vec<u8>>,
) -> Option<String> {
    let text = |it: &[u8]| String::from_utf8_lossy(it).into_owned();
    was.keys().chain(is.keys()).find(|it| was.get(*it) != is.get(*it)).map(|path| {
        match (was.get(path), is.get(path)) {
            (Some(_), None) => format!("`{path}` is not there now"),
            (None, _) => format!("`{path}` is new"),
            (Some(was), Some(is)) => {
                let (was, is) = (text(was), text(is));
                let diff = similar::TextDiff::from_lines(&was, &is);
                format!("`{path}` differs:\n{}", diff.unified_diff())
            }
        }
    })
}

/// Writes a tree's files into a folder.
pub fn put(files: &BTreeMap<String, Vec<u8>>, to: &Path) {
    for (path, bytes) in files {
        let file = to.join(path);
        if path.ends_with('/') {
            fs::create_dir_all(file).expect("it is ours");
            continue;
        }
        fs::create_dir_all(file.parent().expect("a file is in a folder")).expect("it is ours");
        fs::write(file, bytes).expect("it is ours");
    }
}

/// Makes a folder hold these files and no others. Files that are as they were keep their age, so that cargo builds again
/// only what has changed.
pub fn sync(mut files: BTreeMap<String, Vec<u8>>, to: &Path) {
    fs::create_dir_all(to).expect("target/tmp can be written");
    let before = tree(to);
    for stale in before.keys().filter(|it| !files.contains_key(*it)) {
        let path = to.join(stale);
        match stale.ends_with('/') {
            true => fs::remove_dir(&path).expect("it is ours"),
            false => fs::remove_file(&path).expect("it is ours"),
        }
        // And the folders that it leaves empty.
        for folder in path.ancestors().skip(1).take_while(|it| *it != to) {
            if fs::remove_dir(folder).is_err() {
                break;
            }
        }
    }
    files.retain(|path, bytes| before.get(path) != Some(bytes));
    put(&files, to);
}

/// An oracle by name. Where it is absent the test says so and goes without; with `CI=true` it fails.
pub fn tool(name: &str) -> Option<PathBuf> {
    tool_of(name, name)
}

/// An oracle by name that is built together with others, all called `all`.
pub fn tool_of(all: &str, name: &str) -> Option<PathBuf> {
    let path = tools().join(name);
    if path.is_file() {
        return Some(path);
    }
    missing(&format!(
        "`{name}` is not in {}: build it with `tests/control-plane/build {all}`",
        tools().display()
    ));
    None
}

/// A program that the tests use where it is installed, under the first of these names that is on PATH. Where it is not,
/// `tests/control-plane/build` unpacks `path` from Debian's packages with the others of `all`.
pub fn installed(names: &[&str], all: &str, path: &str) -> Option<PathBuf> {
    let folders = env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = env::split_paths(&folders).collect();
    let mut found = names.iter().flat_map(|name| folders.iter().map(move |it| it.join(name)));
    if let Some(program) = found.find(|it| it.is_file()) {
        return Some(program);
    }
    let program = tools().join(path);
    if program.is_file() {
        return Some(program);
    }
    let names = names.join("`, `");
    missing(&format!(
        "`{names}` is not on PATH: install it, or, on Debian, run `tests/control-plane/build {all}`"
    ));
    None
}

/// A copy of a command which signals end, also where whoever runs the tests ignores some, as `nohup` and the background
/// jobs of scripts do: what is ignored stays so in every child, and neither a shell nor we can take it back without `env`.
pub fn obedient(command: &Command) -> Command {
    let mut res = Command::new("env");
    res.arg("--default-signal=HUP,INT,TERM").arg(command.get_program()).args(command.get_args());
    res.stdin(std::process::Stdio::null());
    if let Some(dir) = command.get_current_dir() {
        res.current_dir(dir);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => res.env(name, value),
            None => res.env_remove(name),
        };
    }
    res
}

/// Says that a test could not be run, and why; with `CI=true` that is a failure.
pub fn missing(why: &str) {
    assert!(env::var_os("CI").is_none_or(|it| it != "true"), "not run: {why}");
    eprintln!("not run: {why}");
}

/// Whether Rust has the standard library of a platform here.
pub fn has_target(triple: &str) -> bool {
    let output =
        Command::new("rustc").args(["--print", "target-libdir", "--target", triple]).output();
    let path = String::from_utf8(output.expect("rustc starts").stdout).unwrap();
    let has = Path::new(path.trim()).is_dir();
    if !has {
        missing(&format!("Rust's target is absent: run `rustup target add {triple}`"));
    }
    has
}

/// Where the oracles are; the same words as in `tests/control-plane/build`.
fn tools() -> PathBuf {
    if let Some(it) = env::var_os("TOOLS") {
        return it.into();
    }
    let cache = match env::var_os("XDG_CACHE_HOME") {
        Some(it) if !it.is_empty() => PathBuf::from(it),
        _ => PathBuf::from(env::var_os("HOME").unwrap_or_default()).join(".cache"),
    };
    cache.join("operator-rs/tools")
}

/// Has cargo, or a program that runs it, build in the folder that all suites share, in the same way for all: a crate
/// is built again for another profile, and `ring`, which half of the others need, for another `CARGO_MANIFEST_DIR`.
pub fn building(command: &mut Command) -> &mut Command {
    // Neither changes what is compiled or tested; both take time and space here.
    command.env("CARGO_PROFILE_DEV_DEBUG", "0").env("CARGO_INCREMENTAL", "0");
    untold(command).env_remove("RUSTFLAGS").env("CARGO_TARGET_DIR", generated_target());
    // What the tests were compiled with is not compiled again, by a cargo that knows this (1.91).
    command.env("CARGO_BUILD_BUILD_DIR", build_dir())
}

/// Where cargo put the crates that the tests were compiled with.
pub fn build_dir() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("it is in the build folder")
}

/// Keeps other suites from building in the folder that all share, until the result is dropped. Cargo gives up its own lock
/// before it runs what it has built, and another project has crates and programs of the same names.
pub fn alone_in_target() -> fs::File {
    let target = generated_target();
    fs::create_dir_all(&target).expect("it can be made");
    let lock = fs::File::create(target.join("suites.lock")).expect("it can be written");
    lock.lock().expect("it can be locked");
    lock
}

/// Without what cargo tells the tests of this crate about it.
pub fn untold(command: &mut Command) -> &mut Command {
    for (name, _) in env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    command
}

/// The one target folder that every generated project is built in, so that each crate is built once.
pub fn generated_target() -> PathBuf {
    match env::var_os("OPERATOR_RS_TEST_TARGET") {
        Some(it) => it.into(),
        None => home().join("target/generated"),
    }
}
