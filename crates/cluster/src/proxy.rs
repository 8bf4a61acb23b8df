//! The proxy for an API server, chosen as kubectl chooses it.
//!
//! kube 5.0 matches `NO_PROXY` with the proxy instead of the server, and uses a proxy for this machine too.

use std::net::IpAddr;

use anyhow::Context as _;
use http::Uri;
use hyper_util::client::proxy::matcher::Matcher;
use kube::config::Kubeconfig;

use diagnostics::Hint as _;

/// The proxies in the environment. By default there is none.
#[derive(Clone, Debug, Default)]
pub struct Proxies {
    /// `HTTP_PROXY`, for servers without TLS.
    pub http: Option<String>,
    /// `HTTPS_PROXY`
    pub https: Option<String>,
    /// `NO_PROXY`
    pub none: String,
}

impl Proxies {
    /// The proxy for a server: the one in its kubeconfig, else the one in the environment, unless the server is this
    /// machine or matches `NO_PROXY`.
    pub(super) fn proxy_for(
        &self,
        server: &Uri,
        kubeconfig_proxy: Option<String>,
    ) -> anyhow::Result<Option<Uri>> {
        let of_environment = match server.scheme_str() {
            Some("http") => &self.http,
            _ => &self.https,
        };
        let of_environment = of_environment.as_deref().filter(|_| uses_proxy(&self.none, server));
        let Some(proxy) = kubeconfig_proxy.as_deref().or(of_environment) else { return Ok(None) };
        let uri = if proxy.contains("://") { proxy } else { &format!("http://{proxy}") };
        // The text may contain a password.
        let uri = uri.parse().context("the proxy's address is not a URL");
        uri.map(Some).hint("write `proxy-url` or HTTPS_PROXY as `http://proxy.example.com:3128`")
    }

    /// `NO_PROXY` for programs that connect to an API server on this machine: with this machine, and with the proxies
    /// themselves, which kube 5.0 matches with it.
    pub fn no_proxy_with_localhost(&self) -> String {
        if is_wildcard(&self.none) {
            return self.none.clone();
        }
        let mut entries: Vec<String> =
            self.none.split(',').map(|entry| entry.trim().to_owned()).collect();
        entries.retain(|entry| !entry.is_empty());
        entries.extend(["127.0.0.1".to_owned(), "localhost".to_owned()]);
        for proxy in self.https.iter().filter_map(|address| address.parse::<Uri>().ok()) {
            let Some(host) = proxy.host() else { continue };
            let port = match (proxy.port_u16(), proxy.scheme_str()) {
                (None, Some("https")) => Some(443),
                (None, Some(_)) => Some(80),
                (port, _) => port,
            };
            entries.push(match (host.parse::<IpAddr>(), port) {
                (Err(_), Some(port)) => format!("{host}:{port}"),
                _ => host.to_owned(),
            });
        }
        entries.join(",")
    }
}

/// The proxy that the kubeconfig names for the cluster of a context.
pub fn kubeconfig_proxy(kubeconfig: &Kubeconfig, context: Option<&str>) -> Option<String> {
    let name = context.or(kubeconfig.current_context.as_deref())?;
    let context =
        kubeconfig.contexts.iter().find(|context| context.name == name)?.context.as_ref()?;
    let cluster = kubeconfig.clusters.iter().find(|cluster| cluster.name == context.cluster)?;
    cluster.cluster.as_ref()?.proxy_url.clone().filter(|url| !url.is_empty())
}

/// Returns whether a host is this machine, by its name or its address.
pub fn is_loopback(host: &str) -> bool {
    let host = host.trim_matches(['[', ']']);
    host == "localhost" || host.parse().is_ok_and(|address: IpAddr| address.is_loopback())
}

fn uses_proxy(none: &str, server: &Uri) -> bool {
    let host = server.host().unwrap_or_default().trim_matches(['[', ']']);
    let here = is_loopback(host);
    // The matcher does not support `*` for addresses, and drops a proxy whose address it cannot read.
    let matcher = Matcher::builder().all("http://proxy").no(none).build();
    !here && !is_wildcard(none) && matcher.intercept(server).is_some()
}

fn is_wildcard(none: &str) -> bool {
    none.split(',').any(|entry| entry.trim() == "*")
}

#[test]
fn no_proxy_is_matched_with_the_server() {
    let check = |none: &str, server: &str, expected: bool| {
        let server: Uri = server.parse().expect("a URL");
        assert_eq!(uses_proxy(none, &server), expected, "{none} {server}");
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
fn a_proxy_that_cannot_be_read_is_refused() {
    let server: Uri = "https://cluster.example.com".parse().expect("a URL");
    let proxies = Proxies { https: Some("http://a b".to_owned()), ..Proxies::default() };
    let error = proxies.proxy_for(&server, None).expect_err("it is no URL");
    assert_eq!(error.to_string(), "the proxy's address is not a URL");
}

#[test]
fn a_kubeconfig_has_its_own_proxy() {
    let server: Uri = "https://127.0.0.1:6443".parse().expect("a URL");
    let proxies = Proxies { https: Some("a:1".to_owned()), ..Proxies::default() };
    assert_eq!(proxies.proxy_for(&server, None).expect("a URL"), None);
    let kubeconfig_proxy = proxies.proxy_for(&server, Some("b:2".to_owned())).expect("a URL");
    assert_eq!(kubeconfig_proxy, Some("http://b:2".parse().expect("a URL")));
}

#[test]
fn programs_under_test_find_this_machine() {
    let around = |https: &str, none: &str| {
        let https = Some(https.to_owned());
        Proxies { http: None, https, none: none.to_owned() }.no_proxy_with_localhost()
    };
    let found = around("http://u:p@proxy.example.com", "example.org, ");
    assert_eq!(found, "example.org,127.0.0.1,localhost,proxy.example.com:80");
    assert_eq!(around("10.0.0.1:3128", ""), "127.0.0.1,localhost,10.0.0.1");
    assert_eq!(around("http://proxy.example.com", "*"), "*");
}
