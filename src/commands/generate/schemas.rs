//! `operator-rs generate schemas`

use std::path::{Path, PathBuf};

use super::kind_files::{CrdSource, KindFiles, KindFolders};
use crate::commands::OutputMode;
use crd::json_schema;
use go_data::yaml::{Map, Value};

/// Write JSON Schemas of the kinds of any cargo workspace, for editors and for validators such as kubeconform
///
/// There is one file for each version, by the names that collections of schemas use: `GROUP/KIND_VERSION.json`. Unknown
/// fields are refused. Rules (CEL) and keys of lists cannot be expressed, and are left to the API server.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs generate schemas --output-dir schemas
  operator-rs generate schemas --crds config/crd/bases --output-dir schemas --check    # in CI
  kubeconform -schema-location 'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json' samples/")]
pub struct Args {
    /// Directory of the schemas (can be repeated)
    #[arg(long, value_name = "DIR", required = true)]
    output_dir: Vec<PathBuf>,
    #[command(flatten)]
    from: CrdSource,
    #[command(flatten)]
    mode: OutputMode,
}

impl Args {
    pub fn run(&self, dir: &Path) -> anyhow::Result<()> {
        let output = KindFolders {
            folders: &self.output_dir,
            by: "generate schemas",
            extension: ".json",
            from: &self.from,
        };
        output.write_or_check(dir, &self.mode, || {
            let (kinds, reason_for_more_kinds) = self.from.read_kinds(dir)?;
            let schemas = kinds.crds.iter().flat_map(json_schema::schemas_of_crd);
            let files: anyhow::Result<_> = schemas
                .map(|schema| Ok((schema.path.parse()?, format_schema(schema.schema))))
                .collect();
            Ok(KindFiles { files: files?, reason_for_more_kinds })
        })
    }
}

/// The text behind the first line, which begins the object.
fn format_schema(mut schema: Map<String, Value>) -> String {
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    let text = format!("{:#}\n", Value::Object(schema));
    text.strip_prefix("{\n").unwrap_or(&text).to_owned()
}
