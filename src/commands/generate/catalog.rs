//! `operator-rs generate catalog`

use crate::project::Project;
use std::path::Path;

use crate::{
    app::images::catalog_source::CatalogSource,
    commands::{
        OutputMode,
        catalog::{BundleImage, CatalogAddition},
    },
    plan::WorkTree,
    terminal::shell_word,
};
use diagnostics::{Diagnostic, Hint as _};

/// Create the catalog of the project, or add the current bundle to it
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs generate catalog --image 'quay.io/example/memcached-operator-bundle:v{{.Version}}'
  operator-rs generate catalog --check    # in CI")]
pub struct Args {
    /// Directory of the bundle
    #[arg(long, value_name = "DIR", default_value = "bundle")]
    bundle_dir: String,
    #[command(flatten)]
    image: BundleImage,
    #[command(flatten)]
    addition: CatalogAddition,
    #[command(flatten)]
    pub mode: OutputMode,
}

impl Args {
    pub fn write_files(self, dir: &Path, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
        Project::read(tree)?;
        let missing = anyhow::format_err!("found no bundle in `{}`", self.bundle_dir);
        if !dir.join(&self.bundle_dir).is_dir() {
            return Err(missing).hint("generate a bundle with `operator-rs bundle`");
        }
        let source = CatalogSource::folder(dir, Path::new(&self.bundle_dir))?;
        let bundle = source.bundle()?;
        let image = self.image.resolve_reference(&source, &bundle)?;
        self.addition.write_files(tree, &bundle, &image)?;
        if image.is_empty() {
            let warning =
                Diagnostic::from("OLM v1 cannot install from this catalog: it has no bundle image");
            tree.warn(warning.with_hint(format!(
                "name the image: `--image '<registry>/{}-bundle:v{{{{.Version}}}}'`",
                bundle.package
            )));
        }
        let (validated, pushed) = match shell_word(self.addition.catalog_dir.as_str()) {
            folder if folder == "catalog" => (String::new(), String::new()),
            folder => (format!(" {folder}"), format!(" --catalog-dir {folder}")),
        };
        tree.set_next_steps(format!(
            "Next: validate the catalog, and push it as an image:\n  operator-rs catalog validate{validated}\n  operator-rs catalog push <registry>/<name>:<tag>{pushed}"
        ));
        Ok(())
    }
}
