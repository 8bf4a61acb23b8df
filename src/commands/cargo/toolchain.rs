//! Which cargo and rustc are there. Neither is run to find out.

use std::path::PathBuf;

use crate::terminal;

/// Cargo's name: it names itself to what it runs, so that `cargo +nightly …` stays with its toolchain.
pub fn cargo() -> anyhow::Result<String> {
    Ok(terminal::variable("CARGO")?.unwrap_or_else(|| "cargo".to_owned()))
}

/// Whether there is a cargo to run.
pub fn has_cargo() -> bool {
    cargo().is_ok_and(|it| terminal::program(&it).is_some())
}

/// rustup's own folder, which has its settings.
pub fn rustup_home() -> Option<PathBuf> {
    super::home_of("RUSTUP_HOME", ".rustup")
}

/// The compiler that cargo runs, where no configuration of cargo names another one.
pub fn rustc() -> Option<PathBuf> {
    terminal::program(&terminal::variable("RUSTC").ok()?.unwrap_or_else(|| "rustc".to_owned()))
}
