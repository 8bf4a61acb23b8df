//! Faults of requests, and their messages: without secrets, and with only a short, cleaned text of the server.

use std::{cmp::Reverse, fmt, io, time::Duration};

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE},
};
use percent_encoding::percent_decode_str;

use super::client::Answer;
use model::TimedOut;

/// Why a request has come to nothing.
#[derive(Debug)]
pub enum Fault {
    /// The connection: the next attempt may succeed.
    Lost(String),
    /// The server has answered that it cannot, or does not want to.
    Status { code: u16, message: String, after: Option<Duration> },
    /// The server takes its time.
    Slow,
    /// The deadline of the command has passed.
    Late(TimedOut),
    /// TLS cannot be spoken with the server.
    Tls { message: String, is_certificate: bool },
    /// There is nobody at this address.
    Unreachable(String),
    /// The proxy of the environment cannot be used.
    Proxy(String),
    /// Another attempt would end in the same way.
    Fatal(String),
}

/// What is wrong with the certificate that `openssl req -x509` makes by default.
pub const OF_A_CA: &str = "the server's certificate is that of a certificate authority (CA:TRUE), which no server may use";

/// The maximum length of a server's text in messages.
const LONGEST: usize = 300;

impl Fault {
    pub fn other(text: &str) -> Self {
        Self::Fatal(text.to_owned())
    }

    pub fn of(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Io(error) => Self::of_io(error),
            ureq::Error::HostNotFound => Self::Unreachable("there is no such host".to_owned()),
            ureq::Error::Timeout(ureq::Timeout::Connect) => {
                Self::Unreachable("no connection within 20 seconds".to_owned())
            }
            // It would take as long again.
            ureq::Error::Timeout(_) => Self::Slow,
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => Self::tls(&error.to_string()),
            ureq::Error::Protocol(_) => Self::Lost("its answer is not HTTP".to_owned()),
            ureq::Error::ConnectionFailed => Self::Unreachable("no connection".to_owned()),
            // These messages contain no URL.
            other => Self::Fatal(clean(&other.to_string())),
        }
    }

    pub fn of_io(error: io::Error) -> Self {
        let text = error.to_string();
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Unreachable("connection refused".to_owned()),
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
                Self::Unreachable("the network is unreachable".to_owned())
            }
            // What may pass says that it is temporary.
            _ if text.contains("lookup address") && !text.contains("Temporary") => {
                Self::Unreachable("there is no such host".to_owned())
            }
            io::ErrorKind::InvalidData => Self::tls(&text),
            _ => match error.into_inner().map(|it| it.downcast::<ureq::Error>()) {
                Some(Ok(inner)) => Self::of(*inner),
                _ => Self::Lost(clean(&text)),
            },
        }
    }

    fn tls(text: &str) -> Self {
        if text.contains("CaUsedAsEndEntity") {
            return Self::Tls { message: OF_A_CA.to_owned(), is_certificate: true };
        }
        let is_certificate = text.contains("certificate");
        Self::Tls { message: clean(text), is_certificate }
    }

    /// Marks a fault as that of another server than the registry.
    pub fn of_server(self, name: &str) -> Self {
        let text = |text: String| format!("{name}: {text}");
        match self {
            Self::Lost(it) => Self::Lost(text(it)),
            Self::Unreachable(it) => Self::Unreachable(text(it)),
            Self::Fatal(it) => Self::Fatal(text(it)),
            Self::Tls { message, is_certificate } => {
                Self::Tls { message: text(message), is_certificate }
            }
            other @ (Self::Status { .. } | Self::Slow | Self::Late(_) | Self::Proxy(_)) => other,
        }
    }

    /// The fault that an answer reports.
    pub fn of_answer(answer: &Answer, secrets: &[String]) -> Self {
        let after = answer.header("Retry-After").and_then(|it| it.trim().parse().ok());
        Self::Status {
            code: answer.status.as_u16(),
            message: shortened(&without(&message(&answer.bytes), secrets)),
            after: after.map(Duration::from_secs),
        }
    }

    /// Whether another attempt may succeed, and how long to wait before it.
    pub fn is_passing(&self) -> Option<Option<Duration>> {
        match self {
            Self::Lost(_) => Some(None),
            Self::Status { code: 408 | 425 | 429 | 500 | 502..=504, after, .. } => Some(*after),
            _ => None,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost(text) | Self::Unreachable(text) | Self::Proxy(text) | Self::Fatal(text) => {
                f.write_str(text)
            }
            Self::Slow => f.write_str("it took too long to answer"),
            Self::Late(it) => it.fmt(f),
            Self::Tls { message, .. } => write!(f, "the TLS connection failed: {message}"),
            Self::Status { code, message, .. } => {
                write!(f, "it answered with status {code}")?;
                if message.is_empty() { Ok(()) } else { write!(f, ": {message}") }
            }
        }
    }
}

