//! The handles that a controller gives to its reconcile function. There is one type for each relation between the
//! primary objects and other objects, and its methods are the operations that this relation allows. Handles can be
//! cloned, and used from any task.

mod dependents;
mod owned;
mod primary;
mod watched;

pub use dependents::Dependents;
pub use owned::Owned;
pub use primary::Primary;
pub use watched::{Referenced, Watched};
