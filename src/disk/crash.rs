//! A disk for tests: it is killed or fails at any step, and loses what was not synced.
//!
//! Every step that changes the disk is recorded with the folder's inode. A crash keeps the first few of each folder's
//! unsynced entries, in their order, and any part of each unsynced file, from nothing to all of it.

#![allow(clippy::disallowed_methods, reason = "it looks at the disk from outside")]

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs, io,
    panic::{AssertUnwindSafe, catch_unwind},
    path::{Path, PathBuf},
};

use cap_std::fs::{Dir, MetadataExt as _};

/// How a run ends at a step.
#[derive(Clone, Copy, PartialEq)]
pub enum End {
    /// The process is killed: no further code of ours runs.
    Kill,
    /// This step fails as on a full disk; the next ones do not.
    Fail,
    /// Just before it, somebody adds a line to this file, or creates it.
    Edit(&'static str),
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

#[derive(Default)]
struct Trace {
    steps: Vec<Step>,
    end: Option<(usize, End)>,
    /// The folder that edits are made in.
    edited: PathBuf,
}

thread_local! {
    static TRACE: RefCell<Trace> = RefCell::default();
}

struct Killed;

/// Runs `work` until the step of this number; what it returned, unless it was killed, and the steps it took.
pub fn until<T>(end: Option<(usize, End)>, work: impl FnOnce() -> T) -> (Option<T>, Vec<Step>) {
    TRACE.with(|it| {
        let edited = std::mem::take(&mut it.borrow_mut().edited);
        *it.borrow_mut() = Trace { steps: Vec::new(), end, edited };
    });
    let found = match catch_unwind(AssertUnwindSafe(work)) {
        Ok(found) => Some(found),
        Err(panic) if panic.is::<Killed>() => None,
        Err(panic) => std::panic::resume_unwind(panic),
    };
    (found, TRACE.with(RefCell::take).steps)
}

/// Where the next run's edits are made.
pub fn edit_in(dir: &Path) {
    TRACE.with(|it| it.borrow_mut().edited = dir.to_owned());
}

pub fn point() -> io::Result<()> {
    let end = TRACE.with(|it| {
        let end = &mut it.borrow_mut().end;
        match end {
            Some((0, _)) => end.take(),
            Some((left, _)) => {
                *left -= 1;
                None
            }
            None => None,
        }
    });
    match end {
        // Without the message that a panic prints.
        Some((_, End::Kill)) => std::panic::resume_unwind(Box::new(Killed)),
        Some((_, End::Fail)) => Err(io::ErrorKind::StorageFull.into()),
        Some((_, End::Edit(path))) => {
            let path = TRACE.with(|it| it.borrow().edited.join(path));
            let text = fs::read_to_string(&path).unwrap_or_default() + "mine\n";
            fs::write(path, text)
        }
        None => Ok(()),
    }
}

fn note(step: Step) {
    TRACE.with(|it| it.borrow_mut().steps.push(step));
}

fn inode(folder: &Dir) -> u64 {
    folder.dir_metadata().expect("it is open").ino()
}

pub fn created(folder: &Dir, name: &str, bytes: &[u8]) {
    note(Step::Create { folder: inode(folder), name: name.to_owned(), bytes: bytes.to_vec() });
}

pub fn folder(folder: &Dir, name: &str) {
    let made = folder.symlink_metadata(name).expect("it was made").ino();
    note(Step::Folder { folder: inode(folder), name: name.to_owned(), inode: made });
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

/// What an entry of a folder names.
#[derive(Clone, Debug)]
enum Node {
    File(usize),
    Folder(u64),
}

type Entries = BTreeMap<String, Node>;

/// What is on the disk, and what would be lost.
#[derive(Default)]
pub struct Disk {
    top: u64,
    synced: BTreeMap<u64, Entries>,
    seen: BTreeMap<u64, Entries>,
    /// Steps on each folder's entries since its last sync, and the number of the file that each made.
    pending: BTreeMap<u64, Vec<(Step, usize)>>,
    /// What is synced of each file, and what was written.
    files: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Disk {
    /// All that is in a folder, synced.
    pub fn of(dir: &Path) -> Self {
        let mut res = Self { top: number(dir), ..Self::default() };
        res.read(dir);
        res
    }

    fn read(&mut self, dir: &Path) {
        let mut entries = Entries::new();
        for entry in fs::read_dir(dir).expect("it lists") {
            let path = entry.expect("it lists").path();
            let name = text(Path::new(path.file_name().expect("it has a name")));
            if path.is_dir() {
                self.read(&path);
                entries.insert(name, Node::Folder(number(&path)));
            } else {
                let bytes = fs::read(&path).expect("it is a file");
                entries.insert(name, Node::File(self.files.len()));
                self.files.push((bytes.clone(), bytes));
            }
        }
        self.synced.insert(number(dir), entries.clone());
        self.seen.insert(number(dir), entries);
    }

    pub fn take(&mut self, step: &Step) {
        match step {
            Step::Create { bytes, .. } => self.files.push((Vec::new(), bytes.clone())),
            Step::SyncFile { folder, name } => {
                if let Some(Node::File(at)) = self.seen[folder].get(name) {
                    self.files[*at].0 = self.files[*at].1.clone();
                }
                return;
            }
            Step::SyncFolder { folder } => {
                self.synced.insert(*folder, self.seen[folder].clone());
                self.pending.remove(folder);
                return;
            }
            Step::Folder { inode, .. } => {
                self.synced.entry(*inode).or_default();
                self.seen.entry(*inode).or_default();
            }
            Step::Rename { .. } | Step::Exchange { .. } | Step::Remove { .. } => {}
        }
        let (folder, file) = (folder_of(step), self.files.len().saturating_sub(1));
        apply(self.seen.entry(folder).or_default(), step, file);
        self.pending.entry(folder).or_default().push((step.clone(), file));
    }

    /// Puts into a folder what a crash may leave; `choose(n)` draws a number from 0 to n.
    pub fn crash(&self, to: &Path, choose: &mut dyn FnMut(usize) -> usize) {
        let mut left = self.synced.clone();
        for (folder, steps) in &self.pending {
            for (step, file) in &steps[..choose(steps.len())] {
                apply(left.entry(*folder).or_default(), step, *file);
            }
        }
        self.put(&left, self.top, to, choose);
    }

    fn put(
        &self,
        left: &BTreeMap<u64, Entries>,
        folder: u64,
        to: &Path,
        choose: &mut dyn FnMut(usize) -> usize,
    ) {
        fs::create_dir_all(to).expect("there is room");
        for (name, node) in left.get(&folder).into_iter().flatten() {
            match node {
                Node::Folder(inode) => self.put(left, *inode, &to.join(name), choose),
                Node::File(at) => {
                    let (synced, written) = &self.files[*at];
                    let bytes = match synced == written {
                        true => &written[..],
                        false => &written[..choose(written.len())],
                    };
                    fs::write(to.join(name), bytes).expect("there is room");
                }
            }
        }
    }
}

fn folder_of(step: &Step) -> u64 {
    match step {
        Step::Create { folder, .. }
        | Step::Folder { folder, .. }
        | Step::Rename { folder, .. }
        | Step::Exchange { folder, .. }
        | Step::Remove { folder, .. }
        | Step::SyncFile { folder, .. }
        | Step::SyncFolder { folder } => *folder,
    }
}

fn apply(entries: &mut Entries, step: &Step, file: usize) {
    match step {
        Step::Create { name, .. } => drop(entries.insert(name.clone(), Node::File(file))),
        Step::Folder { name, inode, .. } => {
            entries.insert(name.clone(), Node::Folder(*inode));
        }
        Step::Rename { from, to, .. } => {
            if let Some(node) = entries.remove(from) {
                entries.insert(to.clone(), node);
            }
        }
        Step::Exchange { one, other, .. } => {
            if let (Some(first), Some(second)) = (entries.remove(one), entries.remove(other)) {
                entries.insert(one.clone(), second);
                entries.insert(other.clone(), first);
            }
        }
        Step::Remove { name, .. } => drop(entries.remove(name)),
        Step::SyncFile { .. } | Step::SyncFolder { .. } => {}
    }
}

fn number(dir: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(dir).expect("it is there"))
}
