//! `operator-rs image build`

use std::path::Path;

use super::content::Content;
use crate::app::{
    images::{Access, Output},
    time_limit::TimeLimit,
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
    output: Output,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    access: Access,
}

/// Where the image goes by default: a place that git ignores.
const DEFAULT: &str = "target/image.tar";

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        self.output.require(dir, DEFAULT)?;
        self.content.require(dir, Some(&self.output.path(DEFAULT)))?;
        let image = self.content.build(dir, &self.output.shape, &self.access)?;
        self.output.write(dir, &image, DEFAULT)
    }
}
