//! An operator of its own: `cargo run --example backup -- --help`.
//!
//! A project of operator-rs has the same controller in `src/controller/` and the kind in `api/`.

mod api;
mod controller;

use clap::Parser;
use operator_rs_runtime::{Flags, controller_per_namespace, identity, run_manager};
use std::{path::PathBuf, process::ExitCode};

#[derive(Parser)]
struct Args {
    /// The directory with the snapshots
    #[arg(long, env, default_value = "/var/lib/snapshots", value_name = "DIRECTORY")]
    snapshots: PathBuf,

    #[command(flatten)]
    flags: Flags,
}

fn main() -> ExitCode {
    let Args { snapshots, flags } = Args::parse();
    let run = move |manager| controller::run(manager, snapshots.clone());
    run_manager(identity!(), flags, vec![controller_per_namespace(run)])
}
