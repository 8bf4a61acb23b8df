//! A registry that is in this process, and lies where a test wants it to.

mod addresses;
mod parallel;
mod tokens;
mod transfers;

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    sync::{Arc, Barrier, Mutex},
    thread,
    time::Duration,
};

use super::*;
use diagnostics::collect_hints;
use model::{Blob, Descriptor, Digest};

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";

/// A request that the server got.
struct HttpRequest {
    method: String,
    /// With its query.
    path: String,
    headers: BTreeMap<String, String>,
    body: Vec<u8>,
}

impl HttpRequest {
    fn is(&self, method: &str, part: &str) -> bool {
        self.method == method && self.path.contains(part)
    }

    fn authorization(&self) -> &str {
        self.headers.get("authorization").map_or("", |it| it)
    }
}

/// The answers of the server.
enum Reply {
    HttpResponse {
        status: u16,
        headers: Vec<(&'static str, String)>,
        body: Vec<u8>,
    },
    /// A body that goes on for as long as somebody reads it.
    Endless,
    /// A body that ends before its announced length.
    Cut(Vec<u8>),
    /// The connection ends without an answer.
    HangUp,
    /// Nothing, or a byte now and then, for a minute.
    Silence,
    Trickle,
    TrickleOfHeaders,
    /// This answer, or an honest one, once so many requests wait for theirs.
    Together(Arc<Barrier>, Option<Box<Reply>>),
}

fn status(status: u16) -> Reply {
    Reply::HttpResponse { status, headers: Vec::new(), body: Vec::new() }
}

fn says(status: u16, body: &str) -> Reply {
    Reply::HttpResponse { status, headers: Vec::new(), body: body.as_bytes().to_vec() }
}

fn header(status: u16, name: &'static str, value: impl Into<String>) -> Reply {
    Reply::HttpResponse { status, headers: vec![(name, value.into())], body: Vec::new() }
}

/// The content of the registry.
#[derive(Default)]
struct Store {
    blobs: BTreeMap<String, Vec<u8>>,
    /// By tag and by digest.
    manifests: BTreeMap<String, Vec<u8>>,
    /// Method and path of each request, with a mark for its authorization.
    log: Vec<String>,
}

type Lie = dyn Fn(&HttpRequest, &mut Store) -> Option<Reply> + Send + Sync;

struct Server {
    address: String,
    store: Arc<Mutex<Store>>,
}

impl Server {
    /// A server that answers as a registry does, unless `lie` has another answer.
    fn new(
        lie: impl Fn(&HttpRequest, &mut Store) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
        let address = listener.local_addr().expect("it has an address").to_string();
        let store = Arc::<Mutex<Store>>::default();
        let (shared, lie): (_, Arc<Lie>) = (store.clone(), Arc::new(lie));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (shared, lie) = (shared.clone(), lie.clone());
                thread::spawn(move || serve(stream, &shared, &*lie));
            }
        });
        Self { address, store }
    }

    fn registry(&self, right: Right, access: Access) -> Registry {
        let image = format!("{}/a/b:v1", self.address).parse().expect("a name");
        Registry::new(&image, right, access).expect("it can be set up")
    }

    fn store(&self) -> std::sync::MutexGuard<'_, Store> {
        self.store.lock().expect("nobody panics with it")
    }

    fn log(&self) -> Vec<String> {
        self.store().log.clone()
    }

    /// Pushes a small image; returns the error, with its hints.
    fn push(&self, access: Access) -> Result<(), String> {
        self.push_blobs(&[b"layer", b"config"], access)
    }

    fn push_blobs(&self, blobs: &[&[u8]], access: Access) -> Result<(), String> {
        let blobs: Vec<Blob> = blobs.iter().map(|it| Blob::new("x", it.to_vec())).collect();
        let child = Blob::new(MANIFEST, b"{\"child\":1}".to_vec());
        let top = Blob::new(MANIFEST, b"{\"top\":1}".to_vec());
        let parts = Parts { blobs: blobs.iter().collect(), children: vec![&child], top: &top };
        into_text(self.registry(Right::Push, access).push("v1", &parts, &mut |_, _| {}))
    }

    fn pull(&self, reference: &str, access: Access) -> Result<Vec<u8>, String> {
        into_text(self.registry(Right::Pull, access).manifest(reference, &[MANIFEST]))
            .map(|it| it.bytes().to_vec())
    }

    fn blob(&self, bytes: &[u8], size: u64) -> Result<Vec<u8>, String> {
        let it =
            Descriptor { media_type: String::new(), digest: Digest::from_content(bytes), size };
        into_text(self.registry(Right::Pull, access()).blob(&it, &mut |_| {}))
            .map(|it| it.bytes().to_vec())
    }
}

fn into_text<T>(result: anyhow::Result<T>) -> Result<T, String> {
    result.map_err(|it| format!("{it:#} [{}]", collect_hints(&it).join(" | ")))
}

