//! An API server that lies: it is asked for nothing that it made up, each command has an end, and what it does not tell
//! is not taken for nothing.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{TcpListener, TcpStream},
    path::PathBuf,
    process::Output,
    sync::{Arc, Mutex},
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// What the server answers to a method and a path with its query; none means that there is nothing.
type Lie = dyn Fn(&str, &str) -> Option<Reply> + Send + Sync;

enum Reply {
    Json(Value),
    Status(u16, &'static str),
    /// A body that goes on for as long as somebody reads it.
    Endless,
    /// Nothing, for as long as somebody waits.
    Silence,
    /// It is overloaded for so many seconds.
    Busy(u64),
    Text(String),
}

/// A project, and a server that has the namespace that it made, so that `undeploy` looks at what is in it.
struct Place {
    dir: PathBuf,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Place {
    fn new(name: &str, lie: Box<Lie>) -> Self {
        let dir = support::fresh(&format!("lying-server/{name}"));
        support::done(&dir, "init --domain example.com --project-name a");
        support::done(&dir, "create api --group g --kind Memcached");
        let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
        let address = listener.local_addr().expect("it has an address");
        let requests = Arc::<Mutex<Vec<String>>>::default();
        let (seen, lie) = (requests.clone(), Arc::new(lie));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (seen, lie) = (seen.clone(), lie.clone());
                thread::spawn(move || answer(stream, &seen, &**lie));
            }
        });
        let kubeconfig = json!({
            "current-context": "a",
            "clusters": [{"name": "a", "cluster": {"server": format!("http://{address}")}}],
            "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
        });
        fs::write(dir.join("kubeconfig"), kubeconfig.to_string()).expect("the folder is ours");
        Self { dir, requests }
    }

    fn run(&self, words: &str) -> Output {
        let mut command = support::command(support::BINARY, &self.dir);
        command.args(words.split_whitespace()).args(["--kubeconfig", "kubeconfig"]);
        command.output().expect("the binary starts")
    }

    /// Fails with this exit code and message, changes nothing, and asks for no path that was made up.
    #[track_caller]
    fn refused(&self, words: &str, code: i32, expected: &str) {
        let output = self.run(words);
        let said: String = support::said(&output).chars().take(5000).collect();
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(expected), "{said}\n\nthis is missing: {expected}");
        assert!(!said.contains("panicked"), "{said}");
        for it in self.requests.lock().expect("nobody panics with it").iter() {
            let path = it.split('?').next().unwrap_or_default();
            assert!(!path.contains("made-up") && !path.contains(".."), "{it}");
            assert!(it.starts_with("GET ") || it.contains("dryRun"), "{it}");
        }
    }
}

fn answer(mut stream: TcpStream, seen: &Mutex<Vec<String>>, lie: &Lie) {
    let mut reader = BufReader::new(stream.try_clone().expect("it can be read"));
    let mut first = String::new();
    let mut length = 0;
    let _ = reader.read_line(&mut first);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).is_err() || line.trim().is_empty() {
            break;
        }
        if let Some(it) = line.to_lowercase().strip_prefix("content-length:") {
            length = it.trim().parse().unwrap_or(0);
        }
    }
    let mut body = vec![0; length];
    let _ = reader.read_exact(&mut body);
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let body = String::from_utf8_lossy(&body);
    seen.lock().expect("nobody panics with it").push(format!("{method} {path} {body}"));
    let reply = lie(method, path).or_else(|| truth(path).map(Reply::Json));
    let (code, text) = match reply {
        Some(Reply::Json(it)) => (200, it.to_string()),
        Some(Reply::Status(code, text)) => (code, text.to_owned()),
        Some(Reply::Text(text)) => (200, text),
        Some(Reply::Busy(seconds)) => (429, format!("{{\"after\": {seconds}}}")),
        None => (404, json!({"kind": "Status", "code": 404, "message": "not found"}).to_string()),
        Some(Reply::Silence) => {
            let _ = reader.read_to_end(&mut Vec::new());
            return;
        }
        Some(Reply::Endless) => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
            while stream.write_all(&[b'x'; 1 << 20]).is_ok() {}
            return;
        }
    };
    let seconds = text.strip_prefix("{\"after\": ").and_then(|it| it.strip_suffix('}'));
    let retry = seconds.map_or(String::new(), |it| format!("Retry-After: {it}\r\n"));
    let length = text.len();
    let head = format!(
        "HTTP/1.1 {code} X\r\n{retry}Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    let _ = stream.write_all(format!("{head}{text}").as_bytes());
}

