//! Names that come from outside the project, each by one path, however it is imported.

use super::kubernetes::{Kubernetes, KubernetesMiss};

/// The standard prelude and the language's own types.
const PRELUDE: &[(&str, &str)] = &[
    ("Option", "std::option::Option"),
    ("Some", "std::option::Option::Some"),
    ("None", "std::option::Option::None"),
    ("Result", "std::result::Result"),
    ("Ok", "std::result::Result::Ok"),
    ("Err", "std::result::Result::Err"),
    ("TryFrom", "std::convert::TryFrom"),
    ("TryInto", "std::convert::TryInto"),
    ("String", "std::string::String"),
    ("Vec", "std::vec::Vec"),
    ("Box", "std::boxed::Box"),
    ("Default", "std::default::Default"),
    ("Clone", "std::clone::Clone"),
    ("Copy", "std::marker::Copy"),
    ("Eq", "std::cmp::Eq"),
    ("PartialEq", "std::cmp::PartialEq"),
    ("Ord", "std::cmp::Ord"),
    ("PartialOrd", "std::cmp::PartialOrd"),
    ("Into", "std::convert::Into"),
    ("From", "std::convert::From"),
    ("ToString", "std::string::ToString"),
    ("ToOwned", "std::borrow::ToOwned"),
    ("Debug", "std::fmt::Debug"),
    ("Hash", "std::hash::Hash"),
];

const LANGUAGE: &[&str] = &[
    "bool", "char", "str", "f32", "f64", "i8", "i16", "i32", "i64", "i128", "isize", "u8", "u16",
    "u32", "u64", "u128", "usize",
];

pub fn prelude_path(name: &str) -> Option<String> {
    if LANGUAGE.contains(&name) {
        return Some(name.to_owned());
    }
    PRELUDE.iter().find(|(it, _)| *it == name).map(|(_, path)| (*path).to_owned())
}

/// Modules that another module shows as its own.
const SAME: &[(&str, &str)] = &[
    ("kube::core", "kube_core"),
    ("kube_core::duration", "kube_core"),
    ("kube_core::metadata", "kube_core"),
    ("kube_core::ListMeta", "k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta"),
    ("kube_core::ObjectMeta", "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta"),
    ("kube::api::ListMeta", "k8s_openapi::apimachinery::pkg::apis::meta::v1::ListMeta"),
    ("kube::api::ObjectMeta", "k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta"),
    ("std::collections::Bound", "std::ops::Bound"),
    ("std::collections::btree_map", "std::collections"),
    ("std::collections::btree_set", "std::collections"),
    ("std::collections::hash_map", "std::collections"),
    ("std::collections::hash_set", "std::collections"),
    ("std::collections::vec_deque", "std::collections"),
    ("std::collections::linked_list", "std::collections"),
    ("std::collections::binary_heap", "std::collections"),
    ("std::prelude::v1", "std::prelude"),
    ("std::prelude::rust_2021", "std::prelude"),
    ("std::prelude::rust_2024", "std::prelude"),
    ("serde_json::value", "serde_json"),
    ("serde_json::map", "serde_json"),
    ("k8s_openapi::serde_json", "serde_json"),
    ("k8s_openapi::schemars", "schemars"),
    ("chrono::naive", "chrono"),
    ("chrono::offset", "chrono"),
    ("chrono::Duration", "chrono::TimeDelta"),
    ("k8s_openapi::chrono", "chrono"),
    ("k8s_openapi::jiff", "jiff"),
    ("k8s_openapi::serde", "serde"),
    ("schemars::_private::serde_json", "serde_json"),
    ("serde::ser", "serde"),
    ("serde::de", "serde"),
    ("kube_derive", "kube"),
    ("kube::derive", "kube"),
    ("serde_derive", "serde"),
    ("schemars_derive", "schemars"),
];

fn same_path(path: &str) -> Option<&'static str> {
    SAME.iter().find(|(it, _)| *it == path).map(|(_, same)| *same)
}

/// All that `chrono::prelude` shows.
const CHRONO: &[&str] = &[
    "Date",
    "DateTime",
    "Datelike",
    "FixedOffset",
    "Local",
    "Locale",
    "Month",
    "NaiveDate",
    "NaiveDateTime",
    "NaiveTime",
    "Offset",
    "SecondsFormat",
    "SubsecRound",
    "TimeZone",
    "Timelike",
    "Utc",
    "Weekday",
];

