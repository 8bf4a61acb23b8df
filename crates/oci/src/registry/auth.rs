//! Authentication to a registry: basic authentication, or a token from the server that it names.

use base64::{Engine as _, prelude::BASE64_STANDARD};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use ureq::http::Uri;

use super::{
    Credentials, Registry,
    client::{HttpRequest, HttpResponse},
    fault::Fault,
    lock,
};

/// Limit of the size of a token.
const LONGEST: u64 = 64 << 10;

/// A challenge of a registry in `WWW-Authenticate`.
#[derive(Debug, PartialEq)]
pub enum Challenge {
    Basic,
    Bearer { realm: String, service: Option<String> },
}

impl Challenge {
    /// The challenge that we can response. There may be several in one header.
    pub fn parse(header: &str) -> Option<Self> {
        let lower = header.to_ascii_lowercase();
        if let Some(at) = lower.find("bearer ") {
            let rest = &header[at + "bearer ".len()..];
            let realm = find_parameter(rest, "realm")?;
            return Some(Self::Bearer { realm, service: find_parameter(rest, "service") });
        }
        lower.contains("basic").then_some(Self::Basic)
    }
}

/// The value of a parameter, `name="value"` or `name=value`.
fn find_parameter(text: &str, name: &str) -> Option<String> {
    let mut rest = text;
    loop {
        let (key, after) = rest.split_once('=')?;
        let key = key.trim_start_matches([',', ' ']).trim();
        let (value, after) = match after.strip_prefix('"') {
            Some(after) => after.split_once('"')?,
            None => after.split_once(',').unwrap_or((after, "")),
        };
        if key.eq_ignore_ascii_case(name) {
            return Some(value.trim().to_owned());
        }
        rest = after;
    }
}

impl Registry {
    /// Answers a challenge: afterwards requests have another `Authorization`. Fails if there is none that could help.
    /// `used` is the `Authorization` of the refused request.
    pub fn authorize(&self, response: &HttpResponse, used: Option<&str>) -> Result<(), Fault> {
        let _turn = lock(&self.renewal);
        // Another request was refused at the same time, and has got the response.
        if self.authorization().as_deref() != used {
            return Ok(());
        }
        let refused = || Fault::from_response(response, &self.secrets());
        let header = response.headers.get_all("WWW-Authenticate");
        let challenges = header.iter().filter_map(|header| Challenge::parse(header.to_str().ok()?));
        let mut challenges: Vec<Challenge> = challenges.collect();
        // A token is preferred, as it expires.
        challenges.sort_by_key(|challenge| *challenge == Challenge::Basic);
        let authorization = match (challenges.into_iter().next(), &self.credentials) {
            (Some(Challenge::Bearer { realm, service }), credentials) => {
                let token = self.fetch_token(&realm, service.as_deref(), credentials.as_ref())?;
                format!("Bearer {token}")
            }
            (Some(Challenge::Basic), Some(Credentials::Password { user, password })) => {
                format!("Basic {}", encode_basic(user, password))
            }
            _ => return Err(refused()),
        };
        // The same credentials were refused already.
        let is_basic = authorization.starts_with("Basic ");
        if is_basic && used == Some(&*authorization) {
            return Err(refused());
        }
        *lock(&self.authorization) = Some(authorization);
        Ok(())
    }

