//! One command with limits of time and memory, and what is wrong with how it ended.

use std::{
    ffi::{OsStr, OsString},
    fs,
    os::unix::process::{CommandExt as _, ExitStatusExt as _},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::{Condvar, Mutex, OnceLock},
    thread,
    time::{Duration, Instant},
};

use crate::{
    support, template,
    world::{self, SECRET, World},
};

/// Longer than that is a hang, be it waiting or at work: a debug build on a busy machine takes a third of it at most.
pub const LIMIT: Duration = Duration::from_secs(55);
/// Kilobytes of address space: a command that reads a device without an end must not harm the machine.
const MEMORY: &str = "3000000";
/// Somebody who is not root, where root runs the suite.
pub const NOBODY: u32 = 65_534;

pub struct Outcome {
    pub code: Option<i32>,
    pub signal: Option<i32>,
    pub stdout: Vec<u8>,
    pub stderr: Vec<u8>,
    pub late: bool,
    /// Whether it printed a diff, which `patch` takes as it is.
    diff: bool,
}

impl Outcome {
    pub fn failed(&self) -> bool {
        self.code != Some(0)
    }

    pub fn text(&self) -> String {
        let text = |it: &[u8]| {
            let all = String::from_utf8_lossy(it).into_owned();
            all.chars().take(400).flat_map(char::escape_debug).collect::<String>()
        };
        format!("exit {:?}, stderr: {}", self.code, text(&self.stderr))
    }

    /// What no command may do, whatever it was given.
    pub fn faults(&self) -> Vec<String> {
        let mut res = Vec::new();
        if self.late {
            res.push(format!("ran longer than {} s", LIMIT.as_secs()));
        } else if let Some(signal) = self.signal {
            res.push(format!("died of signal {signal}"));
        } else if !matches!(self.code, Some(0..=2)) {
            res.push(format!("exit code {:?}", self.code));
        }
        let text = String::from_utf8_lossy(&self.stderr);
        if let Some((_, place)) = text.split_once("panicked") {
            res.push(format!("panicked{}", place.lines().next().unwrap_or("")));
        }
        for (name, bytes) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if contains(bytes, SECRET.as_bytes()) {
                res.push(format!("a secret is on {name}"));
            }
        }
        if let Some(it) = control(&self.stderr) {
            res.push(format!("the control character {it:#04x} is on stderr"));
        }
        if !self.diff && self.stdout.contains(&0x1b) {
            res.push("an escape is on stdout".to_owned());
        }
        res
    }
}

pub fn contains(text: &[u8], part: &[u8]) -> bool {
    text.windows(part.len()).any(|it| it == part)
}

/// The first control character that a terminal might obey.
fn control(text: &[u8]) -> Option<u32> {
    let text = String::from_utf8_lossy(text);
    text.chars().find(|it| it.is_control() && !matches!(it, '\n' | '\t')).map(u32::from)
}

/// The program, or another build of it; for others than root at a place that everybody can read.
fn binary(nobody: bool) -> PathBuf {
    static COPY: OnceLock<PathBuf> = OnceLock::new();
    let given = std::env::var_os("HOSTILE_BINARY").unwrap_or_else(|| support::BINARY.into());
    if !nobody || !is_root() {
        return given.into();
    }
    let copy = || {
        let to = template::scratch().join("operator-rs");
        fs::copy(given, &to).expect("the binary can be copied");
        to
    };
    COPY.get_or_init(copy).clone()
}

pub fn is_root() -> bool {
    fs::metadata("/proc/self").is_ok_and(|it| std::os::unix::fs::MetadataExt::uid(&it) == 0)
}

/// Runs `operator-rs` in the world's project.
pub fn run(world: &World, words: &[OsString], nobody: bool) -> Outcome {
    run_to(world, words, nobody, "")
}

/// Runs `operator-rs` in the world's project, with redirections of a shell.
pub fn run_to(world: &World, words: &[OsString], nobody: bool, redirections: &str) -> Outcome {
    program(&binary(nobody), world, words, nobody, redirections)
}

/// Runs any program in the world's project.
pub fn program(
    program: &Path,
    world: &World,
    words: &[OsString],
    nobody: bool,
    redirections: &str,
) -> Outcome {
    run_as(program, world, words, redirections, LIMIT, |command| {
        if nobody && is_root() {
            command.uid(NOBODY).gid(NOBODY);
        }
    })
}

