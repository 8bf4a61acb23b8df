//! An error in a text, with its place.

use std::{error::Error, fmt};

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
