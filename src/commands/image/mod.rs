//! `operator-rs image`

mod build;
mod compile;
mod content;
mod metadata;
mod paths;
mod program;
mod push;
mod sbom;
mod target;
mod toolchain;

use std::path::Path;

use super::RunCommand;

/// Build and push the operator's image without docker or podman
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  operator-rs image build
  operator-rs image push quay.io/example/memcached-operator:v0.0.1")]
pub enum ImageSubcommand {
    Build(build::Args),
    Push(push::Args),
}

impl RunCommand for ImageSubcommand {
    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Build(args) => args.run(dir),
            Self::Push(args) => args.run(dir),
        }
    }
}
