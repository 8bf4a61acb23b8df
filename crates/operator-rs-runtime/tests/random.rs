//! Random histories: what users want, what others do, what the network and the server do wrong. At the end the
//! cluster has to be as it is wanted, and a new process must have nothing to do.

mod kinds;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kinds::{Operates as _, Thing, ThingStatus, config, labels, thing};
use kube::ResourceExt;
use operator_rs_testing::{Cluster, Reaction, Refusal};
use runtime::{Action, Children, Controller, Error, Operator, Owned, Primary, Watch, finalizer::Event};
use serde_json::{Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::{
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

const THINGS: &str = "things.test.dev";
const NAMES: [&str; 2] = ["a", "b"];
const CHILDREN: [&str; 3] = ["x", "y", "z"];

struct Random(u64);

impl Random {
    /// Up to `n`, which is not reached.
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }

    fn of<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len() as u64) as usize]
    }

    fn percent(&mut self, n: u64) -> bool {
        self.below(100) < n
    }
}

/// What exists outside of the cluster, by the uid of its Thing, and whether it can be removed.
#[derive(Default)]
struct Outside {
    all: Mutex<BTreeSet<String>>,
    is_stuck: AtomicBool,
}

struct Ctx {
    things: Arc<Primary<Thing>>,
    owned: Arc<Owned<Thing>>,
    configs: Arc<Children<ConfigMap>>,
    secrets: Arc<Children<Secret>>,
    /// The version of each object that this process has seen or written last.
    newest: Mutex<BTreeMap<String, u64>>,
    world: World,
}

/// What all processes of a history share.
#[derive(Clone, Default)]
struct World {
    broken: Broken,
    /// In histories with a finalizer.
    outside: Option<Arc<Outside>>,
    /// Whether there is another controller of the kind, which fails for a while.
    second: Option<Arc<AtomicBool>>,
}

/// What was older than it may be.
type Broken = Arc<Mutex<Vec<String>>>;

impl Ctx {
    fn see(&self, object: &impl ResourceExt) {
        let version: u64 = object.resource_version().unwrap().parse().unwrap();
        let mut newest = self.newest.lock().unwrap();
        let newest = newest.entry(object.uid().unwrap()).or_default();
        if version < *newest {
            self.world.broken.lock().unwrap().push(format!("{} is of {version}, after {newest}", object.name_any()));
        }
        *newest = version.max(*newest);
    }
}

async fn reconcile(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    let Some(outside) = &ctx.world.outside else { return make(thing, ctx).await };
    runtime::finalizer(&ctx.things, "test.dev/outside", thing, async |event| match event {
        Event::Apply(thing) => {
            outside.all.lock().unwrap().insert(thing.uid().unwrap());
            make(thing, ctx.clone()).await
        }
        Event::Cleanup(_) if outside.is_stuck.load(SeqCst) => Err(Error::permanent("Stuck", "it cannot be removed")),
        Event::Cleanup(thing) => {
            outside.all.lock().unwrap().remove(&thing.uid().unwrap());
            Ok(Action::await_change())
        }
    })
    .await
}

/// Makes what is wanted, and says in the status what it has seen.
async fn make(thing: Arc<Thing>, ctx: Arc<Ctx>) -> Result<Action, Error> {
    ctx.see(&*thing);
    ctx.configs.of(&*thing).iter().for_each(|it| ctx.see(it));
    let mut set = ctx.owned.of(&thing);
    for name in thing.spec.configs.keys() {
        ctx.see(&set.apply(&ctx.configs, &config(&thing, name)).await?);
    }
    set.prune().await?;
    let children: BTreeMap<_, _> = ctx.configs.of(&*thing).into_iter().map(|it| (it.name_any(), it.data)).collect();
    let secret = thing.spec.secret.as_ref().and_then(|it| ctx.secrets.get(Some("n"), it));
    let seen = json!([children, secret.and_then(|it| it.metadata.labels)]).to_string();
    let status = ThingStatus { external_id: Some(seen), ..thing.status.clone().unwrap_or_default() };
    ctx.things.set_status(&thing, status).await?;
    ctx.things.store().state().iter().for_each(|it| ctx.see(&**it));
    Ok(Action::await_change())
}

