//! Files as a layer: a tar file, compressed.

use std::{
    collections::{BTreeMap, BTreeSet},
    io::Write as _,
};

use flate2::{Compression, GzBuilder};

use super::Files;
use model::{Blob, Digest, ProjectPath};

/// A file of an image.
#[derive(Clone, Debug, PartialEq)]
pub struct File {
    pub bytes: Vec<u8>,
    pub is_executable: bool,
}

/// The difference that one layer makes to an image's files.
#[derive(Clone, Debug, PartialEq)]
pub struct Layer {
    pub blob: Blob,
    /// The digest before the compression, by which a configuration names it.
    pub diff_id: Digest,
}

/// The media type of a compressed layer.
pub const GZIP: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

impl Layer {
    /// A layer of files and of the directories that they are in, all owned by root and readable by everybody. `time` is
    /// in seconds since 1970.
    pub fn new(files: &BTreeMap<ProjectPath, File>, time: u64) -> anyhow::Result<Self> {
        let tar = build_tar(files, time)?;
        let mut gzip = GzBuilder::new().write(Vec::new(), Compression::default());
        gzip.write_all(&tar)?;
        let blob = Blob::new(GZIP, gzip.finish()?);
        Ok(Self { blob, diff_id: Digest::from_content(&tar) })
    }

    /// A layer of files that are not executable.
    pub fn of_data(files: Files, time: u64) -> anyhow::Result<Self> {
        let file = |bytes| File { bytes, is_executable: false };
        Self::new(&files.into_iter().map(|(path, bytes)| (path, file(bytes))).collect(), time)
    }
}

fn build_tar(files: &BTreeMap<ProjectPath, File>, time: u64) -> anyhow::Result<Vec<u8>> {
    let mut folders = BTreeSet::new();
    for path in files.keys() {
        let mut above = path.parent();
        while let Some(it) = above {
            above = it.parent();
            folders.insert(it);
        }
    }
    // A directory comes before what is in it: its name is a prefix.
    let folders = folders.into_iter().map(|folder| (folder.to_string() + "/", None));
    let files = files.iter().map(|(path, file)| (path.to_string(), Some(file)));
    let entries: BTreeMap<String, Option<&File>> = folders.chain(files).collect();

    let mut archive = tar::Builder::new(Vec::new());
    for (path, file) in entries {
        let mut header = tar::Header::new_ustar();
        header.set_mtime(time);
        header.set_uid(0);
        header.set_gid(0);
        let bytes = match file {
            None => {
                header.set_entry_type(tar::EntryType::Directory);
                header.set_mode(0o755);
                &[][..]
            }
            Some(file) => {
                header.set_mode(if file.is_executable { 0o755 } else { 0o644 });
                &file.bytes
            }
        };
        header.set_size(bytes.len() as u64);
        archive.append_data(&mut header, path, bytes)?;
    }
    Ok(archive.into_inner()?)
}
