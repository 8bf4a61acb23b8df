//! The only module that talks to an API server.
//!
//! It sends requests and returns the answers. It decides nothing about projects and prints nothing. Callers see no
//! asynchrony: its functions block.

mod apply;
mod connect;
mod crds;
mod created_meanwhile;
mod decode;
mod delete;
mod discovery;
mod event;
mod executor;
mod interrupt;
mod kubeconfig;
mod kubeconfig_errors;
mod kubeconfig_files;
mod list;
mod local_webhooks;
mod managers;
mod migrate;
mod namespace_contents;
mod object;
mod object_requests;
mod owner;
mod owner_label;
mod path;
mod pending_objects;
mod plugin;
mod proxy;
mod refusal;
mod request;
mod response;
mod rollout;
mod rollout_wait;
mod service_account;
mod target;
mod unreachable;
mod wait;

use std::{
    cell::{Cell, RefCell},
    collections::BTreeMap,
    net::TcpListener,
    time::Duration,
};

use anyhow::Context as _;
use kube::Client;

pub use self::{
    apply::ApplyOptions,
    crds::{CustomObject, format_object_counts},
    delete::Live,
    event::{Action, ProgressEvent, Verb},
    interrupt::Interrupted,
    local_webhooks::call_locally,
    migrate::{Migration, Rewritten},
    namespace_contents::NamespaceContents,
    object::Id,
    owner::{Owner, Removal},
    owner_label::LabelledObjects,
    plugin::{Host, Plugin},
    proxy::Proxies,
    refusal::{ApplyHints, Refusal, combine_refusals},
    response::ApiResponse,
    target::Target,
    unreachable::Unreachable,
    wait::WaitState,
};
use self::{connect::Renewal, discovery::Resource, executor::Executor, interrupt::Interrupt};
use model::Deadline;

/// A connection to one API server, as one of its users.
pub struct Cluster {
    client: RefCell<Client>,
    /// The inputs for a new client after the credentials have expired.
    renewal: Option<Renewal>,
    runtime: Executor,
    /// The server's address, for messages.
    pub server: String,
    /// The namespace that the kubeconfig's context names.
    pub namespace: String,
    /// The owner of the objects that are applied.
    owner: Owner,
    /// When everything ends that waits for the server.
    deadline: Cell<Deadline>,
    /// The time limit of each answer.
    response_time_limit: Duration,
    /// The kinds of the groups and versions that were looked up.
    known_resources: RefCell<BTreeMap<String, Vec<Resource>>>,
    /// The sizes of the discovery documents that were read, by their paths.
    discovery_sizes: RefCell<BTreeMap<String, usize>>,
    /// The sizes of the texts and values of the lists that were read, by their paths.
    listed_sizes: RefCell<BTreeMap<String, (usize, usize)>>,
    interrupt: RefCell<Interrupt>,
}

/// Returns a random secret, as 32 hexadecimal digits.
pub fn random_token() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("an operating system has random numbers");
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Free ports of 127.0.0.1, each different: all are reserved before any is released.
pub fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    let mut ports = [0; N];
    let mut held = Vec::new();
    for port in &mut ports {
        let listener = bind_free_port().context("cannot find a free port")?;
        *port = listener.local_addr().context("cannot find a free port")?.port();
        held.push(listener);
    }
    Ok(ports)
}

/// Binds a port that no outgoing connection takes: Linux gives these ports from 32768, other systems from 49152.
fn bind_free_port() -> std::io::Result<TcpListener> {
    const FIRST: u16 = 20_000;
    const COUNT: u16 = 10_000;
    for _ in 0..100 {
        let mut bytes = [0; 2];
        getrandom::fill(&mut bytes).expect("an operating system has random numbers");
        let port = FIRST + u16::from_ne_bytes(bytes) % COUNT;
        if let Ok(listener) = TcpListener::bind(("127.0.0.1", port)) {
            return Ok(listener);
        }
    }
    TcpListener::bind(("127.0.0.1", 0))
}

#[test]
fn free_ports_differ_and_are_none_of_outgoing_connections() {
    let ports: [u16; 20] = free_ports().expect("there are free ports");
    let different: std::collections::BTreeSet<u16> = ports.into_iter().collect();
    assert_eq!(different.len(), 20);
    assert!(different.iter().all(|port| (20_000..30_000).contains(port)), "{different:?}");
}

impl Cluster {
    /// Sets the owner on whose behalf objects are applied and deleted.
    pub fn set_owner(&mut self, owner: Owner) {
        self.owner = owner;
    }

    /// Completes a change before Ctrl-C ends the command. Only for callers that wait for nothing but the server.
    pub fn finish_change_on_interrupt(&mut self) {
        self.interrupt = RefCell::new(Interrupt::EndsAtFirst);
    }

    /// Sleeps, at the most until the deadline.
    pub fn pause(&self, time: Duration) -> anyhow::Result<()> {
        let time = time.min(self.deadline.get().time_left());
        // The timer belongs to the runtime, so the sleep must be created inside of it.
        let sleep = async { tokio::time::sleep(time).await };
        self.runtime.block_on(interrupt::unless_interrupted(&self.interrupt, false, sleep))
    }
}
