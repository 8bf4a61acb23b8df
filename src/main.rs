//! The map. Read downwards; each row knows only the rows below it.
//!
//! ```text
//! commands                                                            asks
//! scaffold source manifests kustomize bundle │ disk process terminal   thinks │ touches   (no room here knows its neighbour)
//! plan                                                                says what would change
//! model                                                               names things
//! yaml hint                                                           ground
//! ```

mod commands;

mod bundle;
mod kustomize;
mod manifests;
mod scaffold;
mod source;

mod disk;
mod process;
mod terminal;

mod plan;

mod model;

mod hint;
mod yaml;

use std::process::ExitCode;

/// How high the stack is: as deep as the source that is read may be nested. Only what is used takes memory.
const STACK: usize = 1 << 30;

fn main() -> ExitCode {
    with_room(commands::run)
}

/// Runs `f` with room on the stack for source that is nested deep: what is too deep is refused before that ends.
fn with_room<T: Send>(f: impl Fn() -> T + Sync) -> T {
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().stack_size(STACK);
        match thread.spawn_scoped(scope, &f).map(std::thread::ScopedJoinHandle::join) {
            Ok(Ok(found)) => found,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => f(),
        }
    })
}
