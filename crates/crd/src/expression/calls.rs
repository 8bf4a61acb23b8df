//! Estimates the maximum cost of function calls: a port of `EstimateCallCost` of `library/cost.go` of apiserver 0.36,
//! and of what cel-go adds. A function that is not listed costs 1, as there.

use cel::common::ast::{Expr, LiteralValue};

use super::{
    cost::{Items, Node},
    estimates::{Size, scaled},
    functions::Overload,
    types::Type::{Compound, Simple},
};

/// The cost of reading one character of a string.
const TEXT: f64 = 0.1;
const REGEX: f64 = 0.25;
/// The characters of the regular expression of a named format.
const FORMAT: f64 = 128.0;

/// Returns the cost of a call without its arguments, and the size of its result, if that is estimated.
pub fn call_cost<'e, 'a>(
    (name, overload): (&str, &Overload),
    target: Option<&Node<'e, 'a>>,
    args: &[Node<'e, 'a>],
    items: &dyn Fn(&Node<'e, 'a>) -> Option<Items>,
) -> (u64, Option<Size>) {
    let takes = |at: usize, kind: &str| takes_type(overload, at, kind);
    let read = |size: Size| scaled(size.max, TEXT);
    let argument = |at: usize| args.get(at).map_or(Size::UNKNOWN, Node::size_or_unknown);
    if let Some(target) = target {
        return method_cost((name, overload), target, args, items);
    }
    let size = argument(0);
    match name {
        "sets.contains" | "sets.intersects" => {
            (scaled(size.times(argument(1)).max, 1.0).saturating_add(1), None)
        }
        "sets.equivalent" => (scaled(size.times(argument(1)).max, 2.0).saturating_add(1), None),
        "lists.range" => {
            new_list(1.0, Size::exactly(nonnegative_literal(&args[0]).unwrap_or(u64::MAX)))
        }
        "url" => (read(size), Some(size)),
        "cidr" | "ip" | "isCIDR" | "isIP" | "isQuantity" | "isSemver" | "quantity" | "semver" => {
            (read(size), None)
        }
        "ip.isCanonical" => (scaled(size.max, 2.0 * TEXT), None),
        "bytes" if takes(0, "string") => {
            (read(size), Some(Size { min: size.min, max: size.max.wrapping_mul(4) }))
        }
        "string" if takes(0, "bytes") => {
            (read(size), Some(Size { min: size.min / 4, max: size.max }))
        }
        "strings.quote" => {
            let max = size.max.wrapping_mul(2).wrapping_add(2);
            (read(size), Some(Size { min: size.min.wrapping_add(2), max }))
        }
        "@in" if takes(1, "list") => (scaled(argument(1).max, 1.0), None),
        "_==_" | "_!=_" => (equality_cost(name, args), None),
        "_<=_" | "_<_" | "_>=_" | "_>_"
            if (takes(0, "string") && takes(1, "string"))
                || (takes(0, "bytes") && takes(1, "bytes")) =>
        {
            (scaled(size.max.min(argument(1).max), TEXT), None)
        }
        _ => (1, None),
    }
}

/// Returns true if the argument of an overload at an index has the type `kind`.
fn takes_type(overload: &Overload, at: usize, kind: &str) -> bool {
    matches!(overload.arguments.get(at), Some(Simple(it) | Compound(it, _)) if *it == kind)
}

