//! `operator-rs bundle --explain`: where every object goes, what is left out and why, and how large the bundle is.

mod json;
mod origins;
mod text;

use crate::{
    bundle::{Explanation, sizes::Sizes},
    terminal,
};
use model::ProjectPath;
pub use origins::{of_document, of_rendered};

/// The formats of the explanation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    Text,
    Json,
}

pub struct Report<'a> {
    pub explanation: &'a Explanation,
    pub sizes: &'a Sizes,
    /// Files in the bundle's folder that are not generated.
    pub others: &'a [ProjectPath],
}

impl Report<'_> {
    pub fn print(&self, format: Format) {
        match format {
            Format::Text => terminal::print(&text::of(self)),
            Format::Json => terminal::data(&format!("{:#}\n", json::of(self))),
        }
    }
}
