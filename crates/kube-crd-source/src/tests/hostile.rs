//! Source that nobody would write: whatever stands in a file, it is read or refused, and nothing panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{files, read_map};

/// Real kinds, to be spoilt.
const CORPUS: &[(&str, &str)] = &[
    ("composed", include_str!("../../../../tests/schemas/src/composed.rs")),
    ("containers", include_str!("../../../../tests/schemas/src/containers.rs")),
    ("defaults", include_str!("../../../../tests/schemas/src/defaults.rs")),
    ("docs", include_str!("../../../../tests/schemas/src/docs.rs")),
    ("enums", include_str!("../../../../tests/schemas/src/enums.rs")),
    ("names", include_str!("../../../../tests/schemas/src/names.rs")),
    ("resources", include_str!("../../../../tests/schemas/src/resources.rs")),
    ("rules", include_str!("../../../../tests/schemas/src/rules.rs")),
    ("scalars", include_str!("../../../../tests/schemas/src/scalars.rs")),
    ("validation", include_str!("../../../../tests/schemas/src/validation.rs")),
];

/// How many texts are spoilt; `SPOILT=100000 cargo test --release nothing_that_is_spoilt` by hand.
const SPOILT: usize = 100;

/// The same numbers in each run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % end.max(1)
    }
}

/// Words, and what stands between them.
fn pieces(text: &str) -> Vec<&str> {
    let word = |it: char| it.is_alphanumeric() || it == '_';
    let mut res = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = if word(first) {
            rest.find(|it| !word(it)).unwrap_or(rest.len())
        } else {
            first.len_utf8()
        };
        res.push(&rest[..end]);
        rest = &rest[end..];
    }
    res
}

fn spoil(text: &str, numbers: &mut Numbers) -> String {
    let mut parts = pieces(text);
    match numbers.below(9) {
        0 => {
            let mut end = numbers.below(text.len());
            while !text.is_char_boundary(end) {
                end -= 1;
            }
            return text[..end].to_owned();
        }
        1 => drop(parts.remove(numbers.below(parts.len()))),
        2 => {
            let at = numbers.below(parts.len());
            parts.insert(at, parts[at]);
        }
        3 => {
            let (one, other) = (numbers.below(parts.len()), numbers.below(parts.len()));
            parts.swap(one, other);
        }
        4 => {
            let (start, end) = (numbers.below(parts.len()), numbers.below(parts.len()));
            parts.drain(start.min(end)..start.max(end).min(start.min(end) + 50));
        }
        5 => {
            let odd = [
                "(",
                ")",
                "<",
                ">",
                "\"",
                "'",
                "0x",
                "r#",
                "é",
                "\0",
                "#[",
                "/*",
                "1e999",
                "..",
                "99999999999999999999999",
            ];
            let at = numbers.below(parts.len());
            parts[at] = odd[numbers.below(odd.len())];
        }
        // One word in the place of another still parses, more often than not.
        _ => {
            let long = |it: &&str| it.starts_with(char::is_alphabetic);
            let words: Vec<_> = parts.iter().copied().filter(long).collect();
            let (at, word) = (numbers.below(parts.len()), words[numbers.below(words.len())]);
            if let Some(part) = parts[at..].iter_mut().find(|it| long(it)) {
                *part = word;
            }
        }
    }
    parts.concat()
}

#[test]
fn nothing_that_is_spoilt_makes_the_reader_panic() {
    // More are spoilt by hand.
    let count = option_env!("SPOILT").and_then(|it| it.parse().ok()).unwrap_or(SPOILT);
    let mut numbers = Numbers(7);
    for _ in 0..count {
        let (name, text) = CORPUS[numbers.below(CORPUS.len())];
        let mut spoilt = text.to_owned();
        for _ in 0..=numbers.below(3) {
            spoilt = spoil(&spoilt, &mut numbers);
        }
        let code = files(&[("src/main.rs", &spoilt)]);
        let found = catch_unwind(AssertUnwindSafe(|| read_map(&code)));
        assert!(found.is_ok(), "it panics over {name}:\n{spoilt}");
    }
}

/// The messages of what is not read, and of the first kind.
fn refusals(text: &str) -> Vec<String> {
    let reading = read_map(&files(&[("src/main.rs", text)]));
    let of_kind = reading.kinds.into_iter().filter_map(|kind| kind.crd.err()).flatten();
    reading.unexplored.into_iter().chain(of_kind).map(|problem| problem.to_string()).collect()
}

#[test]
fn imports_of_one_name_are_limited() {
    let kind = format!("{}{}{} {{ a: String }}", super::HEAD, super::SPEC, super::KIND);
    let repeated = |count: usize| {
        format!("{kind} mod m {{ pub struct a; }} use m::{{{}}};", "a, ".repeat(count))
    };
    assert_eq!(refusals(&repeated(64)), [""; 0]);
    let refused = refusals(&repeated(100_000));
    let message = "src/main.rs imports `a` more than 64 times";
    assert!(refused[0].contains(message), "{refused:?}");
}

#[test]
fn words_of_macros_are_limited() {
    use std::fmt::Write as _;
    let mut text = String::new();
    for index in 0..3000 {
        let next = index + 1;
        write!(text, "macro_rules! m{index} {{ () => {{ m{next}! {{}} }} }}\nm{index}! {{}}\n")
            .unwrap();
    }
    let refused = refusals(&text);
    assert!(refused.iter().any(|it| it.ends_with("may declare kinds here, and is not expanded")));
    let few: String = text.lines().take(200).collect::<Vec<_>>().join("\n");
    assert_eq!(refusals(&few), [""; 0]);
}

#[test]
fn brackets_that_are_nested_too_deep_are_refused_also_in_the_arguments_of_macros() {
    let deep = format!("\nm! {{ {}{} }}", "(".repeat(900_000), ")".repeat(900_000));
    let reading = read_map(&files(&[("src/main.rs", &deep)]));
    let [problem] = &reading.unexplored[..] else { panic!("{:?}", reading.unexplored) };
    let message = "src/main.rs:2:100005: cannot be parsed: the brackets are nested too deep";
    assert_eq!(problem.to_string(), message);
    let main = "fn f() { include!(\"deep.rs\") }";
    let reading = read_map(&files(&[("src/main.rs", main), ("src/deep.rs", &deep)]));
    let [problem] = &reading.unexplored[..] else { panic!("{:?}", reading.unexplored) };
    assert_eq!(problem.message, "cannot read `src/deep.rs`, which a function body includes");
}

#[test]
fn a_long_chain_of_renamed_macros_is_followed_once() {
    let renames = (1..30_000).rev().map(|n| format!("use a::m{n} as m{};", n + 1));
    let chain: String = renames.chain(["use std::include as m1;".to_owned()]).collect();
    let reading = read_map(&files(&[("src/main.rs", &format!("mod a {{ {chain} }}"))]));
    assert!(reading.kinds.is_empty());
}
