//! Makes and checks the certificates of authorities and of the server. All strings are PEM.

pub use crate::certificate::validity_period;
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
/// The time for which an authority is valid.
pub const AUTHORITY_LIFE: Duration = DAY.saturating_mul(3650);
/// The time for which a certificate of the server is valid.
pub const SERVER_LIFE: Duration = DAY.saturating_mul(90);
/// The time before its creation from which a certificate is valid, for clocks that are behind.
const CLOCK_SKEW: Duration = Duration::from_secs(60 * 60);

/// A certificate and its key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pair {
    pub certificate: String,
    pub key: String,
}

impl Pair {
    /// Returns true if the certificate has not expired yet.
    pub fn is_current(&self, now: SystemTime) -> bool {
        let first = parse_certificates(&self.certificate).into_iter().next();
        first.and_then(|certificate| validity_period(&certificate)).is_some_and(|(_, until)| now < until)
    }
}

/// Makes a new authority.
pub fn new_authority(now: SystemTime) -> anyhow::Result<Pair> {
    let key = KeyPair::generate()?;
    let mut params = authority_params(&key);
    (params.not_before, params.not_after) = ((now - CLOCK_SKEW).into(), (now + AUTHORITY_LIFE).into());
    let certificate = params.self_signed(&key)?;
    Ok(Pair { certificate: encode_certificates(&[certificate.der().clone()]), key: encode_key(&key) })
}

/// Makes a new certificate for these DNS names, signed by the authority with this key.
pub fn sign_certificate(authority_key: &str, names: &[String], now: SystemTime) -> anyhow::Result<Pair> {
    let authority_key = PrivateKeyDer::from_pem_slice(authority_key.as_bytes())?;
    let authority_key = KeyPair::try_from(&authority_key)?;
    let key = KeyPair::generate()?;
    let mut params = CertificateParams::new(names)?;
    params.distinguished_name = common_name("webhook");
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    (params.not_before, params.not_after) = ((now - CLOCK_SKEW).into(), (now + SERVER_LIFE).into());
    let authority = authority_params(&authority_key);
    let certificate = params.signed_by(&key, &Issuer::from_params(&authority, &authority_key))?;
    Ok(Pair { certificate: encode_certificates(&[certificate.der().clone()]), key: encode_key(&key) })
}

/// Derives the parameters of an authority from its key. The name is derived, too, so that the key alone is enough to
/// sign, and no two authorities have the same name.
fn authority_params(key: &KeyPair) -> CertificateParams {
    let digest = ring::digest::digest(&ring::digest::SHA256, key.public_key_raw());
    let id: String = digest.as_ref()[..8].iter().map(|byte| format!("{byte:02x}")).collect();
    let mut params = CertificateParams::default();
    params.distinguished_name = common_name(&format!("webhook-ca-{id}"));
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign, KeyUsagePurpose::DigitalSignature];
    params
}

fn common_name(name: &str) -> DistinguishedName {
    let mut distinguished_name = DistinguishedName::new();
    distinguished_name.push(DnType::CommonName, name);
    distinguished_name
}

/// Parses the certificates of a PEM, until the first block that is not a certificate.
pub fn parse_certificates(pem: &str) -> Vec<CertificateDer<'static>> {
    CertificateDer::pem_slice_iter(pem.as_bytes()).map_while(Result::ok).collect()
}

pub fn encode_certificates(certificates: &[CertificateDer<'static>]) -> String {
    certificates.iter().map(|certificate| encode_as("CERTIFICATE", certificate)).collect()
}

fn encode_key(key: &KeyPair) -> String {
    encode_as("PRIVATE KEY", &key.serialize_der())
}

fn encode_as(label: &str, bytes: &[u8]) -> String {
    // `ByteString` serializes bytes as base64.
    let base64 = serde_json::to_value(ByteString(bytes.to_vec())).unwrap_or_default();
    let lines = base64.as_str().unwrap_or_default().as_bytes().chunks(64).map(String::from_utf8_lossy);
    let body: String = lines.map(|line| format!("{line}\n")).collect();
    format!("-----BEGIN {label}-----\n{body}-----END {label}-----\n")
}

/// Returns true if a client that trusts one of these authorities accepts the pair at this time for all names.
pub fn is_trusted(pair: &Pair, authorities: &[CertificateDer<'static>], names: &[String], at: SystemTime) -> bool {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities.iter().cloned());
    let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), Arc::new(default_provider())).build();
    let Ok(key) = tls::parse_pair(pair.certificate.as_bytes(), pair.key.as_bytes()) else { return false };
    let (Ok(verifier), [certificate, chain @ ..]) = (verifier, &key.cert[..]) else { return false };
    let at = UnixTime::since_unix_epoch(at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default());
    names.iter().all(|name| {
        let name = ServerName::try_from(name.as_str());
        name.is_ok_and(|name| verifier.verify_server_cert(certificate, chain, &name, &[], at).is_ok())
    })
}
