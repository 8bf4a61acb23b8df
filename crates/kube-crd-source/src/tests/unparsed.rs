//! Items that cannot be parsed: those that declare no kind stop only what needs them.

use super::*;

/// The problems of a spec beside code with an item that cannot be parsed, and the notes about that item.
fn read_beside(body: &str, beside: &str) -> (Vec<String>, Vec<String>) {
    let reading = read_map(&spec(body, beside));
    let texts = |list: &[Problem]| list.iter().map(ToString::to_string).collect();
    (texts(&all_problems(&reading)), texts(&reading.unread))
}

/// Nothing but a note about the item, at its place.
#[track_caller]
fn read_all_the_same(body: &str, beside: &str, place: &str) {
    let (problems, notes) = read_beside(body, beside);
    let none: [String; 0] = [];
    assert_eq!(problems, none, "{beside}");
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert!(notes[0].starts_with(&format!("src/main.rs:{place}: cannot be parsed: ")), "{notes:?}");
    assert!(notes[0].ends_with(": kinds in it are left out"), "{notes:?}");
}

#[test]
fn an_item_that_cannot_be_parsed_stops_no_kind_that_does_not_need_it() {
    read_all_the_same("a: String,", "fn f(x: u8 => u8) -> u8 { x }", "7:12");
    read_all_the_same(
        "#[serde(default = \"f\")] a: In,",
        "$T struct In { x: Option<i32> } fn f() -> In { In { x: None } }\n/// Ü\nstatic A: u8 = => 1;",
        "9:16",
    );
    read_all_the_same(
        "#[serde(default = \"f\")] a: In,",
        "$T #[derive(Default)] struct In { x: i32 } fn f() -> In { In::default() } fn g(=> u8) {}",
        "7:137",
    );
    read_all_the_same("a: String,", "impl => Other { const fn new() -> String { vec![] } }", "7:6");
}

#[test]
fn two_items_that_cannot_be_parsed_are_two_notes() {
    let (problems, notes) = read_beside("a: i32,", "fn f(=> u8) {} struct Other; fn g(=> u8) {}");
    assert!(problems.is_empty(), "{problems:?}");
    assert_eq!(notes.len(), 2, "{notes:?}");
}

#[test]
fn a_kind_that_needs_an_item_that_cannot_be_parsed_is_refused() {
    let refusal = |body: &str, beside: &str| {
        let (problems, _) = read_beside(body, beside);
        assert_eq!(problems.len(), 1, "{problems:?}");
        problems.into_iter().next().unwrap_or_default()
    };
    let of_function = refusal("#[serde(default = \"f\")] a: u8,", "fn f(=> u8) -> u8 { 1 }");
    assert!(of_function.contains("may define it: expected"), "{of_function}");
    let inner = "$T struct In { x: i32 } fn f() -> In { In::default() }";
    let of_impl = refusal(
        "#[serde(default = \"f\")] a: In,",
        &format!("{inner} impl => Default for In {{ fn default() -> In {{ In {{ x: 1 }} }} }}"),
    );
    assert!(of_impl.contains("may define"), "{of_impl}");
    let of_type =
        refusal("a: In,", "mod n { use super::*; $T pub struct In {} } use n::*; struct In => ;");
    assert!(of_type.contains("may define it: expected"), "{of_type}");
}

#[test]
fn an_item_that_may_declare_a_kind_stops_the_command() {
    for item in [
        "#[derive(CustomResource)] struct Other => ;",
        "#[some::macro_for_kinds] struct Other => ;",
        "mod kinds { fn f(=> u8) {} }",
        "kinds!(A) => ;",
        "const A: u8 = => kinds! { B };",
    ] {
        let reading = read_map(&spec("a: i32,", item));
        let [problem] = &reading.unexplored[..] else { panic!("{item}: {:?}", reading.unexplored) };
        assert!(problem.message.starts_with("cannot be parsed: expected"), "{item}: {problem}");
        assert!(reading.kinds.is_empty(), "{item}");
    }
}
