//! A new version of a kind, as a copy of the file that declares another one.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, LitStr, Type};

use super::{
    VersionSource,
    names::declared_names,
    types::{declares_kind, string_items},
};

/// Returns the file of a kind with another version, in which no objects are stored.
///
/// # Errors
/// If the file does not declare the kind, or names modules of its folder, which the new version does not have.
pub fn copy_version(
    from: &VersionSource<'_>,
    group: &str,
    kind: &str,
    version: &str,
) -> Result<String, String> {
    let text = from.text;
    let file = syn::parse_file(text).map_err(|error| error.to_string())?;
    let home = ["crate", group, from.module];
    let own: Vec<String> = declared_names(&file).map(ToString::to_string).collect();
    let mut bound = ModulePathFinder { home: &home, own: &own, found: None };
    bound.walk_tokens(file.to_token_stream(), &[], None);
    if let Some(why) = bound.found {
        return Err(why);
    }
    let declaring = file.items.iter().find_map(|item| match item {
        Item::Struct(it) => declares_kind(it, kind).then_some(it),
        _ => None,
    });
    let declaring =
        declaring.ok_or_else(|| format!("no struct has `#[kube(…, kind = \"{kind}\", …)]`"))?;
    let is_kube = |attribute: &Attribute| attribute.path().is_ident("kube");
    let other = file.items.iter().find_map(|item| match item {
        Item::Struct(it) if it.ident != declaring.ident && it.attrs.iter().any(is_kube) => {
            Some(&it.ident)
        }
        _ => None,
    });
    if let Some(other) = other {
        return Err(format!("`{other}` in the same file belongs to another kind"));
    }
    let mut edits = Vec::new();
    let mut has_storage = false;
    let kube = declaring.attrs.iter().filter(|attribute| is_kube(attribute));
    for attribute in kube.clone() {
        edits.extend(removed_ranges(attribute).into_iter().map(|range| (range, String::new())));
        for (name, range) in
            attribute_entries(attribute).1.into_iter().filter(|pair| pair.0 == "storage")
        {
            edits.push((range, format!("{name} = false")));
            has_storage = true;
        }
    }
    for (name, value) in kube.flat_map(string_items) {
        if name == "version" {
            let range = value.span().byte_range();
            let line = text[..range.start].rfind('\n').map_or(0, |index| index + 1);
            let lead = &text[line..range.start];
            let indent: String = lead.chars().take_while(|c| c.is_whitespace()).collect();
            let is_alone = lead.trim_start().starts_with("version");
            let gap = if is_alone { format!("\n{indent}") } else { " ".to_owned() };
            let more = if has_storage { String::new() } else { format!(",{gap}storage = false") };
            edits.push((range, format!("\"{version}\"{more}")));
        }
    }
    edits.sort_by_key(|pair| pair.0.start);
    let mut output = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        output.replace_range(range, &new);
    }
    Ok(output)
}

/// Returns the places of the commas of an attribute's list, and its items: the first word of each, and its place.
fn attribute_entries(attribute: &Attribute) -> (Vec<usize>, Vec<(String, Range<usize>)>) {
    let list = attribute.meta.require_list().ok().map(|list| list.tokens.clone());
    let tokens: Vec<TokenTree> = list.into_iter().flatten().collect();
    let is_comma = |token: &TokenTree| matches!(token, TokenTree::Punct(it) if it.as_char() == ',');
    let place = |token: &TokenTree| token.span().byte_range();
    let commas =
        tokens.iter().filter(|token| is_comma(token)).map(|token| place(token).start).collect();
    let entry = |token: &[TokenTree]| {
        let (first, last) = (token.first()?, token.last()?);
        Some((first.to_string(), place(first).start..place(last).end))
    };
    (commas, tokens.split(is_comma).filter_map(entry).collect())
}

