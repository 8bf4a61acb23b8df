//! Tokens of a text as ranges: enough to see where items and the bodies of functions begin and end, at a tenth of the
//! cost of a syntax tree.

use std::ops::Range;

use ra_ap_rustc_lexer::{FrontmatterAllowed, LiteralKind, TokenKind, tokenize};
use unicode_normalization::is_nfc;

/// Limit of the tokens in one file: some 13 MB of usual code.
const MOST_TOKENS: usize = 2_000_000;

/// Limit of the digits of a number. One of any type of Rust has far fewer.
pub const MOST_DIGITS: usize = 1_000;

/// Limit of the brackets around one another, also in the arguments of macros: what walks through them recurses.
const MOST_NESTED: usize = 100_000;

/// The tokens of a text but for spaces and comments. A comment that documents an item is a token.
pub struct RawTokens<'t> {
    text: &'t str,
    tokens: Vec<RawToken>,
}

struct RawToken {
    kind: RawTokenKind,
    start: u32,
    end: u32,
    /// The index of the bracket that closes this one.
    close: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RawTokenKind {
    Word,
    /// A number, a text, a character or a lifetime.
    Literal,
    Doc,
    Open(Bracket),
    Close(Bracket),
    Punct(char),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bracket {
    Round,
    Square,
    Brace,
}

/// Why a text was not split.
#[derive(Debug, PartialEq, Eq)]
pub enum NotSplit {
    /// It has more than [`MOST_TOKENS`] tokens.
    TooLarge,
    /// The text is not Rust, or its brackets do not match. A parser says why.
    Malformed,
    /// The identifier that begins at this byte is not in Unicode's normalization form C, to which rustc converts it.
    NotNormalized(usize),
    /// The number that begins at this byte has more than [`MOST_DIGITS`] digits: parsing it takes their square in time.
    LongNumber(usize),
    /// The bracket at this byte is in more than [`MOST_NESTED`] others.
    TooDeep(usize),
}

impl<'t> RawTokens<'t> {
    pub fn split(text: &'t str) -> Result<Self, NotSplit> {
        // Offsets are kept in 32 bits.
        u32::try_from(text.len()).map_err(|_| NotSplit::TooLarge)?;
        let mut tokens: Vec<RawToken> = Vec::new();
        let mut open: Vec<(usize, Bracket)> = Vec::new();
        let mut start = 0;
        for token in tokenize(text, FrontmatterAllowed::No) {
            let end = start + token.len;
            let range = start..end;
            start = end;
            let Some(kind) = kind_of(token.kind).ok_or(NotSplit::Malformed)? else { continue };
            if tokens.len() >= MOST_TOKENS {
                return Err(NotSplit::TooLarge);
            }
            match kind {
                RawTokenKind::Literal
                    if is_number(token.kind) && token.len as usize > MOST_DIGITS =>
                {
                    return Err(NotSplit::LongNumber(range.start as usize));
                }
                RawTokenKind::Word if !is_nfc(&text[range.start as usize..range.end as usize]) => {
                    return Err(NotSplit::NotNormalized(range.start as usize));
                }
                RawTokenKind::Open(_) if open.len() == MOST_NESTED => {
                    return Err(NotSplit::TooDeep(range.start as usize));
                }
                RawTokenKind::Open(bracket) => open.push((tokens.len(), bracket)),
                RawTokenKind::Close(bracket) => {
                    let Some((index, opened)) = open.pop() else {
                        return Err(NotSplit::Malformed);
                    };
                    if opened != bracket {
                        return Err(NotSplit::Malformed);
                    }
                    tokens[index].close = tokens.len() as u32;
                }
                _ => {}
            }
            tokens.push(RawToken { kind, start: range.start, end: range.end, close: 0 });
        }
        if open.is_empty() { Ok(Self { text, tokens }) } else { Err(NotSplit::Malformed) }
    }

    pub fn len(&self) -> usize {
        self.tokens.len()
    }

    /// The cost of parsing these tokens, in tokens: a comment that documents an item becomes an attribute, which takes
    /// 2.6 KB with its copies.
    pub fn parsing_cost(&self, range: Range<usize>) -> usize {
        const COST_OF_DOC: usize = 12;
        let docs =
            self.tokens[range.clone()].iter().filter(|token| token.kind == RawTokenKind::Doc);
        range.len() + (COST_OF_DOC - 1) * docs.count()
    }

    /// The kind of a token; none behind the last one.
    pub fn kind_at(&self, index: usize) -> Option<RawTokenKind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    /// The word at an index, if there is one.
    pub fn word_at(&self, index: usize) -> Option<&'t str> {
        let token = self.tokens.get(index).filter(|token| token.kind == RawTokenKind::Word)?;
        Some(&self.text[token.start as usize..token.end as usize])
    }

    /// The index of the bracket that closes the one at an index.
    pub fn closing_index(&self, index: usize) -> usize {
        self.tokens[index].close as usize
    }

    /// The bytes of a token.
    pub fn byte_range(&self, index: usize) -> Range<usize> {
        self.tokens[index].start as usize..self.tokens[index].end as usize
    }
}

/// Returns the kind of a token: none for spaces and comments, an error (`None` outside) if it is not a token of Rust.
fn kind_of(kind: TokenKind) -> Option<Option<RawTokenKind>> {
    use TokenKind as T;
    Some(Some(match kind {
        T::Whitespace
        | T::LineComment { doc_style: None }
        | T::BlockComment { doc_style: None, terminated: true } => return Some(None),
        T::LineComment { .. } | T::BlockComment { terminated: true, .. } => RawTokenKind::Doc,
        T::Ident | T::RawIdent => RawTokenKind::Word,
        T::Lifetime { .. } | T::RawLifetime => RawTokenKind::Literal,
        T::Literal { kind, .. } if is_terminated(kind) => RawTokenKind::Literal,
        T::OpenParen => RawTokenKind::Open(Bracket::Round),
        T::OpenBracket => RawTokenKind::Open(Bracket::Square),
        T::OpenBrace => RawTokenKind::Open(Bracket::Brace),
        T::CloseParen => RawTokenKind::Close(Bracket::Round),
        T::CloseBracket => RawTokenKind::Close(Bracket::Square),
        T::CloseBrace => RawTokenKind::Close(Bracket::Brace),
        T::Semi => RawTokenKind::Punct(';'),
        T::Comma => RawTokenKind::Punct(','),
        T::Dot => RawTokenKind::Punct('.'),
        T::At => RawTokenKind::Punct('@'),
        T::Pound => RawTokenKind::Punct('#'),
        T::Tilde => RawTokenKind::Punct('~'),
        T::Question => RawTokenKind::Punct('?'),
        T::Colon => RawTokenKind::Punct(':'),
        T::Dollar => RawTokenKind::Punct('$'),
        T::Eq => RawTokenKind::Punct('='),
        T::Bang => RawTokenKind::Punct('!'),
        T::Lt => RawTokenKind::Punct('<'),
        T::Gt => RawTokenKind::Punct('>'),
        T::Minus => RawTokenKind::Punct('-'),
        T::And => RawTokenKind::Punct('&'),
        T::Or => RawTokenKind::Punct('|'),
        T::Plus => RawTokenKind::Punct('+'),
        T::Star => RawTokenKind::Punct('*'),
        T::Slash => RawTokenKind::Punct('/'),
        T::Caret => RawTokenKind::Punct('^'),
        T::Percent => RawTokenKind::Punct('%'),
        _ => return None,
    }))
}

fn is_number(kind: TokenKind) -> bool {
    use LiteralKind as L;
    matches!(kind, TokenKind::Literal { kind: L::Int { .. } | L::Float { .. }, .. })
}

fn is_terminated(kind: LiteralKind) -> bool {
    use LiteralKind as L;
    match kind {
        L::Int { empty_int, .. } => !empty_int,
        L::Float { empty_exponent, .. } => !empty_exponent,
        L::Char { terminated }
        | L::Byte { terminated }
        | L::Str { terminated }
        | L::ByteStr { terminated }
        | L::CStr { terminated } => terminated,
        L::RawStr { n_hashes } | L::RawByteStr { n_hashes } | L::RawCStr { n_hashes } => {
            n_hashes.is_some()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: Result<usize, NotSplit>) {
        assert_eq!(RawTokens::split(text).map(|tokens| tokens.len()), expected, "{text}");
    }

    #[test]
    fn brackets_in_texts_and_comments_are_none() {
        check(
            "f(\"}\", '}', r#\"\"}\"#, b'{') // }\n/* { /* } */ */ /// doc }\n struct A;",
            Ok(14),
        );
    }

    #[test]
    fn a_text_that_no_parser_takes_is_not_split() {
        for text in ["(", ")", "(]", "{ ( }", "\"", "'a b'", "/* ", "r#\"\"", "0x", "\u{1}"] {
            check(text, Err(NotSplit::Malformed));
        }
    }

    #[test]
    fn identifiers_are_composed() {
        check("fn \u{e9}() {} // e\u{301}", Ok(6));
        check("const A: &str = \"e\u{301}\"; fn e\u{301}() {}", Err(NotSplit::NotNormalized(26)));
    }

    #[test]
    fn a_file_of_too_many_tokens_is_not_split() {
        check(&"0,".repeat(MOST_TOKENS / 2 + 1), Err(NotSplit::TooLarge));
    }
}
