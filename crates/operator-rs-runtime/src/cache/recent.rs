//! Own writes that the watch has not shown yet, and what was deleted lately. With these, events and
//! answers may arrive in any order: an older state never replaces a newer one, and what is gone
//! stays gone. kube's stores take what comes last.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The answer to a write can be later than the event of a deletion by the time limit of a request.
const DELETION_RETENTION: Duration = Duration::from_secs(120);

/// A resourceVersion; `None` for one that is no number.
pub type ResourceVersion = Option<u64>;

/// Whether `a` is newer than `b`, as far as anybody can know.
pub fn is_newer(a: ResourceVersion, b: ResourceVersion) -> bool {
    a.is_none() || b.is_none() || a > b
}

/// Recent writes and deletions of objects, by their keys.
#[derive(Default)]
pub struct RecentChanges {
    written: HashMap<Box<str>, Written>,
    deleted: HashMap<Box<str>, (ResourceVersion, Instant)>,
    purged: Option<Instant>,
    /// Own writes are numbered, and so is the beginning of a list.
    write_count: u64,
    list_begin: Option<u64>,
    /// How many lists have ended.
    list_count: u64,
}

struct Written {
    version: ResourceVersion,
    number: u64,
}

impl RecentChanges {
    /// Whether the answer to an own write is news, where `current` is known.
    pub fn record_write(&mut self, key: &str, version: ResourceVersion, current: Option<ResourceVersion>) -> bool {
        let gone = self.deleted.get(key).is_some_and(|(at, _)| !is_newer(version, *at));
        if gone || current.is_some_and(|it| !is_newer(version, it)) {
            return false;
        }
        self.write_count += 1;
        self.written.insert(key.into(), Written { version, number: self.write_count });
        true
    }

    /// Whether an event is news.
    pub fn record_event(&mut self, key: &str, version: ResourceVersion, current: Option<ResourceVersion>) -> bool {
        if self.written.get(key).is_some_and(|it| it.version <= version) {
            self.written.remove(key);
        }
        if current.is_none() && self.written.get(key).is_some_and(|it| !is_newer(version, it.version)) {
            return false;
        }
        let gone = self.deleted.get(key).is_some_and(|(at, _)| !is_newer(version, *at));
        !gone && current.is_none_or(|it| is_newer(version, it))
    }

    /// Whether a deletion is news: not of what has been created again since.
    pub fn record_deletion(&mut self, key: &str, version: ResourceVersion, current: Option<ResourceVersion>) -> bool {
        if current.is_some_and(|it| it > version && it.is_some() && version.is_some()) {
            return false;
        }
        let now = Instant::now();
        if self.purged.is_none_or(|at| DELETION_RETENTION < now - at) {
            self.purged = Some(now);
            self.deleted.retain(|_, (_, at)| now - *at < DELETION_RETENTION);
        }
        self.written.remove(key);
        self.deleted.insert(key.into(), (version, now));
        true
    }

    /// How many lists have ended.
    pub fn list_count(&self) -> u64 {
        self.list_count
    }

    /// A list begins.
    pub fn begin_list(&mut self) {
        self.list_begin = Some(self.write_count);
    }

    /// A list ends, in which objects have these versions. Returns the own writes that it is too old
    /// to show.
    pub fn finish_list(&mut self, listed: impl Fn(&str) -> Option<ResourceVersion>) -> Vec<Box<str>> {
        let begin = self.list_begin.take().unwrap_or(0);
        self.list_count += 1;
        let mut later = vec![];
        self.written.retain(|key, it| {
            // An object that was written before the list began is in it, or has been deleted since.
            let kept = begin < it.number && listed(key).is_none_or(|at| is_newer(it.version, at));
            if kept {
                later.push(key.clone());
            }
            kept
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
