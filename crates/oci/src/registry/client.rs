//! HTTP requests with limits.

use std::{
    collections::BTreeMap,
    io::{self, Read},
    net::IpAddr,
    sync::{
        Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use anyhow::Context as _;
use hyper_util::client::proxy::matcher::Matcher;
use ureq::{
    Agent, AsSendBody, Body, Proxy, SendBody,
    http::{HeaderMap, Request, Response, StatusCode, Uri, uri::Authority},
    tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem},
};

use super::{Proxies, fault::Fault, lock};
use diagnostics::Hint as _;
use model::Deadline;

const CONNECTING: Duration = Duration::from_secs(20);

/// The number of bytes that are read between two reports of progress.
const PIECE: usize = 1 << 16;

/// The time limits of a request.
#[derive(Clone, Copy)]
pub struct Timeouts {
    /// Timeout without any response from a server.
    pub silence: Duration,
    /// The time limit for a small request, for the head of its response, and for a small body. Larger bodies may take
    /// longer, at this rate at least.
    pub small: Duration,
}

const TIMEOUTS: Timeouts =
    Timeouts { silence: Duration::from_secs(60), small: Duration::from_secs(60) };

/// The number of requests that are sent at the same time, as docker does it.
pub const AT_ONCE: usize = 5;

const BYTES_A_SECOND: u64 = (32 << 10) / AT_ONCE as u64;

pub struct Client {
    pub deadline: Deadline,
    pub timeouts: Timeouts,
    /// True if bodies that are still being sent are not needed any more.
    pub is_stopped: AtomicBool,
    skip_verify: bool,
    roots: RootCerts,
    proxies: Proxies,
    /// One for each proxy, and one for none: each keeps its connections open.
    agents: Mutex<BTreeMap<Option<String>, Agent>>,
}

/// A request. Its URL may contain secrets.
pub struct HttpRequest<'a> {
    pub method: &'static str,
    pub url: &'a str,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<&'a [u8]>,
    /// Gets how much of the body is sent, or of the response is there.
    pub progress: &'a mut dyn FnMut(u64),
    /// The limit of the bytes of the response. It is read up to there.
    pub limit: u64,
}

#[derive(Debug)]
pub struct HttpResponse {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl HttpResponse {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }
}

impl Client {
    pub fn new(
        deadline: Deadline,
        skip_verify: bool,
        ca: Option<&[u8]>,
        proxies: Proxies,
    ) -> anyhow::Result<Self> {
        let roots = if skip_verify { RootCerts::WebPki } else { trusted_roots(ca)? };
        Ok(Self {
            deadline,
            timeouts: TIMEOUTS,
            is_stopped: AtomicBool::new(false),
            skip_verify,
            roots,
            proxies,
            agents: Mutex::default(),
        })
    }

    /// Sends a request once and reads the response, whatever its status is.
    pub fn send(&self, ask: HttpRequest<'_>) -> Result<HttpResponse, Fault> {
        let what = describe_request(ask.method, ask.url);
        let response =
            if self.deadline.is_over() { Err(Fault::Slow) } else { self.receive_response(ask) };
        match response {
            // Whatever has failed because there was no time left.
            Err(Fault::Slow | Fault::Lost(_)) if self.deadline.is_over() => {
                Err(Fault::Late(self.deadline.timed_out_waiting_for(what)))
            }
            response => response,
        }
    }

    fn receive_response(&self, ask: HttpRequest<'_>) -> Result<HttpResponse, Fault> {
        let HttpRequest { method, url, headers, body, progress, limit } = ask;
        let agent = self.agent_for(url)?;
        let mut request = Request::builder().method(method).uri(url);
        for (name, value) in headers {
            request = request.header(name, value);
        }
        let is_read = body.is_none();
        let size = body.map_or(0, <[u8]>::len) as u64;
        let invalid = |_| Fault::other("the URL is not valid");
        let response = match body {
            None => self.run_with_timeouts(&agent, request.body(()).map_err(invalid)?, size),
            Some(body) => {
                let mut reader = Sent {
                    rest: body,
                    sent: 0,
                    is_stopped: &self.is_stopped,
                    progress: &mut *progress,
                };
                let request = request.header("Content-Length", size);
                let body = SendBody::from_reader(&mut reader);
                self.run_with_timeouts(&agent, request.body(body).map_err(invalid)?, size)
            }
        };
        let mut response = response.map_err(Fault::from_ureq_error)?;
        let (status, headers) = (response.status(), response.headers().clone());
        let mut bytes = Vec::new();
        if method != "HEAD" {
            let progress: &mut dyn FnMut(u64) = if is_read { progress } else { &mut |_| {} };
            bytes = self.read(response.body_mut(), limit, progress)?;
        }
        Ok(HttpResponse { status, headers, bytes })
    }

    fn run_with_timeouts<T: AsSendBody>(
        &self,
        agent: &Agent,
        request: Request<T>,
        size: u64,
    ) -> Result<Response<Body>, ureq::Error> {
        let small = self.timeouts.small;
        let request = agent.configure_request(request);
        let request = request
            .timeout_global(Some(self.deadline.time_left()))
            .timeout_send_request(Some(small))
            .timeout_send_body(Some(small + body_time_limit(size)))
            .timeout_recv_response(Some(small));
        agent.run(request.build())
    }

