//! The files of an image: its layers, applied one after the other in memory.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    io::{self, Read},
};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use super::{
    Files, Stored,
    compression::{SizeLimited, decompress},
    content::Hashed,
    tarball::{self, Kind, TarEntry},
};
use diagnostics::Hint as _;
use model::{Digest, ProjectPath};

/// The limits of an image; larger ones are refused.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The size of all layers together, decompressed.
    pub whole: u64,
    /// The size of the files that are kept, and of their paths.
    pub kept: u64,
    pub entries: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { whole: 8 << 30, kept: 512 << 20, entries: 1_000_000 }
    }
}

/// An image's files and what its configuration says about them.
#[derive(Debug)]
pub struct Unpacked {
    pub files: Files,
    pub labels: BTreeMap<String, String>,
    /// The directories that are kept, those without files, too.
    pub folders: BTreeSet<String>,
}

/// A path of the image, and the layer that has put it there.
struct Node {
    layer: usize,
    content: NodeContent,
}

enum NodeContent {
    File(Vec<u8>),
    Folder,
    Symlink(String),
}

/// The directory tree of the layers that were read so far.
struct UnpackedTree<'a> {
    /// The directories that are kept; empty for all.
    folders: &'a [&'a str],
    nodes: BTreeMap<String, Node>,
    left: Limits,
}

impl Stored {
    /// The files in these directories of the image, e.g. `manifests`; all files if none is named.
    pub fn unpack(&self, folders: &[&str], limits: Limits) -> anyhow::Result<Unpacked> {
        let mut root = UnpackedTree { folders, nodes: BTreeMap::new(), left: limits };
        for (at, (layer, diff_id)) in self.layers.iter().zip(&self.diff_ids).enumerate() {
            layer
                .read(|content| root.apply_layer(at, content, diff_id))
                .with_context(|| format!("the layer {layer} cannot be unpacked"))
                .hint("pull or build the image again; if it is not yours, do not trust it")?;
        }
        let folders = root.all_folders();
        let files = root.into_files()?;
        Ok(Unpacked { files, labels: self.labels.clone(), folders })
    }

    /// Compares the content of each layer with the configuration. Nothing is kept, and no more than this many bytes are
    /// decompressed.
    pub fn ensure_layers_match(&self, mut limit: u64) -> anyhow::Result<()> {
        for (layer, diff_id) in self.layers.iter().zip(&self.diff_ids) {
            limit = layer
                .read(|content| Decompressed::new(content, limit)?.finish_and_compare(diff_id))
                .with_context(|| format!("the layer {layer} cannot be used"))?;
        }
        Ok(())
    }
}

