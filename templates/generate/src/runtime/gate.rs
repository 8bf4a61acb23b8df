//! Who may read the metrics: asks the API server who a client is and whether it may, as
//! kubebuilder's `WithAuthenticationAndAuthorization` does. What that needs of the API server is in
//! `config/rbac/metrics_auth_role.yaml`.

use axum::{
    extract::{Request, State},
    http::{StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use k8s_openapi::api::{
    authentication::v1::{TokenReview, TokenReviewSpec},
    authorization::v1::{NonResourceAttributes, SubjectAccessReview, SubjectAccessReviewSpec},
};
use kube::{Api, Client, api::PostParams};
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};

pub struct Gate {
    client: Client,
    /// By token and path, until when.
    verdicts: Mutex<HashMap<(String, String), (StatusCode, Instant)>>,
}

/// Lets a request pass, or not.
pub async fn authorize(State(gate): State<Arc<Gate>>, request: Request, next: Next) -> Response {
    let token = request.headers().get(header::AUTHORIZATION).and_then(|v| v.to_str().ok());
    let Some(token) = token.and_then(|v| v.strip_prefix("Bearer ")).map(str::to_owned) else {
        return StatusCode::UNAUTHORIZED.into_response();
    };
    let path = request.uri().path().to_owned();
    let verb = request.method().as_str().to_lowercase();
    match gate.verdict(token, path, verb).await {
        StatusCode::OK => next.run(request).await,
        denied => denied.into_response(),
    }
}

impl Gate {
    pub fn new(client: Client) -> Arc<Self> {
        Arc::new(Self { client, verdicts: Mutex::default() })
    }

    async fn verdict(&self, token: String, path: String, verb: String) -> StatusCode {
        let key = (token.clone(), format!("{verb} {path}"));
        let now = Instant::now();
        {
            let mut known = self.verdicts.lock().expect("not poisoned");
            known.retain(|_, (_, until)| *until > now);
            if let Some((verdict, _)) = known.get(&key) {
                return *verdict;
            }
        }
        let verdict = match tokio::time::timeout(Duration::from_secs(5), self.review(token, path, verb)).await {
            Ok(Ok(verdict)) => verdict,
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot review a metrics client");
                return StatusCode::INTERNAL_SERVER_ERROR;
            }
            Err(_) => return StatusCode::GATEWAY_TIMEOUT,
        };
        let ttl = Duration::from_secs(if verdict == StatusCode::OK { 60 } else { 10 });
        let mut known = self.verdicts.lock().expect("not poisoned");
        if known.len() < 1000 {
            known.insert(key, (verdict, now + ttl));
        }
        verdict
    }

    async fn review(&self, token: String, path: String, verb: String) -> kube::Result<StatusCode> {
        let create = PostParams::default();
        let spec = TokenReviewSpec { token: Some(token), ..TokenReviewSpec::default() };
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
            non_resource_attributes: Some(NonResourceAttributes { path: Some(path), verb: Some(verb) }),
            ..SubjectAccessReviewSpec::default()
        };
        let review = SubjectAccessReview { spec, ..SubjectAccessReview::default() };
        let review = Api::<SubjectAccessReview>::all(self.client.clone()).create(&create, &review).await?;
        Ok(if review.status.is_some_and(|s| s.allowed) { StatusCode::OK } else { StatusCode::FORBIDDEN })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, body::Body, middleware, routing::get};
    use kube::client::Body as ApiBody;
    use serde_json::json;
    use std::convert::Infallible;
    use tower::ServiceExt;

    /// What a scrape with this token gets, where `good` may read metrics and `known` is somebody.
    async fn scrape(token: Option<&str>) -> StatusCode {
        let api = tower::service_fn(|request: axum::http::Request<ApiBody>| async move {
            let token_review = request.uri().path().ends_with("tokenreviews");
            let body = request.into_body().collect_bytes().await.unwrap_or_default();
            let mut review: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let token = review["spec"]["token"].as_str().unwrap_or_default().to_owned();
            review["status"] = if token_review {
                json!({ "authenticated": token != "rubbish", "user": { "username": token } })
            } else {
                json!({ "allowed": review["spec"]["user"] == "good" })
            };
            let body = ApiBody::from(serde_json::to_vec(&review).unwrap());
            Ok::<_, Infallible>(axum::http::Response::new(body))
        });
        let gate = Gate::new(Client::new(api, "default"));
        let app = Router::new().route("/metrics", get(|| async { "" }));
        let app = app.layer(middleware::from_fn_with_state(gate, authorize));
        let mut request = Request::builder().uri("/metrics");
        if let Some(token) = token {
            request = request.header(header::AUTHORIZATION, format!("Bearer {token}"));
        }
        app.oneshot(request.body(Body::empty()).unwrap()).await.unwrap().status()
    }

    #[tokio::test]
    async fn metrics_are_for_those_who_may_read_them() {
        assert_eq!(scrape(None).await, StatusCode::UNAUTHORIZED);
        assert_eq!(scrape(Some("rubbish")).await, StatusCode::UNAUTHORIZED);
        assert_eq!(scrape(Some("known")).await, StatusCode::FORBIDDEN);
        assert_eq!(scrape(Some("good")).await, StatusCode::OK);
    }
}
