//! The webhooks that an operator serves: `runtime::defaulting("/path", …)` and `runtime::validating("/path", …)`.

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::project::{Place, Problem, Registration, SourcePath};

const FUNCTIONS: [(&str, bool); 2] = [("defaulting", true), ("validating", false)];

/// The registrations in a file, wherever they are in its code.
pub fn registrations(path: &SourcePath, text: &str) -> (Vec<Registration>, Vec<Problem>) {
    let mut res = (Vec::new(), Vec::new());
    if !FUNCTIONS.iter().any(|it| text.contains(&format!("{}(", it.0))) {
        return res;
    }
    // The reader of kinds reports what is not Rust.
    if let Ok(tokens) = text.parse::<TokenStream>() {
        find(path, tokens, &mut res);
    }
    res
}

fn find(path: &SourcePath, tokens: TokenStream, into: &mut (Vec<Registration>, Vec<Problem>)) {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    for (at, token) in all.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        if group.delimiter() == Delimiter::Parenthesis
            && let Some(mutating) = function(&all[..at])
        {
            let start = group.span_open().start();
            let place = Place { path: path.clone(), line: start.line, column: start.column + 2 };
            match literal(&group.stream()) {
                Some(served) => into.0.push(Registration { place, mutating, path: served }),
                None => into.1.push(
                    Problem::new(place, "the path of this webhook is not a string literal")
                        .with_hint("write a string literal, so that it can be compared with the +kubebuilder:webhook comments"),
                ),
            }
        }
        find(path, group.stream(), into);
    }
}

/// Whether the tokens end with the name of a function that registers a webhook: `runtime::defaulting`, or the name alone.
fn function(before: &[TokenTree]) -> Option<bool> {
    let (TokenTree::Ident(name), before) = before.split_last()? else { return None };
    let mutating = FUNCTIONS.iter().find(|it| name == it.0)?.1;
    let is = |token: &TokenTree, sign: char| matches!(token, TokenTree::Punct(it) if it.as_char() == sign);
    match before {
        [.., TokenTree::Ident(of), first, second] if is(first, ':') && is(second, ':') => {
            (of == "runtime").then_some(mutating)
        }
        [.., TokenTree::Ident(word)] if word == "fn" => None,
        [.., last] if is(last, '.') || is(last, ':') => None,
        _ => Some(mutating),
    }
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
        let paths: Vec<(&str, bool)> = found.0.iter().map(|it| (&*it.path, it.mutating)).collect();
        assert_eq!((&paths[..], found.1.len()), (expected, problems), "{text}");
    };
    check(
        "fn a() { vec![runtime::defaulting(\"/a\", A), b(runtime::validating(\"/b\", B))] }",
        &[("/a", true), ("/b", false)],
        0,
    );
    check("fn a() { defaulting(r\"/a\", A) }", &[("/a", true)], 0);
    check(
        "fn defaulting(a: u8, b: u8) {} fn b() { it.defaulting(\"a\", b); other::defaulting(\"/a\", A); }",
        &[],
        0,
    );
    check("// runtime::defaulting(\"/a\", A)\nfn a() { \"defaulting(\"; }", &[], 0);
    check("fn a() { runtime::defaulting(PATH, A) }", &[], 1);
}
