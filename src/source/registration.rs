//! The webhooks that an operator serves: `runtime::defaulting("/path", …)`, `runtime::validating("/path", …)`, and
//! `runtime::converting::<Hub, Spoke>()`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Path, Token, parse::Parser as _, punctuated::Punctuated};

use crate::project::{ConversionRegistration, Place, Problem, Registration, SourcePath};

const FUNCTIONS: [(&str, bool); 2] = [("defaulting", true), ("validating", false)];

/// The functions that register a conversion, and whether it is lossless.
const CONVERSIONS: [(&str, bool); 2] = [("converting", false), ("converting_lossless", true)];

/// What the code of a file registers.
#[derive(Default)]
pub struct Registrations {
    pub admission: Vec<Registration>,
    pub conversions: Vec<ConversionRegistration>,
    pub problems: Vec<Problem>,
    /// Whether the file imports names of the runtime. Without, a function that is called by its name alone is another one.
    imports: bool,
}

/// The registrations in a file, wherever they are in its code.
pub fn registrations(path: &SourcePath, text: &str) -> Registrations {
    let mut res = Registrations { imports: imports(text), ..Registrations::default() };
    let is_called = |name: &str| text.contains(&format!("{name}("));
    let is_converting = text.contains(CONVERSIONS[0].0);
    if !is_converting && !FUNCTIONS.iter().any(|it| is_called(it.0)) {
        return res;
    }
    // The reader of kinds reports what is not Rust.
    if let Ok(tokens) = text.parse::<TokenStream>() {
        find(path, tokens, &mut res);
    }
    res
}

/// Whether a file imports a function that registers.
fn imports(text: &str) -> bool {
    let is_function =
        |it: &str| FUNCTIONS.iter().chain(&CONVERSIONS).any(|known| it.contains(known.0));
    ["use runtime::", "use operator_rs_runtime::"].iter().any(|start| {
        let mut imports = text.split(start).skip(1).filter_map(|it| it.split(';').next());
        imports.any(|it| it.contains('*') || is_function(it))
    })
}

fn find(path: &SourcePath, tokens: TokenStream, into: &mut Registrations) {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let mut tests_end = 0;
    for (at, token) in all.iter().enumerate() {
        if is_cfg_test(&all[at..]) {
            tests_end = at + 2 + item(&all[at + 2..]);
        }
        let TokenTree::Group(group) = token else { continue };
        if at < tests_end {
            continue;
        }
        if group.delimiter() == Delimiter::Parenthesis {
            let start = group.span_open().start();
            let place = Place { path: path.clone(), line: start.line, column: start.column + 2 };
            let is_registration = function(&all[..at], into.imports).is_some()
                || conversion(path, &all[..at], into.imports).is_some();
            if is_registration && has_cfg(&all[..at]) {
                into.problems.push(
                    Problem::new(place.clone(), "whether this webhook is served depends on `#[cfg(…)]`, and API servers call it in any case")
                        .with_hint("remove the `#[cfg(…)]`; what depends on it can be decided in the code of the webhook"),
                );
            }
            if let Some(mutating) = function(&all[..at], into.imports) {
                match literal(&group.stream()) {
                    Some(path) => into.admission.push(Registration { place, mutating, path }),
                    None => into.problems.push(
                        Problem::new(place, "the path of this webhook is not a string literal")
                            .with_hint("write a string literal, so that it can be compared with the +kubebuilder:webhook comments"),
                    ),
                }
            } else if let Some(conversion) = conversion(path, &all[..at], into.imports) {
                into.conversions.push(conversion);
            }
        }
        find(path, group.stream(), into);
    }
}

