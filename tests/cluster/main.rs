//! Trials of the operator that users are handed, on a real control plane: etcd, kube-apiserver,
//! kube-controller-manager and kube-scheduler, with kwok for nodes. The operator runs as a process beside them, under
//! the account that its `config/rbac` makes, with what its `config/manager` gives it.
//!
//! `tests/control-plane/build` builds the programs. `cargo test --test cluster -- tutorial` runs what is named so;
//! what a trial leaves (logs, the audit log, the operator's) is in `target/tmp/cluster/`.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]
#![allow(clippy::print_stdout, reason = "it says what it has tried")]
#![allow(dead_code, reason = "each trial takes what it needs")]

mod control_plane;
mod ground;
mod lab;
mod operator;
mod project;
mod runner;
mod server;
#[path = "../support/mod.rs"]
mod support;

mod tutorial;

use std::process::ExitCode;

/// Each by its own name.
macro_rules! trials {
    ($($room:ident::$trial:ident,)*) => {
        &[$((stringify!($trial), |lab| Box::pin($room::$trial(lab)))),*]
    };
}

/// Those that wait the longest come first.
const TRIALS: &[(&str, runner::Trial)] =
    trials![tutorial::the_tutorial_holds_from_install_to_delete,];

fn main() -> ExitCode {
    runner::run(TRIALS, control_plane::is_there)
}
