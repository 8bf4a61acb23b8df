//! Requests and their responses, which are limited in time and size whatever the server does.

use std::time::Duration;

use anyhow::Context as _;
use bytes::Bytes;
use http::{HeaderValue, Method, Request, header::ACCEPT, response::Parts};
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use kube::client::Body;

use super::{
    Cluster,
    decode::{DecodeError, decode_json},
    interrupt::{is_change, unless_interrupted},
    response::ApiResponse,
    unreachable::{Unreachable, unreachable_error},
};
use diagnostics::Hint as _;
use model::Deadline;

/// The limits of all responses of one category together.
pub(super) struct SizeLimits {
    pub what: &'static str,
    /// The bytes of their texts.
    pub text: usize,
    /// The bytes that their values take.
    pub memory: usize,
}

/// The size that further responses may have.
pub(super) struct RemainingSize {
    pub text: usize,
    pub memory: usize,
    limits: &'static SizeLimits,
}

impl From<&'static SizeLimits> for RemainingSize {
    fn from(limits: &'static SizeLimits) -> Self {
        Self { text: limits.text, memory: limits.memory, limits }
    }
}

impl RemainingSize {
    /// Returns the error of a response that exceeds the remaining size.
    fn exceeded_error(&self, request: &str, is_text: bool) -> anyhow::Error {
        let SizeLimits { what, text, memory } = self.limits;
        let limit = if is_text {
            format!("{} MiB", text >> 20)
        } else {
            format!("{} MiB of memory", memory >> 20)
        };
        let error = anyhow::format_err!(
            "the response to {request} exceeds the limit of {limit} for {what}"
        );
        let path = request.trim_start_matches("`GET ").split('`').next().unwrap_or_default();
        let hint = format!("`kubectl get --raw '{path}' | wc -c` shows its size");
        Err::<(), _>(error).hint(hint).unwrap_err()
    }
}

/// No object is larger than 3 MiB; the pods of a workload, and the events of a namespace, are read as one response.
const ANSWER: SizeLimits = SizeLimits { what: "one answer", text: 64 << 20, memory: 256 << 20 };

/// The longest pause that a server may ask for.
const LONGEST_PAUSE: u64 = 10;

/// Only so much of a text that is not JSON is kept, for messages.
const LONGEST_MESSAGE: usize = 64 << 10;

impl Cluster {
    /// Limits the time of each response, in addition to the deadline of all of them.
    pub fn limit_each_answer(&mut self, time: Duration) {
        self.response_time_limit = time;
    }

    /// Sets the deadline of everything from now on.
    pub fn renew_deadline(&self, deadline: Deadline) {
        self.deadline.set(deadline);
    }

    /// Sends a request. An error means that the connection failed; a refusal of the server is a response.
    pub(super) fn send(&self, request: &Request<Vec<u8>>) -> anyhow::Result<ApiResponse> {
        self.send_within(request, &mut RemainingSize::from(&ANSWER))
    }

    /// Sends a request. The size of its response is subtracted from `remaining`.
    pub(super) fn send_within(
        &self,
        request: &Request<Vec<u8>>,
        remaining: &mut RemainingSize,
    ) -> anyhow::Result<ApiResponse> {
        // An overloaded server says when to retry.
        for attempt in 0..5 {
            let answer = self.send_reading_again(request, remaining)?;
            if answer.code == 401 && attempt == 0 && self.renew_credentials()? {
                continue;
            }
            let Some(seconds) = answer.retry_after.filter(|_| answer.code == 429) else {
                return Ok(answer);
            };
            let pause = Duration::from_secs(seconds.min(LONGEST_PAUSE));
            if self.response_time_limit < pause {
                return Ok(answer);
            }
            if self.deadline.get().time_left() < pause {
                let what = self.describe_request(request);
                let why = format!("{what}, which the server asks to repeat after {seconds} s");
                return Err(self.deadline.get().too_short_for(why).into());
            }
            self.pause(pause)?;
        }
        self.send_reading_again(request, remaining)
    }

    /// Sends a request, and once more if it only reads and its connection was closed, as Go's clients do: a server that
    /// restarts, or a load balancer, closes connections that are in use.
    fn send_reading_again(
        &self,
        request: &Request<Vec<u8>>,
        remaining: &mut RemainingSize,
    ) -> anyhow::Result<ApiResponse> {
        let response = self.send_once(request, remaining);
        let is_closed = |error: &anyhow::Error| {
            error.downcast_ref::<Unreachable>().is_some_and(|error| error.is_closed)
        };
        if request.method() == Method::GET && response.as_ref().is_err_and(is_closed) {
            return self.send_once(request, remaining);
        }
        response
    }

    /// Describes a request for messages.
    fn describe_request<T>(&self, request: &Request<T>) -> String {
        format!("`{} {}` of {}", request.method(), request.uri().path(), self.server)
    }

    /// Gets a path.
    pub fn get(&self, path: &str) -> anyhow::Result<ApiResponse> {
        let request = Request::get(path).body(Vec::new());
        self.send(&request.with_context(|| format!("cannot request `{path}`"))?)
    }

