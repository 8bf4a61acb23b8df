//! `operator-rs catalog graph`

use std::path::Path;

use crate::app::images::catalog_source::{self, CatalogSource};
use crate::{
    app::images::RegistryAccess,
    terminal::{self, Look, Text},
};
use diagnostics::{Diagnostics, Hint as _};
use olm::catalog::graph::{self, Drawing, Line, Mark};

/// Draw the upgrades of each channel
///
/// Each entry is drawn below the one that replaces it, next to the other entries that can be upgraded to that one. The exit
/// status is 1 if a channel has several heads, or an entry from which no upgrade leads to the head.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs catalog graph
  operator-rs catalog graph --package memcached-operator --output mermaid")]
pub struct Args {
    /// Directory, archive or image of the catalog
    #[arg(value_name = "SOURCE", default_value = "catalog")]
    source: String,
    /// Only this package [default: all]
    #[arg(short, long, value_name = "NAME", alias = "package-name")]
    package: Option<String>,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: GraphFormat,
    #[command(flatten)]
    access: RegistryAccess,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum GraphFormat {
    /// A drawing of each channel for a terminal
    Text,
    /// A graph for mermaid, as `opm alpha render-graph` draws it
    Mermaid,
    /// The drawing as a picture
    Svg,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let source = CatalogSource::open(dir, &self.source, &self.access)?;
        self.access.require_use()?;
        let catalog = catalog_source::whole(source.catalog(true)?, source.title())?;
        if let Some(name) = &self.package
            && catalog.packages.iter().all(|package| package.blob.name != *name)
        {
            let names: Vec<String> =
                catalog.packages.iter().map(|package| format!("`{}`", package.blob.name)).collect();
            return Err(anyhow::format_err!("{} has no package `{name}`", source.title()))
                .hint(format!("its packages are {}", names.join(", ")));
        }
        let package = self.package.as_deref();
        if let GraphFormat::Mermaid = self.output {
            terminal::write_data(&graph::render_mermaid(&catalog, package)?);
            return Ok(());
        }
        let Drawing { lines, faults } = graph::draw_text(&catalog, package)?;
        match self.output {
            GraphFormat::Svg => terminal::write_data(&graph::render_svg(&lines)),
            _ => {
                let coloured =
                    |line: &Line| Text::new(look_of_mark(line.mark), format!("{line}\n"));
                terminal::print_styled(&lines.iter().map(coloured).collect());
            }
        }
        if faults.is_empty() {
            return Ok(());
        }
        let headline = "OLM cannot follow these upgrades".to_owned();
        Err(Diagnostics { headline, list: faults }.into())
    }
}

fn look_of_mark(mark: Mark) -> Look {
    match mark {
        Mark::Title => Look::Heading,
        Mark::Head | Mark::Whole => Look::Good,
        Mark::Entry => Look::Plain,
        Mark::Lost | Mark::Fault => Look::Bad,
    }
}
