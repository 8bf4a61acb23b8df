//! Macros that stand where items stand. They may define any name; this says which names they cannot.

use std::collections::BTreeSet;

use proc_macro2::{TokenStream, TokenTree};
use syn::spanned::Spanned as _;

use super::world::plain;
use crate::model::SourcePath;

/// Macros that define no type, whatever they are given.
const TAME: &[&str] = &[
    "assert",
    "const_assert",
    "lazy_static",
    "task_local",
    "thread_local",
    "static_assertions",
    "vec",
    "format",
    "println",
    "eprintln",
    "write",
    "writeln",
    "matches",
    "json",
    "panic",
    "concat",
    "stringify",
    "assert_eq",
    "debug_assert",
    "todo",
    "unimplemented",
    "unreachable",
    "line",
    "file",
    "column",
    "module_path",
    "env",
    "option_env",
    "cfg",
    "bail",
    "anyhow",
];

pub struct Macro {
    /// Its last name; none for `macro_rules!`, which only defines.
    called: Option<String>,
    /// What `macro_rules!` defines.
    defines: Option<String>,
    words: BTreeSet<String>,
    calls: BTreeSet<String>,
    /// Why it could not be opened.
    why: Option<String>,
    /// It stands on an item as an attribute.
    attribute: bool,
    pub span: proc_macro2::Span,
}

impl Macro {
    pub fn new(item: &syn::ItemMacro) -> Self {
        let mut res = Self {
            called: None,
            defines: item.ident.as_ref().map(plain),
            words: BTreeSet::new(),
            calls: BTreeSet::new(),
            why: None,
            attribute: false,
            span: item.mac.path.span(),
        };
        if res.defines.is_none() {
            res.called = item.mac.path.segments.last().map(|it| plain(&it.ident));
        }
        words(item.mac.tokens.clone(), &mut res.words, &mut res.calls);
        res
    }

    /// An attribute macro, and the item that it may make anything of.
    pub fn attribute(path: &syn::Path, item: &impl quote::ToTokens) -> Self {
        let mut res = Self {
            called: Some(super::types::text(path)),
            defines: None,
            words: BTreeSet::new(),
            calls: BTreeSet::new(),
            why: None,
            attribute: true,
            span: path.span(),
        };
        words(item.to_token_stream(), &mut res.words, &mut res.calls);
        res
    }

    /// Whether this may define `name`. `others` is every macro of the crate.
    pub fn may_define(&self, name: &str, others: &[&Self]) -> bool {
        let Some(called) = &self.called else { return false };
        if self.attribute {
            // What it makes has names of its own, not those of the language.
            return self.words.contains(name) && super::foreign::prelude(name).is_none();
        }
        if TAME.contains(&called.as_str()) {
            return false;
        }
        if self.words.contains(name) {
            return true;
        }
        let definitions: Vec<_> =
            others.iter().filter(|it| it.defines.as_ref() == Some(called)).collect();
        let closed = |it: &&&Self| {
            let calls = it.calls.iter().chain(&self.calls);
            !it.words.contains(name) && calls.into_iter().all(|it| TAME.contains(&it.as_str()))
        };
        definitions.is_empty() || !definitions.iter().all(closed)
    }

    /// The macro as it is written, where it may declare kinds that are written nowhere else.
    pub fn maker(&self) -> Option<String> {
        let called = self.called.as_ref()?;
        let named = self.words.contains("CustomResource") && !TAME.contains(&called.as_str());
        // Of attributes it is told where they stand.
        (named && !self.attribute).then(|| format!("{called}!"))
    }

    /// Whether this may make an `impl` for a type of this name.
    pub fn may_be_for(&self, name: &str) -> bool {
        self.called.is_some() && (self.words.contains(name) || self.why.is_some())
    }

    pub fn because(self, error: &syn::Error) -> Self {
        Self { why: Some(error.to_string()), ..self }
    }

    /// That it may define a name, and why that is not known.
    pub fn doubt(&self, file: &SourcePath) -> String {
        let name = self.called.as_deref().unwrap_or("macro_rules");
        let name = if self.attribute { format!("#[{name}]") } else { format!("{name}!") };
        match &self.why {
            Some(why) => format!("`{name}` in {file} may define it, which cannot be read: {why}"),
            None => format!("`{name}` in {file} may define it"),
        }
    }

    /// Whether it is `macro_rules!` for this name.
    pub fn defines(&self, name: &str) -> bool {
        self.defines.as_deref() == Some(name)
    }
}

fn words(tokens: TokenStream, words_: &mut BTreeSet<String>, calls: &mut BTreeSet<String>) {
    let mut before: Option<String> = None;
    for token in tokens {
        match token {
            TokenTree::Ident(ident) => {
                let word = plain(&ident);
                words_.insert(word.clone());
                before = Some(word);
            }
            TokenTree::Punct(it) if it.as_char() == '!' => calls.extend(before.take()),
            TokenTree::Group(group) => {
                words(group.stream(), words_, calls);
                before = None;
            }
            // An attribute may be told a name in quotes.
            TokenTree::Literal(it) => {
                words_.insert(it.to_string().trim_matches('"').to_owned());
                before = None;
            }
            _ => before = None,
        }
    }
}
