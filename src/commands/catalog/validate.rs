//! `operator-rs catalog validate`

use std::path::Path;

use serde::Serialize;

use crate::app::images::catalog_source::CatalogSource;
use crate::{app::images::RegistryAccess, terminal};
use diagnostics::Diagnostics;
use go_data::yaml;
use olm::catalog::{self, Format};

/// Validate a catalog with the checks of `opm validate`
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs catalog validate
  operator-rs catalog validate quay.io/example/memcached-operator-catalog:latest")]
pub struct Args {
    /// Directory, archive or image of the catalog
    #[arg(value_name = "SOURCE", default_value = "catalog")]
    source: String,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "text")]
    output: CatalogValidationFormat,
    #[command(flatten)]
    access: RegistryAccess,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum CatalogValidationFormat {
    /// Every problem with its file and line, on stderr
    Text,
    /// The result with the fields of opm's, as JSON
    Json,
    /// The result with the fields of opm's, as YAML
    Yaml,
}

/// The output that opm would print.
#[derive(Serialize)]
struct OpmReport {
    passed: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Message>,
}

#[derive(Serialize)]
struct Message {
    message: String,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let source = CatalogSource::open(dir, &self.source, &self.access)?;
        self.access.require_use()?;
        let loader = source.catalog(true)?;
        let title = source.title();
        let problems = if loader.faults.is_empty() {
            terminal::warn_all(loader.catalog.warnings.iter().cloned());
            catalog::check(&loader.catalog).err()
        } else {
            Some(loader.faults)
        };
        let format = match self.output {
            CatalogValidationFormat::Text => None,
            CatalogValidationFormat::Json => Some(Format::Json),
            CatalogValidationFormat::Yaml => Some(Format::Yaml),
        };
        if let Some(format) = format {
            let error = problems.as_ref().map(|list| {
                let messages: Vec<&str> =
                    list.iter().map(|diagnostic| diagnostic.message.as_str()).collect();
                Message { message: messages.join("\n") }
            });
            let report = yaml::to_value(&OpmReport { passed: error.is_none(), error });
            terminal::write_data(&match format {
                Format::Json => catalog::format_blobs(&[report], Format::Json),
                Format::Yaml => yaml::to_text(&report),
            });
            anyhow::ensure!(problems.is_none(), "{title} is not valid");
            return Ok(());
        }
        match problems {
            None => {
                terminal::print(&format!("{title} is valid\n"));
                Ok(())
            }
            Some(list) => {
                Err(Diagnostics { headline: format!("{title} is not valid"), list }.into())
            }
        }
    }
}
