//! The modules, in layers: each sees only the layers below its own, and the modules of one layer do not see each other.
//!
//! ```text
//! commands                                                    command line
//! app                                                         operations that several commands share
//! scaffold source manifests audit │ disk process terminal     domain │ I/O
//! plan                                                        intended changes, as a value
//! project                                                     the PROJECT file, and what the source declares
//! ```
//!
//! Below them are the crates in `crates/`, each with a narrow interface; their manifests say which others each sees.

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
    terminal::final_exit_code(kube_crd_source::stack::with_room(commands::run))
}
