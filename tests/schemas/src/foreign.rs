//! Types of std, and of the crates that schemars has features for.

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::{NonZero, NonZeroI128, NonZeroIsize, NonZeroU128, Wrapping};
use std::ops::{Range, RangeInclusive};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8};
use std::sync::{Arc, Mutex, RwLock};

use chrono::prelude::*;
use jiff::civil;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "foreign.example.com", version = "v1", kind = "Wrapped")]
pub struct WrappedSpec {
    /// One of these.
    cell: Cell<u8>,
    option: RefCell<Option<String>>,
    mutex: Arc<Mutex<i32>>,
    lock: Option<Arc<RwLock<Vec<String>>>>,
    wrapping: Wrapping<u16>,
    reverse: Reverse<i64>,
    weak: std::sync::Weak<String>,
    flag: Arc<AtomicBool>,
    small: Arc<AtomicU8>,
    count: Option<Arc<AtomicI64>>,
    range: Range<u32>,
    inclusive: Option<RangeInclusive<i8>>,
    zero: NonZero<u32>,
    negative: std::num::NonZero<i8>,
    wide: NonZeroI128,
    wider: Option<NonZeroU128>,
    size: NonZeroIsize,
    signed: i128,
    hasher: HashMap<String, u8, std::collections::hash_map::RandomState>,
    hashed: HashSet<u8, std::hash::RandomState>,
    duration: kube::core::duration::Duration,
    texts: (Box<str>, Arc<str>, Arc<[u8]>),
}

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "foreign.example.com", version = "v1", kind = "Wide")]
pub struct WideSpec {
    five: (u8, u8, u8, u8, u8),
    nine: (u8, bool, String, char, u8, u8, u8, u8, i64),
    twelve: (u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, Option<u8>),
    #[schemars(with = "(u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, u8, i8)")]
    sixteen: u8,
}

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "foreign.example.com", version = "v1", kind = "Times")]
pub struct TimesSpec {
    utc: DateTime<Utc>,
    /// With its zone.
    fixed: Option<chrono::DateTime<chrono::FixedOffset>>,
    list: Vec<DateTime<Utc>>,
    naive: NaiveDateTime,
    date: chrono::naive::NaiveDate,
    time: Option<NaiveTime>,
    weekday: Weekday,
    weekdays: HashMap<Weekday, bool>,
    timestamp: jiff::Timestamp,
    again: k8s_openapi::jiff::Timestamp,
    zoned: Option<jiff::Zoned>,
    span: jiff::Span,
    signed: jiff::SignedDuration,
    civil: civil::Date,
    civil_time: civil::Time,
    civil_both: Option<civil::DateTime>,
}

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "foreign.example.com", version = "v1", kind = "Addressed")]
pub struct AddressedSpec {
    url: url::Url,
    urls: Option<Vec<url::Url>>,
    id: uuid::Uuid,
    version: semver::Version,
    versions: BTreeMap<String, Option<semver::Version>>,
    net: ipnet::IpNet,
    four: Option<ipnet::Ipv4Net>,
    /// Of the newer kind.
    six: Vec<ipnet::Ipv6Net>,
    map: indexmap::IndexMap<String, u8>,
    set: indexmap::IndexSet<String>,
    few: smallvec::SmallVec<[u8; 4]>,
    short: smol_str::SmolStr,
    fixed: Option<arrayvec::ArrayString<16>>,
    either: either::Either<String, Vec<u8>>,
}

#[derive(CustomResource, Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[kube(group = "foreign.example.com", version = "v1", kind = "Defaulted")]
pub struct DefaultedSpec {
    #[serde(default)]
    utc: DateTime<Utc>,
    #[serde(default)]
    date: NaiveDate,
    #[serde(default)]
    timestamp: jiff::Timestamp,
    #[serde(default)]
    span: jiff::Span,
    #[serde(default)]
    signed: jiff::SignedDuration,
    #[serde(default)]
    civil: civil::DateTime,
    #[serde(default)]
    id: uuid::Uuid,
    #[serde(default)]
    net: ipnet::IpNet,
    #[serde(default)]
    six: ipnet::Ipv6Net,
    #[serde(default)]
    map: indexmap::IndexMap<String, u8>,
    #[serde(default)]
    short: smol_str::SmolStr,
    #[serde(default)]
    path: std::path::PathBuf,
    #[serde(default)]
    duration: std::time::Duration,
    #[serde(default)]
    phantom: std::marker::PhantomData<String>,
}
