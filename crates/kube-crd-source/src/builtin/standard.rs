//! Types of std, serde_json and kube: all that schemars has an impl for, but those that serde has none for.
//! A type whose schema forwards to that of another type is linked as the other.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};
use std::num;
use std::path::PathBuf;
use std::sync::atomic;

use serde_json::{Value, json};

use super::{Builtin, Dyn, Table};

pub(super) type D = Dyn<0>;
pub(super) type E = Dyn<1>;

macro_rules! plain {
    ($table:ident: $($path:literal $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$type>(0).with_default::<$type>().reading::<$type>());)*
    };
}
macro_rules! bare {
    ($table:ident: $($path:literal $count:literal $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$type>($count));)*
    };
}
macro_rules! readable {
    ($table:ident: $($path:literal $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$type>(0).reading::<$type>());)*
    };
}
macro_rules! generic {
    ($table:ident: $($path:literal $count:literal $type:ty = $default:expr,)*) => {
        $($table.insert($path, Builtin {
            default: Some(|| Some($default)),
            ..Builtin::of::<$type>($count)
        });)*
    };
}
macro_rules! arrays {
    ($table:ident: $($path:literal $count:literal)*) => {
        $($table.insert($path, Builtin::of::<[D; $count]>(1));)*
    };
}

pub fn add_types(table: &mut Table) {
    plain! { table:
        "()" (),
        "bool" bool,
        "std::path::PathBuf" PathBuf,
        "char" char,
        "f32" f32,
        "f64" f64,
        "i8" i8,
        "i16" i16,
        "i32" i32,
        "i64" i64,
        "isize" isize,
        "u8" u8,
        "u16" u16,
        "u32" u32,
        "u64" u64,
        "usize" usize,
        "std::string::String" String,
        "serde_json::Value" Value,
        "i128" i128,
        "u128" u128,
        "std::time::Duration" core::time::Duration,
        "std::sync::atomic::AtomicBool" atomic::AtomicBool,
        "std::sync::atomic::AtomicI8" atomic::AtomicI8,
        "std::sync::atomic::AtomicI16" atomic::AtomicI16,
        "std::sync::atomic::AtomicI32" atomic::AtomicI32,
        "std::sync::atomic::AtomicI64" atomic::AtomicI64,
        "std::sync::atomic::AtomicIsize" atomic::AtomicIsize,
        "std::sync::atomic::AtomicU8" atomic::AtomicU8,
        "std::sync::atomic::AtomicU16" atomic::AtomicU16,
        "std::sync::atomic::AtomicU32" atomic::AtomicU32,
        "std::sync::atomic::AtomicU64" atomic::AtomicU64,
        "std::sync::atomic::AtomicUsize" atomic::AtomicUsize,
    }
    bare! { table:
        "str" 0 str,
        "std::path::Path" 0 std::path::Path,
        "std::time::SystemTime" 0 std::time::SystemTime,
        "std::ffi::OsString" 0 std::ffi::OsString,
        "std::ffi::OsStr" 0 std::ffi::OsStr,
        "std::ffi::CString" 0 std::ffi::CString,
        "std::ffi::CStr" 0 std::ffi::CStr,
        "serde_json::RawValue" 0 Value,
        "serde_json::Number" 0 serde_json::Number,
        "std::result::Result" 2 Result<D, E>,
        "std::boxed::Box" 1 Box<D>,
        "std::rc::Rc" 1 std::rc::Rc<D>,
        "std::sync::Arc" 1 std::sync::Arc<D>,
        "std::rc::Weak" 1 std::rc::Weak<D>,
        "std::sync::Weak" 1 std::sync::Weak<D>,
        "std::cell::Cell" 1 std::cell::Cell<D>,
        "std::cell::RefCell" 1 std::cell::RefCell<D>,
        "std::sync::Mutex" 1 std::sync::Mutex<D>,
        "std::sync::RwLock" 1 std::sync::RwLock<D>,
        "std::num::Wrapping" 1 num::Wrapping<D>,
        "std::cmp::Reverse" 1 std::cmp::Reverse<D>,
        "std::ops::Bound" 1 std::ops::Bound<D>,
        "std::ops::Range" 1 std::ops::Range<D>,
        "std::ops::RangeInclusive" 1 std::ops::RangeInclusive<D>,
        "&" 1 &'static D,
        "(1)" 1 (D,),
        "(2)" 2 (D, E),
        "(3)" 3 (D, E, Dyn<2>),
        "(4)" 4 (D, E, Dyn<2>, Dyn<3>),
        "(5)" 5 (D, E, Dyn<2>, Dyn<3>, Dyn<4>),
        "(6)" 6 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>),
        "(7)" 7 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>),
        "(8)" 8 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>),
        "(9)" 9 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>),
        "(10)" 10 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>, Dyn<9>),
        "(11)" 11 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>, Dyn<9>, Dyn<10>),
        "(12)" 12 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>, Dyn<9>, Dyn<10>, Dyn<11>),
        "(13)" 13 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>, Dyn<9>, Dyn<10>, Dyn<11>, Dyn<12>),
        "(14)" 14 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>, Dyn<9>, Dyn<10>, Dyn<11>, Dyn<12>, Dyn<13>),
        "(15)" 15 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>, Dyn<9>, Dyn<10>, Dyn<11>, Dyn<12>, Dyn<13>, Dyn<14>),
        "(16)" 16 (D, E, Dyn<2>, Dyn<3>, Dyn<4>, Dyn<5>, Dyn<6>, Dyn<7>, Dyn<8>, Dyn<9>, Dyn<10>, Dyn<11>, Dyn<12>, Dyn<13>, Dyn<14>, Dyn<15>),
    }
    readable! { table:
        "std::num::NonZeroI8" num::NonZeroI8,
        "std::num::NonZeroI16" num::NonZeroI16,
        "std::num::NonZeroI32" num::NonZeroI32,
        "std::num::NonZeroI64" num::NonZeroI64,
        "std::num::NonZeroI128" num::NonZeroI128,
        "std::num::NonZeroIsize" num::NonZeroIsize,
        "std::num::NonZeroU8" num::NonZeroU8,
        "std::num::NonZeroU16" num::NonZeroU16,
        "std::num::NonZeroU32" num::NonZeroU32,
        "std::num::NonZeroU64" num::NonZeroU64,
        "std::num::NonZeroU128" num::NonZeroU128,
        "std::num::NonZeroUsize" num::NonZeroUsize,
        "std::net::IpAddr" std::net::IpAddr,
        "std::net::Ipv4Addr" std::net::Ipv4Addr,
        "std::net::Ipv6Addr" std::net::Ipv6Addr,
        "std::net::SocketAddr" std::net::SocketAddr,
        "std::net::SocketAddrV4" std::net::SocketAddrV4,
        "std::net::SocketAddrV6" std::net::SocketAddrV6,
        "kube_core::Duration" kube_core::Duration,
    }
    generic! { table:
        "std::option::Option" 1 Option<D> = Value::Null,
        "std::marker::PhantomData" 1 std::marker::PhantomData<D> = Value::Null,
        "std::vec::Vec" 1 Vec<D> = json!([]),
        "[]" 1 [D] = json!([]),
        "std::collections::VecDeque" 1 VecDeque<D> = json!([]),
        "std::collections::LinkedList" 1 LinkedList<D> = json!([]),
        "std::collections::BinaryHeap" 1 BinaryHeap<D> = json!([]),
        "std::collections::BTreeSet" 1 BTreeSet<D> = json!([]),
        "std::collections::HashSet" 1 BTreeSet<D> = json!([]),
        "std::collections::BTreeMap" 2 BTreeMap<D, E> = json!({}),
        "std::collections::HashMap" 2 BTreeMap<D, E> = json!({}),
    }
    arrays! { table:
        "[;0]" 0 "[;1]" 1 "[;2]" 2 "[;3]" 3 "[;4]" 4 "[;5]" 5 "[;6]" 6 "[;7]" 7 "[;8]" 8 "[;9]" 9
        "[;10]" 10 "[;11]" 11 "[;12]" 12 "[;13]" 13 "[;14]" 14 "[;15]" 15 "[;16]" 16 "[;17]" 17
        "[;18]" 18 "[;19]" 19 "[;20]" 20 "[;21]" 21 "[;22]" 22 "[;23]" 23 "[;24]" 24 "[;25]" 25
        "[;26]" 26 "[;27]" 27 "[;28]" 28 "[;29]" 29 "[;30]" 30 "[;31]" 31 "[;32]" 32
    }
}
