//! The time in an image: that of SOURCE_DATE_EPOCH, so that two builds are equal.

use crate::terminal;
use olm::bundle;

pub struct SourceDateEpoch {
    /// Since 1970.
    pub seconds: u64,
    /// The time in RFC 3339.
    pub text: String,
}

/// The end of 9999-12-30, the last day that every time zone can write.
const LAST: i128 = 253_402_207_200;

impl SourceDateEpoch {
    pub fn of_environment() -> anyhow::Result<Self> {
        let text = terminal::variable("SOURCE_DATE_EPOCH")?.unwrap_or_else(|| "0".to_owned());
        if text.trim().parse().is_ok_and(|it: i128| it < 0) {
            anyhow::bail!("SOURCE_DATE_EPOCH must not be before 1970: it is `{text}`");
        }
        // Its own refusal of what is too late speaks of times before 1970, too.
        if text.trim().parse().is_ok_and(|it: i128| LAST < it) {
            anyhow::bail!("SOURCE_DATE_EPOCH must be between 0 and {LAST}: it is `{text}`");
        }
        let created = bundle::created_at(&text)?;
        let seconds = text.trim().parse()?;
        Ok(Self { seconds, text: created })
    }
}
