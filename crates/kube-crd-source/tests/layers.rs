//! The layers of the crate: a folder names only itself and those before it, and what is in it stays small.

#![allow(clippy::disallowed_methods, reason = "a test reads the crate's own source")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::spanned::Spanned as _;
use syn::visit::{self, Visit};

/// The folders, each seeing only those before it. The files beside `lib.rs` see them all.
const LAYERS: &[&str] = &[
    "text",
    "builtin",
    "cargo",
    "versions",
    "tree",
    "names",
    "types",
    "values",
    "attributes",
    "schema",
];

/// Files of which a function may be long: it lists types.
const TABLES: &[&str] = &["builtin/kubernetes/linked.rs", "builtin/standard.rs"];

const MOST_LINES: usize = 400;
const MOST_LINES_IN_FUNCTIONS: usize = 80;

#[test]
fn a_folder_names_only_those_before_it() {
    let mut problems = Vec::new();
    for (path, file) in files() {
        let Some((folder, _)) = path.split_once('/') else { continue };
        let Some(own) = LAYERS.iter().position(|it| *it == folder) else {
            problems.push(format!("{path}: `{folder}` is no layer"));
            continue;
        };
        for (line, name) in names_in_crate(file.to_token_stream()) {
            if LAYERS.iter().position(|it| *it == name).is_none_or(|it| own < it) {
                problems.push(format!("src/{path}:{line}: `{folder}` names `crate::{name}`"));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn each_layer_is_a_folder() {
    let files = files();
    for layer in LAYERS {
        assert!(files.contains_key(&format!("{layer}/mod.rs")), "{layer}");
    }
}

#[test]
fn no_file_and_no_function_is_long() {
    let mut problems = Vec::new();
    for (path, file) in files() {
        let lines: usize = file.items.iter().map(lines).sum();
        if MOST_LINES < lines {
            problems.push(format!("src/{path}: {lines} lines"));
        }
        if TABLES.contains(&path.as_str()) {
            continue;
        }
        let mut long = Long { path: &path, problems: &mut problems };
        long.visit_file(&file);
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn names_are_found_in_paths_and_in_groups() {
    let code = "use crate::{a::{self, b}, c}; use super::d; fn f() { g!(crate::e::F) }";
    let found = names_in_crate(code.parse().unwrap());
    let found: Vec<&str> = found.iter().map(|it| it.1.as_str()).collect();
    assert_eq!(found, ["a", "c", "e"]);
}

/// Every file of the crate by its path below `src`, without its tests.
fn files() -> BTreeMap<String, syn::File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut res = BTreeMap::new();
    let mut open = vec![root.clone()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|it| it.unwrap().path()));
            continue;
        }
        let name = path.strip_prefix(&root).unwrap();
        if !is_test(name) && name.extension().is_some_and(|it| it == "rs") {
            let mut file = syn::parse_file(&fs::read_to_string(&path).unwrap()).unwrap();
            file.items.retain(|it| !is_test_item(it));
            res.insert(name.to_str().unwrap().to_owned(), file);
        }
    }
    res
}

fn is_test(path: &Path) -> bool {
    path.components().any(|it| it.as_os_str() == "tests" || it.as_os_str() == "tests.rs")
}

fn is_test_item(item: &syn::Item) -> bool {
    let attrs = match item {
        syn::Item::Mod(it) => &it.attrs,
        syn::Item::Fn(it) => &it.attrs,
        syn::Item::Impl(it) => &it.attrs,
        syn::Item::Use(it) => &it.attrs,
        _ => return false,
    };
    attrs.iter().any(|it| {
        let is_cfg_test = || it.to_token_stream().to_string().contains("(test)");
        it.path().is_ident("test") || it.path().is_ident("cfg") && is_cfg_test()
    })
}

/// The names behind `crate::`, each with its line; those in `crate::{…}` too.
fn names_in_crate(tokens: TokenStream) -> Vec<(usize, String)> {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let mut res = Vec::new();
    for (index, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Group(it) => res.extend(names_in_crate(it.stream())),
            TokenTree::Ident(it) if it == "crate" => match &tokens[index + 1..] {
                [TokenTree::Punct(one), TokenTree::Punct(two), next, ..]
                    if one.as_char() == ':' && two.as_char() == ':' =>
                {
                    res.extend(first_names(next));
                }
                _ => {}
            },
            _ => {}
        }
    }
    res
}

/// A name, or the first names of each path in braces.
fn first_names(token: &TokenTree) -> Vec<(usize, String)> {
    match token {
        TokenTree::Ident(it) => vec![(it.span().start().line, it.to_string())],
        TokenTree::Group(it) if it.delimiter() == Delimiter::Brace => {
            let tokens: Vec<TokenTree> = it.stream().into_iter().collect();
            let is_comma =
                |it: &TokenTree| matches!(it, TokenTree::Punct(it) if it.as_char() == ',');
            tokens.split(is_comma).filter_map(<[_]>::first).flat_map(first_names).collect()
        }
        _ => Vec::new(),
    }
}

fn lines(item: &syn::Item) -> usize {
    let span = item.span();
    1 + span.end().line - span.start().line
}

/// Notes functions that are too long.
struct Long<'a> {
    path: &'a str,
    problems: &'a mut Vec<String>,
}

impl Long<'_> {
    fn check(&mut self, signature: &syn::Signature, block: &syn::Block) {
        let start = signature.span().start().line;
        let lines = 1 + block.span().end().line - start;
        if MOST_LINES_IN_FUNCTIONS < lines {
            let (path, name) = (self.path, &signature.ident);
            self.problems.push(format!("src/{path}:{start}: `{name}` has {lines} lines"));
        }
    }
}

impl<'a> Visit<'a> for Long<'_> {
    fn visit_item_fn(&mut self, it: &'a syn::ItemFn) {
        self.check(&it.sig, &it.block);
        visit::visit_item_fn(self, it);
    }

    fn visit_impl_item_fn(&mut self, it: &'a syn::ImplItemFn) {
        self.check(&it.sig, &it.block);
        visit::visit_impl_item_fn(self, it);
    }
}
