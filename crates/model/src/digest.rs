use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::{Refusal, text};

/// The SHA-256 of some bytes, e.g. `sha256:e3b0…`, as images name their parts.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);
text!(Digest);

const PREFIX: &str = "sha256:";

impl Digest {
    pub fn from_content(bytes: &[u8]) -> Self {
        Self::from_hash(&Sha256::digest(bytes))
    }

    /// Returns the digest of a hash that was computed in parts.
    pub fn from_hash(hash: &[u8]) -> Self {
        let digits: String = hash.iter().map(|byte| format!("{byte:02x}")).collect();
        Self(format!("{PREFIX}{digits}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the hexadecimal digits.
    pub fn hex(&self) -> &str {
        &self.0[PREFIX.len()..]
    }
}

impl FromStr for Digest {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let is_hex = |c: u8| c.is_ascii_digit() || (b'a'..=b'f').contains(&c);
        match text.strip_prefix(PREFIX) {
            Some(hex) if hex.len() == 64 && hex.bytes().all(is_hex) => Ok(Self(text.to_owned())),
            _ => Err(Refusal::new("must be `sha256:` and 64 hexadecimal digits")),
        }
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[test]
fn a_digest_names_bytes() {
    let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    assert_eq!(Digest::from_content(b"").as_str(), empty);
    assert_eq!(empty.parse(), Ok(Digest::from_content(b"")));
    for text in ["", "e3b0", &empty[..70], &empty.to_uppercase(), "sha512:00", "sha256:../../x"] {
        assert!(text.parse::<Digest>().is_err(), "{text}");
    }
}
