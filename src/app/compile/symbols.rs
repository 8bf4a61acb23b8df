//! Finds the kinds of a compiled crate by the symbols of its library.
//!
//! Each kind has one function `<path as kube_core::…::CustomResourceExt>::crd`. The compiler exports the methods of
//! every trait implementation of a library, also those of private types and of types that a macro generates.
//!
//! Why symbols: they exist on stable Rust, in both manglings, and after all macros and `cfg`s. Expanding the crate
//! (`-Zunpretty`) and rustdoc's JSON are unstable; rustdoc's `trait.impl` files and the list of implementors in an error
//! are not interfaces; and none of these includes private types. A function that is found this way can be linked by its
//! symbol: the program has the same compiler and the same k8s-openapi, which `crate_build` checks, so the types are
//! the same.
//!
//! A generic struct would have no symbol before it is used, but kube's derive does not support generic structs.

use std::collections::BTreeMap;

use anyhow::Context as _;
use object::{
    Object as _, ObjectSymbol as _,
    read::{File, archive::ArchiveFile},
};

/// The function `crd` of one kind.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Symbol {
    /// The path of the kind's struct, from the root of its crate.
    pub path: Vec<String>,
    /// The name of the function for the linker.
    pub name: String,
}

/// Returns every kind in a library (`.rlib`) of this crate, in the order of their paths.
pub fn kinds(library: &[u8], krate: &str) -> anyhow::Result<Vec<Symbol>> {
    let archive = ArchiveFile::parse(library).context("cannot read the compiled library")?;
    let mut res = BTreeMap::new();
    for member in archive.members() {
        let member = member.context("cannot read the compiled library")?;
        let data = member.data(library).context("cannot read the compiled library")?;
        // The metadata is not an object file and has no symbols.
        let Ok(file) = File::parse(data) else { continue };
        for symbol in file.symbols().filter(|symbol| symbol.is_definition() && !symbol.is_local()) {
            let Ok(name) = symbol.name() else { continue };
            // In Mach-O, every name has a leading underscore, which the linker adds.
            let name = match file.format() {
                object::BinaryFormat::MachO => name.strip_prefix('_').unwrap_or(name),
                _ => name,
            };
            let text = format!("{:#}", rustc_demangle::demangle(name));
            if let Some(path) = kind_of(&text, krate) {
                res.insert(path, name.to_owned());
            }
        }
    }
    Ok(res.into_iter().map(|(path, name)| Symbol { path, name }).collect())
}

/// Returns the path of the struct whose `crd` a function is, from the root of its crate.
fn kind_of(function: &str, krate: &str) -> Option<Vec<String>> {
    let implementation = function.strip_suffix(">::crd")?;
    let is_trait =
        |text: &str| text.starts_with("kube_core::") && text.ends_with("::CustomResourceExt");
    // An implementation outside the module of its type is prefixed with the path of the module that it is in.
    let path = match implementation.rsplit_once("<impl ") {
        Some((_, it)) => it.split_once(" for ").filter(|pair| is_trait(pair.0))?.1,
        None => {
            implementation.strip_prefix('<')?.split_once(" as ").filter(|pair| is_trait(pair.1))?.0
        }
    };
    let path = path.strip_prefix(krate)?.strip_prefix("::")?;
    let plain = path.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | ':'));
    plain.then(|| path.split("::").map(str::to_owned).collect())
}

#[test]
fn functions_are_recognized_by_their_symbols() {
    let check = |symbol: &str, expected: Option<&str>| {
        let text = format!("{:#}", rustc_demangle::demangle(symbol));
        assert_eq!(
            kind_of(&text, "asked").map(|path| path.join("::")).as_deref(),
            expected,
            "{text}"
        );
    };
    let legacy = "_ZN77_$LT$asked..a..b..Hidden$u20$as$u20$kube_core..crd..v1..CustomResourceExt$GT$3crd17h4b6df49601abe6c8E";
    check(legacy, Some("a::b::Hidden"));
    check(&legacy.replace("3crd17h", "8crd_name17h"), None);
    check(&legacy.replace("kube_core", "mine_core"), None);
    check(&legacy.replace("asked..a", "other..a"), None);
    let apart = "_ZN5asked1b78_$LT$impl$u20$kube_core..crd..v1..CustomResourceExt$u20$for$u20$asked..Far$GT$3crd17ha5e015d82ff46344E";
    check(apart, Some("Far"));
    // With `-C symbol-mangling-version=v0`.
    let new = "_RNvXNtCs8Ic30kwCOEl_5asked1aNtB2_4KindNtNtNtCscefyzkWfJMk_9kube_core3crd2v117CustomResourceExt3crd";
    check(new, Some("a::Kind"));
    let inner = "_RNvXNvNvNtCs8Ic30kwCOEl_5asked1b1f1__NtB4_5InnerNtNtNtCscefyzkWfJMk_9kube_core3crd2v117CustomResourceExt3crd";
    check(inner, Some("b::f::Inner"));
}
