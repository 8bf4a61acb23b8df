//! Install modes: which namespaces an operator watches.

use std::{fmt, str::FromStr};

use model::{Namespace, Refusal};

/// `AllNamespaces`, `OwnNamespace`, `SingleNamespace=NS` or `MultiNamespace=NS,NS`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InstallMode {
    AllNamespaces,
    OwnNamespace,
    SingleNamespace(Namespace),
    MultiNamespace(Vec<Namespace>),
}

impl InstallMode {
    /// In the order in which they are chosen.
    pub const KINDS: [&'static str; 4] =
        ["AllNamespaces", "OwnNamespace", "SingleNamespace", "MultiNamespace"];

    pub fn kind(&self) -> &'static str {
        match self {
            Self::AllNamespaces => "AllNamespaces",
            Self::OwnNamespace => "OwnNamespace",
            Self::SingleNamespace(_) => "SingleNamespace",
            Self::MultiNamespace(_) => "MultiNamespace",
        }
    }

    /// The namespaces of an OperatorGroup for an operator in this namespace; empty for all.
    pub fn target_namespaces(&self, operator_namespace: &str) -> Vec<String> {
        match self {
            Self::AllNamespaces => Vec::new(),
            Self::OwnNamespace => vec![operator_namespace.to_owned()],
            Self::SingleNamespace(one) => vec![one.to_string()],
            Self::MultiNamespace(all) => all.iter().map(ToString::to_string).collect(),
        }
    }
}

impl FromStr for InstallMode {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let (kind, list) =
            text.split_once('=').map_or((text, None), |parts| (parts.0, Some(parts.1)));
        let mut namespaces = Vec::new();
        for name in list.into_iter().flat_map(|list| list.split(',')) {
            let name = name.trim();
            let parsed = name.parse::<Namespace>();
            namespaces.push(parsed.map_err(|why| {
                Refusal(format!("names the namespace `{name}`, which {why}").into())
            })?);
        }
        namespaces.sort();
        namespaces.dedup();
        match (kind, &namespaces[..]) {
            ("AllNamespaces", []) => Ok(Self::AllNamespaces),
            ("OwnNamespace", []) => Ok(Self::OwnNamespace),
            ("AllNamespaces" | "OwnNamespace", _) => {
                Err(Refusal(format!("must have no namespaces: use `{kind}`").into()))
            }
            ("SingleNamespace", [one]) => Ok(Self::SingleNamespace(one.clone())),
            ("SingleNamespace", _) => {
                Err(Refusal("must have one namespace: `SingleNamespace=NAME`".into()))
            }
            ("MultiNamespace", [_, ..]) => Ok(Self::MultiNamespace(namespaces)),
            ("MultiNamespace", []) => {
                Err(Refusal("must have namespaces: `MultiNamespace=NAME,NAME`".into()))
            }
            _ => Err(Refusal(format!("must be one of {}", Self::KINDS.join(", ")).into())),
        }
    }
}

impl fmt::Display for InstallMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.kind())?;
        match self {
            Self::AllNamespaces | Self::OwnNamespace => Ok(()),
            Self::SingleNamespace(_) | Self::MultiNamespace(_) => {
                write!(f, "={}", self.target_namespaces("").join(","))
            }
        }
    }
}

#[test]
fn an_install_mode_is_written_like_in_operator_sdk() {
    let check = |text: &str| text.parse::<InstallMode>().map(|it| it.to_string());
    let good = |text: &str, expected: &str| assert_eq!(check(text), Ok(expected.to_owned()));
    let bad = |text: &str, part: &str| {
        let error = check(text).unwrap_err().to_string();
        assert!(error.contains(part), "{text}: {error}");
    };
    good("AllNamespaces", "AllNamespaces");
    good("OwnNamespace", "OwnNamespace");
    good("SingleNamespace=a", "SingleNamespace=a");
    good("MultiNamespace=b, a,b", "MultiNamespace=a,b");
    bad("AllNamespaces=a", "no namespaces");
    bad("SingleNamespace", "one namespace");
    bad("SingleNamespace=a,b", "one namespace");
    bad("MultiNamespace", "must have namespaces");
    bad("MultiNamespace=A", "lowercase");
    bad("MultiNamespace=a,,b", "must not be empty");
    bad("allnamespaces", "one of AllNamespaces");
    bad("", "one of AllNamespaces");
}
