//! Locals of a macro's definition and of its call are two for rustc, whatever their names. Here a name is one
//! name, so a name that is on both sides is refused where locals may be.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream, TokenTree};

use super::define::Made;
use super::matching::{Bindings, Bound};
use super::tokens::Token;

/// Words behind which a local may be named.
const BINDING: &[&str] = &["let", "for", "match", "while"];

/// A name that may be a local of the definition and stands in its call as well.
pub fn clash(made: &[Made], bindings: &Bindings) -> Option<Ident> {
    let mut names = BTreeSet::new();
    let mut binds = false;
    own(made, &mut names, &mut binds);
    if !binds {
        return None;
    }
    bindings.values().find_map(|it| given(it, &names))
}

/// The names that the definition writes itself, and whether it binds any.
fn own(made: &[Made], names: &mut BTreeSet<String>, binds: &mut bool) {
    for it in made {
        match it {
            Made::Token(token @ Token::Ident(_)) => {
                let word = token.word();
                *binds = *binds || BINDING.contains(&word.as_str());
                names.insert(word);
            }
            // A closure's arguments.
            Made::Token(token) => *binds = *binds || token.is("|"),
            Made::Group(_, inner) | Made::Repeat(inner, ..) => own(inner, names, binds),
            Made::Variable(..) | Made::Crate(_) => {}
        }
    }
}

fn given(bound: &Bound, names: &BTreeSet<String>) -> Option<Ident> {
    match bound {
        Bound::One(tokens) => among(tokens.clone(), names),
        Bound::Many(list) => list.iter().find_map(|it| given(it, names)),
    }
}

fn among(tokens: TokenStream, names: &BTreeSet<String>) -> Option<Ident> {
    // Words of the language, types and functions are one whoever writes them, but for a local's name.
    let local = |it: &Ident| {
        let word = it.to_string();
        let keyword = syn::parse_str::<Ident>(&word).is_err();
        let small = word.starts_with(|c: char| c.is_lowercase() || c == '_');
        small && !keyword && names.contains(&word)
    };
    let mut tokens = tokens.into_iter().peekable();
    // What stands behind a `.` is a field or a method; before `!` a macro.
    let mut member = false;
    while let Some(tree) = tokens.next() {
        match &tree {
            TokenTree::Ident(it) if !member && local(it) => {
                let next = tokens.peek().map(ToString::to_string);
                if !matches!(next.as_deref(), Some("!")) {
                    return Some(it.clone());
                }
            }
            TokenTree::Group(it) => {
                if let Some(found) = among(it.stream(), names) {
                    return Some(found);
                }
            }
            _ => {}
        }
        member = matches!(&tree, TokenTree::Punct(it) if it.as_char() == '.');
    }
    None
}
