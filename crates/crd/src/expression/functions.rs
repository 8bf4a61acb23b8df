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
pub static OF_CRDS: LazyLock<Functions> = LazyLock::new(|| parse(include_str!("functions.txt")));

/// Lines of `name(types) type`; a method's name begins with a dot.
pub fn parse(lines: &'static str) -> Functions {
    let mut res = Functions::new();
    for line in lines.lines() {
        let Some((name, rest)) = line.split_once('(') else { continue };
        let (arguments, result) = rest.split_at(end(rest));
        let arguments = split(arguments).into_iter().map(type_).collect();
        let overload = Overload {
            is_method: name.starts_with('.'),
            arguments,
            result: type_(result.trim_start_matches(')').trim()),
        };
        res.entry(name.trim_start_matches('.')).or_default().push(overload);
    }
    res
}

/// Where the bracket is that closes one before the text.
fn end(text: &str) -> usize {
    let mut depth = 1_u32;
    let closes = |it: char| {
        match it {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        depth == 0
    };
    text.find(closes).unwrap_or(text.len())
}

/// The parts between the commas that are in no brackets.
fn split(list: &'static str) -> Vec<&'static str> {
    let (mut depth, mut start, mut res) = (0_u32, 0, Vec::new());
    for (at, it) in list.char_indices() {
        match it {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                res.push(list[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    let last = list[start..].trim();
    if !last.is_empty() {
        res.push(last);
    }
    res
}

fn type_(text: &'static str) -> Type<'static> {
    if let Some((name, of)) = text.strip_suffix(')').and_then(|it| it.split_once('(')) {
        return Type::Compound(name, split(of).into_iter().map(type_).collect());
    }
    match text.strip_prefix('<').and_then(|it| it.strip_suffix('>')) {
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
    let all = OF_CRDS.iter().flat_map(|(name, all)| all.iter().map(|it| shown(name, it)));
    let mut all: Vec<String> = all.collect();
    all.sort();
    assert_eq!(all, lines.collect::<Vec<_>>());
}