async fn run(operator: Operator, world: World) -> anyhow::Result<()> {
    let second = world.second.clone().map(|fails| {
        let reconcile = |_: Arc<Thing>, fails: Arc<AtomicBool>| async move {
            if fails.load(SeqCst) { Err(Error::permanent("Second", "it fails")) } else { Ok(Action::await_change()) }
        };
        Controller::<Thing>::new(&operator).run(reconcile, fails)
    });
    let mut controller = Controller::<Thing>::new(&operator);
    let ctx = Ctx {
        things: controller.primary(),
        configs: controller.owns(&labels()),
        secrets: controller.refers_to(Watch::default(), |it: &Thing| it.spec.secret.clone()),
        owned: controller.owned(),
        newest: Mutex::default(),
        world,
    };
    let first = controller.run(reconcile, Arc::new(ctx));
    match second {
        Some(second) => futures::try_join!(first, second).map(|_| ()),
        None => first.await,
    }
}

struct Process(Operator, JoinHandle<anyhow::Result<()>>, CancellationToken);

impl Process {
    /// A process that waits to lead.
    fn standby(cluster: &Cluster, world: &World) -> Self {
        let dead = CancellationToken::new();
        let mut operator = cluster.operator();
        operator.client = cluster.client_until(&dead);
        operator.leading = CancellationToken::new();
        Self(operator.clone(), tokio::spawn(run(operator, world.clone())), dead)
    }

    fn start(cluster: &Cluster, world: &World) -> Self {
        let process = Self::standby(cluster, world);
        process.0.leading.cancel();
        process
    }

    async fn stop(self) {
        self.0.stop.cancel();
        self.1.await.unwrap().unwrap();
    }

    async fn crash(self) {
        self.2.cancel();
        self.1.abort();
        let _ = self.1.await;
    }
}

fn pause(cluster: &Cluster, name: &str, is_paused: bool) {
    cluster
        .edit(THINGS, "n", name, |it| it["metadata"]["annotations"]["test.dev/paused"] = is_paused.to_string().into());
}

struct History {
    random: Random,
    cluster: Cluster,
    /// Percent of the writes that go wrong.
    wrong: Arc<AtomicU64>,
    process: Option<Process>,
    standby: Option<Process>,
    world: World,
    log: Vec<String>,
}

