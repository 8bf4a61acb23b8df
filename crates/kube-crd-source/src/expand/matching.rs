//! What a call gives → what each variable of an arm stands for, in rustc's way: all readings of the matcher go
//! forward together, token by token, and what begins as a fragment must be one.

use std::collections::BTreeMap;
use std::rc::Rc;

use proc_macro2::{Delimiter, TokenStream};
use syn::parse::{ParseBuffer, ParseStream, Parser as _};

use super::define::{Pattern, Times};
use super::fragments::{Fragment, skip};
use super::tokens::Token;

/// What a variable stands for.
#[derive(Clone, Debug)]
pub enum Bound {
    One(TokenStream),
    Many(Vec<Self>),
}

pub type Bindings = BTreeMap<String, Bound>;

/// A matcher laid out flat, with where to go on.
pub struct Matcher {
    steps: Vec<Step>,
    names: Vec<String>,
}

enum Step {
    Token(Token),
    Open(Delimiter),
    Close,
    /// Before `$(…)`: the variables in it, and where it goes on after it.
    Repeat {
        times: Times,
        variables: std::ops::Range<usize>,
        depth: usize,
        after: usize,
    },
    /// Behind what is in `$(…)`, without a separator.
    Again {
        times: Times,
        first: usize,
    },
    Separator(Token),
    /// Behind the separator.
    Back {
        first: usize,
    },
    Variable {
        kind: Fragment,
        variable: usize,
        depth: usize,
    },
    End,
}

/// One reading of the matcher.
#[derive(Clone)]
struct Reading {
    step: usize,
    bound: Rc<Vec<Bound>>,
}

impl Reading {
    fn to(&self, step: usize) -> Self {
        Self { step, bound: self.bound.clone() }
    }

    fn bind(&mut self, variable: usize, depth: usize, value: Bound) {
        let bound = Rc::make_mut(&mut self.bound);
        if depth == 0 {
            bound.push(value);
            return;
        }
        let mut list = &mut bound[variable];
        for _ in 1..depth {
            list = match list {
                Bound::Many(it) => it.last_mut().expect("a repetition is bound from outside in"),
                Bound::One(_) => return,
            };
        }
        if let Bound::Many(it) = list {
            it.push(value);
        }
    }
}

impl Matcher {
    pub fn new(patterns: &[Pattern]) -> Self {
        let mut res = Self { steps: Vec::new(), names: Vec::new() };
        res.lay(patterns, 0);
        res.steps.push(Step::End);
        res
    }

    fn lay(&mut self, patterns: &[Pattern], depth: usize) {
        for pattern in patterns {
            match pattern {
                Pattern::Token(it) => self.steps.push(Step::Token(it.clone())),
                Pattern::Group(delimiter, inner) => {
                    self.steps.push(Step::Open(*delimiter));
                    self.lay(inner, depth);
                    self.steps.push(Step::Close);
                }
                Pattern::Repeat(inner, separator, times) => {
                    let (at, from) = (self.steps.len(), self.names.len());
                    self.steps.push(Step::End);
                    self.lay(inner, depth + 1);
                    let first = at + 1;
                    match separator {
                        Some(it) => {
                            self.steps.push(Step::Separator(it.clone()));
                            self.steps.push(Step::Back { first });
                        }
                        None => self.steps.push(Step::Again { times: *times, first }),
                    }
                    let (variables, after) = (from..self.names.len(), self.steps.len());
                    self.steps[at] = Step::Repeat { times: *times, variables, depth, after };
                }
                Pattern::Variable(name, kind) => {
                    let variable = self.names.len();
                    self.names.push(name.clone());
                    self.steps.push(Step::Variable { kind: *kind, variable, depth });
                }
            }
        }
    }

