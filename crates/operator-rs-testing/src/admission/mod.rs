//! Admission webhooks. A request is carried out until a review is missing, and from the beginning when that is
//! answered: no lock is held while a webhook runs, and an object that changes meanwhile is reviewed again.

mod call;
mod configuration;
mod desk;
mod rules;
#[cfg(test)]
mod tests;

use super::{Cluster, converter::Converter, refusal::Refusal, request::Request};
use configuration::Webhook;
use desk::Review;
use futures::{FutureExt, future::BoxFuture};
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::{fmt, sync::Arc};
use tower::ServiceExt;

pub use desk::{Desk, Stage, carry_out_with_reviews};

/// What answers the requests to webhooks.
type Service =
    Arc<dyn Fn(http::Request<Bytes>) -> BoxFuture<'static, Result<http::Response<Bytes>, String>> + Send + Sync>;

/// The webhooks of the server, in the order in which they are called.
#[derive(Clone, Default)]
pub struct Webhooks {
    mutating: Vec<Arc<Webhook>>,
    validating: Vec<Arc<Webhook>>,
}

impl fmt::Debug for Webhooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.mutating.iter().chain(&self.validating).map(|webhook| &webhook.name)).finish()
    }
}

impl Cluster {
    /// With the webhooks of these MutatingWebhookConfigurations and ValidatingWebhookConfigurations, which are YAML
    /// as in `config/webhook/manifests.yaml`. `service` answers their calls. They review what clients write, and not
    /// what the test itself puts into the cluster or the garbage collector deletes.
    ///
    /// ```
    /// use operator_rs_testing::Cluster;
    ///
    /// let service = tower::service_fn(async |request: http::Request<hyper::body::Bytes>| {
    ///     let review: serde_json::Value = serde_json::from_slice(request.body()).unwrap();
    ///     let response = serde_json::json!({ "uid": review["request"]["uid"], "allowed": false });
    ///     let answer = serde_json::json!({ "apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
    ///         "response": response });
    ///     Ok::<_, std::convert::Infallible>(http::Response::new(answer.to_string().into()))
    /// });
    /// let cluster = Cluster::default().with_webhooks(
    ///     "
    /// apiVersion: admissionregistration.k8s.io/v1
    /// kind: ValidatingWebhookConfiguration
    /// metadata: {name: validating-webhook-configuration}
    /// webhooks:
    /// - name: vconfigmap-v1.kb.io
    ///   admissionReviewVersions: [v1]
    ///   clientConfig: {service: {name: webhook-service, namespace: system, path: /validate--v1-configmap}}
    ///   sideEffects: None
    ///   rules: [{apiGroups: [''], apiVersions: [v1], operations: [CREATE], resources: [configmaps]}]
    /// ",
    ///     service,
    /// );
    /// ```
    ///
    /// The service also converts the objects of CRDs with `conversion.strategy: Webhook`. Those are stored in the
    /// storage version, which is what [`Cluster::get`] and [`Cluster::list`] return. The server waits for a conversion,
    /// so that the service must not send requests to it for one.
    ///
    /// # Panics
    /// If a configuration is invalid, or has something that this server does not know, such as selectors and
    /// `matchConditions`.
    pub fn with_webhooks<S>(self, manifests: &str, service: S) -> Self
    where
        S: tower::Service<http::Request<Bytes>, Response = http::Response<Bytes>> + Clone + Send + Sync + 'static,
        S::Error: fmt::Display,
        S::Future: Send,
    {
        let service: Service = Arc::new(move |request| {
            let service = service.clone();
            async move { service.oneshot(request).await.map_err(|error| error.to_string()) }.boxed()
        });
        self.with_store(|store| store.converter = Converter(Some(service.clone())));
        let (mutating, validating) =
            configuration::parse_configurations(manifests, &service).unwrap_or_else(|error| panic!("{error}"));
        {
            let webhooks = &mut self.state().webhooks;
            webhooks.mutating.extend(mutating.into_iter().map(Arc::new));
            webhooks.validating.extend(validating.into_iter().map(Arc::new));
            // By configuration; those of one stay in their order.
            webhooks.mutating.sort_by(|a, b| a.configuration.cmp(&b.configuration));
            webhooks.validating.sort_by(|a, b| a.configuration.cmp(&b.configuration));
        }
        self
    }
}

impl Webhooks {
    /// Those that review such a request.
    ///
    /// # Errors
    /// If a real server would convert the object for one of them.
    fn reviewers_of(&self, stage: Stage, request: &Request, operation: &str) -> Result<Vec<Arc<Webhook>>, Refusal> {
        let all = match stage {
            Stage::Mutating => &self.mutating,
            Stage::Validating => &self.validating,
        };
        let mut found = vec![];
        for webhook in all {
            if rules::is_reviewed_by(webhook, request, operation)? {
                found.push(webhook.clone());
            }
        }
        Ok(found)
    }
}

/// A header that tells a warning.
pub fn warning_header(warning: &str) -> String {
    format!("299 - \"{}\"", warning.replace('\\', "\\\\").replace('"', "\\\""))
}

/// For messages.
fn quoted(value: &Value) -> String {
    json!(value).to_string()
}
