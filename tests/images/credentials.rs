//! Credentials of docker and podman, and that nobody reads them in an output.

use std::{fs, path::Path, process::Command};

use crate::{
    ours, printed, project, refused,
    registry::{Demands, Registry},
    support,
};

/// `me` with the password `hunter22`.
const USERS: &str = "me:$2y$05$abcdefghijklmnopqrstuuZ6QNu0NKXZkZHC5hsQUItfxcGamvB8i\n";

/// `me:hunter22` and `me:wrong-one`
const RIGHT: &str = "bWU6aHVudGVyMjI=";
const WRONG: &str = "bWU6d3Jvbmctb25l";

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().expect("a file is in a folder")).expect("it is ours");
    fs::write(path, text).expect("it is ours");
}

#[test]
fn stored_credentials_are_used_and_never_shown() {
    let dir = project("credentials");
    write(&dir.join("users"), USERS);
    let demands = Demands { users: Some(dir.join("users")), tls: None };
    let Some(registry) = Registry::start(&dir, &demands) else { return };
    let (host, image) = (&registry.address, format!("{}/a/b:v1", registry.address));
    let push = |words: &[&str]| ours(&dir, &[&["bundle", "push", &image], words].concat());
    let secret = |said: &str| {
        let found =
            ["hunter22", RIGHT, "wrong-one", WRONG].into_iter().find(|it| said.contains(it));
        assert_eq!(found, None, "{said}");
    };
    let fails = |command: Command, expected: &str| {
        let said = refused(command);
        assert!(said.contains(expected), "{said}");
        secret(&said);
    };
    let auths = |auth: &str| format!(r#"{{"auths": {{"{host}": {{"auth": "{auth}"}}}}}}"#);

    fails(push(&[]), &format!("log in with `docker login {host}` or `podman login {host}`"));
    write(&dir.join("wrong.json"), &auths(WRONG));
    write(&dir.join("right.json"), &auths(RIGHT));
    let wrong = ["--authfile", "wrong.json"];
    fails(push(&wrong), "it answered with status 401: UNAUTHORIZED: authentication required");
    fails(push(&wrong), "check the name, and that your account may push to it");
    printed(push(&["--authfile", "right.json"]));
    fails(push(&["--authfile", "none.json"]), "there is no `none.json`");
    write(&dir.join("broken.json"), &format!("{{\"auths\": \"{RIGHT}\""));
    fails(push(&["--authfile", "broken.json"]), "it is not a file of registry credentials");

    write(&dir.join("damaged.json"), &auths(&RIGHT[1..]));
    fails(
        push(&["--authfile", "damaged.json"]),
        "has an `auth` that is not `user:password` in base64",
    );
    let mut variables = push(&[]);
    variables.env("REGISTRY_AUTH_FILE", dir.join("none.json"));
    fails(variables, "cannot read the file of REGISTRY_AUTH_FILE");

    // Where docker and podman store them.
    let mut variables = push(&[]);
    variables.env("REGISTRY_AUTH_FILE", dir.join("right.json"));
    printed(variables);
    write(&dir.join("docker/config.json"), &auths(RIGHT));
    let mut variables = push(&[]);
    variables.env("DOCKER_CONFIG", dir.join("docker"));
    printed(variables);
    let mut variables = push(&[]);
    write(&dir.join("run/containers/auth.json"), &auths(RIGHT));
    variables.env("XDG_RUNTIME_DIR", dir.join("run"));
    printed(variables);
    write(&dir.join("home/.docker/config.json"), &auths(RIGHT));
    printed(push(&[]));
    // podman's come first.
    write(&dir.join("home/.config/containers/auth.json"), &auths(WRONG));
    fails(push(&[]), "status 401");
}

#[cfg(unix)]
#[test]
fn a_helper_is_asked_for_credentials() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = project("helper");
    write(&dir.join("users"), USERS);
    let demands = Demands { users: Some(dir.join("users")), tls: None };
    let Some(registry) = Registry::start(&dir, &demands) else { return };
    let image = format!("{}/a/b:v1", registry.address);
    let helper = dir.join("bin/docker-credential-ours");
    let push = |script: &str| {
        write(&helper, &format!("#!/bin/sh\n{script}\n"));
        fs::set_permissions(&helper, fs::Permissions::from_mode(0o755)).expect("it is ours");
        let mut command = ours(&dir, &["bundle", "push", &image]);
        let path = std::env::var("PATH").expect("there is one");
        command.env("PATH", format!("{}:{path}", dir.join("bin").display()));
        command
    };
    let host = &registry.address;
    let found = r#"echo '{"Username": "me", "Secret": "hunter22"}'"#;
    for config in [
        r#"{"credsStore": "ours"}"#.to_owned(),
        format!(r#"{{"credHelpers": {{"{host}": "ours"}}}}"#),
    ] {
        write(&dir.join("home/.docker/config.json"), &config);
        printed(push(&format!("read -r it; [ \"$1 $it\" = 'get {host}' ] || exit 1; {found}")));
    }
    let fails = |script: &str, expected: &str| {
        let said = refused(push(script));
        assert!(said.contains(expected) && !said.contains("hunter22"), "{said}");
    };
    let failed = "echo hunter22; echo cannot open the store >&2; echo hunter22 >&2; exit 3";
    fails(
        failed,
        "`docker-credential-ours` has failed (exit status: 3): cannot open the store; no",
    );
    fails(failed, "status 401");
    let said = refused(push("echo credentials not found in native keychain; exit 1"));
    assert!(said.contains("status 401") && !said.contains("has failed"), "{said}");
    fails("echo hunter22", "it did not print credentials");
    fails("yes hunter22", "status 401");
    for (name, expected) in [
        ("none", "the credential helper `docker-credential-none` is not on PATH"),
        ("../x", "`../x` is not the name of a credential helper"),
    ] {
        write(&dir.join("home/.docker/config.json"), &format!(r#"{{"credsStore": "{name}"}}"#));
        fails(found, expected);
    }
    assert!(support::tree(&dir).contains_key("PROJECT"));
}

#[test]
fn a_password_in_a_name_is_never_shown() {
    let dir = project("password-in-a-name");
    for name in ["https://me:hunter22@localhost:1/a", "me:hunter22@localhost:1/a:v1"] {
        for words in [
            vec!["bundle", "push", name],
            vec!["bundle", "build", "--tag", name],
            vec!["bundle", "validate", name],
            vec!["bundle", "diff", name, "bundle"],
            vec!["catalog", "render", name],
            vec!["catalog", "validate", name],
            vec!["catalog", "push", name],
            vec!["catalog", "render", "bundle", "--image", name],
            vec!["run", "bundle", name],
        ] {
            for format in ["human", "short", "json", "github"] {
                let words = [&words, &["--message-format", format][..]].concat();
                let output = ours(&dir, &words).output().expect("the program starts");
                let said = support::said(&output);
                assert!(!output.status.success() && said.contains("localhost:1"), "{said}");
                assert!(!said.contains("hunter22"), "{words:?}: {said}");
            }
        }
    }
}
