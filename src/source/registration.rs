//! The webhooks that an operator serves. `create webhook` registers them in one place: the `vec![…]` that `all()` of
//! src/webhook/mod.rs returns. Only what is there is served for certain; the same calls anywhere else are problems.

use std::collections::BTreeMap;

use proc_macro2::{Delimiter, Ident, LineColumn, Span, TokenStream, TokenTree};
use syn::{
    Expr, ExprCall, File, GenericArgument, Item, ItemFn, ItemUse, Path, PathArguments, Stmt, Token,
    Type, UseTree, parse::Parser as _, punctuated::Punctuated,
};

use super::library::is_conditional;
use crate::project::{ConversionRegistration, Place, Problem, Registration, SourcePath};

/// The file that registers the webhooks.
pub const FILE: &str = "src/webhook/mod.rs";

const FUNCTION: &str = "all";

/// The crate that serves webhooks, by its names in code.
const RUNTIME: [&str; 2] = ["runtime", "operator_rs_runtime"];

/// The functions of the runtime that register a webhook.
const CALLS: [(&str, RegisteringCall); 4] = [
    ("mutating_webhook", RegisteringCall::Admission { mutating: true }),
    ("validating_webhook", RegisteringCall::Admission { mutating: false }),
    ("conversion_webhook", RegisteringCall::Conversion { lossless: false }),
    ("lossless_conversion_webhook", RegisteringCall::Conversion { lossless: true }),
];

#[derive(Clone, Copy)]
enum RegisteringCall {
    Admission { mutating: bool },
    Conversion { lossless: bool },
}

/// The webhooks and conversions that the code of a file registers.
#[derive(Default)]
pub struct Registrations {
    pub admission: Vec<Registration>,
    pub conversions: Vec<ConversionRegistration>,
    pub problems: Vec<Problem>,
}

/// Returns the registrations of a file, which are problems outside of [`FILE`].
pub fn read_registrations(path: &SourcePath, text: &str) -> Registrations {
    let mut res = Registrations::default();
    let has = |registration: &str| text.contains(registration);
    if !CALLS.iter().any(|pair| has(pair.0)) || !RUNTIME.iter().any(|text| has(text)) {
        return res;
    }
    // The reader of kinds reports what is not Rust.
    let Ok(file) = syn::parse_file(text) else { return res };
    let tokens = text.parse::<TokenStream>().unwrap_or_default();
    let mut imports = Imports::default();
    imports.read_imports(tokens.clone());
    let mut known = Vec::new();
    if path.as_str() == FILE {
        for call in elements_of_returned_vec(file) {
            known.extend(res.read_element(path, &imports, &call).map(|span| span.start()));
        }
    }
    for span in imports.registering_spans(tokens) {
        let start = span.start();
        if !known.contains(&start) {
            let message = "whether this webhook is served cannot be known";
            let hint = format!(
                "register it in {FILE}, in the `vec![…]` that `{FUNCTION}()` returns at its end"
            );
            res.problems.push(Problem::new(place_at(path, start), message).with_hint(hint));
        }
    }
    res
}

impl Registrations {
    /// Reads an element of the list. Returns the name of the function, if it registers a webhook.
    fn read_element(
        &mut self,
        path: &SourcePath,
        imports: &Imports,
        it: &ExprCall,
    ) -> Option<Span> {
        let Expr::Path(function) = &*it.func else { return None };
        let call = imports.registering_call(&segment_names(&function.path))?;
        let last = function.path.segments.last()?;
        let at = place_at(path, last.ident.span().start());
        if is_conditional(it.attrs.iter().chain(&function.attrs)) {
            let message = "whether this webhook is served depends on `#[cfg(…)]`, and API servers call it in any case";
            self.problems.push(Problem::new(at.clone(), message).with_hint(
                "remove the `#[cfg(…)]`; what depends on it can be decided in the code of the webhook",
            ));
        }
        match call {
            RegisteringCall::Admission { mutating } => {
                let first = it.args.first()?;
                let at = place_at(path, syn::spanned::Spanned::span(first).start());
                match string_literal(first) {
                    Some(path) => self.admission.push(Registration { place: at, mutating, path }),
                    None => self.problems.push(
                        Problem::new(at, "the path of this webhook is not a string literal")
                            .with_hint("write a string literal, so that it can be compared with the +kubebuilder:webhook comments"),
                    ),
                }
            }
            RegisteringCall::Conversion { lossless } => match type_arguments(&last.arguments, imports) {
                Some([hub, spoke]) => self.conversions.push(ConversionRegistration {
                    place: at,
                    lossless,
                    hub,
                    spoke,
                }),
                None => self.problems.push(
                    Problem::new(at, "the two versions of this conversion are not written here")
                        .with_hint("write them, as `operator_rs_runtime::conversion_webhook::<api::cache::v1::Memcached, api::cache::v1alpha1::Memcached>()`"),
                ),
            },
        }
        Some(last.ident.span())
    }
}

