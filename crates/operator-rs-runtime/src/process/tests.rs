use super::*;
use crate::{cluster_wide, leader, lease::tests::Server, per_namespace};
use std::future::pending;
use tokio::time::sleep;

fn operator(server: &Server, identity: &str) -> (Operator, leader::Config) {
    let operator = Operator {
        leading: CancellationToken::new(),
        ..Operator::new(Identity { name: "operator", version: "1" }, server.client_of(identity))
    };
    let config = leader::Config { identity: identity.into(), ..leader::Config::new("operator", &operator.client) };
    (operator, config)
}

fn plan(config: leader::Config, warm: bool) -> Plan {
    Plan { election: Some(config), warm, grace: Duration::from_secs(30) }
}

/// Runs until it is stopped, and a little longer.
async fn controller(operator: Operator) -> anyhow::Result<()> {
    operator.stop.cancelled().await;
    sleep(Duration::from_secs(7)).await;
    Ok(())
}

#[tokio::test(start_paused = true)]
async fn a_warm_standby_runs_its_controllers_and_leads_when_the_leader_ends() {
    let server = Server::default();
    let (a, config) = operator(&server, "a");
    let first = tokio::spawn({
        let a = a.clone();
        async move { plan(config, true).run(&a, a.readiness.expect("start"), || controller(a.clone())).await }
    });
    a.leading.cancelled().await;
    let (b, config) = operator(&server, "b");
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
    assert!(!b.leading.is_cancelled());
    a.stop.cancel();
    sleep(Duration::from_secs(5)).await;
    assert!(!b.leading.is_cancelled(), "the reconciles of the first still run");
    first.await.unwrap().unwrap();
    timeout(Duration::from_secs(5), b.leading.cancelled()).await.expect("the Lease was released");
}

#[tokio::test(start_paused = true)]
async fn a_cold_standby_is_ready_and_starts_nothing() {
    let server = Server::default();
    let (a, config) = operator(&server, "a");
    let _leads = leader::acquire(a.client.clone(), config, Arc::default(), a.stop.clone()).await.unwrap().unwrap();
    let (b, config) = operator(&server, "b");
    let starting = b.readiness.expect("start");
    let stop = b.stop.clone();
    tokio::spawn(async move {
        sleep(Duration::from_secs(60)).await;
        stop.cancel();
    });
    let started = || async { unreachable!("it does not lead") };
    plan(config, false).run(&b, starting, started).await.unwrap();
    assert!(b.readiness.pending().is_empty() && !b.leading.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn the_lease_is_released_when_a_controller_fails() {
    for warm in [true, false] {
        let server = Server::default();
        let (a, config) = operator(&server, "a");
        let leading = a.leading.clone();
        let failing = || async {
            if warm {
                leading.cancelled().await;
            }
            anyhow::bail!("the CRD is not installed")
        };
        let error = plan(config, warm).run(&a, a.readiness.expect("start"), failing).await.unwrap_err();
        assert_eq!(explain(error.as_ref()), "the CRD is not installed");
        let (b, config) = operator(&server, "b");
        let acquired = leader::acquire(b.client, config, Arc::default(), b.stop);
        timeout(Duration::from_millis(100), acquired).await.expect("it was released").unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn reconciles_that_do_not_end_get_the_time_of_grace() {
    let server = Server::default();
    let (a, config) = operator(&server, "a");
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
    let (a, config) = operator(&server, "a");
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
    let (operator, _) = operator(&Server::default(), "a");
    let fails = per_namespace(async |_| anyhow::bail!("the CRD is not installed"));
    let ended = CancellationToken::new();
    let other = ended.clone();
    let ends = cluster_wide(move |operator| {
        let other = other.clone();
        async move {
            controller(operator).await?;
            other.cancel();
            Ok(())
        }
    });
    let scope = "a,b,a".parse().unwrap();
    let error = run_all(&operator, &scope, &[fails, ends]).await.unwrap_err();
    assert_eq!(error.to_string(), "the CRD is not installed");
    assert!(ended.is_cancelled());
}

#[cfg(feature = "admission")]
#[tokio::test(start_paused = true)]
async fn a_dry_run_ends_without_serving_webhooks() {
    let (operator, _) = operator(&Server::default(), "a");
    let webhook = crate::webhooks::Webhook::Admission { path: "/a".into(), review: Arc::new(|_, _| unreachable!()) };
    let (scope, parts) = ("".parse().unwrap(), [webhook.into()]);
    let dry_run = dry_run(operator.into_dry_run(), &scope, &parts);
    timeout(Duration::from_secs(1), dry_run).await.expect("it does not wait for a signal").unwrap();
}
