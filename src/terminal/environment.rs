//! The environment: variables, the kind of machine.

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf};

use anyhow::Context as _;

/// Returns a variable of the environment; none where it is not set, or empty.
#[expect(clippy::disallowed_methods, reason = "this is the room that looks at the environment")]
pub fn variable(name: &str) -> anyhow::Result<Option<String>> {
    match std::env::var(name) {
        Ok(text) => Ok(Some(text).filter(|value| !value.is_empty())),
        Err(std::env::VarError::NotPresent) => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read the variable {name}")),
    }
}

/// Returns the user's home directory.
pub fn home_folder() -> anyhow::Result<Option<PathBuf>> {
    Ok(variable(if cfg!(windows) { "USERPROFILE" } else { "HOME" })?.map(PathBuf::from))
}

/// Returns all variables of the environment that are text, by their names.
pub fn variables() -> BTreeMap<String, String> {
    let text = |variable: OsString| variable.into_string().ok();
    std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?))).collect()
}

/// Returns the variables that cargo may read, by their names: what is not text in them is shown as such.
pub fn cargo_variables() -> BTreeMap<String, String> {
    let text = |variable: OsString| variable.to_string_lossy().into_owned();
    let all = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
    // Windows finds a variable by its name in any case.
    let all = all.map(
        |(name, value)| if cfg!(windows) { (name.to_uppercase(), value) } else { (name, value) },
    );
    all.filter(|(name, _)| name.starts_with("CARGO_") || name.starts_with("RUST")).collect()
}

/// Returns the words of the command line after the program's name.
pub fn command_arguments() -> Vec<String> {
    command_line().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

/// Returns the name of the program and its arguments.
pub fn command_line() -> impl Iterator<Item = OsString> {
    std::env::args_os()
}

/// Returns the folder that the program was started in.
pub fn current_folder() -> Option<PathBuf> {
    std::env::current_dir().ok()
}

/// Returns the names of the environment's variables that begin so.
pub fn variable_names(start: &str) -> Vec<OsString> {
    let names = std::env::vars_os().map(|pair| pair.0);
    names.filter(|name| name.as_encoded_bytes().starts_with(start.as_bytes())).collect()
}

/// This machine's kind, as Go names it: `linux-amd64`.
pub fn go_platform() -> String {
    use std::env::consts::{ARCH, OS};
    let os = if OS == "macos" { "darwin" } else { OS };
    let arch = match ARCH {
        "x86_64" => "amd64",
        "aarch64" => "arm64",
        "powerpc64" => "ppc64le",
        other => other,
    };
    format!("{os}-{arch}")
}
