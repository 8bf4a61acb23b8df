//! `--use-image-digests`: which digest each image has, asked from its registry or read from the lock file.

use std::collections::BTreeMap;

use super::{BY, GeneratedBundle, RegistryAccess};
use crate::{app::images, plan::Plan};
use diagnostics::{Diagnostic, Hint as _, Lines, conflict};
use model::{Digest, Image, ProjectPath, Tree};
use olm::bundle::Digests;

/// The lock file: every image with its digest.
const LOCK: &str = "config/manifests/image-digests.yaml";

const EDIT: &str = "the images in config/";

/// Replaces the images of a bundle by their digests. Unless offline, also plans the lock file.
pub fn pin_images(
    bundle: &mut GeneratedBundle,
    tree: &impl Tree,
    plan: &mut Plan,
    access: Option<&RegistryAccess>,
) -> anyhow::Result<()> {
    let path = ProjectPath::fixed(LOCK);
    let locked = match tree.read_text(&path)? {
        Some(text) => parse_lock_file(&text)?,
        None => BTreeMap::new(),
    };
    let mut digests = Digests::new();
    let mut lock = BTreeMap::new();
    for name in bundle.images_by_tag() {
        let image: Image =
            name.parse().map_err(|why| anyhow::format_err!("the image `{name}` {why}"))?;
        let digest = match access {
            Some(access) => images::resolve(&image, access)
                .hint("push the image first; `--offline` takes the digests in config/manifests/image-digests.yaml")?,
            None => match locked.get(&name) {
                Some(digest) => digest.clone(),
                None => {
                    return Err(anyhow::format_err!("{LOCK} has no digest of `{name}`")).hint(
                        "run `operator-rs bundle --use-image-digests` without `--offline`, and commit the file",
                    );
                }
            },
        };
        if let Some(before) = locked.get(&name).filter(|locked_digest| **locked_digest != digest) {
            let warning = format!("`{name}` is now {digest}, and was {before} in {LOCK}");
            plan.warn(Diagnostic::from(warning).with_hint(
                "the tag was pushed again; check that the new image is the one that you want",
            ));
        }
        digests.insert(name.clone(), (image.name().to_owned(), digest.to_string()));
        lock.insert(name, digest);
    }
    bundle.pin_images(&digests);
    if access.is_some() {
        plan.generate(path, serde_yaml::to_string(&lock)?, EDIT, BY);
    }
    Ok(())
}

fn parse_lock_file(text: &str) -> anyhow::Result<BTreeMap<String, Digest>> {
    let error = |error: serde_yaml::Error| {
        let why =
            Diagnostic::in_file(LOCK, format!("this is not a map from images to digests: {error}"));
        let why = match error.location() {
            Some(location) => {
                why.at_position(location.line(), location.column()).quote(&mut Lines::new(text))
            }
            None => why,
        };
        conflict::in_malformed(LOCK, text).unwrap_or(why).into_error()
    };
    serde_yaml::from_str(text)
        .map_err(error)
        .hint("delete the file, and run `operator-rs bundle --use-image-digests`")
}
