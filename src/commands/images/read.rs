//! An image that a user names: an OCI layout, an archive, or a name in a registry.

use std::path::Path;

use anyhow::Context as _;

use super::{Access, pull};
use crate::{
    disk,
    hint::Hint as _,
    image::{self, Stored},
    model::{Image, Platform},
};

/// Reads the image in a registry, for the first of these platforms.
pub fn pulled(image: &Image, platforms: &[Platform], access: &Access) -> anyhow::Result<Stored> {
    Ok(pull(image, platforms, access)?.1)
}

/// Reads the image for the first of these platforms. A path is relative to `dir`.
pub fn read(
    dir: &Path,
    text: &str,
    platforms: &[Platform],
    access: &Access,
) -> anyhow::Result<Stored> {
    let path = dir.join(text);
    let reading = || format!("cannot read the image in `{text}`");
    if path.is_dir() {
        let file = |name: &str, limit: u64| disk::large(&path.join(name), limit);
        return image::read_layout(platforms, file)
            .with_context(reading)
            .hint("name the directory of an OCI layout, or an archive that ends in `.tar`");
    }
    if path.exists()
        && let Some((_, bytes)) = disk::stream(&path)?
    {
        return image::read_archive(bytes, platforms).with_context(reading);
    }
    match text.parse::<Image>() {
        // `bundle.tar` is the name of an image on Docker Hub, too; nobody means that.
        Ok(image) if !text.ends_with(".tar") => pulled(&image, platforms, access),
        _ => Err(anyhow::format_err!("there is no `{text}`")).hint(
            "name an OCI layout, an archive, or an image such as `quay.io/example/bundle:v0.0.1`",
        ),
    }
}
