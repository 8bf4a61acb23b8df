//! Controllers in a cluster that takes away rights, CRDs or namespaces, or is busy.

mod kinds;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kinds::{Operates as _, Running, Thing, condition, labels, make, nothing, thing};
use kube::ResourceExt;
use operator_rs_runtime::{Controller, WatchOptions};
use operator_rs_testing::{Cluster, Fault, FaultRule, Refusal};
use serde_json::json;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep, timeout};

const THINGS: &str = "things.test.dev";

/// The error that a controller ends with, and the time since something was taken from it.
async fn end_of(
    controller: impl Future<Output = operator_rs_runtime::Result<()>> + Send + 'static,
    change: impl AsyncFnOnce(),
) -> (String, Duration) {
    let task = tokio::spawn(controller);
    sleep(Duration::from_secs(1)).await;
    change().await;
    let start = Instant::now();
    let end = timeout(Duration::from_secs(600), task).await.expect("it does not end").unwrap().unwrap_err();
    (end.to_string(), start.elapsed())
}

#[tokio::test(start_paused = true)]
async fn a_right_to_watch_that_was_never_there_ends_the_controller_with_the_reason() {
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[])]).with_fault(FaultRule::for_requests(|it| {
        match (&*it.resource, it.verb) {
            ("secrets", "watch") => Some(Fault::Refuse { code: 403 }),
            _ => None,
        }
    }));
    let mut controller = Controller::<Thing>::new(&cluster.manager());
    let _secrets = controller.watches(WatchOptions::default(), |it: &Secret| [it.name_any()]);
    let (end, after) = end_of(controller.run(nothing, Arc::new(())), async || {}).await;
    assert!(end.starts_with("this account may not watch `secrets`: add `// +kubebuilder:rbac:"), "{end}");
    assert!(after < Duration::from_secs(10), "{after:?}");
}

