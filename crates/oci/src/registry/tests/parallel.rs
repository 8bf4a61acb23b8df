//! Several requests at the same time.

use super::*;

const LAYERS: &[&[u8]] =
    &[b"1", b"2", b"3", b"4", b"5", b"6", b"7", b"8", b"9", b"10", b"11", b"12"];

#[test]
fn blobs_are_sent_at_the_same_time_and_named_afterwards() {
    let barrier = Arc::new(Barrier::new(client::AT_ONCE));
    let server = Server::new(move |ask, _| {
        ask.is("PUT", "/blobs/").then(|| Reply::Together(barrier.clone(), None))
    });
    let layers = &LAYERS[..client::AT_ONCE];
    assert_eq!(server.push_blobs(layers, access()), Ok(()));
    assert_eq!(server.store().blobs.len(), layers.len());
    let log = server.log();
    let first = log.iter().position(|it| it.contains("/manifests/")).expect("it is pushed");
    assert!(!log[first..].iter().any(|it| it.contains("/blobs/")), "{log:?}");
}

#[test]
fn nothing_more_is_sent_after_a_fault() {
    let first = Digest::from_content(LAYERS[0]).to_string();
    let server = Server::new(move |ask, _| ask.is("HEAD", &first).then(|| status(501)));
    let layers: Vec<Vec<u8>> = (0..200_u32).map(|it| it.to_be_bytes().to_vec()).collect();
    let mut layers: Vec<&[u8]> = layers.iter().map(|it| &**it).collect();
    layers.insert(0, LAYERS[0]);
    let error = server.push_blobs(&layers, access()).expect_err("one is refused");
    assert!(error.starts_with("the tag `v1` was not changed: "), "{error}");
    assert!(error.contains("status 501"), "{error}");
    let log = server.log();
    assert!(log.len() < 300, "{} requests", log.len());
    assert!(!log.iter().any(|it| it.contains("/manifests/")), "{log:?}");
}

#[test]
fn a_token_is_asked_for_once() {
    for challenge in ["Bearer realm=\"http://HOST/token\"", "Basic realm=x"] {
        let barrier = Arc::new(Barrier::new(client::AT_ONCE));
        let server = Server::new(move |ask, _| {
            if ask.path.starts_with("/token") {
                return Some(says(200, r#"{"token":"t"}"#));
            }
            if ask.path == "/v2/" || !ask.authorization().is_empty() {
                return None;
            }
            // All of them are refused before the first one can log in.
            let challenge = challenge.replace("HOST", ask.headers.get("host")?);
            let reply = header(401, "WWW-Authenticate", challenge);
            Some(Reply::Together(barrier.clone(), Some(Box::new(reply))))
        });
        let layers = &LAYERS[..client::AT_ONCE];
        assert_eq!(server.push_blobs(layers, password()), Ok(()), "{challenge}");
        let log = server.log();
        let tokens = log.iter().filter(|it| it.contains("/token")).count();
        assert_eq!(tokens, usize::from(challenge.starts_with("Bearer")), "{log:?}");
    }
}
