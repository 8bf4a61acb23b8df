//! `operator-rs generate schemas`

use std::path::{Path, PathBuf};

use crate::{
    app::{cargo::Workspace, compile, declared, given::Given, location},
    commands::{Mode, Outcome, begin, reading},
    disk::Root,
    plan::{self, Plan, WorkTree},
};
use crd::json_schema;
use diagnostics::Hint as _;
use go_data::yaml::Value;
use model::{ProjectPath, Tree as _};

const BY: &str = "generate schemas";

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
    /// Directory of the schemas
    #[arg(long, value_name = "DIR")]
    output_dir: PathBuf,
    /// Take the CRDs from these files [default: those that the source declares]
    #[arg(long, value_name = "DIR|FILE")]
    crds: Option<PathBuf>,
    #[command(flatten)]
    compile: compile::Flags,
    #[command(flatten)]
    mode: Mode,
}

impl Args {
    pub fn run(&self, dir: &Path) -> anyhow::Result<()> {
        let root = Root::output(dir, &self.output_dir)?;
        location::annotate(&root);
        begin(&root, &self.mode)?;
        let mut tree = WorkTree::new(&root, self.mode.force);
        let mut plan = Plan::default();
        sweep(&mut plan, &root)?; // what is generated again stays
        for crd in self.crds(&reading(dir)?, dir)? {
            for it in json_schema::of_crd(&crd) {
                let path: ProjectPath = it.path.parse()?;
                plan.generate(path, text(it.schema), self.edit(), BY);
            }
        }
        plan.show_in(&self.output_dir.to_string_lossy());
        tree.apply(plan)?;
        Outcome::Files.settle(&tree, &root, &self.mode)
    }

    fn crds(&self, root: &Root, dir: &Path) -> anyhow::Result<Vec<Value>> {
        let crds = match (Given { manifests: self.crds.clone() }).read(root)? {
            Some(given) => {
                let is_crd = |it: &Value| it["kind"] == "CustomResourceDefinition";
                given.objects.into_iter().filter(is_crd).collect()
            }
            None => declared::crds(&Workspace::find(dir, None)?, self.compile)
                .hint("or read CRDs from files: `--crds DIR|FILE`")?,
        };
        match crds.is_empty() {
            false => Ok(crds),
            true => Err(anyhow::format_err!("there are no CRDs"))
                .hint("kinds are structs with `#[derive(CustomResource)]`; `--crds DIR|FILE` reads CRDs from files"),
        }
    }

    fn edit(&self) -> &'static str {
        if self.crds.is_some() { "the CRD" } else { "the Rust source" }
    }
}

/// Removes the schemas of kinds that are gone.
fn sweep(plan: &mut Plan, root: &Root) -> anyhow::Result<()> {
    for folder in root.names("")?.iter().filter_map(|it| it.strip_suffix('/')) {
        for name in root.names(folder)?.iter().filter(|it| it.ends_with(".json")) {
            let path: ProjectPath = format!("{folder}/{name}").parse()?;
            let Some(text) = root.read(&path)? else { continue };
            if plan::is_ours(&path, &text, BY) {
                plan.delete(path, vec![text]);
            }
        }
    }
    Ok(())
}

/// The text behind the first line, which begins the object.
fn text(mut schema: go_data::yaml::Map<String, Value>) -> String {
    schema.insert("$schema".to_owned(), "http://json-schema.org/draft-07/schema#".into());
    let text = format!("{:#}\n", Value::Object(schema));
    text.strip_prefix("{\n").unwrap_or(&text).to_owned()
}