/// Returns the ranges to remove from an attribute so that the version is served and not deprecated. With each item goes
/// the comma before it, or, if nothing before it stays, all up to the next item. So no two places overlap.
fn removed_ranges(attribute: &Attribute) -> Vec<Range<usize>> {
    let (commas, entries) = attribute_entries(attribute);
    let (mut res, mut stays_before) = (Vec::new(), false);
    for (at, (name, range)) in entries.iter().enumerate() {
        if !["served", "deprecated"].contains(&name.as_str()) {
            stays_before = true;
            continue;
        }
        res.push(match (stays_before, entries.get(at + 1)) {
            (true, _) => commas[at - 1]..range.end,
            (false, Some((_, next))) => range.start..next.start,
            (false, None) => range.clone(),
        });
    }
    res
}

/// Looks for the first path that leads to another place from another module, in code and in the texts that serde and others
/// take for code.
struct ModulePathFinder<'a> {
    /// The module of the file.
    home: &'a [&'a str],
    /// The names that the file declares.
    own: &'a [String],
    found: Option<String>,
}

impl ModulePathFinder<'_> {
    /// `prefix` is the path before a group of a `use`.
    fn walk_tokens(&mut self, tokens: TokenStream, prefix: &[String], place: Option<usize>) {
        let (mut path, mut colons) = (prefix.to_vec(), 2);
        for token in tokens {
            let line = place.unwrap_or_else(|| token.span().start().line);
            let punct = match &token {
                TokenTree::Punct(it) => it.as_char(),
                _ => ' ',
            };
            match token {
                TokenTree::Ident(it) => {
                    path.truncate(if colons == 2 { path.len() } else { 0 });
                    path.push(it.to_string());
                    self.check_path(&path, line);
                }
                TokenTree::Group(it) if colons == 2 => self.walk_tokens(it.stream(), &path, place),
                TokenTree::Group(it) => self.walk_tokens(it.stream(), &[], place),
                TokenTree::Literal(it) if path != ["doc"] => {
                    let text =
                        syn::parse_str(&it.to_string()).map(|literal: LitStr| literal.value());
                    let code = text.ok().filter(|text| text.contains("::"));
                    let code = code.and_then(|code| syn::parse_str::<Type>(&code).ok());
                    code.into_iter()
                        .for_each(|ty| self.walk_tokens(ty.to_token_stream(), &[], Some(line)));
                }
                _ => {}
            }
            let last = path.last().map_or("", String::as_str);
            match punct {
                // The name of a file beside this one.
                '!' if ["include", "include_str", "include_bytes"].contains(&last) => {
                    self.set_reason(sibling_reason(line));
                }
                '*' if colons == 2 && path == self.home => {
                    self.set_reason(shared_reason(&path, line))
                }
                ',' => path = prefix.to_vec(),
                '=' | ':' | ' ' => {}
                _ => path.clear(),
            }
            colons = match punct {
                ':' => colons % 2 + 1,
                ',' => 2,
                _ => 0,
            };
        }
    }

    fn check_path(&mut self, path: &[String], line: usize) {
        let last = path.last().map_or("", String::as_str);
        if last == "super" {
            self.set_reason(sibling_reason(line));
        }
        let is_at_home = self.home.iter().zip(path).all(|(one, other)| one == other);
        if self.home.len() < path.len() && is_at_home && self.own.iter().any(|name| name == last) {
            self.set_reason(shared_reason(path, line));
        }
    }

    fn set_reason(&mut self, why: String) {
        self.found.get_or_insert(why);
    }
}

fn sibling_reason(line: usize) -> String {
    format!("line {line} refers to a sibling module, which the copy cannot reach")
}

fn shared_reason(path: &[String], line: usize) -> String {
    let path = path.join("::");
    format!("line {line} names `{path}`, which both versions would share: name it without a path")
}