impl UnpackedTree<'_> {
    fn apply_layer(
        &mut self,
        layer: usize,
        content: &mut dyn Read,
        diff_id: &Digest,
    ) -> anyhow::Result<()> {
        let mut reader = Decompressed::new(content, self.left.whole)?;
        tarball::visit_entries(&mut reader.0, |entry, content| {
            self.add_entry(layer, entry, content)
        })?;
        self.left.whole = reader.finish_and_compare(diff_id)?;
        Ok(())
    }

    fn add_entry(
        &mut self,
        layer: usize,
        entry: TarEntry,
        content: &mut dyn Read,
    ) -> anyhow::Result<()> {
        let left = self.left.entries.checked_sub(1);
        self.left.entries = left.context("it has too many files")?;
        let path = tarball::path_in_root(&entry.path)?;
        let name = path.rsplit('/').next().unwrap_or_default();
        if let Some(hidden) = name.strip_prefix(".wh.") {
            let folder = &path[..path.len() - name.len()];
            return self.apply_whiteout(layer, folder, hidden);
        }
        if path.is_empty() || !self.is_kept(&path) {
            return Ok(());
        }
        anyhow::ensure!(
            !path.contains('\u{fffd}'),
            "the name `{path}` in it is not UTF-8, or has a replacement character"
        );
        // The directories above it are compared with others, and returned.
        self.reserve_kept(path.len().saturating_mul(path.split('/').count()))?;
        self.ensure_parents_are_folders(&path)?;
        let content = match entry.kind {
            Kind::Folder => {
                let is_folder = |node: &Node| matches!(node.content, NodeContent::Folder);
                if self.nodes.get(&path).is_some_and(is_folder) {
                    return Ok(());
                }
                NodeContent::Folder
            }
            Kind::File => {
                let mut bytes = Vec::new();
                let mut limited = SizeLimited { inner: content, left: self.left.kept };
                limited.read_to_end(&mut bytes)?;
                anyhow::ensure!(bytes.len() as u64 == entry.size, "it ends within `{path}`");
                self.left.kept = limited.left;
                NodeContent::File(bytes)
            }
            Kind::Hardlink(to) => {
                let to = tarball::path_in_root(&to)?;
                if !self.is_kept(&to) {
                    return refuse_link(&path, "hard link", &to);
                }
                let Some(Node { content: NodeContent::File(bytes), .. }) = self.nodes.get(&to)
                else {
                    anyhow::bail!("`{path}` is a hard link to `{to}`, which is not a file there");
                };
                let bytes = bytes.clone();
                self.reserve_kept(bytes.len())?;
                NodeContent::File(bytes)
            }
            Kind::Symlink(to) => {
                self.reserve_kept(to.len())?;
                NodeContent::Symlink(to)
            }
            Kind::Special => anyhow::bail!("`{path}` is neither a file nor a directory"),
        };
        self.remove_below(&path, usize::MAX);
        self.nodes.insert(path, Node { layer, content });
        Ok(())
    }

    /// Returns whether a path is in a directory that is kept, or leads there.
    fn is_kept(&self, path: &str) -> bool {
        let is_in = |path: &str, folder: &str| {
            path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        self.folders.is_empty()
            || self.folders.iter().any(|folder| is_in(path, folder) || is_in(folder, path))
    }

    fn reserve_kept(&mut self, bytes: usize) -> anyhow::Result<()> {
        let left = self.left.kept.checked_sub(bytes as u64);
        self.left.kept = left.context("its files and their paths are too large")?;
        Ok(())
    }

    /// Fails unless everything above a path is a directory: a link could lead anywhere.
    fn ensure_parents_are_folders(&self, path: &str) -> anyhow::Result<()> {
        for (at, _) in path.match_indices('/') {
            match self.nodes.get(&path[..at]).map(|node| &node.content) {
                None | Some(NodeContent::Folder) => {}
                Some(_) => {
                    anyhow::bail!("`{}` is not a directory, and has files in it", &path[..at])
                }
            }
        }
        Ok(())
    }

    /// Removes what lower layers have put there. `.wh..opq` stands for all that is in a directory.
    fn apply_whiteout(&mut self, layer: usize, folder: &str, hidden: &str) -> anyhow::Result<()> {
        match hidden {
            ".wh..opq" => self.remove_below(folder.trim_end_matches('/'), layer),
            // Notes of an old storage driver.
            it if it.starts_with(".wh.") => {}
            "" | "." | ".." => anyhow::bail!("`{folder}.wh.{hidden}` in it removes no file"),
            it => {
                let path = format!("{folder}{it}");
                self.remove_below(&path, layer);
                if self.nodes.get(&path).is_some_and(|node| node.layer < layer) {
                    self.nodes.remove(&path);
                }
            }
        }
        Ok(())
    }

    /// Removes what layers below this one have put into a directory.
    fn remove_below(&mut self, folder: &str, layer: usize) {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let below =
            self.nodes.range(start.clone()..).take_while(|entry| entry.0.starts_with(&start));
        let below = below.filter(|entry| entry.1.layer < layer).map(|entry| entry.0.clone());
        for path in below.collect::<VecDeque<_>>() {
            self.nodes.remove(&path);
        }
    }

    fn all_folders(&self) -> BTreeSet<String> {
        let mut folders = BTreeSet::new();
        for (path, node) in &self.nodes {
            folders.extend(path.match_indices('/').map(|(at, _)| path[..at].to_owned()));
            if matches!(node.content, NodeContent::Folder) {
                folders.insert(path.clone());
            }
        }
        folders
    }

    /// The files that are left, those behind links included.
    fn into_files(mut self) -> anyhow::Result<Files> {
        let mut files = Files::new();
        let links: Vec<(String, String)> = self
            .nodes
            .iter()
            .filter_map(|(path, node)| match &node.content {
                NodeContent::Symlink(_) => Some((path.clone(), self.resolve_symlink(path))),
                _ => None,
            })
            .map(|(path, to)| to.map(|target| (path, target)))
            .collect::<anyhow::Result<_>>()?;
        for (path, to) in links {
            if let Some(Node { content: NodeContent::File(bytes), .. }) = self.nodes.get(&to) {
                let bytes = bytes.clone();
                self.reserve_kept(bytes.len())?;
                files.insert(file_path(&path)?, bytes);
            }
        }
        for (path, node) in self.nodes {
            if let NodeContent::File(bytes) = node.content {
                files.insert(file_path(&path)?, bytes);
            }
        }
        Ok(files)
    }

    /// The file that a symlink leads to, over others.
    fn resolve_symlink(&self, link: &str) -> anyhow::Result<String> {
        let mut path = link.to_owned();
        for _ in 0..16 {
            path = match self.nodes.get(&path).map(|node| &node.content) {
                Some(NodeContent::File(_)) => return Ok(path),
                Some(NodeContent::Symlink(to)) => {
                    tarball::symlink_target(&path, to).with_context(|| {
                        format!("`{link}` is a symlink that leads out of the image")
                    })?
                }
                Some(NodeContent::Folder) => {
                    return Err(anyhow::format_err!("`{link}` is a symlink to the directory `{path}`, and only those to files are followed"))
                        .hint("build the image with files in place of symlinks");
                }
                None => break,
            };
            if !self.is_kept(&path) {
                return refuse_link(link, "symlink", &path);
            }
        }
        Err(anyhow::format_err!("`{link}` is a symlink that leads to no file of the image"))
            .hint("build the image with files in place of symlinks")
    }
}

