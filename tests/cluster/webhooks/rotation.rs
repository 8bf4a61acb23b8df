//! Two replicas behind a Service: while their certificate is replaced, and one of them, no request fails.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use http::Uri;
use kube::Config;
use serde_json::{Value, json};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, TcpStream},
    task::JoinHandle,
    time::{Instant, sleep},
};

use super::{OTHER, STORED, SharedLab, Stage, at, free_port, stop};
use crate::{
    operator::Operator,
    security::{certificate, fetch},
    server::{APPLY, JSON, Server},
};

pub async fn no_request_fails_while_certificates_and_replicas_are_replaced(lab: SharedLab) {
    let ports = [free_port(), free_port()];
    let (service, port) = Service::start().await;
    let stage = Stage::unruled(&lab, "rotation", port).await;
    let mut replicas = Vec::new();
    for (name, port) in ["first", "second"].into_iter().zip(ports) {
        replicas.push(stage.operator(name, port).await);
    }
    service.lead_to(&ports);
    let before = stage.authority();
    stage.trust(&before).await;

    let traffic = Traffic::start(&stage.server);
    sleep(Duration::from_secs(3)).await;
    replace_certificate(&stage, &replicas, ports).await;
    sleep(Duration::from_secs(3)).await;

    // A rolling update: what comes is ready before what goes is told to, and the Service notices a little later.
    let third = free_port();
    let new = stage.operator("third", third).await;
    service.lead_to(&[ports[0], ports[1], third]);
    let gone = replicas.remove(0);
    gone.signal("TERM");
    sleep(Duration::from_secs(1)).await;
    service.lead_to(&[ports[1], third]);
    stop_told(gone).await;
    let fourth = free_port();
    let newest = stage.operator("fourth", fourth).await;
    service.lead_to(&[ports[1], third, fourth]);
    let gone = replicas.remove(0);
    gone.signal("TERM");
    sleep(Duration::from_secs(1)).await;
    service.lead_to(&[third, fourth]);
    stop_told(gone).await;
    let (requests, failures, took) = traffic.end_after(Duration::from_secs(60)).await;
    let served = service.connections.lock().expect("nobody panics with it").clone();
    println!("{requests} requests in {took} s, {} failed, connections: {served:?}", failures.len());
    assert!(failures.is_empty(), "{failures:#?}");
    assert!(requests > 500, "{requests} are some traffic");
    assert!(served.len() >= 3, "each replica is called: {served:?}");
    for it in [new, newest] {
        assert_eq!(it.said(" ERROR "), [""; 0]);
        stop(it).await;
    }
}

/// As cert-manager's docs have it: first trust the new one too, then serve it, then forget the old one.
async fn replace_certificate(stage: &Stage, replicas: &[Operator], ports: [u16; 2]) {
    let before = stage.authority();
    // It is made in a folder of its own first.
    let aside = stage.certificate.with_file_name("aside");
    certificate(&aside, "second");
    let after = std::fs::read_to_string(aside.join("tls.crt")).expect("it is made");
    stage.trust(&format!("{before}{after}")).await;

    let data = stage.certificate.join("..data.new");
    std::os::unix::fs::symlink(aside.join("..second"), &data).expect("the folder is ours");
    std::fs::rename(data, stage.certificate.join("..data")).expect("the folder is ours");
    assert_eq!(stage.authority(), after);
    for (replica, port) in replicas.iter().zip(ports) {
        replica.until_said("reloaded the serving certificate", 20).await;
        assert!(serves(port, &after).await, "{port}");
        assert!(!serves(port, &before).await, "{port}");
    }
    stage.trust(&after).await;
}

/// Whether the webhooks at a port are trusted by this certificate.
async fn serves(port: u16, authority: &str) -> bool {
    let url = format!("https://127.0.0.1:{port}").parse::<Uri>();
    let mut config = Config::new(url.expect("it is a URL"));
    config.root_cert = Some(vec![crate::security::der(authority)]);
    fetch(config, "/").await.0 != 0
}

async fn stop_told(mut operator: Operator) {
    let end = operator.ended(10).await;
    assert!(end.success(), "{end}\n{}", operator.log());
    assert_eq!(operator.said(" ERROR "), [""; 0]);
}

/// Requests that call the webhooks, all the time.
pub struct Traffic {
    end: Arc<AtomicBool>,
    writers: Vec<JoinHandle<(usize, Vec<String>)>>,
    start: Instant,
}

