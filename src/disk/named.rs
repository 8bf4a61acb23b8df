//! Files that the user or a kubeconfig names: the one way to read what may be a pipe or a device.
//!
//! All of it is read, up to a size, and until the deadline of the command if it has one. Files of a project are read
//! with [`Root`](super::Root), which opens regular files only.

use std::{
    fs::File,
    io::{self, Read},
    path::Path,
    sync::mpsc::{self, RecvTimeoutError},
    thread,
};

use anyhow::Context as _;

use super::system_errors::is_missing;
use diagnostics::utf8_text;
use model::{Deadline, display_path};

/// The limits for reading a file: its size and a deadline.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub bytes: u64,
    /// The deadline of a command that has one. Others wait for the writer of a pipe, as `cat` does.
    pub deadline: Option<Deadline>,
}

impl Bounds {
    /// Returns the bounds of a file of manifests.
    pub fn of_manifests(deadline: Option<Deadline>) -> Self {
        Self { bytes: 256 << 20, deadline }
    }
}

/// Reads a file, which messages call `description`; `None` if it does not exist.
pub fn read_named(
    description: &str,
    path: &Path,
    bounds: Bounds,
) -> anyhow::Result<Option<Vec<u8>>> {
    // Reading a regular file never waits for another program, so it needs no time limit.
    let is_regular = std::fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    let deadline = bounds.deadline.filter(|_| !is_regular);
    let path = path.to_owned();
    read_until(description, Bounds { deadline, ..bounds }, move || open_file(&path))
}

/// Reads the text of a file.
pub fn read_named_text(path: &Path, bounds: Bounds) -> anyhow::Result<String> {
    let description = format!("`{}`", display_path(&path));
    let bytes = read_named(&description, path, bounds)?;
    let bytes = bytes.with_context(|| format!("there is no {description}"))?;
    owned_text(&bytes, &description)
}

fn owned_text(bytes: &[u8], description: &str) -> anyhow::Result<String> {
    match utf8_text(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(problem) => anyhow::bail!("cannot read {description}: {problem}"),
    }
}

/// Reads the text of a file, or of stdin for `-`. Returns it with the name that messages use.
pub fn read_input(dir: &Path, path: &Path, bounds: Bounds) -> anyhow::Result<(String, String)> {
    if path != Path::new("-") {
        return Ok((display_path(&path), read_named_text(&dir.join(path), bounds)?));
    }
    let bytes = read_until("stdin", bounds, || Ok(io::stdin()))?.unwrap_or_default();
    Ok(("stdin".to_owned(), owned_text(&bytes, "stdin")?))
}

/// Reads on another thread, which outlives the deadline if a pipe has no writer.
fn read_until<R: Read>(
    description: &str,
    bounds: Bounds,
    open: impl FnOnce() -> io::Result<R> + Send + 'static,
) -> anyhow::Result<Option<Vec<u8>>> {
    let (sender, receiver) = mpsc::channel();
    let limit = bounds.bytes;
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = open().and_then(|file| file.take(limit + 1).read_to_end(&mut bytes));
        drop(sender.send(read.map(|_| bytes)));
    });
    let read = match bounds.deadline {
        None => receiver.recv().map_err(RecvTimeoutError::from),
        Some(deadline) => match receiver.recv_timeout(deadline.time_left()) {
            Err(RecvTimeoutError::Timeout) => {
                return Err(deadline.timed_out_waiting_for(description).into());
            }
            read => read,
        },
    };
    let reading = || format!("cannot read {description}");
    match read.with_context(reading)? {
        Ok(bytes) if bytes.len() as u64 > limit => {
            Err(anyhow::format_err!("it is longer than {} MiB", limit >> 20)).with_context(reading)
        }
        Err(error) if is_missing(&error) => Ok(None),
        read => read.map(Some).with_context(reading),
    }
}

fn open_file(path: &Path) -> io::Result<File> {
    let file = File::open(path)?;
    if file.metadata()?.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    Ok(file)
}

#[cfg(all(test, unix))]
mod tests {
    use std::{fs, time::Duration};

    use super::*;

    #[track_caller]
    fn check(path: &Path, milliseconds: Option<u64>, expected: &str) {
        let deadline = milliseconds.map(|time| Deadline::after(Duration::from_millis(time)));
        let read = read_named("`x`", path, Bounds { bytes: 1 << 20, deadline });
        let shown = match read {
            Ok(Some(bytes)) => String::from_utf8(bytes).unwrap(),
            Ok(None) => "missing".to_owned(),
            Err(error) => format!("{error:#}"),
        };
        assert_eq!(shown, expected);
    }

    #[test]
    fn files_and_devices_are_read_up_to_a_size_and_a_time() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "text").unwrap();
        fs::write(at("large"), vec![b' '; (1 << 20) + 1]).unwrap();
        check(&at("file"), None, "text");
        check(&at("file"), Some(60_000), "text");
        check(&at("none"), None, "missing");
        check(Path::new("/dev/null"), None, "");
        check(&at("large"), None, "cannot read `x`: it is longer than 1 MiB");
        check(Path::new("/dev/zero"), None, "cannot read `x`: it is longer than 1 MiB");
        check(dir.path(), None, "cannot read `x`: is a directory");
    }
}
