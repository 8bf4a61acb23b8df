//! `storage` in `#[kube(…)]`.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, LineColumn, TokenStream, TokenTree};

/// Returns the text with `storage = …` in `#[kube(…)]` of the struct whose name is at a line and a column, both counted
/// from 1. None if the attribute is not written there as it is, or an attribute is conditional. The caller checks what
/// the new text means.
pub fn with_storage(text: &str, (line, column): (usize, usize), is_stored: bool) -> Option<String> {
    let code = text.strip_prefix('\u{feff}').unwrap_or(text);
    let start = LineColumn { line, column: column.checked_sub(1)? };
    let items: Vec<_> =
        kube_attributes(code.parse().ok()?, start)?.iter().flat_map(split_items).collect();
    let named = |name: &str| {
        items.iter().find(|item| matches!(item.first(), Some(TokenTree::Ident(it)) if it == name))
    };
    let item = format!("storage = {is_stored}");
    let (range, new) = match named("storage") {
        Some(it) => (byte_range(it)?, item),
        None => {
            let range = byte_range(named("version")?)?;
            let before =
                &code[code[..range.start].rfind('\n').map_or(0, |index| index + 1)..range.start];
            let is_alone = !before.is_empty() && before.trim().is_empty();
            let end = if code.contains("\r\n") { "\r\n" } else { "\n" };
            let gap = if is_alone { format!("{end}{before}") } else { " ".to_owned() };
            (range.end..range.end, format!(",{gap}{item}"))
        }
    };
    let mark = &text[..text.len() - code.len()];
    Some(format!("{mark}{}{new}{}", &code[..range.start], &code[range.end..]))
}

/// Returns the lists of every `#[kube(…)]` before the token that begins here.
fn kube_attributes(tokens: TokenStream, start: LineColumn) -> Option<Vec<Group>> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    if let Some(at) = tokens.iter().position(|token| token.span().start() == start) {
        // Only attributes and what makes up a visibility are between the end of another item and the name.
        let is_end = |token: &TokenTree| match token {
            TokenTree::Punct(it) => it.as_char() != '#',
            TokenTree::Group(it) => it.delimiter() == Delimiter::Brace,
            _ => false,
        };
        let before = tokens[..at].iter().rev().take_while(|token| !is_end(token));
        let own = before.filter_map(|token| match token {
            TokenTree::Group(it) if it.delimiter() == Delimiter::Bracket => Some(it),
            _ => None,
        });
        let own: Vec<&Group> = own.collect();
        let is_conditional = |group: &&Group| matches!(group.stream().into_iter().next(), Some(TokenTree::Ident(it)) if it == "cfg_attr");
        return if own.iter().any(is_conditional) {
            None
        } else {
            Some(own.into_iter().filter_map(kube_list).collect())
        };
    }
    tokens.into_iter().find_map(|token| match token {
        TokenTree::Group(it) => kube_attributes(it.stream(), start),
        _ => None,
    })
}

/// Returns the list of `[kube(…)]`.
fn kube_list(attribute: &Group) -> Option<Group> {
    match &attribute.stream().into_iter().collect::<Vec<_>>()[..] {
        [TokenTree::Ident(name), TokenTree::Group(list)] if name == "kube" => Some(list.clone()),
        _ => None,
    }
}

fn split_items(list: &Group) -> Vec<Vec<TokenTree>> {
    let tokens: Vec<TokenTree> = list.stream().into_iter().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    tokens.split(is_comma).map(<[TokenTree]>::to_vec).collect()
}

fn byte_range(tokens: &[TokenTree]) -> Option<Range<usize>> {
    let start = tokens.first()?.span().byte_range().start;
    Some(start..tokens.last()?.span().byte_range().end)
}

#[test]
fn only_the_item_of_the_struct_changes() {
    let check = |text: &str, is_stored, expected: Option<&str>| {
        let at = text.find("Spec").map(|index| {
            let line = text[..index].matches('\n').count() + 1;
            let start = text[..index].rfind('\n').map_or(0, |index| index + 1);
            let visible = text[start..index].trim_start_matches('\u{feff}');
            (line, visible.chars().count() + 1)
        });
        let after = with_storage(text, at.unwrap(), is_stored);
        assert_eq!(after.as_deref(), expected, "{text}");
    };
    check(
        "#[kube(version = \"v1\", storage=false , kind = \"Ä\")] /* storage = false */ pub struct Spec;",
        true,
        Some(
            "#[kube(version = \"v1\", storage = true , kind = \"Ä\")] /* storage = false */ pub struct Spec;",
        ),
    );
    check("#[kube(storage)] struct Spec;", false, Some("#[kube(storage = false)] struct Spec;"));
    check(
        "#[kube(storage = true)] struct A { a: u8 }\nmod inner {\n    #[kube(\n        group = \"ä\",\n        version = \"v1\",\n    )]\n    pub(crate) struct Spec {}\n}",
        true,
        Some(
            "#[kube(storage = true)] struct A { a: u8 }\nmod inner {\n    #[kube(\n        group = \"ä\",\n        version = \"v1\",\n        storage = true,\n    )]\n    pub(crate) struct Spec {}\n}",
        ),
    );
    check(
        "\u{feff}#[kube(kind = \"A\")]\n#[kube(version = \"v1\")] struct Spec;",
        true,
        Some(
            "\u{feff}#[kube(kind = \"A\")]\n#[kube(version = \"v1\", storage = true)] struct Spec;",
        ),
    );
    check(
        "#[kube(\r\n    version = \"v1\"\r\n)]\r\nstruct Spec;",
        false,
        Some("#[kube(\r\n    version = \"v1\",\r\n    storage = false\r\n)]\r\nstruct Spec;"),
    );
    check("#[kube(storage = true)] struct A;\nstruct Spec;", true, None);
    check("#[cfg_attr(a, kube(version = \"v1\", storage = false))] struct Spec;", true, None);
    check("#[kube(version = \"v1\")] struct Spec; )", true, None);
}
