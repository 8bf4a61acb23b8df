//! The flags for the format of an image.

use model::Platform;
use oci::image;

/// The format of an image.
#[derive(Clone, clap::Args)]
pub struct ImageFormat {
    /// Media types of the image
    #[arg(
        id = "image_format",
        long = "format",
        value_enum,
        value_name = "FORMAT",
        default_value = "oci"
    )]
    pub format: ManifestFormat,
    /// Platforms of the image, separated by commas, e.g. `linux/amd64,linux/arm64` [default: that of this machine; for a
    /// bundle or a catalog, which are the same on each, all that OLM runs on]
    #[arg(long = "platform", value_name = "PLATFORMS", value_delimiter = ',')]
    pub platforms: Vec<Platform>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ManifestFormat {
    /// OCI's, which every current tool reads
    Oci,
    /// Docker's, for `docker load` and old registries
    Docker,
}

impl From<ManifestFormat> for image::Format {
    fn from(it: ManifestFormat) -> Self {
        match it {
            ManifestFormat::Oci => Self::Oci,
            ManifestFormat::Docker => Self::Docker,
        }
    }
}

impl ImageFormat {
    /// Returns the platforms that are named, or else all that OLM runs on: an image of files alone is the same on each.
    pub fn platforms_of_files(&self) -> Vec<Platform> {
        let mut platforms = if self.platforms.is_empty() {
            ["amd64", "arm64", "ppc64le", "s390x"].map(Platform::linux).to_vec()
        } else {
            self.platforms.clone()
        };
        let mut seen = Vec::new();
        platforms.retain(|platform| {
            !seen.contains(platform) && {
                seen.push(platform.clone());
                true
            }
        });
        platforms
    }
}
