//! A file, parsed without what is left out of it (see [`super::omission`]).
//!
//! `_` stands for the body of a function. No body of Rust consists of that, so one that is left out is never taken for
//! an empty one.

use std::rc::Rc;

use proc_macro2::{LineColumn, TokenStream};

use super::bodies::OmittedBodies;
use super::omission::{Omission, OmittedRange};
use crate::text::raw_tokens::{MOST_DIGITS, NotSplit, RawTokens};
use crate::text::syntax;

/// Why a file is not parsed.
#[derive(Debug)]
pub enum NotParsed {
    Syntax(syn::Error),
    /// It has more tokens than are read of one file.
    TooLarge,
    /// Files before it have used up the tokens that are read.
    TooMuch,
    Malformed,
    /// The identifier at a place is not in Unicode's normalization form C.
    NotNormalized(LineColumn),
    /// The number at a place has too many digits.
    LongNumber(LineColumn),
    /// The brackets at a place are nested too deep.
    TooDeep(LineColumn),
}

impl From<syn::Error> for NotParsed {
    fn from(error: syn::Error) -> Self {
        Self::Syntax(error)
    }
}

impl std::fmt::Display for NotParsed {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Syntax(error) => return write!(f, "cannot be parsed: {error}"),
            Self::TooLarge => "exceeds the limit of two million tokens in a file",
            Self::TooMuch => "exceeds the limit on code, together with the files before it",
            Self::NotNormalized(_) => {
                "cannot be parsed: write this identifier composed (Unicode NFC), as rustc reads it"
            }
            Self::LongNumber(_) => {
                return write!(f, "cannot be parsed: a number has more than {MOST_DIGITS} digits");
            }
            Self::TooDeep(_) => "cannot be parsed: the brackets are nested too deep",
            Self::Malformed => "cannot be parsed: unbalanced brackets, or a token that is not Rust",
        })
    }
}

impl NotParsed {
    /// The place of the error: the start of the file, if it has no other.
    pub fn position(&self) -> LineColumn {
        match self {
            Self::Syntax(error) => error.span().start(),
            Self::NotNormalized(start) | Self::LongNumber(start) | Self::TooDeep(start) => *start,
            _ => LineColumn { line: 1, column: 0 },
        }
    }
}

/// The cost of reading a file, however short it is, in tokens.
const COST_OF_FILE: usize = 64;

/// Limit of the bytes of a file that is parsed only to say what is wrong with it.
const LARGEST_MALFORMED: usize = 1 << 20;

#[derive(Clone, Copy)]
pub struct ParseOptions {
    /// The number of lines that are counted before the first one.
    pub lines_before: usize,
    /// Limit of the tokens that are parsed.
    pub most_tokens: usize,
    /// Modules with `#[cfg(test)]` are certainly not there.
    pub omits_tests: bool,
}

/// A file without the bodies that are left out.
pub struct SourceFile {
    pub syntax: syn::File,
    /// Items that cannot be parsed, which are not in `syntax`.
    pub unparsed: Vec<UnparsedItem>,
    pub bodies: Rc<OmittedBodies>,
    /// The cost of what was parsed, in tokens.
    pub tokens: usize,
}

impl SourceFile {
    /// Parses a file.
    pub fn parse(text: &str, options: ParseOptions) -> Result<Self, NotParsed> {
        let text = syntax::normalize_text(text, options.lines_before);
        let raw = match RawTokens::split(&text) {
            Ok(raw) => raw,
            Err(NotSplit::TooLarge) => return Err(NotParsed::TooLarge),
            // The parser says where.
            Err(NotSplit::Malformed) if text.len() <= LARGEST_MALFORMED => {
                let (syntax, tokens) = (syntax::parse_file(&text)?, text.len());
                return Ok(Self { syntax, unparsed: Vec::new(), bodies: Rc::default(), tokens });
            }
            Err(NotSplit::Malformed) => return Err(NotParsed::Malformed),
            Err(NotSplit::NotNormalized(byte)) => {
                return Err(NotParsed::NotNormalized(place_of(&text, byte)));
            }
            Err(NotSplit::LongNumber(byte)) => {
                return Err(NotParsed::LongNumber(place_of(&text, byte)));
            }
            Err(NotSplit::TooDeep(byte)) => return Err(NotParsed::TooDeep(place_of(&text, byte))),
        };
        let omission = Omission::of_file(&raw, options.omits_tests);
        let tokens =
            COST_OF_FILE + raw.parsing_cost(0..raw.len()) - omission.omitted + omission.of_items;
        if tokens > options.most_tokens {
            return Err(NotParsed::TooMuch);
        }
        let (reduced, places) = text_without(&text, &omission.ranges);
        let (syntax, places, unparsed) = match syntax::parse_file(&reduced) {
            Ok(syntax) => (syntax, places, Vec::new()),
            Err(error) if text.len() > LARGEST_MALFORMED => return Err(error.into()),
            Err(error) => {
                syntax::refuse_deep_nesting(&syntax::parse_tokens(&reduced)?)?;
                parse_other_items(&text, &raw, &omission, error)?
            }
        };
        let called_macros = omission.called.into_iter().map(str::to_owned).collect();
        let bodies = Rc::new(OmittedBodies::new(text, places, called_macros));
        Ok(Self { syntax, unparsed, bodies, tokens })
    }
}