#[test]
fn only_the_version_changes() {
    let check = |before: &str, after: &str| {
        let text = |line: &str| {
            format!("// a\n#[derive(CustomResource)]\n{line}\npub struct ASpec {{}}\n")
        };
        let from = VersionSource { module: "v1", text: &text(before) };
        assert_eq!(copy_version(&from, "g", "A", "v2"), Ok(text(after)));
    };
    check(
        "#[kube(\n    group = \"g\",\n    version = \"v1\",\n    kind = \"A\",\n    doc = \"v1\"\n)]",
        "#[kube(\n    group = \"g\",\n    version = \"v2\",\n    storage = false,\n    kind = \"A\",\n    doc = \"v1\"\n)]",
    );
    check(
        "#[kube(group = \"g\", version = \"v1\", kind = \"A\")]\n#[kube(storage)]",
        "#[kube(group = \"g\", version = \"v2\", kind = \"A\")]\n#[kube(storage = false)]",
    );
    check(
        "#[kube(kind = \"A\", storage = true, version = \"v1\")]",
        "#[kube(kind = \"A\", storage = false, version = \"v2\")]",
    );
    // A deprecated version can be copied, too.
    check(
        "#[kube(\n    kind = \"A\",\n    served = false,\n    version = \"v1\",\n    deprecated = \"old\",\n)]",
        "#[kube(\n    kind = \"A\",\n    version = \"v2\",\n    storage = false,\n)]",
    );
    check(
        "#[kube(kind = \"A\", version = \"v1\", served = false, deprecated = \"ö\")]",
        "#[kube(kind = \"A\", version = \"v2\", storage = false)]",
    );
    check(
        "#[kube(served = false, deprecated, kind = \"A\", version = \"v1\")]",
        "#[kube(kind = \"A\", version = \"v2\", storage = false)]",
    );
    check(
        "#[kube(kind = \"A\", version = \"v1\", storage, deprecated)]",
        "#[kube(kind = \"A\", version = \"v2\", storage = false)]",
    );
    check(
        "#[kube(kind = \"A\", version = \"v1\")]",
        "#[kube(kind = \"A\", version = \"v2\", storage = false)]",
    );
}

#[test]
fn a_file_that_cannot_be_copied_is_refused() {
    let kube = "#[kube(kind = \"A\", version = \"v1\")] struct A { a: super::B }";
    let result = |text: &str| copy_version(&VersionSource { module: "v1", text }, "g", "A", "v2");
    let error = |text: &str| result(text).expect_err("it is refused");
    assert_eq!(error(kube), "line 1 refers to a sibling module, which the copy cannot reach");
    assert_eq!(
        error("\nuse super::a;"),
        "line 2 refers to a sibling module, which the copy cannot reach"
    );
    assert_eq!(
        error("struct A {\n#[serde(default = \"super::b\")] a: u8 }"),
        "line 2 refers to a sibling module, which the copy cannot reach"
    );
    let codes = [
        "const T: &str = include_str!(\"t\");",
        "fn a() { assert!(b(super::c())) }",
        "#[schemars(with = \"Vec<super::C>\")] struct B;",
        "use crate::g::{v2, v1::{self, super::B}};",
    ];
    for code in codes {
        assert!(error(&format!("struct A;\n{code}")).starts_with("line 2 refers"), "{code}");
    }
    for (code, path) in [
        ("struct B(crate::g::v1::A);", "crate::g::v1::A"),
        ("#[kube(status = \"crate::g::v1::a::A\")] struct B;", "crate::g::v1::a::A"),
        ("use crate::g::{self, v1::{C, A as D}};", "crate::g::v1::A"),
        ("use crate::g::v1::*;", "crate::g::v1"),
    ] {
        let why = format!(
            "line 2 names `{path}`, which both versions would share: name it without a path"
        );
        assert_eq!(error(&format!("struct A;\n{code}")), why, "{code}");
    }
    for code in [
        "/// super::b\nstruct B;",
        "const B: &str = \"super\";",
        "use crate::g::v2::A as B;",
        "use crate::{g::v1::{B, C}, h::v1::A as D};",
        "struct B(crate::g::v1::C, crate::h::A, self::A, k::v1::A);",
    ] {
        let text = format!("#[kube(kind = \"A\", version = \"v1\")] struct A {{}}\n{code}");
        assert!(result(&text).is_ok(), "{code}: {:?}", result(&text));
    }
    let two = "#[kube(kind = \"A\", version = \"v1\")] struct A {} #[kube(kind = \"B\", version = \"v1\")] struct B {}";
    assert_eq!(error(two), "`B` in the same file belongs to another kind");
    assert_eq!(error("struct A;"), "no struct has `#[kube(…, kind = \"A\", …)]`");
}
