//! The map. Read downwards; each row knows only the rows below it.
//!
//! ```text
//! commands                                                                              asks
//! scaffold source manifests kustomize bundle catalog image audit compatibility olm │ disk process cluster registry web terminal   thinks │ touches   (no room here knows its neighbour)
//! plan definition                                                                       says what would change, and what an API server refuses of a CRD
//! samples                                                                               checks objects against their CRDs
//! model                                                                                 names things
//! kubernetes expression                                                                 holds objects as Go holds them, and evaluates rules
//! yaml hint                                                                             ground
//! ```

mod commands;

mod audit;
mod bundle;
mod catalog;
mod compatibility;
mod definition;
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
