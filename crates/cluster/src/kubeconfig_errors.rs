//! Why a kubeconfig, or the credentials in it, cannot be used, in words that show none of its secrets.

use kube::{client::AuthError, config::KubeconfigError};

/// Says why a kubeconfig cannot be used, without its content except the names of contexts and clusters.
pub fn error_reason(error: &KubeconfigError) -> String {
    use KubeconfigError as E;
    match error {
        E::Parse(error) => match error.location() {
            Some(at) => {
                format!("it is not a valid kubeconfig (line {}, column {})", at.line(), at.column())
            }
            None => "it is not a valid kubeconfig".to_owned(),
        },
        E::LoadContext(name) => format!("it has no context `{name}`"),
        E::LoadClusterOfContext(name) => format!("it has no cluster `{name}`"),
        E::CurrentContextNotSet => "it has no current context".to_owned(),
        E::KindMismatch | E::ApiVersionMismatch => {
            "its `kind` or `apiVersion` is not that of the other files".to_owned()
        }
        E::MissingClusterUrl => "the cluster has no `server`".to_owned(),
        E::ParseClusterUrl(_) => "the `server` of the cluster is not a URL".to_owned(),
        E::ParseProxyUrl(_) => "the proxy, of `proxy-url` or HTTPS_PROXY, is not a URL".to_owned(),
        E::LoadCertificateAuthority(error) => {
            load_error_reason("the cluster's certificate authority", error)
        }
        E::LoadClientCertificate(error) => {
            load_error_reason("the user's client certificate", error)
        }
        E::LoadClientKey(error) => load_error_reason("the user's client key", error),
        E::ParseCertificates(_) => "the cluster's certificate authority is not PEM".to_owned(),
        E::ParseNoProxy(_) => "NO_PROXY cannot be read".to_owned(),
        // No file is left for the client library to read.
        E::ReadConfig(..) | E::FindPath => "it cannot be read".to_owned(),
    }
}

fn load_error_reason(what: &str, error: &kube::config::LoadDataError) -> String {
    use kube::config::LoadDataError as E;
    match error {
        E::DecodeBase64(_) => format!("{what} is not base64"),
        E::ReadFile(..) | E::NoBase64DataOrFile => format!("{what} is missing"),
    }
}

/// Describes an error in credentials without showing the credentials.
pub fn auth_reason(error: &AuthError) -> String {
    use AuthError as E;
    let text = match error {
        E::MalformedTokenExpirationDate(_) => UNREADABLE_EXPIRY,
        E::InvalidBasicAuth(_) | E::InvalidBearerToken(_) => INVALID_TOKEN,
        _ => "the user's `auth-provider` gives no token: use a credential plugin (`exec`) instead",
    };
    text.to_owned()
}

pub const UNREADABLE_EXPIRY: &str = "the time at which the user's token expires is malformed";

pub const INVALID_TOKEN: &str = "the user's token or password contains a character that HTTP headers do not allow, such as a line break";
