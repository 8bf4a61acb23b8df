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
    flags: runtime::Flags,
}

fn main() -> ExitCode {
    let args = Args::parse();
    runtime::start(runtime::identity!(), args.flags, operator::all())
}
