use std::{fmt, str::FromStr};

use heck::{ToKebabCase as _, ToShoutySnakeCase as _, ToSnakeCase as _};
use serde::{Deserialize, Serialize};

use super::{Plural, Refusal, dns::ensure_text_in_yaml, module_name, text};

/// A resource's kind, in UpperCamelCase, e.g. `Memcached`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Kind(String);

/// Kinds whose Rust type would shadow a name of the prelude in the files that use it.
const PRELUDE: &[&str] = &[
    "AsMut",
    "AsRef",
    "Box",
    "Clone",
    "Copy",
    "Debug",
    "Default",
    "Deserialize",
    "DoubleEndedIterator",
    "Drop",
    "Eq",
    "Err",
    "ExactSizeIterator",
    "Extend",
    "Fn",
    "FnMut",
    "FnOnce",
    "From",
    "FromIterator",
    "Hash",
    "Into",
    "IntoIterator",
    "Iterator",
    "None",
    "Ok",
    "Option",
    "Ord",
    "PartialEq",
    "PartialOrd",
    "Result",
    "Self",
    "Send",
    "Serialize",
    "Sized",
    "Some",
    "String",
    "Sync",
    "ToOwned",
    "ToString",
    "TryFrom",
    "TryInto",
    "Unpin",
    "Vec",
];

/// Names that the files of a scaffolded controller already use: types, and the crate `runtime`, which the module of a kind
/// would hide.
const SCAFFOLD: &[&str] =
    &["Arc", "BTreeMap", "Ctx", "CustomResource", "Error", "KubeSchema", "PodMeta", "Runtime"];

impl Kind {
    pub fn to_lowercase(&self) -> String {
        self.0.to_ascii_lowercase()
    }
    pub fn to_snake_case(&self) -> String {
        self.0.to_snake_case()
    }
    pub fn to_kebab_case(&self) -> String {
        self.0.to_kebab_case()
    }
    /// Returns the form for names of environment variables: `MEMCACHED`, `MY_APP`.
    pub fn to_shouty_snake_case(&self) -> String {
        self.0.to_shouty_snake_case()
    }
    /// Returns the name of the module that holds the type.
    pub fn module_name(&self) -> String {
        module_name(&self.to_snake_case())
    }

    /// Returns the plural that kube-derive gives a kind that declares none (kube-derive 5.0, `to_plural`).
    pub fn plural(&self) -> Plural {
        let word = self.to_lowercase();
        let plural = match word.as_bytes() {
            [.., b's' | b'x' | b'z'] | [.., b'c' | b's', b'h'] => format!("{word}es"),
            [.., before, b'y'] if !b"aeiou".contains(before) => {
                format!("{}ies", &word[..word.len() - 1])
            }
            _ => format!("{word}s"),
        };
        plural.parse().expect("a kind is short enough for its plural")
    }
}

impl FromStr for Kind {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        if text.is_empty() {
            return Err(Refusal::new("must not be empty"));
        }
        if text.len() > 60 {
            return Err(Refusal::new(
                "must be at most 60 characters long, so that its plural is a DNS label",
            ));
        }
        let capital = text.starts_with(|c: char| c.is_ascii_uppercase());
        if !capital || !text.chars().all(|c| c.is_ascii_alphanumeric()) {
            let rule = "must start with a capital letter and contain only letters and digits";
            let words = camel_case(text);
            let similar = Some(words).filter(|words| words != text && text.is_ascii());
            return Err(match similar.and_then(|words| words.parse::<Self>().ok()) {
                Some(kind) => Refusal::new(format!("{rule}, e.g. `{kind}`")),
                None => Refusal::new(rule),
            });
        }
        ensure_text_in_yaml(text)?;
        if PRELUDE.contains(&text) {
            return Err(Refusal::new(format!(
                "would shadow Rust's own `{text}` in every file that names it; choose a longer name, e.g. `{text}Set`"
            )));
        }
        if SCAFFOLD.contains(&text) {
            return Err(Refusal::new(format!(
                "is a name that scaffolded controllers use; choose a longer one, e.g. `{text}Set`"
            )));
        }
        Ok(Self(text.to_owned()))
    }
}
/// Joins the words of a text, each with a capital letter.
fn camel_case(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric());
    let capitalize = |word: &str| {
        let (head, rest) = word.split_at(word.len().min(1));
        head.to_ascii_uppercase() + rest
    };
    words.map(capitalize).collect()
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
text!(Kind);

#[test]
fn plurals_are_those_of_kube_derive() {
    for (kind, plural) in [
        ("Memcached", "memcacheds"),
        ("Proxy", "proxies"),
        ("Gateway", "gateways"),
        ("Redis", "redises"),
        ("Box1", "box1s"),
        ("Mesh", "meshes"),
        ("Batch", "batches"),
    ] {
        assert_eq!(kind.parse::<Kind>().expect("a kind").plural().to_string(), plural);
    }
}

#[test]
fn what_is_not_a_kind_is_refused() {
    let long = format!("A{}", "b".repeat(64));
    for text in [
        "",
        "memcached",
        "Mem-Cached",
        "Mem_Cached",
        "1A",
        "Ä",
        "Option",
        "Error",
        "Self",
        "True",
        "N",
        "Runtime",
        long.as_str(),
    ] {
        assert!(text.parse::<Kind>().is_err(), "{text}");
    }
    assert_eq!("Type".parse::<Kind>().expect("a kind").module_name(), "type_");
}
