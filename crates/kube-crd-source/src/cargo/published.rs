//! The published packages that are known here by their digests. Another package of the same name and version is not
//! the one whose output is known, wherever it is from.
//!
//! These are the packages that decide what `crd()` prints, and those with types in our tables: what such a type is, its
//! default value and how that is written is known only of the published code. The crates whose types are always refused
//! (`builtin::crates::TWOFOLD`) need no digest.

use super::packages::{PackageId, Packages};
use crate::text::Problem;

/// One line for each package: its name, its version, the checksum of its archive, and the digest of its code. That is
/// the SHA-256 of sorted lines `PATH SHA-256`, one for Cargo.toml and for each Rust file that is not below `tests`,
/// `benches` or `examples`.
const TABLE: &str = include_str!("published.txt");

/// The digests of a package as crates.io has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Published {
    /// The checksum of its archive, which Cargo.lock has.
    pub checksum: &'static str,
    /// The digest of its code.
    pub code: &'static str,
}

impl Published {
    /// Every package of the table, by its name and its version.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str, Self)> {
        TABLE.lines().filter_map(Self::parse_row)
    }

    fn parse_row(line: &'static str) -> Option<(&'static str, &'static str, Self)> {
        let mut words = line.split(' ');
        let (name, version) = (words.next()?, words.next()?);
        Some((name, version, Self { checksum: words.next()?, code: words.next()? }))
    }

    /// One package; none if this version of it is not in the table.
    pub fn find(name: &str, version: &str) -> Option<Self> {
        let start = format!("{name} {version} ");
        let line = TABLE.lines().find(|line| line.starts_with(&start))?;
        Self::parse_row(line).map(|row| row.2)
    }

    /// The newest known version of a package.
    fn newest_version(name: &str) -> Option<&'static str> {
        Self::all().filter(|row| row.0 == name).last().map(|row| row.1)
    }
}

impl Packages<'_> {
    /// The problem of a package of which it is not certain that it is as crates.io has it.
    pub fn publication_fault(&self, id: PackageId) -> Option<Problem> {
        let known = self.publication_faults.borrow().get(&id).cloned();
        known.unwrap_or_else(|| {
            let fault = self.find_publication_fault(id);
            self.publication_faults.borrow_mut().insert(id, fault.clone());
            fault
        })
    }

    fn find_publication_fault(&self, id: PackageId) -> Option<Problem> {
        let (name, version) = (&self.all[id].name, self.version_of(id));
        let problem = |message: String| Problem::new(self.place_in_lock(id), message);
        if !self.is_published(id) {
            let message =
                format!("`{name}` is not the published crate, and its output is not known");
            let hint = format!("depend on the `{name}` of crates.io");
            return Some(problem(message).with_hint(hint));
        }
        let published = Published::find(name, &version);
        match (self.checksum_of(id), published) {
            (_, None) => {}
            (Some(checksum), Some(published)) if checksum == published.checksum => {}
            (Some(_), Some(_)) => {
                let message = format!(
                    "the checksum of `{name}` {version} in Cargo.lock is not that of the published crate"
                );
                let hint = "remove the line with its `checksum`, and run `cargo fetch`, which writes it again";
                return Some(problem(message).with_hint(hint));
            }
            (None, Some(_)) => {
                let message = format!("Cargo.lock has no checksum of `{name}` {version}");
                let hint = "run `cargo fetch`, which adds the checksum";
                return Some(problem(message).with_hint(hint));
            }
        }
        let fault = self.vendoring_fault(id)?;
        let message = format!("the vendored `{name}` may not be the published crate: {fault}");
        let newest = Published::newest_version(name).filter(|_| published.is_none());
        Some(problem(message).with_hint(vendoring_hint(name, newest)))
    }
}

/// Returns a hint to vendor a package so that it is known. `newest`: the version to use, if the package's is not known.
fn vendoring_hint(name: &str, newest: Option<&str>) -> String {
    match newest {
        None => "vendor the packages again: `cargo vendor`".to_owned(),
        Some(newest) => format!(
            "run `cargo update -p {name} --precise {newest}`, and vendor the packages again: `cargo vendor`"
        ),
    }
}

#[test]
fn a_hint_names_the_version_to_vendor() {
    assert_eq!(vendoring_hint("serde", None), "vendor the packages again: `cargo vendor`");
    let newest = Published::newest_version("serde_derive_internals");
    assert_eq!(
        vendoring_hint("serde_derive_internals", newest),
        "run `cargo update -p serde_derive_internals --precise 0.30.0`, and vendor the packages again: `cargo vendor`"
    );
}
