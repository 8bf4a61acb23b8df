//! `operator-rs generate catalog`

use crate::project::Project;
use std::path::Path;

use crate::{
    app::catalog_source::Source,
    commands::{
        Mode,
        catalog::{Addition, BundleImage},
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
    addition: Addition,
    #[command(flatten)]
    pub mode: Mode,
}

impl Args {
    pub fn write(self, dir: &Path, tree: &mut WorkTree<'_>) -> anyhow::Result<()> {
        Project::read(tree)?;
        let missing = anyhow::format_err!("found no bundle in `{}`", self.bundle_dir);
        if !dir.join(&self.bundle_dir).is_dir() {
            return Err(missing).hint("generate a bundle with `operator-rs bundle`");
        }
        let source = Source::folder(dir, Path::new(&self.bundle_dir))?;
        let bundle = source.bundle()?;
        let image = self.image.of(&source, &bundle)?;
        self.addition.write(tree, &bundle, &image)?;
        if image.is_empty() {
            let warning =
                Diagnostic::from("OLM v1 cannot install from this catalog: it has no bundle image");
            tree.warn(warning.with_hint(format!(
                "name the image: `--image '<registry>/{}-bundle:v{{{{.Version}}}}'`",
                bundle.package
            )));
        }
        let (validated, pushed) = match shell_word(self.addition.catalog_dir.as_str()) {
            it if it == "catalog" => (String::new(), String::new()),
            it => (format!(" {it}"), format!(" --catalog-dir {it}")),
        };
        tree.next(format!(
            "Next: validate the catalog, and push it as an image:\n  operator-rs catalog validate{validated}\n  operator-rs catalog push <registry>/<name>:<tag>{pushed}"
        ));
        Ok(())
    }
}