/// An item that cannot be parsed, and that declares no kind, no module and no macro.
pub struct UnparsedItem {
    pub error: syn::Error,
    pub tokens: TokenStream,
}

/// Limit of the items of a file that cannot be parsed.
const MOST_UNPARSED: usize = 8;

/// Parses a file without the items that cannot be parsed; returns `error`, that of the whole file, if one of these may
/// declare a kind, or where none is at fault.
fn parse_other_items(
    text: &str,
    raw: &RawTokens<'_>,
    omission: &Omission<'_>,
    error: syn::Error,
) -> syn::Result<(syn::File, Vec<LineColumn>, Vec<UnparsedItem>)> {
    let mut unparsed = Vec::new();
    let mut ranges = omission.ranges.clone();
    let mut latest = error.clone();
    while unparsed.len() < MOST_UNPARSED {
        let at = byte_of(text, latest.span().start());
        let index = omission.items.partition_point(|item| raw.byte_range(item.end - 1).end <= at);
        let item = omission.items.get(index).filter(|item| omission.is_plain((*item).clone()));
        let Some(item) = item else { return Err(error) };
        let bytes = raw.byte_range(item.start).start..raw.byte_range(item.end - 1).end;
        if ranges.iter().any(|range| range.bytes == bytes) {
            return Err(error);
        }
        unparsed.push(UnparsedItem {
            error: latest,
            tokens: syntax::parse_tokens(&text[bytes.clone()])?,
        });
        ranges.retain(|range| range.bytes.end <= bytes.start || bytes.end <= range.bytes.start);
        let index = ranges.partition_point(|range| range.bytes.end <= bytes.start);
        ranges.insert(index, OmittedRange { bytes, is_body: false });
        let (reduced, places) = text_without(text, &ranges);
        match syntax::parse_file(&reduced) {
            Ok(syntax) => return Ok((syntax, places, unparsed)),
            Err(error) => latest = error,
        }
    }
    Err(error)
}

/// The place of a byte of a text.
fn place_of(text: &str, byte: usize) -> LineColumn {
    place_behind(LineColumn { line: 1, column: 0 }, &text[..byte])
}

/// The byte at a place of a text.
fn byte_of(text: &str, place: LineColumn) -> usize {
    let lines_before = text.split_inclusive('\n').take(place.line.saturating_sub(1));
    let start: usize = lines_before.map(str::len).sum();
    start + text[start..].chars().take(place.column).map(char::len_utf8).sum::<usize>()
}

/// Returns the text of a file without these ranges, and the places of the braces before those that are bodies. All else
/// keeps its line and column.
fn text_without(text: &str, ranges: &[OmittedRange]) -> (String, Vec<LineColumn>) {
    let mut reduced = String::with_capacity(text.len() / 2);
    let mut places = Vec::new();
    let mut end = LineColumn { line: 1, column: 0 };
    let mut end_byte = 0;
    for range in ranges {
        let before = &text[end_byte..range.bytes.start];
        let start = place_behind(end, before);
        reduced.push_str(before);
        if range.is_body {
            places.push(LineColumn { column: start.column - 1, ..start });
            reduced.push('_');
        }
        end = place_behind(start, &text[range.bytes.clone()]);
        end_byte = range.bytes.end;
        let lines = end.line - start.line;
        let written = if lines == 0 { start.column + usize::from(range.is_body) } else { 0 };
        reduced.extend(std::iter::repeat_n('\n', lines));
        reduced.extend(std::iter::repeat_n(' ', end.column - written));
    }
    reduced.push_str(&text[end_byte..]);
    (reduced, places)
}

