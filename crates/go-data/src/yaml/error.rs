//! An error in a text, with its location.

use std::{error::Error, fmt};

use diagnostics::{Diagnostic, Lines, conflict};

use super::Mark;

#[derive(Debug)]
pub struct YamlError {
    pub mark: Mark,
    pub message: String,
    pub hint: Option<&'static str>,
}

impl YamlError {
    pub fn new(mark: Mark, message: impl Into<String>, hint: Option<&'static str>) -> Self {
        Self { mark, message: message.into(), hint }
    }
}

impl fmt::Display for YamlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mark: Mark { line, column }, message, hint } = self;
        write!(f, "{message} at line {line} column {column}")?;
        hint.map_or(Ok(()), |hint| write!(f, " ({hint})"))
    }
}
impl Error for YamlError {}

/// Returns a function that adds the location in a file to an error of the YAML parser: that of a merge conflict, or of
/// the error itself.
pub fn locate_error<'a>(
    file: &'a str,
    text: &'a str,
) -> impl Fn(anyhow::Error) -> anyhow::Error + 'a {
    move |error| match diagnostics::find_error::<YamlError>(&error) {
        Some(error) => malformed_diagnostic(file, text, error).into_error(),
        None => error.context(format!("cannot read {file}")),
    }
}

/// Builds the diagnostic of a YAML file that cannot be parsed: a merge conflict, or the error with its location.
pub fn malformed_diagnostic(file: &str, text: &str, error: &YamlError) -> Diagnostic {
    if let Some(conflict) = conflict::in_malformed(file, text) {
        return conflict;
    }
    let mut diagnostic = Diagnostic::in_file(file, &error.message);
    diagnostic.hints.extend(error.hint.map(str::to_owned));
    match error.mark {
        Mark { line: 0, .. } => diagnostic,
        Mark { line, column } => diagnostic.at_position(line, column).quote(&mut Lines::new(text)),
    }
}
