//! The state of the disk after a power failure: some of the steps are lost.

use std::{collections::BTreeMap, fs, path::Path};

use super::{DiskStep, name_text};

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
    pending: BTreeMap<u64, Vec<(DiskStep, usize)>>,
    /// The synced text of each file, and the text that was written.
    files: Vec<(Vec<u8>, Vec<u8>)>,
}

impl Disk {
    /// Returns all that is in a folder, synced.
    pub fn from_synced(dir: &Path) -> Self {
        let mut disk = Self { top: inode_number(dir), ..Self::default() };
        disk.read(dir);
        disk
    }

    fn read(&mut self, dir: &Path) {
        let mut entries = Entries::new();
        for entry in fs::read_dir(dir).expect("it lists") {
            let path = entry.expect("it lists").path();
            let name = name_text(Path::new(path.file_name().expect("it has a name")));
            if path.is_dir() {
                self.read(&path);
                entries.insert(name, Node::Folder(inode_number(&path)));
            } else {
                let bytes = fs::read(&path).expect("it is a file");
                entries.insert(name, Node::File(self.files.len()));
                self.files.push((bytes.clone(), bytes));
            }
        }
        self.synced.insert(inode_number(dir), entries.clone());
        self.seen.insert(inode_number(dir), entries);
    }

    pub fn record_step(&mut self, step: &DiskStep) {
        match step {
            DiskStep::Create { bytes, .. } => self.files.push((Vec::new(), bytes.clone())),
            DiskStep::SyncFile { folder, name } => {
                if let Some(Node::File(at)) = self.seen[folder].get(name) {
                    self.files[*at].0 = self.files[*at].1.clone();
                }
                return;
            }
            DiskStep::SyncFolder { folder } => {
                self.synced.insert(*folder, self.seen[folder].clone());
                self.pending.remove(folder);
                return;
            }
            DiskStep::Folder { inode, .. } => {
                self.synced.entry(*inode).or_default();
                self.seen.entry(*inode).or_default();
            }
            DiskStep::Rename { .. } | DiskStep::Exchange { .. } | DiskStep::Remove { .. } => {}
        }
        let (folder, file) = (folder_of(step), self.files.len().saturating_sub(1));
        apply_step(self.seen.entry(folder).or_default(), step, file);
        self.pending.entry(folder).or_default().push((step.clone(), file));
    }

    /// Puts into a folder what a crash may leave; `choose(n)` draws a number from 0 to n.
    pub fn write_after_crash(&self, to: &Path, choose: &mut dyn FnMut(usize) -> usize) {
        let mut left = self.synced.clone();
        for (folder, steps) in &self.pending {
            for (step, file) in &steps[..choose(steps.len())] {
                apply_step(left.entry(*folder).or_default(), step, *file);
            }
        }
        self.write_folder(&left, self.top, to, choose);
    }

    fn write_folder(
        &self,
        left: &BTreeMap<u64, Entries>,
        folder: u64,
        to: &Path,
        choose: &mut dyn FnMut(usize) -> usize,
    ) {
        fs::create_dir_all(to).expect("there is room");
        for (name, node) in left.get(&folder).into_iter().flatten() {
            match node {
                Node::Folder(inode) => self.write_folder(left, *inode, &to.join(name), choose),
                Node::File(at) => {
                    let (synced, written) = &self.files[*at];
                    let bytes = if synced == written {
                        &written[..]
                    } else {
                        &written[..choose(written.len())]
                    };
                    fs::write(to.join(name), bytes).expect("there is room");
                }
            }
        }
    }
}

fn folder_of(step: &DiskStep) -> u64 {
    match step {
        DiskStep::Create { folder, .. }
        | DiskStep::Folder { folder, .. }
        | DiskStep::Rename { folder, .. }
        | DiskStep::Exchange { folder, .. }
        | DiskStep::Remove { folder, .. }
        | DiskStep::SyncFile { folder, .. }
        | DiskStep::SyncFolder { folder } => *folder,
    }
}

fn apply_step(entries: &mut Entries, step: &DiskStep, file: usize) {
    match step {
        DiskStep::Create { name, .. } => drop(entries.insert(name.clone(), Node::File(file))),
        DiskStep::Folder { name, inode, .. } => {
            entries.insert(name.clone(), Node::Folder(*inode));
        }
        DiskStep::Rename { from, to, .. } => {
            if let Some(node) = entries.remove(from) {
                entries.insert(to.clone(), node);
            }
        }
        DiskStep::Exchange { one, other, .. } => {
            if let (Some(first), Some(second)) = (entries.remove(one), entries.remove(other)) {
                entries.insert(one.clone(), second);
                entries.insert(other.clone(), first);
            }
        }
        DiskStep::Remove { name, .. } => drop(entries.remove(name)),
        DiskStep::SyncFile { .. } | DiskStep::SyncFolder { .. } => {}
    }
}

fn inode_number(dir: &Path) -> u64 {
    std::os::unix::fs::MetadataExt::ino(&fs::metadata(dir).expect("it is there"))
}
