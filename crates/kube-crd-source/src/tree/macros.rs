//! Macros at the place of items, summarized: the names that their tokens could declare, the macros that they call.
//!
//! Macros are never expanded. `names::calls` decides from these summaries what a call may declare; whatever a
//! call may declare is refused where it is needed, and left to the compiled code.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::spanned::Spanned as _;

use super::world::ModuleId;
use crate::text::plain;
use crate::text::syntax::BEFORE_NOT;

pub type RulesId = usize;

/// One `macro_rules!`.
pub struct Rules {
    pub name: String,
    pub module: ModuleId,
    pub krate: usize,
    /// `#[macro_export]`: it is at the root of its crate.
    pub exported: bool,
    /// What its bodies write; none where the definition cannot be read.
    pub body: Option<Tokens>,
}

impl Rules {
    pub fn new(it: &syn::ItemMacro, module: ModuleId, krate: usize) -> Option<Self> {
        let exported = it.attrs.iter().any(|it| it.path().is_ident("macro_export"));
        let name = plain(it.ident.as_ref()?);
        Some(Self { name, module, krate, exported, body: bodies(it.mac.tokens.clone()) })
    }
}

/// A call at the place of an item, or an attribute macro on an item.
pub struct Call {
    /// The segments of its path.
    pub path: Vec<String>,
    /// Its arguments, or the item that the attribute is on.
    pub arguments: Tokens,
    /// The nearest definition of its name above it in the text.
    pub rules: Option<RulesId>,
    pub is_attribute: bool,
    /// Why nothing at all is known of it.
    pub unknown: Option<String>,
    pub span: proc_macro2::Span,
}

impl Call {
    pub fn new(item: &syn::ItemMacro, rules: Option<RulesId>) -> Self {
        Self {
            path: segments(&item.mac.path),
            arguments: Tokens::of_arguments(item.mac.tokens.clone()),
            rules,
            is_attribute: false,
            unknown: None,
            span: item.mac.path.span(),
        }
    }

    /// A call of which nothing is known, and why.
    pub fn unknown(item: &syn::ItemMacro, why: &str) -> Self {
        Self { unknown: Some(why.to_owned()), ..Self::new(item, None) }
    }

    pub fn attribute(path: &syn::Path, item: &impl quote::ToTokens) -> Self {
        Self {
            path: segments(path),
            arguments: Tokens::of_arguments(item.to_token_stream()),
            rules: None,
            is_attribute: true,
            unknown: None,
            span: path.span(),
        }
    }

    /// As it is written, for messages.
    pub fn text(&self) -> String {
        match self.is_attribute {
            true => format!("#[{}]", self.path.join("::")),
            false => format!("{}!", self.path.last().map_or("", String::as_str)),
        }
    }
}

fn segments(path: &syn::Path) -> Vec<String> {
    path.segments.iter().map(|it| plain(&it.ident)).collect()
}

/// What tokens could declare at the place of items.
#[derive(Default)]
pub struct Tokens {
    /// Every identifier, and what is in quotes.
    pub words: BTreeSet<String>,
    /// Identifiers that follow the keyword of an item, or are imported.
    pub declared: BTreeSet<String>,
    /// Macros that are defined; `$` for one whose name is an argument.
    pub defined: BTreeSet<String>,
    /// Macros that are called, by their paths.
    pub calls: BTreeSet<Vec<String>>,
    /// A `use …::*` is written, or a macro is called whose name is an argument.
    pub is_open: bool,
    /// Any identifier of the arguments may be declared.
    pub forwards: bool,
    /// Names that follow `fn`, at whatever depth.
    pub functions: BTreeSet<String>,
    /// Any identifier of the arguments may follow `fn`.
    pub has_open_functions: bool,
}

/// Keywords that the name of an item follows.
const KEYWORDS: &[&str] =
    &["struct", "enum", "union", "type", "trait", "mod", "fn", "const", "static"];
/// Words between such a word and the name.
const MODIFIERS: &[&str] = &["mut", "ref", "unsafe", "async", "extern", "auto"];

