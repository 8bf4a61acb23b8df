//! `operator-rs image push`

use std::path::Path;

use super::content::ImageContent;
use crate::app::{
    images::{self, ImageFormat, RegistryAccess},
    output::time_limit::TimeLimit,
};
use model::Image;

/// Compile the operator, build its image and push it to a registry, without docker or podman
#[derive(clap::Args)]
#[command(
    mut_arg("timeout", TimeLimit::long),
    after_help = "\
Examples:
  operator-rs image push quay.io/example/memcached-operator:v0.0.1
  operator-rs image push quay.io/example/memcached-operator:v0.0.1 --platform linux/amd64,linux/arm64"
)]
pub struct Args {
    /// Name of the image, e.g. `quay.io/example/memcached-operator:v0.0.1`
    #[arg(value_name = "IMAGE")]
    to: Image,
    #[command(flatten)]
    shape: ImageFormat,
    #[command(flatten)]
    content: ImageContent,
    #[command(flatten)]
    access: RegistryAccess,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        images::named(&self.to)?;
        self.content.refuse_foreign_sbom(dir, None)?;
        let image = self.content.build_image(dir, &self.shape, &self.access)?;
        images::push(&image, &self.to, &self.access)
    }
}
