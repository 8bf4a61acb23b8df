//! Pushing and pulling.

use super::*;

#[test]
fn blobs_come_first_and_the_tag_comes_last() {
    let server = Server::new(|_, _| None);
    assert_eq!(server.push(access()), Ok(()));
    let log = server.log();
    let puts: Vec<&str> =
        log.iter().filter(|it| it.starts_with("PUT")).map(|it| &it[4..]).collect();
    assert_eq!(puts.len(), 4, "{log:?}");
    assert!(puts[0].contains("/blobs/") && puts[1].contains("/blobs/"), "{log:?}");
    let child = Digest::from_content(b"{\"child\":1}");
    assert_eq!(puts[2..], [&*format!("/v2/a/b/manifests/{child}"), "/v2/a/b/manifests/v1"]);
    // What is there is not sent again.
    assert_eq!(server.push(access()), Ok(()));
    assert!(!server.log()[log.len()..].iter().any(|it| it.starts_with("POST")));
    assert_eq!(server.pull("v1", access()), Ok(b"{\"top\":1}".to_vec()));
    let registry = server.registry(Right::Pull, access());
    assert_eq!(
        into_text(registry.resolve("v1", &[MANIFEST])),
        Ok(Digest::from_content(b"{\"top\":1}"))
    );
    assert_eq!(server.blob(b"layer", 5), Ok(b"layer".to_vec()));
}

