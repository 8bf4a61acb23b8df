//! Addresses of proxies and registries that nothing can be sent to.

use super::*;

#[test]
fn a_proxy_that_cannot_be_used_is_never_bypassed() {
    let url = "https://registry.invalid/v2/".parse().expect("a URL");
    let image = "registry.invalid/a:v1".parse().expect("a name");
    let check = |proxy: &str, none: &str, expected: &str| {
        for plain_http in [false, true] {
            let proxy = Some(proxy.to_owned());
            let proxies = if plain_http {
                Proxies { http: proxy, https: None, none: none.to_owned() }
            } else {
                Proxies { http: None, https: proxy, none: none.to_owned() }
            };
            let access = Access { proxies, plain_http, ..access() };
            let registry = Registry::new(&image, Right::Pull, access).expect("it can be set up");
            let error = into_text(registry.manifest("v1", &[MANIFEST])).expect_err("no proxy");
            assert!(error.starts_with(&format!("registry.invalid: {expected}")), "{error}");
            assert!(!error.contains("hunter22"), "{error}");
        }
    };
    // The address may have a password in it.
    for proxy in [
        "http://u:hunter22@:x",
        "http://[bad",
        "local host:1",
        "http://",
        "/",
        "http://u:hunter22@a:99999",
        "a:0",
    ] {
        let hint = "[correct HTTPS_PROXY, or HTTP_PROXY where the registry has no TLS, or add the registry to NO_PROXY]";
        let expected = format!("the proxy's address in the environment is not a URL {hint}");
        check(proxy, "other.invalid", &expected);
        for none in ["*", "registry.invalid"] {
            let https = Some(proxy.to_owned());
            let proxies = Proxies { http: None, https, none: none.to_owned() };
            assert_eq!(proxies.proxy_for(&url), None);
        }
    }
    for scheme in ["socks4", "socks4a", "socks5", "SOCKS5", "socks5h", "socks", "ftp"] {
        let lower = scheme.to_lowercase();
        let expected = format!(
            "the proxy in the environment has the scheme `{lower}`, and only HTTP proxies are supported"
        );
        check(&format!("{scheme}://u:hunter22@localhost:1080"), "", &expected);
    }
    check("127.0.0.1:1", "", "connection refused");
    check("http://u:hunter22@127.0.0.1:1/", "", "connection refused");
    let empty = Proxies { https: Some(" ".to_owned()), ..Proxies::default() };
    assert_eq!(empty.proxy_for(&url), None);
}

#[test]
fn an_address_has_a_possible_port() {
    for host in ["localhost:99999", "localhost:0", "registry.invalid:65536"] {
        let image = format!("{host}/a/b:v1").parse().expect("a name");
        let registry = Registry::new(&image, Right::Pull, access()).expect("set up");
        let error =
            into_text(registry.manifest("v1", &[MANIFEST])).expect_err("there is no such port");
        assert!(
            error.starts_with(&format!("`{host}` is not the address of a registry")),
            "{error}"
        );
        assert!(error.contains("and a port up to 65535 if it needs one"), "{error}");
    }
}
