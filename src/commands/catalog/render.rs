//! `operator-rs catalog render`

use std::path::Path;

use crate::app::catalog_source::{self, Source};
use crate::{app::images::Access, terminal};
use diagnostics::{Diagnostic, Hint as _};
use olm::catalog::{self, Catalog, Fields, Format, load::Located};

/// Print the blobs of bundles and catalogs, as `opm render` prints them
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs catalog render bundle --image quay.io/example/memcached-operator-bundle:v0.0.1 -o yaml
  operator-rs catalog render catalog --migrate-level bundle-object-to-csv-metadata")]
pub struct Args {
    /// Directory, archive or image of a bundle or of a catalog (can be repeated)
    #[arg(required = true, value_name = "SOURCE")]
    sources: Vec<String>,
    #[command(flatten)]
    bundle: BundleImage,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "json")]
    output: Output,
    #[command(flatten)]
    migration: Migration,
    #[command(flatten)]
    access: Access,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum Output {
    Json,
    Yaml,
}

impl From<Output> for Format {
    fn from(output: Output) -> Self {
        match output {
            Output::Json => Self::Json,
            Output::Yaml => Self::Yaml,
        }
    }
}

#[derive(clap::Args)]
pub struct BundleImage {
    /// Image of the bundle; `{{.Package}}`, `{{.Name}}` and `{{.Version}}` are replaced by the bundle's values [default:
    /// the one that it is read from; none for a directory or an archive, and the catalog carries the manifests]
    #[arg(long, value_name = "IMAGE")]
    image: Option<String>,
    /// `opm`'s flag: image of a bundle that is not read from a registry
    #[arg(long, hide = true, conflicts_with = "image", value_name = "IMAGE")]
    alpha_image_ref_template: Option<String>,
}

#[derive(clap::Args)]
pub struct Migration {
    /// Last migration to apply to bundles
    #[arg(long, value_enum, value_name = "LEVEL", default_value = "none")]
    migrate_level: Level,
    /// `opm`'s flag: the last level
    #[arg(long, hide = true, conflicts_with = "migrate_level")]
    migrate: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Level {
    /// Leave bundles as they are
    None,
    /// Replace the manifests in the catalog by the metadata of the ClusterServiceVersion
    BundleObjectToCsvMetadata,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let mut all = Catalog::default();
        for source in &self.sources {
            all.merge(self.source(dir, source)?);
        }
        self.access.require_use()?;
        all.arrange();
        self.migration.apply(&mut all)?;
        print(all, self.output.into());
        Ok(())
    }

    fn source(&self, dir: &Path, source: &str) -> anyhow::Result<Catalog> {
        let source = Source::open(dir, source, &self.access)?;
        if source.is_bundle() {
            let bundle = source.bundle()?;
            let image = self.bundle.of(&source, &bundle)?;
            let mut res = Catalog::default();
            res.warnings.extend(bundle.warnings.iter().map(Diagnostic::from));
            res.bundles.push(Located::new(bundle.blob(&image)));
            return Ok(res);
        }
        catalog_source::whole(source.catalog(false)?, source.title())
    }
}

impl BundleImage {
    /// The image of a bundle, or an empty text.
    pub fn of(&self, source: &Source, bundle: &catalog::Bundle) -> anyhow::Result<String> {
        let own = source.reference();
        let fallback = self.alpha_image_ref_template.as_ref().filter(|_| own.is_none());
        let Some(template) = self.image.as_ref().or(fallback) else {
            return Ok(own.unwrap_or_default().to_owned());
        };
        let catalog::Bundle { package, name, version, .. } = bundle;
        let image = catalog::reference(template, &Fields { package, name, version });
        let image = image.map_err(|it| anyhow::format_err!("--image: {it}")).hint(
            "only `{{.Package}}`, `{{.Name}}` and `{{.Version}}` are replaced; write the rest as plain text",
        )?;
        // A catalog with an image that no client can pull is of no use.
        match catalog::is_image(&image) {
            true => Ok(image),
            false => Err(anyhow::format_err!("--image: `{image}` is not an image reference"))
                .hint("write e.g. `quay.io/example/memcached-operator-bundle:v0.0.1`"),
        }
    }
}

impl Migration {
    pub fn apply(&self, catalog: &mut Catalog) -> anyhow::Result<()> {
        if !self.migrate && self.migrate_level == Level::None {
            return Ok(());
        }
        for bundle in &mut catalog.bundles {
            let done = catalog::migrate(&mut bundle.blob);
            done.map_err(|it| bundle.fault(it).into_error())?;
        }
        Ok(())
    }
}

/// Prints all blobs, and what was left out of them.
pub fn print(mut catalog: Catalog, format: Format) {
    let warnings = std::mem::take(&mut catalog.warnings);
    let (blobs, lost) = catalog.into_sorted();
    terminal::warn_all(warnings.into_iter().chain(lost));
    for blob in blobs {
        terminal::data(&catalog::text(&blob, format));
    }
}
