//! Parses the values of flags in Go's syntax. clap parses neither Go's durations nor its addresses.

use k8s_openapi::jiff::SignedDuration;
use std::{net::SocketAddr, time::Duration};

/// The addresses to listen on. The first free one is used; an empty list turns the endpoint off.
#[derive(Clone, Debug, PartialEq)]
pub struct Address(pub Vec<SocketAddr>);

/// Parses addresses such as `127.0.0.1:8443` and `[::1]:8443`, and also Go's `:8443` and `0`.
pub fn address(s: &str) -> Result<Address, String> {
    let parse =
        |s: &str| s.parse().map_err(|_| format!("`{s}` is not an address; use :8443, 127.0.0.1:8443 or [::1]:8443"));
    Ok(Address(match s {
        "0" | "" => vec![],
        // A port alone means IPv6 and IPv4, or only IPv4 where IPv6 is off, as in Go.
        port if port.starts_with(':') => {
            vec![parse(&format!("[::]{port}"))?, parse(&format!("0.0.0.0{port}"))?]
        }
        s => vec![parse(s)?],
    }))
}

/// Parses a duration in Go's syntax.
pub fn time_or_zero(s: &str) -> Result<Duration, String> {
    let is_go_syntax = s.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'.')
        && s.bytes().next().is_some_and(|b| b.is_ascii_digit());
    let parsed = match s {
        "0" => Some(Duration::ZERO),
        _ if is_go_syntax => s.parse::<SignedDuration>().ok().and_then(|duration| duration.try_into().ok()),
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

/// Parses a duration for a Lease, which counts in whole seconds.
pub fn seconds(s: &str) -> Result<Duration, String> {
    match time(s)? {
        time if time.subsec_nanos() == 0 => Ok(time),
        _ => Err("a Lease counts in whole seconds".into()),
    }
}

pub fn workers(s: &str) -> Result<u16, String> {
    s.parse().ok().filter(|count| *count > 0).ok_or_else(|| "use a number from 1 to 65535".into())
}

pub fn rate(s: &str) -> Result<f64, String> {
    let rate = s.parse().ok().filter(|rate| (0.0..=1e6).contains(rate));
    rate.ok_or_else(|| "use a number from 0 to 1000000".into())
}
