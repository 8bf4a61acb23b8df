//! The map. Read downwards; each row knows only the rows below it.
//!
//! ```text
//! commands                                                                              asks
//! scaffold source manifests samples kustomize bundle catalog image audit compatibility olm │ disk process cluster registry web terminal   thinks │ touches   (no room here knows its neighbour)
//! plan                                                                                  says what would change
//! model                                                                                 names things
//! kubernetes expression                                                                 holds objects as Go holds them, and evaluates rules
//! yaml hint                                                                             ground
//! ```

mod commands;

mod audit;
mod bundle;
mod catalog;
mod compatibility;
mod image;
mod kustomize;
mod manifests;
mod olm;
mod samples;
mod scaffold;
mod source;

mod cluster;
mod disk;
mod process;
mod registry;
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
