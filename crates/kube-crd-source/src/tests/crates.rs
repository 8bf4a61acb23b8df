//! Types of std and of other crates that stand in the table, and those that are refused by name.

use super::packages::lock;
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

#[test]
fn types_of_a_crate_that_may_not_be_the_published_one_are_refused() {
    let manifest = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nchrono = \"0.4\"\nk8s-openapi = { version = \"0.29\", features = [\"v1_33\"] }\n";
    let published = Published::find("chrono", "0.4.45").unwrap().checksum;
    let read = |body: &str, beside: &str, checksum: &str| {
        let text = spec(body, beside).into_values().next().unwrap();
        let packages: [(&str, &str, &[&str]); 2] =
            [(".a", "0.1.0", &["chrono"]), ("chrono", "0.4.45", &[])];
        let locked = lock(&packages).replace(published, checksum);
        let project = [("Cargo.toml", manifest), ("Cargo.lock", &locked), ("src/main.rs", &text)];
        problems(&files(&project))
    };
    let why = "is of a crate that is not known: the checksum of `chrono` 0.4.45 in Cargo.lock is not that of the published crate (`Kind` → `spec.a`)";
    for (ty, beside) in [
        ("chrono::NaiveDate", ""),
        ("chrono::naive::NaiveDate", ""),
        ("k8s_openapi::chrono::NaiveDate", ""),
        ("NaiveDate", "use chrono::{self, NaiveDate};"),
        ("c::NaiveDate", "use k8s_openapi::chrono as c;"),
    ] {
        let body = format!("a: {ty},");
        assert_eq!(read(&body, beside, published), [""; 0], "{ty}");
        let found = read(&body, beside, "0");
        if beside.is_empty() {
            assert_eq!(found, [format!("src/main.rs:5:4: `{ty}` {why}")]);
        } else {
            assert!(found[0].contains("may bring a trait into scope"), "{ty}: {found:?}");
        }
    }
    let default = "#[serde(default)] #[schemars(with = \"String\")] a: chrono::NaiveDate,";
    assert_eq!(read(default, "", published), [""; 0]);
    assert_eq!(read(default, "", "0").len(), 1);
}