/// What an honest server would say, of which little is there.
fn truth(path: &str) -> Option<Value> {
    let kind = |name: &str, kind: &str, namespaced: bool| json!({"name": name, "kind": kind, "namespaced": namespaced, "verbs": ["list", "delete", "get"]});
    let kinds = |all: Value| json!({"kind": "APIResourceList", "resources": all});
    Some(match path.split('?').next()? {
        "/apis" => {
            let group = |name: &str| {
                let version = json!({"groupVersion": format!("{name}/v1")});
                json!({"name": name, "versions": [version], "preferredVersion": version})
            };
            json!({"groups": [group("apps"), group("apiextensions.k8s.io"), group("x.example.com")]})
        }
        "/api/v1" => kinds(json!([
            kind("namespaces", "Namespace", false),
            kind("secrets", "Secret", true),
            kind("services", "Service", true),
            kind("serviceaccounts", "ServiceAccount", true),
        ])),
        "/apis/apps/v1" => kinds(json!([kind("deployments", "Deployment", true)])),
        "/apis/apiextensions.k8s.io/v1" => {
            kinds(json!([kind("customresourcedefinitions", "CustomResourceDefinition", false)]))
        }
        "/apis/x.example.com/v1" => kinds(json!([kind("xs", "X", true)])),
        "/api/v1/namespaces/a-system" => ours("v1", "Namespace", "a-system", json!({})),
        it if it.starts_with("/api/v1/namespaces/a-system/") && it.matches('/').count() == 5 => {
            list(json!([]), "")
        }
        it if it.starts_with("/api/v1/") && !it.contains("/namespaces/") => list(json!([]), ""),
        "/apis/apps/v1/deployments"
        | "/apis/x.example.com/v1/xs"
        | "/apis/apiextensions.k8s.io/v1/customresourcedefinitions" => list(json!([]), ""),
        it if it.ends_with("/namespaces/a-system/deployments")
            || it.ends_with("/namespaces/a-system/xs") =>
        {
            list(json!([]), "")
        }
        _ => return None,
    })
}

/// An object that the project has made.
fn ours(api_version: &str, kind: &str, name: &str, more: Value) -> Value {
    let mut res = json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": name, "uid": "1", "resourceVersion": "1", "managedFields": [
            {"manager": "operator-rs:a.example.com", "operation": "Apply", "fieldsV1": {}},
        ]},
    });
    for (key, value) in more.as_object().expect("it is an object") {
        res[key] = value.clone();
    }
    res
}

fn list(items: Value, token: &str) -> Value {
    json!({"kind": "PartialObjectMetadataList", "items": items, "metadata": {"continue": token}})
}

fn item(name: &str) -> Value {
    json!({"metadata": {"name": name, "uid": name, "namespace": "a-system", "resourceVersion": "1"}})
}

const SECRETS: &str = "/api/v1/namespaces/a-system/secrets";