/// What a registry says about an error: the specification has a form for it.
fn message(body: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(body) else {
        // A page of HTML says nothing to the point.
        let text = String::from_utf8_lossy(body);
        return if text.trim_start().starts_with('<') { String::new() } else { line(&text) };
    };
    let one = |it: &serde_json::Value| {
        let field = |name: &str| it[name].as_str().unwrap_or_default().to_owned();
        let parts = [field("code"), field("message")];
        parts.into_iter().filter(|it| !it.is_empty()).collect::<Vec<_>>().join(": ")
    };
    let list = value["errors"].as_array().map(|it| it.iter().map(one).collect::<Vec<_>>());
    let text = list.map(|it| it.join("; ")).or_else(|| {
        ["details", "message", "error"].iter().find_map(|it| Some(value[*it].as_str()?.to_owned()))
    });
    line(&text.unwrap_or_default())
}

/// A text on one line, cut short.
pub fn clean(text: &str) -> String {
    shortened(&line(text))
}

fn line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shortened(text: &str) -> String {
    match LONGEST < text.chars().count() {
        true => text.chars().take(LONGEST).collect::<String>() + "…",
        false => text.to_owned(),
    }
}

/// The replacement of a text with a secret that cannot be cut out.
const NOT_SHOWN: &str = "(its message has the credentials in it, and is not shown)";

/// A text in which no secret is left, however the server has encoded it.
fn without(text: &str, secrets: &[String]) -> String {
    let mut forms = Vec::new();
    for secret in secrets.iter().filter(|it| 3 < it.len()) {
        let (standard, safe) = (BASE64_STANDARD.encode(secret), BASE64_URL_SAFE.encode(secret));
        let encoded = [standard, safe].map(|it| it.trim_end_matches('=').to_owned());
        forms.extend([secret.clone(), line(secret)].into_iter().chain(encoded));
    }
    forms.retain(|it| !bare(it).is_empty());
    // A secret may be a part of another one.
    forms.sort_by_key(|it| Reverse(it.len()));
    let mut res = text.to_owned();
    forms.iter().for_each(|it| res = res.replace(&**it, "***"));
    let mut decoded = res.clone();
    for _ in 0..4 {
        let found = bare(&decoded);
        if forms.iter().any(|it| found.contains(&bare(it))) {
            return NOT_SHOWN.to_owned();
        }
        decoded = percent_decode_str(&decoded).decode_utf8_lossy().into_owned();
    }
    res
}

/// A text without what servers change: blanks, which may be a `+` in a URL.
fn bare(text: &str) -> String {
    text.chars().filter(|it| !it.is_whitespace() && !it.is_control() && *it != '+').collect()
}

#[test]
fn a_servers_text_is_short_and_has_no_secret() {
    let secrets = ["hunter22".to_owned(), "a".to_owned()];
    let check = |body: &str, expected: &str| {
        assert_eq!(without(&message(body.as_bytes()), &secrets), expected, "{body}");
    };
    check(r#"{"errors":[{"code":"DENIED","message":"no"},{"code":"X"}]}"#, "DENIED: no; X");
    check(
        r#"{"errors":[{"message":"your password hunter22\u001b[31m\nerror: x"}]}"#,
        "your password *** [31m error: x",
    );
    check(r#"{"details":"incorrect username or password"}"#, "incorrect username or password");
    check("<html><body>502</body></html>", "");
    check("hunter22\r\n", "***");
    check("", "");
    let long = "x".repeat(296) + "hunter22";
    let shown = shortened(&without(&message(long.as_bytes()), &secrets));
    assert_eq!(shown, "x".repeat(296) + "***");
    assert_eq!(clean(&"x".repeat(10_000)).chars().count(), 301);
}

#[test]
fn a_secret_is_found_in_every_form() {
    let secret = "p@ss  w+rd/%&ü";
    let basic = BASE64_STANDARD.encode(format!("me:{secret}"));
    let secrets = [secret.to_owned(), basic.clone()];
    let encode = |it: &str| {
        percent_encoding::utf8_percent_encode(it, percent_encoding::NON_ALPHANUMERIC).to_string()
    };
    let encoded = encode(secret);
    for form in [
        secret.to_owned(),
        secret.replace("  ", " "),
        secret.replace("  ", "\n\u{0}"),
        encoded.clone(),
        encoded.to_lowercase(),
        encoded.replace("%20", "+"),
        encoded.replace("%40", "@").replace("%2F", "/"),
        encode(&encoded),
        encode(&basic),
        basic.trim_end_matches('=').to_owned(),
        BASE64_STANDARD.encode(secret),
        BASE64_URL_SAFE.encode(secret),
    ] {
        let body = serde_json::json!({"message": format!("no rights for me:{form} here")});
        let found = without(&message(body.to_string().as_bytes()), &secrets);
        assert!(found == NOT_SHOWN || found.contains("***"), "{form}: {found}");
        assert!(!found.contains("ss") || found == NOT_SHOWN, "{form}: {found}");
    }
    assert_eq!(without("100 % of a+b", &secrets), "100 % of a+b");
}
