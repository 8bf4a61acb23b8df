//! Everything that can be seen of a tree without following a link: the state before and after a
//! command, and the differences.

use std::{
    collections::BTreeMap,
    fs,
    os::unix::fs::{FileTypeExt as _, MetadataExt as _},
    path::{Path, PathBuf},
};

/// Larger files are compared by their metadata only.
const LARGE: u64 = 4 << 20;

#[derive(Clone, Debug)]
pub struct Entry {
    pub kind: &'static str,
    pub bytes: Vec<u8>,
    pub mode: u32,
    /// Modification and status change, in nanoseconds; inode, links, owner and size.
    pub stamps: [i128; 6],
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        // A file that has another name loses it where that name is replaced, and is itself unchanged.
        let stamps = |it: &Self| match it.stamps {
            [modified, _, inode, _, owner, size] if self.kind == "file" && 1 < self.stamps[3] => {
                [modified, 0, inode, 0, owner, size]
            }
            all => all,
        };
        (self.kind, &self.bytes, self.mode) == (other.kind, &other.bytes, other.mode)
            && stamps(self) == stamps(other)
    }
}

pub type Snapshot = BTreeMap<PathBuf, Entry>;

/// The tree below `root`, without the folder `except`.
pub fn take(root: &Path, except: Option<&Path>) -> Snapshot {
    let mut res = Snapshot::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        if folder == root {
            res.insert(PathBuf::from("."), entry(root).expect("the folder was just listed"));
        }
        for path in entries.filter_map(Result::ok).map(|it| it.path()) {
            if except == Some(&path) {
                continue;
            }
            let Some(entry) = entry(&path) else { continue };
            if entry.kind == "folder" {
                folders.push(path.clone());
            }
            res.insert(path.strip_prefix(root).expect("it is below").to_owned(), entry);
        }
    }
    res
}

fn entry(path: &Path) -> Option<Entry> {
    let meta = fs::symlink_metadata(path).ok()?;
    let kind = meta.file_type();
    let (kind, bytes) = if kind.is_symlink() {
        let to = fs::read_link(path).unwrap_or_default();
        ("link", to.into_os_string().into_encoded_bytes())
    } else if kind.is_dir() {
        ("folder", Vec::new())
    } else if kind.is_file() {
        let readable = meta.len() <= LARGE;
        ("file", readable.then(|| fs::read(path).ok()).flatten().unwrap_or_default())
    } else if kind.is_fifo() {
        ("fifo", Vec::new())
    } else {
        ("other", Vec::new())
    };
    let time = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
    let stamps = [
        time(meta.mtime(), meta.mtime_nsec()),
        time(meta.ctime(), meta.ctime_nsec()),
        meta.ino().into(),
        meta.nlink().into(),
        meta.uid().into(),
        meta.len().into(),
    ];
    Some(Entry { kind, bytes, mode: meta.mode(), stamps })
}

/// One line for each difference, at most a few.
pub fn differences(was: &Snapshot, is: &Snapshot) -> Vec<String> {
    let mut paths: Vec<&PathBuf> = was.keys().chain(is.keys()).collect();
    paths.sort();
    paths.dedup();
    let changed = paths.into_iter().filter(|it| was.get(*it) != is.get(*it));
    changed.take(4).map(|it| difference(it, was.get(it), is.get(it))).collect()
}

fn difference(path: &Path, was: Option<&Entry>, is: Option<&Entry>) -> String {
    let what = match (was, is) {
        (None, _) => "is new".to_owned(),
        (_, None) => "is gone".to_owned(),
        (Some(was), Some(is)) if was.kind != is.kind => {
            format!("was a {} and is a {}", was.kind, is.kind)
        }
        (Some(was), Some(is)) if was.bytes != is.bytes => "has other contents".to_owned(),
        (Some(was), Some(is)) if was.mode != is.mode => {
            format!("had mode {:o} and has {:o}", was.mode, is.mode)
        }
        (Some(was), Some(is)) => {
            let names = ["mtime", "ctime", "inode", "link count", "owner", "size"];
            let pairs = names.iter().zip(was.stamps.iter().zip(&is.stamps));
            let changed = pairs.filter(|(_, (was, is))| was != is).map(|(name, _)| *name);
            format!("has another {}", changed.collect::<Vec<_>>().join(", "))
        }
    };
    format!("{path:?} {what}")
}