#[test]
fn an_honest_server_is_believed() {
    let place = Place::new(
        "honest",
        Box::new(|method, _| (method == "DELETE").then(|| Reply::Json(json!({})))),
    );
    let output = place.run("undeploy --dry-run=server");
    assert!(output.status.success(), "{}", support::said(&output));
    assert_eq!(output.stdout, b"delete     Namespace a-system\n");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

/// `undeploy` against a server that lies about one path.
#[track_caller]
fn check(
    name: &str,
    at: &'static str,
    code: i32,
    expected: &str,
    lie: impl Fn(&str) -> Reply + Send + Sync + 'static,
) {
    check_run("undeploy", name, at, code, expected, lie);
}

/// A command against a server that lies about one path.
#[track_caller]
fn check_run(
    words: &str,
    name: &str,
    at: &'static str,
    code: i32,
    expected: &str,
    lie: impl Fn(&str) -> Reply + Send + Sync + 'static,
) {
    let lie = move |method: &str, path: &str| match (method, path) {
        ("DELETE", _) => Some(Reply::Json(json!({}))),
        (_, path) if path.split('?').next() == Some(at) => Some(lie(path)),
        _ => None,
    };
    Place::new(name, Box::new(lie)).refused(words, code, expected);
}

#[test]
fn a_group_version_that_is_no_path_segment_is_refused() {
    for (name, version) in [
        ("dots", "../made-up/v1"),
        ("slashes", "a/made-up/v1"),
        ("lines", "made-up\n/v1"),
        ("escaped", "a%2Fmade-up/v1"),
    ] {
        check(name, "/apis", 1, "is not a valid name in an API server's path", move |_| {
            let version = json!({"groupVersion": version});
            Reply::Json(json!({"groups": [{"versions": [version], "preferredVersion": version}]}))
        });
    }
    for (name, plural) in [
        ("plural", "../made-up"),
        ("dotted", ".."),
        ("control", "made-up\u{7}"),
        ("percent", "made-up%2F"),
    ] {
        check(
            name,
            "/apis/x.example.com/v1",
            2,
            "its objects of x.example.com/v1, which cannot be listed: ",
            move |_| {
                Reply::Json(json!({"kind": "APIResourceList", "resources": [
                    {"name": plural, "kind": "X", "namespaced": true, "verbs": ["list", "delete"]},
                ]}))
            },
        );
    }
    // The CRD says where its objects are.
    check(
        "crd",
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/memcacheds.g.example.com",
        1,
        "is not a valid name in",
        |_| {
            let versions = json!([{"name": "../made-up", "served": true}]);
            let spec = json!({"group": "g", "scope": "Namespaced", "versions": versions, "names": {"kind": "A", "plural": "as"}});
            Reply::Json(ours(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "memcacheds.g.example.com",
                json!({"spec": spec}),
            ))
        },
    );
    check("token", SECRETS, 2, "the server's list repeats the same page", |path| {
        assert!(path.matches('/').count() == 5, "{path}");
        Reply::Json(list(json!([]), "/../x&limit=1#"))
    });
}

#[test]
fn a_list_that_the_server_does_not_return_is_not_taken_for_empty() {
    let unknown =
        "removing Namespace a-system also removes its objects of secrets, which cannot be listed: ";
    let secrets = |name: &str, why: &str, lie: fn(&str) -> Reply| {
        check(name, SECRETS, 2, &format!("{unknown}{why}"), lie);
    };
    secrets("html", "the server's list is not a list", |_| Reply::Status(200, "<html>"));
    secrets("number", "the server's list is not a list", |_| Reply::Json(json!(1)));
    secrets("object", "the server's list is not a list", |_| {
        Reply::Json(json!({"items": {"a": 1}}))
    });
    secrets("nameless", "the server's list has an item without a name", |_| {
        Reply::Json(list(json!([{"metadata": {"uid": "1"}}]), ""))
    });
    secrets("without-uid", "the server's list has an item without", |_| {
        Reply::Json(list(json!([{"metadata": {"name": "a"}}]), ""))
    });
    secrets("elsewhere", "the server's list has an item of another namespace", |_| {
        Reply::Json(list(
            json!([{"metadata": {"name": "a", "uid": "2", "namespace": "made-up"}}]),
            "",
        ))
    });
    secrets("missing", "the server has the kind but does not find its list", |_| {
        Reply::Status(404, "{}")
    });
    secrets("broken", "service unavailable", |_| Reply::Status(503, "service unavailable"));
    secrets("gone", "HTTP status 410", |_| Reply::Status(410, "{}"));
    let group = "its objects of x.example.com/v1, which cannot be listed: ";
    check(
        "group",
        "/apis/x.example.com/v1",
        2,
        "does not list its resources: service unavailable",
        |_| Reply::Status(503, "service unavailable"),
    );
    let later = "the server is overloaded or not ready: run the command again later";
    check("hint-503", "/apis", 1, later, |_| Reply::Status(503, "service unavailable"));
    let redirects = "an API server does not redirect: check `server` of the kubeconfig's cluster";
    check("hint-307", "/apis", 1, redirects, |_| Reply::Status(307, "{}"));
    check("group-html", "/apis/x.example.com/v1", 2, group, |_| Reply::Status(200, "<html>"));
    check("groups", "/apis", 1, "returned no list of API groups", |_| Reply::Status(200, "<html>"));
    let namespace = "/api/v1/namespaces/a-system";
    check("other", namespace, 1, "returned a different object", |_| {
        Reply::Json(ours("v1", "Namespace", "made-up", json!({})))
    });
    check("text", namespace, 1, "returned a different object", |_| Reply::Status(200, "yes"));
    check("no-uid", namespace, 1, "returned a different object", |_| {
        Reply::Json(json!({"kind": "Namespace", "metadata": {"name": "a-system"}}))
    });
}

#[test]
fn whatever_a_server_sends_has_an_end() {
    check("endless", SECRETS, 2, "exceeds the limit of 256 MiB for all lists", |_| Reply::Endless);
    // A token that was not given before, each time.
    let pages = Mutex::new(0);
    check("pages", SECRETS, 2, "the server's list has no end", move |_| {
        let mut pages = pages.lock().expect("nobody panics with it");
        *pages += 1;
        Reply::Json(list(json!([]), &pages.to_string()))
    });
}

#[test]
fn what_a_server_sends_is_limited_in_total() {
    let discovery = |name: &str, expected: &str, text: fn() -> String| {
        let hint = "\nhint: `kubectl get --raw '/apis' | wc -c` shows its size";
        let expected = format!("exceeds the limit of {expected} for all discovery documents{hint}");
        check(name, "/apis", 1, &expected, move |_| Reply::Text(text()));
    };
    discovery("text", "16 MiB", || format!("[\"{}\"]", "x".repeat(17 << 20)));
    discovery("value", "64 MiB of memory", || format!("[{}0]", "0,".repeat(2 << 20)));
    // Each of these is small enough.
    let expected = "exceeds the limit of 16 MiB for all discovery documents";
    check("documents", "/apis/x.example.com/v1", 2, expected, |_| {
        Reply::Text(format!("{{\"a\": \"{}\"}}", "x".repeat((16 << 20) - 500)))
    });
}

#[test]
fn a_time_limit_is_that_of_all_requests_and_pauses_together() {
    let hint = "\nhint: wait longer with `--timeout`";
    let page = "timed out after 3s while waiting for page 2 of the list `GET /api/v1/namespaces/a-system/secrets` of http://";
    check_run("undeploy --timeout 3s", "late-page", SECRETS, 1, page, |path| {
        match path.contains("continue") {
            true => Reply::Silence,
            false => Reply::Json(list(json!([]), "next")),
        }
    });
    let silent = |_: &str| Reply::Silence;
    check_run("undeploy --timeout 1s", "late", "/apis", 1, hint, silent);
    let short = "the time limit of 9s is too short for `GET /apis` of ";
    check_run("undeploy --timeout 9s", "too-short", "/apis", 1, short, |_| Reply::Busy(30));
    let retry = ", which the server asks to repeat after 30 s\nhint: wait longer with `--timeout`";
    check_run("undeploy --timeout 9s", "busy", "/apis", 1, retry, |_| Reply::Busy(30));
}

#[test]
fn a_list_whose_token_expires_is_read_again() {
    check("expired", SECRETS, 2, "also removes Secret a-system/second, which", |path| {
        match path.split_once('?') {
            Some((_, "")) => Reply::Json(list(json!([item("first"), item("second")]), "")),
            Some((_, query)) if query.contains("continue") => {
                Reply::Status(410, "{\"reason\": \"Expired\"}")
            }
            _ => Reply::Json(list(json!([item("first")]), "next")),
        }
    });
}

#[test]
fn an_object_that_is_created_concurrently_is_only_adopted() {
    let crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/memcacheds.g.example.com";
    let made = Mutex::new(false);
    let lie = move |method: &str, path: &str| {
        let mut made = made.lock().expect("nobody panics with it");
        let mut object = ours(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            "memcacheds.g.example.com",
            json!({
                "status": {"conditions": [{"type": "Established", "status": "True"}]},
            }),
        );
        let fields = object["metadata"]["managedFields"].as_array_mut().expect("it is one");
        fields.push(json!({"manager": "argocd-controller", "operation": "Update", "fieldsV1": {}}));
        match (method, path.split('?').next() == Some(crd), path.contains("dryRun")) {
            ("PATCH", true, true) => Some(Reply::Status(201, "{}")),
            ("PATCH", true, false) => {
                *made = true;
                Some(Reply::Json(object))
            }
            ("GET", true, _) if *made => Some(Reply::Json(object)),
            _ => None,
        }
    };
    let place = Place::new("faster", Box::new(lie));
    let output = place.run("install");
    let said = support::said(&output);
    assert!(
        said.contains(
            "update     CustomResourceDefinition memcacheds.g.example.com (it already existed)\n"
        ),
        "{said}"
    );
    let requests = place.requests.lock().expect("nobody panics with it");
    let patches: Vec<&String> = requests
        .iter()
        .filter(|it| it.starts_with("PATCH") && it.contains("\"managedFields\":["))
        .collect();
    assert_eq!(patches.len(), 1, "{requests:#?}");
    assert!(
        patches[0].contains("operator-rs-adopted:a.example.com")
            && patches[0].contains("argocd-controller"),
        "{patches:?}"
    );
}

/// `migrate` with a CRD of which objects may be stored in v1alpha1, and this server.
fn migrate(
    name: &str,
    words: &str,
    lie: impl Fn(&str, &str) -> Option<Reply> + Send + Sync + 'static,
) -> (Output, Vec<String>) {
    let lie = move |method: &str, path: &str| {
        let at = path.split('?').next().unwrap_or_default();
        lie(method, path).or_else(|| match (method, at) {
            ("GET", CRD) => Some(Reply::Json(crd("Namespaced", true, true))),
            ("GET", XS) => Some(Reply::Json(list(json!([item("a")]), ""))),
            ("PATCH", _) => Some(Reply::Json(json!({"metadata": {"resourceVersion": "2"}}))),
            _ => None,
        })
    };
    let place = Place::new(&format!("migrate-{name}"), Box::new(lie));
    let output = place.run(&format!("migrate xs.x.example.com {words}"));
    let requests = place.requests.lock().expect("nobody panics with it");
    (output, requests.clone())
}

const CRD: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/xs.x.example.com";
const XS: &str = "/apis/x.example.com/v1/xs";
const REWRITTEN: &str = "\
rewrite    1 object of xs.x.example.com in v1
update     CustomResourceDefinition xs.x.example.com (status.storedVersions: v1)
";

fn crd(scope: &str, served: bool, storage: bool) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "xs.x.example.com", "uid": "1", "resourceVersion": "1", "generation": 1},
        "spec": {
            "group": "x.example.com",
            "scope": scope,
            "names": {"kind": "X", "plural": "xs"},
            "versions": [{"name": "v1", "served": served, "storage": storage}],
        },
        "status": {"storedVersions": ["v1alpha1", "v1"]},
    })
}

