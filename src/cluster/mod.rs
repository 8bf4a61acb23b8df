//! The only room that talks to an API server.
//!
//! It sends what it is given and gives back what was answered: it decides nothing about projects, and
//! speaks to nobody. Its asynchrony ends here: callers wait.

mod apply;
mod available;
mod connect;
mod crds;
mod delete;
mod discovery;
mod elsewhere;
mod inhabitants;
mod kubeconfig;
mod list;
mod object;
mod owner;
mod path;
mod pending;
mod proxy;
mod refusal;
mod request;
mod rollout;
mod service_account;
mod takeover;
mod told;
mod wait;

use std::{cell::RefCell, collections::BTreeMap, net::TcpListener, time::Duration};

use anyhow::Context as _;
use kube::Client;
use tokio::runtime::Runtime;

pub use self::{
    apply::How,
    connect::{Target, Unreachable},
    crds::{Held, told as tell_held},
    delete::Live,
    elsewhere::elsewhere,
    inhabitants::Inhabitants,
    object::Id,
    owner::{Owner, Removal},
    proxy::Proxies,
    refusal::{Refusal, all as refuse},
    request::Answer,
    told::{Became, Told, Verb},
    wait::Limit,
};
use self::{discovery::Resource, request::Bounds};

/// A connection to one API server, as one of its users.
pub struct Cluster {
    client: Client,
    runtime: Runtime,
    /// The server's address, for messages.
    pub server: String,
    /// The namespace that the kubeconfig's context names.
    pub namespace: String,
    /// As whom objects are applied, and whose they are after it.
    owner: Owner,
    bounds: Bounds,
    /// The kinds that it was asked for, by group and version.
    known: RefCell<BTreeMap<String, Vec<Resource>>>,
}

/// A secret that nobody can guess.
pub fn token() -> String {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).expect("an operating system has random numbers");
    bytes.iter().map(|it| format!("{it:02x}")).collect()
}

/// Ports of 127.0.0.1 that nobody listens on: all are asked for before any is given back.
pub fn free_ports<const N: usize>() -> anyhow::Result<[u16; N]> {
    let mut res = [0; N];
    let mut held = Vec::new();
    for port in &mut res {
        let listener = TcpListener::bind(("127.0.0.1", 0)).context("looking for a free port")?;
        *port = listener.local_addr().context("looking for a free port")?.port();
        held.push(listener);
    }
    Ok(res)
}

impl Cluster {
    /// Acts for this owner from now on.
    pub fn act_for(&mut self, owner: Owner) {
        self.owner = owner;
    }

    /// Lets time pass before something is looked at again.
    pub fn pause(&self, time: Duration) {
        // The clock belongs to the runtime: the sleep must be made inside of it.
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }
}
