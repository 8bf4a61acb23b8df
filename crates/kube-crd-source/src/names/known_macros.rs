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

/// Published crates whose derives and attribute macros write implementations, and items with names that begin or end
/// with that of the item which they get, such as `FooBits` for `Foo`: read from their sources as of November 2026. None
/// of their macros declares a kind or a trait.
const CRATES_OF_IMPLS: &[&str] = &[
    "actix_macros",
    "actix_rt",
    "actix_web",
    "actix_web_codegen",
    "anyhow",
    "arbitrary",
    "async_graphql",
    "async_graphql_derive",
    "async_std",
    "async_stream",
    "async_stream_impl",
    "async_trait",
    "axum",
    "axum_extra",
    "axum_macros",
    "bitflags",
    "borsh",
    "borsh_derive",
    "bytemuck",
    "bytemuck_derive",
    "cfg_if",
    "clap",
    "clap_derive",
    "color_eyre",
    "confique",
    "confique_macro",
    "cucumber",
    "darling",
    "darling_macro",
    "derivative",
    "derive_arbitrary",
    "derive_more",
    "derive_more_impl",
    "derive_where",
    "diesel",
    "diesel_derives",
    "displaydoc",
    "dummy",
    "educe",
    "enum_as_inner",
    "enum_dispatch",
    "enum_iterator",
    "enum_iterator_derive",
    "enum_map",
    "enum_map_derive",
    "envconfig",
    "envconfig_derive",
    "eyre",
    "fake",
    "futures",
    "futures_macro",
    "futures_util",
    "garde",
    "garde_derive",
    "getset",
    "include_dir",
    "include_dir_macros",
    "indoc",
    "insta",
    "k8s_openapi",
    "kube",
    "kube_derive",
    "lazy_static",
    "log",
    "maplit",
    "metrics",
    "miette",
    "miette_derive",
    "mockall",
    "mockall_derive",
    "mutants",
    "num_derive",
    "opentelemetry",
    "parse_display",
    "paste",
    "phf",
    "phf_macros",
    "pin_project_lite",
    "poem",
    "poem_derive",
    "poem_openapi",
    "poem_openapi_derive",
    "poise",
    "prometheus",
    "prometheus_client",
    "prometheus_client_derive_encode",
    "proptest",
    "proptest_derive",
    "prost",
    "prost_derive",
    "pyo3",
    "pyo3_macros",
    "rocket",
    "rocket_codegen",
    "rstest",
    "rstest_macros",
    "rust_embed",
    "rust_embed_impl",
    "schemars",
    "schemars_derive",
    "scoped_tls",
    "secrecy",
    "serde",
    "serde_core",
    "serde_derive",
    "serde_json",
    "serde_repr",
    "serde_with",
    "serde_with_macros",
    "serial_test",
    "serial_test_derive",
    "slog",
    "smart_default",
    "sqlx",
    "sqlx_macros",
    "static_assertions",
    "std",
    "structopt",
    "structopt_derive",
    "test_case",
    "test_case_macros",
    "test_log",
    "test_log_macros",
    "thiserror",
    "thiserror_core",
    "thiserror_impl",
    "time",
    "tokio",
    "tokio_macros",
    "tokio_stream",
    "tonic",
    "tracing",
    "tracing_attributes",
    "tracing_test",
    "tracing_test_macro",
    "ts_rs",
    "ts_rs_macros",
    "typeshare",
    "typeshare_annotation",
    "utoipa",
    "utoipa_gen",
    "uuid",
    "validator",
    "validator_derive",
    "zerocopy",
    "zerocopy_derive",
    "zeroize",
    "zeroize_derive",
];

/// Published crates whose derives and attribute macros write items, too, which the attributes of the item name or the
/// variants with `suffix` of snafu: `#[strum_discriminants(name(Foo))]`. They pass attributes on to these items.
const CRATES_OF_ITEMS: &[&str] = &[
    "bon",
    "bon_macros",
    "derive_builder",
    "derive_builder_macro",
    "documented",
    "documented_macros",
    "pin_project",
    "pin_project_internal",
    "rkyv",
    "rkyv_derive",
    "snafu",
    "snafu_derive",
    "strum",
    "strum_macros",
    "typed_builder",
    "typed_builder_macro",
    "wasm_bindgen",
    "wasm_bindgen_macro",
];

/// Attribute macros of known crates that name an item in another case than their arguments.
const UNKNOWN_MACROS: &[&str] = &["diesel::auto_type", "diesel_derives::auto_type"];

/// The output of known derives and attribute macros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MacroWrites {
    Impls,
    /// Items, too, whose names are in the attributes of the item that they get.
    Items,
}

/// Returns what the macros behind a path write, if its crate is published; none if it is not known. `path` leads to a
/// macro, of a module or of a crate.
pub fn known_effect(path: &str) -> Option<MacroWrites> {
    let word = path.split("::").next().unwrap_or(path);
    let word = word.split('@').next().unwrap_or(word);
    if UNKNOWN_MACROS.contains(&path) {
        None
    } else if CRATES_OF_IMPLS.binary_search(&word).is_ok() {
        Some(MacroWrites::Impls)
    } else {
        CRATES_OF_ITEMS.binary_search(&word).is_ok().then_some(MacroWrites::Items)
    }
}

#[test]
fn known_crates_are_sorted() {
    assert!(CRATES_OF_IMPLS.is_sorted());
    assert!(CRATES_OF_ITEMS.is_sorted());
}
