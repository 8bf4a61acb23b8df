//! The only room that fetches from the web, and that opens what was fetched.

use std::{
    collections::BTreeMap,
    io::{self, Read as _},
};

use anyhow::Context as _;
use flate2::read::GzDecoder;
use sha2::{Digest as _, Sha512};

use crate::hint::Hint as _;

/// What is behind a URL, as long as it is no more than `limit` bytes. Proxies are those of the
/// environment (`HTTPS_PROXY`, `NO_PROXY`).
pub fn get(url: &str, limit: u64) -> anyhow::Result<Vec<u8>> {
    let agent = concat!("operator-rs/", env!("CARGO_PKG_VERSION"));
    let answer = ureq::get(url).header("User-Agent", agent).call();
    let mut answer = answer
        .map_err(|it| match it {
            // Its own words are only that there was one.
            ureq::Error::Io(error) => error.into(),
            other => anyhow::Error::from(other),
        })
        .with_context(|| format!("fetching {url}"))
        .hint("is it reachable from here? HTTPS_PROXY names a proxy")?;
    let body = answer.body_mut().with_config().limit(limit).read_to_vec();
    body.with_context(|| format!("fetching {url}"))
}

/// The SHA-512 in hexadecimal digits.
pub fn sha512(bytes: &[u8]) -> String {
    Sha512::digest(bytes).iter().map(|it| format!("{it:02x}")).collect()
}

/// Files of a `.tar.gz` by their own names, whatever folders they are in there.
pub fn unpack(bytes: &[u8], names: &[&str]) -> io::Result<BTreeMap<String, Vec<u8>>> {
    let mut archive = tar::Archive::new(GzDecoder::new(bytes));
    let mut res = BTreeMap::new();
    for entry in archive.entries()? {
        let mut entry = entry?;
        let path = entry.path()?;
        let name = path.file_name().and_then(|it| it.to_str()).map(str::to_owned);
        let Some(name) = name.filter(|it| names.contains(&it.as_str())) else { continue };
        if entry.header().entry_type().is_file() {
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes)?;
            res.insert(name, bytes);
        }
    }
    Ok(res)
}
