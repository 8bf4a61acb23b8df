//! The cluster to connect to, before there is a connection.

use std::path::PathBuf;

use super::{plugin::Host, proxy::Proxies};
use model::Deadline;

/// The cluster to connect to, and the limits of the connection.
#[derive(Clone)]
pub struct Target {
    /// The kubeconfig; none means `$KUBECONFIG`, `~/.kube/config`, or the pod's service account.
    pub kubeconfig: Option<PathBuf>,
    /// `~/.kube/config`, if there is a home directory.
    pub kubeconfig_in_home: Option<PathBuf>,
    /// A context of the kubeconfig; none means its current one.
    pub context: Option<String>,
    pub proxies: Proxies,
    /// The deadline of everything that waits for the cluster.
    pub deadline: Deadline,
    pub host: Host,
}
