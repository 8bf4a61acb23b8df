//! Where the throwaway program is built, and cargo there.

use std::{
    ffi::OsString,
    path::{Path, PathBuf},
};

use crate::{
    commands::cargo::{messages, toolchain},
    disk::Root,
    hint::Hint as _,
    process, terminal,
};

/// Where the throwaway program is built.
pub struct Workshop {
    cargo: String,
    /// The workspace of the user, whose configuration and toolchain cargo is to follow.
    top: PathBuf,
    pub root: Root,
    target: PathBuf,
    pub program: String,
}

impl Workshop {
    /// Opens it below the target folder of a workspace, for nobody else as long as it is held.
    pub fn open(top: &Path, folder: &Path, program: String) -> anyhow::Result<Self> {
        let root = Root::output(top, folder)
            .hint("name another target folder: `export CARGO_TARGET_DIR=…`")?;
        // Held until cargo is done: another run would sweep what this one builds.
        root.wait(|| terminal::advise("waiting for another operator-rs that compiles here\n"))?;
        Ok(Self {
            cargo: toolchain::cargo()?,
            top: top.to_owned(),
            root,
            target: target_folder(top)?,
            program,
        })
    }

    /// What a command of cargo prints; an error where it fails, when cargo has said why.
    pub fn cargo(&self, command: &str, flags: &[&str]) -> anyhow::Result<String> {
        let mut arguments: Vec<OsString> = vec![command.into()];
        arguments.extend(flags.iter().map(Into::into));
        arguments.push("--manifest-path".into());
        arguments.push(self.root.real().join("Cargo.toml").into());
        arguments.push("--target-dir".into());
        arguments.push(self.target.clone().into());
        let program =
            process::Program { name: &self.cargo, arguments: &arguments, folder: &self.top };
        process::output(&program)?.map_err(|printed| {
            terminal::advise(&messages::errors(&printed));
            anyhow::format_err!("cargo failed, and has said why above")
        })
    }
}

/// Where cargo builds what is of this workspace.
pub fn target_folder(top: &Path) -> anyhow::Result<PathBuf> {
    Ok(match terminal::variable("CARGO_TARGET_DIR")? {
        Some(it) => top.join(it),
        None => top.join("target"),
    })
}
