//! Types of std and of other crates that stand in the table, and those that are refused by name.

use super::*;

#[test]
fn types_that_kube_has_no_schema_for_are_refused_by_name() {
    let check = |ty: &str, expected: &str| {
        let read = problems(&spec(&format!("a: {ty},"), ""));
        assert_eq!(read, [format!("src/main.rs:5:4: `{ty}` {expected} (`Kind` → `spec.a`)")]);
    };
    check("std::ops::RangeFrom<u8>", "is `std::ops::RangeFrom`, whose schema is not known");
    check("std::num::Saturating<u8>", "is `std::num::Saturating`, whose schema is not known");
    check("std::num::NonZero<char>", "is `std::num::NonZeroChar`, whose schema is not known");
    check("std::vec::Vec<u8, u8>", "has 2 type arguments, not 1");
    check("std::collections::HashMap<u8>", "has 1 type arguments, not 2");
}

#[test]
fn types_of_other_crates_are_known_by_every_path_to_them() {
    let none: [&str; 0] = [];
    let read = |ty: &str, beside: &str| problems(&spec(&format!("a: {ty},"), beside));
    for (ty, beside) in [
        ("std::collections::hash_map::HashMap<String, u8, std::hash::RandomState>", ""),
        ("core::num::NonZero<u8>", ""),
        ("std::sync::Arc<std::sync::Mutex<Option<u8>>>", ""),
        ("kube::core::duration::Duration", ""),
        ("k8s_openapi::jiff::Timestamp", ""),
        ("DateTime<Utc>", "use k8s_openapi::chrono::{DateTime, Utc};"),
        ("Date", "use k8s_openapi::jiff::civil::Date;"),
    ] {
        assert_eq!(read(ty, beside), none, "{ty}");
    }
}
