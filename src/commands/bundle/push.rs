//! `operator-rs bundle push`

use std::path::Path;

use super::image::Subject;
use crate::app::images::{self, Access, Shape};
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
    bundle: Subject,
    #[command(flatten)]
    shape: Shape,
    #[command(flatten)]
    access: Access,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        images::named(&self.to)?;
        let platforms = self.shape.platforms_of_files();
        let image = self.bundle.build(dir, self.shape.format.into(), &platforms)?;
        images::push(&image, &self.to, &self.access)
    }
}
