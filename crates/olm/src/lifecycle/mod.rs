//! The objects with which OLM runs a bundle, and the status that OLM reports.
//!
//! [`Release`] is one version of an operator, from the files of a bundle. The objects that are applied follow from
//! it: the catalog and its server, the OperatorGroup, the Subscription. [`install_progress`] reads the progress from
//! OLM's own objects, with the reason why it does not continue. This module reads no files and sends no requests.

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
    group::{GROUP, GroupChoice},
    install_mode::InstallMode,
    objects::{
        build_namespace, build_subscription, catalog_name, catalog_source, subscription_name,
    },
    owned::{
        CLUSTER_SCOPED, MANAGERS, auth_reader, copied_from, foreign_reason, has_owner_of_olm,
        is_auth_reader_of, is_labelled, is_left_behind, is_owned_by, list_label, list_name,
        listed_objects, owner_in,
    },
    plan::{failure_reason, is_running, started_steps},
    progress::{Progress, Seen, install_progress},
    release::{Release, deployment_names, owned_crds, service_accounts},
    requirements::impossible_requirements,
    same::csv_difference,
    server::{Security, Server, is_server_of, package_of},
};
pub use model::Files;

/// The API versions of OLM v0.
pub const V1: &str = "operators.coreos.com/v1";
pub const V1_ALPHA1: &str = "operators.coreos.com/v1alpha1";

/// The label of the objects that serve a catalog; its value is the name of the CatalogSource.
pub const CATALOG_LABEL: &str = "rust.operator-rs.io/catalog";

/// Returns the strings of a list.
pub fn string_list(list: &go_data::yaml::Value) -> Vec<String> {
    let items = list.as_array().into_iter().flatten();
    items.filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
