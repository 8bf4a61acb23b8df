//! Keeps a panic of the parser from ending the program, or from being printed.

use std::{
    cell::Cell,
    panic::{self, AssertUnwindSafe},
    sync::Once,
};

thread_local! {
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// What `work` returns; nothing, if it panics. What it works on is not to be used after that.
pub fn caught<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let print = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                print(info);
            }
        }));
    });
    IS_QUIET.set(true);
    let result = panic::catch_unwind(AssertUnwindSafe(work));
    IS_QUIET.set(false);
    result.ok()
}