#[test]
fn a_migration_goes_on_where_its_list_has_expired() {
    const EXPIRED: &str = r#"{"kind": "Status", "metadata": {"continue": "second"}}"#;
    let (output, requests) = migrate("expired", "", |method, path| {
        let (at, query) = path.split_once('?')?;
        Some(match (method, at, query) {
            ("GET", XS, it) if it.contains("continue=first") => Reply::Status(410, EXPIRED),
            ("GET", XS, it) if it.contains("continue=second") => {
                Reply::Json(list(json!([item("b")]), ""))
            }
            ("GET", XS, _) => Reply::Json(list(json!([item("a")]), "first")),
            _ => return None,
        })
    });
    let said = support::said(&output);
    assert!(output.status.success(), "{said}");
    assert!(said.contains(&REWRITTEN.replace("1 object", "2 objects")), "{said}");
    for name in ["a", "b"] {
        let path = format!("PATCH /apis/x.example.com/v1/namespaces/a-system/xs/{name}?");
        assert_eq!(requests.iter().filter(|it| it.starts_with(&path)).count(), 1, "{requests:#?}");
    }
}

#[test]
fn a_migration_that_cannot_be_done_is_refused() {
    let check = |name: &str, words: &str, expected: &str, lie: fn(&str, &str) -> Option<Reply>| {
        let (output, _) = migrate(name, words, lie);
        let said = support::said(&output);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(expected), "{said}\n\nthis is missing: {expected}");
    };
    let unserved = "no version of CustomResourceDefinition xs.x.example.com is served";
    check("unserved", "", unserved, |_, path| {
        (path == CRD).then(|| Reply::Json(crd("Namespaced", false, true)))
    });
    let unstored = "CustomResourceDefinition xs.x.example.com has no storage version";
    check("unstored", "", unstored, |_, path| {
        (path == CRD).then(|| Reply::Json(crd("Namespaced", true, false)))
    });
    let cluster =
        "the objects of xs.x.example.com are in no namespace\nhint: leave out `--namespace`";
    check("cluster", "--namespace a", cluster, |_, path| {
        (path == CRD).then(|| Reply::Json(crd("Cluster", true, true)))
    });
    let often = "CustomResourceDefinition xs.x.example.com changes too often to update its status";
    check("conflicts", "", often, |method, _| {
        (method == "PATCH").then_some(Reply::Status(409, "{}"))
    });
    let again = "the server repeats the same page of xs.x.example.com";
    check("pages", "", again, |method, path| {
        let is_list = method == "GET" && path.starts_with(XS);
        is_list.then(|| Reply::Json(list(json!([]), "again")))
    });
    let early = "error: the migration of xs.x.example.com ended early, with 1 object done\n  \
        because: the objects of xs.x.example.com cannot be listed: HTTP status 410\n\
        hint: run `operator-rs migrate xs.x.example.com` again: only objects that are left are written\n";
    check("token", "", early, |method, path| match (method, path.contains("continue=")) {
        ("GET", true) => Some(Reply::Status(410, "{}")),
        ("GET", false) if path.starts_with(XS) => {
            Some(Reply::Json(list(json!([item("a")]), "next")))
        }
        _ => None,
    });
}

