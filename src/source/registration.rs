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
const CALLS: [(&str, Call); 4] = [
    ("mutating_webhook", Call::Admission { mutating: true }),
    ("validating_webhook", Call::Admission { mutating: false }),
    ("conversion_webhook", Call::Conversion { lossless: false }),
    ("lossless_conversion_webhook", Call::Conversion { lossless: true }),
];

#[derive(Clone, Copy)]
enum Call {
    Admission { mutating: bool },
    Conversion { lossless: bool },
}

/// What the code of a file registers.
#[derive(Default)]
pub struct Registrations {
    pub admission: Vec<Registration>,
    pub conversions: Vec<ConversionRegistration>,
    pub problems: Vec<Problem>,
}

/// The registrations of a file, which are problems outside of [`FILE`].
pub fn registrations(path: &SourcePath, text: &str) -> Registrations {
    let mut res = Registrations::default();
    let has = |it: &str| text.contains(it);
    if !CALLS.iter().any(|it| has(it.0)) || !RUNTIME.iter().any(|it| has(it)) {
        return res;
    }
    // The reader of kinds reports what is not Rust.
    let Ok(file) = syn::parse_file(text) else { return res };
    let tokens = text.parse::<TokenStream>().unwrap_or_default();
    let mut imports = Imports::default();
    imports.read(tokens.clone());
    let mut known = Vec::new();
    if path.as_str() == FILE {
        for call in returned(file) {
            known.extend(res.read(path, &imports, &call).map(|it| it.start()));
        }
    }
    for span in imports.calls(tokens) {
        let start = span.start();
        if !known.contains(&start) {
            let message = "whether this webhook is served cannot be known";
            let hint = format!(
                "register it in {FILE}, in the `vec![…]` that `{FUNCTION}()` returns at its end"
            );
            res.problems.push(Problem::new(place(path, start), message).with_hint(hint));
        }
    }
    res
}

