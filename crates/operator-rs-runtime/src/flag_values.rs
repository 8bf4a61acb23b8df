//! The syntax of the values of flags: as in Go. clap knows neither its durations nor its addresses.

use k8s_openapi::jiff::SignedDuration;
use std::{net::SocketAddr, time::Duration};

/// Addresses to listen on: the first one that is free; none if there are none.
#[derive(Clone, Debug, PartialEq)]
pub struct Address(pub Vec<SocketAddr>);

/// Go's ":8443" and "0" as well as "127.0.0.1:8443" and "[::1]:8443".
pub fn address(s: &str) -> Result<Address, String> {
    let one =
        |s: &str| s.parse().map_err(|_| format!("`{s}` is not an address; use :8443, 127.0.0.1:8443 or [::1]:8443"));
    Ok(Address(match s {
        "0" | "" => vec![],
        // As in Go: IPv6 and IPv4, or IPv4 only where IPv6 is off.
        port if port.starts_with(':') => {
            vec![one(&format!("[::]{port}"))?, one(&format!("0.0.0.0{port}"))?]
        }
        s => vec![one(s)?],
    }))
}

/// As Go writes durations.
pub fn time_or_zero(s: &str) -> Result<Duration, String> {
    let go = s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        && s.bytes().next().is_some_and(|b| b.is_ascii_digit());
    let parsed = match s {
        "0" => Some(Duration::ZERO),
        _ if go => s.parse::<SignedDuration>().ok().and_then(|it| it.try_into().ok()),
        _ => None,
    };
    parsed.ok_or_else(|| "use a time like 300ms, 10s, 2m or 1h30m".into())
}

pub fn time(s: &str) -> Result<Duration, String> {
    match time_or_zero(s)? {
        Duration::ZERO => Err("it has to be more than zero".into()),
        time if time > Duration::from_secs(10 * 365 * 24 * 60 * 60) => Err("it has to be less than ten years".into()),
        time => Ok(time),
    }
}

/// A Lease counts in whole seconds.
pub fn seconds(s: &str) -> Result<Duration, String> {
    match time(s)? {
        time if time.subsec_nanos() == 0 => Ok(time),
        _ => Err("a Lease counts in whole seconds".into()),
    }
}

pub fn workers(s: &str) -> Result<u16, String> {
    s.parse().ok().filter(|it| *it > 0).ok_or_else(|| "use a number from 1 to 65535".into())
}

pub fn rate(s: &str) -> Result<f64, String> {
    let rate = s.parse().ok().filter(|it| (0.0..=1e6).contains(it));
    rate.ok_or_else(|| "use a number from 0 to 1000000".into())
}