/// Refuses a link into a directory that is not kept: its target is not known.
fn refuse_link<T>(link: &str, kind: &str, to: &str) -> anyhow::Result<T> {
    Err(anyhow::format_err!(
        "`{link}` is a {kind} to `{to}`, and no link out of the directories of a bundle or a catalog is followed"
    ))
    .hint("build the image with files in place of links")
}

fn file_path(path: &str) -> anyhow::Result<ProjectPath> {
    path.parse()
        .map_err(|_| anyhow::format_err!("the image has a file with the invalid name `{path}`"))
}

/// A layer that is decompressed up to a limit, and the digest of what is read.
struct Decompressed<'a>(Hashed<SizeLimited<Box<dyn Read + 'a>>>);

impl<'a> Decompressed<'a> {
    fn new(layer: impl Read + 'a, left: u64) -> anyhow::Result<Self> {
        let inner = SizeLimited { inner: decompress(layer)?, left };
        Ok(Self(Hashed { inner, hash: Sha256::new() }))
    }

    /// Compares the digest; returns what is left of the limit. What follows the last entry belongs to the layer, too.
    fn finish_and_compare(mut self, diff_id: &Digest) -> anyhow::Result<u64> {
        io::copy(&mut self.0, &mut io::sink())?;
        let found = Digest::from_hash(&self.0.hash.finalize());
        anyhow::ensure!(
            found == *diff_id,
            "its content has the digest {found}, and not {diff_id} as in the configuration"
        );
        Ok(self.0.inner.left)
    }
}
