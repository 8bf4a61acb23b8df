//! The parts of a file that are left out when it is parsed: bodies of functions, and modules of tests.
//!
//! Most of a program's code is in bodies, and hardly any of it decides what a CRD is. A body is left out only where its
//! tokens show that it has no effect outside of it: it declares nothing that could have one, and no attribute macro that
//! may replace the item around it gets it as its input.

use std::collections::BTreeSet;
use std::ops::Range;

use super::attribute_macros::{self, LANGUAGE, TOOLS};
use crate::text::raw_tokens::{Bracket, RawTokenKind, RawTokens};
use crate::text::syntax::BEFORE_NOT;

/// Words in a body behind which something may be declared that has an effect outside of it.
const WITH_EFFECT: &[&str] = &[
    "enum",
    "extern",
    "impl",
    "include",
    "macro",
    "macro_rules",
    "mod",
    "struct",
    "trait",
    "union",
];

/// Limit of the blocks around one another in which bodies are looked for.
const MOST_DEEP: usize = 64;

/// The memory that an item, a function, a name of an import, and one of an attribute take beside their tokens, in tokens.
const COST_OF_ITEM: usize = 4;
const COST_OF_FUNCTION: usize = 8;
const COST_OF_NAME: usize = 6;
const COST_OF_ATTRIBUTE: usize = 1;

/// A part of a text that is left out.
#[derive(Clone)]
pub struct OmittedRange {
    pub bytes: Range<usize>,
    /// True for the body of a function, for which `_` stands.
    pub is_body: bool,
}

/// The parts of a file that are left out, collected from its tokens.
pub struct Omission<'t> {
    tokens: &'t RawTokens<'t>,
    omits_tests: bool,
    /// The parts that are left out, in the order of the text.
    pub ranges: Vec<OmittedRange>,
    /// The cost of parsing what is left out, in tokens.
    pub omitted: usize,
    /// The cost of what is kept of the items beside their tokens, in tokens.
    pub of_items: usize,
    /// The macros that are called in them.
    pub called: BTreeSet<&'t str>,
    /// The tokens of each item outside of all modules.
    pub items: Vec<Range<usize>>,
}

/// The form of an item, as its tokens up to here show it.
#[derive(Clone, Copy, Default, PartialEq)]
enum Header {
    /// Attributes and modifiers.
    #[default]
    Start,
    Function,
    /// Items are between its braces.
    Container,
    /// It ends with its braces, or with `;`.
    Data,
    /// It ends with `;` alone.
    Statement,
}

#[derive(Clone, Copy, Default)]
struct ItemState {
    header: Header,
    /// An attribute macro may replace the item.
    may_be_replaced: bool,
    /// It has `#[cfg(test)]`.
    is_of_tests: bool,
    /// The number of `<` that are open.
    angles: usize,
}

impl<'t> Omission<'t> {
    pub fn of_file(tokens: &'t RawTokens<'t>, omits_tests: bool) -> Self {
        let mut omission = Self {
            tokens,
            omits_tests,
            ranges: Vec::new(),
            omitted: 0,
            of_items: 0,
            called: BTreeSet::new(),
            items: Vec::new(),
        };
        omission.omit_in_items(0, tokens.len(), MOST_DEEP);
        omission
    }

