//! What an arm makes of what its variables stand for.

use std::cell::Cell;

use proc_macro2::{Group, Ident, Span, TokenStream, TokenTree};

use super::BUDGET;
use super::define::{Made, Times};
use super::matching::{Bindings, Bound};
use super::tokens::Token;

pub struct Transcriber<'a> {
    pub bindings: &'a Bindings,
    /// What `$crate` becomes.
    pub krate: &'a str,
    /// How many tokens were made.
    pub spent: &'a Cell<usize>,
}

impl Transcriber<'_> {
    /// `at` says in which round of each repetition we are, outermost first.
    pub fn write(&self, made: &[Made], at: &mut Vec<usize>) -> syn::Result<TokenStream> {
        let mut res = TokenStream::new();
        for it in made {
            match it {
                Made::Token(it) => {
                    self.spend(1, it.span())?;
                    it.write(&mut res);
                }
                Made::Crate(span) => {
                    self.spend(1, *span)?;
                    res.extend([TokenTree::from(Ident::new(self.krate, *span))]);
                }
                Made::Group(group, inner) => {
                    self.spend(1, group.span_open())?;
                    let mut new = Group::new(group.delimiter(), self.write(inner, at)?);
                    new.set_span(group.span());
                    res.extend([TokenTree::from(new)]);
                }
                Made::Variable(dollar, name) => self.variable(dollar, name, at, &mut res)?,
                Made::Repeat(inner, separator, times, span) => {
                    let rounds = self.rounds(inner, *times, *span, at)?;
                    for round in 0..rounds {
                        if let (Some(it), true) = (separator, 0 < round) {
                            it.write(&mut res);
                        }
                        self.spend(1, *span)?;
                        at.push(round);
                        let part = self.write(inner, at);
                        at.pop();
                        res.extend(part?);
                    }
                }
            }
        }
        Ok(res)
    }

    fn variable(
        &self,
        dollar: &Token,
        name: &Ident,
        at: &[usize],
        res: &mut TokenStream,
    ) -> syn::Result<()> {
        match self.bound(name, at) {
            Some(Bound::One(tokens)) => {
                self.spend(size(tokens), name.span())?;
                res.extend(tokens.clone());
            }
            Some(Bound::Many(_)) => {
                let message = format!("`${name}` repeats, and is no repetition here");
                return Err(syn::Error::new(name.span(), message));
            }
            // For a macro that this one defines.
            None => {
                dollar.write(res);
                res.extend([TokenTree::from(name.clone())]);
            }
        }
        Ok(())
    }

    fn bound(&self, name: &Ident, at: &[usize]) -> Option<&Bound> {
        let mut res = self.bindings.get(&name.to_string())?;
        for round in at {
            match res {
                Bound::Many(list) => res = list.get(*round)?,
                Bound::One(_) => break,
            }
        }
        Some(res)
    }

    fn rounds(&self, made: &[Made], times: Times, span: Span, at: &[usize]) -> syn::Result<usize> {
        let mut lengths = Vec::new();
        self.lengths(made, at, &mut lengths);
        match lengths[..] {
            [] => Err(syn::Error::new(span, "repeats without a variable that repeats")),
            [first, ..] if lengths.iter().any(|it| *it != first) => {
                Err(syn::Error::new(span, "repeats variables that repeat at different lengths"))
            }
            [0, ..] if times == Times::Some => {
                Err(syn::Error::new(span, "must repeat at least once"))
            }
            [length, ..] => Ok(length),
        }
    }

    fn lengths(&self, made: &[Made], at: &[usize], res: &mut Vec<usize>) {
        for it in made {
            match it {
                Made::Variable(_, name) => {
                    if let Some(Bound::Many(list)) = self.bound(name, at) {
                        res.push(list.len());
                    }
                }
                Made::Group(_, inner) | Made::Repeat(inner, ..) => self.lengths(inner, at, res),
                Made::Token(_) | Made::Crate(_) => {}
            }
        }
    }

    fn spend(&self, tokens: usize, span: Span) -> syn::Result<()> {
        let spent = self.spent.get() + tokens;
        self.spent.set(spent);
        match spent {
            ..=BUDGET => Ok(()),
            _ => Err(syn::Error::new(span, "macros make more tokens than are read")),
        }
    }
}

fn size(tokens: &TokenStream) -> usize {
    let one = |it: TokenTree| match it {
        TokenTree::Group(it) => 1 + size(&it.stream()),
        _ => 1,
    };
    tokens.clone().into_iter().map(one).sum()
}
