//! Requests to the registry: with its address, a token, redirects, and more than one attempt.

use std::{sync::atomic::Ordering, thread, time::Duration};

use anyhow::Context as _;
use ureq::http::{Uri, uri::Authority};

use super::{
    Registry, Right,
    client::{HttpRequest, HttpResponse, has_possible_port, is_loopback},
    fault::{Fault, OF_A_CA},
};
use diagnostics::Hint as _;

/// The longest message of an error.
pub const LONGEST_MESSAGE: u64 = 64 << 10;

/// Attempts to send a request, and the pauses between them.
const PAUSES: [Duration; 3] =
    [Duration::from_millis(250), Duration::from_secs(1), Duration::from_secs(3)];

/// A registry's wish for a pause is granted up to here.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A request to the registry.
pub struct Call<'a> {
    pub method: &'static str,
    pub url: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<&'a [u8]>,
    pub limit: u64,
}

impl<'a> Call<'a> {
    pub fn new(method: &'static str, url: String) -> Self {
        Self { method, url, headers: Vec::new(), body: None, limit: LONGEST_MESSAGE }
    }

    pub fn header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub fn body(mut self, body: &'a [u8]) -> Self {
        self.body = Some(body);
        self
    }
}

impl Registry {
    /// Sends a request, with a new token if the old one is not valid any more; follows redirects without credentials.
    pub fn send_authorized(
        &self,
        call: Call<'_>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<HttpResponse, Fault> {
        let mut renewed = 0;
        loop {
            let used = self.authorization();
            let (url, response) = self.follow_redirects(&call, used.as_deref(), progress)?;
            match response.status.as_u16() {
                // Another server could name its own token server, which would get the registry's credentials.
                401 if !is_of(&url, &self.origin_if_known()) => return Err(of_other_server(&url)),
                // Once for the first token, and once more where a token was known and has ended.
                401 if renewed < 2 => {
                    self.authorize(&response, used.as_deref())?;
                    renewed += 1;
                }
                200..=299 => return Ok(response),
                _ => return Err(Fault::from_response(&response, &self.secrets())),
            }
        }
    }