    /// Leaves out bodies between two tokens, at the place of items.
    fn omit_in_items(&mut self, from: usize, to: usize, most_deep: usize) {
        let mut item = ItemState::default();
        let mut item_start = from;
        let mut index = from;
        while index < to {
            let mut ends_item = self.tokens.kind_at(index) == Some(RawTokenKind::Punct(';'));
            match self.tokens.kind_at(index) {
                Some(RawTokenKind::Punct('#')) => {
                    if let Some(bracket) = self.attribute_bracket(index) {
                        if !self.is_plain_attribute(bracket) {
                            let name = self.attribute_name(bracket);
                            item.may_be_replaced |= !attribute_macros::is_adding(name);
                            let names =
                                self.names_between(bracket, self.tokens.closing_index(bracket));
                            self.of_items += COST_OF_ATTRIBUTE * names;
                        }
                        item.is_of_tests |= self.omits_tests && self.is_cfg_test(bracket);
                        index = self.tokens.closing_index(bracket);
                    }
                }
                Some(RawTokenKind::Punct(punct)) => self.read_punct(&mut item, index, punct),
                Some(RawTokenKind::Word) if item.header == Header::Start => {
                    item.header = self.header_at(index);
                    self.of_items += match item.header {
                        Header::Start => 0,
                        Header::Function => COST_OF_FUNCTION,
                        _ => COST_OF_ITEM,
                    };
                }
                Some(RawTokenKind::Word) if item.header == Header::Statement => {
                    self.of_items += COST_OF_NAME;
                }
                Some(RawTokenKind::Open(bracket)) => {
                    let close = self.tokens.closing_index(index);
                    let is_last = bracket == Bracket::Brace
                        && item.angles == 0
                        && item.header != Header::Statement;
                    if is_last {
                        match item.header {
                            Header::Container if item.is_of_tests => {
                                self.omit_braces(index, close, false);
                            }
                            Header::Function => self.omit_body(index, close),
                            Header::Container if most_deep > 0 && !item.may_be_replaced => {
                                self.omit_in_items(index + 1, close, most_deep - 1);
                            }
                            _ => {}
                        }
                        item = ItemState::default();
                        ends_item = true;
                    }
                    if item.header == Header::Statement && bracket == Bracket::Brace {
                        self.of_items += COST_OF_NAME * self.names_between(index, close);
                    }
                    index = close;
                }
                _ => {}
            }
            index += 1;
            if most_deep == MOST_DEEP && ends_item {
                self.items.push(item_start..index);
                item_start = index;
            }
        }
    }

    /// Returns whether an item certainly declares no kind, no module and no macro: it has no attribute that could, and
    /// calls no macro outside of the bodies of functions.
    pub fn is_plain(&self, item: Range<usize>) -> bool {
        let mut index = item.start;
        while index < item.end {
            let is_plain = match self.tokens.kind_at(index) {
                Some(RawTokenKind::Punct('#')) => {
                    self.attribute_bracket(index).is_none_or(|open| self.is_plain_attribute(open))
                }
                Some(RawTokenKind::Punct('!')) => {
                    !matches!(self.tokens.kind_at(index + 1), Some(RawTokenKind::Open(_)))
                }
                Some(RawTokenKind::Word) => {
                    !matches!(self.tokens.word_at(index), Some("macro" | "macro_rules" | "mod"))
                }
                Some(RawTokenKind::Open(_)) => {
                    let start = self.tokens.byte_range(index).end;
                    if self.ranges.binary_search_by_key(&start, |range| range.bytes.start).is_ok() {
                        index = self.tokens.closing_index(index);
                    }
                    true
                }
                _ => true,
            };
            if !is_plain {
                return false;
            }
            index += 1;
        }
        true
    }

    /// The number of names between two tokens.
    fn names_between(&self, from: usize, to: usize) -> usize {
        (from..to).filter(|index| self.tokens.word_at(*index).is_some()).count()
    }

    fn read_punct(&self, item: &mut ItemState, index: usize, punct: char) {
        match punct {
            ';' => *item = ItemState::default(),
            '<' => item.angles += 1,
            '>' if self.tokens.kind_at(index - 1) != Some(RawTokenKind::Punct('-')) => {
                item.angles = item.angles.saturating_sub(1);
            }
            // A call of a macro, or the definition of one.
            '!' if item.header == Header::Start => item.header = Header::Data,
            _ => {}
        }
    }

    /// Returns what a word at the start of an item makes of it.
    fn header_at(&self, index: usize) -> Header {
        let next = self.tokens.word_at(index + 1);
        match self.tokens.word_at(index) {
            Some("fn") => Header::Function,
            Some("impl" | "mod" | "trait") => Header::Container,
            Some("enum" | "macro" | "struct") => Header::Data,
            Some("static" | "type" | "use") => Header::Statement,
            Some("const") if !matches!(next, Some("async" | "extern" | "fn" | "unsafe")) => {
                Header::Statement
            }
            Some("union") if next.is_some() => Header::Data,
            _ => Header::Start,
        }
    }

