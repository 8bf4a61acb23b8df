//! The instructions of a Dockerfile, as docker reads them.

use super::Source;

/// An instruction, or one label of several.
pub struct Step {
    pub line: usize,
    pub what: What,
}

pub enum What {
    From(Vec<String>),
    Label(String, String),
    Copy(Vec<String>),
    Other,
}

/// The instructions of a Dockerfile, with a step for each label.
pub fn steps(source: &Source<'_>) -> anyhow::Result<Vec<Step>> {
    let mut res = Vec::new();
    let mut lines = source.text.lines().enumerate();
    while let Some((at, line)) = lines.next() {
        let trimmed = line.trim();
        // A directive may change how the lines are read, e.g. `# escape`.
        let directive = trimmed.strip_prefix('#').map(str::trim_start).unwrap_or_default();
        let is_directive =
            directive.to_ascii_lowercase().starts_with("escape") && directive.contains('=');
        if is_directive && res.is_empty() {
            res.push(Step { line: at + 1, what: What::Other });
        }
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let mut whole = String::new();
        let mut next = Some(line.trim_start());
        while let Some(line) = next {
            let start = continued(line);
            whole += start.unwrap_or(line);
            // The white space before the next line belongs to the instruction.
            let is_text = |it: &&str| !matches!(it.trim_start().as_bytes(), [] | [b'#', ..]);
            next = start.and_then(|_| lines.by_ref().map(|it| it.1).find(is_text));
        }
        let whole = whole.trim();
        let (name, rest) = whole.split_once(char::is_whitespace).unwrap_or((whole, ""));
        let line = at + 1;
        let mut push = |what| res.push(Step { line, what });
        match name.to_ascii_uppercase().as_str() {
            "FROM" => push(What::From(rest.split_whitespace().map(str::to_owned).collect())),
            "COPY" => push(What::Copy(sources(rest))),
            "LABEL" => match pairs(rest) {
                Some(pairs) => pairs.into_iter().for_each(|(key, it)| push(What::Label(key, it))),
                None => push(What::Other),
            },
            _ => push(What::Other),
        }
    }
    Ok(res)
}

/// What is before the `\` at the end of a line that goes on. Behind another `\`, it is text.
fn continued(line: &str) -> Option<&str> {
    let start = line.trim_end_matches([' ', '\t']).strip_suffix('\\')?;
    (!start.ends_with('\\')).then_some(start)
}

/// The words of `COPY`, in its plain and in its JSON form.
fn sources(rest: &str) -> Vec<String> {
    match rest.trim_start().starts_with('[') {
        true => serde_json::from_str(rest).unwrap_or_default(),
        false => rest.split_whitespace().map(str::to_owned).collect(),
    }
}

/// The `key=value` of `LABEL`, whose values may be quoted. None for what is not of this form, or has a variable.
fn pairs(rest: &str) -> Option<Vec<(String, String)>> {
    let mut res = Vec::new();
    let mut rest = rest.chars().peekable();
    loop {
        while rest.next_if(|it| it.is_whitespace()).is_some() {}
        if rest.peek().is_none() {
            return (!res.is_empty()).then_some(res);
        }
        let mut word = String::new();
        let mut equals = None;
        let mut quote = None;
        while let Some(c) = rest.next_if(|it| quote.is_some() || !it.is_whitespace()) {
            match c {
                '$' if quote != Some('\'') => return None,
                '\\' if quote != Some('\'') => match (rest.next()?, quote) {
                    // In quotes, only these are escaped.
                    (next @ ('"' | '\\' | '$'), _) | (next, None) => word.push(next),
                    (next, _) => word.extend(['\\', next]),
                },
                '"' | '\'' if quote.is_none() => quote = Some(c),
                it if quote == Some(it) => quote = None,
                '=' if equals.is_none() && quote.is_none() => equals = Some(word.len()),
                it => word.push(it),
            }
        }
        let at = equals.filter(|it| quote.is_none() && 0 < *it)?;
        let value = word.split_off(at);
        res.push((word, value));
    }
}
