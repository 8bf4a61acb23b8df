//! Measures conversions: the time of complete and of partial objects, and the memory of a large review.

#[path = "../../tests/conversion/kinds.rs"]
#[allow(dead_code)]
mod kinds;

use http::Request;
use hyper::body::Bytes;
use kinds::{new, old, v1, v1alpha1};
use operator_rs_runtime::{Component, Identity, Manager, conversion_webhook};
use operator_rs_testing::{Cluster, conversion::ObjectGenerator};
use serde_json::{Value, json};
use std::time::{Duration, Instant};
use tower::ServiceExt;

fn body(version: &str, objects: &[Value]) -> Bytes {
    let review = json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "ConversionReview",
        "request": { "uid": "1", "desiredAPIVersion": version, "objects": objects },
    });
    review.to_string().into()
}

async fn ask(parts: Component, body: Bytes) -> (Duration, Bytes) {
    let manager = Manager::new(Identity { name: "operator", version: "1" }, Cluster::default().client());
    let service = operator_rs_runtime::webhook_service([parts], &manager);
    let request = Request::post("/convert").header("content-type", "application/json").body(body);
    let began = Instant::now();
    let answer = service.oneshot(request.expect("it is valid")).await.expect("infallible").into_body();
    assert!(answer.windows(21).take(300).any(|it| it == br#"{"status":"Success"},"#), "{answer:?}");
    (began.elapsed(), answer)
}

/// The median of several reviews, for an object.
async fn time(parts: impl Fn() -> Component, version: &str, objects: &[Value]) -> Duration {
    let mut times = Vec::new();
    for _ in 0..7 {
        times.push(ask(parts(), body(version, objects)).await.0);
    }
    times.sort();
    times[3] / u32::try_from(objects.len()).unwrap_or(1)
}

/// The same objects, read from text and written by serde alone.
fn serde_alone<K: serde::de::DeserializeOwned + serde::Serialize>(objects: &[Value]) -> Duration {
    let texts: Vec<_> = objects.iter().map(ToString::to_string).collect();
    let began = Instant::now();
    for text in &texts {
        let object: K = serde_json::from_str(text).expect("it is valid");
        assert!(!serde_json::to_string(&object).expect("it is JSON").is_empty());
    }
    began.elapsed() / u32::try_from(objects.len()).unwrap_or(1)
}

/// The most memory since the last call, in kB.
fn high_water() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let _ = std::fs::write("/proc/self/clear_refs", "5");
    let line = status.lines().find(|it| it.starts_with("VmHWM:")).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|it| it.parse().ok()).unwrap_or_default()
}

#[tokio::main]
async fn main() {
    let caches = || conversion_webhook::<new::Cache, old::Cache>();
    let cache = json!({
        "apiVersion": "test.dev/v1alpha1", "kind": "Cache", "metadata": { "name": "a", "annotations": { "a": "x".repeat(1300) } },
        "spec": { "size": 3, "address": "a:1", "secure": true }, "status": { "ready": 3 },
    });
    let mut partial = cache.clone();
    partial["spec"] = json!({ "size": 3 });
    let review = body("test.dev/v1", &vec![cache.clone(); 3000]);
    let (length, _, before) = (review.len() / 1024, high_water(), high_water());
    let (took, answer) = ask(caches(), review).await;
    println!("3000 objects, {length} kB: {} kB more memory with the answer, {took:?}", high_water() - before);
    drop(answer);
    println!("a small kind: {:?} an object", time(caches, "test.dev/v1", &vec![cache.clone(); 1000]).await);
    println!("  by serde alone: {:?}", serde_alone::<old::Cache>(&vec![cache; 1000]));
    println!("  without a field: {:?}", time(caches, "test.dev/v1", &vec![partial; 1000]).await);

    let rich = || conversion_webhook::<v1::Rich, v1alpha1::Rich>();
    let sample = json!({ "apiVersion": "test.dev/v1", "spec": { "body": {
        "internal": { "type": "disk", "path": "/a", "size": 3 }, "adjacent": { "kind": "some", "value": { "a": 1, "b": 2 } },
    } } });
    let mut generator = ObjectGenerator::<v1::Rich>::new(&[sample]);
    let objects: Vec<_> = (0..50).map(|seed| generator.generate(seed)).collect();
    let bytes = objects.iter().map(|it| it.to_string().len()).sum::<usize>() / objects.len();
    println!("a kind with Pods, {bytes} bytes an object: {:?}", time(rich, "test.dev/v1alpha1", &objects).await);
    println!("  by serde alone: {:?}", serde_alone::<v1::Rich>(&objects));
    for missing in ["/spec/body/size", "/spec/body/times", "/spec/body/pods/template", "/spec/body", "/spec"] {
        let (parent, name) = missing.rsplit_once('/').unwrap_or_default();
        let mut parts = objects.clone();
        for part in &mut parts {
            part.pointer_mut(parent).and_then(Value::as_object_mut).and_then(|it| it.remove(name));
        }
        println!("  without {missing}: {:?}", time(rich, "test.dev/v1alpha1", &parts).await);
    }
}
