//! The state of the disk after a power failure: some of the steps are lost.

use std::{collections::BTreeMap, fs, path::Path};

use super::{Step, text};

/// The target of a directory entry.
#[derive(Clone, Debug)]
enum Node {
    File(usize),
    Folder(u64),
}

type Entries = BTreeMap<String, Node>;

/// The synced content of the disk, and the content that a power failure would lose.
#[derive(Default)]
pub struct Disk {
    top: u64,
    synced: BTreeMap<u64, Entries>,
    seen: BTreeMap<u64, Entries>,
    /// Steps on each folder's entries since its last sync, and the number of the file that each made.
    pending: BTreeMap<u64, Vec<(Step, usize)>>,
    /// The synced text of each file, and the text that was written.
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
