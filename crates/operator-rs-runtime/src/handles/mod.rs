//! The handles that a controller gives to its reconcile function: one type for each relation between the primary objects
//! and others, with what may be done to them. Handles can be cloned, and used from any task.

mod dependents;
mod owned;
mod primary;
mod watched;

pub use dependents::Dependents;
pub use owned::Owned;
pub use primary::Primary;
pub use watched::{Referenced, Watched};

use crate::cache::Children;

/// A cache of `C`s, through whichever handle: see [`FieldManager::apply`](crate::FieldManager::apply).
pub struct CacheRef<'a, C>(pub(crate) &'a Children<C>);
