//! Odd definitions: each field's type tells which arm was taken.

use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! table {
    ($($name:ident: $ty:ty;)*) => {
        #[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
        #[kube(group = "made.example.com", version = "v1", kind = "Odd")]
        pub struct OddSpec { $(pub $name: $ty,)* }
    };
}

// What was an expression, a type or a path is no plain token any more.
macro_rules! which {
    (1) => {
        bool
    };
    ($a:literal) => {
        u8
    };
    ($a:expr) => {
        u16
    };
}
macro_rules! pass_expr {
    ($a:expr) => {
        which!($a)
    };
}
macro_rules! pass_literal {
    ($a:literal) => {
        which!($a)
    };
}
macro_rules! pass_tokens {
    ($($a:tt)*) => { which!($($a)*) };
}
macro_rules! which_name {
    (String) => {
        bool
    };
    ($a:path) => {
        u8
    };
    ($a:ty) => {
        u16
    };
}
macro_rules! pass_ident {
    ($a:ident) => {
        which_name!($a)
    };
}
macro_rules! pass_type {
    ($a:ty) => {
        which_name!($a)
    };
}
macro_rules! operators {
    (=>) => {
        bool
    };
    (= >) => {
        u8
    };
    (..=) => {
        u16
    };
    (.. =) => {
        u32
    };
    ($a:tt $b:tt) => {
        i8
    };
    ($a:tt) => {
        i16
    };
    ($a:tt $b:tt $c:tt) => {
        i32
    };
}
macro_rules! visible {
    ($v:vis $n:ident) => {
        bool
    };
    ($v:vis, $n:ident) => {
        u8
    };
    ($($a:tt)*) => {
        u16
    };
}
macro_rules! nested {
    ($([$($a:ident),*])|* ; $last:ident $(: $ty:ty)?) => { Pair<$($($a,)*)* $($ty)?> };
}
macro_rules! delimiters {
    ((a)) => {
        bool
    };
    ([a]) => {
        u8
    };
    ({ $($a:ident)* }) => {
        u16
    };
}
macro_rules! words {
    ($a:lifetime) => {
        bool
    };
    ($a:ident) => {
        u8
    };
    (_) => {
        u16
    };
    ($a:literal) => {
        u32
    };
    ($a:block) => {
        i8
    };
    ($a:tt) => {
        i16
    };
}

pub type Pair<A, B> = std::collections::BTreeMap<A, B>;

table! {
    e1: pass_expr!(1);
    e2: pass_expr!(1 + 1);
    e3: pass_literal!(1);
    e4: pass_tokens!(1);
    e5: pass_tokens!(2);
    e6: pass_tokens!(-2);
    e7: pass_tokens!(2 + 2);
    n1: pass_ident!(String);
    n2: pass_type!(String);
    n3: pass_ident!(str);
    n4: which_name!([u8; 2]);
    o1: operators!(=>);
    o2: operators!(= >);
    o3: operators!(..=);
    o4: operators!(.. =);
    o5: operators!(::);
    o6: operators!(: :);
    o7: operators!(->);
    o8: operators!(<<=);
    o9: operators!(<<==);
    o10: operators!(&&&);
    v1: visible!(pub a);
    v2: visible!(a);
    v3: visible!(pub(crate), a);
    v4: visible!(, a);
    v5: visible!();
    d1: delimiters!((a));
    d2: delimiters!([a]);
    d3: delimiters!({ a b c });
    w1: words!('a);
    w2: words!(r#struct);
    w3: words!(_);
    w4: words!(true);
    w5: words!("x");
    w6: words!({ 1 });
    w7: words!((1));
}
