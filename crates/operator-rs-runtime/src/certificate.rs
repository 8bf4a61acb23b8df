//! What a certificate says: when it is valid, and for which names. rustls asks that only as a client.

use k8s_openapi::jiff::{Timestamp, civil::DateTime, tz::TimeZone};
use rustls::{
    client::verify_server_name,
    pki_types::{CertificateDer, ServerName},
    server::ParsedCertificate,
};
use std::time::SystemTime;

/// Why clients refuse a certificate at this time, if they do, and what to do about it.
pub fn out_of_time(certificate: &CertificateDer<'_>, now: SystemTime) -> Option<(String, &'static str)> {
    let (from, until) = validity(certificate)?;
    let text = |it| Timestamp::try_from(it).map_or_else(|_| "an unknown time".into(), |it| it.to_string());
    match () {
        () if until <= now => Some((format!("expired at {}", text(until)), "check what renews it, e.g. cert-manager")),
        () if now < from => Some((format!("is not valid before {}", text(from)), "check the clock of this node")),
        () => None,
    }
}

/// Whether clients accept a certificate from a server of this name.
pub fn is_for(certificate: &CertificateDer<'_>, name: &str) -> bool {
    let (Ok(certificate), Ok(name)) = (ParsedCertificate::try_from(certificate), ServerName::try_from(name)) else {
        return false;
    };
    verify_server_name(&certificate, &name).is_ok()
}

/// From when and until when a certificate is valid.
pub fn validity(certificate: &CertificateDer<'_>) -> Option<(SystemTime, SystemTime)> {
    let [(_, certificate), ..] = elements(certificate)?[..] else { return None };
    let [(_, fields), ..] = elements(certificate)?[..] else { return None };
    let fields = elements(fields)?;
    // Behind the serial number, the algorithm and the issuer. The version is optional.
    let at = if fields.first()?.0 == VERSION { 4 } else { 3 };
    let [from, until] = elements(fields.get(at)?.1)?[..] else { return None };
    Some((time(from)?, time(until)?))
}

const VERSION: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;

/// The tags and the contents of elements in DER.
fn elements(mut rest: &[u8]) -> Option<Vec<(u8, &[u8])>> {
    let mut res = vec![];
    while let [tag, length, after @ ..] = rest {
        let more = if *length < 0x80 { 0 } else { usize::from(length & 0x7f) };
        let length = match more {
            0 => usize::from(*length),
            1..=3 => after.get(..more)?.iter().fold(0, |it, byte| it << 8 | usize::from(*byte)),
            _ => return None,
        };
        let end = more.checked_add(length)?;
        res.push((*tag, after.get(more..end)?));
        rest = after.get(end..)?;
    }
    rest.is_empty().then_some(res)
}

fn time((tag, text): (u8, &[u8])) -> Option<SystemTime> {
    let text = std::str::from_utf8(text).ok()?;
    // Years of two digits are from 1950 on.
    let century = match tag {
        UTC_TIME if text >= "5" => "19",
        UTC_TIME => "20",
        _ => "",
    };
    let time = DateTime::strptime("%Y%m%d%H%M%SZ", format!("{century}{text}")).ok()?;
    Some(time.to_zoned(TimeZone::UTC).ok()?.timestamp().into())
}