/// The text of `macro_rules!` → what all of its arms write.
fn bodies(tokens: TokenStream) -> Option<Tokens> {
    let mut res = Tokens::default();
    let mut tokens = tokens.into_iter().peekable();
    while tokens.peek().is_some() {
        let (Some(TokenTree::Group(matcher)), Some(_), Some(_), Some(TokenTree::Group(body))) =
            (tokens.next(), tokens.next(), tokens.next(), tokens.next())
        else {
            return None;
        };
        let mut fragments = BTreeMap::new();
        read_fragments(matcher.stream(), &mut fragments);
        res.scan(&flat(body.stream(), Some(&fragments)), false);
        // The `;` between arms.
        tokens.next();
    }
    Some(res)
}

/// The metavariables of a matcher, each with its fragment specifier.
fn read_fragments(matcher: TokenStream, into: &mut BTreeMap<String, String>) {
    let tokens: Vec<TokenTree> = matcher.into_iter().collect();
    for (index, token) in tokens.iter().enumerate() {
        match (token, tokens.get(index + 1), tokens.get(index + 2), tokens.get(index + 3)) {
            (TokenTree::Group(it), ..) => read_fragments(it.stream(), into),
            (
                TokenTree::Punct(dollar),
                Some(TokenTree::Ident(name)),
                Some(TokenTree::Punct(colon)),
                Some(TokenTree::Ident(kind)),
            ) if dollar.as_char() == '$' && colon.as_char() == ':' => {
                into.insert(name.to_string(), kind.to_string());
            }
            _ => {}
        }
    }
}

/// A token, with metavariables as one.
enum Token {
    Word(String),
    Punct(char),
    Text(String),
    Group(Vec<Self>),
    /// A metavariable, or an end of `$(…)*`.
    Variable(Fragment),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fragment {
    /// It may be whole items.
    Items,
    /// It may be a name or a keyword.
    Word,
    /// It declares nothing: a type, an expression, a visibility.
    Other,
}

/// Tokens with what is in `$(…)*` beside all else. `fragments` is none for the arguments of a call.
fn flat(tokens: TokenStream, fragments: Option<&BTreeMap<String, String>>) -> Vec<Token> {
    let mut res = Vec::new();
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match token {
            TokenTree::Ident(it) => res.push(Token::Word(plain(&it))),
            TokenTree::Literal(it) => res.push(Token::Text(it.to_string())),
            TokenTree::Group(it) if it.delimiter() == Delimiter::None => {
                res.extend(flat(it.stream(), fragments));
            }
            TokenTree::Group(it) => {
                res.push(Token::Group(flat(it.stream(), fragments)));
            }
            TokenTree::Punct(it) if it.as_char() == '$' && fragments.is_some() => {
                match tokens.next() {
                    Some(TokenTree::Ident(it)) if it == "crate" => {
                        res.push(Token::Word("$crate".to_owned()));
                    }
                    Some(TokenTree::Ident(it)) => {
                        let kind = fragments.and_then(|all| all.get(&it.to_string()));
                        res.push(Token::Variable(fragment(kind)));
                    }
                    Some(TokenTree::Group(it)) => {
                        res.push(Token::Variable(Fragment::Word));
                        res.extend(flat(it.stream(), fragments));
                        res.push(Token::Variable(Fragment::Word));
                        // A separator perhaps, and how often.
                        let is_end = |it: &TokenTree| matches!(it, TokenTree::Punct(it) if matches!(it.as_char(), '*' | '+' | '?'));
                        for _ in 0..3 {
                            if tokens.next().is_none_or(|it| is_end(&it)) {
                                break;
                            }
                        }
                    }
                    _ => res.push(Token::Variable(Fragment::Items)),
                }
            }
            TokenTree::Punct(it) => res.push(Token::Punct(it.as_char())),
        }
    }
    res
}

fn fragment(kind: Option<&String>) -> Fragment {
    match kind.map(String::as_str) {
        Some("ident") => Fragment::Word,
        Some(
            "block" | "expr" | "expr_2021" | "ty" | "pat" | "pat_param" | "path" | "literal"
            | "lifetime" | "vis" | "meta",
        ) => Fragment::Other,
        _ => Fragment::Items,
    }
}

impl Tokens {
    pub fn of_arguments(tokens: TokenStream) -> Self {
        let mut res = Self::default();
        res.scan(&flat(tokens, None), true);
        res
    }

