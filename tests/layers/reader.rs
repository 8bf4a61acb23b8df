//! Reads the paths in Rust code from its tokens, also those in the arguments of macros.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};

/// Every path in a text, and how many modules deep it stands.
pub fn paths(text: &str, depth: usize) -> Vec<(Vec<String>, usize)> {
    paths_in(text.parse().expect("it is Rust"), depth)
}

/// Every path in tokens, and how many modules deep it stands.
pub fn paths_in(tokens: TokenStream, depth: usize) -> Vec<(Vec<String>, usize)> {
    let mut res = Vec::new();
    collect(tokens, &[], depth, &mut res);
    res
}

/// The tokens without those that only a test build has, and the modules in other files that only a test build has.
pub fn without_tests(tokens: TokenStream) -> (TokenStream, Vec<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let (mut kept, mut test_modules) = (Vec::new(), Vec::new());
    let mut at = 0;
    while at < tokens.len() {
        if !tokens[at..].first_chunk().is_some_and(is_test_attribute) {
            kept.push(match &tokens[at] {
                TokenTree::Group(group) => {
                    let (inner, modules) = without_tests(group.stream());
                    test_modules.extend(modules);
                    TokenTree::Group(Group::new(group.delimiter(), inner))
                }
                token => token.clone(),
            });
            at += 1;
            continue;
        }
        // What has the attribute ends with a block or a semicolon.
        at += 2;
        let length = tokens[at..].iter().position(is_end).map_or(tokens.len() - at, |end| end + 1);
        let item = &tokens[at..at + length];
        if let [.., TokenTree::Ident(keyword), TokenTree::Ident(name), TokenTree::Punct(_)] = item
            && keyword == "mod"
        {
            test_modules.push(name.to_string());
        }
        at += length;
    }
    (kept.into_iter().collect(), test_modules)
}

/// Whether these are `#[test]`, `#[tokio::test]`, `#[cfg(test)]`, `#[cfg(doctest)]` or `#[cfg(all(test, …))]`.
fn is_test_attribute(tokens: &[TokenTree; 2]) -> bool {
    let [TokenTree::Punct(sign), TokenTree::Group(attribute)] = tokens else { return false };
    let mut words: Vec<TokenTree> = attribute.stream().into_iter().collect();
    for outer in ["cfg", "all"] {
        if let [TokenTree::Ident(word), TokenTree::Group(inner)] = words.as_slice()
            && word == outer
        {
            words = inner.stream().into_iter().collect();
        }
    }
    sign.as_char() == '#'
        && words.iter().any(|it| matches!(it.to_string().as_str(), "test" | "doctest"))
}

/// Whether an item ends with this token.
fn is_end(token: &TokenTree) -> bool {
    match token {
        TokenTree::Group(group) => group.delimiter() == Delimiter::Brace,
        TokenTree::Punct(sign) => sign.as_char() == ';',
        _ => false,
    }
}

/// Every path of two words or more, and every word after `use`, with groups spelled out, and how many
/// modules deep it stands. After a path with another name come `as` and that name.
fn collect(
    tokens: TokenStream,
    prefix: &[String],
    depth: usize,
    res: &mut Vec<(Vec<String>, usize)>,
) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let word = |at: usize| match tokens.get(at) {
        Some(TokenTree::Ident(it)) => Some(it.to_string()),
        Some(TokenTree::Punct(it)) if it.as_char() == '*' => Some("*".to_owned()),
        _ => None,
    };
    let sign = |at: usize, what: char| matches!(tokens.get(at), Some(TokenTree::Punct(it)) if it.as_char() == what);
    let colons = |at: usize| sign(at, ':') && sign(at + 1, ':');
    let mut at = 0;
    while at < tokens.len() {
        if let TokenTree::Group(group) = &tokens[at] {
            let in_use = at > 0 && word(at - 1).is_some_and(|it| it == "use");
            let module = group.delimiter() == Delimiter::Brace
                && at > 1
                && word(at - 2).is_some_and(|it| it == "mod");
            let inner = if in_use { &[String::new()][..] } else { &[] };
            collect(group.stream(), inner, depth + usize::from(module), res);
            at += 1;
            continue;
        }
        let Some(first) = word(at).filter(|it| it != "*" || !prefix.is_empty()) else {
            at += 1;
            continue;
        };
        let after_use = at > 0 && word(at - 1).is_some_and(|it| it == "use")
            || at > 2 && colons(at - 2) && word(at - 3).is_some_and(|it| it == "use");
        // What follows a path's `::` is part of that path, and was taken with it.
        let mut words: Vec<String> = prefix.iter().filter(|it| !it.is_empty()).cloned().collect();
        words.push(first);
        at += 1;
        while colons(at) {
            if let Some(next) = word(at + 2) {
                words.push(next);
                at += 3;
            } else if let Some(TokenTree::Group(group)) = tokens.get(at + 2) {
                collect(group.stream(), &words, depth, res);
                words.clear();
                at += 3;
            } else {
                break;
            }
        }
        if words.len() > 1 || !words.is_empty() && (after_use || !prefix.is_empty()) {
            if word(at).is_some_and(|it| it == "as") {
                words.push("as".to_owned());
                words.extend(word(at + 1));
                at += 2;
            }
            res.push((words, depth));
        }
    }
}