/// Runs `operator-rs` in the world's project within a time limit, after a change of its command.
pub fn run_in(
    world: &World,
    words: &str,
    limit: Duration,
    change: impl Fn(&mut Command),
) -> Outcome {
    run_as(&binary(false), world, &self::words(words), "", limit, change)
}

fn run_as(
    program: &Path,
    world: &World,
    words: &[OsString],
    redirections: &str,
    limit: Duration,
    change: impl Fn(&mut Command),
) -> Outcome {
    let output = world.dir.with_extension("out");
    let errors = world.dir.with_extension("err");
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("ulimit -c 0; ulimit -v {MEMORY}; exec \"$0\" \"$@\" {redirections}"));
    command.arg(program).args(words).current_dir(&world.project);
    environment(&mut command, world);
    let file = |path: &Path| fs::File::create(path).expect("the scratch folder can be written");
    command.stdin(Stdio::null()).stdout(file(&output)).stderr(file(&errors)).process_group(0);
    change(&mut command);
    let mut child = command.spawn().expect("a shell starts");
    let start = Instant::now();
    let mut pause = Duration::from_micros(500);
    let (status, late) = loop {
        if let Some(status) = child.try_wait().expect("it is our child") {
            break (status, false);
        }
        if limit < start.elapsed() && !is_starved(child.id(), start.elapsed()) {
            let group = format!("-{}", child.id());
            let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
            let _ = child.kill();
            break (child.wait().expect("it is our child"), true);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(5));
    };
    let read = |path: &Path| {
        let bytes = fs::read(path).expect("it was just written");
        let _ = fs::remove_file(path);
        bytes
    };
    let (stdout, stderr) = (read(&output), read(&errors));
    let diff = words.iter().any(|it| it == "--diff");
    Outcome { code: status.code(), signal: status.signal(), stdout, stderr, late, diff }
}

/// Whether a process wants to run and has not had its time, as others use the machine, too.
fn is_starved(process: u32, elapsed: Duration) -> bool {
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // Behind the name, which is in brackets: user and system time are the 12th and 13th field.
    let fields = stat.rsplit(") ").next().unwrap_or("").split(' ').skip(11).take(2);
    let ticks: u64 = fields.filter_map(|it| it.parse::<u64>().ok()).sum();
    let used = Duration::from_millis(ticks * 10);
    elapsed < LIMIT * 6 && elapsed / 8 < used && used < LIMIT
}

/// Nothing of the caller's environment; every folder that programs write to is a watched one.
fn environment(command: &mut Command, world: &World) {
    let home = world.dir.join("home");
    let bin = world.dir.join("bin");
    // The clone has programs in the directories that the relative entries mean.
    let path = format!(":.:{}:{}:/usr/bin:/bin", world::OWN_PROGRAMS, bin.display());
    command.env_clear().env("PATH", path).env("LC_ALL", "C").env("TOKEN", SECRET);
    for (name, value) in [
        ("HOME", home.clone()),
        ("CARGO_HOME", home.join(".cargo")),
        ("XDG_CONFIG_HOME", home.join(".config")),
        ("XDG_CACHE_HOME", home.join(".cache")),
        ("XDG_DATA_HOME", home.join(".local/share")),
        ("XDG_STATE_HOME", home.join(".local/state")),
        ("TMPDIR", world.dir.join("tmp")),
        ("KUBECONFIG", home.join(".kube/config")),
        ("KUBEBUILDER_ASSETS", bin.clone()),
        ("CARGO", bin.join("cargo")),
    ] {
        command.env(name, value);
    }
}

/// As many commands at once as there are processors, for those who run many: the time limit is fair.
pub struct Turn;

static RUNNING: (Mutex<usize>, Condvar) = (Mutex::new(0), Condvar::new());

impl Turn {
    pub fn wait() -> Self {
        let most = thread::available_parallelism().map_or(2, usize::from);
        let running = RUNNING.0.lock().expect("nobody panics with it");
        let mut running =
            RUNNING.1.wait_while(running, |it| most <= *it).expect("nobody panics with it");
        *running += 1;
        Self
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        *RUNNING.0.lock().expect("nobody panics with it") -= 1;
        RUNNING.1.notify_one();
    }
}

/// The words of a command line; none of them has a space.
pub fn words(text: &str) -> Vec<OsString> {
    text.split_whitespace().map(|it| OsStr::new(it).to_owned()).collect()
}
