//! What OLM is given to run a bundle, and what it reports about it.
//!
//! [`Release`] is what a bundle's files say about its operator. From it follow the objects that are applied: the catalog
//! and its server, the OperatorGroup, the Subscription. [`progress`] reads OLM's own objects: how far it is, and why it
//! does not continue. This room reads no files and sends no requests.

mod content;
mod group;
mod install_mode;
mod objects;
mod owned;
mod plan;
mod progress;
mod release;
mod requirements;
mod same;
mod server;
pub mod v1;

pub use self::{
    content::Content,
    group::{GROUP, Group},
    install_mode::InstallMode,
    objects::{catalog_name, catalog_source, namespace, subscription, subscription_name},
    owned::{
        CLUSTER_SCOPED, MANAGERS, auth_reader, copied_from, foreign, has_owner_of_olm,
        is_auth_reader_of, is_labelled, is_left_behind, is_owned_by, list_label, list_name, listed,
        owner_in,
    },
    plan::{is_running, reason, steps},
    progress::{Progress, Seen, progress},
    release::{Release, accounts, deployments, owned_crds},
    requirements::impossible,
    same::difference,
    server::{Security, Server, is_server_of, package_of},
};
pub use model::Files;

/// The kinds that OLM reads.
pub const V1: &str = "operators.coreos.com/v1";
pub const V1_ALPHA1: &str = "operators.coreos.com/v1alpha1";

/// The label of the objects that serve a catalog; its value is the name of the CatalogSource.
pub const CATALOG_LABEL: &str = "rust.operator-rs.io/catalog";

/// The strings of a list.
pub fn texts(list: &go_data::yaml::Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|it| it.as_str().map(str::to_owned)).collect()
}
