//! `bundle push` to a real registry.

use std::fs;

use crate::{
    digest, done, ours, printed, project, refused,
    registry::{Demands, Registry},
    support, tool,
};

#[test]
fn other_tools_see_the_bundle_that_is_pushed() {
    let dir = project("pushed");
    let Some(registry) = Registry::start(&dir, &Demands::default()) else { return };
    for (format, name) in [("oci", "example/oci"), ("docker", "example/docker")] {
        let image = format!("{}/{name}:v1", registry.address);
        let push = || done(&dir, &["bundle", "push", &image, "--format", format]);
        let text = push();
        assert_eq!(text, format!("{image}@{}\n", digest(&text)));
        assert_eq!(push(), text, "a second push changes nothing");

        let source = format!("docker://{image}");
        let words = ["inspect", "--tls-verify=false", &source];
        let found = printed(tool("skopeo", &dir, &words).expect("it comes with the registry"));
        let found: serde_json::Value = serde_json::from_str(&found).expect("skopeo prints JSON");
        assert_eq!(found["Digest"], digest(&text).as_str());
        let words = ["inspect", "--raw", "--tls-verify=false", &source];
        let index = printed(tool("skopeo", &dir, &words).expect("it is there"));
        let index: serde_json::Value = serde_json::from_str(&index).expect("skopeo prints JSON");
        let all = index["manifests"].as_array().expect("it is an index").iter();
        let all: Vec<_> = all.map(|it| it["platform"]["architecture"].clone()).collect();
        assert_eq!(all, ["amd64", "arm64", "ppc64le", "s390x"]);

        // opm sees the same bundle in the image as in its directory.
        let Some(opm) = support::tool("opm") else { continue };
        let render = |words: &[&str]| {
            let mut command =
                tool("skopeo", &dir, &[]).map(|_| support::command(&opm, &dir)).expect("there");
            command.args(["render", "--use-http", "--output", "json"]).args(words);
            command.env("HOME", dir.join("home")).env_remove("XDG_RUNTIME_DIR");
            let mut blob: serde_json::Value =
                serde_json::from_str(&printed(command)).expect("opm prints JSON");
            blob.as_object_mut().expect("a blob").remove("image");
            blob["relatedImages"].as_array_mut().expect("a list").retain(|it| it["name"] != "");
            blob
        };
        assert_eq!(render(&[&image]), render(&["bundle"]));
    }
}

#[test]
fn a_registry_with_a_certificate_of_its_own_is_reached() {
    let dir = project("certificate");
    let openssl = |file: &str, constraints: &str| {
        let words = format!("{OPENSSL} {constraints} -keyout {file}-key.pem -out {file}.pem");
        support::command("openssl", &dir).args(words.split_whitespace()).output()
    };
    const OPENSSL: &str = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 30 -subj /CN=localhost \
        -addext subjectAltName=DNS:localhost,IP:127.0.0.1";
    let made = openssl("cert", "-addext basicConstraints=critical,CA:FALSE");
    if !made.is_ok_and(|it| it.status.success()) {
        return support::missing("there is no `openssl` to make a certificate with");
    }
    let tls = Some((dir.join("cert.pem"), dir.join("cert-key.pem")));
    let Some(registry) = Registry::start(&dir, &Demands { tls, users: None }) else { return };
    let image = format!("{}/a/b:v1", registry.address);
    let push = |words: &[&str]| ours(&dir, &[&["bundle", "push", &image], words].concat());
    let said = refused(push(&[]));
    assert!(said.contains("the TLS connection failed: "), "{said}");
    assert!(said.contains("give the registry's CA with `--ca-file`"), "{said}");
    let said = refused(push(&["--plain-http"]));
    assert!(said.contains("it answered with status 400"), "{said}");
    let text = printed(push(&["--ca-file", "cert.pem"]));
    assert_eq!(printed(push(&["--tls-skip-verify"])), text);
    fs::write(dir.join("empty.pem"), "x").expect("it is ours");
    let said = refused(push(&["--ca-file", "empty.pem"]));
    assert!(said.contains("the file of `--ca-file` has no certificate"), "{said}");
    assert!(refused(push(&["--ca-file", "none.pem"])).contains("there is no `none.pem`"));

    // What the command makes without more words is the certificate of a CA.
    openssl("ca", "").expect("it is there");
    let tls = Some((dir.join("ca.pem"), dir.join("ca-key.pem")));
    let Some(registry) = Registry::start(&dir, &Demands { tls, users: None }) else { return };
    let image = format!("{}/a/b:v1", registry.address);
    for words in [&["--ca-file", "ca.pem"][..], &[]] {
        let said = refused(ours(&dir, &[&["bundle", "push", &image], words].concat()));
        let expected = "the server's certificate is that of a certificate authority (CA:TRUE), which no server may use";
        assert!(said.contains(expected), "{said}");
        assert!(said.contains("`-addext basicConstraints=critical,CA:FALSE`"), "{said}");
    }
}

#[test]
fn an_impossible_push_is_reported() {
    let dir = project("nowhere");
    let said = refused(ours(&dir, &["bundle", "push", "localhost:1/a/b:v1"]));
    assert!(said.contains("cannot push `localhost:1/a/b:v1`"), "{said}");
    assert!(said.contains("localhost:1: connection refused"), "{said}");
    let image = format!("localhost:1/a@sha256:{}", "0".repeat(64));
    let said = refused(ours(&dir, &["bundle", "push", &image]));
    assert!(said.contains("must not have a digest: it is computed from the content"), "{said}");
}