impl Traffic {
    pub fn start(server: &Server) -> Self {
        let end = Arc::new(AtomicBool::new(false));
        let writer = |it| tokio::spawn(write(server.clone(), it, end.clone()));
        let writers = (0..4).map(writer).collect();
        Self { end, writers, start: Instant::now() }
    }

    /// Ends it this long after its start, at the earliest. Returns how many requests were made, those that failed, and
    /// the seconds that it took.
    pub async fn end_after(self, time: Duration) -> (usize, Vec<String>, u64) {
        sleep(time.saturating_sub(self.start.elapsed())).await;
        self.end.store(true, Ordering::Relaxed);
        let (mut requests, mut failures) = (0, Vec::new());
        for it in self.writers {
            let (done, failed) = it.await.expect("it ends");
            requests += done;
            failures.extend(failed);
        }
        (requests, failures, self.start.elapsed().as_secs())
    }
}

/// Writes in one version and reads in the other, all the time. Returns how many requests it has made, and those that failed.
async fn write(server: Server, who: usize, end: Arc<AtomicBool>) -> (usize, Vec<String>) {
    let (mut requests, mut failures) = (0, Vec::new());
    let mut round = 0;
    while !end.load(Ordering::Relaxed) {
        round += 1;
        let name = format!("w{who}-{}", round % 20);
        let (version, other) = if round % 2 == 0 { (STORED, OTHER) } else { (OTHER, STORED) };
        let object = json!({
            "apiVersion": format!("cache.example.com/{version}"),
            "kind": "Memcached",
            "metadata": { "name": name },
            "spec": { "title": format!("round {round}"), "size": round % 3 },
        });
        let path = format!("{}?fieldManager=writer&force=true", at(version, &name));
        let calls = [("PATCH", path, APPLY, object), ("GET", at(other, &name), JSON, Value::Null)];
        for (method, path, content, body) in calls {
            requests += 1;
            match server.ask(method, &path, content, body).await {
                Ok(it) if it.code < 300 => {}
                it => failures.push(format!("{method} {path}: {it:?}")),
            }
        }
        sleep(Duration::from_millis(5)).await;
    }
    (requests, failures)
}

/// A Service, as nodes make one: a new connection goes to one of the ends in turn, and stays there.
#[derive(Clone, Default)]
pub struct Service {
    ends: Arc<Mutex<Vec<u16>>>,
    /// The address and the path that tell whether the end is ready, if only ready ones are called.
    readiness: Arc<Mutex<Option<(String, String)>>>,
    /// The connections that each end was given.
    connections: Arc<Mutex<std::collections::BTreeMap<u16, usize>>>,
}

impl Service {
    pub async fn start() -> (Self, u16) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("there are free ports");
        let port = listener.local_addr().expect("it is bound").port();
        let service = Self::default();
        let res = service.clone();
        tokio::spawn(async move {
            for turn in 0.. {
                let Ok((mut from, _)) = listener.accept().await else { return };
                let ends = service.ends.lock().expect("nobody panics with it").clone();
                let Some(end) = ends.get(turn % ends.len().max(1)).copied() else { continue };
                if !service.is_ready().await {
                    continue;
                }
                *service
                    .connections
                    .lock()
                    .expect("nobody panics with it")
                    .entry(end)
                    .or_default() += 1;
                tokio::spawn(async move {
                    if let Ok(mut to) = TcpStream::connect(("127.0.0.1", end)).await {
                        let _ = copy_bidirectional(&mut from, &mut to).await;
                    }
                });
            }
        });
        (res, port)
    }

    pub fn lead_to(&self, ends: &[u16]) {
        *self.ends.lock().expect("nobody panics with it") = ends.to_vec();
    }

    /// Leads to one end, while its probe answers that it is ready.
    pub fn lead_to_ready(&self, end: u16, readiness: Option<(String, String)>) {
        *self.readiness.lock().expect("nobody panics with it") = readiness;
        self.lead_to(&[end]);
    }

    async fn is_ready(&self) -> bool {
        let readiness = self.readiness.lock().expect("nobody panics with it").clone();
        let Some((address, path)) = readiness else { return true };
        let url = format!("http://{address}").parse::<Uri>().expect("it is a URL");
        fetch(Config::new(url), &path).await.0 == 200
    }
}