/// Returns the calls in the list that the function returns. There are none if it may return another one.
fn elements_of_returned_vec(file: File) -> Vec<ExprCall> {
    let is_it = |item: Item| match item {
        Item::Fn(it) if it.sig.ident == FUNCTION => Some(it),
        _ => None,
    };
    let functions: Vec<ItemFn> = file.items.into_iter().filter_map(is_it).collect();
    let [function] = &functions[..] else { return Vec::new() };
    let list = match function.block.stmts.last() {
        Some(Stmt::Expr(Expr::Macro(it), None)) => &it.mac,
        Some(Stmt::Macro(it)) if it.semi_token.is_none() => &it.mac,
        _ => return Vec::new(),
    };
    let returns_early = |it: &Stmt| {
        let tokens = quote::ToTokens::to_token_stream(it);
        any_token(tokens, &|it| matches!(it, TokenTree::Ident(it) if it == "return"))
    };
    if is_conditional(&function.attrs)
        || !list.path.is_ident("vec")
        || function.block.stmts.iter().any(returns_early)
    {
        return Vec::new();
    }
    let elements = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(list.tokens.clone());
    let call = |it| if let Expr::Call(it) = it { Some(it) } else { None };
    elements.into_iter().flatten().filter_map(call).collect()
}

/// The names that a file imports, wherever it does, with the paths that they stand for.
#[derive(Default)]
struct Imports {
    names: BTreeMap<String, Vec<String>>,
    /// True if all names of the runtime are imported.
    runtime: bool,
}

