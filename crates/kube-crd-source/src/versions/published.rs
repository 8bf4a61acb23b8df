//! The published packages that are known here by their digests. Another package of the same name and version is not
//! the one whose output is known, wherever it is from.

/// One line for each package: its name, its version, the checksum of its archive, and the digest of its code. That is
/// the SHA-256 of sorted lines `PATH SHA-256`, one for Cargo.toml and for each Rust file that is not below `tests`,
/// `benches` or `examples`.
const TABLE: &str = include_str!("published.txt");

/// The digests of a package as crates.io has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedCrate {
    /// The checksum of its archive, which Cargo.lock has.
    pub checksum: &'static str,
    /// The digest of its code.
    pub code: &'static str,
}

impl PublishedCrate {
    /// Every package of the table, by its name and its version.
    pub fn all() -> impl Iterator<Item = (&'static str, &'static str, Self)> {
        TABLE.lines().filter_map(|line| {
            let mut words = line.split(' ');
            let (name, version) = (words.next()?, words.next()?);
            Some((name, version, Self { checksum: words.next()?, code: words.next()? }))
        })
    }

    /// One package; none if this version of it is not in the table.
    pub fn find(name: &str, version: &str) -> Option<Self> {
        Self::all().find(|row| (row.0, row.1) == (name, version)).map(|row| row.2)
    }
}
