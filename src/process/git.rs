//! git, to read a repository that is not trusted: only commands that look up objects, none that could run programs from
//! the repository's own configuration or connect to another machine.

use std::{
    ffi::OsString,
    io::{self, BufRead as _, BufReader, Read, Write as _},
    path::{Path, PathBuf},
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
    thread,
};

use anyhow::{Context as _, bail};

use crate::hint::Hint as _;

/// The longest list of files that is read, in bytes.
const LONGEST_LIST: u64 = 256 << 20;

/// git in a folder.
pub struct Git {
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
    pub fn new(folder: &Path, ignored: Vec<OsString>) -> Self {
        Self { folder: folder.to_owned(), ignored }
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut res = Command::new("git");
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

    fn start(mut command: Command) -> anyhow::Result<Child> {
        let child = command.spawn().context("running `git`");
        child.hint("install `git`, or add it to PATH")
    }

    /// Runs a git command that only reads.
    pub fn run(&self, arguments: &[&str]) -> anyhow::Result<Answer> {
        let mut command = self.command(arguments);
        let mut child = Self::start({
            command.stdin(Stdio::null()).stdout(Stdio::piped());
            command
        })?;
        let stderr = drain(child.stderr.take());
        let mut bytes = Vec::new();
        let stdout = child.stdout.take().context("reading what `git` prints")?;
        let length = stdout.take(LONGEST_LIST + 1).read_to_end(&mut bytes);
        let too_long = LONGEST_LIST < bytes.len() as u64;
        if too_long || length.is_err() {
            let _ = child.kill();
        }
        let status = child.wait().context("waiting for `git`")?;
        length.context("reading what `git` prints")?;
        if too_long {
            bail!("`git {}` lists more than {} MiB", arguments.join(" "), LONGEST_LIST >> 20);
        }
        let stderr = stderr.join().unwrap_or_default();
        Ok(match status.success() {
            true => Answer::Done(bytes),
            false => Answer::Refused(first_line(&stderr)),
        })
    }

    /// Starts to read objects, one after the other.
    pub fn objects(&self) -> anyhow::Result<Objects> {
        Ok(Objects { sizes: self.lookup("--batch-check")?, contents: self.lookup("--batch")? })
    }

    fn lookup(&self, mode: &str) -> anyhow::Result<Lookup> {
        let mut command = self.command(&["cat-file", mode]);
        let mut child = Self::start({
            command.stdin(Stdio::piped()).stdout(Stdio::piped());
            command
        })?;
        drain(child.stderr.take());
        let stdin = child.stdin.take().context("writing to `git`")?;
        let stdout = BufReader::new(child.stdout.take().context("reading what `git` prints")?);
        Ok(Lookup { child, stdin: Some(stdin), stdout })
    }
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
        match self.sizes.ask(id)? {
            None => Ok(Object::Missing),
            Some(size) if longest < size => Ok(Object::TooLong(size)),
            Some(_) => self.contents.content(id, longest),
        }
    }
}

/// One `git cat-file`, which gets one id after the other.
struct Lookup {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
}

impl Lookup {
    /// Requests an object; returns its size.
    fn ask(&mut self, id: &str) -> anyhow::Result<Option<u64>> {
        if id.is_empty() || !id.bytes().all(|it| it.is_ascii_hexdigit()) {
            bail!("`{id}` is not an object id");
        }
        let reading = || format!("reading the object {id} with `git`");
        let stdin = self.stdin.as_mut().with_context(reading)?;
        stdin.write_all(format!("{id}\n").as_bytes()).with_context(reading)?;
        stdin.flush().with_context(reading)?;
        let mut header = String::new();
        self.stdout.read_line(&mut header).with_context(reading)?;
        match header.trim_end().split(' ').collect::<Vec<_>>()[..] {
            [_, "missing"] => Ok(None),
            [_, _, size] => Ok(Some(size.parse().with_context(reading)?)),
            _ => bail!("`git` ended while it looked up the object {id}"),
        }
    }

    fn content(&mut self, id: &str, longest: u64) -> anyhow::Result<Object> {
        let Some(size) = self.ask(id)?.filter(|it| *it <= longest) else {
            bail!("the object {id} changed while it was read");
        };
        let mut bytes = Vec::new();
        // A line feed follows.
        let content = self.stdout.by_ref().take(size + 1).read_to_end(&mut bytes);
        content.with_context(|| format!("reading the object {id}"))?;
        if bytes.pop() != Some(b'\n') || bytes.len() as u64 != size {
            bail!("`git` ended within the object {id}");
        }
        Ok(Object::Content(bytes))
    }
}

impl Drop for Lookup {
    fn drop(&mut self) {
        // git ends when its stdin is closed.
        drop(self.stdin.take());
        let _ = self.child.wait();
    }
}
