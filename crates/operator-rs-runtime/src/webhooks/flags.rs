//! The flags of the webhook server, with kubebuilder's names.

use crate::tls::Files;
use clap::ArgAction::Set;
use std::path::PathBuf;

#[allow(missing_docs)] // clap would show them as the program's own
#[derive(Clone, Debug, clap::Args)]
pub struct WebhookFlags {
    /// Serve the webhooks; false for a run outside of the cluster
    #[arg(long, env, default_value_t = true, action = Set, num_args = 0..=1, default_missing_value = "true", value_name = "BOOL", hide_possible_values = true)]
    pub(crate) enable_webhooks: bool,

    /// Port of the webhooks
    #[arg(long, env, default_value_t = 9443, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) webhook_port: u16,

    /// Directory of the webhooks' certificate
    #[arg(long, env, default_value = "/tmp/k8s-webhook-server/serving-certs", value_name = "DIR")]
    webhook_cert_path: PathBuf,

    /// File name of the webhooks' certificate
    #[arg(long, env, default_value = "tls.crt", value_name = "FILE")]
    webhook_cert_name: String,

    /// File name of the webhooks' key
    #[arg(long, env, default_value = "tls.key", value_name = "FILE")]
    webhook_cert_key: String,

    /// Secret for a certificate that the operator makes itself
    #[arg(long, env, value_name = "NAME", requires = "webhook_service")]
    webhook_secret: Option<String>,

    /// Service of the webhooks, for --webhook-secret
    #[arg(long, env, value_name = "NAME")]
    webhook_service: Option<String>,

    /// Service of the metrics, for --webhook-secret
    #[arg(long, env, value_name = "NAME")]
    metrics_service: Option<String>,

    /// MutatingWebhookConfiguration, for --webhook-secret
    #[arg(long, env, value_name = "NAME")]
    mutating_webhook_configuration: Option<String>,

    /// ValidatingWebhookConfiguration, for --webhook-secret
    #[arg(long, env, value_name = "NAME")]
    validating_webhook_configuration: Option<String>,
}

impl WebhookFlags {
    /// Returns the files of the certificate.
    pub(crate) fn certificate_files(&self) -> Files {
        let dir = &self.webhook_cert_path;
        Files { cert: dir.join(&self.webhook_cert_name), key: dir.join(&self.webhook_cert_key) }
    }

    /// Returns the Secret of the operator's own certificate, and the Service that the certificate is for.
    pub(crate) fn secret_and_service(&self) -> Option<(&str, &str)> {
        Some((non_empty(&self.webhook_secret)?, non_empty(&self.webhook_service)?))
    }

    pub(crate) fn metrics_service(&self) -> Option<&str> {
        non_empty(&self.metrics_service)
    }

    /// Returns the URL paths of the webhook configurations.
    pub(crate) fn configuration_paths(&self) -> impl Iterator<Item = String> {
        let all = [
            ("mutating", non_empty(&self.mutating_webhook_configuration)),
            ("validating", non_empty(&self.validating_webhook_configuration)),
        ];
        let path = |kind, name| format!("/apis/admissionregistration.k8s.io/v1/{kind}webhookconfigurations/{name}");
        all.into_iter().filter_map(move |(kind, name)| Some(path(kind, name?)))
    }
}

fn non_empty(name: &Option<String>) -> Option<&str> {
    name.as_deref().filter(|name| !name.is_empty())
}
