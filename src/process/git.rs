//! git, to read a repository that is not trusted: only commands that look up objects, none that could run programs from
//! the repository's own configuration or connect to another machine.

use std::{
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    path::{Path, PathBuf},
    process::{ChildStdin, ChildStdout, Command, Stdio},
    thread,
};

use anyhow::{Context as _, bail};

use super::{ProgramPath, group::Group};
use diagnostics::Hint as _;
use model::display_path;

/// The longest list of files that is read, in bytes.
const LONGEST_LIST: u64 = 256 << 20;

/// The seconds that git may take for one answer.
const LONGEST_WAIT: u64 = 10;

/// git in a folder.
pub struct Git {
    program: ProgramPath,
    folder: PathBuf,
    /// Variables of the environment that would change which repository is read.
    ignored: Vec<OsString>,
}

/// The output of a git command.
pub enum Answer {
    Done(Vec<u8>),
    /// Its first line on stderr.
    Refused(String),
}

impl Git {
    /// `ignored` names the variables that git must not see: all that begin with `GIT_`.
    pub fn new(folder: &Path, ignored: Vec<OsString>) -> anyhow::Result<Self> {
        Ok(Self { program: ProgramPath::require("git")?, folder: folder.to_owned(), ignored })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut res = self.program.command();
        res.arg("--no-pager").args(["--no-replace-objects", "--literal-pathspecs"]);
        let settings = [
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.bigFileThreshold=16m",
            "protocol.allow=never",
            "safe.bareRepository=explicit",
        ];
        for it in settings {
            res.args(["-c", it]);
        }
        for name in &self.ignored {
            res.env_remove(name);
        }
        // Missing objects of a partial clone are not fetched: the repository names the program that would fetch them.
        res.env("GIT_ALLOW_PROTOCOL", "none").env("GIT_NO_LAZY_FETCH", "1");
        res.env("GIT_TERMINAL_PROMPT", "0").env("GIT_OPTIONAL_LOCKS", "0").env("LC_ALL", "C");
        res.args(arguments).current_dir(&self.folder).stderr(Stdio::piped());
        res
    }

    fn start(&self, arguments: &[&str], stdin: Stdio) -> anyhow::Result<Group> {
        let mut command = self.command(arguments);
        command.stdin(stdin).stdout(Stdio::piped());
        Group::start(&mut command).context("cannot run `git`")
    }

    /// Runs a git command that only reads.
    pub fn run(&self, arguments: &[&str]) -> anyhow::Result<Answer> {
        let mut git = self.start(arguments, Stdio::null())?;
        let limit = git.limit(LONGEST_WAIT);
        let stderr = drain(git.child.stderr.take());
        let mut bytes = Vec::new();
        let stdout = git.child.stdout.take().context("cannot read the output of `git`")?;
        let length = stdout.take(LONGEST_LIST + 1).read_to_end(&mut bytes);
        if LONGEST_LIST < bytes.len() as u64 {
            bail!("`git {}` lists more than {} MiB", arguments.join(" "), LONGEST_LIST >> 20);
        }
        length.context("cannot read the output of `git`")?;
        let status = git.wait().context("cannot wait for `git`")?;
        if limit.is_over() {
            return late(&self.folder, &arguments.join(" "));
        }
        let stderr = stderr.join().unwrap_or_default();
        Ok(if status.success() {
            Answer::Done(bytes)
        } else {
            Answer::Refused(first_line(&stderr))
        })
    }

    /// Starts to read objects, one after the other.
    pub fn start_object_reader(&self) -> anyhow::Result<Objects> {
        Ok(Objects { sizes: self.lookup("--batch-check")?, contents: self.lookup("--batch")? })
    }

    fn lookup(&self, mode: &str) -> anyhow::Result<Lookup> {
        let mut git = self.start(&["cat-file", mode], Stdio::piped())?;
        let stderr = drain(git.child.stderr.take());
        let stdin = git.child.stdin.take().context("cannot write to `git`")?;
        let stdout =
            BufReader::new(git.child.stdout.take().context("cannot read the output of `git`")?);
        Ok(Lookup { folder: self.folder.clone(), git, stdin, stdout, stderr: Some(stderr) })
    }
}

