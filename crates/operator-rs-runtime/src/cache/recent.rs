//! Own writes that the watch has not shown yet, and what was deleted lately. With these, events and
//! answers may arrive in any order: an older state never replaces a newer one, and what is gone
//! stays gone. kube's stores take what comes last.

use std::{
    collections::HashMap,
    time::{Duration, Instant},
};

/// The answer to a write can be later than the event of a deletion by the time limit of a request.
const KEPT: Duration = Duration::from_secs(120);

/// A resourceVersion; `None` for one that is no number.
pub type Version = Option<u64>;

/// Whether `a` is newer than `b`, as far as anybody can know.
pub fn is_newer(a: Version, b: Version) -> bool {
    a.is_none() || b.is_none() || a > b
}

/// Recent writes and deletions of objects, by their keys.
#[derive(Default)]
pub struct Recent {
    written: HashMap<Box<str>, Written>,
    deleted: HashMap<Box<str>, (Version, Instant)>,
    purged: Option<Instant>,
    /// Own writes are numbered, and so is the beginning of a list.
    count: u64,
    list: Option<u64>,
    /// How many lists have ended.
    lists: u64,
}

struct Written {
    version: Version,
    number: u64,
}

impl Recent {
    /// Whether the answer to an own write is news, where `current` is known.
    pub fn wrote(&mut self, key: &str, version: Version, current: Option<Version>) -> bool {
        let gone = self.deleted.get(key).is_some_and(|(at, _)| !is_newer(version, *at));
        if gone || current.is_some_and(|it| !is_newer(version, it)) {
            return false;
        }
        self.count += 1;
        self.written.insert(key.into(), Written { version, number: self.count });
        true
    }

    /// Whether an event is news.
    pub fn applied(&mut self, key: &str, version: Version, current: Option<Version>) -> bool {
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
    pub fn deleted(&mut self, key: &str, version: Version, current: Option<Version>) -> bool {
        if current.is_some_and(|it| it > version && it.is_some() && version.is_some()) {
            return false;
        }
        let now = Instant::now();
        if self.purged.is_none_or(|at| KEPT < now - at) {
            self.purged = Some(now);
            self.deleted.retain(|_, (_, at)| now - *at < KEPT);
        }
        self.written.remove(key);
        self.deleted.insert(key.into(), (version, now));
        true
    }

    /// How many lists have ended.
    pub fn lists(&self) -> u64 {
        self.lists
    }

    /// A list begins.
    pub fn list_begins(&mut self) {
        self.list = Some(self.count);
    }

    /// A list ends, in which objects have these versions. Returns the own writes that it is too old
    /// to show.
    pub fn list_ends(&mut self, listed: impl Fn(&str) -> Option<Version>) -> Vec<Box<str>> {
        let begin = self.list.take().unwrap_or(0);
        self.lists += 1;
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
        let mut recent = Recent::default();
        assert!(recent.wrote("a", Some(5), Some(Some(3))));
        assert!(!recent.applied("a", Some(4), Some(Some(5))), "an event from before the write");
        assert!(!recent.applied("a", Some(5), Some(Some(5))), "its echo");
        assert!(recent.applied("a", Some(6), Some(Some(5))));
        assert!(!recent.wrote("a", Some(5), Some(Some(6))), "an answer that comes late");
    }

    #[test]
    fn what_is_gone_stays_gone() {
        let mut recent = Recent::default();
        assert!(recent.deleted("a", Some(7), Some(Some(5))));
        assert!(!recent.wrote("a", Some(6), None), "an answer that comes after the deletion");
        assert!(!recent.applied("a", Some(6), None));
        assert!(recent.applied("a", Some(8), None), "another of the same name");
        assert!(!recent.deleted("a", Some(7), Some(Some(8))), "the deletion once more");
    }

    #[test]
    fn a_list_shows_what_was_written_before_it_began() {
        let mut recent = Recent::default();
        recent.wrote("before", Some(5), None);
        recent.list_begins();
        recent.wrote("shown", Some(6), None);
        recent.wrote("later", Some(9), None);
        recent.wrote("newer", Some(10), Some(Some(4)));
        let listed = |key: &str| match key {
            "shown" => Some(Some(6)),
            "newer" => Some(Some(4)),
            _ => None,
        };
        let mut later = recent.list_ends(listed);
        later.sort();
        assert_eq!(later, ["later".into(), "newer".into()] as [Box<str>; 2]);
    }
}
