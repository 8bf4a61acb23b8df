//! Options that name an output file: `-` is stdout, as for kubectl and kustomize.

use std::{
    fmt,
    path::{Path, PathBuf},
    str::FromStr,
};

use clap::builder::{PathBufValueParser, TypedValueParser};

/// Returns the file that an option names; none for stdout.
pub fn file<P: AsRef<Path>>(path: &Option<P>) -> Option<&P> {
    path.as_ref().filter(|path| !is_stdout(path.as_ref()))
}

/// Parses the name of a file that cannot be printed.
pub fn not_stdout() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path| {
        if is_stdout(&path) {
            Err("this cannot be written to stdout: name a file")
        } else {
            Ok(path)
        }
    })
}

/// Parses the name of a file that YAML is written into.
pub fn yaml_file<P: FromStr<Err: fmt::Display>>(text: &str) -> Result<P, String> {
    if Path::new(text).extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return Err("the file is YAML: name one that ends in `.yaml`".to_owned());
    }
    model::display_path(text).parse().map_err(|error: P::Err| error.to_string())
}

fn is_stdout(path: &Path) -> bool {
    path.as_os_str() == "-"
}
