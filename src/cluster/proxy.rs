//! The proxy on the way to an API server, as kubectl finds it.
//!
//! kube 5.0 asks `NO_PROXY` about the proxy instead of the server, and sends what is for this machine to a proxy too.

use std::net::IpAddr;

use anyhow::Context as _;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::Kubeconfig;

use crate::hint::Hint as _;

/// The proxy to a server: the one that its kubeconfig names; else that of the environment, unless the server is this
/// machine or one that `NO_PROXY` names.
pub fn of(server: &Uri, own: Option<String>) -> anyhow::Result<Option<Uri>> {
    let Some(proxy) = own.or_else(|| of_environment(server)) else { return Ok(None) };
    let uri = if proxy.contains("://") { proxy } else { format!("http://{proxy}") };
    // The text may hold a password.
    let uri = uri.parse().context("the proxy's address is no URL");
    uri.map(Some).hint("write `proxy-url` or HTTPS_PROXY as `http://proxy.example.com:3128`")
}

/// What the cluster of a context says in the kubeconfig.
pub fn own(kubeconfig: &Kubeconfig, context: Option<&str>) -> Option<String> {
    let name = context.or(kubeconfig.current_context.as_deref())?;
    let context = kubeconfig.contexts.iter().find(|it| it.name == name)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|it| it.name == context.cluster)?;
    cluster.cluster.as_ref()?.proxy_url.clone().filter(|it| !it.is_empty())
}

fn of_environment(server: &Uri) -> Option<String> {
    let names = match server.scheme_str() {
        Some("http") => ["HTTP_PROXY", "http_proxy"],
        _ => ["HTTPS_PROXY", "https_proxy"],
    };
    let proxy = variable(names)?;
    let none = variable(["NO_PROXY", "no_proxy"]).unwrap_or_default();
    is_used(&proxy, &none, server).then_some(proxy)
}

fn is_used(proxy: &str, none: &str, server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let here = host == "localhost" || host.parse().is_ok_and(|it: IpAddr| it.is_loopback());
    // The matcher knows no `*` for addresses.
    let none_at_all = none.split(',').any(|it| it.trim() == "*");
    let matcher = Matcher::builder().http(proxy).https(proxy).no(none).build();
    !here && !none_at_all && matcher.intercept(server).is_some()
}

#[expect(clippy::disallowed_methods, reason = "what every client of an API server goes by")]
fn variable(names: [&str; 2]) -> Option<String> {
    names.into_iter().find_map(|it| std::env::var(it).ok().filter(|it| !it.is_empty()))
}

/// `NO_PROXY` for programs that ask this machine's own API server, where they would ask one of these proxies: with
/// this machine, and the proxies themselves, about which kube 5.0 asks it.
pub fn exempt(none: &str, proxies: &[String]) -> String {
    if none.split(',').any(|it| it.trim() == "*") {
        return none.to_owned();
    }
    let mut res: Vec<String> = none.split(',').map(|it| it.trim().to_owned()).collect();
    res.retain(|it| !it.is_empty());
    res.extend(["127.0.0.1".to_owned(), "localhost".to_owned()]);
    for proxy in proxies.iter().filter_map(|it| it.parse::<Uri>().ok()) {
        let Some(host) = proxy.host() else { continue };
        let port = match (proxy.port_u16(), proxy.scheme_str()) {
            (Some(port), _) => Some(port),
            (None, Some("https")) => Some(443),
            (None, Some(_)) => Some(80),
            (None, None) => None,
        };
        res.push(match (host.parse::<IpAddr>(), port) {
            (Err(_), Some(port)) => format!("{host}:{port}"),
            _ => host.to_owned(),
        });
    }
    res.dedup();
    res.join(",")
}

#[test]
fn no_proxy_is_asked_about_the_server() {
    let check = |none: &str, server: &str, expected: bool| {
        let server: Uri = server.parse().expect("a URL");
        assert_eq!(is_used("http://proxy:3128", none, &server), expected, "{none} {server}");
    };
    check("", "https://cluster.example.com:6443", true);
    check("proxy,proxy:3128", "https://cluster.example.com:6443", true);
    check("example.com", "https://cluster.example.com:6443", false);
    check("10.0.0.0/8", "https://10.1.2.3", false);
    check("*", "https://10.1.2.3", false);
    for server in ["https://127.0.0.1:6443", "https://[::1]:6443", "http://localhost:8080"] {
        check("", server, false);
    }
}

#[test]
fn programs_under_test_find_this_machine() {
    let proxies = ["http://u:p@proxy.example.com".to_owned(), "http://10.0.0.1:3128".to_owned()];
    assert_eq!(
        exempt("example.org, ", &proxies),
        "example.org,127.0.0.1,localhost,proxy.example.com:80,10.0.0.1"
    );
    assert_eq!(exempt("*", &proxies), "*");
}
