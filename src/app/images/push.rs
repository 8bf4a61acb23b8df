//! Pushes an image.

use anyhow::Context as _;

use super::RegistryAccess;
use crate::terminal::{self, Step};
use diagnostics::Hint as _;
use model::Image;
use oci::{
    image,
    registry::{Parts, Right},
};

/// Pushes an image to a name, which must have no digest, and prints the name with the digest.
pub fn push(image: &image::Image, to: &Image, access: &RegistryAccess) -> anyhow::Result<()> {
    named(to)?;
    let step = Step::begin(&format!("pushing {to}"));
    let registry = access.registry(to, Right::Push)?;
    let parts = Parts { blobs: image.blobs(), children: image.children(), top: image.top() };
    registry
        .push(to.tag().unwrap_or("latest"), &parts, &mut |done, all| {
            step.update_bytes(done, Some(all))
        })
        .with_context(|| format!("cannot push `{to}`"))?;
    drop(step);
    terminal::print(&format!("{to}@{}\n", image.digest()));
    Ok(())
}

/// Refuses a name that nothing can be pushed to.
pub fn named(to: &Image) -> anyhow::Result<()> {
    match to.digest() {
        None => Ok(()),
        Some(_) => Err(anyhow::format_err!(
            "`{to}` must not have a digest: it is computed from the content"
        ))
        .hint("give a name with a tag"),
    }
}
