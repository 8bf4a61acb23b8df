//! Checks the formats of strings, as API servers do.

use crate::expression;
use go_data::kubernetes::{mail, url::Url};

const UUID: &str = "(?i)^[0-9a-f]{8}-?[0-9a-f]{4}-?";
const NAME: &str = "[a-z0-9]([-a-z0-9]*[a-z0-9])?";

const NUMBERS: &[&str] = &["int32", "int64", "float", "double"];

fn without_dashes(format: &str) -> String {
    format.replace('-', "")
}

/// Returns true if a text has a format; none if that is not checked here.
pub fn is_valid(format: &str, text: &str) -> Option<bool> {
    let is = |pattern: &str| expression::is_match(pattern, text);
    if NUMBERS.contains(&format) {
        return Some(true);
    }
    match &*without_dashes(format) {
        "" | "password" => Some(true),
        "byte" => {
            is("^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$")
        }
        "date" => Some(is_date(text)),
        "datetime" => Some(is_date_time(text)),
        "ipv4" => Some(text.contains('.') && parse_address(text).is_some()),
        "ipv6" => Some(text.contains(':') && parse_address(text).is_some()),
        "cidr" => Some(is_cidr(text)),
        "uuid" => is(&format!("{UUID}[0-9a-f]{{4}}-?[0-9a-f]{{4}}-?[0-9a-f]{{12}}$")),
        "uuid3" => is(&format!("{UUID}3[0-9a-f]{{3}}-?[0-9a-f]{{4}}-?[0-9a-f]{{12}}$")),
        "uuid4" => is(&format!("{UUID}4[0-9a-f]{{3}}-?[89ab][0-9a-f]{{3}}-?[0-9a-f]{{12}}$")),
        "uuid5" => is(&format!("{UUID}5[0-9a-f]{{3}}-?[89ab][0-9a-f]{{3}}-?[0-9a-f]{{12}}$")),
        "email" => mail::is_address(text),
        "uri" => Some(Url::parse_request(text).is_some()),
        "hostname" => is_host(text),
        "k8sshortname" => Some(text.len() <= 63 && is(&format!("^{NAME}$"))?),
        "k8slongname" => Some(text.len() <= 253 && is(&format!(r"^{NAME}(\.{NAME})*$"))?),
        _ => None,
    }
}

fn is_date(text: &str) -> bool {
    let shape = text.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    shape.eq("0000-00-00".bytes()) && jiff::civil::Date::strptime("%Y-%m-%d", text).is_ok()
}

fn is_date_time(text: &str) -> bool {
    const TIME: &str = r"^([0-9]{2}):([0-9]{2}):([0-9]{2})(.[0-9]+)?(z|([+-][0-9]{2}:[0-9]{2}))$";
    let text = text.to_lowercase();
    let mut parts = text.split('t');
    let (Some(date), Some(time)) = (parts.next(), parts.next()) else { return false };
    is_date(date)
        && expression::is_match(TIME, time) == Some(true)
        && (&time[..2] <= "23" && &time[3..5] <= "59" && &time[6..8] <= "59")
}

/// Parses an IP address as Go does, which accepts leading zeros of IPv4 addresses here, and no zones.
fn parse_address(text: &str) -> Option<std::net::IpAddr> {
    let is_dotted = !text.contains(':');
    let parts = text.split('.').map(|text| match text.trim_start_matches('0') {
        "" if !text.is_empty() => "0",
        rest => rest,
    });
    let text = if is_dotted { parts.collect::<Vec<_>>().join(".") } else { text.to_owned() };
    text.parse().ok()
}

fn is_cidr(text: &str) -> bool {
    let Some((ip, bits)) = text.split_once('/') else { return false };
    let most = if ip.contains(':') { 128 } else { 32 };
    let is_number = !bits.is_empty() && bits.bytes().all(|byte| byte.is_ascii_digit());
    parse_address(ip).is_some() && is_number && bits.parse::<u32>().is_ok_and(|bits| bits <= most)
}

fn is_host(text: &str) -> Option<bool> {
    const HOST: &str = "^([a-zA-Z0-9]((-?[a-zA-Z0-9]{0,62})?)|([a-zA-Z0-9](([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)(\\.)){1,}([a-zA-Z]){2,63})$";
    // Letters and symbols of other scripts are allowed.
    if !text.is_ascii() {
        return None;
    }
    // `\p{S}` in ASCII.
    let plain: String =
        text.chars().map(|c| if "$+<=>^`|~".contains(c) { 'a' } else { c }).collect();
    let symbol_in_top =
        text.rsplit('.').next().is_some_and(|label| label.contains(|c| "$+<=>^`|~".contains(c)));
    if symbol_in_top && text.contains('.') {
        return None;
    }
    let fits = text.len() <= 255 && text.split('.').all(|text| text.len() <= 63);
    Some(fits && expression::is_match(HOST, &plain)?)
}
