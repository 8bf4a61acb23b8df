//! The origin of a text, for its diagnostics.

use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{self, Dialect, Mark, Node};
use model::ProjectPath;

/// The origin of a text: a file, or a field of a kustomization.
#[derive(Clone, Copy)]
pub struct Origin<'a> {
    pub path: &'a ProjectPath,
    /// The text of the file at the path.
    pub text: &'a str,
    /// The position of the field.
    pub field: Option<Mark>,
}

impl Origin<'_> {
    pub fn error_at(&self, mark: Mark, message: &str, hint: Option<&str>) -> anyhow::Error {
        let (mark, message) = match self.field {
            None => (mark, message.to_owned()),
            Some(field) => (field, format!("in line {} of this text: {message}", mark.line)),
        };
        let diagnostic = diagnostic_at(self.path, mark, message, hint);
        diagnostic.quote(&mut Lines::new(self.text)).into_error()
    }

    /// Parses the documents of the text.
    pub fn parse_nodes(&self, text: &str, dialect: Dialect) -> anyhow::Result<Vec<Node>> {
        yaml::parse_nodes(text, dialect).map_err(|error| {
            match error.downcast::<yaml::YamlError>() {
                Ok(fault) if self.field.is_none() => {
                    yaml::malformed_diagnostic(self.path.as_str(), text, &fault).into_error()
                }
                Ok(fault) => self.error_at(fault.mark, &fault.message, fault.hint),
                Err(error) => error.context(format!("cannot read {}", self.path)),
            }
        })
    }
}

impl std::fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.field {
            None => write!(f, "{}", self.path),
            Some(Mark { line, column }) => {
                write!(f, "{}:{line}:{column}: the inline patch", self.path)
            }
        }
    }
}

/// Returns a diagnostic at a position of a file.
pub fn diagnostic_at(
    path: &ProjectPath,
    mark: Mark,
    message: String,
    hint: Option<&str>,
) -> Diagnostic {
    let mut diagnostic =
        Diagnostic::in_file(path.as_str(), message).at_position(mark.line, mark.column);
    diagnostic.hints.extend(hint.map(str::to_owned));
    diagnostic
}
