//! The forms that items come to a module by: modules, files, macros, conditions, imports, other crates.
//!
//! `$P` are the planted items, `$U` the names that they give, `$R` and `$M` the same under other names; `$N` is the
//! number of the case.

pub struct Form {
    pub brings: Brings,
    /// The variants of syn's enums that it has.
    pub syntax: &'static [&'static str],
    /// The code in the module, above what the plant changes.
    pub code: &'static str,
    /// Lines of the crate's root, above its modules.
    pub root: &'static str,
    /// Further files.
    pub files: &'static [(&'static str, &'static str)],
}

/// How the planted items come to the module.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Brings {
    /// They stand there, or are imported by their names.
    Names,
    /// By an import of everything.
    Glob,
    /// Without their names, so that only their traits are in scope.
    Traits,
    /// A `cfg` leaves them out.
    Nothing,
    /// They are of another crate, by their names.
    OtherCrate,
    /// They are of another crate, by an import of everything.
    OtherCrateGlob,
    /// They are in a block.
    Block,
}

use Brings::{Block, Glob, Names, Nothing, OtherCrate, OtherCrateGlob, Traits};

const fn form(brings: Brings, code: &'static str) -> Form {
    Form { brings, syntax: &[], code, root: "", files: &[] }
}

impl Form {
    const fn syntax(self, syntax: &'static [&'static str]) -> Self {
        Self { syntax, ..self }
    }

    const fn root(self, root: &'static str) -> Self {
        Self { root, ..self }
    }

    const fn files(self, files: &'static [(&'static str, &'static str)]) -> Self {
        Self { files, ..self }
    }
}

/// A file of a module, which has all that is around it.
const BELOW: &str = "use super::*; $P";
/// The file of the module that is written for a case in the shared crate and in the library.
const SHARED: (&str, &str) = ("shared/src/k$N.rs", "$P");
const SHARED_MACRO: (&str, &str) =
    ("shared/src/k$N.rs", "#[macro_export] macro_rules! planted_$N { () => { $P } }");

