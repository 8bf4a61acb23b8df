use crate::sites::{Running, cluster, reconciled, site, until};
use futures::channel::mpsc;
use kube::runtime::reflector::ObjectRef;
use operator::controller::react_to_other_systems::run_with;
use serde_json::json;

#[tokio::test]
async fn a_site_is_reconciled_when_it_is_named() {
    let cluster = cluster(&[site("shop", json!({})), site("other", json!({}))]);
    let (sender, changes) = mpsc::unbounded();
    let running = Running::start(&cluster, |manager| run_with(manager, changes));
    until("reconciled", || reconciled(&running.manager) == 2).await;
    sender.unbounded_send(ObjectRef::new("nobody").within("default")).unwrap();
    sender.unbounded_send(ObjectRef::new("shop").within("default")).unwrap();
    until("triggered", || reconciled(&running.manager) == 3).await;
    running.stop().await;
}
