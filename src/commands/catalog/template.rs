//! `operator-rs catalog render-template`

use std::{
    collections::BTreeMap,
    path::{Path, PathBuf},
};

use super::render::{self, BlobFormat, Migration};
use crate::{
    app::images::{RegistryAccess, catalog_source::CatalogSource},
    disk::{self, Bounds},
    terminal,
};
use diagnostics::Hint as _;
use olm::catalog::template::{self, Bundles, Semver};

/// Render a template as a catalog, as `opm alpha render-template` does
///
/// The template has the schema `olm.semver`: its channels follow from the versions of the bundles.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  operator-rs catalog render-template catalog-template.yaml -o yaml --bundle quay.io/example/memcached-operator-bundle:v0.0.1=bundle")]
pub struct Args {
    /// Template; `-` is stdin
    #[arg(value_name = "FILE")]
    template: PathBuf,
    /// Directory to read the bundle of this image from, in place of a registry (can be repeated)
    #[arg(long, value_name = "IMAGE=DIR", value_parser = image_and_folder)]
    bundle: Vec<(String, PathBuf)>,
    /// Output format
    #[arg(short, long, value_enum, value_name = "FORMAT", default_value = "json")]
    output: BlobFormat,
    #[command(flatten)]
    migration: Migration,
    #[command(flatten)]
    access: RegistryAccess,
}

fn image_and_folder(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((image, folder)) if !image.is_empty() && !folder.is_empty() => {
            Ok((image.to_owned(), folder.into()))
        }
        _ => Err("write `IMAGE=DIR`".to_owned()),
    }
}

impl Args {
    pub fn run(self, dir: &Path) -> anyhow::Result<()> {
        let bounds = Bounds::of_manifests(Some(self.access.deadline()));
        let (title, text) = disk::read_input(dir, &self.template, bounds)?;
        let template = template::read(text.as_bytes(), &title)?;
        let bundles = self.read_bundles(dir, &template)?;
        let mut catalog = template.render(&bundles)?;
        self.migration.migrate_bundles(&mut catalog)?;
        render::print_catalog(catalog, self.output.into());
        Ok(())
    }

    fn read_bundles(&self, dir: &Path, template: &Semver) -> anyhow::Result<Bundles> {
        let folders: BTreeMap<&str, &PathBuf> =
            self.bundle.iter().map(|entry| (entry.0.as_str(), &entry.1)).collect();
        let images = template.listed_images();
        if let Some((image, _)) = folders.iter().find(|entry| !images.contains(entry.0)) {
            return Err(anyhow::format_err!("the template has no bundle with the image `{image}`"))
                .hint("write the image in `--bundle` exactly as in the template");
        }
        let mut bundles = Bundles::new();
        for image in images {
            if bundles.contains_key(image) {
                continue;
            }
            let source = match folders.get(image) {
                Some(folder) => CatalogSource::folder(dir, folder)?,
                None => CatalogSource::image(image, &self.access)?,
            };
            let bundle = source.bundle()?;
            terminal::warn_all(bundle.warnings.iter());
            bundles.insert(image.to_owned(), bundle.to_blob(image));
        }
        self.access.require_use()?;
        Ok(bundles)
    }
}
