//! An error in a text, with its place.

use std::{error::Error, fmt};

use diagnostics::{Diagnostic, Lines, conflict};

use super::Mark;

#[derive(Debug)]
pub struct Fault {
    pub mark: Mark,
    pub message: String,
    pub hint: Option<&'static str>,
}

impl Fault {
    pub fn new(mark: Mark, message: impl Into<String>, hint: Option<&'static str>) -> Self {
        Self { mark, message: message.into(), hint }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { mark: Mark { line, column }, message, hint } = self;
        write!(f, "{message} at line {line} column {column}")?;
        hint.map_or(Ok(()), |it| write!(f, " ({it})"))
    }
}
impl Error for Fault {}

/// Adds the place in a file to an error of the YAML parser: that of a merge conflict, or of the error itself.
pub fn locate<'a>(file: &'a str, text: &'a str) -> impl Fn(anyhow::Error) -> anyhow::Error + 'a {
    move |error| match diagnostics::find::<Fault>(&error) {
        Some(fault) => malformed(file, text, fault).into_error(),
        None => error.context(format!("cannot read {file}")),
    }
}

/// Why a YAML file cannot be read: a merge conflict, or the error with its place.
pub fn malformed(file: &str, text: &str, fault: &Fault) -> Diagnostic {
    if let Some(conflict) = conflict::in_malformed(file, text) {
        return conflict;
    }
    let mut res = Diagnostic::in_file(file, &fault.message);
    res.hints.extend(fault.hint.map(str::to_owned));
    match fault.mark {
        Mark { line: 0, .. } => res,
        Mark { line, column } => res.at(line, column).quote(&mut Lines::of(text)),
    }
}