#[test]
fn a_page_in_place_of_a_manifest_has_no_digest() {
    let page = |headers: Vec<(&'static str, String)>, body: &'static str| {
        Server::new(move |_, _| {
            let (headers, body) = (headers.clone(), body.as_bytes().to_vec());
            Some(Reply::HttpResponse { status: 200, headers, body })
        })
    };
    let html = ("Content-Type", "text/html".to_owned());
    let claimed = ("Docker-Content-Digest", Digest::from_content(b"{}").to_string());
    for (headers, body) in [
        (vec![], "Please log in"),
        (vec![html.clone()], "<html>log in</html>"),
        (vec![("Content-Type", MANIFEST.to_owned())], "[[[["),
    ] {
        let registry = page(headers, body).registry(Right::Pull, access());
        let error = into_text(registry.resolve("v1", &[MANIFEST])).expect_err("it is no manifest");
        assert!(error.contains("its manifest is not a JSON object"), "{error}");
    }
    // A digest counts only beside the type of a manifest; otherwise, that of the content does.
    let registry = page(vec![html, claimed], "{}").registry(Right::Pull, access());
    assert_eq!(into_text(registry.resolve("v1", &[MANIFEST])), Ok(Digest::from_content(b"{}")));
}

#[test]
fn temporary_failures_are_retried() {
    for part in ["/blobs/uploads/", "/manifests/"] {
        for code in [429, 500, 502, 503] {
            let reply = move || header(code, "Retry-After", "0");
            assert_eq!(Server::new(at_first(2, "PUT", part, reply)).push(access()), Ok(()));
        }
        let server = Server::new(at_first(1, "PUT", part, || Reply::HangUp));
        assert_eq!(server.push(access()), Ok(()));
    }
    let server = Server::new(at_first(1, "GET", "/blobs/", || Reply::Cut(b"la".to_vec())));
    server.store().blobs.insert(Digest::from_content(b"layer").to_string(), b"layer".to_vec());
    assert_eq!(server.blob(b"layer", 5), Ok(b"layer".to_vec()));
}

#[test]
fn a_failure_in_mid_push_leaves_the_tag_as_it_was() {
    type Failure = (&'static str, &'static str, fn() -> Reply, &'static str);
    let failures: [Failure; 5] = [
        ("POST", "/blobs/", || says(507, "{\"errors\":[{\"code\":\"FULL\"}]}"), "status 507: FULL"),
        ("PUT", "/blobs/", || status(400), "status 400"),
        ("POST", "/blobs/", || header(202, "X", "y"), "it sent no upload location"),
        ("PUT", "/manifests/sha256:", || status(413), "status 413"),
        ("PUT", "/blobs/", || header(503, "Retry-After", "0"), "status 503"),
    ];
    for (method, part, reply, expected) in failures {
        let server = Server::new(at_first(usize::MAX, method, part, reply));
        server.store().manifests.insert("v1".to_owned(), b"old".to_vec());
        let error = server.push(access()).expect_err("it fails");
        assert!(error.starts_with("the tag `v1` was not changed: "), "{error}");
        assert!(error.contains(expected), "{error}");
        assert_eq!(server.store().manifests["v1"], b"old");
    }
    // The last request: nobody knows.
    let server = Server::new(at_first(usize::MAX, "PUT", "/manifests/v1", || status(400)));
    let error = server.push(access()).expect_err("it fails");
    assert!(error.starts_with("cannot set the tag `v1`: "), "{error}");
}

#[test]
fn a_lying_server_is_not_believed() {
    let digest = Digest::from_content(b"layer").to_string();
    // Another content than that of the digest.
    let server = Server::new(|ask, _| ask.is("GET", "sha256:").then(|| says(200, "other")));
    let error = server.blob(b"layer", 5).expect_err("it lies");
    assert!(
        error.contains(&format!("it sent a blob that does not have the digest {digest}")),
        "{error}"
    );
    let error = server.pull(&digest, access()).expect_err("it lies");
    assert!(error.contains(&format!("it sent a manifest that does not have the digest {digest}")));
    // A header that contradicts the content.
    let other = || header(200, "Docker-Content-Digest", Digest::from_content(b"other").to_string());
    let server = Server::new(move |ask, _| ask.is("GET", "/manifests/v1").then(other));
    assert!(server.pull("v1", access()).is_err_and(|it| it.contains("it sent a manifest")));
    let server = Server::new(move |ask, _| {
        ask.is("PUT", "/manifests/v1").then(|| {
            header(201, "Docker-Content-Digest", Digest::from_content(b"other").to_string())
        })
    });
    assert!(server.push(access()).is_err_and(|it| it.contains("it stored sha256:")));
    // Bodies without an end, and longer than they should be.
    for right in ["/manifests/", "/blobs/"] {
        let server = Server::new(move |ask, _| ask.is("GET", right).then_some(Reply::Endless));
        let error = match right {
            "/blobs/" => server.blob(b"layer", 5),
            _ => server.pull("v1", access()),
        };
        let error = error.expect_err("it has no end");
        assert!(error.contains("it sent more bytes than expected"), "{error}");
    }
    let server = Server::new(|_, _| None);
    server.store().blobs.insert(digest.clone(), b"layer".to_vec());
    assert!(server.blob(b"layer", 4).is_err_and(|it| it.contains("does not have the digest")));
    // An endless message of an error, and one that is not for this terminal.
    let server = Server::new(|ask, _| ask.is("GET", "/v2/a").then(|| says(400, "\u{1b}[31m\r\nx")));
    let error = server.pull("v1", access()).expect_err("it fails");
    assert!(error.contains("status 400: [31m x"), "{error}");
}

#[test]
fn a_server_that_accepts_every_request_has_stored_nothing() {
    let page = || Some(says(200, "<html>log in</html>"));
    let server = Server::new(move |_, _| page());
    let error = server.push(access()).expect_err("nothing is pushed");
    assert!(error.contains("it sent no upload location"), "{error}");
    // The same without a length, and by a redirect.
    let redirect = || header(302, "Location", "/login");
    for lie in [redirect, || status(200), || status(302)] {
        let server = Server::new(move |ask, _| ask.is("HEAD", "/blobs/").then(lie));
        server.push(access()).expect("a blob that may be missing is sent");
        assert_eq!(server.store().blobs.len(), 2);
    }
    let error = Server::new(move |_, _| Some(redirect())).push(access());
    let error = error.expect_err("nothing is pushed");
    assert!(error.contains("it redirects in a circle"), "{error}");
    for part in ["/blobs/", "/manifests/"] {
        for code in [200, 202, 204] {
            let error = Server::new(move |ask, _| ask.is("PUT", part).then(|| status(code)))
                .push(access())
                .expect_err("it is not stored");
            let expected = format!("unexpected status {code}; a registry");
            assert!(error.contains(&expected), "{error}");
        }
    }
    // A storage server that is elsewhere says how long a blob is.
    let storage = Server::new(|_, _| Some(says(200, "layer")));
    let to = format!("http://{}/x", storage.address);
    let server = Server::new(move |ask, _| {
        let is_layer = ask.is("HEAD", Digest::from_content(b"layer").as_str());
        is_layer.then(|| header(307, "Location", &to))
    });
    server.push(access()).expect("it is a registry");
    assert_eq!(server.store().blobs.len(), 1);
}

#[test]
fn an_address_that_a_server_names_is_looked_at() {
    let check = |location: &'static str, expected: &str| {
        let server = Server::new(move |ask, _| {
            ask.is("POST", "/blobs/").then(|| header(202, "Location", location))
        });
        let error = server.push(password()).expect_err("it leads nowhere");
        assert!(error.contains(expected), "{location}: {error}");
    };
    let bad = "it redirects to an address that is not a URL";
    for location in ["", "not a url", "ftp://127.0.0.1/", "http://"] {
        check(location, bad);
    }
    let password = "it redirects to an address that contains a user or a password";
    check("http://u:p@127.0.0.1/", password);
    // A manifest that is pushed by its digest and answered without a location, as some registries do.
    let server = Server::new(|ask, _| ask.is("PUT", "/manifests/").then(|| status(201)));
    assert_eq!(server.push(access()), Ok(()));
    let server = Server::new(|ask, _| {
        ask.is("GET", "/v2/a").then(|| header(307, "Location", "/v2/a/again"))
    });
    let error = server.pull("v1", access()).expect_err("it is a circle");
    assert!(error.contains("it redirects in a circle"), "{error}");
}

#[test]
fn credentials_do_not_go_along_with_a_redirect_or_an_upload() {
    let other = Server::new(|ask, store| {
        let is_secret = !ask.authorization().is_empty();
        store.blobs.insert("seen".to_owned(), vec![u8::from(is_secret)]);
        Some(match &*ask.method {
            "GET" => says(200, "layer"),
            _ => status(201),
        })
    });
    let address = format!("http://{}/x", other.address);
    let location = address.clone();
    let server = Server::new(move |ask, _| match ask.authorization() {
        "" if ask.path != "/v2/" => Some(header(401, "WWW-Authenticate", "Basic realm=\"x\"")),
        _ if ask.is("GET", "/blobs/") => Some(header(307, "Location", &location)),
        _ if ask.is("POST", "/blobs/") => Some(header(202, "Location", &location)),
        _ => None,
    });
    let it =
        Descriptor { media_type: String::new(), digest: Digest::from_content(b"layer"), size: 5 };
    let registry = server.registry(Right::Pull, password());
    assert_eq!(
        into_text(registry.blob(&it, &mut |_| {}).map(|it| it.bytes().to_vec())),
        Ok(b"layer".to_vec())
    );
    assert_eq!(server.push(password()), Ok(()));
    let log = other.log();
    assert_eq!(log.len(), 3, "{log:?}");
    assert!(log.iter().all(|it| !it.ends_with('+')), "{log:?}");
    assert!(server.log().iter().any(|it| it.ends_with('+')));
}

#[test]
fn another_server_gets_no_credentials_when_it_asks_for_them() {
    for challenge in ["Basic realm=x", "Bearer realm=\"http://HOST/token\",service=\"x\""] {
        let other = Server::new(|ask, _| {
            let challenge = challenge.replace("HOST", ask.headers.get("host")?);
            Some(if ask.path.starts_with("/token") {
                says(200, r#"{"token":"abc"}"#)
            } else {
                header(401, "WWW-Authenticate", challenge)
            })
        });
        let location = format!("http://{}/x", other.address);
        let server = Server::new(move |ask, _| {
            let is_pull = ask.is("GET", "/manifests/");
            (is_pull || ask.is("POST", "/blobs/"))
                .then(|| header(if is_pull { 307 } else { 202 }, "Location", &location))
        });
        let expected = format!(
            "it redirects to {}, which answered with status 401; credentials are not sent there [this is a fault of the registry",
            other.address
        );
        let error = server.pull("v1", password()).expect_err("the other server refuses");
        assert!(error.contains(&expected), "{error}");
        let error = server.push(password()).expect_err("the other server refuses");
        assert!(error.contains(&expected), "{error}");
        let log = other.log();
        assert!(log.iter().all(|it| !it.ends_with('+') && !it.contains("/token")), "{log:?}");
    }
}

#[test]
fn an_unreachable_registry_is_reported() {
    let image = "127.0.0.1:1/a:v1".parse().expect("a name");
    let registry = Registry::new(&image, Right::Pull, access()).expect("set up");
    let error = into_text(registry.manifest("v1", &[MANIFEST])).expect_err("nobody is there");
    assert_eq!(
        error,
        "127.0.0.1:1: connection refused [check the registry's address; HTTPS_PROXY is used if it is set]"
    );
    let server = Server::new(|_, _| None);
    let error = server.pull("v2", access()).expect_err("it is not there");
    assert!(
        error.contains(
            "it answered with status 404: UNKNOWN: it is not here [check the image's name"
        ),
        "{error}"
    );
    // A proxy is used, but not for this machine.
    let proxies = Proxies { http: Some("http://127.0.0.1:1".to_owned()), ..Proxies::default() };
    assert!(server.pull("v2", Access { proxies, ..access() }).is_err_and(|it| it.contains("404")));
    let bad = Access { ca: Some(b"x".to_vec()), ..access() };
    assert!(Registry::new(&image, Right::Pull, bad).is_err());
}

#[test]
fn a_slow_server_is_waited_for_up_to_a_limit() {
    for reply in [|| Reply::Silence, || Reply::Trickle] {
        let server = Server::new(move |ask, _| ask.is("GET", "/blobs/").then(reply));
        let mut registry = server.registry(Right::Pull, access());
        registry.client.timeouts =
            client::Timeouts { silence: Duration::from_secs(1), small: Duration::from_secs(2) };
        let digest = Digest::from_content(b"layer");
        let it = Descriptor { media_type: String::new(), digest, size: 600 };
        let error = into_text(registry.blob(&it, &mut |_| {})).expect_err("it is too slow");
        assert!(error.contains("it took too long to answer [check the connection"), "{error}");
        let asked = server.log().iter().filter(|it| it.contains("/blobs/")).count();
        assert_eq!(asked, 1, "it would take as long again");
    }
}

#[test]
fn nothing_is_waited_for_after_the_deadline() {
    let retry = || header(429, "Retry-After", "5");
    let check = |reply: fn() -> Reply, expected: &str| {
        let server = Server::new(move |ask, _| ask.is("GET", "/manifests/").then(reply));
        let deadline = Deadline::after(Duration::from_secs(1));
        let registry = server.registry(Right::Pull, Access { deadline, ..access() });
        let error = into_text(registry.manifest("v1", &[])).expect_err("it is too slow");
        let start = "timed out after 1s while waiting for ";
        assert!(error.contains(start) && error.contains(expected), "{error}");
        assert_eq!(server.log().iter().filter(|it| it.contains("GET /v2/a/b/")).count(), 1);
    };
    check(|| Reply::Silence, "`GET /v2/a/b/manifests/v1` of 127.0.0.1:");
    check(|| Reply::Trickle, "`GET /v2/a/b/manifests/v1` of 127.0.0.1:");
    check(|| Reply::TrickleOfHeaders, "`GET /v2/a/b/manifests/v1` of 127.0.0.1:");
    check(retry, "the next attempt: 127.0.0.1:");
}

#[test]
fn every_fault_has_a_way_out() {
    let server = Server::new(|_, _| None);
    let check = |access: Access, right, fault: fault::Fault, expected: &str| {
        let error = into_text(server.registry(right, access).explain_fault::<()>(Err(fault)));
        let error = error.expect_err("it is a fault");
        assert!(error.contains(expected), "{error}");
    };
    let status = |code| fault::Fault::Status { code, message: String::new(), after: None };
    let tls = |is_certificate| fault::Fault::Tls { message: "x".to_owned(), is_certificate };
    let anonymous = |fault, expected: &str| check(access(), Right::Pull, fault, expected);
    anonymous(status(401), "`, or pass `--authfile`]");
    anonymous(
        status(404),
        "check the image's name and tag; a private image may look as if it did not exist",
    );
    anonymous(status(429), "the registry limits the number of requests: log in, or wait");
    anonymous(status(503), "it was tried four times; run the command again later");
    anonymous(
        fault::Fault::Lost("x".to_owned()),
        "it was tried four times; check the registry's address and the network",
    );
    anonymous(status(400), "this is a fault of the registry or of a proxy before it");
    anonymous(
        tls(true),
        "give the registry's CA with `--ca-file`; `--tls-skip-verify` accepts any certificate",
    );
    anonymous(
        tls(false),
        "the TLS connection failed: x [if the registry has no TLS, pass `--plain-http`]",
    );
    check(
        password(),
        Right::Pull,
        status(403),
        "check the name, and that your account may pull from it; `docker login",
    );
    let of = |it| fault::Fault::from_ureq_error(it).to_string();
    assert_eq!(of(ureq::Error::HostNotFound), "there is no such host");
    assert_eq!(of(ureq::Error::Timeout(ureq::Timeout::Connect)), "no connection within 20 seconds");
    let refused = std::io::Error::from(std::io::ErrorKind::NetworkUnreachable);
    assert_eq!(of(ureq::Error::Io(refused)), "the network is unreachable");
}

#[test]
fn nothing_secret_goes_to_a_server_without_tls() {
    let server = Server::new(|_, _| None);
    let registry = server.registry(Right::Pull, password());
    registry.origin.set("https://registry.example.com".to_owned()).expect("it is not known");
    let token = registry.fetch_token(&format!("http://{}/t", server.address), None, None);
    let error = token.expect_err("the token server has no TLS").to_string();
    assert_eq!(
        error,
        "it asks for a token from a server without TLS, and credentials are not sent there"
    );
    assert!(server.log().is_empty());
    let redirect = call::resolve_location("https://a/x", "http://a/y").expect_err("it has no TLS");
    assert_eq!(redirect.to_string(), "it redirects to a server without TLS");
}
