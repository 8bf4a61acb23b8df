//! A disk for tests: it is killed or fails at any step, loses what was not synced, and somebody else changes it in the
//! meantime.
//!
//! Every step that changes the disk is recorded with the folder's inode. A crash keeps the first few of each folder's
//! unsynced entries, in their order, and any part of each unsynced file, from nothing to all of it.

#![allow(clippy::disallowed_methods, reason = "it looks at the disk from outside")]

mod power;

use std::{
    cell::RefCell,
    fs,
    io::{self, Write as _},
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use cap_std::fs::{Dir, MetadataExt as _};

pub use power::Disk;

/// An event just before a step.
#[derive(Clone, Debug, PartialEq)]
pub enum End {
    /// The process is killed: no further code of ours runs.
    Kill,
    /// The step fails: a change as on a full disk, a look as on a broken one. The next steps do not.
    Fail,
    /// This step and all later ones that change the disk fail, as on a disk that stays full.
    FailAll,
    /// The step from which on syncing fails.
    FailSyncs,
    /// Somebody does this.
    Other(Act),
}

/// A kind of step.
#[derive(Clone, Copy, PartialEq)]
enum Point {
    Look,
    Change,
    Sync,
}

/// A change by another process.
#[derive(Clone, Debug, PartialEq)]
pub enum Act {
    /// Adds this line to this file, or creates it.
    Edit(String, String),
    /// Adds this line to this file, and puts the result in place with a rename.
    Replace(String, String),
    /// Adds this line to the file that `others_in` has opened, whatever its name is by now.
    EditOpened(String),
    /// Removes a file or a folder.
    Remove(String),
    /// Moves a folder to another name.
    Move(String, String),
}

#[derive(Clone, Debug)]
pub enum Step {
    Create { folder: u64, name: String, bytes: Vec<u8> },
    Folder { folder: u64, name: String, inode: u64 },
    Rename { folder: u64, from: String, to: String },
    Exchange { folder: u64, one: String, other: String },
    Remove { folder: u64, name: String },
    SyncFile { folder: u64, name: String },
    SyncFolder { folder: u64 },
}

/// The disk of this thread.
#[derive(Default)]
struct Trace {
    steps: Vec<Step>,
    /// The steps and looks so far; kills count steps only.
    points: usize,
    changes: usize,
    last: usize,
    ends: Vec<(usize, End)>,
    /// The failure that is simulated from now on.
    failing: Option<End>,
    /// The folder that others change.
    dir: PathBuf,
    opened: Option<fs::File>,
    /// The changes by other programs.
    ran: Vec<Act>,
    /// Whether two files cannot be swapped.
    is_plain: bool,
}

thread_local! {
    static TRACE: RefCell<Trace> = RefCell::default();
}

struct Killed;

/// Runs `work`, and lets these things happen just before the steps of these numbers; what it returned, unless it was
/// killed, and the steps it took.
pub fn until<T>(
    ends: impl IntoIterator<Item = (usize, End)>,
    work: impl FnOnce() -> T,
) -> (Option<T>, Vec<Step>) {
    TRACE.with(|it| {
        let mut it = it.borrow_mut();
        (it.steps, it.points, it.changes, it.last) = (Vec::new(), 0, 0, 0);
        it.ends = ends.into_iter().collect();
        it.failing = None;
    });
    let found = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(found) => Some(found),
        Err(panic) if panic.is::<Killed>() => None,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    TRACE.with(|it| {
        let mut it = it.borrow_mut();
        it.ends.clear();
        it.failing = None;
        (found, std::mem::take(&mut it.steps))
    })
}

/// Where others make their changes, and the file in there that they have opened before.
pub fn others_in(dir: &Path, opened: Option<&str>) {
    let open =
        |name| fs::OpenOptions::new().append(true).open(dir.join(name)).expect("it is there");
    TRACE.with(|it| {
        let mut it = it.borrow_mut();
        it.dir = dir.to_owned();
        it.opened = opened.map(open);
        it.ran.clear();
    });
}

/// Whether this thread's disk can swap two files.
pub fn can_exchange(can: bool) {
    TRACE.with(|it| it.borrow_mut().is_plain = !can);
}

pub fn is_plain() -> bool {
    TRACE.with(|it| it.borrow().is_plain)
}

/// Just before a change.
pub fn point() -> io::Result<()> {
    happen(Point::Change)
}

/// Just before something is synced.
pub fn sync_point() -> io::Result<()> {
    happen(Point::Sync)
}

/// Just before something is read.
pub fn look() -> io::Result<()> {
    happen(Point::Look)
}

fn happen(what: Point) -> io::Result<()> {
    let is_change = what != Point::Look;
    let due = TRACE.with(|it| {
        let mut it = it.borrow_mut();
        let (point, change) = (it.points, it.changes);
        it.points += 1;
        it.changes += usize::from(is_change);
        let is_due = |end: &(usize, End)| match end.1 {
            End::Kill => is_change && end.0 == change,
            _ => end.0 == point,
        };
        let all = std::mem::take(&mut it.ends);
        let (due, later) = all.into_iter().partition::<Vec<_>, _>(is_due);
        it.ends = later;
        due
    });
    for (_, end) in due {
        match end {
            // Without the message that a panic prints.
            End::Kill => std::panic::resume_unwind(Box::new(Killed)),
            End::Fail if is_change => return Err(io::ErrorKind::StorageFull.into()),
            End::Fail => return Err(rustix::io::Errno::IO.into()),
            End::FailAll | End::FailSyncs => TRACE.with(|it| it.borrow_mut().failing = Some(end)),
            End::Other(act) => act.run(),
        }
    }
    let fails = match TRACE.with(|it| it.borrow().failing.clone()) {
        Some(End::FailAll) => is_change,
        Some(End::FailSyncs) => what == Point::Sync,
        _ => false,
    };
    if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
}

impl Act {
    fn run(&self) {
        let at = |path: &str| TRACE.with(|it| it.borrow().dir.join(path));
        let more = |path, line: &str| fs::read_to_string(at(path)).unwrap_or_default() + line;
        // An event that is impossible after an earlier change is left out.
        let done = match self {
            Self::Edit(path, line) => fs::write(at(path), more(path, line)),
            Self::Replace(path, line) => {
                let new = at(&format!("{path}.saved"));
                fs::write(&new, more(path, line)).and_then(|()| fs::rename(new, at(path)))
            }
            Self::EditOpened(line) => TRACE.with(|it| {
                it.borrow_mut().opened.as_mut().map_or(Ok(()), |it| it.write_all(line.as_bytes()))
            }),
            Self::Remove(path) if at(path).is_dir() => fs::remove_dir_all(at(path)),
            Self::Remove(path) => fs::remove_file(at(path)),
            Self::Move(from, to) => fs::rename(at(from), at(to)),
        };
        if done.is_ok() {
            TRACE.with(|it| it.borrow_mut().ran.push(self.clone()));
        }
    }
}

/// The changes by other programs since `others_in`.
pub fn ran() -> Vec<Act> {
    TRACE.with(|it| it.borrow().ran.clone())
}

/// The number of steps and looks of the last run, and that of the last rename or swap to or from a temporary name.
pub fn points() -> (usize, usize) {
    TRACE.with(|it| (it.borrow().points, it.borrow().last))
}

fn note(step: Step) {
    TRACE.with(|it| {
        let mut it = it.borrow_mut();
        match &step {
            Step::Rename { to, .. } if to == super::journal::NAME => {}
            Step::Rename { .. } | Step::Exchange { .. } => it.last = it.points,
            _ => {}
        }
        it.steps.push(step);
    });
}

fn inode(folder: &Dir) -> u64 {
    folder.dir_metadata().expect("it is open").ino()
}

pub fn created(folder: &Dir, name: &str, bytes: &[u8]) {
    note(Step::Create { folder: inode(folder), name: name.to_owned(), bytes: bytes.to_vec() });
}

pub fn folder(folder: &Dir, name: &str) {
    let inode_of_new = folder.symlink_metadata(name).expect("it was created").ino();
    note(Step::Folder { folder: inode(folder), name: name.to_owned(), inode: inode_of_new });
}

pub fn renamed(folder: &Dir, from: &str, to: &str) {
    note(Step::Rename { folder: inode(folder), from: from.to_owned(), to: to.to_owned() });
}

pub fn exchanged(folder: &Dir, one: &str, other: &str) {
    note(Step::Exchange { folder: inode(folder), one: one.to_owned(), other: other.to_owned() });
}

pub fn removed(folder: &Dir, name: &Path) {
    note(Step::Remove { folder: inode(folder), name: text(name) });
}

pub fn synced_file(folder: &Dir, name: &Path) {
    note(Step::SyncFile { folder: inode(folder), name: text(name) });
}

pub fn synced_folder(folder: &Dir) {
    note(Step::SyncFolder { folder: inode(folder) });
}

fn text(name: &Path) -> String {
    name.to_str().expect("tests use UTF-8").to_owned()
}
