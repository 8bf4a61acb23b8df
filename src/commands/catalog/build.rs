//! `operator-rs catalog build`

use std::path::Path;

use super::image::CatalogDir;
use crate::app::images::ImageOutput;

/// Build the catalog's image without docker or podman, as an archive or an OCI layout
///
/// The image holds only the catalog. OLM v1 serves it as it is; OLM v0 does with
/// `spec.grpcPodConfig.extractContent.catalogDir: /configs` in the CatalogSource.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs catalog build --tag quay.io/example/memcached-operator-catalog:v0.0.1 --archive catalog.tar")]
pub struct Args {
    #[command(flatten)]
    catalog: CatalogDir,
    #[command(flatten)]
    output: ImageOutput,
}

/// The default path of the image, which git ignores.
const DEFAULT: &str = "target/catalog.tar";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        self.output.require(dir, DEFAULT)?;
        let platforms = self.output.platforms_of_files();
        let image = self.catalog.build_image(dir, self.output.shape.format.into(), &platforms)?;
        self.output.write(dir, &image, DEFAULT)
    }
}
