//! The folder where the throwaway program is built, and cargo in it.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    app::cargo::{messages, toolchain},
    disk::Root,
    process::{self, ProgramPath},
    terminal,
};
use diagnostics::Hint as _;

/// The folder where the throwaway program is built.
pub struct BuildDir {
    cargo: ProgramPath,
    /// The workspace of the user, whose configuration and toolchain cargo uses.
    top: PathBuf,
    pub root: Root,
    target: PathBuf,
    pub program: String,
}

impl BuildDir {
    /// Opens it in the target folder of a workspace and locks it.
    pub fn open(top: &Path, folder: &Path, program: String) -> anyhow::Result<Self> {
        let root = Root::open_output(top, folder)
            .hint("choose another target directory: `export CARGO_TARGET_DIR=…`")?;
        // Locked until cargo is done: another run would delete what this one builds.
        root.wait_for_lock(|| {
            terminal::print_advice("waiting for another operator-rs that is compiling here\n")
        })?;
        Ok(Self {
            cargo: toolchain::cargo()?,
            top: top.to_owned(),
            root,
            target: target_folder(top)?,
            program,
        })
    }

    /// Returns the output of a cargo command; an error if it fails, after cargo has printed why.
    pub fn cargo(&self, command: &str, flags: &[&str]) -> anyhow::Result<String> {
        let mut arguments: Vec<OsString> = vec![command.into()];
        arguments.extend(flags.iter().map(Into::into));
        arguments.push("--manifest-path".into());
        arguments.push(self.root.resolved_path().join("Cargo.toml").into());
        arguments.push("--target-dir".into());
        arguments.push(self.target.clone().into());
        let invocation = process::Invocation {
            program: &self.cargo,
            arguments: &arguments,
            folder: &self.top,
            variables: &[],
        };
        process::output(&invocation)?.map_err(|printed| {
            terminal::print_advice(&messages::errors(&printed));
            anyhow::format_err!("cargo failed; its messages are above")
        })
    }
}

/// Returns the target folder of a workspace.
pub fn target_folder(top: &Path) -> anyhow::Result<PathBuf> {
    Ok(match terminal::variable("CARGO_TARGET_DIR")? {
        Some(it) => top.join(it),
        None => top.join("target"),
    })
}