/// What `status` says of a cluster that lies; it takes less than this long, and is no error.
#[track_caller]
fn status(
    name: &str,
    seconds: u64,
    expected: &str,
    lie: impl Fn(&str) -> Option<Reply> + Send + Sync + 'static,
) {
    let place = Place::new(&format!("status-{name}"), Box::new(move |_, path| lie(path)));
    let begin = Instant::now();
    let output = place.run("status");
    let took = begin.elapsed();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && output.stderr.is_empty(), "{}", support::said(&output));
    let (_, cluster) = said.split_once("\nCluster").expect("there is this section");
    assert!(cluster.contains(expected), "{cluster}\n\nthis is missing: {expected}");
    assert!(took < Duration::from_secs(seconds), "{took:?}");
    for it in place.requests.lock().expect("nobody panics with it").iter() {
        assert!(it.starts_with("GET ") && !it.contains("made-up"), "{it}");
    }
}

#[test]
fn a_status_has_the_phase_of_the_bundle_that_olm_has_installed() {
    let expected = "  ClusterServiceVersion operators/b.v0.0.1           Failed\n  \
                    Deployment operators/a-controller-manager          not installed\n";
    status("olm", 5, expected, |path| match path.split('?').next()? {
        "/apis/operators.coreos.com/v1alpha1" => Some(Reply::Json(json!({
            "kind": "APIResourceList",
            "resources": [{"name": "clusterserviceversions", "kind": "ClusterServiceVersion", "namespaced": true, "verbs": ["list", "get"]}],
        }))),
        "/apis/operators.coreos.com/v1alpha1/clusterserviceversions" => {
            let csv = |name: &str, labels: Value, crd: &str| {
                json!({
                    "metadata": {"name": name, "namespace": "operators", "uid": name, "labels": labels},
                    "spec": {
                        "customresourcedefinitions": {"owned": [{"name": crd}]},
                        "install": {"spec": {"deployments": [{"name": "a-controller-manager"}]}},
                    },
                    "status": {"phase": "Failed"},
                })
            };
            let own = "memcacheds.g.example.com";
            let copied = json!({"olm.copiedFrom": "operators"});
            let all = json!([
                csv("b.v0.0.1", json!({}), own),
                csv("copy", copied, own),
                csv("else", json!({}), "x")
            ]);
            Some(Reply::Json(json!({"kind": "ClusterServiceVersionList", "items": all})))
        }
        _ => None,
    });
}

