//! `load server|controller N`: N objects with three dependents each on the API server in memory. `server` writes what a
//! controller would, so that the difference of the two is the controller's part. `load controllers N` prints the memory of
//! N controllers, at most ten, each of its own kind with ten objects.

use futures::{StreamExt, stream};
use k8s_openapi::{
    api::{
        apps::v1::Deployment,
        core::v1::{ConfigMap, Service},
    },
    apimachinery::pkg::apis::meta::v1::Condition,
};
use kube::{
    Api, CustomResource, Resource, ResourceExt,
    api::{Patch, PatchParams},
};
use operator_rs_runtime::{
    Action, Controller, Dependents, Error, Identity, Labels, Manager, Owned, Primary, conditions,
};
use operator_rs_testing::{Cluster, FaultRule};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use std::{
    collections::HashMap,
    fs,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tokio::time::{interval, sleep};

#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, Default)]
#[kube(group = "test.dev", version = "v1", kind = "Thing", namespaced, status = "ThingStatus", schema = "disabled")]
pub struct ThingSpec {
    value: String,
}

#[derive(Serialize, Deserialize, Clone, Debug, Default, PartialEq)]
pub struct ThingStatus {
    #[serde(default)]
    conditions: Vec<Condition>,
}

const THINGS: &str = "things.test.dev";

struct Ctx {
    things: Primary<Thing>,
    dependents: Dependents<Thing>,
    configs: Owned<ConfigMap, Thing>,
    services: Owned<Service, Thing>,
    deployments: Owned<Deployment, Thing>,
}

fn labels() -> Labels {
    Labels::from([("app.kubernetes.io/managed-by".into(), "load".into())])
}

/// A dependent as its Thing wants it.
fn dependent<C: DeserializeOwned>(thing: &Thing, content: Value) -> C {
    let mut object = content;
    object["metadata"] = json!({
        "name": thing.name_any(), "namespace": "n", "labels": labels(),
        "ownerReferences": [thing.controller_owner_ref(&())],
    });
    serde_json::from_value(object).expect("it is one")
}

fn dependents(thing: &Thing) -> (ConfigMap, Service, Deployment) {
    let app = json!({ "app": thing.name_any() });
    let container = json!({ "name": "it", "image": "it:1", "ports": [{ "containerPort": 80 }],
        "env": [{ "name": "A", "value": "a" }], "securityContext": { "readOnlyRootFilesystem": true } });
    let spec = json!({ "replicas": 1, "selector": { "matchLabels": app },
        "template": { "metadata": { "labels": app }, "spec": { "containers": [container] } } });
    (
        dependent(thing, json!({ "data": { "value": thing.spec.value } })),
        dependent(thing, json!({ "spec": { "selector": app, "ports": [{ "port": 80 }] } })),
        dependent(thing, json!({ "spec": spec })),
    )
}

fn status() -> ThingStatus {
    let mut status = ThingStatus::default();
    conditions::set(&mut status.conditions, Some(1), conditions::new("Available", true, "AsExpected", ""));
    status
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let (config, service, deployment) = dependents(&thing);
    ctx.configs.apply(&thing, &config).await?;
    ctx.services.apply(&thing, &service).await?;
    ctx.deployments.apply(&thing, &deployment).await?;
    ctx.dependents.prune(&thing).await?;
    if thing.status.is_none() {
        ctx.things.update_status(&thing, status()).await?;
    }
    Ok(Action::await_change())
}

async fn run(manager: Manager) -> operator_rs_runtime::Result<()> {
    let mut controller = Controller::new(&manager);
    let ctx = Ctx {
        things: controller.primary(),
        dependents: controller.dependents(),
        configs: controller.owns(&labels()),
        services: controller.owns(&labels()),
        deployments: controller.owns(&labels()),
    };
    controller.run(reconcile, Arc::new(ctx)).await
}

/// The same writes, by nobody in particular.
async fn write(cluster: &Cluster, thing: Thing) {
    let (client, params) = (cluster.client(), PatchParams::apply("load").force());
    let (config, service, deployment) = dependents(&thing);
    let name = thing.name_any();
    let done = "the server takes it";
    Api::<ConfigMap>::namespaced(client.clone(), "n").patch(&name, &params, &Patch::Apply(config)).await.expect(done);
    Api::<Service>::namespaced(client.clone(), "n").patch(&name, &params, &Patch::Apply(service)).await.expect(done);
    Api::<Deployment>::namespaced(client.clone(), "n")
        .patch(&name, &params, &Patch::Apply(deployment))
        .await
        .expect(done);
    let status = json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "status": status() });
    Api::<Thing>::namespaced(client, "n").patch_status(&name, &params, &Patch::Apply(status)).await.expect(done);
}

