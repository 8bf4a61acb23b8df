//! `operator-rs image push`

use std::path::Path;

use super::content::Content;
use crate::app::{
    images::{self, Access, Shape},
    time_limit::TimeLimit,
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
    shape: Shape,
    #[command(flatten)]
    content: Content,
    #[command(flatten)]
    access: Access,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        images::named(&self.to)?;
        self.content.require(dir, None)?;
        let image = self.content.build(dir, &self.shape, &self.access)?;
        images::push(&image, &self.to, &self.access)
    }
}
