//! A disk for tests: it is killed or fails at any step, loses what was not synced, and another program changes it in
//! the meantime.
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
pub enum Failure {
    /// The process is killed: no further code of ours runs.
    Kill,
    /// The step fails: a change as on a full disk, a look as on a broken one. The next steps do not.
    Fail,
    /// This step and all later ones that change the disk fail, as on a disk that stays full.
    FailAll,
    /// The step from which on syncing fails.
    FailSyncs,
    /// Another program makes this change.
    Other(ConcurrentChange),
}

/// A kind of step.
#[derive(Clone, Copy, PartialEq)]
enum StepKind {
    Look,
    Change,
    Sync,
}

/// A change by another process.
#[derive(Clone, Debug, PartialEq)]
pub enum ConcurrentChange {
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
pub enum DiskStep {
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
    steps: Vec<DiskStep>,
    /// The steps and looks so far; kills count steps only.
    points: usize,
    changes: usize,
    last: usize,
    ends: Vec<(usize, Failure)>,
    /// The failure that is simulated from now on.
    failing: Option<Failure>,
    /// The folder that others change.
    dir: PathBuf,
    opened: Option<fs::File>,
    /// The changes by other programs.
    ran: Vec<ConcurrentChange>,
    /// True if two files cannot be swapped.
    lacks_exchange: bool,
}

thread_local! {
    static TRACE: RefCell<Trace> = RefCell::default();
}

struct Killed;

/// Runs `work`, and lets these things happen just before the steps of these numbers; what it returned, unless it was
/// killed, and the steps it took.
pub fn run_with_failures<T>(
    ends: impl IntoIterator<Item = (usize, Failure)>,
    work: impl FnOnce() -> T,
) -> (Option<T>, Vec<DiskStep>) {
    TRACE.with(|trace| {
        let mut trace = trace.borrow_mut();
        (trace.steps, trace.points, trace.changes, trace.last) = (Vec::new(), 0, 0, 0);
        trace.ends = ends.into_iter().collect();
        trace.failing = None;
    });
    let found = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(found) => Some(found),
        Err(panic) if panic.is::<Killed>() => None,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    TRACE.with(|trace| {
        let mut trace = trace.borrow_mut();
        trace.ends.clear();
        trace.failing = None;
        (found, std::mem::take(&mut trace.steps))
    })
}

/// Sets where other programs make their changes, and the file there that they have already opened.
pub fn set_other_program(dir: &Path, opened: Option<&str>) {
    let open =
        |name| fs::OpenOptions::new().append(true).open(dir.join(name)).expect("it is there");
    TRACE.with(|trace| {
        let mut trace = trace.borrow_mut();
        trace.dir = dir.to_owned();
        trace.opened = opened.map(open);
        trace.ran.clear();
    });
}

/// Sets whether this thread's disk can swap two files.
pub fn set_can_exchange(can: bool) {
    TRACE.with(|trace| trace.borrow_mut().lacks_exchange = !can);
}

/// Returns whether this thread's disk cannot swap two files.
pub fn lacks_exchange() -> bool {
    TRACE.with(|trace| trace.borrow().lacks_exchange)
}

/// Just before a change.
pub fn before_change() -> io::Result<()> {
    trigger_events(StepKind::Change)
}

/// Just before something is synced.
pub fn sync_point() -> io::Result<()> {
    trigger_events(StepKind::Sync)
}

/// Just before something is read.
pub fn before_read() -> io::Result<()> {
    trigger_events(StepKind::Look)
}

fn trigger_events(what: StepKind) -> io::Result<()> {
    let is_change = what != StepKind::Look;
    let due = TRACE.with(|trace| {
        let mut trace = trace.borrow_mut();
        let (point, change) = (trace.points, trace.changes);
        trace.points += 1;
        trace.changes += usize::from(is_change);
        let is_due = |end: &(usize, Failure)| match end.1 {
            Failure::Kill => is_change && end.0 == change,
            _ => end.0 == point,
        };
        let all = std::mem::take(&mut trace.ends);
        let (due, later) = all.into_iter().partition::<Vec<_>, _>(is_due);
        trace.ends = later;
        due
    });
    for (_, end) in due {
        match end {
            // Without the message that a panic prints.
            Failure::Kill => std::panic::resume_unwind(Box::new(Killed)),
            Failure::Fail if is_change => return Err(io::ErrorKind::StorageFull.into()),
            Failure::Fail => return Err(rustix::io::Errno::IO.into()),
            Failure::FailAll | Failure::FailSyncs => {
                TRACE.with(|trace| trace.borrow_mut().failing = Some(end))
            }
            Failure::Other(act) => act.apply(),
        }
    }
    let fails = match TRACE.with(|trace| trace.borrow().failing.clone()) {
        Some(Failure::FailAll) => is_change,
        Some(Failure::FailSyncs) => what == StepKind::Sync,
        _ => false,
    };
    if fails { Err(io::ErrorKind::StorageFull.into()) } else { Ok(()) }
}

impl ConcurrentChange {
    fn apply(&self) {
        let at = |path: &str| TRACE.with(|trace| trace.borrow().dir.join(path));
        let more = |path, line: &str| fs::read_to_string(at(path)).unwrap_or_default() + line;
        // An event that is impossible after an earlier change is left out.
        let done = match self {
            Self::Edit(path, line) => fs::write(at(path), more(path, line)),
            Self::Replace(path, line) => {
                let new = at(&format!("{path}.saved"));
                fs::write(&new, more(path, line)).and_then(|()| fs::rename(new, at(path)))
            }
            Self::EditOpened(line) => TRACE.with(|trace| {
                trace
                    .borrow_mut()
                    .opened
                    .as_mut()
                    .map_or(Ok(()), |file| file.write_all(line.as_bytes()))
            }),
            Self::Remove(path) if at(path).is_dir() => fs::remove_dir_all(at(path)),
            Self::Remove(path) => fs::remove_file(at(path)),
            Self::Move(from, to) => fs::rename(at(from), at(to)),
        };
        if done.is_ok() {
            TRACE.with(|trace| trace.borrow_mut().ran.push(self.clone()));
        }
    }
}

/// Returns the changes by other programs since `others_in`.
pub fn other_changes() -> Vec<ConcurrentChange> {
    TRACE.with(|trace| trace.borrow().ran.clone())
}

/// Returns the number of steps and looks of the last run, and that of the last rename or swap to or from a temporary
/// name.
pub fn step_counts() -> (usize, usize) {
    TRACE.with(|trace| (trace.borrow().points, trace.borrow().last))
}

fn record_step(step: DiskStep) {
    TRACE.with(|trace| {
        let mut trace = trace.borrow_mut();
        match &step {
            DiskStep::Rename { to, .. } if to == super::journal::NAME => {}
            DiskStep::Rename { .. } | DiskStep::Exchange { .. } => trace.last = trace.points,
            _ => {}
        }
        trace.steps.push(step);
    });
}

fn inode_of(folder: &Dir) -> u64 {
    folder.dir_metadata().expect("it is open").ino()
}

pub fn record_created(folder: &Dir, name: &str, bytes: &[u8]) {
    record_step(DiskStep::Create {
        folder: inode_of(folder),
        name: name.to_owned(),
        bytes: bytes.to_vec(),
    });
}

pub fn record_folder(folder: &Dir, name: &str) {
    let inode_of_new = folder.symlink_metadata(name).expect("it was created").ino();
    record_step(DiskStep::Folder {
        folder: inode_of(folder),
        name: name.to_owned(),
        inode: inode_of_new,
    });
}

pub fn record_renamed(folder: &Dir, from: &str, to: &str) {
    record_step(DiskStep::Rename {
        folder: inode_of(folder),
        from: from.to_owned(),
        to: to.to_owned(),
    });
}

pub fn record_exchanged(folder: &Dir, one: &str, other: &str) {
    record_step(DiskStep::Exchange {
        folder: inode_of(folder),
        one: one.to_owned(),
        other: other.to_owned(),
    });
}

pub fn record_removed(folder: &Dir, name: &Path) {
    record_step(DiskStep::Remove { folder: inode_of(folder), name: name_text(name) });
}

pub fn record_synced_file(folder: &Dir, name: &Path) {
    record_step(DiskStep::SyncFile { folder: inode_of(folder), name: name_text(name) });
}

pub fn record_synced_folder(folder: &Dir) {
    record_step(DiskStep::SyncFolder { folder: inode_of(folder) });
}

fn name_text(name: &Path) -> String {
    name.to_str().expect("tests use UTF-8").to_owned()
}
