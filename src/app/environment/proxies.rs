//! The proxies of the environment, as kubectl reads them.

use crate::terminal;
use cluster::Proxies;

pub fn proxies() -> anyhow::Result<Proxies> {
    let first = |[upper, lower]: [&str; 2]| match terminal::variable(upper)? {
        None => terminal::variable(lower),
        found => Ok(found),
    };
    Ok(Proxies {
        http: first(["HTTP_PROXY", "http_proxy"])?,
        https: first(["HTTPS_PROXY", "https_proxy"])?,
        none: first(["NO_PROXY", "no_proxy"])?.unwrap_or_default(),
    })
}
