//! Cargo: where workspaces and packages are, what their files contain, and what cargo prints.
//!
//! Cargo.lock is parsed by `kube_crd_source`, which also resolves features. Neither uses `cargo_toml` or `cargo-lock`:
//! the tool copies dependencies, profiles and patches with all their keys, also those that a crate's types do not have
//! yet; it needs the lines of a lock for messages, and it edits the lock as a document.

mod below;
pub mod config;
pub mod feature_flags;
mod location;
pub mod lock;
pub mod messages;
mod package;
mod source_replacement;
pub mod toolchain;
pub mod tree_sources;
mod vendored;
mod workspace;

use std::path::{Path, PathBuf};

use toml::Table;

pub use self::{
    location::PackageDirs,
    package::{KUBERNETES, UserPackage},
    workspace::{Workspace, root_of},
};
use crate::terminal;
use diagnostics::Diagnostic;
use model::display_path;

/// Cargo's own folder, which has its configuration and what it has downloaded.
pub fn home() -> Option<PathBuf> {
    home_of("CARGO_HOME", ".cargo")
}

fn home_of(variable: &str, folder: &str) -> Option<PathBuf> {
    let own = terminal::variable(variable).ok().flatten().map(PathBuf::from);
    own.or_else(|| Some(terminal::home_folder().ok().flatten()?.join(folder)))
}

/// Returns a Cargo.toml as a table; an error names the place of what is malformed.
pub fn parse(path: &Path, text: &str) -> anyhow::Result<Table> {
    text.parse().map_err(|error: toml::de::Error| {
        let at = error.span().map_or(0, |span| span.start);
        // The text is not shown: in a clone, this may be a link to any file.
        let message = format!("cannot be parsed: {}", error.message().trim());
        Diagnostic::in_file(display_path(&path), message).at_byte(text, at).into_error()
    })
}
