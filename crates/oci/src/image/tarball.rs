//! The entries of a tar file, one after the other, with long names resolved and nothing large held in memory.

use std::io::Read;

use anyhow::Context as _;

/// The type of an entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    File,
    Folder,
    Symlink(String),
    Hardlink(String),
    /// A device, a FIFO, a sparse file.
    Special,
}

/// One entry. Names that are not UTF-8 have replacement characters.
pub struct TarEntry {
    pub path: String,
    pub kind: Kind,
    pub size: u64,
    /// The offset at which its content begins.
    pub offset: u64,
}

/// The longest name or extended header.
const LONGEST: u64 = 1 << 20;

/// Calls `visit` with each entry and its content.
pub fn visit_entries(
    reader: impl Read,
    mut visit: impl FnMut(TarEntry, &mut dyn Read) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut archive = tar::Archive::new(reader);
    // Headers that precede an entry and describe it.
    let (mut long_path, mut long_link, mut other_size) = (None, None, None);
    for entry in archive.entries()?.raw(true) {
        let mut entry = entry.context("it is not a tar file")?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
        let kind = entry.header().entry_type();
        if kind.is_gnu_longname() || kind.is_gnu_longlink() || kind.is_pax_local_extensions() {
            anyhow::ensure!(entry.size() <= LONGEST, "a name in it is too long");
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            if kind.is_gnu_longname() {
                long_path = Some(text(&bytes));
            } else if kind.is_gnu_longlink() {
                long_link = Some(text(&bytes));
            } else {
                for record in tar::PaxExtensions::new(&bytes) {
                    let record = record.context("it has a damaged extended header")?;
                    match record.key_bytes() {
                        b"path" => long_path = Some(text(record.value_bytes())),
                        b"linkpath" => long_link = Some(text(record.value_bytes())),
                        b"size" => other_size = Some(text(record.value_bytes())),
                        key if key.starts_with(b"GNU.sparse") => {
                            anyhow::bail!("it has a sparse file")
                        }
                        _ => {}
                    }
                }
            }
            continue;
        }
        if kind.is_pax_global_extensions() {
            continue;
        }
        let size = entry.size();
        // Readers differ in which of the two they believe.
        let is_same = other_size.take().is_none_or(|other| other == size.to_string());
        anyhow::ensure!(is_same, "an entry in it has two sizes");
        let path = long_path.take().unwrap_or_else(|| text(&entry.path_bytes()));
        let link = long_link.take();
        let link = || {
            link.unwrap_or_else(|| {
                entry.link_name_bytes().map_or_else(String::new, |name| text(&name))
            })
        };
        let kind = if kind.is_file() || kind.is_contiguous() {
            // Old tar files have no type for directories.
            if path.ends_with('/') { Kind::Folder } else { Kind::File }
        } else if kind.is_dir() {
            Kind::Folder
        } else if kind.is_symlink() {
            Kind::Symlink(link())
        } else if kind.is_hard_link() {
            Kind::Hardlink(link())
        } else {
            Kind::Special
        };
        let offset = entry.raw_file_position();
        visit(TarEntry { path, kind, size, offset }, &mut entry)?;
    }
    Ok(())
}

/// A path below the root of an image or an archive: without `.`, and without the `/` at its start. Empty for the root
/// itself.
pub fn path_in_root(path: &str) -> anyhow::Result<String> {
    let parts: Vec<&str> = path.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    anyhow::ensure!(!parts.contains(&".."), "`{path}` has a `..`, which could lead out of it");
    Ok(parts.join("/"))
}

/// Returns the path that a symlink leads to; none if it is outside of the image or archive.
pub fn symlink_target(link: &str, to: &str) -> Option<String> {
    let folder = link.rsplit_once('/').map_or("", |parts| parts.0);
    if to.starts_with('/') { None } else { model::resolve_path(folder, to) }
}
