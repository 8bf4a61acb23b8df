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
mod object;
mod owned;
mod pending;
mod refusal;
mod rollout;
mod told;
mod wait;

use std::{cell::RefCell, collections::BTreeMap, net::TcpListener, time::Duration};

use anyhow::Context as _;
use http::Request;
use kube::{Client, client::Body};
use tokio::runtime::Runtime;

use self::discovery::Resource;
pub use self::{
    apply::How,
    connect::{Target, Unreachable},
    crds::{Held, told as tell_held},
    delete::Live,
    elsewhere::elsewhere,
    object::Id,
    owned::Standing,
    refusal::all as refuse,
    told::{Became, Told, Verb},
    wait::Limit,
};
use crate::yaml::Value;

/// A connection to one API server, as one of its users.
pub struct Cluster {
    client: Client,
    runtime: Runtime,
    /// The server's address, for messages.
    pub server: String,
    /// The namespace that the kubeconfig's context names.
    pub namespace: String,
    /// The kinds that it was asked for, by group and version.
    known: RefCell<BTreeMap<String, Vec<Resource>>>,
}

/// What is sent.
pub enum Content<'a> {
    Nothing,
    Json(&'a Value),
    /// A server-side apply.
    Apply(&'a Value),
}

/// What an API server answered, refusals included.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The object, list or `Status`; a text where it is no JSON.
    pub body: Value,
    /// What it says about the request, although it served it.
    pub warnings: Vec<String>,
    /// The seconds after which it wants to be asked again.
    pub retry_after: Option<u64>,
}

impl Answer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// What a refusal says.
    pub fn message(&self) -> String {
        match (self.body["message"].as_str(), &self.body) {
            (Some(message), _) => message.to_owned(),
            (None, Value::String(text)) if !text.trim().is_empty() => text.trim().to_owned(),
            _ => format!("HTTP status {}", self.code),
        }
    }
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
    /// Sends one request. An error is one of the connection; what the server refuses is an answer.
    pub fn send(&self, method: &str, path: &str, content: &Content<'_>) -> anyhow::Result<Answer> {
        // A server that is overloaded says when to come back.
        for _ in 0..5 {
            let answer = self.request(method, path, "application/json", content)?;
            match answer.retry_after.filter(|_| answer.code == 429) {
                Some(seconds) => self.pause(Duration::from_secs(seconds.min(10))),
                None => return Ok(answer),
            }
        }
        self.request(method, path, "application/json", content)
    }

    fn request(
        &self,
        method: &str,
        path: &str,
        accept: &str,
        content: &Content<'_>,
    ) -> anyhow::Result<Answer> {
        let (kind, body) = match content {
            Content::Nothing => ("application/json", Vec::new()),
            Content::Json(it) => ("application/json", it.to_string().into_bytes()),
            Content::Apply(it) => ("application/apply-patch+yaml", it.to_string().into_bytes()),
        };
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("Accept", accept)
            .header("Content-Type", kind)
            .body(Body::from(body))
            .with_context(|| format!("asking for `{path}`"))?;
        self.runtime.block_on(async {
            let response = self.client.send(request).await;
            let response = response.map_err(|it| connect::fault(&it, &self.server))?;
            let (parts, body) = response.into_parts();
            let bytes = body.collect_bytes().await;
            let bytes = bytes.with_context(|| format!("reading what {} says", self.server))?;
            let warnings = parts.headers.get_all("Warning").iter();
            let retry_after = parts.headers.get("Retry-After").and_then(|it| it.to_str().ok());
            Ok(Answer {
                code: parts.status.as_u16(),
                body: serde_json::from_slice(&bytes)
                    .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into()),
                warnings: warnings.filter_map(|it| warning(it.to_str().ok()?)).collect(),
                retry_after: retry_after.and_then(|it| it.parse().ok()),
            })
        })
    }

    /// The object or list at a path.
    pub fn get(&self, path: &str) -> anyhow::Result<Answer> {
        self.send("GET", path, &Content::Nothing)
    }

    /// A list without what is in its objects: their metadata alone.
    pub fn get_metadata(&self, path: &str) -> anyhow::Result<Answer> {
        let metadata = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
        self.request("GET", path, metadata, &Content::Nothing)
    }

    /// Lets time pass before something is looked at again.
    pub fn pause(&self, time: Duration) {
        // The clock belongs to the runtime: the sleep must be made inside of it.
        self.runtime.block_on(async { tokio::time::sleep(time).await });
    }
}

/// The text of a `Warning` header: a code, an agent, and the text in quotes (RFC 7234, 5.5).
fn warning(header: &str) -> Option<String> {
    let quoted = header.split_once('"')?.1;
    let mut res = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => res.extend(letters.next()),
            '"' => break,
            it => res.push(it),
        }
    }
    Some(res)
}

#[test]
fn the_text_of_a_warning_is_what_stands_in_quotes() {
    assert_eq!(
        warning("299 - \"unknown field \\\"a\\\"\""),
        Some("unknown field \"a\"".to_owned())
    );
    assert_eq!(warning("299 -"), None);
}
