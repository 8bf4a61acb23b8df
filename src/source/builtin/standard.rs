//! Types of std, serde_json and kube. What schemars gives the functions of another type is linked as that one.

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};

use serde_json::{Value, json};

use super::{Builtin, Dyn, Table};

type D = Dyn<0>;
type E = Dyn<1>;

macro_rules! plain {
    ($table:ident: $($path:literal $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$type>(0).with_default::<$type>());)*
    };
}
macro_rules! bare {
    ($table:ident: $($path:literal $count:literal $type:ty,)*) => {
        $($table.insert($path, Builtin::of::<$type>($count));)*
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

pub fn add(table: &mut Table) {
    plain! { table:
        "()" (),
        "bool" bool,
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
    }
    bare! { table:
        "i128" 0 i128,
        "u128" 0 u128,
        "str" 0 str,
        "std::path::PathBuf" 0 std::path::PathBuf,
        "std::path::Path" 0 std::path::Path,
        "std::net::IpAddr" 0 std::net::IpAddr,
        "std::net::Ipv4Addr" 0 std::net::Ipv4Addr,
        "std::net::Ipv6Addr" 0 std::net::Ipv6Addr,
        "std::net::SocketAddr" 0 std::net::SocketAddr,
        "std::net::SocketAddrV4" 0 std::net::SocketAddrV4,
        "std::net::SocketAddrV6" 0 std::net::SocketAddrV6,
        "std::time::Duration" 0 core::time::Duration,
        "std::num::NonZeroU8" 0 std::num::NonZeroU8,
        "std::num::NonZeroU16" 0 std::num::NonZeroU16,
        "std::num::NonZeroU32" 0 std::num::NonZeroU32,
        "std::num::NonZeroU64" 0 std::num::NonZeroU64,
        "std::num::NonZeroUsize" 0 std::num::NonZeroUsize,
        "std::num::NonZeroI8" 0 std::num::NonZeroI8,
        "std::num::NonZeroI16" 0 std::num::NonZeroI16,
        "std::num::NonZeroI32" 0 std::num::NonZeroI32,
        "std::num::NonZeroI64" 0 std::num::NonZeroI64,
        "serde_json::Number" 0 serde_json::Number,
        "kube_core::Duration" 0 kube_core::Duration,
        "std::result::Result" 2 Result<D, E>,
        "std::boxed::Box" 1 Box<D>,
        "std::rc::Rc" 1 std::rc::Rc<D>,
        "std::sync::Arc" 1 std::sync::Arc<D>,
        "&" 1 &'static D,
        "(1)" 1 (D,),
        "(2)" 2 (D, E),
        "(3)" 3 (D, E, Dyn<2>),
        "(4)" 4 (D, E, Dyn<2>, Dyn<3>),
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