impl Imports {
    fn read_imports(&mut self, tokens: TokenStream) {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in all.iter().enumerate() {
            match token {
                TokenTree::Group(it) => self.read_imports(it.stream()),
                TokenTree::Ident(it) if it == "use" => {
                    let import = all[at..=statement_end(&all, at)].iter().cloned().collect();
                    if let Ok(it) = syn::parse2::<ItemUse>(import) {
                        self.add_import(&it.tree, &[]);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_import(&mut self, tree: &UseTree, before: &[String]) {
        let with = |ident: &Ident| [before, &[ident.to_string()]].concat();
        let path = |ident: &Ident| if ident == "self" { before.to_vec() } else { with(ident) };
        match tree {
            UseTree::Path(it) => self.add_import(&it.tree, &with(&it.ident)),
            UseTree::Name(it) => {
                let path = path(&it.ident);
                self.names.extend(path.last().cloned().map(|name| (name, path)));
            }
            UseTree::Rename(it) => {
                self.names.insert(it.rename.to_string(), path(&it.ident));
            }
            UseTree::Group(it) => it.items.iter().for_each(|item| self.add_import(item, before)),
            UseTree::Glob(_) => {
                self.runtime |= matches!(before, [only] if RUNTIME.contains(&&**only));
            }
        }
    }

    /// Returns a path as it is without imports.
    fn resolve_path(&self, path: &[String]) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        match self.names.get(first) {
            // A name may stand for a path that begins with the same name.
            Some(imported) => [imported, rest].concat(),
            None => path.to_vec(),
        }
    }

    /// Returns what a function registers.
    fn registering_call(&self, path: &[String]) -> Option<RegisteringCall> {
        let path = self.resolve_path(path);
        let name = match &path[..] {
            [.., krate, name] if RUNTIME.contains(&&**krate) => name,
            [name] if self.runtime => name,
            _ => return None,
        };
        CALLS.iter().find(|pair| pair.0 == name).map(|pair| pair.1)
    }

    /// Returns the places where code names a function that registers a webhook, other than in imports and tests.
    fn registering_spans(&self, tokens: TokenStream) -> Vec<Span> {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let mut spans = Vec::new();
        let mut at = 0;
        while at < all.len() {
            match &all[at] {
                TokenTree::Punct(_) if is_cfg_test(&all[at..]) => {
                    at += 2 + item_length(&all[at + 2..]);
                    continue;
                }
                TokenTree::Ident(it) if it == "use" => at = statement_end(&all, at),
                TokenTree::Ident(name) => {
                    spans.extend(self.registering_path(&all, at).map(|_| name.span()))
                }
                TokenTree::Group(it) => spans.extend(self.registering_spans(it.stream())),
                _ => {}
            }
            at += 1;
        }
        spans
    }

    /// Returns what the path that ends here registers.
    fn registering_path(&self, all: &[TokenTree], at: usize) -> Option<RegisteringCall> {
        if is_joined(all, at + 1) && matches!(all.get(at + 3), Some(TokenTree::Ident(_))) {
            return None;
        }
        let mut start = at;
        while start >= 3
            && is_joined(all, start - 2)
            && matches!(all[start - 3], TokenTree::Ident(_))
        {
            start -= 3;
        }
        let path: Vec<String> = all[start..=at]
            .iter()
            .filter(|token| !is_sign(token, ':'))
            .map(ToString::to_string)
            .collect();
        // A name alone may be that of something else.
        let is_other = |token: &TokenTree| {
            is_sign(token, '.') || is_sign(token, ':') || token.to_string() == "fn"
        };
        let is_call = match all.get(at + 1) {
            Some(TokenTree::Group(it)) => it.delimiter() == Delimiter::Parenthesis,
            _ => is_joined(all, at + 1),
        };
        let before = start.checked_sub(1).map(|index| &all[index]);
        let is_function = path.len() > 1 || is_call && !before.is_some_and(is_other);
        self.registering_call(&path).filter(|_| is_function)
    }
}

/// Returns whether there is `::`.
fn is_joined(tokens: &[TokenTree], at: usize) -> bool {
    tokens.get(at..at + 2).is_some_and(|token| token.iter().all(|token| is_sign(token, ':')))
}

/// Returns where the statement that begins there ends.
fn statement_end(tokens: &[TokenTree], at: usize) -> usize {
    let rest = tokens[at..].iter();
    rest.take_while(|token| !is_sign(token, ';')).count().min(tokens.len() - at - 1) + at
}

/// Returns whether the tokens begin with `#[cfg(test)]`.
fn is_cfg_test(tokens: &[TokenTree]) -> bool {
    let [first, TokenTree::Group(group), ..] = tokens else { return false };
    is_sign(first, '#') && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// Returns the number of tokens of the item that they begin with.
fn item_length(tokens: &[TokenTree]) -> usize {
    let is_end = |token: &TokenTree| match token {
        TokenTree::Group(it) => it.delimiter() == Delimiter::Brace,
        it => is_sign(it, ';'),
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |token| token + 1)
}

fn any_token(tokens: TokenStream, is_it: &dyn Fn(&TokenTree) -> bool) -> bool {
    tokens.into_iter().any(|token| match &token {
        TokenTree::Group(group) => any_token(group.stream(), is_it),
        other => is_it(other),
    })
}

fn is_sign(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == sign)
}

fn place_at(path: &SourcePath, start: LineColumn) -> Place {
    Place { path: path.clone(), line: start.line, column: start.column + 1 }
}

fn segment_names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|segment| segment.ident.to_string()).collect()
}

/// Returns the paths of the two types that a function is called with.
fn type_arguments(arguments: &PathArguments, imports: &Imports) -> Option<[Vec<String>; 2]> {
    let PathArguments::AngleBracketed(types) = arguments else { return None };
    let path = |argument: &GenericArgument| match argument {
        GenericArgument::Type(Type::Path(argument)) => {
            Some(imports.resolve_path(&segment_names(&argument.path)))
        }
        _ => None,
    };
    types.args.iter().filter_map(path).collect::<Vec<_>>().try_into().ok()
}

fn string_literal(it: &Expr) -> Option<String> {
    match it {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) => Some(it.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
