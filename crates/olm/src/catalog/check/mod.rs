//! The verdict of `opm validate`, with the location of each problem.
//!
//! Like `opm`, this first resolves the blobs into packages, and checks the graphs of upgrades only if that succeeds.
//! `opm` stops at the first blob that cannot be resolved; this module reports all of them.

mod bundle;
mod channel;
mod label;
mod model;
mod resolve;

use super::load::Catalog;
pub use bundle::package_of;
use diagnostics::Diagnostic;
pub use label::is_image;
pub use model::Model;

/// Checks a catalog; `Ok` has the packages.
pub fn check(catalog: &Catalog) -> Result<Model<'_>, Vec<Diagnostic>> {
    let model = resolve::resolve(catalog)?;
    let mut problems = Vec::new();
    model.0.values().for_each(|package| package.check(&mut problems));
    if problems.is_empty() { Ok(model) } else { Err(problems) }
}
