//! E-mail addresses as Go's `net/mail` parses one.

/// Whether the text is an address, with or without a name; none where it has quotes, comments or groups,
/// which are not read here.
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
    let rest = specification(text).or_else(|| {
        let text = skip(text);
        let mut rest = text;
        while let Some((_, after)) = atom(skip(rest)) {
            rest = after;
        }
        specification(skip(rest).strip_prefix('<')?)?.strip_prefix('>')
    });
    Some(rest.is_some_and(|it| skip(it).is_empty()))
}

/// What follows on `local@domain`.
fn specification(text: &str) -> Option<&str> {
    let dots = |it: &str| it.starts_with('.') || it.ends_with('.') || it.contains("..");
    let (local, rest) = atom(skip(text))?;
    let (domain, rest) = atom(skip(rest.strip_prefix('@')?))?;
    (!dots(local) && !dots(domain)).then_some(rest)
}

/// Letters and signs, dots among them, and what follows.
fn atom(text: &str) -> Option<(&str, &str)> {
    let is_part =
        |it: char| !it.is_ascii() || (it.is_ascii_graphic() && !"()<>[]:;@\\,\"".contains(it));
    let end = text.find(|it| !is_part(it)).unwrap_or(text.len());
    (end > 0).then(|| text.split_at(end))
}

fn skip(text: &str) -> &str {
    text.trim_start_matches([' ', '\t'])
}
