//! A new version of a kind, as a copy of the file that declares another one.

use std::ops::Range;

use proc_macro2::TokenTree;
use syn::{Attribute, Item, spanned::Spanned as _, visit::Visit};

use super::types::{declares, strings};

/// The file of a kind with another version, in which no objects are stored.
///
/// # Errors
/// If the file does not declare the kind, or names modules beside it, which the new version does not have.
pub fn copy(text: &str, kind: &str, version: &str) -> Result<String, String> {
    let file = syn::parse_file(text).map_err(|it| it.to_string())?;
    let mut relative = Relative(None);
    relative.visit_file(&file);
    if let Some(line) = relative.0 {
        return Err(format!(
            "line {line} names a module beside its own, which a copy would not have"
        ));
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

/// The line of the first path that begins with `super`.
struct Relative(Option<usize>);

impl<'ast> Visit<'ast> for Relative {
    fn visit_path(&mut self, it: &'ast syn::Path) {
        let first = it.segments.first();
        if first.is_some_and(|it| it.ident == "super") {
            self.0 = self.0.or(Some(it.span().start().line));
        }
        syn::visit::visit_path(self, it);
    }

    /// serde and others name functions in texts.
    fn visit_attribute(&mut self, it: &'ast Attribute) {
        let names = strings(it).into_iter().find(|it| it.1.value().starts_with("super::"));
        if let Some((_, text)) = names.filter(|_| !it.path().is_ident("doc")) {
            self.0 = self.0.or(Some(text.span().start().line));
        }
    }

    /// What a macro gets may be code, or the name of a file beside this one.
    fn visit_macro(&mut self, it: &'ast syn::Macro) {
        let name = it.path.segments.last().map(|it| it.ident.to_string()).unwrap_or_default();
        if ["include", "include_str", "include_bytes"].contains(&&*name) {
            self.0 = self.0.or(Some(it.span().start().line));
        }
        let mut groups = vec![it.tokens.clone()];
        while let Some(tokens) = groups.pop() {
            for token in tokens {
                match token {
                    TokenTree::Ident(it) if it == "super" => {
                        self.0 = self.0.or(Some(it.span().start().line));
                    }
                    TokenTree::Group(it) => groups.push(it.stream()),
                    _ => {}
                }
            }
        }
        syn::visit::visit_macro(self, it);
    }

    fn visit_use_path(&mut self, it: &'ast syn::UsePath) {
        if it.ident == "super" {
            self.0 = self.0.or(Some(it.ident.span().start().line));
        }
        syn::visit::visit_use_path(self, it);
    }
}

#[test]
fn only_the_version_changes() {
    let check = |before: &str, after: &str| {
        let text =
            |it: &str| format!("// a\n#[derive(CustomResource)]\n{it}\npub struct ASpec {{}}\n");
        assert_eq!(copy(&text(before), "A", "v2"), Ok(text(after)));
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
    let error = |text: &str| copy(text, "A", "v2").expect_err("it is refused");
    assert_eq!(error(kube), "line 1 names a module beside its own, which a copy would not have");
    assert_eq!(
        error("\nuse super::a;"),
        "line 2 names a module beside its own, which a copy would not have"
    );
    assert_eq!(
        error("struct A {\n#[serde(default = \"super::b\")] a: u8 }"),
        "line 2 names a module beside its own, which a copy would not have"
    );
    for code in ["const T: &str = include_str!(\"t\");", "fn a() { assert!(b(super::c())) }"] {
        assert!(error(&format!("struct A;\n{code}")).starts_with("line 2 names"), "{code}");
    }
    let two = "#[kube(kind = \"A\", version = \"v1\")] struct A {} #[kube(kind = \"B\", version = \"v1\")] struct B {}";
    assert_eq!(error(two), "`B` in the same file belongs to another kind");
    assert_eq!(error("struct A;"), "no struct has `#[kube(…, kind = \"A\", …)]`");
}
