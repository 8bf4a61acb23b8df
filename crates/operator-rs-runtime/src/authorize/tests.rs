use super::*;
use kube::client::Body;
use serde_json::{Value, json};
use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering::Relaxed},
    },
};

/// Returns an authorizer and the number of its reviews. Its API server knows the tokens `good` and `known`, and lets
/// only `good` read metrics.
fn authorizer() -> (Authorizer, Arc<AtomicUsize>) {
    let reviews = Arc::<AtomicUsize>::default();
    let counted = reviews.clone();
    let api = tower::service_fn(move |request: http::Request<Body>| {
        counted.fetch_add(1, Relaxed);
        async move {
            let token_review = request.uri().path().ends_with("tokenreviews");
            let body = request.into_body().collect_bytes().await.unwrap_or_default();
            let mut review: Value = serde_json::from_slice(&body).unwrap();
            let token = review["spec"]["token"].as_str().unwrap_or_default().to_owned();
            review["status"] = if token_review {
                let authenticated = ["good", "known"].contains(&&*token);
                json!({ "authenticated": authenticated, "user": { "username": token } })
            } else {
                json!({ "allowed": review["spec"]["user"] == "good" })
            };
            Ok::<_, Infallible>(http::Response::new(Body::from(serde_json::to_vec(&review).unwrap())))
        }
    });
    (Authorizer::new(Client::new(api, "default")), reviews)
}

async fn check(authorizer: &Authorizer, token: &str) -> u16 {
    let headers = [(header::AUTHORIZATION, format!("Bearer {token}").parse().unwrap())].into_iter().collect();
    authorizer.check_access(&headers, "get", "/metrics").await.as_u16()
}

#[tokio::test]
async fn metrics_are_for_those_who_may_read_them() {
    let (authorizer, _) = authorizer();
    assert_eq!(authorizer.check_access(&HeaderMap::new(), "get", "/metrics").await, 401);
    assert_eq!(check(&authorizer, "").await, 401);
    assert_eq!(check(&authorizer, "rubbish").await, 401);
    assert_eq!(check(&authorizer, "known").await, 403);
    assert_eq!(check(&authorizer, "good").await, 200);
}

#[tokio::test(start_paused = true)]
async fn a_verdict_holds_for_a_while() {
    let (authorizer, reviews) = authorizer();
    for (after, asked) in [(0, 2), (59, 2), (2, 4)] {
        tokio::time::advance(Duration::from_secs(after)).await;
        assert_eq!((check(&authorizer, "good").await, reviews.load(Relaxed)), (200, asked));
    }
}

#[tokio::test(start_paused = true)]
async fn twenty_thousand_tokens_are_bounded_and_a_good_client_is_served() {
    let (authorizer, reviews) = authorizer();
    assert_eq!(check(&authorizer, "good").await, 200);
    let long = "x".repeat(TOKEN_BYTES + 1);
    assert_eq!((check(&authorizer, &long).await, reviews.load(Relaxed)), (401, 2), "unread");
    let mut refused = 0;
    for i in 0..20_000 {
        let code = check(&authorizer, &format!("token-{i}")).await;
        assert!(matches!(code, 401 | 429), "{code}");
        refused += usize::from(code == 429);
        if i % 100 == 0 {
            tokio::time::advance(Duration::from_secs(1)).await; // 200 s in all: good verdicts run out
            assert_eq!(check(&authorizer, "good").await, 200);
        }
    }
    let reviews = reviews.load(Relaxed);
    assert!(refused > 18_000 && reviews < 1_100, "{refused} refused, {reviews} reviews");
    assert!(authorizer.verdicts.lock().unwrap().len() <= VERDICTS);
}

#[tokio::test(start_paused = true)]
async fn verdicts_are_bounded_and_good_ones_stay() {
    let (authorizer, _) = authorizer();
    assert_eq!(check(&authorizer, "good").await, 200);
    for i in 0..10_000_u64 {
        let mut hash = [0; 32];
        hash[..8].copy_from_slice(&i.to_le_bytes());
        let verdict = CachedVerdict { code: StatusCode::UNAUTHORIZED, reviewed_at: Instant::now() };
        authorizer.cache_verdict(hash, verdict);
        assert!(authorizer.verdicts.lock().unwrap().len() <= VERDICTS);
    }
    let is_authorized = |verdict: &&CachedVerdict| verdict.code == StatusCode::OK;
    assert_eq!(authorizer.verdicts.lock().unwrap().values().filter(is_authorized).count(), 1);
}
