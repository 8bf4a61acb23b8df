//! The fragments of a matcher: where each may begin, as rustc has it, and what it takes, as syn parses it.

use proc_macro2::{Delimiter, Group, Span, TokenStream};
use syn::parse::{Parse, ParseBuffer, ParseStream, Parser as _};
use syn::{Token, ext::IdentExt as _};

use super::tokens::Token;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fragment {
    Ident,
    Lifetime,
    Tt,
    Expr,
    Expr2021,
    Ty,
    Literal,
    Path,
    Pat,
    PatParam,
    Item,
    Block,
    Stmt,
    Meta,
    Vis,
}

const NAMES: &[(&str, Fragment)] = &[
    ("ident", Fragment::Ident),
    ("lifetime", Fragment::Lifetime),
    ("tt", Fragment::Tt),
    ("expr", Fragment::Expr),
    ("expr_2021", Fragment::Expr2021),
    ("ty", Fragment::Ty),
    ("literal", Fragment::Literal),
    ("path", Fragment::Path),
    ("pat", Fragment::Pat),
    ("pat_param", Fragment::PatParam),
    ("item", Fragment::Item),
    ("block", Fragment::Block),
    ("stmt", Fragment::Stmt),
    ("meta", Fragment::Meta),
    ("vis", Fragment::Vis),
];

/// What comes before a fragment's name in the text that marks its groups.
const MARK: &str = "fragmentǃ";

thread_local! {
    static MARKS: Vec<(Fragment, Span)> = NAMES.iter().map(|(name, it)| (*it, mark(name))).collect();
}

/// A place of its own for each fragment: a group has nothing else to say what it is.
fn mark(name: &str) -> Span {
    let tokens: TokenStream = format!("{MARK}{name}").parse().expect("a mark is an identifier");
    tokens.into_iter().next().map_or_else(Span::call_site, |it| it.span())
}

impl Fragment {
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(it, _)| *it == name).map(|(_, it)| *it)
    }

    /// What a group was matched as.
    pub fn marked(group: &Group) -> Option<Self> {
        let text = group.span().source_text()?;
        Self::named(text.strip_prefix(MARK)?)
    }

    /// What it matched, as one token for other macros, unless they may look into it.
    pub fn wrap(self, tokens: TokenStream) -> TokenStream {
        if matches!(self, Self::Ident | Self::Lifetime | Self::Tt) {
            return tokens;
        }
        let mut group = Group::new(Delimiter::None, tokens);
        let mark = MARKS.with(|it| it.iter().find(|(it, _)| *it == self).map(|(_, it)| *it));
        group.set_span(mark.unwrap_or_else(Span::call_site));
        proc_macro2::TokenTree::from(group).into()
    }

    /// Whether it may begin with this token; none where that depends on the edition or is not known.
    pub fn may_begin(self, token: &Token) -> Option<bool> {
        if let Token::Opaque(kind, group) = token {
            return match (self, kind) {
                (Self::Tt, _) => Some(true),
                (_, Some(kind)) => Some(self.may_be(*kind, group)),
                (_, None) => None,
            };
        }
        let word = token.word();
        let ident = matches!(token, Token::Ident(_));
        let operator = token.operator();
        let one_of = |list: &[&str]| list.contains(&operator.as_str());
        let literal = matches!(token, Token::Literal(_));
        Some(match self {
            Self::Tt | Self::Item | Self::Stmt => !matches!(token, Token::Close | Token::End),
            Self::Ident => ident && word != "_",
            Self::Lifetime => matches!(token, Token::Lifetime(..)),
            Self::Literal => literal || one_of(&["-"]) || matches!(&word[..], "true" | "false"),
            Self::Path | Self::Meta => ident || one_of(&["::"]),
            Self::Block => token.opens(Delimiter::Brace),
            Self::Vis => ident || one_of(&[","]) || begins_type(token),
            Self::Ty => begins_type(token),
            Self::Pat | Self::PatParam => {
                ident
                    || literal
                    || token.opens(Delimiter::Parenthesis)
                    || token.opens(Delimiter::Bracket)
                    || one_of(&["&", "-", "&&", "..", "...", "::", "<", "<<"])
                    || (self == Self::Pat && one_of(&["|"]))
            }
            Self::Expr if matches!(&word[..], "_" | "const") => return None,
            Self::Expr | Self::Expr2021 => {
                let words = [
                    "async", "do", "box", "break", "const", "continue", "false", "for", "if",
                    "loop", "match", "move", "return", "true", "try", "unsafe", "while", "yield",
                    "static",
                ];
                let name = ident && (!is_reserved(&word) || words.contains(&word.as_str()));
                (name && word != "const")
                    || literal
                    || matches!(token, Token::Open(_) | Token::Lifetime(..))
                    || one_of(&[
                        "!", "-", "*", "|", "||", "&", "&&", "..", "...", "..=", "<", "<<", "::",
                        "#",
                    ])
            }
        })
    }

    /// Whether it may begin with what another fragment matched.
    fn may_be(self, kind: Self, group: &Group) -> bool {
        use Fragment as F;
        match self {
            F::Tt | F::Item | F::Stmt | F::Vis => true,
            F::Ident | F::Lifetime => false,
            F::Expr | F::Expr2021 => {
                matches!(kind, F::Block | F::Expr | F::Expr2021 | F::Literal | F::Path)
            }
            F::Ty => matches!(kind, F::Ty | F::Path),
            F::Literal => {
                let literal = |input: ParseStream<'_>| literal(input);
                kind == F::Literal
                    || (matches!(kind, F::Expr | F::Expr2021)
                        && literal.parse2(group.stream()).is_ok())
            }
            F::Path | F::Meta => !matches!(kind, F::Item | F::Block | F::Vis),
            F::Pat | F::PatParam => matches!(
                kind,
                F::Expr
                    | F::Expr2021
                    | F::Literal
                    | F::Meta
                    | F::Pat
                    | F::PatParam
                    | F::Path
                    | F::Ty
            ),
            F::Block => {
                matches!(kind, F::Block | F::Stmt | F::Expr | F::Expr2021 | F::Literal)
            }
        }
    }

    /// Takes one from the input. An error is the end of the whole expansion, as for rustc.
    pub fn take(self, input: &ParseBuffer<'_>) -> syn::Result<TokenStream> {
        let start = input.cursor();
        if let (Token::Opaque(kind, group), rest) = Token::at(start) {
            let whole = [Self::Vis, Self::Block, Self::Item, Self::Meta, Self::Literal];
            if kind == Some(self) && whole.contains(&self) {
                skip(input, rest)?;
                return Ok(proc_macro2::TokenTree::from(group).into());
            }
            if self == Self::Vis {
                return Ok(self.wrap(TokenStream::new()));
            }
            if whole.contains(&self) {
                let inner = |input: ParseStream<'_>| self.parse(input);
                inner.parse2(group.stream())?;
                skip(input, rest)?;
                return Ok(self.wrap(group.stream()));
            }
        }
        self.parse(input)?;
        let mut trees = Vec::new();
        let (mut at, end) = (start, input.cursor());
        while at != end {
            let Some((tree, rest)) = at.token_tree() else {
                return Err(syn::Error::new(start.span(), "ends inside another fragment"));
            };
            trees.push(tree);
            at = rest;
        }
        // A fragment that is all of another of its kind is that one.
        if let [proc_macro2::TokenTree::Group(it)] = &trees[..]
            && Self::marked(it) == Some(self)
        {
            return Ok(trees.into_iter().collect());
        }
        Ok(self.wrap(trees.into_iter().collect()))
    }

    fn parse(self, input: ParseStream<'_>) -> syn::Result<()> {
        let drop_ = |_| ();
        match self {
            Self::Ident => syn::Ident::parse_any(input).map(|_| ()),
            Self::Lifetime => syn::Lifetime::parse(input).map(|_| ()),
            Self::Tt => {
                let (_, rest) = Token::at(input.cursor());
                skip(input, rest)
            }
            Self::Expr | Self::Expr2021 => syn::Expr::parse(input).map(|_| ()),
            Self::Ty => syn::Type::parse(input).map(|_| ()),
            Self::Literal => literal(input),
            Self::Path => syn::Path::parse(input).map(|_| ()),
            Self::Pat => syn::Pat::parse_multi_with_leading_vert(input).map(|_| ()),
            Self::PatParam => syn::Pat::parse_single(input).map(|_| ()),
            Self::Item => syn::Item::parse(input).map(|_| ()),
            Self::Block => syn::Block::parse(input).map(|_| ()),
            Self::Stmt => statement(input),
            Self::Meta => syn::Meta::parse(input).map(|_| ()),
            Self::Vis => syn::Visibility::parse(input).map(drop_),
        }
    }
}

