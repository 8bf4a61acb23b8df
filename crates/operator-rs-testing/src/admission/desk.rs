//! The reviews of one request.

use super::{
    super::{
        Cluster,
        refusal::Refusal,
        request::Request,
        store::{Store, now},
    },
    Webhooks,
    call::{self, Failure},
    configuration::Webhook,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// When an object is reviewed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Stage {
    /// Before it is validated: it can be changed.
    Mutating,
    /// The object as it would be stored.
    Validating,
}

/// The part of a request that a webhook reviews.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    pub stage: Stage,
    pub operation: &'static str,
    pub name: String,
    pub kind: String,
    /// The object as it shall be, or null.
    pub object: Value,
    /// The object as it is, or null.
    pub old: Value,
    /// The schema by which a changed object gets its defaults.
    pub declared: Option<Value>,
}

/// The reviews of one request, and what has to stay the same when it is carried out again.
#[derive(Debug)]
pub struct Desk {
    webhooks: Webhooks,
    /// True if nothing of the request is stored.
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
    pub fn without_webhooks() -> Self {
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

    fn for_request(cluster: &Cluster, request: &Request, body: &[u8]) -> Self {
        let webhooks = cluster.state().webhooks.clone();
        Self {
            webhooks,
            is_dry_run: request.is_dry_run,
            options: call::request_options(request, body),
            ..Self::without_webhooks()
        }
    }

    /// The uid of a new object.
    pub fn new_uid(&mut self, store: &mut Store) -> String {
        self.uid.get_or_insert_with(|| store.uid()).clone()
    }

    /// The end of a generated name.
    pub fn name_suffix(&mut self, store: &mut Store) -> String {
        self.suffix.get_or_insert_with(|| store.suffix()).clone()
    }

    /// Returns true if any webhook is registered.
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
        if self.webhooks.reviewers_of(stage, request, operation)?.is_empty() {
            return Ok(object);
        }
        let named = match request.name.as_str() {
            "" if operation == "CREATE" => object["metadata"]["name"].as_str().unwrap_or_default(),
            name => name,
        };
        let with_type = |object: &Value| call::with_object_type(object, request, kind);
        let review = Review {
            stage,
            operation,
            name: named.to_owned(),
            kind: kind.to_owned(),
            object: with_type(&object),
            old: old.map_or(Value::Null, with_type),
            declared: declared.cloned(),
        };
        if let Some((_, reviewed)) = self.reviews.iter().find(|known| known.0 == review) {
            let mut reviewed = reviewed.clone()?;
            for name in ["apiVersion", "kind"].iter().filter(|field| object[**field].is_null()) {
                reviewed.as_object_mut().map(|fields| fields.remove(*name));
            }
            return Ok(reviewed);
        }
        self.missing = Some(review);
        Err(Refusal::with_code(500)) // never sent: the request is carried out again
    }

    /// Returns true if the request has to be carried out again.
    pub fn is_missing_a_review(&self) -> bool {
        self.missing.is_some()
    }

    async fn perform_review(&mut self, request: &Request, review: Review) {
        let result = match review.stage {
            Stage::Mutating => self.call_mutating_webhooks(request, &review).await,
            Stage::Validating => self.call_validating_webhooks(request, &review).await,
        };
        self.reviews.push((review, result));
    }

    /// Calls the webhooks in order, and those with `IfNeeded` again of which a later one has changed the object.
    async fn call_mutating_webhooks(&mut self, request: &Request, review: &Review) -> Result<Value, Refusal> {
        let webhooks = self.webhooks.reviewers_of(review.stage, request, review.operation)?;
        let mut object = review.object.clone();
        let (mut invoked, mut again) = (BTreeSet::new(), BTreeSet::new());
        for pass in [1, 2] {
            for (nth, webhook) in webhooks.iter().enumerate() {
                if pass == 2 && !again.contains(&nth) {
                    continue;
                }
                let Some(patch) = self.call_webhook(webhook, request, review, &object).await? else { continue };
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
    async fn call_validating_webhooks(&mut self, request: &Request, review: &Review) -> Result<Value, Refusal> {
        let mut result = Ok(review.object.clone());
        for webhook in self.webhooks.reviewers_of(review.stage, request, review.operation)? {
            let verdict = self.call_webhook(&webhook, request, review, &review.object).await;
            result = result.and_then(|object| verdict.map(|_| object));
        }
        result
    }

    /// The patch of one webhook, if its answer counts.
    async fn call_webhook(
        &mut self,
        webhook: &Webhook,
        request: &Request,
        review: &Review,
        object: &Value,
    ) -> Result<Option<call::Patch>, Refusal> {
        let called = call::call_webhook(webhook, request, review, object, (self.is_dry_run, &self.options)).await;
        let (verdict, warnings) = match called {
            Ok(it) => it,
            Err(Failure(_)) if webhook.is_ignored => return Ok(None),
            Err(Failure(why)) => {
                let why = format!("failed calling webhook \"{}\": {why}", webhook.name);
                return Err(call::internal_error(&why));
            }
        };
        for warning in warnings.into_iter().filter(|warning| !warning.is_empty()) {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        verdict.map(Some)
    }
}

/// Carries out a request by `carry_out`, again after each review. The second part are the warnings.
pub async fn carry_out_with_reviews(
    cluster: &Cluster,
    request: &Request,
    body: &[u8],
    mut carry_out: impl FnMut(&mut Desk) -> Result<(u16, String), Refusal>,
) -> (Result<(u16, String), Refusal>, Vec<String>) {
    let mut desk = Desk::for_request(cluster, request, body);
    loop {
        let done = carry_out(&mut desk);
        match desk.missing.take() {
            None => return (done, desk.warnings),
            Some(review) => desk.perform_review(request, review).await,
        }
    }
}
