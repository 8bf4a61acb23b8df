//! Finds cargo and rustc, without running them.

use std::path::PathBuf;

use crate::{process::ProgramPath, terminal};

/// Cargo, which sets CARGO for programs that it runs, so that `cargo +nightly …` keeps its toolchain.
pub fn cargo() -> anyhow::Result<ProgramPath> {
    ProgramPath::require(terminal::variable("CARGO")?.unwrap_or_else(|| "cargo".to_owned()))
}

/// Returns whether cargo is installed.
pub fn has_cargo() -> bool {
    cargo().is_ok()
}

/// rustup's own folder, which has its settings.
pub fn rustup_home() -> Option<PathBuf> {
    super::home_of("RUSTUP_HOME", ".rustup")
}

/// Returns the compiler that cargo runs, unless its configuration names another one.
pub fn rustc() -> Option<ProgramPath> {
    ProgramPath::find(terminal::variable("RUSTC").ok()?.unwrap_or_else(|| "rustc".to_owned()))
}
