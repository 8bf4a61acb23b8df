//! Looks up credentials in the files of docker and podman.

use std::collections::BTreeMap;

use base64::{Engine as _, prelude::BASE64_STANDARD};
use serde::Deserialize;

use diagnostics::Hint as _;

/// The credentials.
#[derive(Clone, PartialEq, Eq)]
pub enum Credentials {
    Password {
        user: String,
        password: String,
    },
    /// An identity token, which some registries issue in exchange for a password; it gets short-lived tokens.
    IdentityToken(String),
}

/// The entry of a file for a repository.
#[derive(PartialEq, Eq)]
pub enum Lookup {
    Nothing,
    Found(Credentials),
    /// The name of a helper program's end (`docker-credential-…`), and the server whose credentials it returns.
    Helper {
        name: String,
        server: String,
    },
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct AuthFile {
    auths: BTreeMap<String, AuthEntry>,
    cred_helpers: BTreeMap<String, String>,
    creds_store: Option<String>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct AuthEntry {
    auth: Option<String>,
    username: Option<String>,
    password: Option<String>,
    identitytoken: Option<String>,
}

/// Docker Hub's name in the files.
const HUB: &str = "https://index.docker.io/v1/";

/// Looks up a repository, e.g. `quay.io/example/app`, in the text of one file.
pub fn lookup(text: &str, repository: &str) -> anyhow::Result<Lookup> {
    let invalid = || anyhow::format_err!("it is not a file of registry credentials");
    // The parser's message could quote a secret.
    let value: serde_json::Value = serde_json::from_str(text).map_err(|_| invalid())?;
    // A list would be read as the fields in their order.
    anyhow::ensure!(value.is_object(), invalid());
    let file: AuthFile = serde_json::from_value(value).map_err(|_| invalid())?;
    let host = repository.split('/').next().unwrap_or(repository);
    let server = if host == "docker.io" { HUB } else { host };
    let helpers =
        [host, server].into_iter().chain((host == "docker.io").then_some("index.docker.io"));
    for helper in helpers {
        if let Some(name) = file.cred_helpers.get(helper) {
            return Ok(Lookup::Helper { name: name.clone(), server: server.to_owned() });
        }
    }
    let of = |key: &str| match file.auths.get(key) {
        Some(entry) => {
            entry.to_credentials().map_err(|why| anyhow::format_err!("its entry `{key}` {why}"))
        }
        None => Ok(None),
    };
    // podman has entries for parts of a registry; the longest match is the most specific.
    let mut part = repository;
    loop {
        if let Some(found) = of(part)? {
            return Ok(Lookup::Found(found));
        }
        match part.rsplit_once('/') {
            Some((above, _)) => part = above,
            None => break,
        }
    }
    // docker's older entries are URLs.
    for key in file.auths.keys() {
        if hostname(key) == hostname(server)
            && key.contains("://")
            && let Some(found) = of(key)?
        {
            return Ok(Lookup::Found(found));
        }
    }
    if host == "docker.io"
        && let Some(found) = of("index.docker.io")?
    {
        return Ok(Lookup::Found(found));
    }
    Ok(match file.creds_store.filter(|name| !name.is_empty()) {
        Some(name) => Lookup::Helper { name, server: server.to_owned() },
        None => Lookup::Nothing,
    })
}

fn hostname(key: &str) -> &str {
    let rest = key.split_once("://").map_or(key, |parts| parts.1);
    rest.split('/').next().unwrap_or(rest)
}

impl AuthEntry {
    fn to_credentials(&self) -> Result<Option<Credentials>, &'static str> {
        let token = self.identitytoken.as_ref().filter(|token| !token.is_empty());
        if let Some(token) = token {
            return Ok(Some(Credentials::IdentityToken(token.clone())));
        }
        if let (Some(user), Some(password)) = (&self.username, &self.password) {
            let (user, password) = (user.clone(), password.clone());
            return Ok(Some(Credentials::Password { user, password }));
        }
        let Some(auth) = self.auth.as_ref().map(|auth| auth.trim()).filter(|auth| !auth.is_empty())
        else {
            return Ok(None);
        };
        let text =
            BASE64_STANDARD.decode(auth).ok().and_then(|bytes| String::from_utf8(bytes).ok());
        let (user, password) = text
            .as_ref()
            .and_then(|text| text.split_once(':'))
            .ok_or("has an `auth` that is not `user:password` in base64")?;
        let password = password.trim_end_matches('\0').to_owned();
        Ok(Some(Credentials::Password { user: user.to_owned(), password }))
    }
}

/// Reads what a helper program prints.
pub fn of_helper(output: &str) -> anyhow::Result<Option<Credentials>> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct Output {
        username: String,
        secret: String,
    }
    let Ok(Output { username, secret }) = serde_json::from_str(output) else {
        return Err(anyhow::format_err!("it did not print credentials"))
            .hint("run `docker login` again, or pass `--authfile`");
    };
    Ok(match (&*username, secret.is_empty()) {
        (_, true) => None,
        ("<token>", _) => Some(Credentials::IdentityToken(secret)),
        _ => Some(Credentials::Password { user: username, password: secret }),
    })
}

