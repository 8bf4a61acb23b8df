//! `operator-rs image build`

use std::path::Path;

use super::content::ImageContent;
use crate::app::{
    images::{ImageOutput, RegistryAccess},
    output::time_limit::TimeLimit,
};

/// Compile the operator and build its image without docker or podman, as an archive or an OCI layout
#[derive(clap::Args)]
#[command(
    mut_arg("timeout", TimeLimit::long),
    after_help = "\
Examples:
  operator-rs image build    # writes target/image.tar
  operator-rs image build --tag quay.io/example/memcached-operator:v0.0.1 --archive image.tar
  operator-rs image build --format docker --archive image.tar && kind load image-archive image.tar"
)]
pub struct Args {
    #[command(flatten)]
    output: ImageOutput,
    #[command(flatten)]
    content: ImageContent,
    #[command(flatten)]
    access: RegistryAccess,
}

/// The default path of the image, which git ignores.
const DEFAULT: &str = "target/image.tar";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        self.output.require(dir, DEFAULT)?;
        self.content.refuse_foreign_sbom(dir, Some(&self.output.path(DEFAULT)))?;
        let image = self.content.build_image(dir, &self.output.shape, &self.access)?;
        self.output.write(dir, &image, DEFAULT)
    }
}