/// Whether the tokens begin with `#[cfg(test)]`.
fn is_cfg_test(tokens: &[TokenTree]) -> bool {
    let [first, TokenTree::Group(group), ..] = tokens else { return false };
    is(first, '#') && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The number of tokens of the item that they begin with.
fn item(tokens: &[TokenTree]) -> usize {
    let is_end = |it: &TokenTree| match it {
        TokenTree::Group(it) => it.delimiter() == Delimiter::Brace,
        it => is(it, ';'),
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |it| it + 1)
}

/// Whether the call whose function's name the tokens end with has an attribute `#[cfg(…)]`.
fn has_cfg(tokens: &[TokenTree]) -> bool {
    let is_name = |it: &TokenTree| {
        let known = FUNCTIONS.iter().chain(&CONVERSIONS);
        matches!(it, TokenTree::Ident(it) if known.clone().any(|known| it == known.0))
    };
    let Some(mut at) = tokens.iter().rposition(is_name) else { return false };
    while at > 0 && (is(&tokens[at - 1], ':') || matches!(tokens[at - 1], TokenTree::Ident(_))) {
        at -= 1;
    }
    while let [.., sign, TokenTree::Group(group)] = &tokens[..at]
        && is(sign, '#')
    {
        let first = group.stream().into_iter().next();
        if first.is_some_and(|it| it.to_string() == "cfg") {
            return true;
        }
        at -= 2;
    }
    false
}

/// Whether the tokens end with the name of a function that registers a webhook: `runtime::defaulting`, or the name alone.
fn function(before: &[TokenTree], imports: bool) -> Option<bool> {
    let (TokenTree::Ident(name), before) = before.split_last()? else { return None };
    let mutating = FUNCTIONS.iter().find(|it| name == it.0)?.1;
    is_of_runtime(before, imports).then_some(mutating)
}

/// The conversion that the tokens end with: `runtime::converting::<Hub, Spoke>`.
fn conversion(
    path: &SourcePath,
    before: &[TokenTree],
    imports: bool,
) -> Option<ConversionRegistration> {
    let is_name = |it: &TokenTree| match it {
        TokenTree::Ident(it) => CONVERSIONS.iter().find(|known| it == known.0).map(|it| it.1),
        _ => None,
    };
    let at = before.iter().rposition(|it| is_name(it).is_some())?;
    let lossless = is_name(&before[at])?;
    let [first, second, open, types @ .., close] = &before[at + 1..] else { return None };
    let is_call = is(first, ':') && is(second, ':') && is(open, '<') && is(close, '>');
    if !is_call || !is_of_runtime(&before[..at], imports) {
        return None;
    }
    let types = types.iter().cloned().collect();
    let types = Punctuated::<Path, Token![,]>::parse_terminated.parse2(types).ok()?;
    let names = |it: &Path| it.segments.iter().map(|it| it.ident.to_string()).collect();
    let [hub, spoke] = types.iter().map(names).collect::<Vec<Vec<String>>>().try_into().ok()?;
    let start = before[at].span().start();
    let place = Place { path: path.clone(), line: start.line, column: start.column + 1 };
    Some(ConversionRegistration { place, lossless, hub, spoke })
}

/// Whether a function's name that comes after the tokens is that of the runtime.
fn is_of_runtime(before: &[TokenTree], imports: bool) -> bool {
    match before {
        [.., TokenTree::Ident(of), first, second] if is(first, ':') && is(second, ':') => {
            of == "runtime"
        }
        [.., TokenTree::Ident(word)] if word == "fn" => false,
        [.., last] if is(last, '.') || is(last, ':') => false,
        _ => imports,
    }
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == sign)
}

fn literal(arguments: &TokenStream) -> Option<String> {
    let mut tokens = arguments.clone().into_iter();
    let (TokenTree::Literal(first), TokenTree::Punct(comma)) = (tokens.next()?, tokens.next()?)
    else {
        return None;
    };
    let text: syn::LitStr = syn::parse_str(&first.to_string()).ok()?;
    (comma.as_char() == ',').then(|| text.value())
}

#[test]
fn calls_are_found_wherever_they_are() {
    let check = |text: &str, expected: &[(&str, bool)], problems: usize| {
        let found = registrations(&SourcePath::fixed("a.rs"), text);
        let paths = found.admission.iter().map(|it| (&*it.path, it.mutating));
        let paths: Vec<(&str, bool)> = paths.collect();
        assert_eq!((&paths[..], found.problems.len()), (expected, problems), "{text}");
    };
    check(
        "fn a() { vec![runtime::defaulting(\"/a\", A), b(runtime::validating(\"/b\", B))] }",
        &[("/a", true), ("/b", false)],
        0,
    );
    let imported = "use runtime::defaulting; fn a() { defaulting(r\"/a\", A) }";
    check(imported, &[("/a", true)], 0);
    check("fn a() { defaulting(text, 3) } fn defaulting(a: &str, b: u8) {}", &[], 0);
    check(
        "fn defaulting(a: u8, b: u8) {} fn b() { it.defaulting(\"a\", b); other::defaulting(\"/a\", A); }",
        &[],
        0,
    );
    check("// runtime::defaulting(\"/a\", A)\nfn a() { \"defaulting(\"; }", &[], 0);
    check("fn a() { runtime::defaulting(PATH, A) }", &[], 1);
    check("#[cfg(test)] mod tests { fn a() { runtime::defaulting(\"/a\", A) } }", &[], 0);
    check(
        "fn a() { vec![b, #[cfg(x)] runtime::defaulting(\"/a\", A), runtime::validating(\"/b\", B)] }",
        &[("/a", true), ("/b", false)],
        1,
    );
}

#[test]
fn conversions_are_found_with_their_types() {
    let check = |text: &str, expected: &[(&str, &str, bool)]| {
        let found = registrations(&SourcePath::fixed("a.rs"), text).conversions;
        let found: Vec<(String, String, bool)> =
            found.iter().map(|it| (it.hub.join("::"), it.spoke.join("::"), it.lossless)).collect();
        let found: Vec<_> = found.iter().map(|it| (&*it.0, &*it.1, it.2)).collect();
        assert_eq!(found, expected, "{text}");
    };
    check("fn a() { runtime::converting::<a::v1::A, v2::A>() }", &[("a::v1::A", "v2::A", false)]);
    check(
        "use runtime::*; fn a() { vec![b, converting_lossless::<v1::A, v2::A,>(\"data\")] }",
        &[("v1::A", "v2::A", true)],
    );
    check(
        "fn converting<A, B>() {} fn b() { other::converting::<A, B>(); it.converting::<A, B>() }",
        &[],
    );
    check("// runtime::converting::<A, B>()\nfn a() {}", &[]);
}
