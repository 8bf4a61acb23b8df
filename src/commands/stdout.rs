//! Options that name an output file: `-` is stdout, as for kubectl and kustomize.

use std::path::{Path, PathBuf};

use clap::builder::{PathBufValueParser, TypedValueParser};

/// The file that an option names; none for stdout.
pub fn file<P: AsRef<Path>>(path: &Option<P>) -> Option<&P> {
    path.as_ref().filter(|it| !is_stdout(it.as_ref()))
}

/// Parses the name of a file that cannot be printed.
pub fn not_stdout() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|it| match is_stdout(&it) {
        true => Err("this cannot be written to stdout: name a file"),
        false => Ok(it),
    })
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
