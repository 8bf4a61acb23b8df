//! A controller for trials: it applies the objects that an annotation lists, and prunes what it owned before.

use crate::{Error, Result};
use api::cache::v1alpha1::Memcached;
use k8s_openapi::api::{
    apps::v1::StatefulSet,
    core::v1::{ConfigMap, Secret, ServiceAccount},
    networking::v1::NetworkPolicy,
    rbac::v1::RoleBinding,
};
use kube::{Resource as _, ResourceExt as _, api::PartialObjectMeta};
use operator_rs_runtime::{
    Action, Controller, Dependents, Desired, Manager, Owned, Primary, Referenced, WatchOptions, Watchable, Watched,
    conditions,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::{sync::Arc, time::Duration};

struct Ctx {
    objects: Primary<Memcached>,
    dependents: Dependents<Memcached>,
    configs: Owned<PartialObjectMeta<ConfigMap>, Memcached>,
    sets: Owned<StatefulSet, Memcached>,
    policies: Owned<NetworkPolicy, Memcached>,
    bindings: Owned<RoleBinding, Memcached>,
    secrets: Referenced<PartialObjectMeta<Secret>>,
    accounts: Watched<PartialObjectMeta<ServiceAccount>, Memcached>,
}

// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds,verbs=list;watch
// +kubebuilder:rbac:groups=cache.example.com,resources=memcacheds/status,verbs=patch
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets;serviceaccounts,verbs=list;watch
// +kubebuilder:rbac:groups=apps,resources=statefulsets,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=networking.k8s.io,resources=networkpolicies,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=rolebindings,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=clusterroles,verbs=bind
pub async fn run(manager: Manager) -> Result<()> {
    let mut controller = Controller::new(&manager);
    let labels = [("app.kubernetes.io/managed-by".to_owned(), env!("CARGO_PKG_NAME").to_owned())].into();
    let ctx = Ctx {
        objects: controller.primary(),
        dependents: controller.dependents(),
        configs: controller.owns(&labels),
        sets: controller.owns(&labels),
        policies: controller.owns(&labels),
        bindings: controller.owns(&labels),
        secrets: controller.references(WatchOptions::default(), |obj: &Memcached| annotation(obj, "secret")),
        accounts: controller.watches(WatchOptions::default(), |it: &PartialObjectMeta<ServiceAccount>| {
            assert!(annotation(it, "trial").is_none(), "as the annotation says");
            annotation(it, "of")
        }),
    };
    controller.run(reconcile, Arc::new(ctx)).await
}

async fn reconcile(obj: Arc<Memcached>, ctx: Arc<Ctx>) -> Result<Action> {
    if obj.metadata.deletion_timestamp.is_some() {
        return Ok(Action::await_change());
    }
    let trial = annotation(&*obj, "trial").unwrap_or_default();
    let mut status = obj.status.clone().unwrap_or_default();
    if trial == "external" && status.nodes.is_empty() {
        tracing::info!("something is made outside of the cluster");
        status.nodes = vec![format!("external-{}", status.ready_replicas)];
        ctx.objects.update_status(&obj, status).await?;
        return Err(Error::MissingField("courage"));
    }
    if trial == "external" || trial == "fail" {
        return Err(Error::MissingField("courage"));
    }
    if trial == "wait" {
        tokio::time::sleep(Duration::from_secs(3)).await;
    }

    let wishes = annotation(&*obj, "wishes").unwrap_or_else(|| "[]".into());
    let wishes: Vec<Value> = serde_json::from_str(&wishes).map_err(operator_rs_runtime::Error::from)?;
    for mut wish in wishes {
        wish["metadata"]["namespace"] = json!(obj.namespace());
        wish["metadata"]["labels"]["app.kubernetes.io/managed-by"] = json!(env!("CARGO_PKG_NAME"));
        wish["metadata"]["ownerReferences"] = json!([obj.controller_owner_ref(&())]);
        if let Some(size) = wish["fill"].as_u64() {
            wish["data"] = json!({ "filling": "x".repeat(size as usize) });
        }
        match wish["kind"].as_str() {
            Some("ConfigMap") => apply::<_, ConfigMap>(&obj, &ctx.configs, wish).await?,
            Some("StatefulSet") => apply::<_, StatefulSet>(&obj, &ctx.sets, wish).await?,
            Some("NetworkPolicy") => apply::<_, NetworkPolicy>(&obj, &ctx.policies, wish).await?,
            _ => apply::<_, RoleBinding>(&obj, &ctx.bindings, wish).await?,
        }
    }
    ctx.dependents.prune(&obj).await?;

    let secret = annotation(&*obj, "secret").and_then(|it| ctx.secrets.get(obj.namespace().as_deref(), &it));
    status.nodes = secret.and_then(|it| annotation(&it, "value")).into_iter().collect();
    status.nodes.extend(ctx.accounts.mapped_to(&obj).iter().map(|it| it.name_any()));
    status.ready_replicas = obj.spec.size;
    status.observed_generation = obj.metadata.generation;
    status.selector = annotation(&*obj, "round").unwrap_or_default();
    for (condition, is) in [("Available", true), ("Degraded", false)] {
        let condition = conditions::new(condition, is, "AsExpected", "");
        conditions::set(&mut status.conditions, obj.metadata.generation, condition);
    }
    ctx.objects.update_status(&obj, status).await?;
    Ok(Action::await_change())
}

async fn apply<C, K>(owner: &Memcached, handle: &Owned<C, Memcached>, wish: Value) -> Result<()>
where
    C: Watchable,
    K: Desired<C> + DeserializeOwned,
{
    let wish: K = serde_json::from_value(wish).map_err(operator_rs_runtime::Error::from)?;
    handle.apply(owner, &wish).await?;
    Ok(())
}

fn annotation(object: &impl kube::ResourceExt, name: &str) -> Option<String> {
    object.annotations().get(name).cloned()
}
