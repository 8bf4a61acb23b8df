//! Faults of requests, and their messages: without secrets, and with only a short, cleaned text of the server.

use std::{cmp::Reverse, fmt, io, time::Duration};

use base64::{
    Engine as _,
    prelude::{BASE64_STANDARD, BASE64_URL_SAFE},
};
use percent_encoding::percent_decode_str;

use super::client::HttpResponse;
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
    /// No server can be reached at this address.
    Unreachable(String),
    /// The proxy of the environment cannot be used.
    Proxy(String),
    /// Another attempt would end in the same way.
    Fatal(String),
}

/// The message for a certificate that `openssl req -x509` makes by default.
pub const OF_A_CA: &str = "the server's certificate is that of a certificate authority (CA:TRUE), which no server may use";

/// The maximum length of a server's text in messages.
const LONGEST: usize = 300;

impl Fault {
    pub fn other(text: &str) -> Self {
        Self::Fatal(text.to_owned())
    }

    pub fn from_ureq_error(error: ureq::Error) -> Self {
        match error {
            ureq::Error::Io(error) => Self::from_io_error(error),
            ureq::Error::HostNotFound => Self::Unreachable("there is no such host".to_owned()),
            ureq::Error::Timeout(ureq::Timeout::Connect) => {
                Self::Unreachable("no connection within 20 seconds".to_owned())
            }
            // It would take as long again.
            ureq::Error::Timeout(_) => Self::Slow,
            ureq::Error::Tls(_) | ureq::Error::Rustls(_) => {
                Self::from_tls_message(&error.to_string())
            }
            ureq::Error::Protocol(_) => Self::Lost("invalid HTTP response".to_owned()),
            ureq::Error::ConnectionFailed => Self::Unreachable("no connection".to_owned()),
            // These messages contain no URL.
            other => Self::Fatal(clean(&other.to_string())),
        }
    }

    pub fn from_io_error(error: io::Error) -> Self {
        let text = error.to_string();
        match error.kind() {
            io::ErrorKind::ConnectionRefused => Self::Unreachable("connection refused".to_owned()),
            io::ErrorKind::NetworkUnreachable | io::ErrorKind::HostUnreachable => {
                Self::Unreachable("the network is unreachable".to_owned())
            }
            // The message of an error that may pass says that it is temporary.
            _ if text.contains("lookup address") && !text.contains("Temporary") => {
                Self::Unreachable("there is no such host".to_owned())
            }
            io::ErrorKind::InvalidData => Self::from_tls_message(&text),
            _ => match error.into_inner().map(|error| error.downcast::<ureq::Error>()) {
                Some(Ok(inner)) => Self::from_ureq_error(*inner),
                _ => Self::Lost(clean(&text)),
            },
        }
    }

    fn from_tls_message(text: &str) -> Self {
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

    /// The fault that an response reports.
    pub fn from_response(response: &HttpResponse, secrets: &[String]) -> Self {
        let after = response.header("Retry-After").and_then(|value| value.trim().parse().ok());
        Self::Status {
            code: response.status.as_u16(),
            message: shorten_text(&remove_secrets(&response_message(&response.bytes), secrets)),
            after: after.map(Duration::from_secs),
        }
    }

    /// Returns the requested pause before another attempt, if one may succeed.
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

/// Returns the message of a registry about an error, in the form of the specification if it has it.
fn response_message(body: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<serde_json::Value>(body) else {
        // A page of HTML says nothing to the point.
        let text = String::from_utf8_lossy(body);
        return if text.trim_start().starts_with('<') { String::new() } else { single_line(&text) };
    };
    let one = |error: &serde_json::Value| {
        let field = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
        let parts = [field("code"), field("message")];
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(": ")
    };
    let list = value["errors"].as_array().map(|errors| errors.iter().map(one).collect::<Vec<_>>());
    let text = list.map(|messages| messages.join("; ")).or_else(|| {
        ["details", "message", "error"]
            .iter()
            .find_map(|field| Some(value[*field].as_str()?.to_owned()))
    });
    single_line(&text.unwrap_or_default())
}

/// A text on one line, cut short.
pub fn clean(text: &str) -> String {
    shorten_text(&single_line(text))
}

fn single_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn shorten_text(text: &str) -> String {
    if text.chars().count() > LONGEST {
        text.chars().take(LONGEST).collect::<String>() + "…"
    } else {
        text.to_owned()
    }
}

/// The replacement of a text with a secret that cannot be cut out.
const NOT_SHOWN: &str = "(its message has the credentials in it, and is not shown)";

/// A text in which no secret is left, however the server has encoded it.
fn remove_secrets(text: &str, secrets: &[String]) -> String {
    let mut forms = Vec::new();
    for secret in secrets.iter().filter(|secret| secret.len() > 3) {
        let (standard, safe) = (BASE64_STANDARD.encode(secret), BASE64_URL_SAFE.encode(secret));
        let encoded = [standard, safe].map(|encoded| encoded.trim_end_matches('=').to_owned());
        forms.extend([secret.clone(), single_line(secret)].into_iter().chain(encoded));
    }
    forms.retain(|form| !comparable_text(form).is_empty());
    // A secret may be a part of another one.
    forms.sort_by_key(|form| Reverse(form.len()));
    let mut cleaned = text.to_owned();
    forms.iter().for_each(|form| cleaned = cleaned.replace(&**form, "***"));
    let mut decoded = cleaned.clone();
    for _ in 0..4 {
        let found = comparable_text(&decoded);
        if forms.iter().any(|form| found.contains(&comparable_text(form))) {
            return NOT_SHOWN.to_owned();
        }
        decoded = percent_decode_str(&decoded).decode_utf8_lossy().into_owned();
    }
    cleaned
}

/// A text without what servers change: blanks, which may be a `+` in a URL.
fn comparable_text(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_whitespace() && !letter.is_control() && *letter != '+')
        .collect()
}

#[test]
fn a_servers_text_is_short_and_has_no_secret() {
    let secrets = ["hunter22".to_owned(), "a".to_owned()];
    let check = |body: &str, expected: &str| {
        assert_eq!(
            remove_secrets(&response_message(body.as_bytes()), &secrets),
            expected,
            "{body}"
        );
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
    let shown = shorten_text(&remove_secrets(&response_message(long.as_bytes()), &secrets));
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
        let found = remove_secrets(&response_message(body.to_string().as_bytes()), &secrets);
        assert!(found == NOT_SHOWN || found.contains("***"), "{form}: {found}");
        assert!(!found.contains("ss") || found == NOT_SHOWN, "{form}: {found}");
    }
    assert_eq!(remove_secrets("100 % of a+b", &secrets), "100 % of a+b");
}
