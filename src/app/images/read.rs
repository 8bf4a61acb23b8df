//! An image that a user names: an OCI layout, an archive, or a name in a registry.

use std::{
    io::{Read, Seek as _, SeekFrom},
    path::Path,
    rc::Rc,
};

use anyhow::Context as _;

use super::{RegistryAccess, pull};
use crate::disk;
use diagnostics::Hint as _;
use model::{Image, Platform};
use oci::image::{self, Open, Stored};

/// Reads the image in a registry, for the first of these platforms.
pub fn pulled(
    image: &Image,
    platforms: &[Platform],
    access: &RegistryAccess,
) -> anyhow::Result<Stored> {
    Ok(pull(image, platforms, access)?.1)
}

/// Reads the image for the first of these platforms. A path is relative to `dir`.
pub fn read(
    dir: &Path,
    text: &str,
    platforms: &[Platform],
    access: &RegistryAccess,
) -> anyhow::Result<Stored> {
    let path = dir.join(text);
    let reading = || format!("cannot read the image in `{text}`");
    if path.is_dir() {
        let file = move |name: &str| -> anyhow::Result<_> {
            let found = disk::open_stream(&path.join(name))?;
            Ok(found.map(|(size, content)| (size, Box::new(content) as Box<dyn Read>)))
        };
        let files: Rc<Open> = Rc::new(file);
        return image::read_layout(platforms, &files)
            .with_context(reading)
            .hint("name the directory of an OCI layout, or an archive that ends in `.tar`");
    }
    if path.exists() {
        let open = move |offset| -> anyhow::Result<Box<dyn Read>> {
            let (_, mut file) = disk::open_stream(&path)?.context("it was removed")?;
            file.seek(SeekFrom::Start(offset))?;
            Ok(Box::new(file))
        };
        return image::read_archive(open, platforms).with_context(reading);
    }
    match text.parse::<Image>() {
        // `bundle.tar` could also name an image on Docker Hub, but users mean the file.
        Ok(image) if !text.ends_with(".tar") => pulled(&image, platforms, access),
        found => Err(anyhow::format_err!("there is no `{text}`")).hint(
            if found.is_err() && text.contains(':') { "name a directory, an archive or an image; `git worktree add` checks out a revision into a directory" } else { "name a directory, an archive, or an image such as `quay.io/example/bundle:v0.0.1`" },
        ),
    }
}