    /// Returns the bracket of the attribute that `#` begins, if it does.
    fn attribute_bracket(&self, hash: usize) -> Option<usize> {
        let inner = usize::from(self.tokens.kind_at(hash + 1) == Some(RawTokenKind::Punct('!')));
        let bracket = hash + 1 + inner;
        (self.tokens.kind_at(bracket) == Some(RawTokenKind::Open(Bracket::Square)))
            .then_some(bracket)
    }

    /// Returns whether an attribute is one of the language or of a tool, whatever the configuration is.
    fn is_plain_attribute(&self, bracket: usize) -> bool {
        let is_path = self.tokens.kind_at(bracket + 2) == Some(RawTokenKind::Punct(':'));
        let Some(name) = self.tokens.word_at(bracket + 1) else { return false };
        if is_path {
            TOOLS.contains(&name)
        } else {
            name != "cfg_attr" && name != "derive" && LANGUAGE.contains(&name)
        }
    }

    /// Returns whether an attribute is `#[cfg(test)]`.
    fn is_cfg_test(&self, bracket: usize) -> bool {
        self.tokens.word_at(bracket + 1) == Some("cfg")
            && self.tokens.kind_at(bracket + 2) == Some(RawTokenKind::Open(Bracket::Round))
            && self.tokens.word_at(bracket + 3) == Some("test")
            && self.tokens.closing_index(bracket + 2) == bracket + 4
    }

    /// Returns the last name of an attribute's path.
    fn attribute_name(&self, bracket: usize) -> &'t str {
        let mut index = bracket + 1;
        while self.tokens.kind_at(index + 1) == Some(RawTokenKind::Punct(':')) {
            index += 3;
        }
        self.tokens.word_at(index).unwrap_or_default()
    }

    fn omit_body(&mut self, open: usize, close: usize) {
        if open + 1 == close || self.has_effect_outside(open + 1, close) {
            return;
        }
        for index in open + 1..close {
            let is_call = self.tokens.kind_at(index + 1) == Some(RawTokenKind::Punct('!'))
                && matches!(self.tokens.kind_at(index + 2), Some(RawTokenKind::Open(_)));
            if is_call
                && let Some(name) = self.tokens.word_at(index)
                && !BEFORE_NOT.contains(&name)
            {
                self.called.insert(name.strip_prefix("r#").unwrap_or(name));
            }
        }
        self.omit_braces(open, close, true);
    }

    /// Leaves out what is between two braces.
    fn omit_braces(&mut self, open: usize, close: usize, is_body: bool) {
        self.omitted += self.tokens.parsing_cost(open + 1..close) - usize::from(is_body);
        let bytes = self.tokens.byte_range(open).end..self.tokens.byte_range(close).start;
        self.ranges.push(OmittedRange { bytes, is_body });
    }

    /// Returns whether anything between two tokens may have an effect outside of their block, macro calls apart.
    fn has_effect_outside(&self, from: usize, to: usize) -> bool {
        (from..to).any(|index| match self.tokens.kind_at(index) {
            Some(RawTokenKind::Word) => self.tokens.word_at(index).is_some_and(|word| {
                WITH_EFFECT.contains(&word) || word == "use" && self.is_renaming(index, to)
            }),
            Some(RawTokenKind::Punct('#')) => self
                .attribute_bracket(index)
                .is_some_and(|bracket| !self.is_plain_attribute(bracket)),
            _ => false,
        })
    }

    /// Returns whether an import gives something another name, such as a macro of the project.
    fn is_renaming(&self, from: usize, to: usize) -> bool {
        let end =
            (from..to).find(|index| self.tokens.kind_at(*index) == Some(RawTokenKind::Punct(';')));
        (from..end.unwrap_or(to)).any(|index| self.tokens.word_at(index) == Some("as"))
    }
}
