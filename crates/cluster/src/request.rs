//! Requests and their answers, which are limited in time and size whatever the server does.

use std::time::Duration;

use anyhow::Context as _;
use http::{HeaderValue, Request, header::ACCEPT};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::{
    api::{GetParams, Patch, PatchParams},
    client::Body,
};

use super::{
    Cluster, Id,
    connect::{self, Unreachable},
    discovery::Resource,
    interrupt::{is_change, unless_interrupted},
    object::{uid, version},
    refusal::{self, Refusal},
    wait::Limit,
};
use go_data::yaml::Value;

/// The answer of an API server, which may be a refusal.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub code: u16,
    /// The object, list or `Status`; a string if it is not JSON.
    pub body: Value,
    /// Warnings about a request that the server has served.
    pub warnings: Vec<String>,
    /// The seconds to wait before a retry.
    pub retry_after: Option<u64>,
}

/// The limits of an answer.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    pub time: Duration,
    pub bytes: usize,
    /// When all answers have to be there, so that an overloaded server is not asked again.
    pub end: Option<Limit>,
}

impl Default for Bounds {
    fn default() -> Self {
        // API servers end a request after a minute. A page of the largest objects has about this size.
        Self { time: Duration::from_secs(90), bytes: 256 << 20, end: None }
    }
}

impl Answer {
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.code)
    }

    /// The message of a refusal; only its beginning if it is not from an API server.
    pub fn message(&self) -> String {
        let text = match (self.body["message"].as_str(), &self.body) {
            (Some(message), _) => message,
            (None, Value::String(text)) => text.trim().lines().next().unwrap_or_default(),
            _ => "",
        };
        match text.char_indices().nth(2000) {
            _ if text.is_empty() => format!("HTTP status {}", self.code),
            None => text.to_owned(),
            Some((end, _)) => format!("{}…", &text[..end]),
        }
    }
}

impl Cluster {
    /// From now on, each answer has this long, and all of them together have until the limit.
    pub fn hurry(&mut self, time: Duration, limit: Limit) {
        self.bounds = Bounds { time, end: Some(limit), ..self.bounds };
    }

    /// Sends a request. An error means that the connection failed; a refusal of the server is an answer.
    pub(super) fn send(&self, request: &Request<Vec<u8>>) -> anyhow::Result<Answer> {
        // An overloaded server says when to retry.
        let attempts = if self.bounds.end.is_some() { 0 } else { 5 };
        for _ in 0..attempts {
            let answer = self.send_once(request)?;
            match answer.retry_after.filter(|_| answer.code == 429) {
                Some(seconds) => self.pause(Duration::from_secs(seconds.min(10)))?,
                None => return Ok(answer),
            }
        }
        self.send_once(request)
    }

    /// Gets a path.
    pub fn get(&self, path: &str) -> anyhow::Result<Answer> {
        let request = Request::get(path).body(Vec::new());
        self.send(&request.with_context(|| format!("cannot request `{path}`"))?)
    }

    /// An object of a kind that the server must serve; none if the object does not exist.
    pub fn read(&self, id: &Id) -> anyhow::Result<Option<Value>> {
        let Some(resource) = self.resource(id)? else { return Ok(None) };
        self.one(&resource, id)?.map_err(|it| it.into_error(&format!("{id} cannot be read")))
    }

    /// Whether the server has a kind.
    pub fn serves(&self, api_version: &str, kind: &str) -> anyhow::Result<bool> {
        Ok(self.resources(api_version)?.iter().any(|it| it.api.kind == kind))
    }

    /// Merges fields into an object; false if it has been changed since it was read.
    pub fn merge(&self, live: &Value, mut fields: Value) -> anyhow::Result<bool> {
        let id = Id::of(live);
        let Some(resource) = self.resource(&id)? else {
            anyhow::bail!("{} is no longer served", id.kind)
        };
        fields["metadata"]["uid"] = uid(live).into();
        fields["metadata"]["resourceVersion"] = version(live).into();
        let (requests, name) = resource.one(&id)?;
        let field_manager = Some(self.owner.creator.clone());
        let params = PatchParams { field_manager, ..PatchParams::default() };
        let answer = self.send(&requests.patch(&name, &params, &Patch::Merge(fields))?)?;
        match answer.code {
            409 => Ok(false),
            _ if answer.is_success() => Ok(true),
            _ => Err(refusal::of(&answer).into_error(&format!("{id} cannot be changed"))),
        }
    }

