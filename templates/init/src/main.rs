//! The operator's process. `--help` lists its flags.

use clap::Parser;
use std::process::ExitCode;

// Images are linked with musl, whose own allocator is slow.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

#[derive(Parser)]
#[command(version, about)]
struct Args {
    #[command(flatten)]
    flags: operator_rs_runtime::Flags,
}

fn main() -> ExitCode {
    let args = Args::parse();
    operator_rs_runtime::run_manager(operator_rs_runtime::identity!(), args.flags, operator::all())
}