/// git did not end in time, and was killed.
fn late<T>(folder: &Path, arguments: &str) -> anyhow::Result<T> {
    let message = format!("`git {arguments}` did not answer within {LONGEST_WAIT} seconds");
    let hint = format!(
        "run it in `{}` to see why; `find .git -type p` lists pipes that an archive may have brought",
        display_path(&folder)
    );
    Err(anyhow::format_err!(message)).hint(hint)
}

/// Reads the stderr of a program in a thread, so that the program never blocks; the end of a long text is dropped.
fn drain(stderr: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = stderr.by_ref().take(1 << 16).read_to_end(&mut bytes);
            let _ = io::copy(&mut stderr, &mut io::sink());
        }
        bytes
    })
}

fn first_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    let line = text.lines().next().unwrap_or_default();
    line.trim_start_matches("fatal: ").trim_start_matches("error: ").to_owned()
}

/// Reads objects by their ids, until it is dropped.
pub struct Objects {
    sizes: Lookup,
    contents: Lookup,
}

/// The object with an id.
pub enum Object {
    Content(Vec<u8>),
    /// Its size in bytes.
    TooLong(u64),
    Missing,
}

impl Objects {
    /// Reads one object. Its size is looked at first: what is too long is not unpacked.
    pub fn read(&mut self, id: &str, longest: u64) -> anyhow::Result<Object> {
        match self.sizes.size(id)? {
            None => Ok(Object::Missing),
            Some(size) if longest < size => Ok(Object::TooLong(size)),
            Some(_) => self.contents.content(id, longest),
        }
    }
}

/// One `git cat-file`, which gets one id after the other.
struct Lookup {
    folder: PathBuf,
    git: Group,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    stderr: Option<thread::JoinHandle<Vec<u8>>>,
}

impl Lookup {
    /// The size of an object; none if it is missing.
    fn size(&mut self, id: &str) -> anyhow::Result<Option<u64>> {
        self.within_limit(|it| it.ask(id))
    }

    fn content(&mut self, id: &str, longest: u64) -> anyhow::Result<Object> {
        self.within_limit(|it| {
            let Some(size) = it.ask(id)?.filter(|it| *it <= longest) else {
                bail!("the object {id} changed while it was read");
            };
            let mut bytes = Vec::new();
            // A line feed follows.
            let content = it.stdout.by_ref().take(size + 1).read_to_end(&mut bytes);
            content.with_context(|| format!("cannot read the object {id}"))?;
            if bytes.pop() != Some(b'\n') || bytes.len() as u64 != size {
                bail!("`git` ended within the object {id}");
            }
            Ok(Object::Content(bytes))
        })
    }

    fn within_limit<T>(
        &mut self,
        read: impl FnOnce(&mut Self) -> anyhow::Result<T>,
    ) -> anyhow::Result<T> {
        let limit = self.git.limit(LONGEST_WAIT);
        let output = read(self);
        if limit.is_over() { late(&self.folder, "cat-file") } else { output }
    }

    /// Requests an object; returns its size.
    fn ask(&mut self, id: &str) -> anyhow::Result<Option<u64>> {
        if id.is_empty() || !id.bytes().all(|it| it.is_ascii_hexdigit()) {
            bail!("`{id}` is not an object id");
        }
        let reading = || format!("cannot read the object {id} with `git`");
        self.stdin.write_all(format!("{id}\n").as_bytes()).with_context(reading)?;
        self.stdin.flush().with_context(reading)?;
        let mut header = String::new();
        self.stdout.read_line(&mut header).with_context(reading)?;
        match header.trim_end().split(' ').collect::<Vec<_>>()[..] {
            [_, "missing"] => Ok(None),
            [_, _, size] => Ok(Some(size.parse().with_context(reading)?)),
            _ => self.ended(id),
        }
    }

    /// git ends where an object of a partial clone is missing and must not be fetched.
    fn ended(&mut self, id: &str) -> anyhow::Result<Option<u64>> {
        let stderr = self.stderr.take().and_then(|it| it.join().ok()).unwrap_or_default();
        let text = String::from_utf8_lossy(&stderr);
        if ["lazy fetch", "promisor"].iter().any(|it| text.contains(it)) {
            return Ok(None);
        }
        bail!("`git` ended while it looked up the object {id}: {}", first_line(&stderr))
    }
}
