//! Waits until something that was read has changed.
//!
//! It polls the files: that needs no library and no higher system limit, and works in containers and on network disks
//! too. A thousand files take a few milliseconds.

#![expect(clippy::disallowed_methods, reason = "this module accesses the disk")]

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

/// The size and the modification time of a file or folder; none if it does not exist.
type PathStamp = Option<(u64, Option<SystemTime>)>;

thread_local! {
    static READ: RefCell<Option<BTreeMap<PathBuf, PathStamp>>> = const { RefCell::new(None) };
}

const INTERVAL: Duration = Duration::from_millis(150);

/// Starts to record the paths that are read.
pub fn start_recording() {
    READ.with(|read| *read.borrow_mut() = Some(BTreeMap::new()));
}

/// Records a path, if recording has started.
pub(super) fn record_path(path: &Path) {
    READ.with(|recorded| {
        if let Some(read) = &mut *recorded.borrow_mut()
            && !read.contains_key(path)
        {
            read.insert(path.to_owned(), stamp_of(path));
        }
    });
}

/// Returns when a recorded file or folder has changed; returns `false` at once if nothing was recorded.
pub fn wait_for_change() -> bool {
    let Some(read) = READ.with(RefCell::take).filter(|recorded| !recorded.is_empty()) else {
        return false;
    };
    while read.iter().all(|(path, was)| stamp_of(path) == *was) {
        thread::sleep(INTERVAL);
    }
    true
}

fn stamp_of(path: &Path) -> PathStamp {
    let meta = fs::metadata(path).ok()?;
    // The size and the time of a folder change with its entries.
    Some((meta.len(), meta.modified().ok()))
}

#[test]
fn a_change_of_what_was_read_is_noticed_and_of_nothing_else() {
    let dir = tempfile::tempdir().expect("there is room");
    let (read, other) = (dir.path().join("read"), dir.path().join("missing"));
    fs::write(&read, "1").expect("it can be written");
    assert!(!wait_for_change(), "nothing was noted");
    for (path, text) in [(&read, "22"), (&other, "1")] {
        start_recording();
        record_path(&read);
        record_path(&other);
        let (path, text) = (path.clone(), text.to_owned());
        let writer = thread::spawn(move || {
            thread::sleep(INTERVAL);
            fs::write(path, text).expect("it can be written");
        });
        assert!(wait_for_change());
        writer.join().expect("it wrote");
    }
}
