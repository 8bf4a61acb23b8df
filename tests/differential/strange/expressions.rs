//! Expressions of every type, as the body of a default: rustc computes them, and so may we, or not at all.

use crate::random::Random;

const INTS: &[(&str, &[&str])] = &[
    ("i8", &["1", "-7", "100", "i8::MAX", "-128"]),
    ("u8", &["1", "7", "200", "u8::MAX", "b'a'"]),
    ("i32", &["1", "-7", "100_000", "i32::MAX", "0x7f"]),
    ("u32", &["1", "7", "3_000_000_000", "0b11"]),
    ("i64", &["1", "-7", "10_000_000_000", "LIMIT"]),
    ("u64", &["1", "7", "1 << 40"]),
];

/// Items, a field, and no attribute.
pub fn template(random: &mut Random) -> (String, String, String) {
    let (ty, body) = match random.below(9) {
        0..4 => {
            let (ty, _) = *random.pick(INTS);
            (ty, integer(random, ty, 0))
        }
        4 => ("f64", (*random.pick(&["0.1", "-3.5", "1e10", "7.", "2.5e-3", "-(2.5)"])).to_owned()),
        5 => ("bool", truth(random, 0)),
        6 => ("Vec<i64>", list(random)),
        7 => ("Option<i64>", maybe(random)),
        _ => ("String", text(random, 0)),
    };
    let body = match random.below(8) {
        0 => format!("let it: {ty} = {body}; it"),
        1 => format!("let it = {body}; it"),
        2 => format!("inner(1, {body})"),
        3 => format!("let x: u8 = 1; {{ let x: {ty} = {body}; x }}"),
        4 => format!("if {} {{ {body} }} else {{ Default::default() }}", truth(random, 1)),
        _ => body,
    };
    let items = format!(
        "const LIMIT: i64 = 3; pub fn inner(x: u8, y: {ty}) -> {ty} {{ y }} pub fn make() -> {ty} {{ {body} }}"
    );
    (items, format!("#[serde(default = \"injected::make\")] pub strange: {ty},"), String::new())
}

fn integer(random: &mut Random, ty: &str, depth: usize) -> String {
    let leaf = |random: &mut Random| {
        let list = INTS.iter().find(|it| it.0 == ty).map_or(&["1"] as &[_], |it| it.1);
        (*random.pick(list)).to_owned()
    };
    if 3 < depth {
        return leaf(random);
    }
    let below = |random: &mut Random| integer(random, ty, depth + 1);
    match random.below(14) {
        0 => format!("({} + {})", below(random), below(random)),
        1 => format!("({} - {})", below(random), below(random)),
        2 => format!("({} * {})", below(random), below(random)),
        3 => format!("({} / {})", below(random), below(random)),
        4 => format!("({} % {})", below(random), below(random)),
        5 => format!("{{ let x: {ty} = {}; x / 2 + {} }}", below(random), below(random)),
        6 => (*random.pick(&["(!1)", "(3 ^ 1)", "(1 << 3)", "(7 as _)", "(-(-1))"])).to_owned(),
        _ => leaf(random),
    }
}

fn truth(random: &mut Random, depth: usize) -> String {
    if 3 < depth {
        return "true".to_owned();
    }
    match random.below(8) {
        0 => format!("(LIMIT == {})", integer(random, "i64", depth + 1)),
        1 => format!("(LIMIT != {})", integer(random, "i64", depth + 1)),
        2 => format!("({} && {})", truth(random, depth + 1), truth(random, depth + 1)),
        3 => format!("({} || {})", truth(random, depth + 1), truth(random, depth + 1)),
        4 => format!("({} == {})", text(random, depth + 1), text(random, depth + 1)),
        5 => format!("{}.is_empty()", text(random, depth + 1)),
        6 => format!("({}).is_some()", maybe(random)),
        _ => (*random.pick(&["true", "false", "(1 < 2)", "!true"])).to_owned(),
    }
}

fn text(random: &mut Random, depth: usize) -> String {
    match random.below(if depth < 3 { 9 } else { 5 }) {
        5 => format!("format!(\"{{}}\", {})", integer(random, "i64", depth + 1)),
        6 => format!("String::from({})", text(random, depth + 1)),
        7 => format!("format!(\"{{:>5}}\", {})", text(random, depth + 1)),
        8 => {
            format!("{{ let x = {}; format!(\"{{x}}-{{0}}\", x.len()) }}", text(random, depth + 1))
        }
        at => [
            "\"a\".to_owned()",
            "String::from(\"é b\")",
            "\"x\".to_string()",
            "String::new()",
            "\"y\".into()",
        ][at]
            .to_owned(),
    }
}

fn list(random: &mut Random) -> String {
    let n = integer(random, "i64", 3);
    match random.below(6) {
        0 => format!("vec![{n}; 3]"),
        1 => format!("[{n}, 2].into()"),
        2 => format!("(1..4).map(|x| x * {n}).collect()"),
        3 => "Vec::new()".to_owned(),
        _ => format!("vec![{n}, 3]"),
    }
}

fn maybe(random: &mut Random) -> String {
    let n = integer(random, "i64", 3);
    match random.below(5) {
        0 => "None::<i64>".to_owned(),
        1 => format!("Some({n}).filter(|x: &i64| *x > 2)"),
        2 => "\"12\".parse::<i64>().ok()".to_owned(),
        _ => format!("Some({n})"),
    }
}