    /// An object; none if it does not exist. Any other object in the answer is refused.
    pub(super) fn one(
        &self,
        resource: &Resource,
        id: &Id,
    ) -> anyhow::Result<Result<Option<Value>, Refusal>> {
        let (requests, name) = resource.one(id)?;
        let answer = self.send(&requests.get(&name, &GetParams::default())?)?;
        match answer.code {
            200 => {}
            404 => return Ok(Ok(None)),
            _ => return Ok(Err(refusal::of(&answer))),
        }
        let is = Id::of(&answer.body);
        let same_place = !resource.namespaced || is.namespace == id.namespace;
        if is.kind != id.kind || is.name != id.name || !same_place || uid(&answer.body).is_empty() {
            let message = "the server returned a different object";
            return Ok(Err(Refusal::new(message, None)));
        }
        Ok(Ok(Some(answer.body)))
    }

    fn send_once(&self, request: &Request<Vec<u8>>) -> anyhow::Result<Answer> {
        let is_change = is_change(request);
        let mut request = request.clone().map(Body::from);
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().entry(ACCEPT).or_insert(json);
        let left = self.bounds.end.map_or(self.bounds.time, |it| it.left().min(self.bounds.time));
        let answer = async { tokio::time::timeout(left, self.exchange(request)).await };
        let answer = unless_interrupted(&self.interrupt, is_change, answer);
        self.runtime.block_on(answer)?.unwrap_or_else(|_| {
            let seconds = left.as_secs_f32();
            let reason = format!("no complete response after {seconds} s");
            Err(Unreachable::new(&self.server, reason).into())
        })
    }

    async fn exchange(&self, request: Request<Body>) -> anyhow::Result<Answer> {
        let what = format!("{} {}", request.method(), request.uri().path());
        let response = self.client.send(request).await;
        let response = response.map_err(|it| connect::fault(&it, &self.server))?;
        let (parts, body) = response.into_parts();
        let bytes = match Limited::new(body, self.bounds.bytes).collect().await {
            Ok(body) => body.to_bytes(),
            Err(error) if error.is::<LengthLimitError>() => {
                let mebibytes = self.bounds.bytes >> 20;
                anyhow::bail!("the server's response to `{what}` is larger than {mebibytes} MiB")
            }
            Err(_) => return Err(Unreachable::new(&self.server, "its response ended early").into()),
        };
        let warnings = parts.headers.get_all("Warning").iter();
        let retry_after = parts.headers.get("Retry-After").and_then(|it| it.to_str().ok());
        Ok(Answer {
            code: parts.status.as_u16(),
            body: serde_json::from_slice(&bytes)
                .unwrap_or_else(|_| String::from_utf8_lossy(&bytes).into_owned().into()),
            warnings: warnings.filter_map(|it| warning(it.to_str().ok()?)).collect(),
            retry_after: retry_after.and_then(|it| it.parse().ok()),
        })
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
fn the_text_of_a_warning_is_in_quotes() {
    assert_eq!(
        warning("299 - \"unknown field \\\"a\\\"\""),
        Some("unknown field \"a\"".to_owned())
    );
    assert_eq!(warning("299 -"), None);
}

#[test]
fn only_the_beginning_of_a_long_refusal_is_shown() {
    let message =
        |body: Value| Answer { code: 502, body, warnings: Vec::new(), retry_after: None }.message();
    assert_eq!(message("<html>\n<body>".into()), "<html>");
    assert_eq!(message(Value::Null), "HTTP status 502");
    assert_eq!(message("x".repeat(9999).into()).chars().count(), 2001);
}

#[test]
fn a_silent_server_is_not_waited_for_without_end() {
    // This connection is never accepted.
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let bounds = Bounds { time: Duration::from_millis(200), bytes: 1 << 20, end: None };
    let cluster = Cluster { bounds, ..Cluster::at(&url) };
    let error = cluster.get("/apis").unwrap_err();
    assert!(error.is::<Unreachable>());
    let expected = format!("cannot connect to {url}: no complete response after 0.2 s");
    assert_eq!(error.to_string(), expected);
}