    /// What the variables stand for; nothing where the call does not match. An error is one for the whole call.
    pub fn matches(&self, tokens: TokenStream) -> syn::Result<Option<Bindings>> {
        let run = |input: ParseStream<'_>| {
            let found = self.run(input.fork());
            // What was not looked at is nobody's fault here.
            input.parse::<TokenStream>()?;
            found
        };
        let found = run.parse2(tokens)?;
        Ok(found.map(|bound| self.names.iter().cloned().zip(bound).collect()))
    }

    fn run(&self, input: ParseBuffer<'_>) -> syn::Result<Option<Vec<Bound>>> {
        let mut inputs = vec![input];
        let mut readings = vec![Reading { step: 0, bound: Rc::default() }];
        loop {
            let input = inputs.last().expect("the outermost stays");
            let (token, rest) = match Token::at(input.cursor()) {
                (Token::End, rest) if 1 < inputs.len() => (Token::Close, rest),
                found => found,
            };
            let Fronts { mut plain, mut fragments, ends } = self.step(&mut readings, &token)?;
            if matches!(token, Token::End) {
                return match (ends.len(), ends.into_iter().next()) {
                    (0 | 1, it) => Ok(it.map(|it| Rc::unwrap_or_clone(it.bound))),
                    _ => Err(ambiguous(&token)),
                };
            }
            match (plain.len(), fragments.len()) {
                (0, 0) => return Ok(None),
                (_, 0) => {
                    readings.append(&mut plain);
                    match token {
                        Token::Open(it) => {
                            let inner = enter(input, it.delimiter())?;
                            inputs.push(inner);
                        }
                        Token::Close => drop(inputs.pop()),
                        _ => skip(input, rest)?,
                    }
                }
                (0, 1) => {
                    let mut reading = fragments.remove(0);
                    if let Step::Variable { kind, variable, depth } = &self.steps[reading.step] {
                        let value = Bound::One(kind.take(input)?);
                        reading.bind(*variable, *depth, value);
                    }
                    reading.step += 1;
                    readings.push(reading);
                }
                _ => return Err(ambiguous(&token)),
            }
        }
    }

    /// Brings every reading to where it needs a token.
    fn step(&self, readings: &mut Vec<Reading>, token: &Token) -> syn::Result<Fronts> {
        let mut res = Fronts::default();
        let mut steps = 0_usize;
        while let Some(mut it) = readings.pop() {
            steps += 1;
            if 100_000 < steps {
                return Err(syn::Error::new(token.span(), "is matched in too many ways"));
            }
            match &self.steps[it.step] {
                Step::Token(expected) if expected.same(token) => res.plain.push(it.to(it.step + 1)),
                Step::Open(delimiter) if token.opens(*delimiter) => {
                    res.plain.push(it.to(it.step + 1));
                }
                Step::Close if matches!(token, Token::Close) => res.plain.push(it.to(it.step + 1)),
                Step::Token(_) | Step::Open(_) | Step::Close => {}
                Step::Repeat { times, variables, depth, after } => {
                    for variable in variables.clone() {
                        it.bind(variable, *depth, Bound::Many(Vec::new()));
                    }
                    if *times != Times::Some {
                        readings.push(it.to(*after));
                    }
                    it.step += 1;
                    readings.push(it);
                }
                Step::Again { times, first } => {
                    readings.push(it.to(it.step + 1));
                    if *times != Times::Once {
                        readings.push(it.to(*first));
                    }
                }
                Step::Separator(separator) => {
                    readings.push(it.to(it.step + 2));
                    if separator.same(token) {
                        res.plain.push(it.to(it.step + 1));
                    }
                }
                Step::Back { first } => readings.push(it.to(*first)),
                Step::Variable { kind, .. } => match kind.may_begin(token) {
                    Some(true) => res.fragments.push(it),
                    Some(false) => {}
                    None => {
                        let message = "cannot be told to begin this fragment or not";
                        return Err(syn::Error::new(token.span(), message));
                    }
                },
                Step::End if matches!(token, Token::End) => res.ends.push(it),
                Step::End => {}
            }
        }
        Ok(res)
    }
}

/// Where readings stand before a token.
#[derive(Default)]
struct Fronts {
    plain: Vec<Reading>,
    fragments: Vec<Reading>,
    ends: Vec<Reading>,
}

fn enter<'a>(input: &ParseBuffer<'a>, delimiter: Delimiter) -> syn::Result<ParseBuffer<'a>> {
    let inner;
    match delimiter {
        Delimiter::Parenthesis => drop(syn::parenthesized!(inner in input)),
        Delimiter::Brace => drop(syn::braced!(inner in input)),
        _ => drop(syn::bracketed!(inner in input)),
    }
    Ok(inner)
}

fn ambiguous(token: &Token) -> syn::Error {
    syn::Error::new(token.span(), "can be matched in more than one way")
}
