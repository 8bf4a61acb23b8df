//! A catalog as an image of files alone, without a program: OLM extracts the directory that a label names.

use std::{collections::BTreeMap, path::Path};

use crate::app::images::catalog_source::{self, CONFIGS, CatalogSource};
use crate::{app::images, terminal};
use diagnostics::{Diagnostics, Hint as _};
use model::{Platform, ProjectPath};
use oci::image::{self, Files};
use olm::catalog;

/// Which catalog is built.
#[derive(clap::Args)]
pub struct CatalogDir {
    /// Directory of the catalog
    #[arg(long, alias = "catalog", value_name = "DIR", default_value = "catalog")]
    catalog_dir: std::path::PathBuf,
}

/// The folder of the catalog in the image.
const FOLDER: &str = "configs";

impl CatalogDir {
    /// Validates the catalog and builds its image.
    pub fn build_image(
        &self,
        dir: &Path,
        format: image::Format,
        platforms: &[Platform],
    ) -> anyhow::Result<image::Image> {
        let source = CatalogSource::folder(dir, &self.catalog_dir)?;
        let title = source.title().to_owned();
        let loaded = catalog_source::whole(source.catalog(true)?, &title)?;
        terminal::warn_all(loaded.warnings.iter().cloned());
        if let Err(list) = catalog::check(&loaded) {
            let headline = format!("{title} is not valid, and no image was built");
            return Err(Diagnostics { headline, list }.into());
        }
        let mut files = Files::new();
        for (path, bytes) in source.all()? {
            files.insert(ProjectPath::fixed(FOLDER).join(path.as_str())?, bytes);
        }
        if files.is_empty() {
            return Err(anyhow::format_err!("`{title}` has no files"))
                .hint("create the catalog with `operator-rs generate catalog`");
        }
        let labels = BTreeMap::from([(CONFIGS.to_owned(), format!("/{FOLDER}"))]);
        images::of_data(files, labels, format, platforms, "operator-rs catalog build")
    }
}