pub const FORMS: &[Form] = &[
    form(Names, "$P"),
    // Modules.
    form(Glob, "mod m { use super::*; $P } use m::*;").syntax(&["Item::Mod", "Item::Use"]),
    form(Names, "mod m { use super::*; $P } use m::{$U};"),
    form(Names, "mod m { use super::*; $R } use m::{$M};"),
    form(Names, "mod m { use super::*; $R } mod n { pub use super::m::{$M}; } use n::{$U};"),
    form(Glob, "mod m { use super::*; $R } mod n { pub use super::m::{$M}; } use n::*;"),
    form(Glob, "mod m { pub mod n { use super::super::*; $P } pub use n::*; } use m::*;"),
    form(Glob, "mod m { pub mod r#type { use super::super::*; $P } } use m::r#type::*;"),
    form(Glob, "mod m { pub mod n { use super::super::*; $P } } use self::{m::{n::{*}}};"),
    form(Traits, "mod m { use super::*; $P } use m::{$A};"),
    form(Traits, "mod m { use super::*; $P } mod n { pub use super::m::{$A}; } use n::*;"),
    form(Glob, "mod m; use m::*;").files(&[("src/k$N/m.rs", BELOW)]),
    form(Glob, "mod m; use m::*;").files(&[("src/k$N/m/mod.rs", BELOW)]),
    form(Glob, "#[path = \"other_$N.rs\"] mod m; use m::*;").files(&[("src/other_$N.rs", BELOW)]),
    form(Glob, "#[path = \"../src/other_$N.rs\"] mod m; use m::*;")
        .files(&[("src/other_$N.rs", BELOW)]),
    form(Glob, "#[cfg_attr(all(), path = \"other_$N.rs\")] mod m; use m::*;")
        .files(&[("src/other_$N.rs", BELOW)]),
    form(Glob, "mod m { pub mod n; } use m::n::*;")
        .files(&[("src/k$N/m/n.rs", "use super::super::*; $P")]),
    form(Glob, "#[path = \"place_$N\"] mod m { pub mod n; } use m::n::*;")
        .files(&[("src/place_$N/n.rs", "use super::super::*; $P")]),
    // Included files.
    form(Names, "include!(\"in_$N.rs\");")
        .files(&[("src/in_$N.rs", "$P")])
        .syntax(&["Item::Macro"]),
    form(Names, "::core::include!(\"../in_$N.txt\");").files(&[("in_$N.txt", "$P")]),
    form(Names, "std::include!(\"in_$N.rs\");").files(&[("src/in_$N.rs", "$P")]),
    form(Names, "include!(concat!(\"in\", \"_$N\", '.', \"rs\"));")
        .files(&[("src/in_$N.rs", "$P")]),
    form(Names, "include!(concat!(env!(\"CARGO_MANIFEST_DIR\"), \"/in_$N.rs\"));")
        .files(&[("in_$N.rs", "$P")]),
    form(Names, "include!(concat!(env!(\"OUT_DIR\"), \"/in_$N.rs\"));")
        .files(&[("made/in_$N.rs", "$P")]),
    form(Names, "include!{r\"in_$N.rs\"}").files(&[("src/in_$N.rs", "$P")]),
    form(Names, "use std::include as inside; inside!(\"in_$N.rs\");")
        .files(&[("src/in_$N.rs", "$P")]),
    form(Names, "macro_rules! inside { ($t:tt) => { include!($t); } } inside!(\"in_$N.rs\");")
        .files(&[("src/in_$N.rs", "$P")]),
    form(Names, "macro_rules! file { () => { \"in_$N.rs\" } } include!(file!());")
        .files(&[("src/in_$N.rs", "$P")]),
    form(Names, "include!(\"in_$N.rs\");")
        .files(&[("src/in_$N.rs", "include!(\"deep/in_$N.rs\");"), ("src/deep/in_$N.rs", "$P")]),
    form(Glob, "include!(\"deep/in_$N.rs\"); use m_$N::*;")
        .files(&[("src/deep/in_$N.rs", "mod m_$N;"), ("src/deep/m_$N.rs", BELOW)]),
    // Macros by example.
    form(Names, "macro_rules! make { () => { $P } } make!();"),
    form(Names, "macro_rules! make { ($($t:tt)*) => { $($t)* } } make! { $P }"),
    form(Names, "macro_rules! make { ($($i:item)*) => { $($i)* } } make! { $P }"),
    form(
        Names,
        "macro_rules! make { ($i:ident) => { macro_rules! $i { () => { $P } } } } make!(made); made!();",
    ),
    form(
        Names,
        "macro_rules! make { () => { macro_rules! made { () => { $P } } } } make!(); made!();",
    ),
    form(
        Names,
        "macro_rules! make { ($m:ident ! { $($t:tt)* }) => { $m! { $($t)* } } } macro_rules! made { ($($t:tt)*) => { $($t)* } } make! { made! { $P } }",
    ),
    form(Names, "macro_rules! assert { () => { $P } } assert!();"),
    form(Names, "macro_rules! println { ($($t:tt)*) => { $($t)* } } println! { $P }"),
    form(Names, "macro_rules! include { ($t:tt) => { $P } } include!(\"gone.rs\");"),
    form(Names, "macro_rules! cfg_if { ($($t:tt)*) => { $($t)* } } cfg_if! { $P }"),
    form(Names, "mod m { macro_rules! make { () => { $P } } pub(crate) use make; } m::make!();"),
    form(
        Names,
        "mod m { macro_rules! make { () => { $P } } pub(crate) use make as format; } m::format!();",
    ),
    form(
        Names,
        "mod m { macro_rules! make { () => { $P } } pub(crate) use make; } use m::*; make!();",
    ),
    form(
        Names,
        "mod m { macro_rules! make { () => { $P } } pub(crate) use make as other; } use m::other as last; last!();",
    ),
    form(Names, "#[macro_use] mod m { macro_rules! make { () => { $P } } } make!();"),
    form(Names, "make_$N!();").root("macro_rules! make_$N { () => { $P } }"),
    form(Names, "make_$N! { $P }").root("macro_rules! make_$N { ($($t:tt)*) => { $($t)* } }"),
    form(Names, "crate::make_$N!();").root("#[macro_export] macro_rules! make_$N { () => { $P } }"),
    form(
        Names,
        "fn holds() { #[macro_export] macro_rules! make_$N { () => { $P } } } crate::make_$N!();",
    ),
    form(Names, "use crate::make_$N as println; println!();")
        .root("#[macro_export] macro_rules! make_$N { () => { $P } }"),
    form(Names, "::shared::pass! { $P }"),
    form(Names, "use ::shared::pass as json; json! { $P }"),
    form(Names, "use ::shared as anyhow; anyhow::json! { $P }"),
    form(Names, "use ::shared::*; pass! { $P }"),
    form(Names, "use ::shared::*; json! { $P }"),
    form(Names, "pass! { $P }").root("#[macro_use] extern crate shared;"),
    form(Names, "::shared::planted_$N!();").files(&[SHARED_MACRO]),
    form(Names, "use ::shared::planted_$N as assert; assert!();").files(&[SHARED_MACRO]),
    form(Names, "planted_$N!();").root("#[macro_use] extern crate shared;").files(&[SHARED_MACRO]),
    // Procedural macros.
    form(Names, "::mangle::emit! { $P }"),
    form(Names, "use ::mangle::emit as format; format! { $P }"),
    form(Names, "use ::mangle as lazy_static; lazy_static::lazy_static! { $P }"),
    form(Names, "use ::mangle::*; emit! { $P }"),
    form(Names, "extern crate mangle as tokio; tokio::emit! { $P }").syntax(&["Item::ExternCrate"]),
    form(Names, "emit! { $P }").root("#[macro_use] extern crate mangle;"),
    form(Names, "#[derive(::mangle::Plant)] #[plant($P)] struct Carrier;"),
    form(
        Glob,
        "mod m { use super::*; use ::mangle::Plant as Debug; #[derive(Debug)] #[plant($P)] struct Carrier; } use m::*;",
    ),
    form(Names, "use ::mangle as strum; #[derive(strum::Display)] #[plant($P)] enum Carrier { A }"),
    form(
        Names,
        "use ::mangle as thiserror; #[derive(thiserror::Error)] #[plant($P)] union Carrier { a: u8 }",
    ),
    form(
        Names,
        "#[cfg_attr(feature = \"on\", derive(::mangle::Plant), plant($P))] struct Carrier;",
    ),
    form(Names, "fn holds() {} #[::mangle::becomes($P)] struct Carrier;"),
    form(Names, "use ::mangle as tracing; #[tracing::instrument($P)] fn carrier() {}"),
    form(Names, "use ::mangle::instrument; #[instrument($P)] fn carrier() {}"),
    form(Names, "use ::mangle::*; #[instrument($P)] fn carrier() {}"),
    form(
        Glob,
        "mod m { use super::*; use ::mangle::becomes as serde; #[serde($P)] const CARRIER: i32 = 1; } use m::*;",
    ),
    form(Names, "use ::mangle::becomes as path; #[self::path($P)] static CARRIER: i32 = 1;"),
    form(Names, "#[cfg_attr(all(), ::mangle::becomes($P))] type Carrier = ();"),
    form(Names, "#[::mangle::becomes($P)] mod carrier {}"),
    form(Names, "#[::mangle::unwrap] mod carrier { $P }"),
    form(Names, "#[::mangle::becomes($P)] trait Carrier {}"),
    form(Names, "#[::mangle::becomes($P)] impl Carrier {}"),
    form(Names, "#[::mangle::becomes($P)] use gone::Carrier;"),
    form(Names, "#[::mangle::becomes($P)] extern crate gone;"),
    form(Names, "#[::mangle::becomes($P)] extern \"C\" {}"),
    form(Names, "#[::mangle::becomes($P)] union Carrier { a: i32 }"),
    form(Names, "#[::mangle::becomes($P)] enum Carrier {}"),
    form(Names, "#[::mangle::becomes($P)] gone! {}"),
    form(Names, "#[::mangle::becomes($P)] macro_rules! carrier { () => {} }"),
    // Conditions.
    form(Glob, "#[cfg(all())] mod m { use super::*; $P } #[cfg(all())] use m::*;"),
    form(
        Glob,
        "#[cfg(feature = \"on\")] mod m { use super::*; $P } #[cfg(not(feature = \"off\"))] use m::*;",
    ),
    form(Glob, "#[cfg(target_os = \"linux\")] mod m { use super::*; $P } #[cfg(unix)] use m::*;"),
    form(Glob, "#[cfg(debug_assertions)] mod m; #[cfg(debug_assertions)] use m::*;")
        .files(&[("src/k$N/m.rs", BELOW)]),
    form(Nothing, "#[cfg(any())] mod m { use super::*; $P } #[cfg(any())] use m::*;"),
    form(
        Nothing,
        "#[cfg(feature = \"off\")] mod m { use super::*; $P } #[cfg(feature = \"off\")] use m::*;",
    ),
    form(Nothing, "#[cfg(test)] mod m { use super::*; $P } #[cfg(test)] use m::*;"),
    form(Nothing, "mod m;").files(&[("src/k$N/m.rs", "#![cfg(any())] use super::*; $P")]),
    form(Nothing, "#[cfg(not(all()))] include!(\"in_$N.rs\");").files(&[("src/in_$N.rs", "$P")]),
    form(Nothing, "macro_rules! make { () => { $P } }"),
    // Blocks in other files.
    form(Block, "fn held() -> u8 { include!(\"b_$N.rs\") }").files(&[("src/b_$N.rs", "$B")]),
    form(Block, "const _: u8 = include!(\"b_$N.rs\");").files(&[("src/b_$N.rs", "$B")]),
    form(Block, "fn held() { #[path = \"../src/b_$N.rs\"] mod m; }")
        .files(&[("src/b_$N.rs", BELOW)]),
    form(Block, "fn held() { mod m { use super::*; mod n { use super::*; fn inner() { $P } } } }"),
    form(Block, "fn held() { impl Held { fn held() -> u8 $B } } struct Held;"),
    form(Block, "fn held() { trait Holds { fn held() -> u8 $B } }"),
    form(Block, "static HELD: fn() -> u8 = || { struct Held([u8; $L]); 1 };"),
    form(Block, "make_$N!();").root("macro_rules! make_$N { () => { fn held() -> u8 $B } }"),
    form(Block, "fn held() -> u8 { make_$N!($B) }")
        .root("macro_rules! make_$N { ($e:expr) => { $e } }"),
    form(Block, "fn held() -> u8 { ::shared::pass!($B) }"),
    form(Block, "fn held() { ::shared::pass! { $P } }"),
    form(Block, "fn held() { use ::shared::pass as println; println! { $P } }"),
    form(Block, "fn held() { use ::mangle::emit as println; println! { $P } }"),
    form(Block, "fn held() -> u8 { use ::mangle::emit as println; println!($B) }"),
    form(Block, "fn held() { #[::mangle::becomes($P)] struct Carrier; }"),
    form(
        Block,
        "fn held() { use ::mangle as tracing; #[tracing::instrument($P)] fn carrier() {} }",
    ),
    form(Block, "fn held() { #[derive(::mangle::Plant)] #[plant($P)] struct Carrier; }"),
    form(
        Block,
        "struct Held; impl Held { #[::mangle::becomes(pub fn held() -> u8 $B)] fn held() {} }",
    ),
    form(Block, "trait Held { #[::mangle::becomes(fn held() -> u8 $B)] fn held() {} }"),
    // Other crates.
    form(OtherCrateGlob, "use ::shared::k$N::*;").files(&[SHARED]),
    form(OtherCrate, "use ::shared::k$N::{$U};").files(&[SHARED]),
    form(OtherCrateGlob, "extern crate shared as other; use other::k$N::*;").files(&[SHARED]),
    form(OtherCrate, "extern crate shared as other; use self::other::k$N::{$U};").files(&[SHARED]),
    form(OtherCrateGlob, "use ::beside::k$N::*;")
        .files(&[SHARED, ("beside/src/k$N.rs", "pub use shared::k$N::*;")]),
    form(OtherCrate, "use ::beside::k$N::{$U};").files(&[
        SHARED,
        ("beside/src/k$N.rs", "pub extern crate shared as other; pub use other::k$N::{$U};"),
    ]),
    form(OtherCrateGlob, "use ::beside::k$N::*; use other_$N::*;")
        .files(&[SHARED, ("beside/src/k$N.rs", "pub use shared::k$N as other_$N;")]),
    form(OtherCrateGlob, "extern crate self as own; mod m { $P } use own::k$N::m::*;"),
    form(OtherCrateGlob, "use ::differential::p$N::*;").files(&[("src/p$N.rs", "$P")]),
    form(OtherCrate, "use ::differential::p$N::{$U};").files(&[("src/p$N.rs", "$P")]),
];
