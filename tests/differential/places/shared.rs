//! The crate that the cases share: a path dependency.

pub use kube::CustomResource as Made;

/// Gives back what it gets.
#[macro_export]
macro_rules! pass {
    ($($t:tt)*) => { $($t)* };
}

/// The same, by the name of a macro that is well known.
#[macro_export]
macro_rules! json {
    ($($t:tt)*) => { $($t)* };
}

