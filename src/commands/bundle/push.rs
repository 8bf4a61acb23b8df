//! `operator-rs bundle push`

use std::path::Path;

use super::image::BundleDir;
use crate::app::images::{self, ImageFormat, RegistryAccess};
use model::Image;

/// Build the bundle's image and push it to a registry, without docker or podman
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs bundle push quay.io/example/memcached-operator-bundle:v0.0.1
  operator-rs bundle push localhost:5000/memcached-operator-bundle:v0.0.1")]
pub struct Args {
    /// Name of the image, e.g. `quay.io/example/memcached-operator-bundle:v0.0.1`
    #[arg(value_name = "IMAGE")]
    to: Image,
    #[command(flatten)]
    bundle: BundleDir,
    #[command(flatten)]
    shape: ImageFormat,
    #[command(flatten)]
    access: RegistryAccess,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        images::named(&self.to)?;
        let platforms = self.shape.platforms_of_files();
        let image = self.bundle.build_image(dir, self.shape.format.into(), &platforms)?;
        images::push(&image, &self.to, &self.access)
    }
}
