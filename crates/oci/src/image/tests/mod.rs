//! Images that are built, and images that somebody has built to do harm.

mod building;
mod reading;
mod unpacking;

use std::{
    collections::BTreeMap,
    io::{Cursor, Read, Write as _},
    rc::Rc,
};

use flate2::{Compression, write::GzEncoder};
use serde_json::json;
use tar::EntryType;

use super::*;
use model::{Descriptor, ProjectPath};

const OCI_LAYER: &str = "application/vnd.oci.image.layer.v1.tar";

/// An entry of a layer: its type, its name, its content or the target of a link.
type Entry<'a> = (EntryType, &'a str, &'a str);

const FILE: EntryType = EntryType::Regular;
const FOLDER: EntryType = EntryType::Directory;
const SYMLINK: EntryType = EntryType::Symlink;
const LINK: EntryType = EntryType::Link;

/// A tar file with any names: the builder of the library refuses some.
fn tarball(entries: &[Entry<'_>]) -> Vec<u8> {
    let mut res = tar::Builder::new(Vec::new());
    for (kind, name, text) in entries {
        let mut header = tar::Header::new_gnu();
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(*kind);
        header.set_mode(0o644);
        let mut bytes = text.as_bytes();
        if matches!(*kind, EntryType::Symlink | EntryType::Link) {
            header.as_mut_bytes()[157..157 + text.len()].copy_from_slice(text.as_bytes());
            bytes = b"";
        }
        header.set_size(bytes.len() as u64);
        header.set_cksum();
        res.append(&header, bytes).expect("it is written to memory");
    }
    res.into_inner().expect("it is written to memory")
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut res = GzEncoder::new(Vec::new(), Compression::fast());
    res.write_all(bytes).and_then(|()| res.finish()).expect("it is written to memory")
}

/// zstd without compression: one frame of raw blocks.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    let mut res = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58];
    let mut blocks = bytes.chunks(1 << 15).peekable();
    while let Some(block) = blocks.next() {
        let header = (block.len() as u32) << 3 | u32::from(blocks.peek().is_none());
        res.extend(&header.to_le_bytes()[..3]);
        res.extend(block);
    }
    res
}

fn config(layers: &[Vec<u8>]) -> Blob {
    let ids: Vec<Digest> = layers.iter().map(|it| Digest::from_content(it)).collect();
    let config = json!({
        "architecture": "amd64",
        "os": "linux",
        "config": {"Labels": {"a": "b"}},
        "rootfs": {"type": "layers", "diff_ids": ids},
    });
    Blob::new("application/vnd.oci.image.config.v1+json", config.to_string().into_bytes())
}

fn stored(layers: &[Vec<u8>], pack: fn(&[u8]) -> Vec<u8>) -> Stored {
    let blobs = layers.iter().map(|it| memory(OCI_LAYER, pack(it))).collect();
    Stored::new(&config(layers), blobs).expect("it is whole")
}

fn memory(media_type: &str, bytes: Vec<u8>) -> Content {
    Content::Memory(Blob::new(media_type, bytes))
}

/// The image in an archive of these bytes.
fn of_archive(bytes: &[u8], platforms: &[Platform]) -> anyhow::Result<Stored> {
    let bytes: Rc<[u8]> = bytes.into();
    let open = move |at: u64| -> anyhow::Result<Box<dyn Read>> {
        Ok(Box::new(Cursor::new(bytes[usize::try_from(at)?..].to_vec())))
    };
    read_archive(open, platforms)
}

/// The image in a layout of these files, unpacked.
fn of_layout(files: &BTreeMap<String, Vec<u8>>, platforms: &[Platform]) -> anyhow::Result<Stored> {
    let files = files.clone();
    let open = move |path: &str| -> anyhow::Result<_> {
        let found = files.get(path).map(|it| Box::new(Cursor::new(it.clone())) as Box<dyn Read>);
        Ok(found.map(|it| (files[path].len() as u64, it)))
    };
    let files: Rc<Open> = Rc::new(open);
    let res = read_layout(platforms, &files)?;
    res.unpack(&[], Limits::default()).map(|_| res)
}

/// The files of an image of these layers, or why it is refused.
fn unpacked(layers: &[&[Entry<'_>]], folders: &[&str], limits: Limits) -> String {
    let layers: Vec<Vec<u8>> = layers.iter().map(|it| tarball(it)).collect();
    match stored(&layers, |it| it.to_vec()).unpack(folders, limits) {
        Ok(found) => {
            let files = found.files.iter();
            let files = files.map(|(path, it)| format!("{path}={}", String::from_utf8_lossy(it)));
            files.collect::<Vec<_>>().join(" ")
        }
        Err(error) => error.root_cause().to_string(),
    }
}

#[track_caller]
fn check(layers: &[&[Entry<'_>]], expected: &str) {
    assert_eq!(unpacked(layers, &[], Limits::default()), expected);
}

fn recipe(format: Format) -> Recipe<'static> {
    Recipe {
        format,
        created: "1970-01-01T00:00:00Z",
        created_by: "test",
        annotations: BTreeMap::from([("k".to_owned(), "v".to_owned())]),
    }
}

fn files() -> Files {
    let long = format!("manifests/{}/{}.yaml", "a".repeat(100), "b".repeat(120));
    let all = ["manifests/a b.yaml", "manifests/ä.yaml", "metadata/x", "top", &long];
    all.iter().map(|it| (ProjectPath::fixed(it), it.as_bytes().to_vec())).collect()
}

fn built(format: Format, platforms: &[&str]) -> Image {
    let layer = Layer::of_data(files(), 0).expect("it is written to memory");
    let config =
        Config { labels: BTreeMap::from([("a".to_owned(), "b".to_owned())]), ..Config::default() };
    let variant = |it: &&str| Variant {
        platform: it.parse().expect("a platform"),
        base: None,
        layers: vec![layer.clone()],
        config: config.clone(),
    };
    assemble(&recipe(format), platforms.iter().map(variant).collect()).expect("it is whole")
}
