//! The map. Read downwards; each row knows only the rows below it.
//!
//! ```text
//! commands                                                                              asks
//! scaffold source manifests samples kustomize bundle audit compatibility │ disk process cluster web terminal   thinks │ touches   (no room here knows its neighbour)
//! plan                                                                                  says what would change
//! model                                                                                 names things
//! kubernetes expression                                                                 holds objects as Go holds them, and evaluates rules
//! yaml hint                                                                             ground
//! ```

mod commands;

mod audit;
mod bundle;
mod compatibility;
mod kustomize;
mod manifests;
mod samples;
mod scaffold;
mod source;

mod cluster;
mod disk;
mod process;
mod terminal;
mod web;

mod plan;

mod model;

mod expression;
mod kubernetes;

mod hint;
mod yaml;

use std::process::ExitCode;

fn main() -> ExitCode {
    terminal::end(kube_crd_source::stack::with_room(commands::run))
}