#[tokio::test(start_paused = true)]
async fn what_is_lost_for_good_ends_the_controller_with_the_reason() {
    for (code, reason) in [
        (403, "this account may not list or watch"),
        (404, "the API server does not serve v1 of `secrets`: install its CRD"),
    ] {
        let lost = Arc::new(AtomicBool::new(false));
        let is_lost = lost.clone();
        let cluster =
            Cluster::default().with_json(THINGS, &[thing("a", &[])]).with_fault(FaultRule::for_requests(move |it| {
                let is_refused = it.resource == "secrets" && is_lost.load(SeqCst);
                if is_refused { Some(Fault::Refuse { code }) } else { None }
            }));
        let mut controller = Controller::<Thing>::new(&cluster.manager());
        let _secrets = controller.watches(WatchOptions::default(), |it: &Secret| [it.name_any()]);
        let lose = async || {
            sleep(Duration::from_secs(300)).await;
            // While a CRD is installed again, or roles are replaced.
            for _ in 0..5 {
                lost.store(true, SeqCst);
                cluster.inject(Fault::EndWatches);
                sleep(Duration::from_secs(60)).await;
                lost.store(false, SeqCst);
                sleep(Duration::from_secs(90)).await;
            }
            lost.store(true, SeqCst);
            cluster.inject(Fault::EndWatches);
        };
        let (end, after) = end_of(controller.run(nothing, Arc::new(())), lose).await;
        assert!(end.starts_with(reason), "{end}");
        assert!(Duration::from_secs(90) < after && after < Duration::from_secs(120), "{after:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_being_deleted_is_no_failure() {
    let why =
        "configmaps \"x\" is forbidden: unable to create new content in namespace n because it is being terminated";
    let causes = json!([{ "reason": "NamespaceTerminating", "message": "namespace n is being terminated", "field": "metadata.namespace" }]);
    let refusal = Refusal { details: json!({ "causes": causes }), ..Refusal::new(403, "Forbidden", why) };
    let cluster =
        Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]).with_fault(FaultRule::for_writes(
            move |it| if it.resource == THINGS { None } else { Some(Fault::RefuseWith(refusal.clone())) },
        ));
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&manager, controller.run(make, configs));
    sleep(Duration::from_secs(600)).await;
    assert!(1 < cluster.count_writes("PATCH configmaps"));
    assert_eq!((condition(&cluster, "a", "Degraded"), cluster.count_writes("POST events.events.k8s.io")), (None, 0));
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_server_that_is_busy_is_left_alone_for_as_long_as_it_asks() {
    let refusal = Refusal { details: json!({ "retryAfterSeconds": 5 }), ..Refusal::with_code(429) };
    let cluster = Cluster::default().with_json(THINGS, &[thing("a", &[("x", &["k"])])]).with_fault(
        FaultRule::for_writes(move |it| {
            if it.resource == "configmaps" { Some(Fault::RefuseWith(refusal.clone())) } else { None }
        }),
    );
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns::<ConfigMap>(&labels());
    let running = Running::start(&manager, controller.run(make, configs));
    sleep(Duration::from_secs(12)).await;
    assert_eq!(cluster.count_writes("PATCH configmaps"), 3);
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_standby_leaves_events_about_undecodable_objects_to_the_leader() {
    let mut bad = thing("bad", &[]);
    bad["spec"]["secret"] = json!(7);
    let cluster = Cluster::default().with_json(THINGS, &[bad]);
    let mut manager = cluster.manager();
    manager.elected = Default::default();
    let running = Running::start(&manager, Controller::<Thing>::new(&manager).run(nothing, Arc::new(())));
    sleep(Duration::from_secs(10)).await;
    assert_eq!(cluster.list_json("events.events.k8s.io").len(), 0);
    manager.elected.cancel();
    sleep(Duration::from_secs(1)).await;
    assert_eq!(cluster.list_json("events.events.k8s.io").len(), 1);
    let counted = "controller_runtime_terminal_reconcile_errors_total{controller=\"thing\"} 1";
    assert!(manager.metrics.encode().contains(counted), "{}", manager.metrics.encode());
    running.stop().await;
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_not_served_is_named_with_those_that_are() {
    let answer = |path: &str| match path {
        "/apis" => {
            let version = |name: &str| json!({ "groupVersion": format!("test.dev/{name}"), "version": name });
            json!({ "kind": "APIGroupList", "groups": [{ "name": "test.dev", "versions": [version("v2"), version("v1")] }] })
        }
        "/apis/test.dev/v2" | "/apis/test.dev/v1" => {
            let thing =
                json!({ "name": "things", "kind": "Thing", "namespaced": true, "verbs": [], "singularName": "" });
            let resources = if path.ends_with("v2") { json!([thing]) } else { json!([]) };
            json!({ "kind": "APIResourceList", "groupVersion": &path["/apis/".len()..], "resources": resources })
        }
        _ => {
            json!({ "kind": "Status", "status": "Failure", "code": 404, "reason": "NotFound", "message": "not found" })
        }
    };
    let server = tower::service_fn(move |request: http::Request<kube::client::Body>| async move {
        let body = answer(request.uri().path());
        let code = if body["code"] == 404 { 404 } else { 200 };
        let body = kube::client::Body::from(body.to_string().into_bytes());
        Ok::<_, std::convert::Infallible>(http::Response::builder().status(code).body(body).unwrap())
    });
    let identity = operator_rs_runtime::Identity { name: "operator", version: "0.0.0" };
    let manager = operator_rs_runtime::Manager::new(identity, kube::Client::new(server, "default"));
    let (end, _) = end_of(Controller::<Thing>::new(&manager).run(nothing, Arc::new(())), async || {}).await;
    let message = "the API server serves `things.test.dev` in v2, but not in v1, which a controller reads: let the \
                   controller use a served version, or remove `served = false` from `#[kube(…)]` of v1 and install the CRD";
    assert_eq!(end, message);
}
