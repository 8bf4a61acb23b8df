//! Writes a built image to an archive or an OCI layout.

use std::{
    borrow::Cow,
    path::{Path, PathBuf},
};

use anyhow::Context as _;

use super::ImageFormat;
use crate::{
    app::output::stdout,
    disk::{self, Root},
    terminal,
};
use diagnostics::Hint as _;
use model::{Image, Platform, ProjectPath, Tree as _, display_path};
use oci::image;

/// Where and how a built image is written.
#[derive(Clone, clap::Args)]
pub struct ImageOutput {
    /// Archive that is written, if the name ends in `.tar`, or else the directory of an OCI layout [default: `bundle.tar`,
    /// `catalog.tar` or `image.tar` in target/]
    #[arg(long, value_name = "PATH", value_parser = stdout::not_stdout())]
    pub archive: Option<PathBuf>,
    /// Name of the image in the archive, as in `docker build --tag`
    #[arg(short, long, value_name = "IMAGE")]
    pub tag: Option<Image>,
    #[command(flatten)]
    pub shape: ImageFormat,
}

impl ImageOutput {
    /// Returns the platforms of an image of files alone. A Docker archive holds one: by default that of this machine.
    pub fn platforms_of_files(&self) -> Vec<Platform> {
        if self.is_docker() && self.shape.platforms.is_empty() {
            vec![super::here()]
        } else {
            self.shape.platforms_of_files()
        }
    }

    fn is_docker(&self) -> bool {
        image::Format::from(self.shape.format) == image::Format::Docker
    }

    /// Refuses what cannot be written, before something takes minutes to build.
    pub fn require(&self, dir: &Path, default: &str) -> anyhow::Result<()> {
        if self.tag.as_ref().is_some_and(|tag| tag.digest().is_some()) {
            return Err(anyhow::format_err!(
                "`--tag` must not have a digest: it is computed from the content"
            ))
            .hint("give a name with a tag");
        }
        let path = self.path(default);
        let name = path.to_string_lossy().to_ascii_lowercase();
        let compressed = [".tar.gz", ".tgz", ".tar.zst", ".tar.xz", ".tar.bz2", ".zip"];
        if let Some(end) = compressed.iter().find(|ending| name.ends_with(**ending)) {
            return Err(anyhow::format_err!(
                "an archive cannot be written with the extension `{end}`"
            ))
            .hint(
                "set `--archive` to a name that ends in `.tar`: its layers are already compressed",
            );
        }
        if self.is_docker() && !is_archive(&self.path(default)) {
            return Err(anyhow::format_err!("`--format docker` writes an archive"))
                .hint("set `--archive` to a name that ends in `.tar`");
        }
        if self.is_docker() && self.shape.platforms.len() > 1 {
            return Err(anyhow::format_err!("a Docker archive holds one platform"))
                .hint("pass one `--platform`, or `--format oci`");
        }
        if is_archive(&path) {
            open_parent(dir, &path).and_then(|(root, name)| root.require_replaceable(&name))?;
            require_archive(&dir.join(&path), &path)
        } else {
            require_layout(&Root::open_output(dir, &path)?, &path)
        }
    }

    pub fn path(&self, default: &str) -> PathBuf {
        self.archive.clone().unwrap_or_else(|| PathBuf::from(default))
    }

    /// Writes an image and prints its digest. `default` is the archive if no output is named.
    pub fn write(&self, dir: &Path, image: &image::Image, default: &str) -> anyhow::Result<()> {
        self.require(dir, default)?;
        let (path, name) = (self.path(default), self.tag.as_ref());
        match (is_archive(&path), self.is_docker()) {
            (true, true) => put(dir, &path, &image::docker_archive(image, name)?)?,
            (true, false) => put(dir, &path, &image::oci_archive(image, name)?)?,
            (false, _) => write_layout(dir, &path, &image::layout(image, name))?,
        }
        terminal::print(&format!("{}: {}\n", display_path(&path), image.digest()));
        Ok(())
    }
}

fn is_archive(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "tar")
}

/// Writes a file that the user has named, relative to `dir`.
pub fn put(dir: &Path, path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let (root, name) = open_parent(dir, path)?;
    wait_for_lock(&root)?;
    root.write_whole(&name, bytes)
}

/// Two runs that write to the same directory do so one after the other.
fn wait_for_lock(root: &Root) -> anyhow::Result<()> {
    root.wait_for_lock(|| {
        terminal::print_advice("waiting for another operator-rs that is writing there\n")
    })
}

/// Returns the directory of a file that the user has named, and its name in there.
fn open_parent(dir: &Path, path: &Path) -> anyhow::Result<(Root, ProjectPath)> {
    let whole = std::path::absolute(dir.join(path)).context("cannot resolve the path")?;
    let name = whole.file_name().and_then(|name| name.to_str());
    let (Some(parent), Some(name)) = (whole.parent(), name) else {
        anyhow::bail!("`{}` is not the name of a file", display_path(&path));
    };
    Ok((Root::open_output(dir, parent)?, name.parse()?))
}

/// Refuses to replace a file that is no archive of an image.
fn require_archive(place: &Path, path: &Path) -> anyhow::Result<()> {
    let Some((length, bytes)) = disk::open_stream(place)? else { return Ok(()) };
    if length == 0 || image::is_archive(bytes) {
        return Ok(());
    }
    Err(anyhow::format_err!(
        "`{}` is not the archive of an image, and is not replaced",
        display_path(&path)
    ))
    .hint("move or delete it, or name another file")
}

/// Refuses a directory of anything else than a layout.
fn require_layout(root: &Root, path: &Path) -> anyhow::Result<()> {
    let names = root.list_names("")?;
    // The lock, and files that another run is about to write, or has left.
    let is_other =
        |name: &String| name != disk::LOCK_FILE && !name.ends_with(".operator-rs-unfinished");
    if names.iter().any(is_other) && !names.iter().any(|name| name == "oci-layout") {
        return Err(anyhow::format_err!(
            "`{}` is neither empty nor an OCI layout",
            display_path(&path)
        ))
        .hint("name another directory, or an archive that ends in `.tar`");
    }
    Ok(())
}

/// Adds an image to a layout; `index.json` names it once everything else is there.
fn write_layout(dir: &Path, path: &Path, files: &[(String, Vec<u8>)]) -> anyhow::Result<()> {
    let root = Root::open_output(dir, path)?;
    wait_for_lock(&root)?;
    require_layout(&root, path)?;
    let index = ProjectPath::fixed("index.json");
    let existing = root.read_bytes(&index)?;
    let mut merged = Vec::new();
    for (name, bytes) in files {
        let name: ProjectPath = name.parse()?;
        merged.push(match &existing {
            Some(existing) if name == index => {
                let bytes = image::index_with(existing, bytes).with_context(|| {
                    format!("cannot add the image to `{}`", display_path(&path))
                })?;
                (name, bytes.into())
            }
            _ => (name, Cow::Borrowed(&**bytes)),
        });
    }
    merged.iter().try_for_each(|(name, bytes)| root.write_whole(name, bytes))?;
    Ok(())
}
