use super::*;
use crate::{cluster_controller, controller_per_namespace, leader_election::LeaderElection, lease::tests::Server};
use std::{
    future::pending,
    sync::atomic::{AtomicUsize, Ordering::SeqCst},
};
use tokio::time::sleep;

fn manager(server: &Server, identity: &str) -> (Manager, LeaderElection) {
    let manager = Manager {
        elected: CancellationToken::new(),
        ..Manager::new(Identity { name: "operator", version: "1" }, server.client_of(identity))
    };
    let config = LeaderElection { identity: identity.into(), ..LeaderElection::new("operator", &manager.client) };
    (manager, config)
}

fn plan(config: LeaderElection, warm: bool) -> Plan {
    Plan { election: Some(config), warm, grace: Duration::from_secs(30) }
}

/// Runs a controller until it is stopped, and a little longer.
async fn controller(manager: Manager) -> anyhow::Result<()> {
    manager.stop.cancelled().await;
    sleep(Duration::from_secs(7)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_warm_standby_runs_its_controllers_and_leads_when_the_leader_ends() {
    let server = Server::default();
    let (a, config) = manager(&server, "a");
    let first = tokio::spawn({
        let a = a.clone();
        async move { plan(config, true).run(&a, a.readiness.expect("start"), || controller(a.clone())).await }
    });
    a.elected.cancelled().await;
    let (b, config) = manager(&server, "b");
    let (ran, second) = (CancellationToken::new(), b.clone());
    let running = ran.clone();
    tokio::spawn(async move {
        let controllers = || async {
            running.cancel();
            pending().await
        };
        plan(config, true).run(&second, second.readiness.expect("start"), controllers).await
    });
    ran.cancelled().await;
    sleep(Duration::from_secs(60)).await;
    assert!(!b.elected.is_cancelled());
    a.stop.cancel();
    sleep(Duration::from_secs(5)).await;
    assert!(!b.elected.is_cancelled(), "the reconciles of the first still run");
    first.await.unwrap().unwrap();
    timeout(Duration::from_secs(5), b.elected.cancelled()).await.expect("the Lease was released");
}

#[tokio::test(start_paused = true)]
async fn a_cold_standby_is_ready_and_starts_nothing() {
    let server = Server::default();
    let (a, config) = manager(&server, "a");
    let _leads = config.acquire(&a.client, &a.stop).await.unwrap().unwrap();
    let (b, config) = manager(&server, "b");
    let starting = b.readiness.expect("start");
    let stop = b.stop.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(60)).await;
        stop.cancel();
    });
    let started = || async { unreachable!("it does not lead") };
    plan(config, false).run(&b, starting, started).await.unwrap();
    assert!(b.readiness.pending().is_empty() && !b.elected.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_released_when_a_controller_fails() {
    for warm in [true, false] {
        let server = Server::default();
        let (a, config) = manager(&server, "a");
        let elected = a.elected.clone();
        let failing = || async {
            if warm {
                elected.cancelled().await;
            }
            anyhow::bail!("the CRD is not installed")
        };
        let error = plan(config, warm).run(&a, a.readiness.expect("start"), failing).await.unwrap_err();
        assert_eq!(explain(error.as_ref()), "the CRD is not installed");
        let (b, config) = manager(&server, "b");
        let acquired = config.acquire(&b.client, &b.stop);
        timeout(Duration::from_millis(100), acquired).await.expect("it was released").unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn reconciles_that_do_not_end_get_the_time_of_grace() {
    let server = Server::default();
    let (a, config) = manager(&server, "a");
    a.stop.cancel();
    let start = tokio::time::Instant::now();
    plan(config.clone(), true).run(&a, a.readiness.expect("start"), pending).await.unwrap();
    assert_eq!(start.elapsed().as_secs(), 30);
    let now = Plan { election: None, warm: true, grace: Duration::ZERO };
    timeout(Duration::from_millis(100), now.run(&a, a.readiness.expect("start"), pending)).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn who_loses_the_lease_ends_at_once_with_the_reason() {
    let server = Server::default();
    let (a, config) = manager(&server, "a");
    let hangs = server.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(60)).await;
        hangs.hang("a");
    });
    let start = tokio::time::Instant::now();
    let error = plan(config, true).run(&a, a.readiness.expect("start"), pending).await.unwrap_err();
    assert_eq!(explain(error.as_ref()), "lost the Lease: it could not be renewed in time");
    assert!(start.elapsed() < Duration::from_secs(60 + 10 + 1), "{:?}", start.elapsed());
}

#[tokio::test(start_paused = true)]
async fn when_one_controller_fails_the_others_end_well() {
    let (manager, _) = manager(&Server::default(), "a");
    let fails = controller_per_namespace(async |_| {
        Err::<(), _>(crate::Error::ControllerFailed("the CRD is not installed".into()))
    });
    let ended = CancellationToken::new();
    let other = ended.clone();
    let ends = cluster_controller(move |manager| {
        let other = other.clone();
        async move {
            controller(manager).await?;
            other.cancel();
            Ok::<_, anyhow::Error>(())
        }
    });
    let scope = "a,b,a".parse().unwrap();
    let error = run_all(&manager, &scope, &[fails, ends]).await.unwrap_err();
    assert_eq!(error.to_string(), "the CRD is not installed");
    assert!(ended.is_cancelled());
}

#[cfg(feature = "admission")]
#[tokio::test(start_paused = true)]
async fn a_dry_run_ends_without_serving_webhooks() {
    let (manager, _) = manager(&Server::default(), "a");
    let webhook = crate::webhooks::Webhook::Admission { path: "/a".into(), review: Arc::new(|_, _| unreachable!()) };
    let (scope, parts) = ("".parse().unwrap(), [webhook.into()]);
    let dry_run = dry_run(manager.into_dry_run(), &scope, &parts);
    timeout(Duration::from_secs(1), dry_run).await.expect("it does not wait for a signal").unwrap();
}

/// Computes in one task after another.
fn keep_computing(tasks: Arc<AtomicUsize>) {
    tokio::spawn(async move {
        std::thread::sleep(Duration::from_millis(2));
        tasks.fetch_add(1, SeqCst);
        keep_computing(tasks);
    });
}

#[test]
fn timers_expire_in_time_while_reconciles_compute_on_all_threads() {
    let runtime = build_runtime().unwrap();
    let tasks = Arc::new(AtomicUsize::new(0));
    let late = runtime.block_on(async {
        (0..8).for_each(|_| keep_computing(tasks.clone()));
        let timers = async move {
            let mut most = 0;
            for _ in 0..20 {
                let before = tasks.load(SeqCst);
                sleep(Duration::from_millis(1)).await;
                most = most.max(tasks.load(SeqCst) - before);
            }
            most
        };
        tokio::spawn(timers).await.unwrap()
    });
    runtime.shutdown_background();
    // Eight tasks wait in the queues, and the next ones of the same thread may run first.
    assert!(late < 40, "{late} tasks ran before a timer of 1 ms expired");
}
