//! The names that tokens could declare at the place of items, and the macros that they call.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{TokenStream, TokenTree};

use super::token::{Fragment, Token, flatten_tokens, read_fragments};
use crate::text::syntax::BEFORE_NOT;

/// The items that tokens could declare.
#[derive(Default)]
pub struct Tokens {
    /// Every identifier, and what is in quotes.
    pub words: BTreeSet<String>,
    /// Identifiers that follow the keyword of an item, or are imported.
    pub declared: BTreeSet<String>,
    /// Macros that are defined; `$` for one whose name is an argument.
    pub defined: BTreeSet<String>,
    /// Macros that are called at the place of items, by their paths.
    pub calls: BTreeSet<Vec<String>>,
    /// Macros that are called, at whatever depth, by the last names of their paths.
    pub called: BTreeSet<String>,
    /// Words before `as`, at whatever depth: an import may give a macro another name.
    pub renamed: BTreeSet<String>,
    /// A `use …::*` is written, or a macro is called whose name is an argument.
    pub is_open: bool,
    /// Any identifier of the arguments may be declared.
    pub forwards: bool,
    /// Names that follow `fn`, at whatever depth.
    pub functions: BTreeSet<String>,
    /// Any identifier of the arguments may follow `fn`.
    pub has_open_functions: bool,
    /// True if a module with a separate file may be declared, at any depth: `mod` stands without a name and braces.
    pub loads_files: bool,
    /// A `use` has an argument in its path.
    pub has_open_imports: bool,
    /// A `*` is written, which may end an import.
    pub has_star: bool,
}

/// Keywords that the name of an item follows.
const KEYWORDS: &[&str] =
    &["struct", "enum", "union", "type", "trait", "mod", "fn", "const", "static"];
/// Words between such a word and the name.
const MODIFIERS: &[&str] = &["mut", "ref", "unsafe", "async", "extern", "auto"];

impl Tokens {
    /// The tokens that the arms of a `macro_rules!` expand to.
    pub fn of_arms(tokens: TokenStream) -> Option<Self> {
        let mut result = Self::default();
        let mut tokens = tokens.into_iter().peekable();
        while tokens.peek().is_some() {
            let (Some(TokenTree::Group(matcher)), Some(_), Some(_), Some(TokenTree::Group(body))) =
                (tokens.next(), tokens.next(), tokens.next(), tokens.next())
            else {
                return None;
            };
            let mut fragments = BTreeMap::new();
            read_fragments(matcher.stream(), &mut fragments);
            result.scan_items(&flatten_tokens(body.stream(), Some(&fragments)), false);
            // The `;` between arms.
            tokens.next();
        }
        Some(result)
    }

    pub fn of_arguments(tokens: TokenStream) -> Self {
        let mut result = Self::default();
        result.scan_items(&flatten_tokens(tokens, None), true);
        result
    }

    /// Reads tokens at the place of items. `all`: those in braces may be moved to that place, too.
    fn scan_items(&mut self, tokens: &[Token], all: bool) {
        for (index, token) in tokens.iter().enumerate() {
            let rest = &tokens[index + 1..];
            let before = index.checked_sub(1).map(|index| &tokens[index]);
            match token {
                Token::Text(it) => drop(self.words.insert(it.trim_matches('"').to_owned())),
                Token::Punct(punct) => self.has_star |= *punct == '*',
                Token::Word(word) => {
                    self.words.insert(word.clone());
                    // The variable before it may be a keyword.
                    if matches!(before, Some(Token::Variable(Fragment::Word | Fragment::Items))) {
                        self.declared.insert(word.clone());
                    }
                    self.note_word(word, before, rest);
                    self.note_function(word, rest);
                    if is_macro_call(word, rest) {
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
                    if all || is_call || is_extern {
                        self.scan_items(inner, all || is_call)
                    } else {
                        self.read_words(inner)
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
                    self.note_function(it, &tokens[index + 1..]);
                }
                Token::Text(it) => drop(self.words.insert(it.trim_matches('"').to_owned())),
                Token::Group(inner) => self.read_words(inner),
                Token::Punct(punct) => self.has_star |= *punct == '*',
                Token::Variable(_) => {}
            }
        }
    }

    /// Notes the name of a function, or of a macro that is called or gets another name, and a module with a file.
    fn note_function(&mut self, word: &str, rest: &[Token]) {
        if is_macro_call(word, rest) {
            self.called.insert(word.to_owned());
        }
        let is_in_braces =
            matches!(rest, [Token::Word(_) | Token::Variable(_), Token::Group(_), ..]);
        self.loads_files |= word == "mod" && !is_in_braces;
        match rest {
            [Token::Word(next), ..] if next == "as" => drop(self.renamed.insert(word.to_owned())),
            [Token::Word(name), ..] if word == "fn" => drop(self.functions.insert(name.clone())),
            [Token::Variable(_), ..] if word == "fn" => self.has_open_functions = true,
            _ => {}
        }
    }

    fn note_word(&mut self, word: &str, before: Option<&Token>, rest: &[Token]) {
        let after_extern = matches!(before, Some(Token::Word(it)) if it == "extern");
        match word {
            "macro_rules" => match rest {
                [Token::Punct('!'), Token::Word(name), ..] => {
                    self.defined.insert(name.clone());
                }
                [Token::Punct('!'), ..] => drop(self.defined.insert("$".to_owned())),
                _ => {}
            },
            "use" if !matches!(rest, [Token::Punct('<'), ..]) => self.note_imports(rest),
            "crate" if after_extern => self.note_imports(rest),
            _ if KEYWORDS.contains(&word) => {
                let modifier =
                    |it: &&Token| matches!(it, Token::Word(it) if MODIFIERS.contains(&it.as_str()));
                match rest.iter().find(|token| !modifier(token)) {
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
    fn note_imports(&mut self, tokens: &[Token]) {
        for (index, token) in tokens.iter().enumerate() {
            match token {
                Token::Punct(';') => return,
                Token::Punct('*') => self.is_open = true,
                Token::Variable(_) => {
                    self.forwards = true;
                    self.has_open_imports = true;
                }
                Token::Group(inner) => self.note_imports(inner),
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

/// Returns whether nothing that could be named follows.
fn is_end(rest: &[Token]) -> bool {
    matches!(rest, [] | [Token::Punct(_), ..])
}

/// Returns whether a word is a macro that is called.
fn is_macro_call(word: &str, rest: &[Token]) -> bool {
    let is_call = matches!(rest, [Token::Punct('!'), Token::Group(..), ..]);
    is_call && !BEFORE_NOT.contains(&word)
}

/// The path that ends with the last of these tokens.
fn path_before(tokens: &[Token]) -> Vec<String> {
    let mut path = Vec::new();
    let mut rest = tokens;
    while let [front @ .., Token::Word(name)] = rest {
        path.push(name.clone());
        let [front @ .., Token::Punct(':'), Token::Punct(':')] = front else { break };
        // `$path::name!` is of any path.
        if matches!(front, [.., Token::Variable(_)]) {
            path.push("$".to_owned());
        }
        rest = front;
    }
    path.reverse();
    path
}
