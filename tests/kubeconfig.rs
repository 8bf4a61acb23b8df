//! Which cluster is addressed: the one that kubectl would address, or none. And no secret of a kubeconfig is ever printed.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

mod support;

use std::{
    fs,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::Command,
};

const SECRET: &str = "hunter2-do-not-print";

/// A project with a kind, in a folder of its own.
fn project(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("kubeconfig/{name}"));
    support::done(&dir, "init --domain example.com --project-name a");
    support::done(&dir, "create api --group g --kind Memcached");
    dir
}

/// `install` with nothing of the caller's environment that names a cluster.
fn install(dir: &Path) -> Command {
    let mut res = support::command(support::BINARY, dir);
    for name in ["KUBECONFIG", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy"] {
        res.env_remove(name);
    }
    res.arg("install").env("HOME", home());
    res
}

/// A home that is outside of every project.
fn home() -> PathBuf {
    support::outside().join("kubeconfig")
}

/// Fails with this message; all that it prints.
#[track_caller]
fn refused(command: &mut Command, expected: &str) -> String {
    let output = command.output().expect("the binary starts");
    let said = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains(expected), "{said}\n\nthis is missing: {expected}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

/// A kubeconfig of one cluster, one user, and one context `name` between them.
fn kubeconfig(name: &str, cluster: &str, user: &str) -> String {
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: {name}\n\
         clusters: [{{name: {name}, cluster: {{{cluster}}}}}]\n\
         users: [{{name: {name}, user: {{{user}}}}}]\n\
         contexts: [{{name: {name}, context: {{cluster: {name}, user: {name}}}}}]\n"
    )
}

#[test]
fn a_kubeconfig_that_is_named_is_read_or_refused_by_name() {
    // An earlier run may have left one.
    let _ = fs::remove_dir_all(home());
    let dir = project("named");
    let of = |port: u16| format!("server: 'http://127.0.0.1:{port}'");
    fs::write(dir.join("one"), kubeconfig("one", &of(1), "token: x")).unwrap();
    fs::write(dir.join("two"), kubeconfig("two", &of(2), "token: x")).unwrap();
    let none_current = kubeconfig("three", &of(3), "token: x")
        .replace("current-context: three", "current-context: ''");
    fs::write(dir.join("three"), none_current).unwrap();
    fs::write(dir.join("broken"), "clusters: {a").unwrap();
    let twice = kubeconfig("one", &of(1), "token: x").replace(
        "clusters: [",
        "clusters: [{name: one, cluster: {server: 'http://127.0.0.1:9'}}, ",
    );
    fs::write(dir.join("twice"), twice).unwrap();

    // As in a pod, whose own cluster must not be taken instead.
    let install = || {
        let mut res = install(&dir);
        res.env("KUBERNETES_SERVICE_HOST", "127.0.0.9").env("KUBERNETES_SERVICE_PORT", "443");
        res
    };
    let with = |list: &str, expected: &str| {
        let said = refused(install().env("KUBECONFIG", list), expected);
        assert!(!said.contains("127.0.0.9") && !said.contains("service account"), "{said}");
    };
    with("nowhere", "KUBECONFIG: the kubeconfig `nowhere` does not exist");
    with(
        "nowhere:neither",
        "the kubeconfig `nowhere` does not exist, the kubeconfig `neither` does not exist",
    );
    with(":", "KUBECONFIG names no file");
    with("broken", "the kubeconfig `broken` cannot be read: it is not a valid kubeconfig (line 1");
    with("one:broken", "the kubeconfig `broken` cannot be read");
    with("twice", "the kubeconfig `twice` has the cluster `one` twice");
    fs::write(dir.join("odd"), b"\xFF\xFEa").unwrap();
    with("odd", "the kubeconfig `odd` is neither UTF-8 nor UTF-16");
    let text = fs::read_to_string(dir.join("one")).unwrap();
    let utf16 = text.encode_utf16().flat_map(u16::to_le_bytes);
    fs::write(dir.join("wide"), [0xFF, 0xFE].into_iter().chain(utf16).collect::<Vec<u8>>())
        .unwrap();
    with("wide", "cannot connect to http://127.0.0.1:1");
    // kubectl skips what is missing, and the first file that has a value counts.
    with("nowhere:one", "cannot connect to http://127.0.0.1:1");
    with("one:two", "cannot connect to http://127.0.0.1:1");
    with("two:one", "cannot connect to http://127.0.0.1:2");
    with("three:two", "cannot connect to http://127.0.0.1:2");
    with("three", "the kubeconfig has no current context");

    refused(install().args(["--kubeconfig", "nowhere"]), "the kubeconfig `nowhere` does not exist");
    refused(install().args(["--kubeconfig", "one:two"]), "the kubeconfig `one:two` does not exist");
    refused(
        install().env("KUBECONFIG", "one").args(["--kubeconfig", "two"]),
        "cannot connect to http://127.0.0.1:2:",
    );

    // The pod's own account is for where nothing is named and nothing is there.
    refused(&mut install(), "cannot read the pod's service account");
    refused(install().env("KUBECONFIG", ""), "cannot read the pod's service account");
    refused(install().args(["--context", "a"]), "there is no cluster to connect to");
    fs::create_dir_all(home().join(".kube")).unwrap();
    fs::write(home().join(".kube/config"), "clusters: {a").unwrap();
    refused(&mut install(), ".kube/config` cannot be read: it is not a valid kubeconfig");
    fs::copy(dir.join("two"), home().join(".kube/config")).unwrap();
    refused(&mut install(), "cannot connect to http://127.0.0.1:2");
}

