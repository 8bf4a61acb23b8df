//! An operator of its own: `cargo run --example backup -- --help`.
//!
//! A project of operator-rs has the same controller in `src/controller/` and the kind in `api/`.

mod api;
mod controller;

use clap::Parser;
use std::{path::PathBuf, process::ExitCode};

#[derive(Parser)]
struct Args {
    /// The directory with the snapshots
    #[arg(long, env, default_value = "/var/lib/snapshots", value_name = "DIRECTORY")]
    snapshots: PathBuf,

    #[command(flatten)]
    flags: runtime::Flags,
}

fn main() -> ExitCode {
    let Args { snapshots, flags } = Args::parse();
    let run = move |operator| controller::run(operator, snapshots.clone());
    runtime::start(runtime::identity!(), flags, vec![runtime::per_namespace(run)])
}
