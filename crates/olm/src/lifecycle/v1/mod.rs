//! OLM v1: the objects with which it installs an operator, and what their status says.
//!
//! catalogd pulls the image of a ClusterCatalog; operator-controller resolves a ClusterExtension from it, pulls the
//! bundle's image, and applies the manifests as a service account.

mod objects;
mod progress;

pub use self::{
    objects::{cluster_catalog, cluster_extension, installer_account, requires_account},
    progress::{V1Progress, installed_progress, serving_progress, unsettled_conditions},
};

/// The API of OLM v1.
pub const API: &str = "olm.operatorframework.io/v1";

/// The CRD of ClusterExtensions.
pub const EXTENSIONS: &str = "clusterextensions.olm.operatorframework.io";
