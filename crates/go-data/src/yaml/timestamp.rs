//! Points in time, as Go reads them in a scalar without quotes: `2026-01-31`, `2026-1-1T1:02:3.5+01:00`.

/// Returns the point in time as Go prints it in JSON (RFC 3339), if the text is one.
pub fn parse(text: &str) -> Option<String> {
    let mut rest = text;
    let is_year = text.len() > 4 && text.bytes().take(4).all(|byte| byte.is_ascii_digit());
    let year: u32 = text.get(..4).filter(|_| is_year)?.parse().ok()?;
    rest = rest[4..].strip_prefix('-')?;
    let month = take_number(&mut rest).filter(|month| (1..=12).contains(month))?;
    rest = rest.strip_prefix('-')?;
    let day =
        take_number(&mut rest).filter(|day| (1..=days_of_month(year, month)).contains(day))?;
    let date = format!("{year:04}-{month:02}-{day:02}");
    if rest.is_empty() {
        return Some(date + "T00:00:00Z");
    }
    let has_zone = rest.starts_with(['T', 't']);
    rest = if has_zone { &rest[1..] } else { rest.strip_prefix(' ')?.trim_start_matches(' ') };
    let hour = take_number(&mut rest).filter(|hour| *hour < 24)?;
    rest = rest.strip_prefix(':')?;
    let minute = take_number(&mut rest).filter(|minute| *minute < 60)?;
    rest = rest.strip_prefix(':')?;
    let second = take_number(&mut rest).filter(|second| *second < 60)?;
    let fraction = take_fraction(&mut rest);
    let zone = match rest {
        "" if !has_zone => "Z".to_owned(),
        rest if has_zone => parse_zone(rest)?,
        _ => return None,
    };
    Some(format!("{date}T{hour:02}:{minute:02}:{second:02}{fraction}{zone}"))
}

/// Returns whether the text is a point in time that kustomize prints without quotes and reads as another text. Between
/// braces or brackets, kustomize prints it in quotes.
pub fn is_respelled_time(text: &str) -> bool {
    text.contains(':') && parse(text).is_some_and(|time| time != text)
}

/// Takes one digit or two.
fn take_number(rest: &mut &str) -> Option<u32> {
    let count = rest.bytes().take(2).take_while(u8::is_ascii_digit).count();
    let (digits, after) = rest.split_at(count);
    *rest = after;
    digits.parse().ok()
}

/// Takes a point or a comma, and digits; digits beyond nanoseconds are dropped.
fn take_fraction(rest: &mut &str) -> String {
    let digits = rest.strip_prefix(['.', ',']).unwrap_or_default();
    let count = digits.bytes().take_while(u8::is_ascii_digit).count();
    if count == 0 {
        return String::new();
    }
    *rest = &digits[count..];
    match digits[..count.min(9)].trim_end_matches('0') {
        "" => String::new(),
        digits => format!(".{digits}"),
    }
}

/// Parses `Z` or `+01:00`.
fn parse_zone(text: &str) -> Option<String> {
    if text == "Z" {
        return Some(text.to_owned());
    }
    let sign = text.get(..1).filter(|sign| ["+", "-"].contains(sign))?;
    let (hours, minutes) = text[1..].split_once(':')?;
    let two = |digits: &str| digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !two(hours) || !two(minutes) {
        return None;
    }
    let (hours, minutes): (u32, u32) = (hours.parse().ok()?, minutes.parse().ok()?);
    // Go accepts 60 minutes.
    if hours > 23 || minutes > 60 {
        return None;
    }
    Some(match hours * 60 + minutes {
        0 => "Z".to_owned(),
        total => format!("{sign}{:02}:{:02}", total / 60, total % 60),
    })
}

fn days_of_month(year: u32, month: u32) -> u32 {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}