    pub(super) fn fetch_token(
        &self,
        realm: &str,
        service: Option<&str>,
        credentials: Option<&Credentials>,
    ) -> Result<String, Fault> {
        let uri: Uri = realm.parse().map_err(|_| bad_realm())?;
        let is_secure = uri.scheme_str() == Some("https");
        let own = self.origin_if_known();
        if uri.host().is_none() || !is_secure && uri.scheme_str() != Some("http") {
            return Err(bad_realm());
        }
        if !is_secure && own.starts_with("https:") {
            return Err(Fault::other(
                "it asks for a token from a server without TLS, and credentials are not sent there",
            ));
        }
        let encode = |value: &str| utf8_percent_encode(value, NON_ALPHANUMERIC).to_string();
        let scope = format!("repository:{}:{}", self.repository, self.right.scope());
        let mut query = format!("scope={}", encode(&scope));
        if let Some(service) = service {
            query += &format!("&service={}", encode(service));
        }
        let mut headers = Vec::new();
        let mut form = None;
        match credentials {
            None => {}
            Some(Credentials::Password { user, password }) => {
                query += &format!("&account={}", encode(user));
                headers.push(("Authorization", format!("Basic {}", encode_basic(user, password))));
            }
            Some(Credentials::IdentityToken(token)) => {
                headers.push(("Content-Type", "application/x-www-form-urlencoded".to_owned()));
                form = Some(format!(
                    "grant_type=refresh_token&client_id=operator-rs&refresh_token={}&{query}",
                    encode(token)
                ));
            }
        }
        let mark = if realm.contains('?') { '&' } else { '?' };
        let url = if form.is_some() { realm.to_owned() } else { format!("{realm}{mark}{query}") };
        let response = self.retry(|| {
            let response = self.client.send(HttpRequest {
                method: if form.is_some() { "POST" } else { "GET" },
                url: &url,
                headers: headers.clone(),
                body: form.as_ref().map(String::as_bytes),
                progress: &mut |_| {},
                limit: LONGEST,
            });
            let authority = uri.authority().map_or("", |authority| authority.as_str());
            let name = authority.rsplit('@').next().unwrap_or_default();
            let response =
                response.map_err(|fault| fault.of_server(&format!("its token server {name}")))?;
            if response.status.is_success() {
                Ok(response)
            } else {
                Err(Fault::from_response(&response, &self.secrets()))
            }
        })?;
        let value: serde_json::Value = serde_json::from_slice(&response.bytes).unwrap_or_default();
        let token = ["token", "access_token"].iter().find_map(|field| value[*field].as_str());
        let is_usable =
            |token: &&str| !token.is_empty() && token.bytes().all(|c| c.is_ascii_graphic());
        token
            .filter(is_usable)
            .map(str::to_owned)
            .ok_or_else(|| Fault::other("its token server sent no usable token"))
    }

    /// The `Authorization` header of requests to the registry itself.
    pub fn authorization(&self) -> Option<String> {
        lock(&self.authorization).clone()
    }

    /// The secrets, which must not be shown.
    pub fn secrets(&self) -> Vec<String> {
        let mut secrets = Vec::new();
        match &self.credentials {
            Some(Credentials::Password { user, password }) => {
                secrets.extend([encode_basic(user, password), password.clone()]);
            }
            Some(Credentials::IdentityToken(token)) => secrets.push(token.clone()),
            None => {}
        }
        let authorization = self.authorization();
        secrets.extend(
            authorization.iter().filter_map(|header| Some(header.split_once(' ')?.1.to_owned())),
        );
        secrets
    }
}

fn bad_realm() -> Fault {
    Fault::other("it asks for a token from a server whose address is not a URL")
}

fn encode_basic(user: &str, password: &str) -> String {
    BASE64_STANDARD.encode(format!("{user}:{password}"))
}

#[test]
fn a_challenge_names_its_token_server() {
    let bearer = |realm: &str, service: Option<&str>| {
        let service = service.map(str::to_owned);
        Some(Challenge::Bearer { realm: realm.to_owned(), service })
    };
    let check = |header: &str, expected: Option<Challenge>| {
        assert_eq!(Challenge::parse(header), expected, "{header}");
    };
    let hub = r#"Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a/b:pull,push""#;
    check(hub, bearer("https://auth.docker.io/token", Some("registry.docker.io")));
    check(r#"bearer service="a, b=c", realm="x""#, bearer("x", Some("a, b=c")));
    check("Bearer realm=https://x/y,service=z", bearer("https://x/y", Some("z")));
    check(r#"Basic realm="Registry Realm""#, Some(Challenge::Basic));
    check(r#"Basic realm="a", Bearer realm="b""#, bearer("b", None));
    for text in ["", "Negotiate", "Bearer ", "Bearer realm", r#"Bearer realm=""#, "Bearer ====\""] {
        check(text, None);
    }
}
