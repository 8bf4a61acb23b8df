//! Runs upstream code and catches its panics: they are part of its results.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    static QUIET: Cell<bool> = const { Cell::new(false) };
}

/// The result of `f`, or the text of its panic. Nothing is printed.
pub fn caught<T>(f: impl FnOnce() -> T) -> Result<T, String> {
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
    let res = panic::catch_unwind(AssertUnwindSafe(f));
    QUIET.set(before);
    res.map_err(|it| {
        let text = it.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| it.downcast_ref::<&str>().copied()).unwrap_or("a panic").to_owned()
    })
}