fn serve(stream: TcpStream, store: &Mutex<Store>, lie: &Lie) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut line = String::new();
        // Somebody who speaks TLS gets what a server without TLS says.
        if reader.read_line(&mut line).is_err() || line.is_empty() {
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n");
            return None;
        }
        let mut words = line.split_whitespace().map(str::to_owned);
        let (method, path) = (words.next()?, words.next()?);
        let mut headers = BTreeMap::new();
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            let Some((name, value)) = line.trim_end().split_once(": ") else { break };
            headers.insert(name.to_ascii_lowercase(), value.to_owned());
        }
        let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
        let mut body = vec![0; length];
        reader.read_exact(&mut body).ok()?;
        let ask = HttpRequest { method, path, headers, body };
        let lock = || store.lock().ok();
        let mut reply = {
            let mut store = lock()?;
            let mark = if ask.authorization().is_empty() { "" } else { " +" };
            store.log.push(format!("{} {}{mark}", ask.method, ask.path));
            lie(&ask, &mut store).unwrap_or_else(|| honest(&ask, &mut store))
        };
        if let Reply::Together(barrier, inner) = reply {
            barrier.wait();
            reply = match inner {
                Some(inner) => *inner,
                None => honest(&ask, &mut *lock()?),
            };
        }
        let (status, headers, body) = match reply {
            Reply::HttpResponse { status, headers, body } => (status, headers, body),
            Reply::HangUp | Reply::Together(..) => return None,
            Reply::Silence => {
                thread::sleep(Duration::from_secs(60));
                return None;
            }
            Reply::Trickle => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 600\r\n\r\n").ok()?;
                while stream.write_all(b"x").is_ok() {
                    thread::sleep(Duration::from_millis(100));
                }
                return None;
            }
            Reply::TrickleOfHeaders => {
                stream.write_all(b"HTTP/1.1 200 OK\r\n").ok()?;
                while stream.write_all(b"X: y\r\n").is_ok() {
                    thread::sleep(Duration::from_millis(100));
                }
                return None;
            }
            Reply::Cut(body) => {
                let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len() + 5);
                stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body)).ok()?;
                return None;
            }
            Reply::Endless => {
                stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").ok()?;
                let piece = [b"10000\r\n".to_vec(), vec![b' '; 1 << 16], b"\r\n".to_vec()].concat();
                while stream.write_all(&piece).is_ok() {}
                return None;
            }
        };
        let mut head = format!("HTTP/1.1 {status} X\r\nContent-Length: {}\r\n", body.len());
        headers.iter().for_each(|(name, value)| head += &format!("{name}: {value}\r\n"));
        let body = if ask.method == "HEAD" { &[][..] } else { &body };
        stream.write_all(&[head.as_bytes(), b"\r\n", body].concat()).ok()?;
    }
}

fn honest(ask: &HttpRequest, store: &mut Store) -> Reply {
    let path = ask.path.split('?').next().unwrap_or_default();
    let name = path.rsplit('/').next().unwrap_or_default().to_owned();
    let found = |it: Option<&Vec<u8>>| match it {
        Some(bytes) => {
            let headers = vec![
                ("Content-Type", MANIFEST.to_owned()),
                ("Docker-Content-Digest", Digest::from_content(bytes).to_string()),
            ];
            Reply::HttpResponse { status: 200, headers, body: bytes.clone() }
        }
        None => says(404, r#"{"errors":[{"code":"UNKNOWN","message":"it is not here"}]}"#),
    };
    match (&*ask.method, path.contains("/manifests/")) {
        ("GET" | "HEAD", true) => found(store.manifests.get(&name)),
        ("GET" | "HEAD", false) => found(store.blobs.get(&name)),
        ("POST", _) => header(202, "Location", "/v2/a/b/blobs/uploads/1?state=x"),
        ("PUT", true) => {
            let digest = Digest::from_content(&ask.body).to_string();
            store.manifests.insert(digest.clone(), ask.body.clone());
            store.manifests.insert(name, ask.body.clone());
            header(201, "Docker-Content-Digest", digest)
        }
        ("PUT", false) => {
            let digest = ask.path.split("digest=").nth(1).unwrap_or_default().to_owned();
            if Digest::from_content(&ask.body).as_str() != digest {
                return says(400, r#"{"errors":[{"code":"DIGEST_INVALID"}]}"#);
            }
            store.blobs.insert(digest, ask.body.clone());
            status(201)
        }
        _ => status(405),
    }
}

/// Answers so at the first `times` requests of a kind.
fn at_first(
    times: usize,
    method: &'static str,
    part: &'static str,
    reply: impl Fn() -> Reply + Send + Sync + 'static,
) -> impl Fn(&HttpRequest, &mut Store) -> Option<Reply> + Send + Sync + 'static {
    let left = Mutex::new(times);
    move |ask, _| {
        let mut left = left.lock().ok()?;
        let is_due = ask.is(method, part) && *left > 0;
        *left -= usize::from(is_due);
        is_due.then(&reply)
    }
}

fn access() -> Access {
    Access {
        deadline: Deadline::after(Duration::from_secs(600)),
        plain_http: false,
        skip_verify: false,
        ca: None,
        proxies: Proxies::default(),
        credentials: None,
    }
}

fn password() -> Access {
    let (user, password) = ("me".to_owned(), "hunter22".to_owned());
    Access { credentials: Some(Credentials::Password { user, password }), ..access() }
}
