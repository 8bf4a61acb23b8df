//! Macros of other crates whose effect at the place of items is known.

/// Macros of other crates that declare nothing.
pub const QUIET: &[&str] = &[
    "anyhow",
    "assert",
    "assert_eq",
    "bail",
    "cfg",
    "column",
    "compile_error",
    "concat",
    "const_assert",
    "debug_assert",
    "env",
    "eprintln",
    "file",
    "format",
    "json",
    "line",
    "matches",
    "module_path",
    "option_env",
    "panic",
    "println",
    "static_assertions",
    "stringify",
    "todo",
    "unimplemented",
    "unreachable",
    "vec",
    "write",
    "writeln",
];

/// Macros of other crates that declare what their arguments do.
pub const TRANSPARENT: &[&str] = &["cfg_if", "lazy_static", "task_local", "thread_local"];

/// The crates of all of these.
pub const CRATES: &[&str] = &[
    "alloc",
    "anyhow",
    "cfg_if",
    "core",
    "lazy_static",
    "serde_json",
    "static_assertions",
    "std",
    "tokio",
];
