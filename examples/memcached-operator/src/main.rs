//! The operator's process. `--help` lists its flags.

use clap::Parser;
use operator::{
    controller,
    runtime::manager::{self, Flags},
};
use std::process::ExitCode;

#[derive(Parser)]
#[command(version, about)]
struct Args {
    #[command(flatten)]
    manager: Flags,
}

fn main() -> ExitCode {
    let args = Args::parse();
    manager::start(args.manager, controller::all())
}
