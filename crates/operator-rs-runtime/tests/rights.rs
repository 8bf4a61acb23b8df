//! The messages of a manager whose account lacks rights.

mod kinds;

use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret};
use kinds::{Operates as _, Thing, config, labels, quiet, thing, until};
use kube::api::PartialObjectMeta;
use operator_rs_runtime::{Action, Controller, Error, Manager};
use operator_rs_testing::{Cluster, Fault, FaultRule};
use std::{io::Write, sync::Arc};

/// Refuses these verbs of these resources.
fn without(cluster: Cluster, rights: &'static [(&'static str, &'static str)]) -> Cluster {
    cluster.with_fault(FaultRule::for_requests(move |it| {
        let slash = if it.subresource.is_empty() { "" } else { "/" };
        let resource = format!("{}{slash}{}", it.resource, it.subresource);
        match rights.contains(&(it.verb, resource.as_str())) {
            true => Some(Fault::Refuse { code: 403 }),
            false => None,
        }
    }))
}

async fn nothing<K>(_: Arc<K>, _: Arc<()>) -> Result<Action, Error> {
    Ok(Action::await_change())
}

async fn things(manager: Manager) -> operator_rs_runtime::Result<()> {
    let mut controller = Controller::<Thing>::new(&manager);
    let _configs = controller.owns::<ConfigMap>(&labels());
    let _secrets = controller
        .references::<Secret, _>(operator_rs_runtime::WatchOptions::default(), |it: &Thing| it.spec.secret.clone());
    let _owned = controller.dependents();
    controller.run(nothing, Arc::new(())).await
}

async fn pods(manager: Manager) -> operator_rs_runtime::Result<()> {
    Controller::<PartialObjectMeta<Pod>>::new(&manager).run(nothing, Arc::new(())).await
}

/// The reason that a process with two controllers ends.
async fn end(cluster: &Cluster) -> String {
    let manager = cluster.manager();
    let result = tokio::try_join!(things(manager.clone()), pods(manager));
    result.unwrap_err().to_string()
}

#[tokio::test]
async fn every_right_that_is_missing_is_named_in_one_run() {
    let all: &[(&str, &str)] = &[
        ("list", "configmaps"),
        ("watch", "configmaps"),
        ("create", "configmaps"),
        ("delete", "configmaps"),
        ("watch", "secrets"),
        ("create", "secrets"),
        ("list", "pods"),
        ("patch", "things.test.dev/status"),
    ];
    let cluster = without(Cluster::default().with_json("things.test.dev", &[thing("a", &[])]), all);
    let marker = |group: &str, resource: &str, verbs: &str| {
        format!("`// +kubebuilder:rbac:groups={group},resources={resource},verbs={verbs}`")
    };
    let (reads, writes) = (
        [
            marker("\"\"", "configmaps", "list;watch"),
            marker("\"\"", "pods", "list"),
            marker("\"\"", "secrets", "watch"),
        ],
        [marker("\"\"", "configmaps", "create;delete"), marker("test.dev", "things/status", "patch")],
    );
    let expected = format!(
        "this account may not list or watch `configmaps`, nor list `pods`, nor watch `secrets`: add {} to the controllers, \
         run `operator-rs manifests`, and deploy again; where the controllers write, they lack {} as well",
        reads.join(", "),
        writes.join(", "),
    );
    assert_eq!(end(&cluster).await, expected);
}

#[tokio::test]
async fn a_server_that_answers_no_review_names_what_it_has_refused() {
    let all: &[(&str, &str)] = &[("list", "pods"), ("create", "selfsubjectaccessreviews.authorization.k8s.io")];
    let end = end(&without(Cluster::default(), all)).await;
    let expected = "this account may not list or watch `pods`: add `// +kubebuilder:rbac:groups=\"\",resources=pods,verbs=\
                    list;watch` to the controller, run `operator-rs manifests`, and deploy again";
    assert_eq!(end, expected);
}

/// A log that a test can read.
#[derive(Clone, Default)]
struct Log(Arc<std::sync::Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn when_a_write_is_refused_all_rights_for_writes_are_named_once() {
    let log = Log::default();
    let writer = log.clone();
    let _guard = tracing::subscriber::set_default(
        tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish(),
    );
    let all: &[(&str, &str)] = &[("create", "configmaps"), ("patch", "configmaps"), ("apply", "configmaps")];
    let things = [thing("a", &[("x", &["k"])]), thing("b", &[("y", &["k"])])];
    let cluster = without(Cluster::default().with_json("things.test.dev", &things), all);
    let manager = cluster.manager();
    let mut controller = Controller::<Thing>::new(&manager);
    let configs = controller.owns::<ConfigMap>(&labels());
    let reconcile = |thing: Arc<Thing>, configs: operator_rs_runtime::Owned<ConfigMap, Thing>| async move {
        for name in thing.spec.configs.keys() {
            configs.apply(&thing, &config(&thing, name)).await?;
        }
        Ok::<_, Error>(Action::await_change())
    };
    let task = tokio::spawn(controller.run(reconcile, configs));
    let text = || String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    let told = "this account lacks permissions: add `// +kubebuilder:rbac:groups=\"\",resources=configmaps,verbs=create;patch`, \
                run `operator-rs manifests`, and deploy again";
    until("told", || text().contains(told)).await;
    quiet().await;
    assert_eq!(text().matches(told).count(), 1);
    manager.stop.cancel();
    task.await.unwrap().unwrap();
}
