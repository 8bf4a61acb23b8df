//! Checks e-mail addresses as Go's `net/mail` parses them.

/// Returns whether the text is an address, with or without a name; `None` if it has quotes, comments or groups, which
/// this parser does not know.
pub fn is_address(text: &str) -> Option<bool> {
    if !text.contains('@') {
        return Some(false);
    }
    if text.contains(['"', '(', '[']) || text.contains("=?") {
        return None;
    }
    // A group ends with a semicolon.
    if text.contains(':') {
        return if text.contains(';') { None } else { Some(false) };
    }
    let rest = strip_address(text).or_else(|| {
        let text = skip_blanks(text);
        let mut rest = text;
        while let Some((_, after)) = split_atom(skip_blanks(rest)) {
            rest = after;
        }
        strip_address(skip_blanks(rest).strip_prefix('<')?)?.strip_prefix('>')
    });
    Some(rest.is_some_and(|rest| skip_blanks(rest).is_empty()))
}

/// Returns the text that follows `local@domain`.
fn strip_address(text: &str) -> Option<&str> {
    let dots = |part: &str| part.starts_with('.') || part.ends_with('.') || part.contains("..");
    let (local, rest) = split_atom(skip_blanks(text))?;
    let (domain, rest) = split_atom(skip_blanks(rest.strip_prefix('@')?))?;
    (!dots(local) && !dots(domain)).then_some(rest)
}

/// Splits off letters and signs, dots among them, and returns both parts.
fn split_atom(text: &str) -> Option<(&str, &str)> {
    let is_part = |character: char| {
        !character.is_ascii()
            || (character.is_ascii_graphic() && !"()<>[]:;@\\,\"".contains(character))
    };
    let end = text.find(|character| !is_part(character)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn skip_blanks(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}