#[test]
fn a_pipe_or_a_device_as_kubeconfig_is_read_within_bounds() {
    let dir = project("pipes");
    let pipe = dir.join("pipe");
    assert!(Command::new("mkfifo").arg(&pipe).status().expect("there is mkfifo").success());
    // The pipe has no writer.
    let waiting = "the kubeconfig `pipe`";
    refused(install(&dir).args(["--kubeconfig", "pipe", "--timeout", "1s"]), waiting);
    refused(install(&dir).env("KUBECONFIG", "pipe").args(["--timeout", "1s"]), waiting);
    refused(
        install(&dir).args(["--kubeconfig", "/dev/zero"]),
        "cannot read the kubeconfig `/dev/zero`\n  because: it is longer than 64 MiB",
    );
    let config = kubeconfig("one", "server: 'http://127.0.0.1:1'", "token: x");
    let writer = std::thread::spawn(move || fs::write(pipe, config).unwrap());
    refused(install(&dir).args(["--kubeconfig", "pipe"]), "cannot connect to http://127.0.0.1:1");
    writer.join().unwrap();
}

#[test]
fn a_proxy_of_the_environment_is_not_for_this_machine() {
    let dir = project("proxy");
    let server = "server: 'https://127.0.0.1:1'";
    fs::write(dir.join("kubeconfig"), kubeconfig("a", server, "token: x")).unwrap();
    let mut command = install(&dir);
    command.args(["--kubeconfig", "kubeconfig"]).env("HTTPS_PROXY", "socks9://example.com:1");
    refused(&mut command, "cannot connect to https://127.0.0.1:1: connection refused");
}

