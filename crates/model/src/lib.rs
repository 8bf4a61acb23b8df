//! The types of the domain: names and paths of Kubernetes, of images and of projects.
//!
//! Each type parses a text into a value, or into a [`Refusal`] that says what is wrong with it: the only constructor is
//! its `FromStr`, for flags, prompts, PROJECT and `#[kube(…)]` alike, so that every value is valid. [`Tree`] is the
//! interface of other crates to the files of a project. [`resolve_path`] follows `..`. Nothing here reads a file or
//! knows a format.

mod blob;
mod channel;
mod deadline;
mod digest;
mod dns;
mod image;
mod kind;
mod path;
mod platform;
mod rust_path;
mod timeout;
mod tree;
mod url;
mod version;

pub use blob::{Blob, Descriptor};
pub use channel::Channel;
pub use deadline::{Deadline, TimedOut};
pub use digest::Digest;
pub use dns::{
    AccountName, ApiGroup, Domain, GroupName, GroupPrefix, InstalledPackage, Namespace,
    PackageName, Plural, ProjectName,
};
pub use image::Image;
pub use kind::Kind;
pub use path::{
    Files, ProjectPath, display_path, is_device_of_windows, is_file_name_on_windows,
    require_names_of_system, resolve_path, without_verbatim_prefix,
};
pub use platform::Platform;
pub use rust_path::RustPath;
pub use timeout::Timeout;
pub use tree::{FileContent, Tree};
pub use url::without_user;
pub use version::Version;

/// Implements the conversions from and to `String` for a type that is parsed from text; serde uses them, e.g. for
/// PROJECT.
macro_rules! text {
    ($name:ty) => {
        impl TryFrom<String> for $name {
            type Error = $crate::Refusal;
            fn try_from(text: String) -> Result<Self, Self::Error> {
                // For a flag, clap shows the text in its message; serde does not.
                text.parse().map_err(|refusal: $crate::Refusal| {
                    if refusal.0.starts_with('`') {
                        refusal
                    } else {
                        $crate::Refusal::new(format!("`{text}` {refusal}"))
                    }
                })
            }
        }
        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.to_string()
            }
        }
    };
}
pub(crate) use text;

/// The reason why a text cannot be parsed into a type.
#[derive(Debug, PartialEq)]
pub struct Refusal(pub std::borrow::Cow<'static, str>);

impl Refusal {
    fn new(text: impl Into<std::borrow::Cow<'static, str>>) -> Self {
        Self(text.into())
    }
}
impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}
impl std::error::Error for Refusal {}

/// Words that cannot be identifiers in Rust (edition 2024), strict and reserved ones.
pub const RUST_KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate",
    "do", "dyn", "else", "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl",
    "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv", "pub", "ref",
    "return", "self", "static", "struct", "super", "trait", "true", "try", "type", "typeof",
    "unsafe", "unsized", "use", "virtual", "where", "while", "yield",
];

/// Returns a module's name for a snake-case word: keywords get a `_`, as do words that start with a digit and the names
/// of devices, which no file has on Windows: a project moves between systems.
pub fn module_name(word: &str) -> String {
    if RUST_KEYWORDS.contains(&word) || path::is_device_of_windows(word) {
        format!("{word}_")
    } else if word.starts_with(|c: char| c.is_ascii_digit()) {
        format!("_{word}")
    } else {
        word.to_owned()
    }
}
