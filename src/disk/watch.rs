//! Waits until something that was read has changed.
//!
//! It looks at the files now and then: that takes no library, no limit of the system's to be raised, and works in
//! containers and on network disks too. A thousand files take a few milliseconds.

#![expect(clippy::disallowed_methods, reason = "this is the room that touches the disk")]

use std::{
    cell::RefCell,
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
    thread,
    time::{Duration, SystemTime},
};

/// What a file or folder was when it was looked at; none where there was none.
type Stamp = Option<(u64, Option<SystemTime>)>;

thread_local! {
    static READ: RefCell<Option<BTreeMap<PathBuf, Stamp>>> = const { RefCell::new(None) };
}

const NOW_AND_THEN: Duration = Duration::from_millis(150);

/// From now on, what is read is noted.
pub fn begin() {
    READ.with(|it| *it.borrow_mut() = Some(BTreeMap::new()));
}

/// Notes a path, where anyone wants to know.
pub(super) fn note(path: &Path) {
    READ.with(|it| {
        if let Some(read) = &mut *it.borrow_mut()
            && !read.contains_key(path)
        {
            read.insert(path.to_owned(), stamp(path));
        }
    });
}

/// Returns when something that was noted is not what it was; at once, with `false`, where nothing was.
pub fn wait() -> bool {
    let Some(read) = READ.with(RefCell::take).filter(|it| !it.is_empty()) else { return false };
    while read.iter().all(|(path, was)| stamp(path) == *was) {
        thread::sleep(NOW_AND_THEN);
    }
    true
}

fn stamp(path: &Path) -> Stamp {
    let meta = fs::metadata(path).ok()?;
    // A folder's own size and time say what is in it.
    Some((meta.len(), meta.modified().ok()))
}

#[test]
fn a_change_of_what_was_read_is_noticed_and_of_nothing_else() {
    let dir = tempfile::tempdir().expect("there is room");
    let (read, other) = (dir.path().join("read"), dir.path().join("missing"));
    fs::write(&read, "1").expect("it can be written");
    assert!(!wait(), "nothing was noted");
    for (path, text) in [(&read, "22"), (&other, "1")] {
        begin();
        note(&read);
        note(&other);
        let (path, text) = (path.clone(), text.to_owned());
        let writer = thread::spawn(move || {
            thread::sleep(NOW_AND_THEN);
            fs::write(path, text).expect("it can be written");
        });
        assert!(wait());
        writer.join().expect("it wrote");
    }
}
