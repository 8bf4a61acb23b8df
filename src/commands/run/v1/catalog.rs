//! The image of a bundle, and the image of a catalog that has this bundle alone.

use std::{collections::BTreeMap, path::Path};

use crate::{
    app::images::{self, RegistryAccess, catalog_source::CONFIGS},
    commands::run::source,
};
use diagnostics::Hint as _;
use model::{Image, Platform, ProjectPath};
use oci::image::{self, Files, Format, Limits};
use olm::{
    bundle::validate::rules::Target,
    catalog::{self, blob::Entry},
    lifecycle::{CATALOG_LABEL, Release, catalog_name},
};

/// A bundle in a registry.
pub struct BundleInRegistry {
    name: Image,
    /// The name with the digest, as OLM pulls it.
    image: String,
    pub release: Release,
    bundle: catalog::Bundle,
}

impl BundleInRegistry {
    /// Pulls a bundle, which OLM v1 must accept.
    pub fn read(dir: &Path, text: &str, access: &RegistryAccess) -> anyhow::Result<Self> {
        let is_here = dir.join(text).exists() || text.ends_with(".tar");
        let name = match text.parse::<Image>() {
            Ok(name) if !is_here => name,
            _ => {
                return Err(anyhow::format_err!("`{text}` is not an image in a registry")).hint(
                    "OLM v1 pulls bundles from a registry: push it with `operator-rs bundle push IMAGE`, and give that name here",
                );
            }
        };
        let digest = images::resolve(&name, access)?;
        let image = pinned_name(&name, digest.as_str());
        // The files are the same for every platform.
        let platforms = [images::here(), Platform::linux("amd64")];
        let stored = images::read(dir, &image, &platforms, access)?;
        let files = stored.unpack(&["manifests", "metadata", "tests"], Limits::default())?.files;
        let release = source::read_release(text, &files, Some(Target::Olmv1))?;
        let bundle = catalog::Bundle::read(&files, text)?;
        Ok(Self { name, image, release, bundle })
    }

    /// The bundle's image, by its digest.
    pub fn image(&self) -> &str {
        &self.image
    }

    /// `x/a:v1` has its catalog in `x/a:v1-catalog`, which has the same permissions to pull.
    pub fn default_catalog(&self) -> anyhow::Result<Image> {
        let version = || format!("v{}", self.bundle.version);
        let tag = self.name.tag().map_or_else(version, str::to_owned);
        // Build metadata is no part of a tag.
        let text = format!("{}:{}-catalog", self.name.name(), tag.replace('+', "-"));
        text.parse().map_err(|why| anyhow::format_err!("`{text}` {why}"))
    }

    /// Fails if the catalog would overwrite anything but an earlier catalog of this package.
    pub fn require_free(&self, to: &Image, access: &RegistryAccess) -> anyhow::Result<()> {
        let package = &self.release.package;
        let Some(labels) = images::overwritten(to, access)? else { return Ok(()) };
        if labels.get(CATALOG_LABEL) == Some(&catalog_name(package)?) {
            return Ok(());
        }
        Err(anyhow::format_err!("`{to}` exists, and is not a catalog that `operator-rs run bundle --target olmv1` has pushed for package `{package}`"))
            .hint("choose another name for the catalog with `--catalog-image`")
    }

    /// The image of a catalog with this bundle, which replaces an installed version if there is one.
    pub fn build_catalog(&self, replaced: Option<&str>) -> anyhow::Result<image::Image> {
        let replaces = replaced.unwrap_or_default().into();
        let entry = Entry { name: self.bundle.name.clone(), replaces, ..Entry::default() };
        let blobs =
            catalog::catalog_with_image(&self.release.channel, &self.bundle, entry, &self.image)
                .map_err(anyhow::Error::msg)?;
        let text = catalog::format_blobs(&blobs, catalog::Format::Json);
        let path = ProjectPath::fixed("configs").join("catalog.json")?;
        let files = Files::from([(path, text.into_bytes())]);
        let labels = BTreeMap::from([
            (CONFIGS.to_owned(), "/configs".to_owned()),
            (CATALOG_LABEL.to_owned(), catalog_name(&self.release.package)?),
        ]);
        let platforms = ["amd64", "arm64"].map(Platform::linux);
        images::of_data(
            files,
            labels,
            Format::Oci,
            &platforms,
            "operator-rs run bundle --target olmv1",
        )
    }
}

/// The full name of an image with its digest: OLM v1 accepts no other.
pub fn pinned_name(image: &Image, digest: &str) -> String {
    format!("{}/{}@{digest}", image.registry(), image.repository())
}
