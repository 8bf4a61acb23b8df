//! One random history: what users and others do to a cluster, and what goes wrong meanwhile.

use super::{
    CHILDREN, NAMES, Random, THINGS,
    controller::{Broken, Process, World},
    kinds::thing,
};
use operator_rs_testing::{Cluster, Fault, FaultRule};
use serde_json::{Value, json};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU64, Ordering::SeqCst},
    },
    time::Duration,
};
use tokio::time::{Instant, sleep};

fn pause(cluster: &Cluster, name: &str, is_paused: bool) {
    cluster.edit_json(THINGS, "n", name, |it| {
        it["metadata"]["annotations"]["test.dev/paused"] = is_paused.to_string().into()
    });
}

pub struct History {
    random: Random,
    pub cluster: Cluster,
    /// Percent of the writes that fail.
    wrong: Arc<AtomicU64>,
    process: Option<Process>,
    standby: Option<Process>,
    pub world: World,
    log: Vec<String>,
}

impl History {
    pub fn start(seed: u64) -> Self {
        let wrong = Arc::new(AtomicU64::new(0));
        let (rate, chance) = (wrong.clone(), Mutex::new(Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)));
        let cluster = Cluster::default().with_fault(FaultRule::for_writes(move |it| {
            let mut chance = chance.lock().unwrap();
            if it.resource.contains("events") || !chance.percent(rate.load(SeqCst)) {
                return None;
            }
            match chance.below(5) {
                0 => Some(Fault::Refuse { code: 500 }),
                1 => Some(Fault::Refuse { code: 409 }),
                2 => Some(Fault::Refuse { code: 429 }),
                3 => Some(Fault::Refuse { code: 503 }),
                _ => Some(Fault::ReplaceResponse { code: 504 }),
            }
        }));
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

    pub async fn step(&mut self) {
        let (name, child) = (self.random.of(&NAMES), self.random.of(&CHILDREN));
        let child = format!("{name}-{child}");
        let what = self.random.below(22);
        self.log.push(format!("{what} {name} {child}"));
        let value = self.random.below(3).to_string();
        match what {
            0..=6 => self.change_thing(what, name),
            7..=13 => self.change_child(what, name, &child, &value),
            14 => {
                let meta = json!({ "name": self.random.of(&["s", "t"]), "namespace": "n", "labels": { "v": value } });
                self.cluster
                    .put_json("secrets", json!({ "apiVersion": "v1", "kind": "Secret", "metadata": meta }))
                    .unwrap();
            }
            15 | 16 => self.change_watches(what),
            17 => self.wrong.store(self.random.of(&[0, 10, 25]), SeqCst),
            18 => self.replace_process().await,
            19 => {
                let is_stuck = self.random.percent(50);
                self.world.outside.iter().for_each(|it| it.is_stuck.store(is_stuck, SeqCst));
            }
            20 => {
                let fails = self.random.percent(50);
                self.world.second.iter().for_each(|it| it.store(fails, SeqCst));
            }
            _ if self.cluster.get_json(THINGS, "n", name).is_some() => {
                let is_paused = self.random.percent(50);
                pause(&self.cluster, name, is_paused);
            }
            _ => {}
        }
        let pause = self.random.of(&[0, 0, 5, 30, 120, 250]);
        sleep(Duration::from_millis(pause)).await;
    }

    /// A user creates, changes or deletes a Thing.
    fn change_thing(&mut self, what: u64, name: &str) {
        let (cluster, has_thing) = (self.cluster.clone(), self.cluster.get_json(THINGS, "n", name).is_some());
        match what {
            0..=4 => {
                let it = self.thing(name);
                match has_thing {
                    true => cluster.edit_json(THINGS, "n", name, |old| old["spec"] = it["spec"].clone()),
                    false => drop(cluster.put_json(THINGS, it).unwrap()),
                }
            }
            5 => cluster.delete_json(THINGS, "n", name),
            6 if has_thing => {
                let it = cluster.get_json(THINGS, "n", name).unwrap();
                cluster.delete_json(THINGS, "n", name);
                if cluster.get_json(THINGS, "n", name).is_some() {
                    return; // its finalizer keeps it
                }
                let meta = json!({ "name": name, "namespace": "n" });
                let again =
                    json!({ "apiVersion": "test.dev/v1", "kind": "Thing", "metadata": meta, "spec": it["spec"] });
                cluster.put_json(THINGS, again).unwrap();
            }
            _ => {}
        }
    }

