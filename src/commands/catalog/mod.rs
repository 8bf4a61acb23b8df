//! `operator-rs catalog`

mod add;
mod build;
mod graph;
mod image;
mod push;
mod render;
mod template;
mod validate;

use std::path::Path;

use super::{RunCommand, WorkingDirectory};

pub use add::CatalogAddition;
pub use render::BundleImage;

/// Create, validate and visualize the catalogs that OLM installs from
#[derive(clap::Subcommand)]
#[command(after_help = "\
Examples:
  operator-rs generate catalog    # of the bundle in bundle/
  operator-rs catalog add ./bundle --image quay.io/example/memcached-operator-bundle:v0.0.2
  operator-rs catalog graph")]
pub enum CatalogSubcommand {
    Add(add::Args),
    Render(render::Args),
    RenderTemplate(template::Args),
    Validate(validate::Args),
    Graph(graph::Args),
    Build(build::Args),
    Push(push::Args),
}

impl RunCommand for CatalogSubcommand {
    fn working_directory(&self) -> WorkingDirectory {
        WorkingDirectory::Exact
    }

    fn run(self, dir: &Path) -> anyhow::Result<()> {
        match self {
            Self::Add(args) => args.run(dir),
            Self::Render(args) => args.run(dir),
            Self::RenderTemplate(args) => args.run(dir),
            Self::Validate(args) => args.run(dir),
            Self::Graph(args) => args.run(dir),
            Self::Build(args) => args.run(dir),
            Self::Push(args) => args.run(dir),
        }
    }
}