    /// Reads tokens at the place of items. `all`: those in braces may be moved to that place, too.
    fn scan(&mut self, tokens: &[Token], all: bool) {
        for (index, token) in tokens.iter().enumerate() {
            let rest = &tokens[index + 1..];
            let before = index.checked_sub(1).map(|it| &tokens[it]);
            match token {
                Token::Text(it) => drop(self.words.insert(it.trim_matches('"').to_owned())),
                Token::Punct(_) => {}
                Token::Word(word) => {
                    self.words.insert(word.clone());
                    // The variable before it may be a keyword.
                    if matches!(before, Some(Token::Variable(Fragment::Word | Fragment::Items))) {
                        self.declared.insert(word.clone());
                    }
                    self.word(word, before, rest);
                    self.function(word, rest);
                    if calls(word, rest) {
                        self.calls.insert(path_before(&tokens[..=index]));
                    }
                }
                Token::Variable(kind) => {
                    let after_word =
                        matches!(before, Some(Token::Variable(Fragment::Word | Fragment::Items)));
                    self.forwards |= *kind == Fragment::Items
                        || *kind == Fragment::Word && after_word && !is_end(rest);
                    self.is_open |= matches!(rest, [Token::Punct('!'), Token::Group(..), ..]);
                }
                Token::Group(inner) => {
                    let is_call = matches!(
                        &tokens[..index],
                        [.., Token::Word(_) | Token::Variable(_), Token::Punct('!')]
                            | [.., Token::Punct('!'), Token::Word(_) | Token::Variable(_)]
                    );
                    let is_extern = match &tokens[..index] {
                        [.., Token::Word(it)] => it == "extern",
                        [.., Token::Word(it), Token::Text(_)] => it == "extern",
                        _ => false,
                    };
                    match all || is_call || is_extern {
                        true => self.scan(inner, all || is_call),
                        false => self.read_words(inner),
                    }
                }
            }
        }
    }

    /// Tokens in braces: items in there are not of the module.
    fn read_words(&mut self, tokens: &[Token]) {
        for (index, it) in tokens.iter().enumerate() {
            match it {
                Token::Word(it) => {
                    self.words.insert(it.clone());
                    self.function(it, &tokens[index + 1..]);
                }
                Token::Text(it) => drop(self.words.insert(it.trim_matches('"').to_owned())),
                Token::Group(inner) => self.read_words(inner),
                Token::Punct(_) | Token::Variable(_) => {}
            }
        }
    }

    /// Notes the name of a function.
    fn function(&mut self, word: &str, rest: &[Token]) {
        match rest {
            [Token::Word(name), ..] if word == "fn" => drop(self.functions.insert(name.clone())),
            [Token::Variable(_), ..] if word == "fn" => self.has_open_functions = true,
            _ => {}
        }
    }

    fn word(&mut self, word: &str, before: Option<&Token>, rest: &[Token]) {
        let after_extern = matches!(before, Some(Token::Word(it)) if it == "extern");
        match word {
            "macro_rules" => match rest {
                [Token::Punct('!'), Token::Word(name), ..] => {
                    self.defined.insert(name.clone());
                }
                [Token::Punct('!'), ..] => drop(self.defined.insert("$".to_owned())),
                _ => {}
            },
            "use" if !matches!(rest, [Token::Punct('<'), ..]) => self.imports(rest),
            "crate" if after_extern => self.imports(rest),
            _ if KEYWORDS.contains(&word) => {
                let modifier =
                    |it: &&Token| matches!(it, Token::Word(it) if MODIFIERS.contains(&it.as_str()));
                match rest.iter().find(|it| !modifier(it)) {
                    // `const fn name` is for the second of them.
                    Some(Token::Word(name)) if KEYWORDS.contains(&name.as_str()) => {}
                    Some(Token::Word(name)) => drop(self.declared.insert(name.clone())),
                    Some(Token::Variable(_)) => self.forwards = true,
                    _ => {}
                }
            }
            _ => {}
        }
    }

