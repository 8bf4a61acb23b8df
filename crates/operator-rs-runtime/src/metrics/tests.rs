use super::*;

#[tokio::test]
async fn reconciles_are_counted_under_the_names_of_controller_runtime() {
    let metrics = Metrics::default();
    let controller = metrics.controller("memcached");
    controller.observe_reconcile::<Error>(async { Ok(Action::await_change()) }).await.unwrap();
    controller.observe_reconcile(async { Err(Error::Panic("boom".into())) }).await.unwrap_err();
    controller.observe_reconcile(async { Err(Error::Timeout(Duration::ZERO)) }).await.unwrap_err();
    let text = metrics.encode();
    for line in [
        "controller_runtime_reconcile_total{controller=\"memcached\",result=\"success\"} 1",
        "controller_runtime_reconcile_total{controller=\"memcached\",result=\"error\"} 2",
        "controller_runtime_reconcile_errors_total{controller=\"memcached\"} 2",
        "controller_runtime_reconcile_panics_total{controller=\"memcached\"} 1",
        "controller_runtime_reconcile_timeouts_total{controller=\"memcached\"} 1",
        "controller_runtime_reconcile_time_seconds_count{controller=\"memcached\"} 3",
        "controller_runtime_active_workers{controller=\"memcached\"} 0",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
}

/// The queries of the panels of kubebuilder's Grafana plugin (controller-runtime-metrics.json and
/// controller-resources-metrics.json), and the rest of what controller-runtime 0.24 has of its own;
/// all of it is there before anything is counted.
#[test]
fn the_panels_of_kubebuilder_find_their_series() {
    let metrics = Metrics::default();
    metrics.controller("it").max_concurrent(3);
    metrics.count_request("200", "GET", "10.0.0.1:443");
    metrics.set_leader("operator", true);
    let text = metrics.encode();
    let queue = "{name=\"it\",controller=\"it\"} 0";
    for (series, value) in [
        ("controller_runtime_active_workers", "{controller=\"it\"} 0"),
        ("controller_runtime_reconcile_total", "{controller=\"it\",result=\"success\"} 0"),
        ("controller_runtime_reconcile_total", "{controller=\"it\",result=\"requeue\"} 0"),
        ("controller_runtime_reconcile_total", "{controller=\"it\",result=\"requeue_after\"} 0"),
        ("controller_runtime_reconcile_total", "{controller=\"it\",result=\"error\"} 0"),
        ("controller_runtime_reconcile_errors_total", "{controller=\"it\"} 0"),
        ("controller_runtime_terminal_reconcile_errors_total", "{controller=\"it\"} 0"),
        ("controller_runtime_reconcile_panics_total", "{controller=\"it\"} 0"),
        ("controller_runtime_reconcile_timeouts_total", "{controller=\"it\"} 0"),
        ("controller_runtime_max_concurrent_reconciles", "{controller=\"it\"} 3"),
        ("controller_runtime_reconcile_time_seconds_bucket", "{le=\"60.0\",controller=\"it\"} 0"),
        ("workqueue_depth", queue),
        ("workqueue_adds_total", queue),
        ("workqueue_retries_total", queue),
        ("workqueue_queue_duration_seconds_bucket", "{le=\"+Inf\",name=\"it\",controller=\"it\"} 0"),
        ("workqueue_work_duration_seconds_bucket", "{le=\"+Inf\",name=\"it\",controller=\"it\"} 0"),
        ("workqueue_unfinished_work_seconds", "{name=\"it\",controller=\"it\"} 0.0"),
        ("workqueue_longest_running_processor_seconds", "{name=\"it\",controller=\"it\"} 0.0"),
        ("rest_client_requests_total", "{code=\"200\",method=\"GET\",host=\"10.0.0.1:443\"} 1"),
        ("leader_election_master_status", "{name=\"operator\"} 1"),
        ("process_cpu_seconds_total", " "),
        ("process_resident_memory_bytes", " "),
        ("process_start_time_seconds", " "),
        ("process_open_fds", " "),
    ] {
        assert!(text.contains(&format!("\n{series}{value}")), "{series}{value} is not in\n{text}");
    }
}

#[tokio::test]
async fn what_runs_is_measured_when_it_is_asked_for() {
    let metrics = Metrics::default();
    let controller = metrics.controller("it");
    let running = tokio::spawn({
        let controller = controller.clone();
        async move { controller.observe_reconcile::<Error>(std::future::pending()).await }
    });
    tokio::task::yield_now().await;
    assert_eq!(controller.series.running.lock().unwrap().len(), 1);
    controller.series.running.lock().unwrap()[0] -= Duration::from_secs(7);
    let longest = "workqueue_longest_running_processor_seconds{name=\"it\",controller=\"it\"} 7";
    assert!(metrics.encode().contains(longest));
    running.abort();
    running.await.unwrap_err();
    assert!(metrics.encode().contains("controller_runtime_active_workers{controller=\"it\"} 0"));
}

#[test]
fn the_queues_of_one_controller_in_two_namespaces_add_up() {
    let metrics = Metrics::default();
    let (a, b) = (metrics.controller("it"), metrics.controller("it"));
    a.queue_depth(3);
    b.queue_depth(4);
    a.queue_depth(1);
    assert!(metrics.encode().contains("workqueue_depth{name=\"it\",controller=\"it\"} 5\n"));
}
