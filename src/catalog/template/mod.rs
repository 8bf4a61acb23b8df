//! Templates of catalogs, as `opm alpha render-template` renders them.

mod basic;
mod read;
mod semver;

use std::collections::BTreeMap;

use super::{blob, load::Catalog};

/// The bundles of a template, by their images.
pub type Bundles = BTreeMap<String, blob::Bundle>;

/// A template that was read.
pub enum Template {
    Basic(basic::Basic),
    Semver(semver::Semver),
}

impl Template {
    /// Reads a template; its schema tells which kind it is. `title` is its path in messages.
    pub fn read(bytes: &[u8], title: &str) -> anyhow::Result<Self> {
        let document = read::document(bytes, title)?;
        let schema = document.text("schema")?;
        match schema.as_str() {
            "" => Err(document
                .fault("template input missing required 'schema' field")
                .with_hint("write `schema: olm.template.basic` or `schema: olm.semver`")
                .into_error()),
            basic::SCHEMA => basic::Basic::read(&document).map(Self::Basic),
            semver::SCHEMA => semver::Semver::read(&document).map(Self::Semver),
            "olm.template.substitutes" => Err(document
                .fault("templates of the schema `olm.template.substitutes` are not supported")
                .with_hint(
                    "render it with `opm alpha render-template`, and validate the result here",
                )
                .into_error()),
            other => Err(document
                .fault(format!("unknown template schema: {other}"))
                .with_hint("the schemas are `olm.template.basic` and `olm.semver`")
                .into_error()),
        }
    }

    /// The images of its bundles, in the order of the template.
    pub fn images(&self) -> Vec<&str> {
        match self {
            Self::Basic(it) => it.images(),
            Self::Semver(it) => it.images(),
        }
    }

    /// The catalog, given every bundle.
    pub fn render(self, bundles: &Bundles) -> anyhow::Result<Catalog> {
        match self {
            Self::Basic(it) => it.render(bundles),
            Self::Semver(it) => it.render(bundles),
        }
    }
}

/// The bundle of an image.
fn bundle<'a>(bundles: &'a Bundles, image: &str) -> anyhow::Result<&'a blob::Bundle> {
    let missing = || anyhow::format_err!("the bundle of the image `{image}` is missing");
    bundles.get(image).ok_or_else(missing)
}
