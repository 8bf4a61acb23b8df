//! Reads from a certificate when it is valid and for which names. rustls checks that only as a client.

use k8s_openapi::jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use rustls::{
    client::verify_server_name,
    pki_types::{CertificateDer, ServerName},
    server::ParsedCertificate,
};
use std::time::SystemTime;

/// If clients refuse a certificate at this time, returns the reason, and what to do about it.
pub fn time_fault(certificate: &CertificateDer<'_>, now: SystemTime) -> Option<(String, &'static str)> {
    let (from, until) = validity_period(certificate)?;
    let display = |time| Timestamp::try_from(time).map_or_else(|_| "an unknown time".into(), |time| time.to_string());
    if until <= now {
        return Some((format!("expired at {}", display(until)), "check what renews it, e.g. cert-manager"));
    }
    if now < from {
        return Some((format!("is not valid before {}", display(from)), "check the clock of this node"));
    }
    None
}

/// Returns true if clients accept a certificate from a server with this name.
pub fn is_valid_for(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (Ok(certificate), Ok(name)) = (ParsedCertificate::try_from(certificate), ServerName::try_from(name)) else {
        return false;
    };
    verify_server_name(&certificate, &name).is_ok()
}

/// Returns the times from which and until which a certificate is valid.
pub fn validity_period(certificate: &CertificateDer<'_>) -> Option<(SystemTime, SystemTime)> {
    let [(_, certificate), ..] = der_elements(certificate)?[..] else { return None };
    let [(_, fields), ..] = der_elements(certificate)?[..] else { return None };
    let fields = der_elements(fields)?;
    // The validity follows the optional version, the serial number, the algorithm and the issuer.
    let index = if fields.first()?.0 == VERSION { 4 } else { 3 };
    let [from, until] = der_elements(fields.get(index)?.1)?[..] else { return None };
    Some((parse_time(from)?, parse_time(until)?))
}

const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;

/// Returns the tags and the contents of DER elements that follow each other.
fn der_elements(mut rest: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut elements = vec![];
    while let [tag, length, after @ ..] = rest {
        let length_bytes = if *length < 0x80 { 0 } else { usize::from(length & 0x7f) };
        let length = match length_bytes {
            0 => usize::from(*length),
            1..=3 => after.get(..length_bytes)?.iter().fold(0, |length, byte| length << 8 | usize::from(*byte)),
            _ => return None,
        };
        let end = length_bytes.checked_add(length)?;
        elements.push((*tag, after.get(length_bytes..end)?));
        rest = after.get(end..)?;
    }
    rest.is_empty().then_some(elements)
}

fn parse_time((tag, text): (u8, &[u8])) -> Option<SystemTime> {
    let text = std::str::from_utf8(text).ok()?;
    // Years of two digits begin at 1950.
    let century = match tag {
        UTC_TIME if text >= "5" => "19",
        UTC_TIME => "20",
        _ => "",
    };
    let time = DateTime::strptime("%Y%m%d%H%M%SZ", format!("{century}{text}")).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().into())
}