    fn send_once(
        &self,
        request: &Request<Vec<u8>>,
        remaining: &mut RemainingSize,
    ) -> anyhow::Result<ApiResponse> {
        let deadline = self.deadline.get();
        let (is_change, what) = (is_change(request), self.describe_request(request));
        let mut request = request.clone().map(Body::from);
        let json = HeaderValue::from_static("application/json");
        request.headers_mut().entry(ACCEPT).or_insert(json);
        let late = || -> anyhow::Error {
            if deadline.is_over() {
                return deadline.timed_out_waiting_for(&what).into();
            }
            let seconds = self.response_time_limit.as_secs_f32();
            let reason = format!("no complete response after {seconds} s");
            Unreachable::new(&self.server, reason).into()
        };
        let limit = deadline.at_most(self.response_time_limit);
        if limit.is_over() {
            return Err(late());
        }
        let response = async {
            tokio::time::timeout(
                limit.time_left(),
                self.receive_response(request, remaining, &what),
            )
            .await
        };
        let response = unless_interrupted(&self.interrupt, is_change, response);
        let response = self.runtime.block_on(response)?;
        let (parts, text) = response.unwrap_or_else(|_| Err(late()))?;
        let body = match decode_json(&text, &mut remaining.memory, limit) {
            Ok(body) => body,
            Err(DecodeError::NotJson) => {
                let beginning = &text[..text.len().min(LONGEST_MESSAGE)];
                String::from_utf8_lossy(beginning).into_owned().into()
            }
            Err(DecodeError::TooLarge) => return Err(remaining.exceeded_error(&what, false)),
            Err(DecodeError::TimedOut) => return Err(late()),
        };
        remaining.text -= text.len();
        let warnings = parts.headers.get_all("Warning").iter();
        let retry_after = parts.headers.get("Retry-After").and_then(|header| header.to_str().ok());
        Ok(ApiResponse {
            code: parts.status.as_u16(),
            body,
            warnings: warnings.filter_map(|header| warning_text(header.to_str().ok()?)).collect(),
            retry_after: retry_after.and_then(|seconds| seconds.parse().ok()),
        })
    }

    /// The head of the response, and its whole text.
    async fn receive_response(
        &self,
        request: Request<Body>,
        remaining: &RemainingSize,
        what: &str,
    ) -> anyhow::Result<(Parts, Bytes)> {
        let client = self.client.borrow().clone();
        let response = client.send(request).await;
        let response = response.map_err(|error| unreachable_error(&error, &self.server))?;
        let (parts, body) = response.into_parts();
        match Limited::new(body, remaining.text).collect().await {
            Ok(body) => Ok((parts, body.to_bytes())),
            Err(error) if error.is::<LengthLimitError>() => {
                Err(remaining.exceeded_error(what, true))
            }
            Err(_) => Err(Unreachable::new(&self.server, "its response ended early").into()),
        }
    }
}

/// The text of a `Warning` header: a code, an agent, and the text in quotes (RFC 7234, 5.5).
fn warning_text(header: &str) -> Option<String> {
    let quoted = header.split_once('"')?.1;
    let mut text = String::new();
    let mut letters = quoted.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => text.extend(letters.next()),
            '"' => break,
            it => text.push(it),
        }
    }
    Some(text)
}

#[test]
fn the_text_of_a_warning_is_in_quotes() {
    assert_eq!(
        warning_text("299 - \"unknown field \\\"a\\\"\""),
        Some("unknown field \"a\"".to_owned())
    );
    assert_eq!(warning_text("299 -"), None);
}

#[test]
fn a_silent_server_is_not_waited_for_without_end() {
    // This connection is never accepted.
    let silent = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let mut cluster = Cluster::without_auth(&url);
    cluster.limit_each_answer(Duration::from_millis(200));
    let error = cluster.get("/apis").unwrap_err();
    assert!(error.is::<Unreachable>());
    let expected = format!("cannot connect to {url}: no complete response after 0.2 s");
    assert_eq!(error.to_string(), expected);
    cluster.renew_deadline(Deadline::after(Duration::from_millis(100)));
    let late = format!("timed out after 100ms while waiting for `GET /apis` of {url}");
    assert_eq!(cluster.get("/apis").unwrap_err().to_string(), late);
    // The deadline has passed: nothing is sent.
    assert_eq!(cluster.get("/apis").unwrap_err().to_string(), late);
}

#[test]
fn only_a_request_that_reads_is_sent_again_when_its_connection_is_closed() {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = std::thread::spawn(move || {
        // Responds on the second and the fifth connection, and closes the others.
        for number in 1..=5 {
            let (mut stream, _) = listener.accept().unwrap();
            let _ = stream.read(&mut [0; 4096]).unwrap();
            if [2, 5].contains(&number) {
                let answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}";
                stream.write_all(answer.as_bytes()).unwrap();
            }
        }
    });
    let cluster = Cluster::without_auth(&url);
    assert_eq!(cluster.get("/apis").unwrap().code, 200);
    // The third and the fourth connection: a change is not repeated, since the server may have made it.
    for body in ["first", "second"] {
        let change = Request::post("/apis").body(body.into()).unwrap();
        let error = cluster.send(&change).unwrap_err();
        assert!(error.to_string().starts_with(&format!("cannot connect to {url}: ")), "{error}");
    }
    assert_eq!(cluster.get("/apis").unwrap().code, 200);
    server.join().unwrap();
}
