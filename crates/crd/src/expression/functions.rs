//! The table of functions: `functions.txt`, a line for each overload. It lists those of Kubernetes 1.36, and is printed
//! by `tests/control-plane/modules/kubernetes/functions`.

use std::{collections::BTreeMap, sync::LazyLock};

use super::types::Type;

pub struct Overload {
    pub is_method: bool,
    /// For a method, the receiver's type is the first one.
    pub arguments: Vec<Type<'static>>,
    pub result: Type<'static>,
}

pub type Functions = BTreeMap<&'static str, Vec<Overload>>;

/// The functions that rules of CRDs can call.
pub static CRD_FUNCTIONS: LazyLock<Functions> =
    LazyLock::new(|| parse_functions(include_str!("functions.txt")));

/// Parses lines of `name(types) type`; a method's name begins with a dot.
pub fn parse_functions(lines: &'static str) -> Functions {
    let mut functions = Functions::new();
    for line in lines.lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        let (arguments, result) = rest.split_at(closing_bracket(rest));
        let arguments = split_list(arguments).into_iter().map(parse_type).collect();
        let overload = Overload {
            is_method: name.starts_with('.'),
            arguments,
            result: parse_type(result.trim_start_matches(')').trim()),
        };
        functions.entry(name.trim_start_matches('.')).or_default().push(overload);
    }
    functions
}

/// Returns the index of the bracket that closes one before the text.
fn closing_bracket(text: &str) -> usize {
    let mut depth = 1_u32;
    let closes = |c: char| {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    text.find(closes).unwrap_or(text.len())
}

/// Splits a list at the commas that are outside of brackets.
fn split_list(list: &'static str) -> Vec<&'static str> {
    let (mut depth, mut start, mut parts) = (0_u32, 0, Vec::new());
    for (at, it) in list.char_indices() {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = list[start..].trim();
    if !last.is_empty() {
        parts.push(last);
    }
    parts
}

fn parse_type(text: &'static str) -> Type<'static> {
    if let Some((name, of)) = text.strip_suffix(')').and_then(|inner| inner.split_once('(')) {
        return Type::Compound(name, split_list(of).into_iter().map(parse_type).collect());
    }
    match text.strip_prefix('<').and_then(|name| name.strip_suffix('>')) {
        Some(name) => Type::Parameter(name),
        None if text == "dyn" => Type::Dyn,
        None => Type::Simple(text),
    }
}

#[test]
fn every_line_is_an_overload() {
    let lines = include_str!("functions.txt").lines();
    let shown = |name: &str, it: &Overload| {
        fn text(it: &Type<'_>) -> String {
            match it {
                Type::Parameter(name) => format!("<{name}>"),
                Type::Compound(name, of) => {
                    format!("{name}({})", of.iter().map(text).collect::<Vec<_>>().join(", "))
                }
                other => other.to_string(),
            }
        }
        let dot = if it.is_method { "." } else { "" };
        let arguments: Vec<String> = it.arguments.iter().map(text).collect();
        format!("{dot}{name}({}) {}", arguments.join(", "), text(&it.result))
    };
    let all = CRD_FUNCTIONS
        .iter()
        .flat_map(|(name, all)| all.iter().map(|overload| shown(name, overload)));
    let mut all: Vec<String> = all.collect();
    all.sort();
    assert_eq!(all, lines.collect::<Vec<_>>());
}
