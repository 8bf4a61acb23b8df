use std::{fmt, str::FromStr, time::Duration};

use super::Refusal;

/// A time limit: `90s`, `5m`, `1h30m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timeout(Duration);

impl Timeout {
    pub fn duration(self) -> Duration {
        self.0
    }
}

impl From<Duration> for Timeout {
    fn from(duration: Duration) -> Self {
        Self(duration)
    }
}

impl FromStr for Timeout {
    type Err = Refusal;

    fn from_str(text: &str) -> Result<Self, Refusal> {
        let wrong = || Refusal::new("must look like `90s`, `5m` or `1h30m`");
        let mut seconds = 0u64;
        let mut rest = text;
        if rest.is_empty() {
            return Err(wrong());
        }
        while !rest.is_empty() {
            let end = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
            let number: u64 = rest[..end].parse().map_err(|_| wrong())?;
            let unit = match rest[end..].chars().next() {
                Some('h') => 3600,
                Some('m') => 60,
                Some('s') => 1,
                _ => return Err(wrong()),
            };
            // More than a year is a typing error.
            let sum = number.checked_mul(unit).and_then(|more| seconds.checked_add(more));
            seconds = sum.filter(|sum| *sum <= 366 * 24 * 3600).ok_or_else(wrong)?;
            rest = &rest[end + 1..];
        }
        Ok(Self(Duration::from_secs(seconds)))
    }
}

impl fmt::Display for Timeout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.as_secs();
        let parts = [(seconds / 3600, 'h'), (seconds / 60 % 60, 'm'), (seconds % 60, 's')];
        if seconds == 0 {
            return f.write_str("0s");
        }
        parts
            .iter()
            .filter(|(many, _)| *many > 0)
            .try_for_each(|(many, unit)| write!(f, "{many}{unit}"))
    }
}

#[test]
fn a_time_is_written_with_its_units() {
    let check = |text: &str, expected: Option<(u64, &str)>| {
        let timeout = text.parse::<Timeout>().ok();
        let parsed = timeout.map(|timeout| (timeout.duration().as_secs(), timeout.to_string()));
        assert_eq!(parsed, expected.map(|(seconds, text)| (seconds, text.to_owned())), "{text}");
    };
    check("90s", Some((90, "1m30s")));
    check("5m", Some((300, "5m")));
    check("1h30m", Some((5400, "1h30m")));
    check("0s", Some((0, "0s")));
    check("5", None);
    check("", None);
    check("m", None);
    check("5 m", None);
    check("99999999999999999999s", None);
    check("9999999999999999h", None);
}
