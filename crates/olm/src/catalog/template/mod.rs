//! Templates of the schema `olm.semver`, as `opm alpha render-template` renders them.

mod read;
mod semver;

use std::collections::BTreeMap;

pub use semver::Semver;

use super::blob;

/// The bundles of a template, by their images.
pub type Bundles = BTreeMap<String, blob::BundleBlob>;

/// Reads a template. `title` is its path in messages.
pub fn read(bytes: &[u8], title: &str) -> anyhow::Result<Semver> {
    let document = read::parse_document(bytes, title)?;
    let schema = document.text("schema")?;
    match schema.as_str() {
        semver::SCHEMA => Semver::read(&document),
        "" => Err(document
            .fault("template input missing required 'schema' field")
            .with_hint("write `schema: olm.semver`")
            .into_error()),
        "olm.template.basic" | "olm.template.substitutes" => Err(document
            .fault(format!("templates of the schema `{schema}` are not supported"))
            .with_hint("render it with `opm alpha render-template`, and validate the result here")
            .into_error()),
        other => Err(document
            .fault(format!("unknown template schema: {other}"))
            .with_hint("the schema is `olm.semver`")
            .into_error()),
    }
}

/// Returns the bundle of an image.
fn find_bundle<'a>(bundles: &'a Bundles, image: &str) -> anyhow::Result<&'a blob::BundleBlob> {
    let missing = || anyhow::format_err!("the bundle of the image `{image}` is missing");
    bundles.get(image).ok_or_else(missing)
}
