//! `operator-rs catalog validate`

use std::path::Path;

use serde::Serialize;

use crate::app::catalog_source::Source;
use crate::{app::images::Access, terminal};
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
    output: Output,
    #[command(flatten)]
    access: Access,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Output {
    /// Every problem with its file and line, on stderr
    Text,
    /// The result with the fields of opm's, as JSON
    Json,
    /// The result with the fields of opm's, as YAML
    Yaml,
}

/// The output that opm would print.
#[derive(Serialize)]
struct Report {
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
        let source = Source::open(dir, &self.source, &self.access)?;
        self.access.require_use()?;
        let loader = source.catalog(true)?;
        let title = source.title();
        let problems = match loader.faults.is_empty() {
            true => {
                terminal::warn_all(loader.catalog.warnings.iter().cloned());
                catalog::check(&loader.catalog).err()
            }
            false => Some(loader.faults),
        };
        let format = match self.output {
            Output::Text => None,
            Output::Json => Some(Format::Json),
            Output::Yaml => Some(Format::Yaml),
        };
        if let Some(format) = format {
            let error = problems.as_ref().map(|list| {
                let messages: Vec<&str> = list.iter().map(|it| it.message.as_str()).collect();
                Message { message: messages.join("\n") }
            });
            let report = yaml::to_value(&Report { passed: error.is_none(), error });
            terminal::data(&match format {
                Format::Json => catalog::stream(&[report], Format::Json),
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
