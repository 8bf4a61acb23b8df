//! Runs upstream code and catches its panics: they are part of its results.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `f`, or the text of its panic. Nothing is printed.
pub fn catch_panic<T>(f: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !QUIET.with(Cell::get) {
                before(info);
            }
        }));
    });
    let before = QUIET.replace(true);
    let result = panic::catch_unwind(AssertUnwindSafe(f));
    QUIET.set(before);
    result.map_err(|payload| {
        let text = payload.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| payload.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
    })
}

/// The limit of a text, and how much of its start and of its end is left otherwise.
const LONGEST: usize = 600;
const KEPT: usize = 250;

/// The message about a panic of kube over a schema.
pub fn panic_message(panic: &str) -> String {
    match twice_defined(panic) {
        Some(name) => format!(
            "kube panics on this schema: the property `{name}` has different schemas in subschemas, such as the variants of an enum"
        ),
        None => format!("kube panics on this schema: {}", excerpt(panic)),
    }
}

/// The property that kube cannot move out of variants. Its text goes on with both schemas, as Rust's `Debug` prints them.
fn twice_defined(panic: &str) -> Option<&str> {
    let (name, rest) = panic.strip_prefix("Property \"")?.split_once('"')?;
    rest.starts_with(" has the schema ").then_some(name)
}

/// The text of a panic, without the middle of a long one: kube prints whole schemas.
pub fn excerpt(text: &str) -> String {
    if text.len() <= LONGEST {
        return text.to_owned();
    }
    let (mut start, mut end) = (KEPT, text.len() - KEPT);
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    format!("{} … {}", &text[..start], &text[end..])
}

#[test]
fn a_long_text_keeps_its_start_and_its_end() {
    assert_eq!(excerpt("so be it"), "so be it");
    let long = format!("a{}z", "é".repeat(LONGEST));
    let found = excerpt(&long);
    assert!(found.len() < LONGEST && found.starts_with("aé") && found.ends_with("éz"), "{found}");
}
