//! `operator-rs catalog graph`

use std::path::Path;

use super::source::{self, Source};
use crate::{catalog::graph, commands::images::Access, hint::Hint as _, terminal};

/// Draw the upgrades of each channel, and list the versions that cannot reach its head
#[derive(clap::Args)]
pub struct Args {
    /// Directory, archive or image of the catalog
    #[arg(value_name = "SOURCE", default_value = "catalog")]
    source: String,
    /// Only this package [default: all]
    #[arg(short, long, value_name = "NAME", alias = "package-name")]
    package: Option<String>,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: Output,
    #[command(flatten)]
    access: Access,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum Output {
    /// A list of the entries of each channel
    Text,
    /// A graph for mermaid, as `opm alpha render-graph` draws it
    Mermaid,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let source = Source::open(dir, &self.source, &self.access)?;
        let catalog = source::whole(source.catalog(true)?, source.title())?;
        if let Some(name) = &self.package
            && catalog.packages.iter().all(|it| it.blob.name != *name)
        {
            let names: Vec<String> =
                catalog.packages.iter().map(|it| format!("`{}`", it.blob.name)).collect();
            return Err(anyhow::format_err!("{} has no package `{name}`", source.title()))
                .hint(format!("its packages are {}", names.join(", ")));
        }
        let package = self.package.as_deref();
        terminal::data(&match self.output {
            Output::Text => graph::text(&catalog, package)?,
            Output::Mermaid => graph::mermaid(&catalog, package)?,
        });
        Ok(())
    }
}
