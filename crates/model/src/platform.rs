use std::{fmt, str::FromStr};

use serde::Deserialize;

use super::Refusal;

/// The platform of an image, e.g. `linux/amd64` or `linux/arm/v7`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct Platform {
    pub os: String,
    pub architecture: String,
    pub variant: Option<String>,
}

impl Platform {
    /// Returns Linux on this architecture, as Go names it.
    pub fn linux(architecture: &str) -> Self {
        Self { os: "linux".to_owned(), architecture: architecture.to_owned(), variant: None }
    }
}

impl FromStr for Platform {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let is_part = |part: &str| {
            let inside = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
            !part.is_empty() && part.chars().all(inside)
        };
        let parts: Vec<&str> = text.split('/').collect();
        match parts[..] {
            [os, architecture, ref rest @ ..]
                if rest.len() < 2 && parts.iter().all(|part| is_part(part)) =>
            {
                Ok(Self {
                    os: os.to_owned(),
                    architecture: architecture.to_owned(),
                    // Every arm64 is a v8, and most indexes do not say so.
                    variant: rest
                        .first()
                        .filter(|variant| (architecture, **variant) != ("arm64", "v8"))
                        .map(|variant| (*variant).to_owned()),
                })
            }
            _ => Err(Refusal::new("must look like `linux/amd64` or `linux/arm/v7`")),
        }
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.os, self.architecture)?;
        match &self.variant {
            Some(variant) => write!(f, "/{variant}"),
            None => Ok(()),
        }
    }
}

#[test]
fn a_platform_has_two_or_three_parts() {
    let check = |text: &str, expected: Option<&str>| {
        let found = text.parse::<Platform>().ok().map(|platform| platform.to_string());
        assert_eq!(found.as_deref(), expected, "{text}");
    };
    check("linux/amd64", Some("linux/amd64"));
    check("linux/arm/v7", Some("linux/arm/v7"));
    check("linux/arm64/v8", Some("linux/arm64"));
    for text in ["", "linux", "linux/", "/amd64", "linux/amd64/v1/x", "Linux/amd64", "linux/a b"] {
        check(text, None);
    }
}
