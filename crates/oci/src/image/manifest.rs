//! Manifests and indexes, in OCI's and in Docker's media types.

use super::{
    Format,
    spec::{ContentDescriptor, ImageIndex, ImageManifest},
};
use anyhow::Context as _;
use diagnostics::Hint as _;
use model::{Blob, Descriptor, Platform};

const OCI_MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const OCI_INDEX: &str = "application/vnd.oci.image.index.v1+json";
const DOCKER_MANIFEST: &str = "application/vnd.docker.distribution.manifest.v2+json";
const DOCKER_LIST: &str = "application/vnd.docker.distribution.manifest.list.v2+json";
const DOCKER_GZIP: &str = "application/vnd.docker.image.rootfs.diff.tar.gzip";
const DOCKER_TAR: &str = "application/vnd.docker.image.rootfs.diff.tar";
const OCI_TAR: &str = "application/vnd.oci.image.layer.v1.tar";
const OCI_ZSTD: &str = "application/vnd.oci.image.layer.v1.tar+zstd";

/// The media types of a format.
pub struct Types {
    pub manifest: &'static str,
    pub index: &'static str,
    pub config: &'static str,
    pub gzip: &'static str,
    format: Format,
}

pub fn media_types(format: Format) -> Types {
    match format {
        Format::Oci => Types {
            manifest: OCI_MANIFEST,
            index: OCI_INDEX,
            config: "application/vnd.oci.image.config.v1+json",
            gzip: super::layer::GZIP,
            format,
        },
        Format::Docker => Types {
            manifest: DOCKER_MANIFEST,
            index: DOCKER_LIST,
            config: "application/vnd.docker.container.image.v1+json",
            gzip: DOCKER_GZIP,
            format,
        },
    }
}

impl Types {
    /// The type in this format of a layer that has a type of any format.
    pub fn layer_type(&self, media_type: &str) -> Option<&'static str> {
        Some(match (self.format, media_type) {
            (_, super::layer::GZIP | DOCKER_GZIP) => self.gzip,
            (Format::Oci, OCI_TAR | DOCKER_TAR) => OCI_TAR,
            (Format::Docker, OCI_TAR | DOCKER_TAR) => DOCKER_TAR,
            (Format::Oci, OCI_ZSTD) => OCI_ZSTD,
            _ => return None,
        })
    }
}

/// The manifest or index that a tag or a digest refers to.
#[derive(Debug, PartialEq)]
pub enum Manifest {
    Index(Vec<Reference>),
    Image { config: Descriptor, layers: Vec<Descriptor> },
}

/// One entry of an index.
#[derive(Clone, Debug, PartialEq)]
pub struct Reference {
    pub descriptor: Descriptor,
    pub platform: Option<Platform>,
}

impl Manifest {
    /// Every media type that can be read, as a client names them to a registry.
    pub const MEDIA_TYPES: &[&str] = &[OCI_INDEX, DOCKER_LIST, OCI_MANIFEST, DOCKER_MANIFEST];

    pub fn parse(blob: &Blob) -> anyhow::Result<Self> {
        let value: serde_json::Value = serde_json::from_slice(blob.bytes())
            .with_context(|| format!("the manifest {} is not JSON", blob.digest()))?;
        if value["schemaVersion"] == 1 {
            return Err(anyhow::format_err!("the image's manifest has schema version 1"))
                .hint("push the image again with a current tool: registries convert it");
        }
        let own = value["mediaType"].as_str();
        let (is_index, is_image) =
            (value.get("manifests").is_some(), value.get("layers").is_some());
        // Two readers must not take it for two different things.
        let of_type = match own.unwrap_or(blob.media_type()) {
            OCI_INDEX | DOCKER_LIST if is_index && !is_image => true,
            OCI_MANIFEST | DOCKER_MANIFEST if is_image && !is_index => false,
            // Registries and layouts may leave the type out.
            _ if own.is_none() && is_index != is_image => is_index,
            other => {
                anyhow::bail!("the manifest {} of type `{other}` is not an image", blob.digest())
            }
        };
        let invalid =
            |error| anyhow::format_err!("the manifest {} is not valid: {error}", blob.digest());
        if of_type {
            let index: ImageIndex = serde_json::from_value(value).map_err(invalid)?;
            let all = index.manifests.iter().map(|entry| {
                let mut platform = entry.platform.clone();
                if let Some(platform) = &mut platform {
                    // It is the only one there is.
                    platform.variant.take_if(|it| platform.architecture == "arm64" && it == "v8");
                }
                Ok(Reference { descriptor: parse_descriptor(entry)?, platform })
            });
            return Ok(Self::Index(all.collect::<anyhow::Result<_>>()?));
        }
        let image: ImageManifest = serde_json::from_value(value).map_err(invalid)?;
        let layers = image.layers.iter().map(parse_descriptor).collect::<anyhow::Result<_>>()?;
        Ok(Self::Image { config: parse_descriptor(&image.config)?, layers })
    }
}

impl Reference {
    /// The first entry for one of these platforms, in the order of the platforms.
    pub fn choose<'a>(all: &'a [Self], platforms: &[Platform]) -> Option<&'a Self> {
        platforms
            .iter()
            .find_map(|platform| all.iter().find(|entry| entry.platform.as_ref() == Some(platform)))
    }

    /// The platforms of an index, for a message that it lacks one.
    pub fn list(all: &[Self]) -> String {
        let names = all.iter().filter_map(|entry| entry.platform.as_ref().map(ToString::to_string));
        match &names.collect::<Vec<_>>()[..] {
            [] => "and its index names no platform".to_owned(),
            names => format!("but for: {}", names.join(", ")),
        }
    }
}

fn parse_descriptor(descriptor: &ContentDescriptor) -> anyhow::Result<Descriptor> {
    let text = &descriptor.digest;
    if descriptor.is_elsewhere() {
        anyhow::bail!("the layer {text} is not in the registry: only a URL of it is");
    }
    let digest = text.parse().map_err(|why| anyhow::format_err!("the digest `{text}` {why}"))?;
    Ok(Descriptor { media_type: descriptor.media_type.clone(), digest, size: descriptor.size })
}

#[test]
fn a_manifest_that_is_not_json_is_refused_with_the_place() {
    let blob = Blob::new(OCI_MANIFEST, b"{\n\"layers\" []}".to_vec());
    let Err(error) = Manifest::parse(&blob) else { panic!("a colon is missing") };
    let error = format!("{error:#}");
    assert!(error.ends_with("is not JSON: expected `:` at line 2 column 10"), "{error}");
}
