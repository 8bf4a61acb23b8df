//! The comments of a Rust file. A lexer that knows strings, raw strings, characters, lifetimes and nested
//! comments, and nothing else: it also reads files that do not parse.

/// One comment. `line` and `column` count from 1 and are those of its `//` or `/*`.
#[derive(Debug, PartialEq, Eq)]
pub struct Comment<'a> {
    pub line: usize,
    pub column: usize,
    /// The text after `//` or in `/* … */`.
    pub text: &'a str,
    /// True if there is code before it on its line.
    pub behind: bool,
    pub is_block: bool,
}

impl Comment<'_> {
    /// `///` and `//!`: documentation, which macros see.
    pub fn is_doc(&self) -> bool {
        let is_outer = self.text.starts_with('/') && !self.text.starts_with("//");
        !self.is_block && (is_outer || self.text.starts_with('!'))
    }
}

pub fn parse_comments(text: &str) -> Vec<Comment<'_>> {
    // Rust takes a byte order mark for no part of the code.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut comments = Vec::new();
    let mut at = 0;
    // Lines are counted on from the comment before, so that many comments take linear time.
    let (mut line, mut counted) = (1, 0);
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        let is_block = rest.starts_with("/*");
        if is_block || rest.starts_with("//") {
            let end =
                if is_block { block_length(rest) } else { rest.find('\n').unwrap_or(rest.len()) };
            let inner = &rest[2..end];
            let line_start = text[..at].rfind('\n').map_or(0, |index| index + 1);
            let before = &text[line_start..at];
            line += text[counted..at].matches('\n').count();
            counted = at;
            comments.push(Comment {
                line,
                column: before.chars().count() + 1,
                text: inner.strip_suffix("*/").unwrap_or(inner).trim_end_matches('\r'),
                behind: !before.trim().is_empty(),
                is_block,
            });
            at += end;
        } else if c == '"' {
            at += string_length(rest);
        } else if c == '\'' {
            at += quote_length(rest);
        } else if c.is_alphanumeric() || c == '_' {
            at += word_length(rest);
        } else {
            at += c.len_utf8();
        }
    }
    comments
}

/// Returns a block comment, with the block comments in it.
fn block_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_usize);
    while at < bytes.len() {
        match &bytes[at..] {
            [b'/', b'*', ..] => (at, depth) = (at + 2, depth + 1),
            [b'*', b'/', ..] => {
                (at, depth) = (at + 2, depth - 1);
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns a string that starts with its `"`.
fn string_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 2,
            b'"' => return at + 1,
            _ => at += 1,
        }
    }
    text.len()
}

/// Returns a character, or the tick of a lifetime.
fn quote_length(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match (chars.next(), chars.next()) {
        (Some((_, '\\')), Some((at, escaped))) => {
            let from = at + escaped.len_utf8();
            text[from..].find('\'').map_or(text.len(), |index| from + index + 1)
        }
        (Some(_), Some((at, '\''))) => at + 1,
        _ => 1,
    }
}

/// Returns a word, or a string with a word before it: `r#"…"#`, `b"…"`, `b'…'`.
fn word_length(text: &str) -> usize {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    match word {
        "r" | "br" | "cr" => {
            let hashes = rest.len() - rest.trim_start_matches('#').len();
            if !rest[hashes..].starts_with('"') {
                return end;
            }
            let close = format!("\"{}", "#".repeat(hashes));
            let from = end + hashes + 1;
            text[from..].find(&close).map_or(text.len(), |index| from + index + close.len())
        }
        "b" if rest.starts_with('\'') => end + quote_length(rest),
        _ => end,
    }
}

#[cfg(test)]
mod tests {
    use super::parse_comments;

    fn check(text: &str, expected: &[&str]) {
        let found: Vec<String> = parse_comments(text)
            .iter()
            .filter(|comment| !comment.is_block)
            .map(|comment| format!("{}:{} {}", comment.line, comment.column, comment.text.trim()))
            .collect();
        assert_eq!(found, expected, "{text}");
    }

    #[test]
    fn many_comments_are_found_in_one_pass() {
        let text = "// a\n".repeat(200_000);
        assert_eq!(
            parse_comments(&text).last().map(|comment| (comment.line, comment.column)),
            Some((200_000, 1))
        );
    }

    #[test]
    fn comments_are_distinguished_from_what_only_looks_like_one() {
        check("// a\n  // b\n", &["1:1 a", "2:3 b"]);
        check("let a = \"// no\"; // yes", &["1:18 yes"]);
        check("\u{feff}// a\n\u{feff}// b", &["1:1 a", "2:2 b"]);
        assert!(!parse_comments("\u{feff}// a")[0].behind);
        check(r##"let a = r#"" // no "#; // yes"##, &["1:24 yes"]);
        check("/* // no /* // no */ // no */ // yes", &["1:31 yes"]);
        check("let a = '\"'; // yes\nfn f<'a>(_: &'a str) {} // two", &["1:14 yes", "2:25 two"]);
        check("let a = '\\''; // yes\nlet b = b'\"'; // two", &["1:15 yes", "2:15 two"]);
        check("let r#type = \"\\\"// no\"; // é yes", &["1:25 é yes"]);
        check("\"never closed // no", &[]);
    }
}
