//! The map. Read downwards; each row knows only the rows below it.
//!
//! ```text
//! commands                                                                              asks
//! app                                                                                   does what commands share
//! scaffold source manifests audit │ disk process terminal                               thinks │ touches   (no room here knows its neighbour)
//! plan                                                                                  says what would change
//! project                                                                               holds PROJECT, and what the source declares
//! ```
//!
//! Below them are the crates in `crates/`, each with a narrow face. Cargo keeps their order.

mod commands;

mod app;

mod audit;
mod manifests;
mod scaffold;
mod source;

mod disk;
mod process;
mod terminal;

mod plan;

mod project;

use std::process::ExitCode;

fn main() -> ExitCode {
    terminal::end(kube_crd_source::stack::with_room(commands::run))
}