    /// Somebody else changes or deletes a ConfigMap.
    fn change_child(&self, what: u64, name: &str, child: &str, value: &str) {
        let (cluster, other) = (&self.cluster, if name == "a" { "b" } else { "a" });
        let edit = |edit: &dyn Fn(&mut Value)| {
            if cluster.get_json("configmaps", "n", child).is_some() {
                cluster.edit_json("configmaps", "n", child, edit);
            }
        };
        match what {
            7 => cluster.delete_json("configmaps", "n", child),
            8 => edit(&|it| it["data"]["k0"] = json!(value)),
            9 => edit(&|it| it["data"]["theirs"] = json!(value)),
            10 => edit(&|it| drop(it.as_object_mut().unwrap().remove("data"))),
            11 => edit(&|it| it["metadata"]["labels"] = json!({ "app": value })),
            12 => edit(&|it| it["metadata"]["ownerReferences"] = json!([])),
            _ => edit(&|it| {
                // For a while it belongs to the other one, which prunes it, or not.
                if let Some(other) = cluster.get_json(THINGS, "n", other) {
                    it["metadata"]["ownerReferences"] = json!([{
                        "apiVersion": "test.dev/v1", "kind": "Thing", "name": other["metadata"]["name"],
                        "uid": other["metadata"]["uid"], "controller": true }]);
                }
            }),
        }
    }

    /// The watches break, or deliver events otherwise than before.
    fn change_watches(&mut self, what: u64) {
        let cluster = self.cluster.clone();
        match what {
            15 => {
                cluster.inject(Fault::ForgetHistory);
                cluster.inject(Fault::EndWatches);
            }
            _ => match self.random.below(5) {
                0 => cluster.inject(Fault::HoldEvents),
                1 => cluster.inject(Fault::RepeatEvents),
                2 => cluster.inject(Fault::DelayEvents { delay: Duration::from_millis(400) }),
                3 => cluster.inject(Fault::LoseEvents { gone_after: Duration::from_millis(100) }),
                _ => cluster.remove_watch_faults(),
            },
        }
    }

    /// The leader stops or crashes, and another process leads.
    async fn replace_process(&mut self) {
        let process = self.process.take().unwrap();
        // A cache that is late repeats what is outside of the cluster after its clean-up: nobody can prevent that.
        let is_alone = self.world.outside.is_some();
        let mut next = match is_alone || self.random.percent(50) {
            true => Some(Process::standby(&self.cluster, &self.world)),
            false => self.standby.replace(Process::standby(&self.cluster, &self.world)),
        };
        // One that has lost the Lease goes on for a moment beside the next one.
        let overlaps = !is_alone && self.random.percent(30);
        let lead = |it: &Option<Process>| it.iter().for_each(|it| it.0.elected.cancel());
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

    /// Lets the controller settle. Then nothing may differ from the desired state, and a new process may write nothing.
    pub async fn end(mut self) -> Result<(), String> {
        self.wrong.store(0, SeqCst);
        self.world.outside.iter().for_each(|it| it.is_stuck.store(false, SeqCst));
        self.world.second.iter().for_each(|it| it.store(false, SeqCst));
        for name in NAMES.into_iter().filter(|name| self.cluster.get_json(THINGS, "n", name).is_some()) {
            pause(&self.cluster, name, false);
        }
        self.cluster.release_events();
        self.cluster.remove_watch_faults();
        // An object that has failed often is tried again after up to five minutes.
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
        if self.cluster.list_json(THINGS).iter().any(|it| self.is_blocked(it)) {
            return Ok(()); // it is tried again
        }
        self.cluster.clear_request_log();
        let before = self.cluster.list_json("configmaps");
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
