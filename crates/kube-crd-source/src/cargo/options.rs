//! Selects the packages of a workspace to read, and the targets and features that cargo builds.

/// The parts of a workspace that are read, and how it is built.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The packages whose kinds are read; all members where it is empty.
    pub packages: Vec<String>,
    /// The modules whose kinds are read, with all below them (`api::v1`, with or without the crate in front); all
    /// modules where it is empty.
    pub modules: Vec<String>,
    /// Read kinds of example targets too.
    pub examples: bool,
    /// Features that are on, as cargo's `--features` has them: `a`, `package/a`.
    pub features: Vec<String>,
    pub all_features: bool,
    pub no_default_features: bool,
}

/// A kind of target that cargo builds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    Library,
    /// A binary; whether its package has a library that it may use.
    Program {
        beside_library: bool,
    },
    /// An example, which may use dev-dependencies.
    Example {
        beside_library: bool,
    },
}
