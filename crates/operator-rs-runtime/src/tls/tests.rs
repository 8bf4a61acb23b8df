use super::*;
use rcgen::{CertificateParams, KeyPair, date_time_ymd};
use rustls::{ClientConfig, RootCertStore};
use std::sync::mpsc;
use tokio_rustls::TlsConnector;

/// Creates files with a certificate for `it`.
fn files(name: &str) -> Files {
    let dir = std::env::temp_dir().join(format!("runtime-tls-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let files = Files { cert: dir.join("tls.crt"), key: dir.join("tls.key") };
    write(&files, |_| ());
    files
}

fn write(files: &Files, edit: impl FnOnce(&mut CertificateParams)) {
    let key = KeyPair::generate().unwrap();
    let mut params = CertificateParams::new(vec!["it".into()]).unwrap();
    edit(&mut params);
    std::fs::write(&files.cert, params.self_signed(&key).unwrap().pem()).unwrap();
    std::fs::write(&files.key, key.serialize_pem()).unwrap();
}

fn remove(files: &Files) {
    std::fs::remove_dir_all(files.cert.parent().unwrap()).unwrap();
}

/// Captures the log of this thread.
fn log() -> (mpsc::Receiver<String>, tracing::subscriber::DefaultGuard) {
    struct Log(mpsc::Sender<String>);
    impl std::io::Write for Log {
        fn write(&mut self, text: &[u8]) -> std::io::Result<usize> {
            let _ = self.0.send(String::from_utf8_lossy(text).into_owned());
            Ok(text.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let (sender, lines) = mpsc::channel();
    let log = tracing_subscriber::fmt().with_writer(move || Log(sender.clone())).with_ansi(false).without_time();
    (lines, tracing::subscriber::set_default(log.finish()))
}

/// Returns the messages of the warnings since the last call.
fn warnings(lines: &mpsc::Receiver<String>) -> Vec<String> {
    let warnings = lines.try_iter().filter(|line| line.contains("WARN"));
    warnings.map(|line| line.split_once(": ").unwrap().1.trim_end().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn a_certificate_without_its_key_is_not_served() {
    let (files, (lines, _guard)) = (files("key"), log());
    load_acceptor(Some(files.clone())).ok().unwrap();
    std::fs::remove_file(&files.key).unwrap();
    let fault = format!("cannot read {}", files.key.display());
    assert!(explain(load_acceptor(Some(files.clone())).err().unwrap().as_ref()).starts_with(&fault));
    // The key belongs to another certificate.
    std::fs::write(&files.key, KeyPair::generate().unwrap().serialize_pem()).unwrap();
    let fault = format!("cannot use {} with {}", files.cert.display(), files.key.display());
    assert!(explain(load_acceptor(Some(files.clone())).err().unwrap().as_ref()).starts_with(&fault));
    assert_eq!(warnings(&lines), [""; 0]);
    remove(&files);
}

#[tokio::test(start_paused = true)]
async fn a_certificate_that_clients_refuse_for_the_time_is_logged_once() {
    let (files, (lines, _guard)) = (files("time"), log());
    let _acceptor = load_acceptor(Some(files.clone())).ok().unwrap();
    sleep(CHECK_INTERVAL * 3).await;
    assert_eq!(warnings(&lines), [""; 0]);
    let fault = |fault: &str| format!("the serving certificate in {} {fault}", files.cert.display());

    // The certificate is replaced by an expired one.
    let expire = |params: &mut CertificateParams| {
        (params.not_before, params.not_after) = (date_time_ymd(2024, 1, 1), date_time_ymd(2024, 4, 1));
    };
    write(&files, expire);
    let expected =
        fault("expired at 2024-04-01T00:00:00Z, so clients refuse it: check what renews it, e.g. cert-manager");
    sleep(CHECK_INTERVAL * 3).await;
    assert_eq!(warnings(&lines), [&*expected]);
    // An expired certificate is also logged at the start.
    let acceptor = load_acceptor(Some(files.clone())).ok().unwrap();
    assert_eq!(warnings(&lines), [&*expected]);
    drop(acceptor);

    write(&files, |params| params.not_before = date_time_ymd(4000, 1, 1));
    load_acceptor(Some(files.clone())).ok().unwrap();
    let expected =
        fault("is not valid before 4000-01-01T00:00:00Z, so clients refuse it: check the clock of this node");
    assert_eq!(warnings(&lines)[0], expected);
    remove(&files);
}

#[test]
fn a_certificate_that_ends_while_it_is_served_is_logged_then() {
    let (files, (lines, _guard)) = (files("end"), log());
    let expire = |params: &mut CertificateParams| {
        (params.not_before, params.not_after) = (date_time_ymd(2024, 1, 1), date_time_ymd(2024, 4, 1));
    };
    write(&files, expire);
    let certificate = ServingCertificate::from_file(&files.cert);
    certificate.set_key(files.load().unwrap());
    let day = Duration::from_secs(24 * 60 * 60);
    let end = SystemTime::from(date_time_ymd(2024, 4, 1));
    certificate.check_time(end - day);
    assert_eq!(warnings(&lines).len(), 0);
    certificate.check_time(end);
    certificate.check_time(end + day);
    assert_eq!(warnings(&lines).len(), 1);
    remove(&files);
}

/// API servers ask for the name of the Service, which the process does not know otherwise.
#[tokio::test]
async fn a_name_that_the_certificate_is_not_for_is_logged_once() {
    let (files, (lines, _guard)) = (files("name"), log());
    let asked = async |acceptor: &TlsAcceptor, name: &'static str| {
        let (ours, theirs) = tokio::io::duplex(4096);
        let mut roots = RootCertStore::empty();
        roots.add(files.load().unwrap().cert[0].clone()).unwrap();
        let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()));
        let config = config.with_safe_default_protocol_versions().unwrap().with_root_certificates(roots);
        let connector = TlsConnector::from(Arc::new(config.with_no_client_auth()));
        let connect = connector.connect(name.try_into().unwrap(), theirs);
        let (_, connected) = tokio::join!(acceptor.accept(ours), connect);
        connected.is_ok()
    };
    let acceptor = load_acceptor(Some(files.clone())).ok().unwrap();
    assert!(asked(&acceptor, "it").await);
    assert_eq!(warnings(&lines), [""; 0]);
    for _ in 0..2 {
        assert!(!asked(&acceptor, "webhook-service.system.svc").await);
    }
    let expected = format!(
        "the serving certificate in {} is not valid for `webhook-service.system.svc`, which a client asked for: if that is \
         the name of the manager's Service, request a certificate for it",
        files.cert.display()
    );
    assert_eq!(warnings(&lines), [expected]);
    // A generated certificate has no name that a client could expect.
    assert!(!asked(&load_acceptor(None).ok().unwrap(), "it").await);
    assert_eq!(warnings(&lines), [""; 0]);
    remove(&files);
}

#[tokio::test(start_paused = true)]
async fn a_renewed_certificate_is_served_and_a_bad_one_is_not() {
    let dir = std::env::temp_dir().join(format!("runtime-tls-{}", std::process::id()));
    std::fs::create_dir_all(&dir).unwrap();
    let files = Files { cert: dir.join("tls.crt"), key: dir.join("tls.key") };
    let write = || {
        let pair = rcgen::generate_simple_self_signed(vec!["it".into()]).unwrap();
        std::fs::write(&files.key, pair.signing_key.serialize_pem()).unwrap();
        std::fs::write(&files.cert, pair.cert.pem()).unwrap();
    };
    assert!(explain(load_acceptor(Some(files.clone())).err().unwrap().as_ref()).contains("cannot read"));
    write();
    let certificate = Arc::new(ServingCertificate::default());
    certificate.set_key(files.load().unwrap());
    let served = || certificate.served.borrow().clone().unwrap();
    let first = served();
    tokio::spawn(reload_on_change(files.clone(), None, certificate.clone()));
    std::fs::write(&files.cert, "rubbish").unwrap();
    sleep(CHECK_INTERVAL * 2).await;
    assert!(Arc::ptr_eq(&first, &served()), "the last good one is kept");
    write();
    sleep(CHECK_INTERVAL * 2).await;
    assert_ne!(first.cert, served().cert);
    std::fs::remove_dir_all(&dir).unwrap();
}
