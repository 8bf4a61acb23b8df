//! Authenticates and authorizes clients of the metrics by a TokenReview and a SubjectAccessReview, as
//! kubebuilder's `WithAuthenticationAndAuthorization` does; nothing in kube does. The role
//! `config/rbac/metrics_auth_role.yaml` grants the permissions for these reviews.
//!
//! Every client that reaches the port can send tokens, so verdicts are cached by the hash of the token, and
//! the cache and the rate of reviews are limited. A client that was authorized recently is not delayed by the
//! requests of other clients.

use crate::{explain, limit::RateLimit};
use http::{HeaderMap, StatusCode, header};
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Api, Client, api::PostParams};
use ring::digest::{Context, SHA256};
use std::{collections::HashMap, sync::Mutex, time::Duration};
use tokio::{
    sync::Semaphore,
    time::{Instant, timeout},
};

/// The longest token that is reviewed. Tokens of service accounts have about 1 kB.
const TOKEN_BYTES: usize = 8 * 1024;
/// The maximum number of cached verdicts, of about 70 bytes each.
const VERDICTS: usize = 1000;
/// The maximum number of reviews at once and per second, for clients that were not authorized recently.
const REVIEWS: usize = 4;
const REVIEWS_PER_SECOND: f64 = 5.0;
const REVIEWS_BURST: u32 = 20;
/// The time limit of a review.
const REVIEW_TIME: Duration = Duration::from_secs(5);
/// The time for which an authorized request and a refused one are cached.
const AUTHORIZED_TTL: Duration = Duration::from_secs(60);
const REFUSED_TTL: Duration = Duration::from_secs(10);
/// The time after an authorization in which a client is reviewed outside of the limits.
const KNOWN_TTL: Duration = Duration::from_secs(10 * 60);

/// The hash of a verb, a path and a token.
type RequestHash = [u8; 32];

/// Asks the API server which clients may read a path, and caches its answers.
pub(crate) struct Authorizer {
    client: Client,
    verdicts: Mutex<HashMap<RequestHash, CachedVerdict>>,
    slots: Semaphore,
    rate: RateLimit,
}

#[derive(Clone, Copy, Debug)]
struct CachedVerdict {
    code: StatusCode,
    reviewed_at: Instant,
}

impl CachedVerdict {
    fn is_valid(&self) -> bool {
        self.reviewed_at.elapsed() < if self.code == StatusCode::OK { AUTHORIZED_TTL } else { REFUSED_TTL }
    }

    fn was_authorized_recently(&self) -> bool {
        self.code == StatusCode::OK && self.reviewed_at.elapsed() < KNOWN_TTL
    }
}

impl Authorizer {
    pub fn new(client: Client) -> Self {
        Self {
            client,
            verdicts: Mutex::default(),
            slots: Semaphore::new(REVIEWS),
            rate: RateLimit::new(REVIEWS_PER_SECOND, REVIEWS_BURST),
        }
    }

    /// Returns `200 OK` if the client that sent these headers may use this verb on the path, or else the status of the
    /// refusal.
    pub async fn check_access(&self, headers: &HeaderMap, verb: &str, path: &str) -> StatusCode {
        let token = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let token = token.and_then(|value| value.strip_prefix("Bearer "));
        let token = token.filter(|token| (1..=TOKEN_BYTES).contains(&token.len()));
        let Some(token) = token else { return StatusCode::UNAUTHORIZED };
        let mut digest = Context::new(&SHA256);
        for part in [verb, "\n", path, "\n", token] {
            digest.update(part.as_bytes());
        }
        let hash: RequestHash = digest.finish().as_ref().try_into().expect("SHA-256 has 32 bytes");
        let verdict = crate::lock(&self.verdicts).get(&hash).copied();
        if let Some(verdict) = verdict.filter(CachedVerdict::is_valid) {
            return verdict.code;
        }
        let _slot = match verdict {
            Some(verdict) if verdict.was_authorized_recently() => None,
            _ => match self.slots.try_acquire() {
                Ok(slot) if self.rate.try_acquire() => Some(slot),
                _ => return StatusCode::TOO_MANY_REQUESTS,
            },
        };
        match timeout(REVIEW_TIME, self.review_access(token, path, verb)).await {
            Ok(Ok(code)) => {
                self.cache_verdict(hash, CachedVerdict { code, reviewed_at: Instant::now() });
                code
            }
            Ok(Err(error)) => {
                tracing::warn!(error = explain(&error), "cannot authorize a request for the metrics");
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Err(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    fn cache_verdict(&self, hash: RequestHash, verdict: CachedVerdict) {
        let mut verdicts = crate::lock(&self.verdicts);
        if verdicts.len() >= VERDICTS {
            verdicts.retain(|_, verdict| verdict.is_valid() || verdict.was_authorized_recently());
        }
        if verdicts.len() >= VERDICTS {
            verdicts.retain(|_, verdict| verdict.was_authorized_recently());
        }
        if verdicts.len() < VERDICTS {
            verdicts.insert(hash, verdict);
        }
    }

    async fn review_access(&self, token: &str, path: &str, verb: &str) -> kube::Result<StatusCode> {
        let create = PostParams::default();
        let spec = TokenReviewSpec { token: Some(token.into()), ..TokenReviewSpec::default() };
        let review = TokenReview { spec, ..TokenReview::default() };
        let review = Api::<TokenReview>::all(self.client.clone()).create(&create, &review).await?;
        let Some(user) = review.status.filter(|s| s.authenticated == Some(true)).and_then(|s| s.user) else {
            return Ok(StatusCode::UNAUTHORIZED);
        };
        let spec = SubjectAccessReviewSpec {
            user: user.username,
            groups: user.groups,
            uid: user.uid,
            extra: user.extra,
            non_resource_attributes: Some(NonResourceAttributes { path: Some(path.into()), verb: Some(verb.into()) }),
            ..SubjectAccessReviewSpec::default()
        };
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let review = Api::<SubjectAccessReview>::all(self.client.clone()).create(&create, &review).await?;
        Ok(if review.status.is_some_and(|s| s.allowed) { StatusCode::OK } else { StatusCode::FORBIDDEN })
    }
}

#[cfg(test)]
mod tests;
