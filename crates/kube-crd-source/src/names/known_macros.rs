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

/// The derives that need no import.
pub const DERIVES_OF_STD: &[&str] =
    &["Clone", "Copy", "Debug", "Default", "Eq", "Hash", "Ord", "PartialEq", "PartialOrd"];

/// Published crates none of whose macros declares a kind, whatever it is given.
const WITHOUT_KINDS: &[&str] = &[
    "actix_web",
    "anyhow",
    "arbitrary",
    "async_graphql",
    "async_trait",
    "axum",
    "bitflags",
    "bon",
    "borsh",
    "bytemuck",
    "cfg_if",
    "clap",
    "confique",
    "derivative",
    "derive_builder",
    "derive_more",
    "derive_where",
    "diesel",
    "displaydoc",
    "documented",
    "educe",
    "enum_dispatch",
    "enum_iterator",
    "enum_map",
    "envconfig",
    "fake",
    "futures",
    "garde",
    "getset",
    "indoc",
    "k8s_openapi",
    "kube",
    "kube_derive",
    "lazy_static",
    "maplit",
    "miette",
    "mockall",
    "num_derive",
    "opentelemetry",
    "parse_display",
    "paste",
    "pin_project",
    "pin_project_lite",
    "poem",
    "prometheus",
    "prometheus_client",
    "proptest",
    "proptest_derive",
    "prost",
    "pyo3",
    "rkyv",
    "rocket",
    "rstest",
    "schemars",
    "serde",
    "serde_derive",
    "serde_json",
    "serde_repr",
    "serde_with",
    "smart_default",
    "snafu",
    "sqlx",
    "static_assertions",
    "std",
    "strum",
    "strum_macros",
    "test_log",
    "thiserror",
    "tokio",
    "tonic",
    "tracing",
    "ts_rs",
    "typed_builder",
    "typeshare",
    "utoipa",
    "uuid",
    "validator",
    "zerocopy",
    "zeroize",
];

/// Returns whether a macro of another crate, named by its whole path, declares no kinds.
///
/// A crate from git or a path is never known: its first word says where it is from.
pub fn declares_no_kinds(path: &str) -> bool {
    let first = path.trim_start_matches("::").split("::").next().unwrap_or_default();
    let name = first.split('@').next().unwrap_or_default();
    WITHOUT_KINDS.binary_search(&name).is_ok()
}

#[test]
fn crates_without_kinds_are_sorted() {
    assert!(WITHOUT_KINDS.is_sorted());
}
