//! Makes and checks certificates: authorities, and what they sign for the server. All texts are PEM.

pub use crate::certificate::validity;
use crate::tls;
use k8s_openapi::ByteString;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::{
    RootCertStore,
    client::{WebPkiServerVerifier, danger::ServerCertVerifier},
    crypto::ring::default_provider,
    pki_types::{CertificateDer, PrivateKeyDer, ServerName, UnixTime, pem::PemObject},
};
use std::{
    sync::Arc,
    time::{Duration, SystemTime},
};

pub const DAY: Duration = Duration::from_secs(24 * 60 * 60);
/// How long an authority is valid.
pub const AUTHORITY_LIFE: Duration = DAY.saturating_mul(3650);
/// How long a certificate of the server is valid.
pub const LIFE: Duration = DAY.saturating_mul(90);
/// Certificates are valid this long before they are made, for clocks that are behind.
const BEFORE: Duration = Duration::from_secs(60 * 60);

/// A certificate and its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Pair {
    /// Whether the certificate has not ended yet.
    pub fn is_current(&self, now: SystemTime) -> bool {
        let first = certificates(&self.certificate).into_iter().next();
        first.and_then(|it| validity(&it)).is_some_and(|it| now < it.1)
    }
}

/// A new authority.
pub fn new_authority(now: SystemTime) -> anyhow::Result<Pair> {
    let key = KeyPair::generate()?;
    let mut params = authority(&key);
    (params.not_before, params.not_after) = ((now - BEFORE).into(), (now + AUTHORITY_LIFE).into());
    let certificate = params.self_signed(&key)?;
    Ok(Pair { certificate: encode(&[certificate.der().clone()]), key: encode_key(&key) })
}

/// A new certificate for these DNS names, signed by the authority with this key.
pub fn sign(authority_key: &str, names: &[String], now: SystemTime) -> anyhow::Result<Pair> {
    let authority_key = PrivateKeyDer::from_pem_slice(authority_key.as_bytes())?;
    let authority_key = KeyPair::try_from(&authority_key)?;
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = common_name("webhook");
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    (params.not_before, params.not_after) = ((now - BEFORE).into(), (now + LIFE).into());
    let authority = authority(&authority_key);
    let certificate = params.signed_by(&key, &Issuer::from_params(&authority, &authority_key))?;
    Ok(Pair { certificate: encode(&[certificate.der().clone()]), key: encode_key(&key) })
}

/// What follows from the key of an authority. Its name does, too: so the key alone is enough to sign for it, and no two
/// authorities have the same name.
fn authority(key: &KeyPair) -> CertificateParams {
    let digest = ring::digest::digest(&ring::digest::SHA256, key.public_key_raw());
    let id: String = digest.as_ref()[..8].iter().map(|it| format!("{it:02x}")).collect();
    let mut res = CertificateParams::default();
    res.distinguished_name = common_name(&format!("webhook-ca-{id}"));
    res.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    res.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    res
}

fn common_name(name: &str) -> DistinguishedName {
    let mut res = DistinguishedName::new();
    res.push(DnType::CommonName, name);
    res
}

/// The certificates in a text, up to what is none.
pub fn certificates(text: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(text.as_bytes()).map_while(Result::ok).collect()
}

pub fn encode(certificates: &[CertificateDer<'static>]) -> String {
    certificates.iter().map(|it| encode_as("CERTIFICATE", it)).collect()
}

fn encode_key(key: &KeyPair) -> String {
    encode_as("PRIVATE KEY", &key.serialize_der())
}

fn encode_as(label: &str, bytes: &[u8]) -> String {
    // In JSON, bytes are base64.
    let text = serde_json::to_value(ByteString(bytes.to_vec())).unwrap_or_default();
    let lines = text.as_str().unwrap_or_default().as_bytes().chunks(64).map(String::from_utf8_lossy);
    let body: String = lines.map(|it| format!("{it}\n")).collect();
    format!("-----BEGIN {label}-----\n{body}-----END {label}-----\n")
}

/// Whether who trusts one of these authorities accepts the pair at this time for all of the names.
pub fn verifies(pair: &Pair, authorities: &[CertificateDer<'static>], names: &[String], at: SystemTime) -> bool {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities.iter().cloned());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider())).build();
    let Ok(key) = tls::certified(pair.certificate.as_bytes(), pair.key.as_bytes()) else { return false };
    let (Ok(verifier), [certificate, others @ ..]) = (verifier, &key.cert[..]) else { return false };
    let at = UnixTime::since_unix_epoch(at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
    names.iter().all(|name| {
        let name = ServerName::try_from(name.as_str());
        name.is_ok_and(|it| verifier.verify_server_cert(certificate, others, &it, &[], at).is_ok())
    })
}
