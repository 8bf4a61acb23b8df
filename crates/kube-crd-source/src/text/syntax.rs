//! The text of a file → its syntax, refused where it is nested deeper than any code is.
//!
//! Code that walks syntax recurses as deep as the syntax is nested, and the stack is limited.

use std::iter::Peekable;

use proc_macro2::token_stream::IntoIter;
use proc_macro2::{Delimiter, LexError, TokenStream, TokenTree};

/// Limit of the nesting of syntax, counted in tokens around and before one another.
const DEEP: usize = 4_000;

/// The marks of a word, and of a word behind which `!` negates.
const WORD: char = 'w';
const KEYWORD: char = 'k';

/// Words behind which `!` negates; behind another it calls a macro.
pub const BEFORE_NOT: &[&str] = &[
    "as", "break", "box", "else", "if", "in", "let", "match", "move", "mut", "return", "while",
    "yield",
];

/// The text of a file as its spans are counted in it: `lines_before` are counted on from another file.
pub fn normalize_text(text: &str, lines_before: usize) -> String {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // rustc does the same when it loads a file.
    let text = text.replace("\r\n", "\n");
    "\n".repeat(lines_before) + without_shebang(&text)
}

/// The tokens of a text that is normalized.
pub fn parse_tokens(text: &str) -> syn::Result<TokenStream> {
    text.parse().map_err(|error: LexError| {
        syn::Error::new(error.span(), "it is cut off, or this is not a token of Rust")
    })
}

/// The syntax of a text that is normalized.
pub fn parse_file(text: &str) -> syn::Result<syn::File> {
    let tokens = parse_tokens(text)?;
    refuse_deep_nesting(&tokens)?;
    syn::parse2(tokens).map_err(|error| at_last_token(error, text))
}

/// Puts an error about the end of a text at its last token: syn has no place for it.
fn at_last_token(error: syn::Error, text: &str) -> syn::Error {
    let nowhere = proc_macro2::Span::call_site();
    let (start, end) = (error.span().start(), error.span().end());
    if (start, end) != (nowhere.start(), nowhere.end()) {
        return error;
    }
    match parse_tokens(text).ok().and_then(|tokens| tokens.into_iter().last()) {
        Some(TokenTree::Group(group)) => syn::Error::new(group.span_close(), error),
        Some(token) => syn::Error::new(token.span(), error),
        None => error,
    }
}

#[test]
fn what_is_missing_at_the_end_is_reported_there() {
    for (text, place) in [
        ("struct A;\nimpl B for", (2, 7)),
        ("fn f();\n\n#[a]", (3, 3)),
        ("; struct A;\nstruct B;", (1, 0)),
    ] {
        let error = file(text).expect_err("it is cut off");
        let start = error.span().start();
        assert_eq!((start.line, start.column), place, "{text}: {error}");
    }
}

#[cfg(test)]
fn file(text: &str) -> syn::Result<syn::File> {
    parse_file(&normalize_text(text, 0))
}

#[test]
fn line_ends_are_those_of_unix() {
    let texts = ["const A: &str = r\"a\nb\";", "const A: &str = r\"a\r\nb\";"];
    let [unix, windows] = texts.map(|it| file(it).expect("it is Rust"));
    assert_eq!(unix, windows);
}

/// The text from its second line where the first names an interpreter; lines keep their numbers.
fn without_shebang(text: &str) -> &str {
    let Some(rest) = text.strip_prefix("#!") else { return text };
    if rest.trim_start().starts_with('[') {
        return text;
    }
    text.find('\n').map_or("", |end| &text[end..])
}

/// Refuses tokens that would be nested too deep, whatever they come to.
pub fn refuse_deep_nesting(tokens: &TokenStream) -> syn::Result<()> {
    let mut levels = vec![GroupLevel::new(tokens.clone(), 0)];
    while let Some(level) = levels.last_mut() {
        let Some(token) = level.next_token() else {
            levels.pop();
            continue;
        };
        if level.at > DEEP {
            let span = match &token {
                TokenTree::Group(it) => it.span_open(),
                token => token.span(),
            };
            return Err(syn::Error::new(span, "it is nested too deep"));
        }
        if let TokenTree::Group(group) = token
            && !level.is_macro
        {
            let inner = GroupLevel::new(group.stream(), level.at);
            levels.push(inner);
        }
    }
    Ok(())
}

/// The tokens of one group. Where a statement, an item or an argument ends, the next starts as deep as the first.
struct GroupLevel {
    tokens: Peekable<IntoIter>,
    start: usize,
    depth: usize,
    /// The depth of the latest token.
    at: usize,
    /// The last three tokens, the newest first.
    before: [char; 3],
    /// Commas in `<…>` and `|…|` end nothing.
    angles: usize,
    bars: usize,
    /// The latest token is the input of a macro, which is not parsed with the file.
    is_macro: bool,
}

impl GroupLevel {
    fn new(tokens: TokenStream, start: usize) -> Self {
        let tokens = tokens.into_iter().peekable();
        let before = [' '; 3];
        Self { tokens, start, depth: start, at: start, before, angles: 0, bars: 0, is_macro: false }
    }

    fn next_token(&mut self) -> Option<TokenTree> {
        let token = self.tokens.next()?;
        self.depth += 1;
        self.at = self.depth;
        let kind = match &token {
            TokenTree::Ident(it) if BEFORE_NOT.contains(&it.to_string().as_str()) => KEYWORD,
            TokenTree::Ident(_) => WORD,
            TokenTree::Punct(it) => it.as_char(),
            TokenTree::Group(_) | TokenTree::Literal(_) => ' ',
        };
        match &token {
            TokenTree::Group(it) => {
                self.is_macro = matches!(self.before, ['!', WORD, _] | [WORD, '!', WORD]);
                self.after_group(it.delimiter());
            }
            _ => self.update_after(kind),
        }
        self.before = [kind, self.before[0], self.before[1]];
        Some(token)
    }

