//! Items and lists in Rust files.

use std::ops::Range;

use proc_macro2::{Delimiter, Group, LexError, Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{
    Expr, File, Item, ItemFn, PathArguments, Token, UseTree, parse::Parser as _,
    punctuated::Punctuated,
};

use super::{Content, Entry, Fault, Gap, position_of, whole_lines};

type List = Punctuated<Expr, Token![,]>;

/// Returns the function whose list the fragment shows; none if it consists of modules and imports.
pub fn list_function(fragment: &str) -> Result<Option<String>, Fault> {
    let (_, file) = parse_file(fragment)?;
    Ok(file.items.iter().find_map(|item| match item {
        Item::Fn(it) => Some(it.sig.ident.to_string()),
        _ => None,
    }))
}

/// Returns `None` unless the function has exactly one list.
pub fn parse_content(text: &str, function: Option<&str>) -> Result<Option<Content>, Fault> {
    let (tokens, file) = parse_file(text)?;
    let Some(function) = function else {
        let entries = file.items.iter().map(|node| parse_item(text, node)).collect();
        let rest =
            file.attrs.iter().map(|attribute| attribute.to_token_stream().to_string()).collect();
        return Ok(Some(Content { rest, entries, gap: Gap::Nothing }));
    };
    let functions: Vec<&ItemFn> = { file.items.iter() }
        .filter_map(|item| match item {
            Item::Fn(it) if it.sig.ident == function => Some(it),
            _ => None,
        })
        .collect();
    let [function] = functions[..] else { return Ok(None) };
    let Some(group) = only_list(function.block.to_token_stream()) else { return Ok(None) };
    let Ok(list) = List::parse_terminated.parse2(group.stream()) else { return Ok(None) };
    let mut entries = Vec::new();
    let mut gap = Gap::Nothing;
    for pair in list.pairs() {
        let (element, comma) = pair.into_tuple();
        let tokens = element.to_token_stream();
        let Some(range) = byte_range(&tokens) else { continue };
        let end = match comma {
            Some(comma) => comma.span.byte_range().end,
            None => {
                gap = Gap::Comma(range.end);
                range.end
            }
        };
        let mut names = called_modules(&tokens, 0);
        if names.is_empty() {
            names.extend(type_arguments(element));
        }
        if names.is_empty() {
            names.push(tokens.to_string());
        }
        entries.push(build_entry(text, &tokens, range.start..end, names.clone(), names));
    }
    let rest = remove_tokens(tokens, group.span().byte_range()).to_string();
    Ok(Some(Content { rest, entries, gap }))
}

fn parse_file(text: &str) -> Result<(TokenStream, File), Fault> {
    let at = |message: String, span: Span| {
        let start = span.start();
        Fault::At(message, start.line, start.column + 1)
    };
    let tokens: TokenStream = text
        .parse()
        .map_err(|error: LexError| at("this is not valid Rust".to_owned(), error.span()))?;
    let file = syn::parse2(tokens.clone()).map_err(|error| at(error.to_string(), error.span()))?;
    Ok((tokens, file))
}

fn parse_item(text: &str, item: &Item) -> Entry {
    let tokens = item.to_token_stream();
    let range = byte_range(&tokens).unwrap_or(0..0);
    // Functions and constants may have the name of a module.
    let (names, defined) = match item {
        Item::Mod(it) => (vec![format!("mod {}", it.ident)], Some(&it.ident)),
        Item::Enum(it) => (Vec::new(), Some(&it.ident)),
        Item::Struct(it) => (Vec::new(), Some(&it.ident)),
        Item::Trait(it) => (Vec::new(), Some(&it.ident)),
        Item::TraitAlias(it) => (Vec::new(), Some(&it.ident)),
        Item::Type(it) => (Vec::new(), Some(&it.ident)),
        Item::Union(it) => (Vec::new(), Some(&it.ident)),
        Item::ExternCrate(it) => {
            (Vec::new(), Some(it.rename.as_ref().map_or(&it.ident, |pair| &pair.1)))
        }
        Item::Use(it) => {
            let is_own = it.leading_colon.is_none();
            let (mut names, mut defines) = (Vec::new(), Vec::new());
            collect_imports(&it.tree, None, &mut names, &mut defines);
            let names = if is_own { names } else { Vec::new() };
            return build_entry(text, &tokens, range, names, defines);
        }
        _ => (Vec::new(), None),
    };
    build_entry(text, &tokens, range, names, defined.map(ToString::to_string).into_iter().collect())
}

fn build_entry(
    text: &str,
    tokens: &TokenStream,
    range: Range<usize>,
    names: Vec<String>,
    defines: Vec<String>,
) -> Entry {
    let data = tokens.to_string();
    // Only comments are in the text and not among the tokens.
    let bare = |token: &str| token.chars().filter(|c| !c.is_whitespace()).collect::<String>();
    let own = bare(text.get(range.clone()).unwrap_or_default());
    let has_comment = own.trim_end_matches(',') != bare(&data).trim_end_matches(',');
    let (line, column) = position_of(text, range.start);
    let lines = whole_lines(text, &range, "//");
    Entry {
        form: data.clone(),
        data,
        names,
        defines,
        line,
        column,
        lines: lines.map(|pair| pair.0),
        has_comment: has_comment || lines.is_some_and(|pair| pair.1),
    }
}

/// The modules here that an import begins with, and the names that it brings. `parent` is the name before the tree.
fn collect_imports(
    tree: &UseTree,
    parent: Option<&str>,
    names: &mut Vec<String>,
    defines: &mut Vec<String>,
) {
    let mut begin = |name: &str| {
        if parent.is_none_or(|parent| parent == "self") && name != "self" {
            names.push(format!("use {name}"));
        }
    };
    match tree {
        UseTree::Path(it) => {
            let name = it.ident.to_string();
            begin(&name);
            collect_imports(&it.tree, Some(&name), names, defines);
        }
        UseTree::Name(it) => {
            let name = it.ident.to_string();
            begin(&name);
            // `use a::{self}` brings `a`.
            defines.push(match (name.as_str(), parent) {
                ("self", Some(parent)) => parent.to_owned(),
                _ => name,
            });
        }
        UseTree::Rename(it) => {
            begin(&it.ident.to_string());
            defines.push(it.rename.to_string());
        }
        UseTree::Group(it) => {
            it.items.iter().for_each(|item| collect_imports(item, parent, names, defines));
        }
        UseTree::Glob(_) => {}
    }
}

/// Returns the modules whose functions an expression passes on: `memcached` of
/// `operator_rs_runtime::controller_per_namespace(memcached::run)`.
fn called_modules(tokens: &TokenStream, depth: usize) -> Vec<String> {
    let mut modules = Vec::new();
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    for (at, token) in all.iter().enumerate() {
        match token {
            TokenTree::Group(it) => modules.extend(called_modules(&it.stream(), depth + 1)),
            TokenTree::Ident(it)
                if depth > 0
                    && it.to_string().starts_with(char::is_lowercase)
                    && is_colon(all.get(at + 1))
                    && is_colon(all.get(at + 2)) =>
            {
                modules.push(it.to_string());
            }
            _ => {}
        }
    }
    modules
}

/// Returns the types that a function is called with: `a::A,b::B` of `operator_rs_runtime::conversion_webhook::<a::A,
/// b::B>()`.
fn type_arguments(expression: &Expr) -> Option<String> {
    let Expr::Call(call) = expression else { return None };
    let Expr::Path(function) = &*call.func else { return None };
    let PathArguments::AngleBracketed(types) = &function.path.segments.last()?.arguments else {
        return None;
    };
    let types: Vec<String> =
        types.args.iter().map(|kind| kind.to_token_stream().to_string().replace(' ', "")).collect();
    Some(types.join(","))
}

fn is_colon(token: Option<&TokenTree>) -> bool {
    matches!(token, Some(TokenTree::Punct(it)) if it.as_char() == ':')
}

/// Returns the `vec![…]` that a function returns, or the only one in it. Those in another one do not count.
fn only_list(body: TokenStream) -> Option<Group> {
    let body = match body.into_iter().next()? {
        TokenTree::Group(it) => it.stream(),
        _ => return None,
    };
    let mut all = collect_lists(body.clone());
    let last = body.into_iter().last()?.span().byte_range();
    match all.iter().position(|token| token.span().byte_range() == last) {
        Some(at) => Some(all.swap_remove(at)),
        None if all.len() == 1 => all.pop(),
        None => None,
    }
}

fn collect_lists(tokens: TokenStream) -> Vec<Group> {
    let all: Vec<TokenTree> = tokens.into_iter().collect();
    let mut groups = Vec::new();
    for (at, token) in all.iter().enumerate() {
        let TokenTree::Group(group) = token else { continue };
        let is_vec = match (
            at.checked_sub(2).map(|index| &all[index]),
            at.checked_sub(1).map(|index| &all[index]),
        ) {
            (Some(TokenTree::Ident(name)), Some(TokenTree::Punct(sign))) => {
                name == "vec" && sign.as_char() == '!'
            }
            _ => false,
        };
        if is_vec && group.delimiter() == Delimiter::Bracket {
            groups.push(group.clone())
        } else {
            groups.extend(collect_lists(group.stream()))
        }
    }
    groups
}

/// Returns the tokens without those in one group.
fn remove_tokens(tokens: TokenStream, range: Range<usize>) -> TokenStream {
    let replace = |token| match token {
        TokenTree::Group(it) => {
            let is_it = it.span().byte_range() == range;
            let stream =
                if is_it { TokenStream::new() } else { remove_tokens(it.stream(), range.clone()) };
            TokenTree::Group(Group::new(it.delimiter(), stream))
        }
        other => other,
    };
    tokens.into_iter().map(replace).collect()
}

fn byte_range(tokens: &TokenStream) -> Option<Range<usize>> {
    let all: Vec<TokenTree> = tokens.clone().into_iter().collect();
    let start = all.first()?.span().byte_range().start;
    Some(start..all.last()?.span().byte_range().end)
}
