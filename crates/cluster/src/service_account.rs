//! Tokens of service accounts.

use std::time::Duration;

use anyhow::Context as _;
use kube::api::PostParams;

use super::{Cluster, discovery::Resource, path::path_segment};
use go_data::yaml::json;

impl Cluster {
    /// Requests a token for a service account.
    pub fn service_account_token(
        &self,
        namespace: &str,
        name: &str,
        lifetime: Duration,
    ) -> anyhow::Result<String> {
        let body = json!({
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "TokenRequest",
            "spec": { "expirationSeconds": lifetime.as_secs() },
        });
        let accounts = Resource::new("v1", "ServiceAccount", "serviceaccounts", true)?
            .requests_in(namespace)?;
        let body = body.to_string().into_bytes();
        let request = accounts.create_subresource(
            "token",
            &path_segment(name)?,
            &PostParams::default(),
            body,
        )?;
        let response = self.send(&request)?;
        let token = response.body["status"]["token"].as_str();
        token.map(str::to_owned).with_context(|| {
            format!(
                "no token can be created for the ServiceAccount {namespace}/{name}: {}",
                response.message()
            )
        })
    }
}
