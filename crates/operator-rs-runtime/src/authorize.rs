//! Access to the metrics: asks the API server who a client is and whether it may, as
//! kubebuilder's `WithAuthenticationAndAuthorization` does; nothing in kube does. What that needs of the
//! API server is in `config/rbac/metrics_auth_role.yaml`.
//!
//! Anybody who reaches the port can send tokens: verdicts are kept by the hash of the token, and both
//! they and the questions to the API server are limited. Who had a good verdict lately is not held up
//! by what others send.

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

/// A longer token is refused unread; those of service accounts have about 1 kB.
const TOKEN_BYTES: usize = 8 * 1024;
/// The most verdicts that are kept, of about 70 bytes each.
const VERDICTS: usize = 1000;
/// The most clients without a good verdict that are reviewed at once, and a second.
const REVIEWS: usize = 4;
const REVIEWS_PER_SECOND: f64 = 5.0;
const REVIEWS_BURST: u32 = 20;
/// The longest that a review may take.
const REVIEW_TIME: Duration = Duration::from_secs(5);
/// How long a good verdict holds, and a bad one.
const GOOD: Duration = Duration::from_secs(60);
const BAD: Duration = Duration::from_secs(10);
/// For how long a client that had a good verdict is reviewed without waiting for its turn.
const KNOWN: Duration = Duration::from_secs(10 * 60);

type Key = [u8; 32];

/// Asks who may read what.
pub(crate) struct Authorizer {
    client: Client,
    verdicts: Mutex<HashMap<Key, Verdict>>,
    places: Semaphore,
    rate: RateLimit,
}

#[derive(Clone, Copy, Debug)]
struct Verdict {
    code: StatusCode,
    at: Instant,
}

impl Verdict {
    fn holds(&self) -> bool {
        self.at.elapsed() < if self.code == StatusCode::OK { GOOD } else { BAD }
    }

    fn is_known_good(&self) -> bool {
        self.code == StatusCode::OK && self.at.elapsed() < KNOWN
    }
}

impl Authorizer {
    pub fn new(client: Client) -> Self {
        Self {
            client,
            verdicts: Mutex::default(),
            places: Semaphore::new(REVIEWS),
            rate: RateLimit::new(REVIEWS_PER_SECOND, REVIEWS_BURST),
        }
    }

    /// `200 OK` if who sent these headers may do that.
    pub async fn check(&self, headers: &HeaderMap, verb: &str, path: &str) -> StatusCode {
        let token = headers.get(header::AUTHORIZATION).and_then(|it| it.to_str().ok());
        let token = token.and_then(|it| it.strip_prefix("Bearer ")).filter(|it| (1..=TOKEN_BYTES).contains(&it.len()));
        let Some(token) = token else { return StatusCode::UNAUTHORIZED };
        let mut digest = Context::new(&SHA256);
        for part in [verb, "\n", path, "\n", token] {
            digest.update(part.as_bytes());
        }
        let key: Key = digest.finish().as_ref().try_into().expect("SHA-256 has 32 bytes");
        let verdict = crate::lock(&self.verdicts).get(&key).copied();
        if let Some(verdict) = verdict.filter(Verdict::holds) {
            return verdict.code;
        }
        let _place = match verdict {
            Some(verdict) if verdict.is_known_good() => None,
            _ => match self.places.try_acquire() {
                Ok(place) if self.rate.try_acquire() => Some(place),
                _ => return StatusCode::TOO_MANY_REQUESTS,
            },
        };
        match timeout(REVIEW_TIME, self.review(token, path, verb)).await {
            Ok(Ok(code)) => {
                self.keep(key, Verdict { code, at: Instant::now() });
                code
            }
            Ok(Err(error)) => {
                tracing::warn!(error = explain(&error), "cannot authorize a request for the metrics");
                StatusCode::INTERNAL_SERVER_ERROR
            }
            Err(_) => StatusCode::GATEWAY_TIMEOUT,
        }
    }

    fn keep(&self, key: Key, verdict: Verdict) {
        let mut all = crate::lock(&self.verdicts);
        if all.len() >= VERDICTS {
            all.retain(|_, it| it.holds() || it.is_known_good());
        }
        if all.len() >= VERDICTS {
            all.retain(|_, it| it.is_known_good());
        }
        if all.len() < VERDICTS {
            all.insert(key, verdict);
        }
    }

    async fn review(&self, token: &str, path: &str, verb: &str) -> kube::Result<StatusCode> {
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
