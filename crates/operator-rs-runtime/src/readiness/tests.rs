use super::*;

#[test]
fn caches_count_unless_they_are_ignored() {
    let readiness = Readiness::default();
    let caches = readiness.expect_caches("site");
    assert!(!readiness.is_ready());
    readiness.ignore_caches();
    assert!(readiness.is_ready());
    assert_eq!(readiness.pending(), ["site"], "they are reported all the same");
    let webhooks = readiness.expect("the webhooks to be served");
    caches.ready();
    assert!(!readiness.is_ready(), "everything else counts");
    webhooks.ready();
    assert!(readiness.is_ready());
}

/// An operator whose webhooks convert and validate the kind that its controllers read and write, behind a Service that
/// sends requests only to ready processes.
#[cfg(all(feature = "admission", feature = "conversion"))]
mod own_webhooks {
    use super::*;
    use crate::{
        Action, Component, Controller, Error, Identity, Manager,
        admission::{Validator, Verdict},
        controller_per_namespace, process, webhook_service,
        webhooks::tests::{certificate, flags},
    };
    use kube::{
        Api, CustomResourceExt, ResourceExt,
        api::{Patch, PatchParams},
        core::crd::merge_crds,
    };
    use operator_rs_testing::Cluster;
    use serde_json::{Value, json};
    use std::time::Duration;
    use tokio::time::{Instant, sleep};
    use tokio_util::sync::CancellationToken;
    use tower::ServiceExt;

    const CACHES: &str = "caches.test.dev";

    /// Defines a version of the kind, its validator, and a controller that writes a label to each object.
    macro_rules! version {
        ($version:ident, $other:ident, $name:literal) => {
            mod $version {
                #[derive(kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug)]
                #[kube(group = "test.dev", version = $name, kind = "Cache", namespaced)]
                pub struct CacheSpec {
                    pub size: u32,
                }

                pub struct CacheValidator;
            }

            impl From<$other::Cache> for $version::Cache {
                fn from(from: $other::Cache) -> Self {
                    Self { metadata: from.metadata, spec: $version::CacheSpec { size: from.spec.size } }
                }
            }

            impl Validator for $version::CacheValidator {
                type Object = $version::Cache;

                async fn update(&self, _: &Self::Object, _: &Self::Object, _: &crate::admission::Request) -> Verdict {
                    Ok(())
                }
            }

            impl $version::Cache {
                async fn label(self: Arc<Self>, manager: Arc<Manager>) -> Result<Action, Error> {
                    let api: Api<Self> = Api::namespaced(manager.client.clone(), "n");
                    let label = json!({ "metadata": { "labels": { $name: "seen" } } });
                    api.patch(&self.name_any(), &PatchParams::default(), &Patch::Merge(label)).await?;
                    Ok(Action::await_change())
                }
            }
        };
    }

    version!(v1, v1alpha1, "v1");
    version!(v1alpha1, v1, "v1alpha1");

    fn parts() -> Vec<Component> {
        vec![
            crate::conversion_webhook::<v1::Cache, v1alpha1::Cache>(),
            crate::validating_webhook("/validate-v1", v1::CacheValidator),
            crate::validating_webhook("/validate-v1alpha1", v1alpha1::CacheValidator),
            controller_per_namespace(|manager| Controller::new(&manager).run(v1::Cache::label, Arc::new(manager))),
            controller_per_namespace(|manager| {
                Controller::new(&manager).run(v1alpha1::Cache::label, Arc::new(manager))
            }),
        ]
    }

    fn validators() -> String {
        let webhook = |version: &str| {
            json!({
                "name": format!("vcache-{version}.kb.io"), "admissionReviewVersions": ["v1"], "sideEffects": "None",
                "matchPolicy": "Exact",
                "clientConfig": { "service": {
                    "name": "webhook-service", "namespace": "system", "path": format!("/validate-{version}"),
                } },
                "rules": [{
                    "apiGroups": ["test.dev"], "apiVersions": [version], "operations": ["UPDATE"], "resources": ["caches"],
                }],
            })
        };
        let webhooks = ["v1", "v1alpha1"].map(webhook);
        json!({
            "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
            "metadata": { "name": "validators" }, "webhooks": webhooks,
        })
        .to_string()
    }

    fn crd(stored: &str) -> Value {
        let crd = merge_crds(vec![v1::Cache::crd(), v1alpha1::Cache::crd()], stored).unwrap();
        let mut crd = serde_json::to_value(crd).unwrap();
        let service = json!({ "name": "webhook-service", "namespace": "system", "path": "/convert" });
        crd["spec"]["conversion"] = json!({
            "strategy": "Webhook",
            "webhook": { "clientConfig": { "service": service }, "conversionReviewVersions": ["v1"] },
        });
        crd
    }

    fn manager(cluster: &Cluster) -> Manager {
        Manager {
            elected: CancellationToken::new(),
            ..Manager::new(Identity { name: "operator", version: "1" }, cluster.client())
        }
    }

    fn cluster(stored: &str, readiness: &Readiness) -> Cluster {
        let (webhooks, readiness) = (webhook_service(parts(), &manager(&Cluster::default())), readiness.clone());
        let service = tower::service_fn(move |request| {
            let (webhooks, is_ready) = (webhooks.clone(), readiness.is_ready());
            async move {
                if !is_ready {
                    return Err("no endpoints available for service \"webhook-service\"");
                }
                Ok(webhooks.oneshot(request).await.unwrap_or_else(|never| match never {}))
            }
        });
        let object = json!({
            "apiVersion": format!("test.dev/{stored}"), "kind": "Cache",
            "metadata": { "name": "a", "namespace": "n" }, "spec": { "size": 1 },
        });
        Cluster::default().with_webhooks(&validators(), service).with_crds(&[crd(stored)]).with_json(CACHES, &[object])
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_process_is_not_waiting_for_what_its_webhooks_have_to_answer() {
        let (dir, _) = certificate("own");
        for stored in ["v1", "v1alpha1"] {
            let readiness = Readiness::default();
            let cluster = cluster(stored, &readiness);
            let more = ["--health-probe-bind-address=0", "--graceful-shutdown-timeout=0s"];
            let (flags, _) = flags(&dir, &more).await;
            let mut manager = Manager { readiness, ..manager(&cluster) };
            manager.settings.cache_sync_timeout = Duration::from_secs(5);
            let stop = manager.stop.clone();
            let running = tokio::spawn(async move { process::serve_until_stopped(&manager, &flags, &parts()).await });
            let labels = || cluster.get_json(CACHES, "n", "a").unwrap()["metadata"]["labels"].clone();
            let limit = Instant::now() + Duration::from_secs(20);
            while labels() != json!({ "v1": "seen", "v1alpha1": "seen" }) && !running.is_finished() {
                assert!(Instant::now() < limit, "{}", labels());
                sleep(Duration::from_millis(10)).await;
            }
            stop.cancel();
            running.await.unwrap().unwrap();
        }
        std::fs::remove_dir_all(&dir).unwrap();
    }
}
