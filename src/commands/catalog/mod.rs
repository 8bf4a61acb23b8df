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

pub use add::Addition;
pub use render::BundleImage;

/// Work with file-based catalogs, from which OLM installs and upgrades operators
#[derive(clap::Subcommand)]
pub enum Command {
    Add(add::Args),
    Render(render::Args),
    RenderTemplate(template::Args),
    Validate(validate::Args),
    Graph(graph::Args),
    Build(build::Args),
    Push(push::Args),
}

impl Command {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
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
