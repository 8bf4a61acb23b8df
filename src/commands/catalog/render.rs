//! `operator-rs catalog render`

use std::path::Path;

use crate::app::images::catalog_source::{self, CatalogSource};
use crate::{app::images::RegistryAccess, terminal};
use diagnostics::{Diagnostic, Hint as _};
use olm::catalog::{self, Catalog, Format, ReferenceFields, load::Located};

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
    output: BlobFormat,
    #[command(flatten)]
    migration: Migration,
    #[command(flatten)]
    access: RegistryAccess,
}

#[derive(Clone, Copy, clap::ValueEnum)]
pub enum BlobFormat {
    Json,
    Yaml,
}

impl From<BlobFormat> for Format {
    fn from(output: BlobFormat) -> Self {
        match output {
            BlobFormat::Json => Self::Json,
            BlobFormat::Yaml => Self::Yaml,
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
    migrate_level: MigrationLevel,
    /// `opm`'s flag: the last level
    #[arg(long, hide = true, conflicts_with = "migrate_level")]
    migrate: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum MigrationLevel {
    /// Leave bundles as they are
    None,
    /// Replace the manifests in the catalog by the metadata of the ClusterServiceVersion
    BundleObjectToCsvMetadata,
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let mut all = Catalog::default();
        for source in &self.sources {
            all.merge(self.read_source(dir, source)?);
        }
        self.access.require_use()?;
        all.sort_contents();
        self.migration.migrate_bundles(&mut all)?;
        print_catalog(all, self.output.into());
        Ok(())
    }

    fn read_source(&self, dir: &Path, source: &str) -> anyhow::Result<Catalog> {
        let source = CatalogSource::open(dir, source, &self.access)?;
        if source.is_bundle() {
            let bundle = source.bundle()?;
            let image = self.bundle.resolve_reference(&source, &bundle)?;
            let mut catalog = Catalog::default();
            catalog.warnings.extend(bundle.warnings.iter().map(Diagnostic::from));
            catalog.bundles.push(Located::new(bundle.to_blob(&image)));
            return Ok(catalog);
        }
        catalog_source::whole(source.catalog(false)?, source.title())
    }
}

impl BundleImage {
    /// The image of a bundle, or an empty text.
    pub fn resolve_reference(
        &self,
        source: &CatalogSource,
        bundle: &catalog::Bundle,
    ) -> anyhow::Result<String> {
        let own = source.reference();
        let fallback = self.alpha_image_ref_template.as_ref().filter(|_| own.is_none());
        let Some(template) = self.image.as_ref().or(fallback) else {
            return Ok(own.unwrap_or_default().to_owned());
        };
        let catalog::Bundle { package, name, version, .. } = bundle;
        let image =
            catalog::expand_reference(template, &ReferenceFields { package, name, version });
        let image = image.map_err(|why| anyhow::format_err!("--image: {why}")).hint(
            "only `{{.Package}}`, `{{.Name}}` and `{{.Version}}` are replaced; write the rest as plain text",
        )?;
        // A catalog with an image that no client can pull is of no use.
        if catalog::is_image(&image) {
            Ok(image)
        } else {
            Err(anyhow::format_err!("--image: `{image}` is not an image reference"))
                .hint("write e.g. `quay.io/example/memcached-operator-bundle:v0.0.1`")
        }
    }
}

impl Migration {
    pub fn migrate_bundles(&self, catalog: &mut Catalog) -> anyhow::Result<()> {
        if !self.migrate && self.migrate_level == MigrationLevel::None {
            return Ok(());
        }
        for bundle in &mut catalog.bundles {
            let done = catalog::migrate(&mut bundle.blob);
            done.map_err(|why| bundle.fault(why).into_error())?;
        }
        Ok(())
    }
}

/// Prints all blobs, and what was left out of them.
pub fn print_catalog(mut catalog: Catalog, format: Format) {
    let warnings = std::mem::take(&mut catalog.warnings);
    let (blobs, lost) = catalog.into_sorted();
    terminal::warn_all(warnings.into_iter().chain(lost));
    for blob in blobs {
        terminal::write_data(&catalog::format_blob(&blob, format));
    }
}
