//! Expressions of every type, as the body of a default: rustc computes them, and so may we, or not at all.

use crate::random::Random;

const INTS: &[(&str, &[&str])] = &[
    ("i8", &["1", "-7", "100", "i8::MAX", "i8::MIN"]),
    ("u8", &["1", "7", "200", "u8::MAX", "b'a'"]),
    ("i32", &["1", "-7", "100_000", "i32::MAX", "0x7f"]),
    ("u32", &["1", "7", "3_000_000_000", "u32::MAX", "0b11"]),
    ("i64", &["1", "-7", "10_000_000_000", "i64::MIN"]),
    ("u64", &["1", "7", "u64::MAX", "1 << 40"]),
    ("usize", &["1", "7", "64"]),
];

/// One of the ways to write an expression: mostly one that is evaluated, so that whole expressions are.
fn way(random: &mut Random, evaluated: &[usize], all: usize) -> usize {
    if random.percent(96) { *random.pick(evaluated) } else { random.below(all) }
}

/// Items, a field, and no attribute.
pub fn template(random: &mut Random) -> (String, String, String) {
    let which = random.below(12);
    let (ty, body) = match which {
        0..5 => {
            let (ty, _) = *random.pick(INTS);
            (ty.to_owned(), integer(random, ty, 0))
        }
        5 | 6 => {
            let ty = *random.pick(&["f64", "f32"]);
            (ty.to_owned(), float(random, ty, 0))
        }
        7 => ("bool".to_owned(), truth(random, 0)),
        8 => ("Vec<i64>".to_owned(), list(random)),
        9 => ("Option<i64>".to_owned(), maybe(random)),
        _ => ("String".to_owned(), text(random, 0)),
    };
    let body = match way(random, &[0, 1, 2, 5, 6, 7], 8) {
        0 => format!("let it: {ty} = {body}; it"),
        1 => format!("let it = {body}; let other = it.clone(); other"),
        2 => format!("if {} {{ {body} }} else {{ Default::default() }}", truth(random, 1)),
        3 => format!("fn inner() -> {ty} {{ {body} }} inner()"),
        4 => format!("let f = || -> {ty} {{ {body} }}; f()"),
        6 => format!("let x = 1; {{ let x: {ty} = {body}; return x; }}"),
        7 => format!("inner(1, {body})"),
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
    match way(random, &[0, 1, 2, 3, 4, 10, 11, 17, 18, 19, 20, 21, 22, 23, 24, 25], 26) {
        0 => format!("({} + {})", below(random), below(random)),
        1 => format!("({} - {})", below(random), below(random)),
        2 => format!("({} * {})", below(random), below(random)),
        3 => format!("({} / {})", below(random), below(random)),
        4 => format!("({} % {})", below(random), below(random)),
        5 => format!("({} & {} | {})", below(random), below(random), below(random)),
        6 => format!("({} ^ {})", below(random), below(random)),
        7 => format!("(!{})", below(random)),
        8 => format!("({} << {})", below(random), random.below(6)),
        9 => format!("({} >> {})", below(random), random.below(6)),
        10 => {
            let (other, _) = *random.pick(INTS);
            format!("({} as {ty})", integer(random, other, depth + 1))
        }
        11 => format!("({} as {ty})", float(random, "f64", depth + 1)),
        12 => format!("{ty}::from({})", truth(random, depth + 1)),
        13 => format!("std::cmp::max({}, {})", below(random), below(random)),
        14 => format!("({} as {ty}).wrapping_add({})", below(random), below(random)),
        15 => format!("({} as {ty}).saturating_sub({})", below(random), below(random)),
        16 => format!("({} as {ty}).pow({})", below(random), random.below(4)),
        17 => format!(
            "if {} {{ {} }} else {{ {} }}",
            truth(random, depth + 1),
            below(random),
            below(random)
        ),
        18 => format!("{{ let x = {}; x / 2 + {} }}", below(random), below(random)),
        19 => format!(
            "match {} {{ 0 => {}, 1..=9 => {}, x => x }}",
            below(random),
            below(random),
            below(random)
        ),
        20 => format!("({}.len() as {ty})", text(random, depth + 1)),
        21 => format!("({ty}::MAX / 3)"),
        22 => format!(
            "(if let Some(x) = {} {{ x as {ty} }} else {{ {} }})",
            maybe(random),
            below(random)
        ),
        23 => format!("(LIMIT as {ty} + {})", below(random)),
        24 => format!(
            "(match {} {{ LIMIT => {}, _ => {} }})",
            integer(random, "i64", 3),
            below(random),
            below(random)
        ),
        _ => leaf(random),
    }
}

fn float(random: &mut Random, ty: &str, depth: usize) -> String {
    let leaf = |random: &mut Random| {
        (*random.pick(&["0.1", "0.2", "1.0", "-3.5", "1e10", "7.", "2.5e-3"])).to_owned()
    };
    if 3 < depth {
        return leaf(random);
    }
    let below = |random: &mut Random| float(random, ty, depth + 1);
    match way(random, &[0, 1, 2, 3, 4, 5, 8, 9, 10, 11], 12) {
        0 => format!("({} + {})", below(random), below(random)),
        1 => format!("({} - {})", below(random), below(random)),
        2 => format!("({} * {})", below(random), below(random)),
        3 => format!("({} / {})", below(random), below(random)),
        4 => format!("({} as {ty})", integer(random, "i32", depth + 1)),
        5 => format!("(-{})", below(random)),
        6 => format!("({} as {ty}).floor()", below(random)),
        7 => format!("({} as {ty}).max({})", below(random), below(random)),
        8 => format!("(({}) as f32 as {ty})", below(random)),
        9 => format!(
            "if {} {{ {} }} else {{ {} }}",
            truth(random, depth + 1),
            below(random),
            below(random)
        ),
        _ => leaf(random),
    }
}

fn truth(random: &mut Random, depth: usize) -> String {
    if 3 < depth {
        return "true".to_owned();
    }
    let (ty, _) = *random.pick(INTS);
    match way(random, &[0, 1, 2, 3, 4, 5, 6, 7, 8], 9) {
        0 => format!(
            "(({} as {ty}) < ({} as {ty}))",
            integer(random, ty, depth + 1),
            integer(random, ty, depth + 1)
        ),
        1 => format!(
            "(({} as {ty}) == {})",
            integer(random, ty, depth + 1),
            integer(random, ty, depth + 1)
        ),
        2 => format!("({} && {})", truth(random, depth + 1), truth(random, depth + 1)),
        3 => format!("({} || {})", truth(random, depth + 1), truth(random, depth + 1)),
        4 => format!("!{}", truth(random, depth + 1)),
        5 => format!("{}.is_empty()", text(random, depth + 1)),
        6 => format!("({}).is_some()", maybe(random)),
        7 => format!("matches!({} as {ty}, 1 | 7)", integer(random, ty, depth + 1)),
        _ => (*random.pick(&["true", "false"])).to_owned(),
    }
}

fn text(random: &mut Random, depth: usize) -> String {
    let leaf = |random: &mut Random| {
        (*random.pick(&[
            "\"a\".to_owned()",
            "String::from(\"é b\")",
            "\"x,y\".to_string()",
            "String::new()",
        ]))
        .to_owned()
    };
    if 2 < depth {
        return leaf(random);
    }
    match way(random, &[0, 6, 13, 15, 16, 17], 18) {
        0 => format!("format!(\"{{}}\", {})", integer(random, "i64", depth + 1)),
        1 => format!("format!(\"{{:>5}}|{{:<3}}|{{:^4}}\", {}, 1, 'c')", text(random, depth + 1)),
        2 => format!("format!(\"{{:05.2}}\", {} as f64)", float(random, "f64", depth + 1)),
        3 => format!("format!(\"{{:?}}\", {})", text(random, depth + 1)),
        4 => format!(
            "format!(\"{{:#x}} {{:08b}}\", {} as i32, 5u8)",
            integer(random, "i32", depth + 1)
        ),
        5 => format!("({} as f64).to_string()", float(random, "f64", depth + 1)),
        6 => format!("({} as i64).to_string()", integer(random, "i64", depth + 1)),
        7 => format!("({} + &{})", text(random, depth + 1), text(random, depth + 1)),
        8 => format!("{}.to_uppercase()", text(random, depth + 1)),
        9 => format!("{}.replace(\"a\", \"bb\")", text(random, depth + 1)),
        10 => format!("[{}, {}].concat()", text(random, depth + 1), text(random, depth + 1)),
        11 => format!("{}.chars().rev().collect::<String>()", text(random, depth + 1)),
        12 => format!(
            "{}.split(',').map(str::trim).collect::<Vec<_>>().join(\"-\")",
            text(random, depth + 1)
        ),
        13 => {
            format!("{{ let x = {}; format!(\"{{x}}-{{0}}\", x.len()) }}", text(random, depth + 1))
        }
        14 => format!("({} as f32).to_string()", float(random, "f32", depth + 1)),
        16 => format!(
            "{{ let x = {}; let y = true; format!(\"{{x}}/{{y}}/{{}}\", 7) }}",
            text(random, depth + 1)
        ),
        17 => format!(
            "(if {} {{ {} }} else {{ {} }})",
            truth(random, depth + 1),
            text(random, depth + 1),
            text(random, depth + 1)
        ),
        _ => leaf(random),
    }
}

fn list(random: &mut Random) -> String {
    let n = |random: &mut Random| integer(random, "i64", 3);
    match way(random, &[9, 10, 11], 12) {
        0 => format!("vec![{}; 3]", n(random)),
        1 => format!("(1..4).map(|x| x * {}).collect()", random.below(9)),
        2 => format!(
            "vec![{}, {}, 3].into_iter().filter(|x| x % 2 == 1).collect()",
            n(random),
            n(random)
        ),
        3 => format!("{{ let mut v = vec![{}, 2, 1]; v.sort(); v.dedup(); v }}", n(random)),
        4 => format!("[1i64, 2, 3].iter().rev().copied().chain([{}]).collect()", n(random)),
        5 => format!(
            "[1i64, 2, 3].iter().enumerate().map(|(i, x)| i as i64 * x).take({}).collect()",
            random.below(4)
        ),
        6 => format!(
            "{{ let mut v = Vec::new(); for i in 0..={} {{ if i == 2 {{ continue; }} v.push(i); }} v }}",
            random.below(5)
        ),
        7 => format!(
            "vec![[1i64, 2].iter().sum::<i64>(), [3i64, 4].iter().product(), {}]",
            n(random)
        ),
        8 => format!("[[1i64, {}], [3, 4]].concat()", n(random)),
        10 => format!("{{ let list = vec![{}]; list.clone() }}", n(random)),
        11 => format!("[{}, 2].into()", n(random)),
        _ => format!("vec![{}, {}]", n(random), n(random)),
    }
}

fn maybe(random: &mut Random) -> String {
    let n = integer(random, "i64", 3);
    match way(random, &[0, 9, 10], 11) {
        0 => format!("Some({n})"),
        1 => format!("Some({n} as i64).filter(|x| *x > 2)"),
        2 => format!("Some({n} as i64).map(|x| x ^ 1)"),
        3 => format!("({n} as i64).checked_add(i64::MAX)"),
        4 => format!("({n} as i64).checked_div({})", random.below(2)),
        5 => "\"12\".parse::<i64>().ok()".to_owned(),
        6 => format!("None.or(Some({n}))"),
        7 => format!("[1i64, {n}].iter().copied().max()"),
        9 => format!("Some({n} as i64)"),
        10 => "None::<i64>".to_owned(),
        _ => format!("Some({n} as i64).and_then(|x| x.checked_mul(2))"),
    }
}
