//! What macros made → tokens for everyone else: the groups that only tell macros apart are taken off where
//! nothing can be read in another way without them.

use proc_macro2::{Delimiter, Group, TokenStream, TokenTree};
use syn::parse::Parser as _;

use super::fragments::Fragment;

/// Takes the marks off, but for what macros are called with: those may be looked at by macros again.
pub fn plain(tokens: TokenStream) -> TokenStream {
    let mut res: Vec<TokenTree> = Vec::new();
    for tree in tokens {
        match tree {
            TokenTree::Group(it) if it.delimiter() == Delimiter::None => {
                res.extend(bare(&it));
            }
            TokenTree::Group(it) if is_called(&res) => res.push(it.into()),
            TokenTree::Group(it) => {
                let mut new = Group::new(it.delimiter(), plain(it.stream()));
                new.set_span(it.span());
                res.push(new.into());
            }
            other => res.push(other),
        }
    }
    res.into_iter().collect()
}

/// Whether `name!` or `name! other` stands at the end.
fn is_called(before: &[TokenTree]) -> bool {
    let bang = |it: &TokenTree| matches!(it, TokenTree::Punct(it) if it.as_char() == '!');
    let ident = |it: &TokenTree| matches!(it, TokenTree::Ident(_));
    match before {
        [.., one, two, three] if ident(one) && bang(two) && ident(three) => true,
        [.., one, two] => ident(one) && bang(two),
        _ => false,
    }
}

/// What is in a fragment's group, and the group where it holds together what might fall apart.
fn bare(group: &Group) -> TokenStream {
    let inner = plain(group.stream());
    let Some(kind) = Fragment::marked(group) else {
        let mut new = Group::new(Delimiter::None, inner);
        new.set_span(group.span());
        return TokenTree::from(new).into();
    };
    let holds = match kind {
        Fragment::Expr | Fragment::Expr2021 => {
            let parse = <syn::Expr as syn::parse::Parse>::parse;
            !matches!(
                parse.parse2(inner.clone()),
                Ok(syn::Expr::Lit(_)
                    | syn::Expr::Path(_)
                    | syn::Expr::Paren(_)
                    | syn::Expr::Array(_)
                    | syn::Expr::Tuple(_)
                    | syn::Expr::Macro(_)
                    | syn::Expr::Call(_)
                    | syn::Expr::MethodCall(_))
            )
        }
        Fragment::Ty => {
            let parse = <syn::Type as syn::parse::Parse>::parse;
            !matches!(
                parse.parse2(inner.clone()),
                Ok(syn::Type::Path(_)
                    | syn::Type::Paren(_)
                    | syn::Type::Array(_)
                    | syn::Type::Slice(_)
                    | syn::Type::Tuple(_)
                    | syn::Type::Macro(_))
            )
        }
        Fragment::Pat | Fragment::PatParam | Fragment::Stmt => true,
        _ => false,
    };
    if !holds {
        return inner;
    }
    let span = inner.clone().into_iter().next().map(|it| it.span());
    let mut new = Group::new(Delimiter::None, inner);
    new.set_span(span.unwrap_or_else(proc_macro2::Span::call_site));
    TokenTree::from(new).into()
}