impl Registrations {
    /// Reads an element of the list. Returns the name of the function, if it registers a webhook.
    fn read(&mut self, path: &SourcePath, imports: &Imports, it: &ExprCall) -> Option<Span> {
        let Expr::Path(function) = &*it.func else { return None };
        let call = imports.call(&names(&function.path))?;
        let last = function.path.segments.last()?;
        let at = place(path, last.ident.span().start());
        if is_conditional(it.attrs.iter().chain(&function.attrs)) {
            let message = "whether this webhook is served depends on `#[cfg(…)]`, and API servers call it in any case";
            self.problems.push(Problem::new(at.clone(), message).with_hint(
                "remove the `#[cfg(…)]`; what depends on it can be decided in the code of the webhook",
            ));
        }
        match call {
            Call::Admission { mutating } => {
                let first = it.args.first()?;
                let at = place(path, syn::spanned::Spanned::span(first).start());
                match literal(first) {
                    Some(path) => self.admission.push(Registration { place: at, mutating, path }),
                    None => self.problems.push(
                        Problem::new(at, "the path of this webhook is not a string literal")
                            .with_hint("write a string literal, so that it can be compared with the +kubebuilder:webhook comments"),
                    ),
                }
            }
            Call::Conversion { lossless } => match types(&last.arguments, imports) {
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

/// The calls in the list that the function returns. There are none if it may return another one.
fn returned(file: File) -> Vec<ExprCall> {
    let is_it = |it: Item| match it {
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
        any(tokens, &|it| matches!(it, TokenTree::Ident(it) if it == "return"))
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
    /// Whether all names of the runtime are imported.
    runtime: bool,
}

impl Imports {
    fn read(&mut self, tokens: TokenStream) {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        for (at, token) in all.iter().enumerate() {
            match token {
                TokenTree::Group(it) => self.read(it.stream()),
                TokenTree::Ident(it) if it == "use" => {
                    let import = all[at..=end(&all, at)].iter().cloned().collect();
                    if let Ok(it) = syn::parse2::<ItemUse>(import) {
                        self.add(&it.tree, &[]);
                    }
                }
                _ => {}
            }
        }
    }

    fn add(&mut self, tree: &UseTree, before: &[String]) {
        let with = |it: &Ident| [before, &[it.to_string()]].concat();
        let path = |it: &Ident| if it == "self" { before.to_vec() } else { with(it) };
        match tree {
            UseTree::Path(it) => self.add(&it.tree, &with(&it.ident)),
            UseTree::Name(it) => {
                let path = path(&it.ident);
                self.names.extend(path.last().cloned().map(|name| (name, path)));
            }
            UseTree::Rename(it) => {
                self.names.insert(it.rename.to_string(), path(&it.ident));
            }
            UseTree::Group(it) => it.items.iter().for_each(|it| self.add(it, before)),
            UseTree::Glob(_) => {
                self.runtime |= matches!(before, [only] if RUNTIME.contains(&&**only));
            }
        }
    }

    /// A path as it is without imports.
    fn resolve(&self, path: &[String]) -> Vec<String> {
        let Some((first, rest)) = path.split_first() else { return Vec::new() };
        match self.names.get(first) {
            // A name may stand for a path that begins with the same name.
            Some(imported) => [imported, rest].concat(),
            None => path.to_vec(),
        }
    }

    /// What a function registers.
    fn call(&self, path: &[String]) -> Option<Call> {
        let path = self.resolve(path);
        let name = match &path[..] {
            [.., krate, name] if RUNTIME.contains(&&**krate) => name,
            [name] if self.runtime => name,
            _ => return None,
        };
        CALLS.iter().find(|it| it.0 == name).map(|it| it.1)
    }

    /// The places where code names a function that registers a webhook, other than in imports and tests.
    fn calls(&self, tokens: TokenStream) -> Vec<Span> {
        let all: Vec<TokenTree> = tokens.into_iter().collect();
        let mut res = Vec::new();
        let mut at = 0;
        while at < all.len() {
            match &all[at] {
                TokenTree::Punct(_) if is_cfg_test(&all[at..]) => {
                    at += 2 + item(&all[at + 2..]);
                    continue;
                }
                TokenTree::Ident(it) if it == "use" => at = end(&all, at),
                TokenTree::Ident(name) => res.extend(self.named(&all, at).map(|_| name.span())),
                TokenTree::Group(it) => res.extend(self.calls(it.stream())),
                _ => {}
            }
            at += 1;
        }
        res
    }

    /// What the path that ends here registers.
    fn named(&self, all: &[TokenTree], at: usize) -> Option<Call> {
        if is_joined(all, at + 1) && matches!(all.get(at + 3), Some(TokenTree::Ident(_))) {
            return None;
        }
        let mut start = at;
        while 3 <= start
            && is_joined(all, start - 2)
            && matches!(all[start - 3], TokenTree::Ident(_))
        {
            start -= 3;
        }
        let path: Vec<String> =
            all[start..=at].iter().filter(|it| !is(it, ':')).map(ToString::to_string).collect();
        // A name alone may be that of something else.
        let is_other = |it: &TokenTree| is(it, '.') || is(it, ':') || it.to_string() == "fn";
        let is_call = match all.get(at + 1) {
            Some(TokenTree::Group(it)) => it.delimiter() == Delimiter::Parenthesis,
            _ => is_joined(all, at + 1),
        };
        let before = start.checked_sub(1).map(|it| &all[it]);
        let is_function = 1 < path.len() || is_call && !before.is_some_and(is_other);
        self.call(&path).filter(|_| is_function)
    }
}

/// Whether there is `::`.
fn is_joined(tokens: &[TokenTree], at: usize) -> bool {
    tokens.get(at..at + 2).is_some_and(|it| it.iter().all(|it| is(it, ':')))
}

/// Where the statement that begins there ends.
fn end(tokens: &[TokenTree], at: usize) -> usize {
    let rest = tokens[at..].iter();
    rest.take_while(|it| !is(it, ';')).count().min(tokens.len() - at - 1) + at
}

/// Whether the tokens begin with `#[cfg(test)]`.
fn is_cfg_test(tokens: &[TokenTree]) -> bool {
    let [first, TokenTree::Group(group), ..] = tokens else { return false };
    is(first, '#') && group.stream().to_string().replace(' ', "") == "cfg(test)"
}

/// The number of tokens of the item that they begin with.
fn item(tokens: &[TokenTree]) -> usize {
    let is_end = |it: &TokenTree| match it {
        TokenTree::Group(it) => it.delimiter() == Delimiter::Brace,
        it => is(it, ';'),
    };
    tokens.iter().position(is_end).map_or(tokens.len(), |it| it + 1)
}

fn any(tokens: TokenStream, is_it: &dyn Fn(&TokenTree) -> bool) -> bool {
    tokens.into_iter().any(|it| match &it {
        TokenTree::Group(group) => any(group.stream(), is_it),
        other => is_it(other),
    })
}

fn is(token: &TokenTree, sign: char) -> bool {
    matches!(token, TokenTree::Punct(it) if it.as_char() == sign)
}

fn place(path: &SourcePath, start: LineColumn) -> Place {
    Place { path: path.clone(), line: start.line, column: start.column + 1 }
}

fn names(path: &Path) -> Vec<String> {
    path.segments.iter().map(|it| it.ident.to_string()).collect()
}

/// The paths of the two types that a function is called with.
fn types(arguments: &PathArguments, imports: &Imports) -> Option<[Vec<String>; 2]> {
    let PathArguments::AngleBracketed(types) = arguments else { return None };
    let path = |it: &GenericArgument| match it {
        GenericArgument::Type(Type::Path(it)) => Some(imports.resolve(&names(&it.path))),
        _ => None,
    };
    types.args.iter().filter_map(path).collect::<Vec<_>>().try_into().ok()
}

fn literal(it: &Expr) -> Option<String> {
    match it {
        Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(it), .. }) => Some(it.value()),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