#[test]
fn the_most_specific_entry_is_used() {
    let auth = |it: &str| format!(r#"{{"auth": "{}"}}"#, BASE64_STANDARD.encode(it));
    let text = format!(
        r#"{{"auths": {{"quay.io": {}, "quay.io/a/b": {}, "https://index.docker.io/v1/": {}, "https://old.example.com/v2/": {},
            "id.example.com": {{"auth": "eDo=", "identitytoken": "idt"}}, "stored.example.com": {{}}}},
            "credHelpers": {{"gcr.io": "gcloud"}}, "credsStore": "desktop"}}"#,
        auth("u:p:q"),
        auth("ab:1"),
        auth("hub:2"),
        auth("old:3")
    );
    let check = |repository: &str, expected: &str| {
        let found = match lookup(&text, repository).expect("it is valid") {
            Lookup::Nothing => "nothing".to_owned(),
            Lookup::Found(Credentials::Password { user, password }) => format!("{user} {password}"),
            Lookup::Found(Credentials::IdentityToken(token)) => token,
            Lookup::Helper { name, server } => format!("helper {name} {server}"),
        };
        assert_eq!(found, expected, "{repository}");
    };
    check("quay.io/x", "u p:q");
    check("quay.io/a/b/c", "ab 1");
    check("quay.io/a/bc", "u p:q");
    check("docker.io/library/memcached", "hub 2");
    check("old.example.com/x", "old 3");
    check("id.example.com/x", "idt");
    check("gcr.io/x", "helper gcloud gcr.io");
    check("stored.example.com/x", "helper desktop stored.example.com");
    check("quay.io.evil.com/x", "helper desktop quay.io.evil.com");
    assert!(lookup("{}", "quay.io/x").is_ok_and(|it| it == Lookup::Nothing));
    let bad = r#"{"auths": {"quay.io": {"auth": "aHVudGVyMg"}, "x.io": {"auth": "aHVudGVyMg=="}}}"#;
    for host in ["quay.io", "x.io"] {
        let error = lookup(bad, &format!("{host}/x")).err().expect("it is damaged").to_string();
        let expected = "has an `auth` that is not `user:password` in base64";
        assert_eq!(error, format!("its entry `{host}` {expected}"));
    }
    assert!(lookup(bad, "gcr.io/x").is_ok_and(|it| it == Lookup::Nothing));
    assert!(lookup("[]", "quay.io/x").is_err());
    assert!(lookup("hunter2", "quay.io/x").is_err_and(|it| !it.to_string().contains("hunter2")));
}

#[test]
fn a_helper_prints_a_password_or_a_token() {
    let check = |output: &str, expected: Option<Credentials>| {
        assert!(of_helper(output).is_ok_and(|it| it == expected), "{output}");
    };
    let password = Credentials::Password { user: "u".to_owned(), password: "p".to_owned() };
    check(r#"{"ServerURL":"x","Username":"u","Secret":"p"}"#, Some(password));
    check(
        r#"{"Username":"<token>","Secret":"t"}"#,
        Some(Credentials::IdentityToken("t".to_owned())),
    );
    check(r#"{"Username":"","Secret":""}"#, None);
    assert!(of_helper("hunter2").is_err());
}