    /// The response after all redirects, and the URL that it came from.
    fn follow_redirects(
        &self,
        call: &Call<'_>,
        authorization: Option<&str>,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(String, HttpResponse), Fault> {
        let origin = self.origin_if_known();
        let mut url = call.url.clone();
        for _ in 0..6 {
            let mut headers = call.headers.clone();
            if is_of(&url, &origin)
                && let Some(authorization) = authorization
            {
                headers.push(("Authorization", authorization.to_owned()));
            }
            let response = self.client.send(HttpRequest {
                method: call.method,
                url: &url,
                headers,
                body: call.body,
                progress: &mut *progress,
                limit: call.limit,
            })?;
            match (response.status.as_u16(), response.header("Location")) {
                (301 | 302 | 303 | 307 | 308, Some(to))
                    if matches!(call.method, "GET" | "HEAD") =>
                {
                    url = resolve_location(&url, to)?
                }
                _ => return Ok((url, response)),
            }
        }
        Err(Fault::other("it redirects in a circle"))
    }

    /// Repeats what fails for a moment.
    pub fn retry<T>(&self, mut attempt: impl FnMut() -> Result<T, Fault>) -> Result<T, Fault> {
        let mut pauses = PAUSES.iter();
        loop {
            let fault = match attempt() {
                Ok(done) => return Ok(done),
                Err(fault) => fault,
            };
            if self.client.is_stopped.load(Ordering::Relaxed) {
                return Err(fault);
            }
            match (fault.is_passing(), pauses.next()) {
                (Some(after), Some(pause)) => {
                    let (pause, deadline) = (after.unwrap_or(*pause), self.client.deadline);
                    let pause = pause.min(LONGEST_PAUSE);
                    if deadline.time_left() < pause {
                        let what = format!("the next attempt: {}: {fault}", self.name);
                        return Err(Fault::Late(deadline.timed_out_waiting_for(what)));
                    }
                    thread::sleep(pause);
                }
                _ => return Err(fault),
            }
        }
    }

    /// The scheme and the address of the server. A registry on this machine may have no TLS.
    pub fn origin_url(&self) -> anyhow::Result<String> {
        if let Some(origin) = self.origin.get() {
            return Ok(origin.clone());
        }
        let of = |scheme: &str| format!("{scheme}://{}", self.address());
        let origin = if self.plain_http { of("http") } else { of("https") };
        let uri = origin.parse::<Uri>().ok();
        let uri = uri.filter(|uri| uri.authority().is_some_and(has_possible_port));
        let uri =
            uri.with_context(|| format!("`{}` is not the address of a registry", self.address()));
        let uri = uri.hint("write the name of its host, and a port up to 65535 if it needs one")?;
        let origin = if !self.plain_http && is_loopback(&uri) && !self.speaks_tls(&origin) {
            of("http")
        } else {
            origin
        };
        Ok(self.origin.get_or_init(|| origin).clone())
    }

    fn speaks_tls(&self, origin: &str) -> bool {
        let response = self.client.send(HttpRequest {
            method: "GET",
            url: &format!("{origin}/v2/"),
            headers: Vec::new(),
            body: None,
            progress: &mut |_| {},
            limit: LONGEST_MESSAGE,
        });
        match response {
            Ok(_) | Err(Fault::Unreachable(_)) => true,
            Err(Fault::Tls { is_certificate, .. }) => is_certificate,
            Err(_) => false,
        }
    }

    pub fn origin_if_known(&self) -> String {
        self.origin.get().cloned().unwrap_or_default()
    }

    /// A fault as an error, with the way out.
    pub fn explain_fault<T>(&self, result: Result<T, Fault>) -> anyhow::Result<T> {
        let fault = match result {
            Ok(done) => return Ok(done),
            Err(Fault::Late(late)) => return Err(late.into()),
            Err(fault) => fault,
        };
        let hint = match &fault {
            Fault::Status { code: 401 | 403, .. } => {
                let login = format!("`docker login {0}` or `podman login {0}`", self.name);
                match (&self.credentials, self.right) {
                    (None, _) => format!("log in with {login}, or pass `--authfile`"),
                    (_, Right::Pull) => format!(
                        "check the name, and that your account may pull from it; {login} changes the account"
                    ),
                    (_, Right::Push) => format!(
                        "check the name, and that your account may push to it; {login} changes the account"
                    ),
                }
            }
            Fault::Status { code: 404, .. } => {
                "check the image's name and tag; a private image may look as if it did not exist"
                    .to_owned()
            }
            Fault::Status { code: 429, .. } => {
                "the registry limits the number of requests: log in, or wait".to_owned()
            }
            Fault::Tls { message, .. } if message.ends_with(OF_A_CA) => {
                "make the certificate with `-addext basicConstraints=critical,CA:FALSE` in `openssl req -x509`, or sign one with the CA; `--tls-skip-verify` accepts any certificate"
                    .to_owned()
            }
            Fault::Tls { is_certificate: true, .. } => {
                "give the registry's CA with `--ca-file`; `--tls-skip-verify` accepts any certificate"
                    .to_owned()
            }
            Fault::Tls { .. } => {
                "if the registry has no TLS, pass `--plain-http`".to_owned()
            }
            Fault::Unreachable(_) => {
                "check the registry's address; HTTPS_PROXY is used if it is set".to_owned()
            }
            Fault::Proxy(_) => {
                "correct HTTPS_PROXY, or HTTP_PROXY where the registry has no TLS, or add the registry to NO_PROXY".to_owned()
            }
            Fault::Lost(_) => {
                "it was tried four times; check the registry's address and the network, or run the command again later".to_owned()
            }
            _ if fault.is_passing().is_some() => {
                "it was tried four times; run the command again later".to_owned()
            }
            Fault::Slow => "check the connection, or run the command again later".to_owned(),
            _ => "this is a fault of the registry or of a proxy before it".to_owned(),
        };
        Err(anyhow::format_err!("{}: {fault}", self.name)).hint(hint)
    }
}

/// Returns whether a URL is one of the server with this scheme and address.
pub fn is_of(url: &str, origin: &str) -> bool {
    url.strip_prefix(origin).is_some_and(|rest| rest.starts_with(['/', '?']))
}

/// The fault of a server that the registry sends us to, and that wants credentials.
fn of_other_server(url: &str) -> Fault {
    let uri = url.parse::<Uri>().ok();
    let server = uri.as_ref().and_then(Uri::authority).map_or("another server", Authority::as_str);
    Fault::Fatal(format!(
        "it redirects to {server}, which answered with status 401; credentials are not sent there"
    ))
}

/// The URL of a `Location`.
pub fn resolve_location(from: &str, location: &str) -> Result<String, Fault> {
    let bad = || Fault::other("it redirects to an address that is not a URL");
    let base: Uri = from.parse().map_err(|_| bad())?;
    let scheme = base.scheme_str().unwrap_or_default();
    let absolute = match location {
        it if it.starts_with("//") => format!("{scheme}:{it}"),
        it if it.starts_with('/') => {
            format!("{scheme}://{}{it}", base.authority().ok_or_else(bad)?)
        }
        it => it.to_owned(),
    };
    let uri: Uri = absolute.parse().map_err(|_| bad())?;
    let is_plain = match uri.scheme_str() {
        Some("https") => false,
        Some("http") => true,
        _ => return Err(bad()),
    };
    let authority =
        uri.authority().filter(|authority| !authority.host().is_empty()).ok_or_else(bad)?;
    // They would become an `Authorization`.
    if authority.as_str().contains('@') {
        return Err(Fault::other("it redirects to an address that contains a user or a password"));
    }
    if is_plain && scheme == "https" {
        return Err(Fault::other("it redirects to a server without TLS"));
    }
    Ok(absolute)
}

#[test]
fn a_location_does_not_downgrade_to_http() {
    let check = |location: &str, expected: Option<&str>| {
        let found = resolve_location("https://a.example/v2/x", location).ok();
        assert_eq!(found.as_deref(), expected, "{location}");
    };
    check("/v2/y?z=1", Some("https://a.example/v2/y?z=1"));
    check("https://b.example/y", Some("https://b.example/y"));
    check("//b.example/y", Some("https://b.example/y"));
    for text in [
        "http://a.example/",
        "",
        "y",
        "ftp://a/",
        "https://u:p@b/",
        "https:///x",
        "::",
        "file:///etc/passwd",
    ] {
        check(text, None);
    }
    assert!(is_of("https://a.example/v2/", "https://a.example"));
    assert!(!is_of("https://a.example.evil/v2/", "https://a.example"));
    assert!(!is_of("https://a.example:444/v2/", "https://a.example"));
}
