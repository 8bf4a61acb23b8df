//! `operator-rs catalog push`

use std::path::Path;

use super::image::CatalogDir;
use crate::app::images::{self, ImageFormat, RegistryAccess};
use model::Image;

/// Build the catalog's image and push it to a registry, without docker or podman
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs catalog push quay.io/example/memcached-operator-catalog:v0.0.1")]
pub struct Args {
    /// Name of the image, e.g. `quay.io/example/memcached-operator-catalog:v0.0.1`
    #[arg(value_name = "IMAGE")]
    to: Image,
    #[command(flatten)]
    catalog: CatalogDir,
    #[command(flatten)]
    shape: ImageFormat,
    #[command(flatten)]
    access: RegistryAccess,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        images::named(&self.to)?;
        let platforms = self.shape.platforms_of_files();
        let image = self.catalog.build_image(dir, self.shape.format.into(), &platforms)?;
        images::push(&image, &self.to, &self.access)
    }
}
