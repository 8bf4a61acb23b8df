use crate::sites::{Running, SITES, cluster, site, until};
use operator::controller::recreate_a_dependent::run;
use operator_rs_testing::{Fault, FaultRule};
use serde_json::json;
use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

const JOBS: &str = "jobs.batch";

#[tokio::test]
async fn a_job_whose_template_changes_is_another_one() {
    let is_frozen = Arc::new(AtomicBool::new(false));
    let frozen = is_frozen.clone();
    // As the API server does: the template of a Job cannot be changed.
    let cluster =
        cluster(&[site("shop", json!({ "domains": ["a.com"] }))]).with_fault(FaultRule::for_writes(move |it| {
            if it.resource == JOBS && it.verb == "delete" {
                frozen.store(false, Ordering::SeqCst);
            }
            let is_change = it.resource == JOBS && it.verb == "apply";
            if is_change && frozen.load(Ordering::SeqCst) { Some(Fault::Refuse { code: 422 }) } else { None }
        }));
    let job = || cluster.get_json(JOBS, "default", "shop");
    let args = || job().map(|it| it["spec"]["template"]["spec"]["containers"][0]["args"].clone());
    let running = Running::start(&cluster, run);
    until("created", || args() == Some(json!(["https://a.com"]))).await;
    let first = job().map(|it| it["metadata"]["uid"].clone());
    is_frozen.store(true, Ordering::SeqCst);
    cluster.edit_json(SITES, "default", "shop", |it| it["spec"]["domains"] = json!(["b.com"]));
    until("recreated", || args() == Some(json!(["https://b.com"]))).await;
    assert_ne!(job().map(|it| it["metadata"]["uid"].clone()), first);
    running.stop().await;
}