/// The place behind a text that begins at a place.
fn place_behind(start: LineColumn, text: &str) -> LineColumn {
    match text.rfind('\n') {
        Some(newline) => LineColumn {
            line: start.line + text.matches('\n').count(),
            column: text[newline + 1..].chars().count(),
        },
        None => LineColumn { column: start.column + text.chars().count(), ..start },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::bodies::is_omitted;

    fn parse(text: &str) -> Result<SourceFile, NotParsed> {
        let options = ParseOptions { lines_before: 0, most_tokens: 1000, omits_tests: true };
        SourceFile::parse(text, options)
    }

    /// The names of the functions whose bodies are left out, at whatever depth.
    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        struct Functions(Vec<String>);
        impl syn::visit::Visit<'_> for Functions {
            fn visit_item_fn(&mut self, function: &syn::ItemFn) {
                self.note(&function.sig, Some(&function.block));
            }
            fn visit_impl_item_fn(&mut self, function: &syn::ImplItemFn) {
                self.note(&function.sig, Some(&function.block));
            }
            fn visit_trait_item_fn(&mut self, function: &syn::TraitItemFn) {
                self.note(&function.sig, function.default.as_ref());
            }
        }
        impl Functions {
            fn note(&mut self, signature: &syn::Signature, block: Option<&syn::Block>) {
                if block.is_some_and(is_omitted) {
                    self.0.push(signature.ident.to_string());
                }
            }
        }
        let mut functions = Functions(Vec::new());
        syn::visit::visit_file(&mut functions, &parse(text).unwrap().syntax);
        assert_eq!(functions.0, expected, "{text}");
    }

    #[test]
    fn bodies_are_left_out_wherever_functions_are() {
        check(
            "fn a() { 1 } pub const unsafe extern \"C\" fn b<T>(x: T) -> T where T: B { x }",
            &["a", "b"],
        );
        check(
            "impl<T: Fn() -> u8> A<{ 1 }> for B { fn a() -> C<{ 2 }> { 3 } const D: u8 = { 4 }; }",
            &["a"],
        );
        check(
            "trait A { fn a(); fn b() { 1 } } mod c { mod d { async fn e() { 1 } } }",
            &["b", "e"],
        );
        check(
            "#[tokio::main] async fn a() { 1 } #[async_trait::async_trait] impl B { fn c() { 1 } }",
            &["a", "c"],
        );
    }

    #[test]
    fn bodies_that_may_matter_outside_are_kept() {
        for body in [
            "impl A for B {}",
            "struct A;",
            "{ { macro_rules! a { () => {} } } }",
            "#[b::c] fn d() {}",
            "#[cfg_attr(a, b)] fn d() {}",
            "a! { struct B; }",
            "const A: u8 = { impl B {} 1 };",
        ] {
            check(&format!("fn a() {{ {body} }}"), &[]);
        }
        check(
            "fn a() {} fn b() { } #[b::c] impl A { fn a() { 1 } } #[b::c] mod d { fn e() { 1 } }",
            &[],
        );
        check(
            "macro_rules! a { () => { fn b() { 1 } } } a! { fn c() { 1 } } a!(fn c() { 1 });",
            &[],
        );
        check(
            "const A: fn() = { fn b() { 1 } b }; static C: fn() = c; use d::{e}; type F = fn();",
            &[],
        );
    }

    #[test]
    fn modules_of_tests_are_left_out() {
        let file = parse("#[cfg(test)] mod tests { fn a( } } mod b { fn c() {} }");
        assert!(file.is_err());
        let file = parse("#[cfg(test)] mod tests { not Rust } #[cfg(not(test))] mod b {}").unwrap();
        assert_eq!(file.syntax.items.len(), 2);
    }

    #[test]
    fn what_is_behind_a_body_keeps_its_place() {
        let text = "fn a() { \"ä\nö\"; /* ü */ } struct A; fn b() { \"ä\" } struct B;\nfn c() {\n  1\n} struct C;";
        let names = |file: &syn::File| -> Vec<LineColumn> {
            let structs = file.items.iter().filter_map(|item| match item {
                syn::Item::Struct(found) => Some(found.ident.span().start()),
                _ => None,
            });
            structs.collect()
        };
        let file = parse(text).unwrap();
        assert_eq!(names(&file.syntax), names(&syn::parse_file(text).unwrap()));
        let places: Vec<_> = file.bodies.places().collect();
        let columns: Vec<_> = places.iter().map(|place| (place.line, place.column)).collect();
        assert_eq!(columns, [(1, 7), (2, 31), (3, 7)]);
        for place in places {
            let block = file.bodies.block(place).unwrap().as_ref().unwrap();
            assert_eq!(block.brace_token.span.open().start(), place);
            assert!(!is_omitted(block));
        }
    }

    #[test]
    fn an_error_in_a_body_is_found_once_the_body_is_needed() {
        let file = parse("fn a() { let = } struct A;").unwrap();
        assert_eq!(file.syntax.items.len(), 2);
        let block = file.bodies.block(LineColumn { line: 1, column: 7 }).unwrap();
        assert_eq!(block.as_ref().unwrap_err().span().start().column, 13);
    }

    #[test]
    fn more_tokens_than_the_limit_are_refused() {
        let refusal = |text: &str| parse(text).err().map(|error| error.to_string());
        assert_eq!(refusal(&format!("fn a() {{ {} }}", "1;".repeat(1000))), None);
        let large = "0,".repeat(1_000_001);
        assert_eq!(
            refusal(&large).as_deref(),
            Some("exceeds the limit of two million tokens in a file")
        );
        let malformed = "cannot be parsed: unbalanced brackets, or a token that is not Rust";
        assert_eq!(
            refusal(&format!("({}", " ".repeat(LARGEST_MALFORMED))).as_deref(),
            Some(malformed)
        );
        assert_eq!(
            refusal(&"const A: u8 = 1;".repeat(200)).as_deref(),
            Some("exceeds the limit on code, together with the files before it")
        );
    }

    #[test]
    fn an_identifier_that_rustc_composes_is_refused_at_its_place() {
        let error = parse("\nfn e\u{301}() {}").err().unwrap();
        assert_eq!((error.position().line, error.position().column), (2, 3));
        let message =
            "cannot be parsed: write this identifier composed (Unicode NFC), as rustc reads it";
        assert_eq!(error.to_string(), message);
    }
}
