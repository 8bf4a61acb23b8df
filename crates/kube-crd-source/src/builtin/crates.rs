//! Types of the crates that schemars has features for, and of ipnet, which has a feature for schemars.
//!
//! Those that only forward to another type's functions are linked as that one; so the crate need not be here.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::json;

use super::standard::{D, E};
use super::{Builtin, Table, networks};

macro_rules! plain {
    ($table:ident: $($path:literal $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$type>(0).with_default::<$type>().reading::<$type>());)*
    };
}
macro_rules! networks {
    ($table:ident: $($path:literal $schema:ty = $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$schema>(0).with_default::<$type>().reading::<$type>());)*
    };
}
macro_rules! bare {
    ($table:ident: $($path:literal $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$type>(0).reading::<$type>());)*
    };
}
macro_rules! generic {
    ($table:ident: $($path:literal $count:literal $type:ty = $default:expr,)*) => {
        $($table.insert($path, Builtin {
            default: Some(|| $default),
            ..Builtin::of::<$type>($count)
        });)*
    };
}

pub fn add_types(table: &mut Table) {
    plain! { table:
        "chrono::DateTime<Utc>" chrono::DateTime<chrono::Utc>,
        "chrono::NaiveDate" chrono::NaiveDate,
        "chrono::NaiveDateTime" chrono::NaiveDateTime,
        "chrono::NaiveTime" chrono::NaiveTime,
        "jiff::SignedDuration" jiff::SignedDuration,
        "jiff::Span" jiff::Span,
        "jiff::Timestamp" jiff::Timestamp,
        "jiff::civil::Date" jiff::civil::Date,
        "jiff::civil::DateTime" jiff::civil::DateTime,
        "jiff::civil::Time" jiff::civil::Time,
        "smol_str::SmolStr" String,
        "uuid::Uuid" uuid::Uuid,
    }
    networks! { table:
        "ipnet::IpNet" networks::IpNet = ipnet::IpNet,
        "ipnet::Ipv4Net" networks::Ipv4Net = ipnet::Ipv4Net,
        "ipnet::Ipv6Net" networks::Ipv6Net = ipnet::Ipv6Net,
    }
    bare! { table:
        "chrono::Weekday" chrono::Weekday,
        "semver::Version" semver::Version,
        "url::Url" url::Url,
    }
    table.insert("chrono::TimeDelta", Builtin::of::<chrono::TimeDelta>(0));
    // The text of these values depends on the time zones that the machine knows.
    table.insert("chrono::DateTime", Builtin::of::<chrono::DateTime<chrono::FixedOffset>>(0));
    table.insert("jiff::Zoned", Builtin::of::<jiff::Zoned>(0));
    table.insert("arrayvec::ArrayString", Builtin::of::<String>(0).with_default::<String>());
    generic! { table:
        "either::Either" 2 either::Either<D, E> = None,
        "indexmap::IndexMap" 2 BTreeMap<D, E> = Some(json!({})),
        "indexmap::IndexSet" 1 BTreeSet<D> = Some(json!([])),
    }
}

/// Returns how many of a type's arguments its schema depends on: the rest are zones, hashers, sizes.
pub fn arguments_that_count(path: &str) -> usize {
    match path {
        "chrono::DateTime" | "arrayvec::ArrayString" => 0,
        "std::collections::HashSet" | "indexmap::IndexSet" => 1,
        "std::collections::HashMap" | "indexmap::IndexMap" => 2,
        _ => usize::MAX,
    }
}

/// Types whose schema has several JSON types, on which kube panics.
pub const TWOFOLD: &[&str] =
    &["bytes::Bytes", "bytes::BytesMut", "bigdecimal::BigDecimal", "rust_decimal::Decimal"];
