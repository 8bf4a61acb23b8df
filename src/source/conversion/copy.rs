//! A new version of a kind, as a copy of the file that declares another one.

use std::ops::Range;

use proc_macro2::{TokenStream, TokenTree};
use quote::ToTokens as _;
use syn::{Attribute, Item, LitStr, Type};

use super::{
    Side,
    names::declared,
    types::{declares, strings},
};

/// The file of a kind with another version, in which no objects are stored.
///
/// # Errors
/// If the file does not declare the kind, or names modules beside it, which the new version does not have.
pub fn copy(from: &Side<'_>, group: &str, kind: &str, version: &str) -> Result<String, String> {
    let text = from.text;
    let file = syn::parse_file(text).map_err(|it| it.to_string())?;
    let home = ["crate", group, from.module];
    let own: Vec<String> = declared(&file).map(ToString::to_string).collect();
    let mut bound = Bound { home: &home, own: &own, found: None };
    bound.walk(file.to_token_stream(), &[], None);
    if let Some(why) = bound.found {
        return Err(why);
    }
    let declaring = file.items.iter().find_map(|it| match it {
        Item::Struct(it) => declares(it, kind).then_some(it),
        _ => None,
    });
    let declaring =
        declaring.ok_or_else(|| format!("no struct has `#[kube(…, kind = \"{kind}\", …)]`"))?;
    let is_kube = |it: &Attribute| it.path().is_ident("kube");
    let other = file.items.iter().find_map(|it| match it {
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
    let kube = declaring.attrs.iter().filter(|it| is_kube(it));
    for attribute in kube.clone() {
        edits.extend(without_end(attribute).into_iter().map(|it| (it, String::new())));
        for (name, range) in entries(attribute).1.into_iter().filter(|it| it.0 == "storage") {
            edits.push((range, format!("{name} = false")));
            has_storage = true;
        }
    }
    for (name, value) in kube.flat_map(strings) {
        if name == "version" {
            let range = value.span().byte_range();
            let line = text[..range.start].rfind('\n').map_or(0, |it| it + 1);
            let lead = &text[line..range.start];
            let indent: String = lead.chars().take_while(|it| it.is_whitespace()).collect();
            let is_alone = lead.trim_start().starts_with("version");
            let gap = if is_alone { format!("\n{indent}") } else { " ".to_owned() };
            let more = if has_storage { String::new() } else { format!(",{gap}storage = false") };
            edits.push((range, format!("\"{version}\"{more}")));
        }
    }
    edits.sort_by_key(|it| it.0.start);
    let mut res = text.to_owned();
    for (range, new) in edits.into_iter().rev() {
        res.replace_range(range, &new);
    }
    Ok(res)
}

/// The places of the commas of an attribute's list, and its items: the first word of each, and its place.
fn entries(attribute: &Attribute) -> (Vec<usize>, Vec<(String, Range<usize>)>) {
    let list = attribute.meta.require_list().ok().map(|it| it.tokens.clone());
    let tokens: Vec<TokenTree> = list.into_iter().flatten().collect();
    let is_comma = |it: &TokenTree| matches!(it, TokenTree::Punct(it) if it.as_char() == ',');
    let place = |it: &TokenTree| it.span().byte_range();
    let commas = tokens.iter().filter(|it| is_comma(it)).map(|it| place(it).start).collect();
    let entry = |it: &[TokenTree]| {
        let (first, last) = (it.first()?, it.last()?);
        Some((first.to_string(), place(first).start..place(last).end))
    };
    (commas, tokens.split(is_comma).filter_map(entry).collect())
}

/// What to remove from an attribute so that the version is served and not deprecated. With each item goes the comma before
/// it, or, if nothing before it stays, all up to the next item. So no two places overlap.
fn without_end(attribute: &Attribute) -> Vec<Range<usize>> {
    let (commas, entries) = entries(attribute);
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
struct Bound<'a> {
    /// The module of the file.
    home: &'a [&'a str],
    /// The names that the file declares.
    own: &'a [String],
    found: Option<String>,
}

impl Bound<'_> {
    /// `prefix` is the path before a group of a `use`.
    fn walk(&mut self, tokens: TokenStream, prefix: &[String], place: Option<usize>) {
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
                    self.check(&path, line);
                }
                TokenTree::Group(it) if colons == 2 => self.walk(it.stream(), &path, place),
                TokenTree::Group(it) => self.walk(it.stream(), &[], place),
                TokenTree::Literal(it) if path != ["doc"] => {
                    let text = syn::parse_str(&it.to_string()).map(|it: LitStr| it.value());
                    let code = text.ok().filter(|it| it.contains("::"));
                    let code = code.and_then(|it| syn::parse_str::<Type>(&it).ok());
                    code.into_iter()
                        .for_each(|it| self.walk(it.to_token_stream(), &[], Some(line)));
                }
                _ => {}
            }
            let last = path.last().map_or("", String::as_str);
            match punct {
                // The name of a file beside this one.
                '!' if ["include", "include_str", "include_bytes"].contains(&last) => {
                    self.find(beside(line));
                }
                '*' if colons == 2 && path == self.home => self.find(shared(&path, line)),
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

    fn check(&mut self, path: &[String], line: usize) {
        let last = path.last().map_or("", String::as_str);
        if last == "super" {
            self.find(beside(line));
        }
        let is_at_home = self.home.iter().zip(path).all(|(one, other)| one == other);
        if self.home.len() < path.len() && is_at_home && self.own.iter().any(|it| it == last) {
            self.find(shared(path, line));
        }
    }

    fn find(&mut self, why: String) {
        self.found.get_or_insert(why);
    }
}

fn beside(line: usize) -> String {
    format!("line {line} names a module beside its own, which a copy would not have")
}

fn shared(path: &[String], line: usize) -> String {
    let path = path.join("::");
    format!("line {line} names `{path}`, which both versions would share: name it without a path")
}

#[test]
fn only_the_version_changes() {
    let check = |before: &str, after: &str| {
        let text =
            |it: &str| format!("// a\n#[derive(CustomResource)]\n{it}\npub struct ASpec {{}}\n");
        let from = Side { module: "v1", text: &text(before) };
        assert_eq!(copy(&from, "g", "A", "v2"), Ok(text(after)));
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
    // A version that nobody is to use any more is no less a good beginning.
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
    let result = |text: &str| copy(&Side { module: "v1", text }, "g", "A", "v2");
    let error = |text: &str| result(text).expect_err("it is refused");
    assert_eq!(error(kube), "line 1 names a module beside its own, which a copy would not have");
    assert_eq!(
        error("\nuse super::a;"),
        "line 2 names a module beside its own, which a copy would not have"
    );
    assert_eq!(
        error("struct A {\n#[serde(default = \"super::b\")] a: u8 }"),
        "line 2 names a module beside its own, which a copy would not have"
    );
    let codes = [
        "const T: &str = include_str!(\"t\");",
        "fn a() { assert!(b(super::c())) }",
        "#[schemars(with = \"Vec<super::C>\")] struct B;",
        "use crate::g::{v2, v1::{self, super::B}};",
    ];
    for code in codes {
        assert!(error(&format!("struct A;\n{code}")).starts_with("line 2 names"), "{code}");
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
