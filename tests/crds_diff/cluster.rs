//! A cluster as one of the states.

use std::{
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    thread,
};

use serde_json::{Value, json};

use super::{Repository, support};

/// A server that has one CRD, and its address.
fn server(crd: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().expect("it can be read"));
            let mut first = String::new();
            let _ = reader.read_line(&mut first);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|it| 2 < it) {
                line.clear();
            }
            let path =
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/backups.example.com";
            let (code, body) = match first.starts_with(&format!("GET {path} ")) {
                true => (200, crd.to_string()),
                false => (404, json!({"kind": "Status", "code": 404}).to_string()),
            };
            let head = format!(
                "HTTP/1.1 {code} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}")
}

/// The kubeconfig of a server that has one CRD.
pub fn kubeconfig(crd: Value) -> String {
    let kubeconfig = json!({
        "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": server(crd)}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    });
    kubeconfig.to_string()
}

#[test]
fn the_versions_that_a_cluster_has_stored_are_kept() {
    let repository = Repository::new("cluster");
    let mut crd =
        serde_json::from_str::<Value>(&support::done(&repository.0, "generate crds --output json"))
            .expect("it is JSON")[0]
            .clone();
    let mut older = crd["spec"]["versions"][0].clone();
    older["name"] = "v1alpha1".into();
    older["storage"] = false.into();
    crd["spec"]["versions"].as_array_mut().expect("a list").push(older);
    crd["status"] = json!({"storedVersions": ["v1alpha1", "v1"]});
    repository.write("kubeconfig", &kubeconfig(crd));
    let words = ["cluster", "--kubeconfig", "kubeconfig"];
    repository.says(&words, 1, "error[storedVersionRemoval]: objects may be stored in `v1alpha1`");
    repository.says(&words, 1, "warning[servedVersionRemoval]: `v1alpha1` is no longer served");
    repository.says(
        &["--to", "cluster", "--kubeconfig", "kubeconfig"],
        0,
        "no breaking change from HEAD to the cluster at http://",
    );
    repository.says(
        &["cluster", "--to", "HEAD", "--kubeconfig", "nowhere"],
        1,
        "the kubeconfig `nowhere` does not exist",
    );
}