#[test]
fn no_error_prints_what_is_in_a_kubeconfig() {
    let dir = project("secrets");
    let script = |name: &str, text: &str| {
        let path = dir.join(name);
        fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.display().to_string()
    };
    let fails = script("fails", &format!("echo {SECRET}; exit 3"));
    let garbage = script("garbage", &format!("echo '{{{SECRET}: [}}'"));
    let credential = |status: &str| {
        format!(
            "printf %s '{{\"kind\":\"ExecCredential\",\"apiVersion\":\"client.authentication.k8s.io/v1\",{status}}}'"
        )
    };
    let bare = script("bare", &credential(&format!("\"spec\":{{}},\"note\":\"{SECRET}\"")));
    let lines = script("lines", &credential(&format!("\"status\":{{\"token\":\"{SECRET}\\n\"}}")));
    let late = script(
        "late",
        &credential(&format!(
            "\"status\":{{\"token\":\"x\",\"expirationTimestamp\":\"{SECRET}\"}}"
        )),
    );
    let key = script(
        "key",
        &credential(&format!(
            "\"status\":{{\"clientCertificateData\":\"{SECRET}\",\"clientKeyData\":\"-----BEGIN {SECRET}\"}}"
        )),
    );
    // What plugins are called with is theirs alone, too.
    let exec = |command: &str| {
        format!(
            "exec: {{apiVersion: client.authentication.k8s.io/v1, command: '{command}', args: [{SECRET}], interactiveMode: Never, env: [{{name: A, value: {SECRET}}}]}}"
        )
    };
    let provider =
        |name: &str, more: &str| format!("auth-provider: {{name: {name}, config: {{{more}}}}}");
    // "hunter2-do-not-print" in base64, bare and behind the beginning of a PEM.
    let encoded = "aHVudGVyMi1kby1ub3QtcHJpbnQ=";
    let pem = "LS0tLS1CRUdJTiBodW50ZXIyLWRvLW5vdC1wcmludA==";
    let torn = "LS0tLS1CRUdJTiBodW50ZXIyLWRvLW5vdC1wcmludC0tLS0tCkFBQUEKLS0tLS1FTkQgQi0tLS0tCg==";
    let here = "server: 'https://127.0.0.1:1'";

    let check = |cluster: &str, user: &str, expected: &str| {
        fs::write(dir.join("kubeconfig"), kubeconfig("a", cluster, user)).unwrap();
        let said = refused(install(&dir).args(["--kubeconfig", "kubeconfig"]), expected);
        assert!(!said.contains("hunter2"), "{cluster}, {user}\n{said}");
    };
    let user = |user: &str, expected: &str| check(here, user, expected);
    user(&format!("token: [{SECRET}]"), "it is not a valid kubeconfig (line 5, ");
    user(&format!("token: {{{SECRET}: {SECRET}}}"), "it is not a valid kubeconfig");
    user(&format!("password: [{SECRET}]"), "it is not a valid kubeconfig");
    user(&format!("exec: {SECRET}"), "it is not a valid kubeconfig");
    user(&format!("token: \"{SECRET}\\n\""), "that HTTP headers do not allow");
    user(&format!("username: a, password: {SECRET}"), "connection refused");
    user(&format!("tokenFile: {SECRET}"), "the user's token file does not exist");
    fs::write(dir.join("token"), format!("{SECRET}\n{SECRET}")).unwrap();
    user("tokenFile: token", "that HTTP headers do not allow");
    user(&format!("as: \"{SECRET}\\n\""), "does not describe a usable connection");
    user(&format!("client-key: {SECRET}"), "the user's client key does not exist");
    user(&format!("client-certificate: {SECRET}"), "the user's client certificate does not exist");
    user(&format!("client-key-data: {SECRET}"), "the user's client key is not base64");
    user(
        &format!("client-certificate-data: {SECRET}"),
        "the user's client certificate is not base64",
    );
    user(&format!("client-key-data: {encoded}"), "the user's client certificate is missing");
    for data in [encoded, pem] {
        let both = format!("client-key-data: {data}, client-certificate-data: {data}");
        user(&both, "the certificates and the key of the kubeconfig cannot be used for TLS");
    }
    user(&exec(&fails), "the user's credential plugin failed: exit status: 3");
    user(&exec(&garbage), "the output of the user's credential plugin is not an ExecCredential");
    user(&exec(&bare), "the output of the user's credential plugin has no `status`");
    user(&exec(&lines), "that HTTP headers do not allow");
    user(&exec(&late), "the time at which the user's token expires is malformed");
    user(&exec(&key), "cannot be used for TLS");
    user(&exec(SECRET), "the user's credential plugin does not start: there is no such program");
    user(&exec(SECRET), "hint: install the program of the kubeconfig's `exec`, or add it to PATH");
    user(&format!("exec: {{args: [{SECRET}]}}"), "the user's `exec` has no `command`");
    user(&provider("oidc", &format!("client-secret: {SECRET}")), "`auth-provider` gives no token");
    user(&provider("azure", &format!("access-token: {SECRET}")), "`auth-provider` gives no token");
    user(&provider(SECRET, ""), "`auth-provider` gives no token");
    let command = |it: &str| format!("cmd-path: '{it}', cmd-args: {SECRET}");
    user(&provider("gcp", &command(&fails)), "`auth-provider` gives no token");
    let expired = format!("access-token: {SECRET}, expiry: {SECRET}");
    user(&provider("gcp", &expired), "the time at which the user's token expires is malformed");

    let cluster = |cluster: &str, expected: &str| check(cluster, "token: x", expected);
    let at = format!("server: 'https://jane:{SECRET}@127.0.0.1:1/a?b={SECRET}'");
    cluster(&at, "cannot connect to https://127.0.0.1:1/a: connection refused");
    cluster(
        &format!("server: 'https://{SECRET} {SECRET}'"),
        "the `server` of the cluster is not a URL",
    );
    cluster(&format!("{here}, proxy-url: 'http://{SECRET} {SECRET}'"), "is not a URL");
    cluster(
        &format!("{here}, proxy-url: 'socks9://jane:{SECRET}@127.0.0.1:1'"),
        "proxy is neither",
    );
    cluster(
        &format!("{here}, proxy-url: 'http://jane:{SECRET}@127.0.0.1:1'"),
        "cannot connect to https://127.0.0.1:1",
    );
    cluster(
        &format!("{here}, certificate-authority: {SECRET}"),
        "certificate authority does not exist",
    );
    cluster(
        &format!("{here}, certificate-authority-data: {SECRET}"),
        "certificate authority is not base64",
    );
    cluster(
        &format!("{here}, certificate-authority-data: {torn}"),
        "certificate authority is not PEM",
    );
    cluster(&format!("{here}, insecure-skip-tls-verify: {SECRET}"), "it is not a valid kubeconfig");
}
