//! Credentials and tokens.

use super::*;

/// A server that wants a token, which ends after so many requests.
fn with_tokens(uses: usize, challenge: Option<String>) -> Server {
    let left = Mutex::new((0, 0));
    let own = Arc::new(Mutex::new(challenge));
    Server::new(move |ask, _| {
        let mut state = left.lock().ok()?;
        let (number, left) = &mut *state;
        if ask.path.starts_with("/token") {
            if ask.authorization() != "Basic bWU6aHVudGVyMjI=" {
                return Some(says(401, r#"{"details":"wrong: hunter22"}"#));
            }
            (*number, *left) = (*number + 1, uses);
            return Some(says(200, &format!(r#"{{"token":"token{number}"}}"#)));
        }
        if ask.path == "/v2/" {
            return None;
        }
        if ask.authorization() == format!("Bearer token{number}") && 0 < *left {
            *left -= 1;
            return None;
        }
        let host = ask.headers.get("host")?;
        let challenge = own.lock().ok()?.clone();
        let challenge = challenge
            .unwrap_or_else(|| format!("Bearer realm=\"http://{host}/token\",service=\"s\""));
        Some(header(401, "WWW-Authenticate", challenge))
    })
}

#[test]
fn a_token_that_ends_in_mid_transfer_is_renewed() {
    // With a single use, requests at the same time could take the token from each other.
    for uses in [2, 3, 100] {
        let server = with_tokens(uses, None);
        assert_eq!(server.push(password()), Ok(()), "{uses}");
        let log = server.log();
        let tokens: Vec<&String> = log.iter().filter(|it| it.contains("/token")).collect();
        assert_eq!(tokens.len() == 1, uses == 100, "{log:?}");
        assert_eq!(
            tokens[0],
            "GET /token?scope=repository%3Aa%2Fb%3Apull%2Cpush&service=s&account=me +"
        );
    }
    // A token that is worth nothing is not renewed for ever.
    let server = with_tokens(0, None);
    let error = server.push(password()).expect_err("it fails");
    assert!(error.contains("status 401") && server.log().len() < 20, "{error}");
}

#[test]
fn wrong_credentials_are_reported_without_them() {
    let server = with_tokens(1, None);
    let wrong = Credentials::Password { user: "me".to_owned(), password: "hunter2222".to_owned() };
    for credentials in [None, Some(wrong)] {
        let is_anonymous = credentials.is_none();
        let error = server.push(Access { credentials, ..access() }).expect_err("refused");
        assert!(error.contains("status 401: wrong: "), "{error}");
        let expected = if is_anonymous {
            "log in with `docker login 127.0.0.1:"
        } else {
            "check the name, and that your account may push to it"
        };
        assert!(error.contains(expected), "{error}");
    }
    // The server repeats what it got.
    let server = Server::new(|ask, _| {
        let text = format!("you sent {} and hunter22", ask.authorization());
        (ask.path != "/v2/").then(|| match ask.authorization() {
            "" => header(401, "WWW-Authenticate", "Basic realm=x"),
            _ => says(403, &text),
        })
    });
    let error = server.push(password()).expect_err("refused");
    assert!(error.contains("status 403: you sent Basic *** and ***"), "{error}");
    assert!(!error.contains("hunter") && !error.contains("bWU6"), "{error}");
    // Basic authentication is tried once.
    let server = Server::new(|ask, _| {
        (ask.path != "/v2/").then(|| header(401, "WWW-Authenticate", "Basic realm=x"))
    });
    let error = server.pull("v1", password()).expect_err("refused");
    assert!(error.contains("status 401") && server.log().len() < 4, "{error} {:?}", server.log());
}

#[test]
fn the_server_of_tokens_is_not_trusted_either() {
    let check = |challenge: &str, expected: &str| {
        let error = with_tokens(1, Some(challenge.to_owned())).push(password());
        let error = error.expect_err("there is no token");
        assert!(error.contains(expected), "{challenge}: {error}");
        assert!(!error.contains("hunter"), "{error}");
    };
    let bad = "it asks for a token from a server whose address is not a URL";
    for realm in
        ["", "x", "file:///etc/passwd", "ftp://a/b", "https://", "//127.0.0.1/x", "http:///"]
    {
        check(&format!("Bearer realm=\"{realm}\""), bad);
    }
    check(
        "Bearer realm=\"http://127.0.0.1:1/t\"",
        "its token server 127.0.0.1:1: connection refused",
    );
    check("Negotiate", "status 401");
    check("Bearer", "status 401");
    let realm = |reply: fn() -> Reply, expected: &str| {
        let tokens = Server::new(move |_, _| Some(reply()));
        check(&format!("Bearer realm=\"http://{}/t\"", tokens.address), expected);
        let first = tokens.log()[0].clone();
        assert!(first.starts_with("GET /t?scope="), "{first}");
    };
    let none = "its token server sent no usable token";
    realm(|| says(200, "{}"), none);
    realm(|| says(200, "not json"), none);
    realm(|| says(200, r#"{"token": "a\r\nX-Other: b"}"#), none);
    realm(|| says(200, r#"{"token": ["a"]}"#), none);
    realm(|| Reply::Endless, "it sent more bytes than expected");
    realm(|| header(302, "Location", "http://127.0.0.1:1/"), "status 302");
    realm(|| says(403, "your hunter22"), "status 403: your ***");
}

#[test]
fn an_identity_token_gets_tokens() {
    let server = Server::new(|ask, _| {
        if ask.is("POST", "/token") {
            let body = String::from_utf8_lossy(&ask.body).into_owned();
            let expected = "grant_type=refresh_token&client_id=operator-rs&refresh_token=id%2Dt&scope=repository%3Aa%2Fb%3Apull%2Cpush&service=s";
            return Some(if body == expected {
                says(200, r#"{"access_token":"good"}"#)
            } else {
                says(400, &body)
            });
        }
        let host = ask.headers.get("host")?;
        let challenge = format!("Bearer realm=\"http://{host}/token\",service=\"s\"");
        (ask.authorization() != "Bearer good" && ask.path != "/v2/")
            .then(|| header(401, "WWW-Authenticate", challenge))
    });
    let credentials = Some(Credentials::IdentityToken("id-t".to_owned()));
    assert_eq!(server.push(Access { credentials, ..access() }), Ok(()));
}
