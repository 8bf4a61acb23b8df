//! Admission webhooks. A request is carried out until a review is missing, and from the beginning when that is
//! answered: no lock is held while a webhook runs, and an object that changes meanwhile is reviewed again.

mod call;
mod configuration;
mod rules;
#[cfg(test)]
mod tests;

use super::{
    Cluster,
    refusal::Refusal,
    request::Request,
    server,
    store::{Store, now},
    versions::Converter,
};
use call::Failure;
use configuration::Webhook;
use futures::{FutureExt, future::BoxFuture};
use hyper::body::Bytes;
use serde_json::{Value, json};
use std::{collections::BTreeSet, fmt, sync::Arc};
use tower::ServiceExt;

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
        f.debug_list().entries(self.mutating.iter().chain(&self.validating).map(|it| &it.name)).finish()
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
    /// The service also converts the objects of CRDs with `conversion.strategy: Webhook`. Those are stored in the storage
    /// version, which is what [`Cluster::get`] and [`Cluster::list`] return. The server waits for a conversion, so that the
    /// service must not send requests to it for one.
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
            async move { service.oneshot(request).await.map_err(|it| it.to_string()) }.boxed()
        });
        self.with_store(|store| store.converter = Converter(Some(service.clone())));
        let (mutating, validating) = configuration::read(manifests, &service).unwrap_or_else(|it| panic!("{it}"));
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

/// When an object is reviewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// Before it is validated: it can be changed.
    Mutating,
    /// As it would be stored.
    Validating,
}

/// What is reviewed of a request.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    stage: Stage,
    operation: &'static str,
    name: String,
    kind: String,
    /// The object as it shall be, or null.
    object: Value,
    /// The object as it is, or null.
    old: Value,
    /// The schema by which a changed object gets its defaults.
    declared: Option<Value>,
}

/// The reviews of one request, and what has to stay the same when it is carried out again.
#[derive(Debug)]
pub struct Desk {
    webhooks: Webhooks,
    /// Whether nothing of the request is stored.
    pub is_dry_run: bool,
    options: Value,
    reviews: Vec<(Review, Result<Value, Refusal>)>,
    missing: Option<Review>,
    /// The time of the request.
    pub now: String,
    uid: Option<String>,
    suffix: Option<String>,
    warnings: Vec<String>,
}

impl Desk {
    /// Nothing is reviewed.
    pub fn empty() -> Self {
        Self {
            webhooks: Webhooks::default(),
            is_dry_run: false,
            options: Value::Null,
            reviews: vec![],
            missing: None,
            now: now(),
            uid: None,
            suffix: None,
            warnings: vec![],
        }
    }

    fn of(cluster: &Cluster, request: &Request, body: &[u8]) -> Self {
        let webhooks = cluster.state().webhooks.clone();
        Self { webhooks, is_dry_run: request.is_dry_run, options: call::options(request, body), ..Self::empty() }
    }

    /// The uid of a new object.
    pub fn uid(&mut self, store: &mut Store) -> String {
        self.uid.get_or_insert_with(|| store.uid()).clone()
    }

    /// The end of a generated name.
    pub fn suffix(&mut self, store: &mut Store) -> String {
        self.suffix.get_or_insert_with(|| store.suffix()).clone()
    }

    /// Whether any object is reviewed.
    pub fn has_webhooks(&self) -> bool {
        !(self.webhooks.mutating.is_empty() && self.webhooks.validating.is_empty())
    }

    /// The object after a review.
    ///
    /// # Errors
    /// If it is refused, or the review has to be made first.
    pub fn review(
        &mut self,
        stage: Stage,
        request: &Request,
        kind: &str,
        declared: Option<&Value>,
        (object, old): (Value, Option<&Value>),
    ) -> Result<Value, Refusal> {
        let operation = match (&object, old) {
            (Value::Null, _) => "DELETE",
            (_, None) => "CREATE",
            (_, Some(_)) => "UPDATE",
        };
        if self.webhooks.of(stage, request, operation)?.is_empty() {
            return Ok(object);
        }
        let named = match request.name.as_str() {
            "" if operation == "CREATE" => object["metadata"]["name"].as_str().unwrap_or_default(),
            name => name,
        };
        let whole = |object: &Value| call::whole(object, request, kind);
        let review = Review {
            stage,
            operation,
            name: named.to_owned(),
            kind: kind.to_owned(),
            object: whole(&object),
            old: old.map_or(Value::Null, whole),
            declared: declared.cloned(),
        };
        if let Some((_, reviewed)) = self.reviews.iter().find(|it| it.0 == review) {
            let mut reviewed = reviewed.clone()?;
            for name in ["apiVersion", "kind"].iter().filter(|it| object[**it].is_null()) {
                reviewed.as_object_mut().map(|it| it.remove(*name));
            }
            return Ok(reviewed);
        }
        self.missing = Some(review);
        Err(Refusal::with_code(500)) // nobody gets it: the request is carried out again
    }

