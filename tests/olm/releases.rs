//! Releases of OLM: downloaded once, and refused when they are not what they were.

use std::{
    collections::BTreeMap,
    fs,
    io::{Read as _, Write as _},
    net::TcpListener,
    path::Path,
    process::{Command, Stdio},
    sync::{Arc, Mutex},
    thread,
};

use crate::support;

/// A server of these files, by their paths; counts what it was asked for.
struct Server {
    url: String,
    files: Arc<Mutex<BTreeMap<String, String>>>,
    asked: Arc<Mutex<Vec<String>>>,
    /// Where this server's files are kept.
    cache: tempfile::TempDir,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let res = Self {
            url,
            files: Arc::default(),
            asked: Arc::default(),
            cache: tempfile::tempdir().unwrap(),
        };
        let (files, asked) = (res.files.clone(), res.asked.clone());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                let mut request = [0; 4096];
                let read = stream.read(&mut request).unwrap();
                let text = String::from_utf8_lossy(&request[..read]).into_owned();
                let path = text.split(' ').nth(1).unwrap_or_default().to_owned();
                asked.lock().unwrap().push(path.clone());
                let (status, body) = match files.lock().unwrap().get(&path) {
                    Some(body) => ("200 OK", body.clone()),
                    None => ("404 Not Found", String::new()),
                };
                let head = format!(
                    "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all((head + &body).as_bytes());
            }
        });
        res
    }

    fn put(&self, path: &str, text: &str) {
        self.files.lock().unwrap().insert(path.into(), text.into());
    }

    fn asked(&self) -> Vec<String> {
        std::mem::take(&mut *self.asked.lock().unwrap())
    }
}

const CRDS: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: subscriptions.operators.coreos.com}\n";
const OLM: &str = "apiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: packageserver, namespace: olm}\nspec: {version: 0.46.0}\n";

/// Lists what would be applied; nothing is sent to the cluster.
fn install(dir: &Path, server: &Server, words: &str) -> String {
    let mut command: Command = support::command(support::BINARY, dir);
    command.args(["olm", "install", "--dry-run", "--releases", &server.url]);
    command.args(words.split_whitespace()).env("XDG_CACHE_HOME", server.cache.path());
    support::said(&command.stdin(Stdio::null()).output().unwrap())
}

#[test]
fn a_release_is_downloaded_once_and_must_not_change() {
    let dir = support::fresh("olm-releases");
    let server = Server::start();
    let listed = "apply      CustomResourceDefinition subscriptions.operators.coreos.com\napply      ClusterServiceVersion olm/packageserver\n";

    let said = install(&dir, &server, "");
    assert!(
        said.contains("error: OLM's manifests cannot be downloaded")
            && said.contains("another `--version`"),
        "{said}"
    );
    server.put("/latest/download/crds.yaml", CRDS);
    server.put(
        "/latest/download/olm.yaml",
        "kind: Namespace\napiVersion: v1\nmetadata: {name: olm}\n",
    );
    let said = install(&dir, &server, "");
    assert!(said.contains("/latest/download/olm.yaml does not say its version"), "{said}");
    server.put("/latest/download/olm.yaml", OLM);
    let said = install(&dir, &server, "");
    assert!(said.contains(listed) && said.contains("OLM 0.46.0 from http://127.0.0.1:"), "{said}");
    server.asked();

    // The version is in the cache now.
    let said = install(&dir, &server, "--version v0.46.0");
    assert!(said.contains(listed), "{said}");
    assert!(server.asked().is_empty());
    // Others have other paths, and those of old releases no `v`.
    for (version, path) in
        [("0.45.0", "/download/v0.45.0/crds.yaml"), ("0.16.1", "/download/0.16.1/crds.yaml")]
    {
        install(&dir, &server, &format!("--version {version}"));
        assert_eq!(server.asked(), [path]);
    }

    server.put("/latest/download/crds.yaml", &format!("{CRDS}# another\n"));
    let said = install(&dir, &server, "");
    assert!(
        said.contains(
            "the files of OLM 0.46.0 have changed since they were first downloaded: they were"
        ),
        "{said}"
    );
    let kept = fs::read_dir(server.cache.path().join("operator-rs/olm")).unwrap();
    let mut kept = kept.map(|entry| entry.unwrap().path());
    let kept = kept.find(|path| path.to_string_lossy().contains("v0.46.0-")).unwrap();
    fs::write(kept.join("crds.yaml"), CRDS.replace("subscriptions", "x")).unwrap();
    let said = install(&dir, &server, "--version 0.46.0");
    assert!(
        said.contains("` have changed since they were downloaded")
            && said.contains("the next run downloads them again"),
        "{said}"
    );

    // Neither what is not OLM's nor what another mirror has is taken for a release.
    server.put("/download/v0.30.0/crds.yaml", &CRDS.replace("subscriptions", "x"));
    server.put("/download/v0.30.0/olm.yaml", OLM);
    let said = install(&dir, &server, "--version 0.30.0");
    assert!(said.contains("are not OLM's manifests: OLM's CRDs are missing"), "{said}");
    server.put("/download/v0.30.0/crds.yaml", CRDS);
    let said = install(&dir, &server, "--version 0.30.0");
    assert!(said.contains(listed), "{said}");
    server.asked();
    let mirror = Server { url: format!("{}/mirror", server.url), ..server };
    let said = install(&dir, &mirror, "--version 0.30.0");
    assert!(said.contains("error: OLM's manifests cannot be downloaded"), "{said}");

    let said = install(&dir, &mirror, "--version 46");
    assert!(said.contains("`46` is not a version: use one such as 0.46.0, or latest"), "{said}");
}