fn thing(number: usize, value: &str) -> Value {
    json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "spec": { "value": value },
        "metadata": { "name": format!("t{number}"), "namespace": "n", "uid": format!("uid-{number}"), "generation": 1 } })
}

/// A controller of its own kind in each module, which writes a ConfigMap for each object.
macro_rules! kinds {
    ($($module:ident $name:ident $kind:literal $plural:literal)*) => {
        $(mod $module {
            use super::*;

            #[derive(CustomResource, Serialize, Deserialize, Clone, Debug, Default)]
            #[kube(group = "test.dev", version = "v1", kind = $kind, plural = $plural, namespaced, schema = "disabled")]
            pub struct Spec {
                value: String,
            }

            #[derive(Clone)]
            struct Handles {
                dependents: Dependents<$name>,
                configs: Owned<ConfigMap, $name>,
            }

            async fn reconcile(owner: Arc<$name>, handles: Handles) -> Result<Action, Error> {
                let name = format!("{}-{}", $plural, owner.name_any());
                let config: ConfigMap = serde_json::from_value(json!({ "metadata": { "name": name, "namespace": "n" } })).expect("it is one");
                handles.configs.apply(&owner, &config).await?;
                handles.dependents.prune(&owner).await?;
                Ok(Action::await_change())
            }

            pub async fn run(manager: Manager) -> operator_rs_runtime::Result<()> {
                let mut controller = Controller::new(&manager);
                let _ = controller.primary();
                let handles = Handles { dependents: controller.dependents(), configs: controller.owns(&labels()) };
                controller.run(reconcile, handles).await
            }
        })*

        const KINDS: &[&str] = &[$($plural),*];

        fn start(manager: &Manager, count: usize) -> Vec<tokio::task::JoinHandle<operator_rs_runtime::Result<()>>> {
            let mut res = Vec::new();
            $(if res.len() < count { res.push(tokio::spawn($module::run(manager.clone()))); })*
            res
        }
    };
}

kinds! {
    a Alpha "Alpha" "alphas"
    b Beta "Beta" "betas"
    c Gamma "Gamma" "gammas"
    d Delta "Delta" "deltas"
    e Epsilon "Epsilon" "epsilons"
    f Zeta "Zeta" "zetas"
    g Eta "Eta" "etas"
    h Theta "Theta" "thetas"
    i Iota "Iota" "iotas"
    j Kappa "Kappa" "kappas"
}

/// The memory of several controllers.
async fn controllers(count: usize) {
    let object = |number: usize| {
        let mut it = thing(number, "1");
        it.as_object_mut().expect("a map").remove("kind");
        it
    };
    let mut cluster = Cluster::default().without_request_log();
    for plural in KINDS {
        let objects: Vec<Value> = (0..10).map(object).collect();
        cluster = cluster.with_json(&format!("{plural}.test.dev"), &objects);
    }
    let manager = Manager::new(Identity { name: "load", version: "0.0.0" }, cluster.client());
    let before = memory("VmRSS:");
    let running = start(&manager, count);
    while cluster.write_count() < count * 10 {
        sleep(Duration::from_millis(20)).await;
    }
    sleep(Duration::from_secs(2)).await;
    println!("{count} controllers: memory {:.1} MiB, {before:.1} before they started", memory("VmRSS:"));
    manager.stop.cancel();
    for it in running {
        it.await.expect("it does not panic").expect("it ends well");
    }
}