    /// The names of a `use` tree, up to its `;`.
    fn imports(&mut self, tokens: &[Token]) {
        for (index, token) in tokens.iter().enumerate() {
            match token {
                Token::Punct(';') => return,
                Token::Punct('*') => self.is_open = true,
                Token::Variable(_) => self.forwards = true,
                Token::Group(inner) => self.imports(inner),
                Token::Word(name) if name != "as" && name != "self" => match &tokens[index + 1..] {
                    // `a::{self, b}` imports `a`, too.
                    [Token::Punct(':'), Token::Punct(':'), Token::Group(inner), ..] => {
                        let itself = |it: &Token| matches!(it, Token::Word(it) if it == "self");
                        if inner.iter().any(itself) {
                            self.declared.insert(name.clone());
                        }
                    }
                    [Token::Punct(':'), ..] => {}
                    [Token::Word(it), ..] if it == "as" => {}
                    _ => drop(self.declared.insert(name.clone())),
                },
                Token::Word(_) | Token::Punct(_) | Token::Text(_) => {}
            }
        }
    }
}

/// Whether nothing that could be named follows.
fn is_end(rest: &[Token]) -> bool {
    matches!(rest, [] | [Token::Punct(_), ..])
}

/// Whether a word is a macro that is called.
fn calls(word: &str, rest: &[Token]) -> bool {
    let is_call = matches!(rest, [Token::Punct('!'), Token::Group(..), ..]);
    is_call && !BEFORE_NOT.contains(&word)
}

/// The path that ends with the last of these tokens.
fn path_before(tokens: &[Token]) -> Vec<String> {
    let mut res = Vec::new();
    let mut rest = tokens;
    while let [front @ .., Token::Word(name)] = rest {
        res.push(name.clone());
        let [front @ .., Token::Punct(':'), Token::Punct(':')] = front else { break };
        // `$path::name!` is of any path.
        if matches!(front, [.., Token::Variable(_)]) {
            res.push("$".to_owned());
        }
        rest = front;
    }
    res.reverse();
    res
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a definition may declare by itself, and of the arguments.
    #[track_caller]
    fn check(arms: &str, expected: &str) {
        let definition: syn::ItemMacro =
            syn::parse_str(&format!("macro_rules! m {{ {arms} }}")).unwrap();
        let rules = Rules::new(&definition, 0, 0).unwrap();
        let found = rules.body.map_or("unreadable".to_owned(), |it| {
            let mut res: Vec<String> = it.declared.into_iter().collect();
            res.extend(it.calls.iter().map(|it| format!("{}!", it.join("::"))));
            res.extend(it.forwards.then(|| "arguments".to_owned()));
            res.extend(it.is_open.then(|| "anything".to_owned()));
            res.join(" ")
        });
        assert_eq!(found, expected, "{arms}");
    }

    #[test]
    fn names_stand_behind_keywords_and_in_imports() {
        check("() => { struct A; pub enum B { C } mod d { struct E; } }", "A B d");
        check(
            "() => { const fn f<const N: usize>() { let x = 1; } static mut S: u8 = 1; }",
            "N S f",
        );
        check("() => { use a::{b, c as d, e::{self, f}}; extern crate g as h; }", "b d e f h");
        check("() => { use a::*; }", "anything");
        check("() => { extern \"C\" { fn f(); } impl A { fn g() {} const H: u8 = 1; } }", "f");
    }

    #[test]
    fn arguments_may_be_declared_behind_keywords_and_as_token_trees() {
        check("($a:ident) => { impl Default for $a {} }", "");
        check("($a:ident, $t:ty) => { struct $a($t); }", "arguments");
        check("($($a:tt)*) => { $($a)* }", "arguments");
        check("($a:item) => { $a }", "arguments");
        check("($a:ident) => { $a B; }", "B");
        check("($($a:ident),*) => { $(impl C for $a {})* }", "impl");
        check("($a:ident) => { use a::$a; }", "arguments");
        check("($($a:ident),*) => { use a::{$($a),*}; }", "arguments");
        check("($($a:tt)*) => { fn f() { $($a)* } }", "f");
    }

    #[test]
    fn calls_where_items_stand_are_noted_with_their_paths() {
        check(
            "($($a:tt)*) => { $crate::b! { $($a)* } fn f() { c!(); } }",
            "f $crate::b! arguments",
        );
        check("($a:ident) => { $a! { B } }", "anything");
        check("($a:path) => { $a::b! { C } }", "$::b!");
        check("a => b", "unreadable");
    }
}