/// Crates that are known by tables only: their source is not read.
pub fn is_table(name: &str) -> bool {
    const TABLES: &[&str] = &[
        "std",
        "kube",
        "kube_client",
        "kube_core",
        "kube_derive",
        "kube_runtime",
        "k8s_openapi",
        "schemars",
        "schemars_derive",
        "serde",
        "serde_core",
        "serde_derive",
        "serde_json",
    ];
    TABLES.contains(&name) || super::is_of(name)
}

/// The path of `name` in the foreign `module`, as our tables know it.
pub fn canonical_path(module: &str, name: &str) -> String {
    if module == "std::prelude"
        && let Some(path) = prelude_path(name)
    {
        return path;
    }
    if module == "std::primitive" && LANGUAGE.contains(&name) {
        return name.to_owned();
    }
    let module = match module {
        "chrono::prelude" if CHRONO.contains(&name) => "chrono",
        // A crate is named by its own word, which may be one of another's modules.
        module => same_path(module).unwrap_or(module),
    };
    let path = format!("{module}::{name}");
    same_path(&path).map_or(path, str::to_owned)
}

/// Derives and traits that code imports and that we know by name.
pub const TRAITS: &[&str] = &[
    "schemars::JsonSchema",
    "schemars::Schema",
    "schemars::SchemaGenerator",
    "serde_json::Map",
    "serde::Serialize",
    "serde::Deserialize",
    "kube::CustomResource",
    "kube::KubeSchema",
    "kube_core::Rule",
    "kube_core::Message",
    "kube_core::Reason",
    "kube_core::ListMerge",
    "kube_core::MapMerge",
    "kube_core::StructMerge",
];

/// Modules that hide nothing of the prelude but what is known here. Read from their documentation and source, at
/// all versions that are known.
const WHOLE: &[&str] = &[
    "chrono::prelude",
    "kube",
    "kube::api",
    "kube::client",
    "kube::config",
    "kube::discovery",
    "kube::prelude",
    "kube::runtime",
    "kube::runtime::controller",
    "kube::runtime::events",
    "kube::runtime::finalizer",
    "kube::runtime::reflector",
    "kube::runtime::wait",
    "kube::runtime::watcher",
    "kube_core",
    "kube_core::admission",
    "kube_core::crd",
    "kube_core::params",
    "schemars",
    "serde",
    "serde_json",
    "std::any",
    "std::borrow",
    "std::boxed",
    "std::cell",
    "std::clone",
    "std::cmp",
    "std::collections",
    "std::convert",
    "std::default",
    "std::env",
    "std::error",
    "std::ffi",
    "std::fmt",
    "std::fs",
    "std::future",
    "std::hash",
    "std::io",
    "std::io::prelude",
    "std::iter",
    "std::marker",
    "std::mem",
    "std::net",
    "std::num",
    "std::ops",
    "std::option",
    "std::path",
    "std::pin",
    "std::prelude",
    "std::process",
    "std::rc",
    "std::result",
    "std::str",
    "std::string",
    "std::sync",
    "std::thread",
    "std::time",
    "std::vec",
];

/// The names in these crates that the prelude has too.
const HIDING: &[&str] =
    &["serde_json::Result", "std::fmt::Result", "std::io::Result", "std::thread::Result"];

/// The same of what is there at some versions or features only.
const SOMETIMES: &[&str] = &["kube::Result", "kube::runtime::watcher::Result"];

/// Derives that no trait or type shares its name with.
pub fn is_macro(path: &str) -> bool {
    matches!(path, "kube::CustomResource" | "kube::KubeSchema")
}

/// Returns whether a foreign path is a name that is known for certain. `kubernetes` is what the project has of
/// k8s-openapi.
pub fn is_known(kubernetes: &Kubernetes, path: &str) -> bool {
    match kubernetes.find_type(path) {
        Some(found) => !matches!(found, Err(KubernetesMiss::Absent)),
        None => {
            super::find(path).is_some()
                || TRAITS.contains(&path)
                || PRELUDE.iter().any(|(_, it)| *it == path)
                || HIDING.contains(&path)
                || path.strip_prefix("chrono::").is_some_and(|name| CHRONO.contains(&name))
        }
    }
}

/// Returns whether a module is known not to hold a name that [`is_known`] does not know in it: then a `use …::*`
/// of the module does not hide what has that name elsewhere.
pub fn is_known_without(kubernetes: &Kubernetes, module: &str, name: &str) -> bool {
    let whole = WHOLE.contains(&module)
        || kubernetes.is_module(module).unwrap_or_else(|| super::is_module(module));
    whole && !SOMETIMES.contains(&format!("{module}::{name}").as_str())
}