/// Goes to a place further on in the same input.
pub fn skip<'a>(input: &ParseBuffer<'a>, to: syn::buffer::Cursor<'a>) -> syn::Result<()> {
    while input.cursor() != to {
        input.step(|at| match at.token_tree() {
            Some((_, rest)) => Ok(((), rest)),
            None => Err(at.error("ends too early")),
        })?;
    }
    Ok(())
}

fn literal(input: ParseStream<'_>) -> syn::Result<()> {
    let minus: Option<Token![-]> = input.parse()?;
    match syn::Lit::parse(input)? {
        syn::Lit::Int(_) | syn::Lit::Float(_) => Ok(()),
        _ if minus.is_none() => Ok(()),
        other => Err(syn::Error::new(other.span(), "is no number")),
    }
}

/// A statement without the `;` that ends it.
fn statement(input: ParseStream<'_>) -> syn::Result<()> {
    if input.peek(Token![let]) {
        input.parse::<Token![let]>()?;
        syn::Pat::parse_multi_with_leading_vert(input)?;
        if input.parse::<Option<Token![:]>>()?.is_some() {
            input.parse::<syn::Type>()?;
        }
        if input.parse::<Option<Token![=]>>()?.is_some() {
            input.parse::<syn::Expr>()?;
        }
        return Ok(());
    }
    let item = input.fork();
    if item.parse::<syn::Item>().is_ok() {
        return input.parse::<syn::Item>().map(|_| ());
    }
    input.parse::<syn::Expr>().map(|_| ())
}

fn begins_type(token: &Token) -> bool {
    let word = token.word();
    let words = ["_", "for", "impl", "fn", "unsafe", "extern", "typeof", "dyn"];
    let operators = ["!", "*", "&", "&&", "?", "<", "<<", "::"];
    (matches!(token, Token::Ident(_)) && (!is_reserved(&word) || words.contains(&word.as_str())))
        || token.opens(Delimiter::Parenthesis)
        || token.opens(Delimiter::Bracket)
        || matches!(token, Token::Lifetime(..))
        || operators.contains(&token.operator().as_str())
}

/// Keywords that begin no path.
fn is_reserved(word: &str) -> bool {
    const RESERVED: &[&str] = &[
        "_", "as", "break", "const", "continue", "else", "enum", "extern", "false", "fn", "for",
        "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return",
        "static", "struct", "trait", "true", "type", "unsafe", "use", "where", "while", "abstract",
        "become", "box", "do", "final", "macro", "override", "priv", "typeof", "unsized",
        "virtual", "yield", "async", "await", "dyn", "try",
    ];
    RESERVED.contains(&word)
}