    /// Reads the body of an response, which may have any length up to the limit but must not be slow.
    fn read(
        &self,
        body: &mut Body,
        limit: u64,
        progress: &mut dyn FnMut(u64),
    ) -> Result<Vec<u8>, Fault> {
        let begin = self.deadline.time_left();
        let mut body = body.with_config().limit(u64::MAX).reader();
        let (mut bytes, mut piece) = (Vec::new(), vec![0; PIECE]);
        loop {
            let count = match body.read(&mut piece) {
                Ok(0) => return Ok(bytes),
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(Fault::from_io_error(error)),
            };
            bytes.extend_from_slice(&piece[..count]);
            let received = bytes.len() as u64;
            if received > limit {
                return Err(Fault::Fatal("it sent more bytes than expected".to_owned()));
            }
            let elapsed = begin.saturating_sub(self.deadline.time_left());
            if elapsed > self.timeouts.small + body_time_limit(received) {
                return Err(Fault::Slow);
            }
            progress(received);
        }
    }

    fn agent_for(&self, url: &str) -> Result<Agent, Fault> {
        let uri: Uri = url.parse().map_err(|_| Fault::other("the URL is not valid"))?;
        let proxy = self.proxies.proxy_for(&uri).map(str::to_owned);
        if let Some(agent) = lock(&self.agents).get(&proxy) {
            return Ok(agent.clone());
        }
        let through = proxy.as_deref().map(http_proxy).transpose()?;
        let tls = TlsConfig::builder()
            .root_certs(self.roots.clone())
            .disable_verification(self.skip_verify)
            .build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .user_agent(concat!("operator-rs/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECTING))
            .timeout_per_read(Some(self.timeouts.silence))
            .timeout_per_write(Some(self.timeouts.silence))
            .max_idle_connections_per_host(AT_ONCE)
            .proxy(through)
            .tls_config(tls)
            .build()
            .new_agent();
        lock(&self.agents).insert(proxy, agent.clone());
        Ok(agent)
    }
}

/// The time limit for a body of this size.
fn body_time_limit(bytes: u64) -> Duration {
    Duration::from_secs(bytes / BYTES_A_SECOND)
}

/// A request without the parts of its URL that may be secret.
fn describe_request(method: &str, url: &str) -> String {
    let uri = url.parse::<Uri>().unwrap_or_default();
    let server = uri.authority().map_or("", |authority| authority.as_str());
    let server = server.rsplit('@').next().unwrap_or_default();
    super::clean(&format!("`{method} {}` of {server}", uri.path()))
}

/// The certificates that are trusted: the system's, and Mozilla's where the system has none.
fn trusted_roots(ca: Option<&[u8]>) -> anyhow::Result<RootCerts> {
    let system = rustls_native_certs::load_native_certs().certs;
    let own = |certificate: &[u8]| Certificate::from_der(certificate).to_owned();
    let mut all: Vec<Certificate<'static>> =
        system.iter().map(|certificate| own(certificate)).collect();
    let Some(pem) = ca else {
        return Ok(if all.is_empty() { RootCerts::WebPki } else { all.into() });
    };
    let before = all.len();
    for item in parse_pem(pem) {
        if let PemItem::Certificate(it) =
            item.context("cannot read the certificates of `--ca-file`")?
        {
            all.push(it);
        }
    }
    if all.len() == before {
        return Err(anyhow::format_err!("the file of `--ca-file` has no certificate"))
            .hint("give a file in PEM, with lines `-----BEGIN CERTIFICATE-----`");
    }
    Ok(all.into())
}

impl Proxies {
    /// The proxy for a URL, if it is not one of this machine's own.
    pub fn proxy_for(&self, url: &Uri) -> Option<&str> {
        let proxy = match url.scheme_str() {
            Some("http") => self.http.as_deref(),
            _ => self.https.as_deref(),
        };
        let proxy = proxy.filter(|address| !address.trim().is_empty())?;
        // The matcher does not support `*` for addresses.
        let is_wildcard = self.none.split(',').any(|entry| entry.trim() == "*");
        // It drops a proxy whose address it cannot read, so it is asked about any other.
        let matcher = Matcher::builder().all("http://proxy").no(&*self.none).build();
        let is_used = !is_wildcard && !is_loopback(url) && matcher.intercept(url).is_some();
        is_used.then_some(proxy)
    }
}

/// The proxy of an address. It is not shown: it may contain a password.
fn http_proxy(address: &str) -> Result<Proxy, Fault> {
    let bad = || Fault::Proxy("the proxy's address in the environment is not a URL".to_owned());
    let uri: Uri = address.parse().map_err(|_| bad())?;
    if let Some(scheme) = uri.scheme_str().map(str::to_ascii_lowercase)
        && !matches!(&*scheme, "http" | "https")
    {
        let scheme = super::clean(&scheme);
        return Err(Fault::Proxy(format!(
            "the proxy in the environment has the scheme `{scheme}`, and only HTTP proxies are supported"
        )));
    }
    if uri
        .authority()
        .is_none_or(|authority| authority.host().is_empty() || !has_possible_port(authority))
    {
        return Err(bad());
    }
    Proxy::new(address).map_err(|_| bad())
}

/// Returns whether an address has no port, or one up to 65535.
pub fn has_possible_port(address: &Authority) -> bool {
    let host = address.host();
    let server = address.as_str().rsplit_once('@').map_or(address.as_str(), |parts| parts.1);
    server.len() == host.len() || address.port_u16().is_some_and(|port| port > 0)
}

/// Returns whether a URL is one of this machine.
pub fn is_loopback(url: &Uri) -> bool {
    let host = url.host().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

/// Reports how much of a body is sent.
struct Sent<'a> {
    rest: &'a [u8],
    sent: u64,
    is_stopped: &'a AtomicBool,
    progress: &'a mut dyn FnMut(u64),
}

impl Read for Sent<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Err(io::Error::other("another transfer has failed"));
        }
        let found = self.rest.read(buffer)?;
        self.sent += found as u64;
        (self.progress)(self.sent);
        Ok(found)
    }
}
