use std::{fmt, str::FromStr};

use super::Refusal;

/// A channel of an OLM package, e.g. `alpha` or `stable-v1`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Channel(String);

impl FromStr for Channel {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if text.is_empty() {
            return Err(Refusal::new("must not be empty"));
        }
        if !text.chars().all(inside) {
            return Err(Refusal::new("must contain only letters, digits, `-`, `_` and `.`"));
        }
        Ok(Self(text.to_owned()))
    }
}
impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}
