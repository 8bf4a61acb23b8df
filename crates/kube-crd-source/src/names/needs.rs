//! Crates from elsewhere that have not been read and are needed, as names lead into them.

use std::collections::{BTreeMap, BTreeSet};

use super::{Doubt, Lookup, Names};
use crate::builtin::names::{canonical_path, is_table, prelude_path};
use crate::text::SourcePath;
use crate::tree::ModuleId;

/// Crates, by the first words of paths into them.
#[derive(Default)]
pub struct Needs {
    /// Those that values are of. They are needed where what they are in is refused.
    of_values: BTreeSet<String>,
    pub crates: BTreeSet<String>,
    /// The files that `include_str!` names, each with a module that does.
    pub texts: BTreeMap<SourcePath, ModuleId>,
    /// Names that are no known crate: the crate with such a path, and the name.
    pub unknown: BTreeSet<(usize, String)>,
}

impl Lookup<'_> {
    /// The path of a name in a foreign module, as our tables know it where the crate is the one that they mean.
    pub(super) fn foreign_path(&self, module: &str, name: &str) -> String {
        let path = canonical_path(module, name);
        let vendored = format!("vendored/{path}");
        let word = vendored.split("::").next().unwrap_or_default();
        if self.world.unpublished.contains(word) { vendored } else { path }
    }
}

impl Names {
    /// Notes a path of a value from elsewhere.
    pub(super) fn note_value(&self, path: &str) {
        if let Some(word) = readable_crate(path) {
            self.needs.borrow_mut().of_values.insert(word);
        }
    }

    /// Notes a name that may be that of a library which is not called as its package is.
    pub(super) fn note_unknown_crate(&self, krate: usize, name: &str) {
        if prelude_path(name).is_none() {
            self.needs.borrow_mut().unknown.insert((krate, name.to_owned()));
        }
    }

    /// Notes that a path from elsewhere has to be known.
    pub fn note_need(&self, path: &str) {
        self.needs.borrow_mut().crates.extend(readable_crate(path));
    }

    /// Notes that the text of a file has to be known, which code in a module includes.
    pub fn need_text(&self, module: ModuleId, path: SourcePath) {
        self.needs.borrow_mut().texts.insert(path, module);
    }

    /// Notes that the crate has to be known that a doubt is about.
    pub fn need_for(&self, doubt: &Doubt) {
        doubt.glob.iter().for_each(|path| self.note_need(path));
    }

    /// Notes that something is refused: the values in it have to be known.
    pub fn need_values(&self) {
        let needs = &mut *self.needs.borrow_mut();
        needs.crates.append(&mut needs.of_values);
    }

    /// The crates that were noted since the last call.
    pub fn take_needs(&self) -> Needs {
        let needs = &mut *self.needs.borrow_mut();
        let of_values = std::mem::take(&mut needs.of_values);
        std::mem::replace(needs, Needs { of_values, ..Needs::default() })
    }

    /// Returns whether a doubt is about a crate that is not on crates.io and whose source is not read.
    pub fn is_of_unpublished(&self, doubt: &Doubt) -> bool {
        doubt.glob.iter().any(|path| self.unpublished.contains(first_segment(path)))
    }

    /// Returns whether a doubt is about a crate whose source is not at hand.
    pub fn is_absent(&self, doubt: &Doubt) -> bool {
        let mut words = doubt.glob.iter().map(|path| first_segment(path));
        words.any(|word| self.absent.contains_key(word))
    }
}

/// The crate of a path, unless tables know all of it.
fn readable_crate(path: &str) -> Option<String> {
    let word = first_segment(path);
    (!is_table(word)).then(|| word.to_owned())
}

fn first_segment(path: &str) -> &str {
    path.split("::").next().unwrap_or(path)
}