impl History {
    fn start(seed: u64) -> Self {
        let wrong = Arc::new(AtomicU64::new(0));
        let (rate, chance) = (wrong.clone(), Mutex::new(Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)));
        let cluster = Cluster::default().on_write(move |it| {
            let mut chance = chance.lock().unwrap();
            if it.resource.contains("events") || !chance.percent(rate.load(SeqCst)) {
                return Reaction::Pass;
            }
            match chance.below(5) {
                0 => Reaction::code(500),
                1 => Reaction::code(409),
                2 => Reaction::code(429),
                3 => Reaction::code(503),
                _ => Reaction::Lose(Refusal::with_code(504)),
            }
        });
        let world = World {
            broken: Broken::default(),
            outside: (seed % 3 == 1).then(Arc::default),
            second: (seed % 4 == 1).then(Arc::default),
        };
        let process = Some(Process::start(&cluster, &world));
        let standby = Some(Process::standby(&cluster, &world));
        let mut random = Random(seed.wrapping_mul(0x2545_F491_4F6C_DD1D) | 1);
        for _ in 0..10 {
            random.below(2);
        }
        Self { random, cluster, wrong, process, standby, world, log: vec![] }
    }

    fn thing(&mut self, name: &str) -> Value {
        let mut it = thing(name, &[]);
        it["metadata"].as_object_mut().unwrap().remove("uid");
        for child in CHILDREN {
            if self.random.percent(60) {
                let mut data = json!({ "k2": "0" });
                for key in ["k0", "k1", "k2"] {
                    if self.random.percent(60) {
                        data[key] = self.random.below(2).to_string().into();
                    }
                }
                it["spec"]["configs"][format!("{name}-{child}")] = data;
            }
        }
        if self.random.percent(70) {
            it["spec"]["secret"] = self.random.of(&["s", "t"]).into();
        }
        it
    }

    async fn step(&mut self) {
        let (name, child) = (self.random.of(&NAMES), self.random.of(&CHILDREN));
        let other = if name == "a" { "b" } else { "a" };
        let child = format!("{name}-{child}");
        let has_thing = self.cluster.get(THINGS, "n", name).is_some();
        let what = self.random.below(22);
        self.log.push(format!("{what} {name} {child}"));
        let (cluster, value) = (self.cluster.clone(), self.random.below(3).to_string());
        let edit = |edit: &dyn Fn(&mut Value)| {
            if cluster.get("configmaps", "n", &child).is_some() {
                cluster.edit("configmaps", "n", &child, edit);
            }
        };
        match what {
            0..=4 => {
                let it = self.thing(name);
                match has_thing {
                    true => drop(cluster.edit(THINGS, "n", name, |old| old["spec"] = it["spec"].clone())),
                    false => drop(cluster.put(THINGS, it).unwrap()),
                }
            }
            5 => cluster.delete(THINGS, "n", name),
            6 if has_thing => {
                let it = cluster.get(THINGS, "n", name).unwrap();
                cluster.delete(THINGS, "n", name);
                if cluster.get(THINGS, "n", name).is_some() {
                    return; // its finalizer keeps it
                }
                let meta = json!({ "name": name, "namespace": "n" });
                let again =
                    json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "metadata": meta, "spec": it["spec"] });
                cluster.put(THINGS, again).unwrap();
            }
            7 => cluster.delete("configmaps", "n", &child),
            8 => edit(&|it| it["data"]["k0"] = json!(value)),
            9 => edit(&|it| it["data"]["theirs"] = json!(value)),
            10 => edit(&|it| drop(it.as_object_mut().unwrap().remove("data"))),
            11 => edit(&|it| it["metadata"]["labels"] = json!({ "app": value })),
            12 => edit(&|it| it["metadata"]["ownerReferences"] = json!([])),
            13 => edit(&|it| {
                // For a while it belongs to the other one, which prunes it, or not.
                if let Some(other) = cluster.get(THINGS, "n", other) {
                    it["metadata"]["ownerReferences"] = json!([{
                        "apiVersion": "test.dev/v1", "kind": "Thing", "name": other["metadata"]["name"],
                        "uid": other["metadata"]["uid"], "controller": true }]);
                }
            }),
            14 => {
                let meta = json!({ "name": self.random.of(&["s", "t"]), "namespace": "n", "labels": { "v": value } });
                cluster.put("secrets", json!({ "apiVersion": "v1", "kind": "Secret", "metadata": meta })).unwrap();
            }
            15 => {
                cluster.forget_history();
                cluster.break_watches();
            }
            16 => match self.random.below(5) {
                0 => cluster.hold_watches(),
                1 => cluster.double_events(),
                2 => cluster.delay_watches(Duration::from_millis(400)),
                3 => cluster.drop_events(Duration::from_millis(100)),
                _ => cluster.deliver_events(),
            },
            17 => self.wrong.store(self.random.of(&[0, 10, 25]), SeqCst),
            18 => {
                let process = self.process.take().unwrap();
                // A cache that is late repeats what is outside of the cluster after its clean-up: nobody can prevent that.
                let is_alone = self.world.outside.is_some();
                let mut next = match is_alone || self.random.percent(50) {
                    true => Some(Process::standby(&cluster, &self.world)),
                    false => self.standby.replace(Process::standby(&cluster, &self.world)),
                };
                // One that has lost the Lease goes on for a moment beside the next one.
                let overlaps = !is_alone && self.random.percent(30);
                let lead = |it: &Option<Process>| it.iter().for_each(|it| it.0.leading.cancel());
                if overlaps {
                    lead(&next);
                    sleep(Duration::from_millis(self.random.below(50))).await;
                }
                if self.random.percent(50) {
                    process.stop().await
                } else {
                    process.crash().await
                }
                lead(&next);
                self.process = next.take();
            }
            19 => {
                let is_stuck = self.random.percent(50);
                self.world.outside.iter().for_each(|it| it.is_stuck.store(is_stuck, SeqCst));
            }
            20 => {
                let fails = self.random.percent(50);
                self.world.second.iter().for_each(|it| it.store(fails, SeqCst));
            }
            _ if has_thing => {
                let is_paused = self.random.percent(50);
                pause(&cluster, name, is_paused);
            }
            _ => {}
        }
        let pause = self.random.of(&[0, 0, 5, 30, 120, 250]);
        sleep(Duration::from_millis(pause)).await;
    }

    /// Whether others have given a child that is wanted to the other one: then nothing can be done.
    fn is_blocked(&self, thing: &Value) -> bool {
        let desired = thing["spec"]["configs"].as_object().into_iter().flatten();
        let controllers = desired.filter_map(|(child, _)| {
            let uid = &self.cluster.get("configmaps", "n", child)?["metadata"]["ownerReferences"][0]["uid"];
            uid.as_str().map(str::to_owned)
        });
        controllers.into_iter().any(|uid| thing["metadata"]["uid"] != *uid)
    }

    /// What is not as it has to be.
    fn problem(&self) -> Option<String> {
        // What others took the label from is not seen any more: it stays where nobody wants it.
        let mut all = self.cluster.list("configmaps");
        all.retain(|it| it["metadata"]["labels"]["app"] == "thing");
        let things = self.cluster.list(THINGS);
        for thing in &things {
            let name = thing["metadata"]["name"].as_str().unwrap();
            let conditions = &thing["status"]["conditions"];
            if !thing["metadata"]["deletionTimestamp"].is_null() {
                return Some(format!("{name} is still there, and says {conditions}"));
            }
            if self.is_blocked(thing) {
                if conditions[0]["reason"] == "NotOwned" {
                    continue;
                }
                return Some(format!("{name} cannot have what it wants, and says {conditions}"));
            }
            let of_it = |it: &&Value| it["metadata"]["ownerReferences"][0]["uid"] == thing["metadata"]["uid"];
            let owned: BTreeMap<&str, &Value> =
                all.iter().filter(of_it).map(|it| (it["metadata"]["name"].as_str().unwrap(), &it["data"])).collect();
            let desired = thing["spec"]["configs"].as_object().cloned().unwrap_or_default();
            if !owned.keys().copied().eq(desired.keys().map(String::as_str)) {
                return Some(format!("{name} wants {:?}, and has {:?}", desired.keys(), owned.keys()));
            }
            for (child, data) in &desired {
                let mut found = owned[child.as_str()].as_object().cloned().unwrap_or_default();
                found.remove("theirs");
                // What others have set, and nobody wants, is theirs.
                found.retain(|key, _| key != "k0" || data.get("k0").is_some());
                if Some(&found) != data.as_object() {
                    return Some(format!("{child} has {found:?} instead of {data}"));
                }
            }
            let secret = thing["spec"]["secret"].as_str().and_then(|it| self.cluster.get("secrets", "n", it));
            let data =
                |it: &Value| if it.as_object().is_some_and(|it| it.is_empty()) { Value::Null } else { it.clone() };
            let truth: BTreeMap<_, _> = owned.iter().map(|(name, it)| (*name, data(it))).collect();
            let labels = secret.map(|it| it["metadata"]["labels"].clone());
            let seen: Value =
                serde_json::from_str(thing["status"]["externalId"].as_str().unwrap_or("null")).unwrap_or_default();
            // With nothing to see, one that waits for its first reconcile would look as if it had been.
            if !seen.is_array() {
                return Some(format!("{name} has seen nothing yet"));
            }
            let seen_children: BTreeMap<_, _> =
                seen[0].as_object().into_iter().flatten().map(|(name, it)| (name.as_str(), data(it))).collect();
            if (&seen_children, &seen[1]) != (&truth, &labels.unwrap_or_default()) {
                return Some(format!("{name} has seen {seen}, and not {truth:?}"));
            }
            if conditions.as_array().is_some_and(|it| !it.is_empty()) {
                return Some(format!("{name} says {conditions}"));
            }
        }
        let uids: Vec<_> = things.iter().map(|it| &it["metadata"]["uid"]).collect();
        if let Some(outside) = &self.world.outside {
            let all = outside.all.lock().unwrap();
            if !all.iter().eq(uids.iter().filter_map(|it| it.as_str()).collect::<BTreeSet<_>>()) {
                return Some(format!("{all:?} exist outside, and not {uids:?}"));
            }
        }
        let left = all.iter().find(|it| !uids.contains(&&it["metadata"]["ownerReferences"][0]["uid"]));
        // What belongs to nobody was made ownerless by others.
        left.filter(|it| it["metadata"]["ownerReferences"].as_array().is_some_and(|it| !it.is_empty()))
            .map(|it| format!("{it} is left"))
    }

    async fn end(mut self) -> Result<(), String> {
        self.wrong.store(0, SeqCst);
        self.world.outside.iter().for_each(|it| it.is_stuck.store(false, SeqCst));
        self.world.second.iter().for_each(|it| it.store(false, SeqCst));
        for name in NAMES.into_iter().filter(|name| self.cluster.get(THINGS, "n", name).is_some()) {
            pause(&self.cluster, name, false);
        }
        self.cluster.release_watches();
        self.cluster.deliver_events();
        // What has failed often is tried again after up to five minutes.
        let limit = Instant::now() + Duration::from_secs(400);
        // All is well only if it stays so: a late reconcile may make something that the garbage collector then removes.
        let mut well = Instant::now();
        while well.elapsed() < Duration::from_millis(500) {
            if let Some(problem) = self.problem() {
                if limit < Instant::now() {
                    return Err(format!("{problem} after {:?}", self.log));
                }
                well = Instant::now();
            }
            sleep(Duration::from_millis(20)).await;
        }
        self.process.take().unwrap().stop().await;
        self.standby.take().unwrap().stop().await;
        if self.cluster.list(THINGS).iter().any(|it| self.is_blocked(it)) {
            return Ok(()); // it is tried again
        }
        self.cluster.clear_log();
        let before = self.cluster.list("configmaps");
        let again = Process::start(&self.cluster, &self.world);
        sleep(Duration::from_millis(600)).await;
        again.stop().await;
        if let Some(broken) = self.world.broken.lock().unwrap().first() {
            return Err(format!("{broken}: {:?}", self.log));
        }
        match self.cluster.writes() {
            writes if writes.is_empty() => Ok(()),
            writes => Err(format!("a new process writes {writes:?} to {} after {:?}", json!(before), self.log)),
        }
    }
}

/// `RANDOM_SEEDS=first..last` looks at others than the few that are looked at always.
#[tokio::test(start_paused = true)]
async fn whatever_happens_all_is_as_wanted_in_the_end() {
    let seeds = std::env::var("RANDOM_SEEDS").unwrap_or_else(|_| "1..13".into());
    let (first, last) = seeds.split_once("..").expect("a range");
    let runs = (first.parse::<u64>().unwrap()..last.parse().unwrap()).map(|seed| async move {
        let mut history = History::start(seed);
        for _ in 0..40 {
            history.step().await;
        }
        history.end().await.err().map(|problem| format!("seed {seed}: {problem}"))
    });
    use futures::StreamExt;
    let problems: Vec<_> = futures::stream::iter(runs).buffer_unordered(12).filter_map(async |it| it).collect().await;
    assert!(problems.is_empty(), "{}", problems.join("\n\n"));
}