fn method_cost<'e, 'a>(
    (name, overload): (&str, &Overload),
    target: &Node<'e, 'a>,
    args: &[Node<'e, 'a>],
    items: &dyn Fn(&Node<'e, 'a>) -> Option<Items>,
) -> (u64, Option<Size>) {
    let size = target.size_or_unknown();
    let read = |size: Size| scaled(size.max, TEXT);
    let argument = |at: usize| args.get(at).map_or(Size::UNKNOWN, Node::size_or_unknown);
    let matched = || {
        let text = scaled(size.max.saturating_add(1), TEXT);
        text.saturating_mul(scaled(argument(0).max, REGEX))
    };
    match name {
        "slice" => {
            let end = args.get(1).and_then(nonnegative_literal).unwrap_or(size.max);
            let start = args.first().and_then(nonnegative_literal).unwrap_or(0);
            new_list(1.0, Size::exactly(end.wrapping_sub(start)))
        }
        "reverse" => new_list(1.0, size),
        "flatten" => {
            #[expect(clippy::cast_precision_loss, reason = "Go computes with the same float")]
            let depth =
                args.first().map_or(1, |node| nonnegative_literal(node).unwrap_or(u64::MAX)) as f64;
            new_list(depth, size)
        }
        "distinct" => new_list(2.0, size.times(size)),
        "sort" => {
            let of = overload.arguments.first();
            let is_text =
                matches!(of, Some(Compound(_, of)) if matches!(of[0], Simple("string" | "bytes")));
            new_list(if is_text { 2.0 + TEXT } else { 2.0 }, size.times(size))
        }
        "isSorted" | "sum" | "max" | "min" | "indexOf" | "lastIndexOf" => match items(target) {
            Some(it) => {
                let each = if it.are_texts { read(it.size).saturating_add(1) } else { 1 };
                (size.max.saturating_mul(each), None)
            }
            None => (read(size), None),
        },
        "lowerAscii" | "substring" | "trim" | "upperAscii" => (read(size), Some(size)),
        "replace" => (
            scaled(size.max, 2.0 * TEXT),
            Some(size_after_replacement(size, argument(0), argument(1))),
        ),
        "split" => {
            let max = args.get(1).and_then(integer_literal).map_or(size.max, i64::cast_unsigned);
            (scaled(size.max, 2.0 * TEXT), Some(Size { min: 0, max }))
        }
        "join" => {
            let each = items(target).map_or(Size::exactly(0), |items| size.times(items.size));
            let between = Size { min: size.min.saturating_sub(1), max: size.max.saturating_sub(1) };
            let separators = args.first().map(|node| node.size_or_unknown().times(between));
            let size = separators.map_or(each, |separator| each.plus(separator));
            (read(size), Some(size))
        }
        "find" | "findAll" => (matched(), Some(Size { min: 0, max: size.max })),
        "matches" => (matched(), None),
        "contains" => (read(size).saturating_mul(read(argument(0))), None),
        "startsWith" | "endsWith" => (read(argument(0)), None),
        "format" => (read(size), None),
        // Addresses have at most 16 bytes.
        "containsIP" if takes_type(overload, 1, "string") => {
            (4_u64.saturating_add(read(argument(0))), None)
        }
        "containsIP" => (4, None),
        "containsCIDR" if takes_type(overload, 1, "string") => {
            (7_u64.saturating_add(read(argument(0))), None)
        }
        "containsCIDR" => (7, None),
        "validate" => (scaled(read(argument(0)), FORMAT * REGEX), None),
        _ => (1, None),
    }
}

/// Returns the cost of creating a list, and its size.
fn new_list(factor: f64, size: Size) -> (u64, Option<Size>) {
    (scaled(size.max, factor).saturating_add(11), Some(size))
}

fn equality_cost(name: &str, args: &[Node<'_, '_>]) -> u64 {
    let [one, other] = args else { return 1 };
    let smaller = one.size_or_unknown().max.min(other.size_or_unknown().max);
    match (&one.type_, &other.type_) {
        (Simple(one), Simple(is)) if name == "_==_" && one == is => match *one {
            "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver" => 1,
            "kubernetes.NamedFormat" => scaled(64, TEXT),
            "kubernetes.URL" => scaled(other.size.map_or(1, |size| size.max), TEXT),
            _ => scaled(smaller, TEXT),
        },
        _ => scaled(smaller, TEXT),
    }
}

/// Returns the size of a string in which `what` is replaced by `by`.
fn size_after_replacement(size: Size, what: Size, by: Size) -> Size {
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "Go computes with the same floats"
    )]
    let count = |all: u64, one: u64| (all as f64 / one as f64).ceil() as u64;
    let (most, kept) = match what.min {
        0 => (size.max.saturating_add(1), size.max),
        least if by.max <= least => (0, size.max),
        least => (count(size.max, least), 0),
    };
    let (fewest, left) = match what.max {
        0 => (size.min.saturating_add(1), size.min),
        most if most <= by.min => (0, size.min),
        most => (count(size.min, most), 0),
    };
    Size { min: fewest, max: most }.times(by).plus(Size { min: left, max: kept })
}

fn integer_literal(node: &Node<'_, '_>) -> Option<i64> {
    match &node.expr.expr {
        Expr::Literal(LiteralValue::Int(it)) => Some(*it.inner()),
        _ => None,
    }
}

/// Returns the number of an integer literal; zero if it is negative.
fn nonnegative_literal(node: &Node<'_, '_>) -> Option<u64> {
    integer_literal(node).map(|integer| integer.max(0).cast_unsigned())
}