    fn update_after(&mut self, token: char) {
        match token {
            ';' => self.end_part(),
            ',' if self.angles == 0 && self.bars.is_multiple_of(2) => self.end_part(),
            '<' => self.angles += 1,
            '>' if !matches!(self.before[0], '-' | '=') => {
                self.angles = self.angles.saturating_sub(1);
            }
            '|' => self.bars += 1,
            _ => {}
        }
    }

    fn after_group(&mut self, delimiter: Delimiter) {
        let arm = matches!(self.before, ['>', '=', _]);
        match (delimiter, self.tokens.peek()) {
            (Delimiter::Brace, _) if arm => self.end_part(),
            (Delimiter::Brace, Some(TokenTree::Ident(it))) if it != "else" && it != "as" => {
                self.end_part();
            }
            (Delimiter::Brace, Some(TokenTree::Punct(it))) if it.as_char() == '#' => {
                self.end_part()
            }
            // Tokens after an attribute are not inside of it.
            (Delimiter::Bracket, _) => match self.before {
                ['#', ..] => self.depth -= 2,
                ['!', '#', _] => self.depth -= 3,
                _ => {}
            },
            _ => {}
        }
    }

    fn end_part(&mut self) {
        self.depth = self.start;
        self.angles = 0;
        self.bars = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether `count` of `one` around `middle` are refused.
    fn refused(shape: [&str; 5], count: usize) -> bool {
        let [before, one, middle, other, after] = shape;
        let (one, other) = (one.repeat(count), other.repeat(count));
        let text = format!("fn f() {{ {before}{one}{middle}{other}{after}; }}");
        let found = std::thread::Builder::new()
            .stack_size(crate::text::stack::SIZE)
            .spawn(move || file(&text).err().map(|it| it.to_string()));
        match found.unwrap().join().unwrap().as_deref() {
            None => false,
            Some("it is nested too deep") => true,
            Some(other) => panic!("{shape:?}: {other}"),
        }
    }

    #[test]
    fn what_is_nested_too_deep_is_refused_and_all_else_fits_the_stack() {
        for shape in [
            ["", "(", "x", ")", ""],
            ["", "[", "x", "]", ""],
            ["", "{", "x", "}", ""],
            ["", "f(1, ", "x", ")", ""],
            ["", "A { a: ", "x", "}", ""],
            ["", "!", "x", "", ""],
            ["", "!(", "x", ")", ""],
            ["", "- #[a] ", "x", "", ""],
            ["", "return ", "x", "", ""],
            ["", "|a, b| ", "x", "", ""],
            ["", "", "x", " + x", ""],
            ["", "", "x", ".a", ""],
            ["", "", "x", ".a()", ""],
            ["", "", "x", " as u8", ""],
            ["", "", "x", "?", ""],
            ["", "x = ", "x", "", ""],
            ["x = ", "", "unsafe {}", " >> unsafe {}", ""],
            ["", "if x {} else ", "{}", "", ""],
            ["", "match x { _ => ", "x", "}", ""],
            ["let x: ", "A<u8, ", "u8", ">", ""],
            ["let x: ", "fn(u8, u8) -> ", "u8", "", ""],
            ["let x: ", "&", "u8", "", ""],
            ["let ", "&", "x", "", " = y"],
            ["let ", "(a, ", "x", ")", " = y"],
            ["use ", "a::", "b", "", ""],
            ["use ", "a::{", "b", "}", ""],
            ["", "mod a {", "", "}", ""],
            ["", "fn f() {", "", "}", ""],
        ] {
            assert!(!refused(shape, 20), "{shape:?}");
            assert!(refused(shape, DEEP + 1), "{shape:?}");
            // The deepest that is read must be read, and dropped.
            assert!((1..20).any(|it| !refused(shape, DEEP / it - 20)), "{shape:?}");
        }
    }

    #[test]
    fn long_code_is_not_deep() {
        let many = 3 * DEEP;
        for (before, one, after) in [
            ("", "fn f() { f(1, 2); }", ""),
            ("", "/// A line.\n", "struct A;"),
            ("fn f() {", "if a { b } let c = 1;", "}"),
            ("const A: B = &[", "(1, 2),", "];"),
            ("enum A {", "#[a] B,", "}"),
            ("fn f() { match a {", "(1, B | C | D) => {}", "} }"),
            ("fn f() { a! {", "a ! b ( c ) + d", "} }"),
            ("macro_rules! a {", "a b", "}"),
            ("", "impl A for B<C, D> { fn f() -> E<F> {} }", ""),
        ] {
            let text = format!("{before}{}{after}", one.repeat(many));
            assert_eq!(file(&text).err().map(|it| it.to_string()), None, "{one}");
        }
    }

    #[test]
    fn an_interpreter_and_a_mark_at_the_start_are_passed_over() {
        assert_eq!(file("\u{feff}struct A;").unwrap().items.len(), 1);
        let error = file("#!/usr/bin/env cargo\nstruct {").unwrap_err();
        assert_eq!(error.span().start().line, 2);
        assert_eq!(file("#![allow(a)] struct A;").unwrap().attrs.len(), 1);
        assert_eq!(file("#!/usr/bin/env cargo").unwrap().items.len(), 0);
    }
}
