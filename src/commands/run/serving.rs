//! The flags and the objects that serve a bundle's catalog to OLM.

use go_data::yaml::Value;
use olm::{
    catalog,
    lifecycle::{self, Files, Release, Security, Server},
};

#[derive(clap::Args)]
#[command(next_help_heading = "Catalog")]
pub struct Serving {
    /// Address of a server that already serves a catalog with the bundle, as OLM reaches it
    #[arg(long, value_name = "HOST:PORT", conflicts_with_all = [
        "index_image", "decompression_image", "image_pull_policy", "service_account", "security_context_config",
    ])]
    catalog_address: Option<CatalogAddress>,
    /// Image whose `opm` serves the bundle, together with the packages that the image has in /configs
    #[arg(long, value_name = "IMAGE", default_value = OPM)]
    index_image: String,
    /// Image whose `gzip` unpacks a catalog that is larger than a ConfigMap
    #[arg(
        long,
        value_name = "IMAGE",
        default_value = UNPACKER
    )]
    decompression_image: String,
    /// Pull policy for these images
    #[arg(long, value_enum, value_name = "POLICY", default_value = "Always")]
    image_pull_policy: PullPolicy,
    /// Secret with the credentials for these images
    #[arg(long, value_name = "NAME")]
    pull_secret_name: Vec<String>,
    /// Service account of the catalog's pod [default: default]
    #[arg(long, value_name = "NAME")]
    service_account: Option<String>,
    /// Security context of the catalog's pod: that of the Pod Security Standard `restricted`, or none
    #[arg(long, value_enum, value_name = "KIND", default_value = "restricted")]
    security_context_config: SecurityContextConfig,
}

const OPM: &str = "quay.io/operator-framework/opm:latest";
const UNPACKER: &str = "registry.access.redhat.com/ubi9/ubi-minimal:latest";

impl Serving {
    /// The first flag that changes something, by its name.
    pub fn first_given_flag(&self) -> Option<&'static str> {
        let all = [
            (self.catalog_address.is_some(), "--catalog-address"),
            (self.index_image != OPM, "--index-image"),
            (self.decompression_image != UNPACKER, "--decompression-image"),
            (self.image_pull_policy != PullPolicy::Always, "--image-pull-policy"),
            (!self.pull_secret_name.is_empty(), "--pull-secret-name"),
            (self.service_account.is_some(), "--service-account"),
            (
                self.security_context_config != SecurityContextConfig::Restricted,
                "--security-context-config",
            ),
        ];
        all.into_iter().find(|entry| entry.0).map(|entry| entry.1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum PullPolicy {
    #[value(name = "Always")]
    Always,
    #[value(name = "IfNotPresent")]
    IfNotPresent,
    #[value(name = "Never")]
    Never,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum SecurityContextConfig {
    Legacy,
    Restricted,
}

/// A host and a port.
#[derive(Clone)]
struct CatalogAddress(String);

impl std::str::FromStr for CatalogAddress {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = "must be a host and a port, such as `127.0.0.1:50051`";
        let (host, port) = text.rsplit_once(':').ok_or(wrong)?;
        let is_host = !host.is_empty()
            && !host.contains(['/', '@', ' '])
            && !host.chars().any(char::is_control);
        match port.parse::<u16>() {
            Ok(1..) if is_host => Ok(Self(text.to_owned())),
            _ => Err(wrong),
        }
    }
}

/// The catalog of a release.
pub struct Catalog {
    pub source: Value,
    /// The objects that serve it on the cluster.
    pub servers: Vec<Value>,
}

impl Serving {
    /// The catalog for a bundle, which replaces an installed version if there is one.
    pub fn build_catalog(
        &self,
        files: &Files,
        release: &Release,
        replaced: Option<&str>,
        namespace: &str,
    ) -> anyhow::Result<Catalog> {
        let (package, secrets) = (&release.package, &self.pull_secret_name);
        if let Some(CatalogAddress(address)) = &self.catalog_address {
            let source = lifecycle::catalog_source(package, namespace, address, secrets)?;
            return Ok(Catalog { source, servers: Vec::new() });
        }
        let server = Server {
            catalog: &lifecycle::catalog_name(package)?,
            namespace,
            image: &self.index_image,
            unpacking_image: &self.decompression_image,
            pull_policy: match self.image_pull_policy {
                PullPolicy::Always => "Always",
                PullPolicy::IfNotPresent => "IfNotPresent",
                PullPolicy::Never => "Never",
            },
            pull_secrets: secrets,
            service_account: self.service_account.as_deref(),
            security: match self.security_context_config {
                SecurityContextConfig::Legacy => Security::Legacy,
                SecurityContextConfig::Restricted => Security::Restricted,
            },
        };
        let text = catalog_content(files, release, replaced)?;
        let source =
            lifecycle::catalog_source(package, namespace, &server.address(&text), secrets)?;
        Ok(Catalog { source, servers: server.build_objects(text) })
    }
}

/// A catalog with this bundle alone, its manifests inline.
fn catalog_content(
    files: &Files,
    release: &Release,
    replaced: Option<&str>,
) -> anyhow::Result<String> {
    let bundle = catalog::Bundle::read(files, "bundle")?;
    let mut entry = catalog::blob::Entry { name: bundle.name.clone(), ..Default::default() };
    entry.replaces = replaced.unwrap_or_default().into();
    let blobs = catalog::catalog_with_manifests(&release.channel, &[(bundle, entry)]);
    Ok(catalog::format_blobs(&blobs, catalog::Format::Json))
}
