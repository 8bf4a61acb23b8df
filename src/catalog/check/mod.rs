//! The verdict of `opm validate`, with its words.
//!
//! Like `opm`, this first resolves the blobs into packages, and checks the graphs of upgrades only if that succeeds.
//! `opm` stops at the first blob that cannot be resolved; here, all are told.

mod bundle;
mod channel;
mod label;
mod model;
mod resolve;
mod tree;

use super::load::Catalog;
pub use bundle::package_of;
use diagnostics::Diagnostic;
pub use label::image_fault;
pub use model::Model;
use tree::Tree;

/// What is wrong with a catalog.
pub struct Verdict {
    /// Everything, with its place.
    pub problems: Vec<Diagnostic>,
    /// The text that `opm` prints.
    pub message: String,
}

/// Checks a catalog; `Ok` has the packages.
pub fn check(catalog: &Catalog) -> Result<Model<'_>, Verdict> {
    let model = resolve::resolve(catalog).map_err(|problems| Verdict {
        message: problems.first().map(|it| it.message.clone()).unwrap_or_default(),
        problems,
    })?;
    let mut problems = Vec::new();
    let mut tree = Tree::new("invalid index");
    for package in model.0.values() {
        tree.add(package.check(&mut problems));
    }
    match problems.is_empty() {
        true => Ok(model),
        false => Err(Verdict { message: tree.text(), problems }),
    }
}