fn memory(row: &str) -> f64 {
    let text = fs::read_to_string("/proc/self/status").expect("this is Linux");
    let row = text.lines().find_map(|it| it.strip_prefix(row)).expect("it has one");
    row.trim().trim_end_matches(" kB").parse::<f64>().expect("it is a number") / 1024.0
}

fn cpu() -> f64 {
    let text = fs::read_to_string("/proc/self/stat").expect("this is Linux");
    let rest = text.rsplit(')').next().expect("it has fields");
    rest.split_whitespace().skip(11).take(2).filter_map(|it| it.parse::<f64>().ok()).sum::<f64>() / 100.0
}

#[tokio::main(worker_threads = 2)]
async fn main() {
    let words: Vec<String> = std::env::args().collect();
    let count: usize = words[2].parse().expect("a number");
    if words[1] == "controllers" {
        return controllers(count).await;
    }
    let things: Vec<Value> = (0..count).map(|it| thing(it, "1")).collect();
    // When a ConfigMap is written.
    let written = Arc::new(Mutex::new(HashMap::<String, Instant>::new()));
    let seen = written.clone();
    let cluster = Cluster::default().without_request_log().with_json(THINGS, &things).with_fault(
        FaultRule::for_writes(move |it| {
            if it.resource == "configmaps" {
                seen.lock().expect("nobody panics").entry(it.name.clone()).or_insert_with(Instant::now);
            }
            None
        }),
    );
    drop(things);
    let (start, used) = (Instant::now(), cpu());
    let manager = Manager::new(Identity { name: "load", version: "0.0.0" }, cluster.client());
    let mut running = None;
    if words[1] == "server" {
        let all = stream::iter((0..count).map(|it| serde_json::from_value(thing(it, "1")).expect("it is one")));
        all.for_each(|it| write(&cluster, it)).await;
    } else {
        running = Some(tokio::spawn(run(manager.clone())));
        // Three dependents and a status.
        while cluster.write_count() < count * 4 {
            sleep(Duration::from_millis(20)).await;
        }
    }
    let took = start.elapsed().as_secs_f64();
    written.lock().expect("nobody panics").clear();
    sleep(Duration::from_secs(2)).await;
    println!(
        "{}: {count} objects with 3 dependents in {took:.1} s ({:.0} a second), CPU {:.1} s, memory {:.0} MiB, {:.0} at most, {} requests",
        words[1],
        count as f64 / took,
        cpu() - used,
        memory("VmRSS:"),
        memory("VmHWM:"),
        cluster.request_count(),
    );
    let Some(running) = running else { return };
    latency(&cluster, count, &written).await;
    manager.stop.cancel();
    running.await.expect("it does not panic").expect("it ends well");
}

/// A hundred changes a second, for 20 seconds.
async fn latency(cluster: &Cluster, count: usize, written: &Mutex<HashMap<String, Instant>>) {
    written.lock().expect("nobody panics").clear();
    let (mut ticks, mut changed) = (interval(Duration::from_millis(10)), Vec::new());
    for number in 0..2000.min(count) {
        ticks.tick().await;
        changed.push((format!("t{number}"), Instant::now()));
        cluster.edit_json(THINGS, "n", &format!("t{number}"), |it| it["spec"]["value"] = json!("2"));
    }
    sleep(Duration::from_secs(2)).await;
    let written = written.lock().expect("nobody panics");
    let mut times: Vec<Duration> =
        changed.iter().filter_map(|(name, at)| Some(written.get(name)?.duration_since(*at))).collect();
    times.sort();
    let at = |part: usize| times[(times.len() - 1) * part / 1000].as_secs_f64() * 1000.0;
    println!(
        "from a change to the write of its dependent, of {} of {}: median {:.1} ms, p99 {:.1} ms, at most {:.1} ms",
        times.len(),
        changed.len(),
        at(500),
        at(990),
        at(1000),
    );
}
