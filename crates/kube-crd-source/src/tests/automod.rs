//! Modules that `automod::dir!` declares, and macros at the place of items that are not known.

use super::*;

/// A package whose `src/main.rs` declares a kind, and has this code below.
fn with_automod(code: &str, others: &[&str]) -> Reading {
    let manifest = packages::manifest(
        "project",
        "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nautomod = \"1\"\n",
    );
    let kind = format!("{HEAD}{SPEC}\n{KIND} {{ a: i32 }}\n");
    let mut all = files(&[("Cargo.toml", &manifest), ("src/main.rs", &format!("{kind}{code}"))]);
    for other in others {
        let name = format!("\"N{}\"", all.len());
        let text = kind.replace("\"Kind\"", &name);
        all.extend(files(&[(other, &text)]));
    }
    read_map(&all)
}

/// The paths of the kinds, and what is noted.
fn kinds_and_notes(reading: &Reading) -> (Vec<String>, Vec<String>) {
    let kinds = reading.kinds.iter().map(|kind| kind.rust_path.path.join("::")).collect();
    (kinds, reading.unread.iter().map(ToString::to_string).collect())
}

#[test]
fn modules_of_automod_are_read() {
    let reading = with_automod(
        "pub mod v1 { automod::dir!(pub \"src/v1\"); }",
        &["src/v1/a.rs", "src/v1/b-c.rs", "src/v1/2.rs", "src/v1/mod.rs", "src/v1/sub/d.rs"],
    );
    let (mut modules, notes) = kinds_and_notes(&reading);
    modules.sort_unstable();
    assert_eq!(modules, ["Kind", "v1::_2::N4", "v1::a::N2", "v1::b_c::N3"]);
    assert_eq!(notes, [""; 0]);
}

#[test]
fn an_unknown_macro_that_is_called_as_an_item_is_a_note() {
    let note = "src/main.rs:5:1: `dir!` is not expanded: kinds that it declares are left out";
    for call in ["automod::dir!(\"src/none\");", "automod::dir!(\"../a\");", "automod::dir!(A);"] {
        let reading = with_automod(call, &[]);
        assert_eq!(
            kinds_and_notes(&reading),
            (vec!["Kind".to_owned()], vec![note.to_owned()]),
            "{call}"
        );
    }
}
