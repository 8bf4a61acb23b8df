//! A registry+v1 bundle, read as operator-registry reads it, and its blob as `opm render` gives it.
//!
//! A manifest that operator-registry leaves out in silence, as it cannot read it, is refused.

mod apis;
mod csv;
mod manifests;
mod metadata;
mod properties;

use base64::{Engine as _, prelude::BASE64_STANDARD};

use super::{
    blob::{self, Property, RelatedImage, property},
    go,
};
use csv::Csv;
pub(super) use csv::Struct;
use go_data::yaml::{Value, json};
use metadata::Metadata;
pub use model::Files;

/// The parts of a bundle that are read.
#[derive(Debug)]
pub struct Bundle {
    pub name: String,
    pub package: String,
    /// The channels of annotations.yaml, and the default one; empty if it names none.
    pub channels: Vec<String>,
    pub default_channel: String,
    pub version: String,
    csv: Csv,
    objects: Vec<Value>,
    properties: Vec<Property>,
    pub warnings: Vec<String>,
}

impl Bundle {
    /// Reads the files of a bundle; `folder` is where they are, for messages.
    pub fn read(files: &Files, folder: &str) -> anyhow::Result<Self> {
        let mut warnings = Vec::new();
        let objects = manifests::read_objects(files, folder, &mut warnings)?;
        let csv = Csv::find_in(&objects, folder)?;
        let apis = apis::Apis::from_manifests(&objects, &csv, folder)?;
        let metadata = Metadata::read(files, folder)?;
        let properties = properties::collect_properties(&metadata, &csv, apis, folder)?;
        Ok(Self {
            name: csv.name.clone(),
            package: metadata.package,
            channels: metadata.channels,
            default_channel: metadata.default_channel,
            version: csv.version.clone(),
            objects: objects.into_iter().map(|object| object.value).collect(),
            csv,
            properties,
            warnings,
        })
    }

    /// `olm.skipRange` of the ClusterServiceVersion.
    pub fn skip_range(&self) -> &str {
        self.csv.annotations.get("olm.skipRange").map_or("", String::as_str)
    }

    /// `spec.replaces` of the ClusterServiceVersion.
    pub fn replaces(&self) -> &str {
        &self.csv.replaces
    }

    /// `spec.skips` of the ClusterServiceVersion.
    pub fn skips(&self) -> &[String] {
        &self.csv.skips
    }

    /// Builds its blob. Without an image, the blob contains the manifests themselves.
    pub fn to_blob(&self, image: &str) -> blob::BundleBlob {
        let object = |object: &Value| {
            let data = BASE64_STANDARD.encode(go::marshal(object));
            Property::new(property::OBJECT, json!({"data": data}))
        };
        let mut properties: Vec<_> = self.objects.iter().map(object).collect();
        properties.extend(self.properties.iter().cloned());
        properties.sort_by_cached_key(|property| {
            (
                property.type_.clone(),
                property.value.as_ref().map(go::marshal_unescaped).unwrap_or_default(),
            )
        });
        let (mut properties, objects): (Vec<_>, Vec<_>) =
            properties.into_iter().partition(|property| {
                ![property::OBJECT, property::CSV_METADATA].contains(&property.type_.as_str())
            });
        properties.extend(objects);
        blob::BundleBlob {
            name: self.name.clone(),
            package: self.package.clone(),
            image: image.to_owned(),
            properties,
            related_images: self.related_images(image),
        }
    }

    /// Returns the images of the ClusterServiceVersion, of the bundle and of the deployments, in this order of
    /// preference.
    fn related_images(&self, image: &str) -> Vec<RelatedImage> {
        let mut images = self.csv.related_images.clone();
        let has = |images: &[RelatedImage], image: &str| images.iter().any(|it| it.image == image);
        let unnamed = |image: &str| RelatedImage { name: String::new(), image: image.to_owned() };
        let is_known = has(&images, image);
        // The image of the bundle itself is not remembered: a deployment with the same one adds it again.
        let bundle_image = (!image.is_empty() && !is_known).then(|| unnamed(image));
        for image in &self.csv.operator_images {
            if !has(&images, image) {
                images.push(unnamed(image));
            }
        }
        images.extend(bundle_image);
        images.sort_by(|one, other| one.image.cmp(&other.image));
        images
    }
}