    /// Whether the request has to be carried out again.
    pub fn is_missing_a_review(&self) -> bool {
        self.missing.is_some()
    }

    async fn make(&mut self, request: &Request, review: Review) {
        let result = match review.stage {
            Stage::Mutating => self.mutate(request, &review).await,
            Stage::Validating => self.validate(request, &review).await,
        };
        self.reviews.push((review, result));
    }

    /// Calls the webhooks in order, and those with `IfNeeded` again of which a later one has changed the object.
    async fn mutate(&mut self, request: &Request, review: &Review) -> Result<Value, Refusal> {
        let webhooks = self.webhooks.of(review.stage, request, review.operation)?;
        let mut object = review.object.clone();
        let (mut invoked, mut again) = (BTreeSet::new(), BTreeSet::new());
        for pass in [1, 2] {
            for (nth, webhook) in webhooks.iter().enumerate() {
                if pass == 2 && !again.contains(&nth) {
                    continue;
                }
                let Some(patch) = self.call(webhook, request, review, &object).await? else { continue };
                let changed = patch.apply(webhook, review, &object)?;
                if changed != object {
                    again.append(&mut invoked);
                    object = changed;
                }
                if webhook.is_invoked_again {
                    invoked.insert(nth);
                }
            }
        }
        Ok(object)
    }

    /// Calls all webhooks; the first that refuses decides.
    async fn validate(&mut self, request: &Request, review: &Review) -> Result<Value, Refusal> {
        let mut result = Ok(review.object.clone());
        for webhook in self.webhooks.of(review.stage, request, review.operation)? {
            let verdict = self.call(&webhook, request, review, &review.object).await;
            result = result.and_then(|object| verdict.map(|_| object));
        }
        result
    }

    /// The patch of one webhook, if its answer counts.
    async fn call(
        &mut self,
        webhook: &Webhook,
        request: &Request,
        review: &Review,
        object: &Value,
    ) -> Result<Option<call::Patch>, Refusal> {
        let called = call::call(webhook, request, review, object, (self.is_dry_run, &self.options)).await;
        let (verdict, warnings) = match called {
            Ok(it) => it,
            Err(Failure(_)) if webhook.is_ignored => return Ok(None),
            Err(Failure(why)) => {
                let why = format!("failed calling webhook \"{}\": {why}", webhook.name);
                return Err(call::internal(&why));
            }
        };
        for warning in warnings.into_iter().filter(|it| !it.is_empty()) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        verdict.map(Some)
    }
}

impl Webhooks {
    /// Those that review such a request.
    ///
    /// # Errors
    /// If a real server would convert the object for one of them.
    fn of(&self, stage: Stage, request: &Request, operation: &str) -> Result<Vec<Arc<Webhook>>, Refusal> {
        let all = match stage {
            Stage::Mutating => &self.mutating,
            Stage::Validating => &self.validating,
        };
        let mut found = vec![];
        for webhook in all {
            if rules::matches(webhook, request, operation)? {
                found.push(webhook.clone());
            }
        }
        Ok(found)
    }
}

/// Carries out a request with its reviews. The second part are the warnings.
pub async fn carry_out(
    cluster: &Cluster,
    request: &Request,
    body: &[u8],
) -> (Result<(u16, String), Refusal>, Vec<String>) {
    let mut desk = Desk::of(cluster, request, body);
    loop {
        let done = server::carry_out(cluster, request, body, &mut desk);
        match desk.missing.take() {
            None => return (done, desk.warnings),
            Some(review) => desk.make(request, review).await,
        }
    }
}

/// A header that tells a warning.
pub fn header(warning: &str) -> String {
    format!("299 - \"{}\"", warning.replace('\\', "\\\\").replace('"', "\\\""))
}

/// For messages.
fn quoted(value: &Value) -> String {
    json!(value).to_string()
}
