//! `operator-rs bundle build`

use std::path::Path;

use super::image::BundleDir;
use crate::app::images::ImageOutput;

/// Build the bundle's image without docker or podman, as an archive or an OCI layout
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs bundle build
  operator-rs bundle build --tag quay.io/example/memcached-operator-bundle:v0.0.1 --archive bundle.tar
  operator-rs bundle build --format docker --archive bundle.tar && docker load --input bundle.tar")]
pub struct Args {
    #[command(flatten)]
    bundle: BundleDir,
    #[command(flatten)]
    output: ImageOutput,
}

/// The default path of the image, which git ignores.
const DEFAULT: &str = "target/bundle.tar";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        self.output.require(dir, DEFAULT)?;
        let platforms = self.output.platforms_of_files();
        let image = self.bundle.build_image(dir, self.output.shape.format.into(), &platforms)?;
        self.output.write(dir, &image, DEFAULT)
    }
}