#[test]
fn a_status_does_not_wait_for_a_cluster_and_no_lie_is_an_error() {
    const OWN: &str =
        "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/memcacheds.g.example.com";
    status(
        "honest",
        5,
        "Deployment a-system/a-controller-manager           not installed\n",
        |_| None,
    );
    let silent = "  cannot connect to http://127.0.0.1:";
    status("silent", 5, silent, |_| Some(Reply::Silence));
    status("late", 5, "no complete response after 2 s\n", |path| {
        (path == "/apis/apps/v1").then_some(Reply::Silence)
    });
    let unknown = "CustomResourceDefinition memcacheds.g.example.com  unknown: ";
    status("html", 5, unknown, |path| (path == OWN).then_some(Reply::Status(200, "<html>")));
    status("other", 5, unknown, |path| {
        let other =
            ours("apiextensions.k8s.io/v1", "CustomResourceDefinition", "made-up", json!({}));
        (path == OWN).then_some(Reply::Json(other))
    });
    status("refused", 5, "cannot be read: no", |path| {
        (path == OWN).then_some(Reply::Status(403, "no"))
    });
    status("overloaded", 5, "cannot be read: ", |path| {
        (path == OWN).then_some(Reply::Status(429, "later"))
    });
    status(
        "differs",
        5,
        "CustomResourceDefinition memcacheds.g.example.com  differs from the source\n",
        |path| {
            let crd = ours(
                "apiextensions.k8s.io/v1",
                "CustomResourceDefinition",
                "memcacheds.g.example.com",
                json!({"spec": "x"}),
            );
            (path == OWN).then_some(Reply::Json(crd))
        },
    );
}
