//! Remembers own writes that the watch has not shown yet, and recent deletions. With these, events and responses may
//! arrive in any order: an older state never replaces a newer one, and a deleted object does not come back. kube's
//! stores keep the state that arrives last.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The response to a write can arrive after the event of a deletion, later by at most the time limit of a request.
const DELETION_RETENTION: Duration = Duration::from_secs(120);

/// A resource version, or `None` if it is not a number.
pub type ResourceVersion = Option<u64>;

/// Returns whether `a` is newer than `b`. A version that is not a number counts as newer, because they cannot be
/// compared.
pub fn is_newer(a: ResourceVersion, b: ResourceVersion) -> bool {
    a.is_none() || b.is_none() || a > b
}

/// Recent writes and deletions of objects, by their keys.
#[derive(Default)]
pub struct RecentChanges {
    written: HashMap<Box<str>, Written>,
    deleted: HashMap<Box<str>, (ResourceVersion, Instant)>,
    /// The last time at which old deletions were removed.
    purged: Option<Instant>,
    /// The number of own writes, which is also the number of the last one.
    write_count: u64,
    /// The number of own writes when the current list began.
    list_begin: Option<u64>,
    /// The number of lists that have ended.
    list_count: u64,
}

struct Written {
    version: ResourceVersion,
    number: u64,
}

impl RecentChanges {
    /// Remembers an own write. Returns whether its response is newer than the known state, whose version is `current`.
    pub fn record_write(&mut self, key: &str, version: ResourceVersion, current: Option<ResourceVersion>) -> bool {
        let is_deleted = self.deleted.get(key).is_some_and(|(deleted, _)| !is_newer(version, *deleted));
        if is_deleted || current.is_some_and(|current| !is_newer(version, current)) {
            return false;
        }
        self.write_count += 1;
        self.written.insert(key.into(), Written { version, number: self.write_count });
        true
    }

    /// Remembers that the watch has shown an object. Returns whether the event is newer than the known state, whose
    /// version is `current`.
    pub fn record_event(&mut self, key: &str, version: ResourceVersion, current: Option<ResourceVersion>) -> bool {
        if self.written.get(key).is_some_and(|written| written.version <= version) {
            self.written.remove(key);
        }
        if current.is_none() && self.written.get(key).is_some_and(|written| !is_newer(version, written.version)) {
            return false;
        }
        let is_deleted = self.deleted.get(key).is_some_and(|(deleted, _)| !is_newer(version, *deleted));
        !is_deleted && current.is_none_or(|current| is_newer(version, current))
    }

    /// Remembers a deletion. Returns whether it removes the known state, whose version is `current`: it does not if the
    /// object has been created again since.
    pub fn record_deletion(&mut self, key: &str, version: ResourceVersion, current: Option<ResourceVersion>) -> bool {
        if current.is_some_and(|current| current > version && current.is_some() && version.is_some()) {
            return false;
        }
        let now = Instant::now();
        if self.purged.is_none_or(|purged| now - purged > DELETION_RETENTION) {
            self.purged = Some(now);
            self.deleted.retain(|_, (_, deleted)| now - *deleted < DELETION_RETENTION);
        }
        self.written.remove(key);
        self.deleted.insert(key.into(), (version, now));
        true
    }

    /// Returns the number of lists that have ended.
    pub fn list_count(&self) -> u64 {
        self.list_count
    }

    pub fn begin_list(&mut self) {
        self.list_begin = Some(self.write_count);
    }

    /// Ends a list. `listed` returns the version of an object in it. Returns the keys of the own writes that are newer
    /// than the list.
    pub fn finish_list(&mut self, listed: impl Fn(&str) -> Option<ResourceVersion>) -> Vec<Box<str>> {
        let begin = self.list_begin.take().unwrap_or(0);
        self.list_count += 1;
        let mut later = vec![];
        self.written.retain(|key, written| {
            // An object that was written before the list began is in the list, or has been deleted since.
            let is_later = written.number > begin && listed(key).is_none_or(|listed| is_newer(written.version, listed));
            if is_later {
                later.push(key.clone());
            }
            is_later
        });
        later
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_older_state_never_replaces_a_newer_one() {
        let mut recent = RecentChanges::default();
        assert!(recent.record_write("a", Some(5), Some(Some(3))));
        assert!(!recent.record_event("a", Some(4), Some(Some(5))), "an event from before the write");
        assert!(!recent.record_event("a", Some(5), Some(Some(5))), "its echo");
        assert!(recent.record_event("a", Some(6), Some(Some(5))));
        assert!(!recent.record_write("a", Some(5), Some(Some(6))), "an answer that comes late");
    }

    #[test]
    fn what_is_gone_stays_gone() {
        let mut recent = RecentChanges::default();
        assert!(recent.record_deletion("a", Some(7), Some(Some(5))));
        assert!(!recent.record_write("a", Some(6), None), "an answer that comes after the deletion");
        assert!(!recent.record_event("a", Some(6), None));
        assert!(recent.record_event("a", Some(8), None), "another of the same name");
        assert!(!recent.record_deletion("a", Some(7), Some(Some(8))), "the deletion once more");
    }

    #[test]
    fn a_list_shows_what_was_written_before_it_began() {
        let mut recent = RecentChanges::default();
        recent.record_write("before", Some(5), None);
        recent.begin_list();
        recent.record_write("shown", Some(6), None);
        recent.record_write("later", Some(9), None);
        recent.record_write("newer", Some(10), Some(Some(4)));
        let listed = |key: &str| match key {
            "shown" => Some(Some(6)),
            "newer" => Some(Some(4)),
            _ => None,
        };
        let mut later = recent.finish_list(listed);
        later.sort();
        assert_eq!(later, ["later".into(), "newer".into()] as [Box<str>; 2]);
    }
}
