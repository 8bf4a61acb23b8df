use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{RUST_KEYWORDS, Refusal, text};

/// The path of a module or type of another crate, starting with the name of the crate:
/// `gateway_api::gateways::Gateway`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RustPath(String);

impl RustPath {
    pub fn crate_name(&self) -> &str {
        self.0.split("::").next().unwrap_or(&self.0)
    }

    /// Returns the path of the type's module, and the name of the type in it. A path whose last part starts with a
    /// capital letter is that of the type itself; otherwise the module has a type with the name of the kind.
    pub fn type_of<'a>(&'a self, kind: &'a str) -> (&'a str, &'a str) {
        match self.0.rsplit_once("::") {
            Some((module, name)) if name.starts_with(char::is_uppercase) => (module, name),
            _ => (&self.0, kind),
        }
    }
}

impl FromStr for RustPath {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let inside = |c: char| c.is_alphanumeric() || c == '_';
        let is_name = |name: &str| {
            !name.is_empty()
                && !name.starts_with(|c: char| c.is_ascii_digit())
                && name.chars().all(inside)
                && !RUST_KEYWORDS.contains(&name)
        };
        if text.contains("::") && text.split("::").all(is_name) {
            return Ok(Self(text.to_owned()));
        }
        Err(Refusal::new(
            "must be a Rust path that starts with the name of a crate, e.g. `gateway_api::gateways`",
        ))
    }
}

impl fmt::Display for RustPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

text!(RustPath);

#[test]
fn a_path_leads_to_a_type_or_to_its_module() {
    let check = |text: &str, expected: (&str, &str)| {
        let path: RustPath = text.parse().expect("a path");
        assert_eq!(path.type_of("Gateway"), expected);
    };
    check("a::b::Gateway", ("a::b", "Gateway"));
    check("a::b::GatewayV1", ("a::b", "GatewayV1"));
    check("a::b", ("a::b", "Gateway"));
    check("a::Gateway", ("a", "Gateway"));
    for text in
        ["a", "", "a::", "crate::a", "a::fn", "a::1b", "a/b", "a::b.c", "a::b(); evil", "::a"]
    {
        assert!(text.parse::<RustPath>().is_err(), "{text}");
    }
}
