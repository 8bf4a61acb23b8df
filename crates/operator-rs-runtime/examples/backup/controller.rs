//! Reconciles `Backup`: a CronJob, the ConfigMap with its script, and an account with the rights that it needs. The
//! snapshots are outside of the cluster, so a finalizer deletes them.

use crate::api::{Backup, BackupStatus};
use k8s_openapi::api::{
    batch::v1::CronJob,
    core::v1::{ConfigMap, Secret, ServiceAccount},
    rbac::v1::{Role, RoleBinding},
};
use kube::{ResourceExt as _, api::PartialObjectMeta};
use operator_rs_runtime::{
    Action, Controller, Dependents, Error, FinalizerEvent, Labels, Manager, Owned, Primary, Referenced, WatchOptions,
    conditions, finalizer,
};
use serde_json::{from_value, json};
use std::{fs, io, path::PathBuf, sync::Arc};

/// Kubernetes keeps a Backup that has this finalizer until its snapshots are deleted.
const FINALIZER: &str = "backup.example.com/snapshots";

/// The handles that `reconcile` needs besides the object.
struct Ctx {
    /// The directory with one directory for each Backup, named for its uid.
    snapshots: PathBuf,
    backups: Primary<Backup>,
    dependents: Dependents<Backup>,
    accounts: Owned<ServiceAccount, Backup>,
    roles: Owned<Role, Backup>,
    bindings: Owned<RoleBinding, Backup>,
    configs: Owned<ConfigMap, Backup>,
    jobs: Owned<CronJob, Backup>,
    /// Metadata is enough to know that a Secret exists, and keeps passwords out of memory.
    secrets: Referenced<PartialObjectMeta<Secret>>,
}

// +kubebuilder:rbac:groups=backup.example.com,resources=backups,verbs=list;watch;patch
// +kubebuilder:rbac:groups=backup.example.com,resources=backups/status,verbs=patch
// +kubebuilder:rbac:groups=batch,resources=cronjobs,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=serviceaccounts,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups=rbac.authorization.k8s.io,resources=roles;rolebindings,verbs=list;watch;create;patch;delete
// +kubebuilder:rbac:groups="",resources=secrets,verbs=list;watch
// Kubernetes lets nobody grant more than they have: `get` is for the Role, the other verbs are for the operator.
// +kubebuilder:rbac:groups="",resources=configmaps,verbs=get;list;watch;create;patch;delete
pub async fn run(manager: Manager, snapshots: PathBuf) -> Result<(), Error> {
    let mut controller = Controller::new(&manager);
    let labels = Labels::from([("app.kubernetes.io/managed-by".into(), "backup-operator".into())]);
    let ctx = Ctx {
        snapshots,
        backups: controller.primary(),
        dependents: controller.dependents(),
        accounts: controller.owns(&labels),
        roles: controller.owns(&labels),
        bindings: controller.owns(&labels),
        configs: controller.owns(&labels),
        jobs: controller.owns(&labels),
        secrets: controller.references(WatchOptions::default(), |backup: &Backup| Some(backup.spec.secret.clone())),
    };
    controller.run(reconcile, Arc::new(ctx)).await
}

async fn reconcile(backup: Arc<Backup>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    finalizer(&ctx.backups, FINALIZER, backup, |event| async {
        match event {
            FinalizerEvent::Apply(backup) => apply(&backup, &ctx).await,
            FinalizerEvent::Cleanup(backup) => delete_snapshots(&backup, &ctx),
        }
    })
    .await
}

async fn apply(backup: &Backup, ctx: &Ctx) -> Result<Action, Error> {
    // Creating the Secret triggers a reconcile.
    let has_secret = ctx.secrets.get(backup.namespace().as_deref(), &backup.spec.secret).is_some();
    ctx.accounts.apply(backup, &account_for(backup)).await?;
    ctx.roles.apply(backup, &role_for(backup)?).await?;
    ctx.bindings.apply(backup, &binding_for(backup)?).await?;
    ctx.configs.apply(backup, &config_for(backup)?).await?;
    let job = ctx.jobs.apply(backup, &job_for(backup, has_secret)?).await?;
    ctx.dependents.prune(backup).await?;
    ctx.backups.update_status(backup, status_for(backup, &job, has_secret)).await?;
    Ok(Action::await_change())
}

/// Runs again after an error or a restart, so what is gone already is fine.
fn delete_snapshots(backup: &Backup, ctx: &Ctx) -> Result<Action, Error> {
    match fs::remove_dir_all(ctx.snapshots.join(backup.uid().unwrap_or_default())) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::transient("SnapshotsLeft", error)),
        _ => Ok(Action::await_change()),
    }
}

fn status_for(backup: &Backup, job: &CronJob, has_secret: bool) -> BackupStatus {
    let generation = backup.metadata.generation;
    let mut status = backup.status.clone().unwrap_or_default();
    status.observed_generation = generation;
    status.last_snapshot = job.status.as_ref().and_then(|it| it.last_successful_time.clone());
    let missing = format!("the Secret `{}` does not exist", backup.spec.secret);
    let (reason, message) = if has_secret { ("Scheduled", "") } else { ("SecretMissing", &*missing) };
    conditions::set(&mut status.conditions, generation, conditions::new("Available", has_secret, reason, message));
    status
}

fn account_for(backup: &Backup) -> ServiceAccount {
    let mut res = ServiceAccount::default();
    res.metadata.name = Some(backup.name_any());
    res
}

/// The script records in its ConfigMap which snapshot was the last one.
fn role_for(backup: &Backup) -> Result<Role, Error> {
    let name = backup.name_any();
    let rule =
        json!({ "apiGroups": [""], "resources": ["configmaps"], "resourceNames": [name], "verbs": ["get", "patch"] });
    Ok(from_value(json!({ "metadata": { "name": name }, "rules": [rule] }))?)
}

fn binding_for(backup: &Backup) -> Result<RoleBinding, Error> {
    let name = backup.name_any();
    Ok(from_value(json!({
        "metadata": { "name": name },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": name },
        "subjects": [{ "kind": "ServiceAccount", "name": name, "namespace": backup.namespace() }],
    }))?)
}

fn config_for(backup: &Backup) -> Result<ConfigMap, Error> {
    let data = json!({ "backup.sh": backup.spec.script });
    Ok(from_value(json!({ "metadata": { "name": backup.name_any() }, "data": data }))?)
}

fn job_for(backup: &Backup, has_secret: bool) -> Result<CronJob, Error> {
    let (name, secret) = (backup.name_any(), &backup.spec.secret);
    let container = json!({
        "name": "backup",
        "image": "docker.io/library/postgres:18",
        "command": ["sh", "-e", "/backup/backup.sh"],
        "env": [
            { "name": "DATABASE", "valueFrom": { "secretKeyRef": { "name": secret, "key": "url" } } },
            { "name": "SNAPSHOTS", "value": backup.uid() },
        ],
        "volumeMounts": [{ "name": "script", "mountPath": "/backup" }],
    });
    let pod = json!({
        "serviceAccountName": name,
        "restartPolicy": "OnFailure",
        "containers": [container],
        "volumes": [{ "name": "script", "configMap": { "name": name } }],
    });
    let job = json!({ "spec": { "template": { "spec": pod } } });
    let spec = json!({ "schedule": backup.spec.schedule, "suspend": !has_secret, "jobTemplate": job });
    Ok(from_value(json!({ "metadata": { "name": name }, "spec": spec }))?)
}
