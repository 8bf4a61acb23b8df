//! Source that is large, deep, or small and grows when it is followed: a command ends in time.

use super::Trick;
use crate::plant;

const TYPE: &str = "api/src/cache/v1alpha1/memcached.rs";

/// Items, each made of two of the one before.
fn doubling(depth: usize, first: &str, next: impl Fn(usize, usize) -> String) -> String {
    (1..=depth).fold(first.to_owned(), |it, depth| it + &next(depth, depth - 1) + "\n")
}

pub fn all() -> Vec<Trick> {
    let line = "x".repeat(1 << 20);
    let derive = "#[derive(schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug, PartialEq)]";
    // What the file begins with, and what a field of the kind has for a type.
    let code: Vec<(&str, String, &str)> = vec![
        ("a comment of 1 MB", format!("// {line}\n"), "u8"),
        ("a name of 1 MB", format!("const {line}: u8 = 0;\n"), "u8"),
        ("a text of 1 MB", format!("const A: &str = \"{line}\";\n"), "u8"),
        ("a wrong line of 1 MB", format!("fn {line} (\n"), "u8"),
        ("a documentation of 1 MB", format!("/// {line}\n{derive}\npub struct Doc {{}}\n"), "Doc"),
        ("many brackets", "(".repeat(200_000), "u8"),
        (
            "many types",
            format!("type A = {}u8{};\n", "Option<".repeat(20_000), ">".repeat(20_000)),
            "A",
        ),
        ("many attributes", "#![allow(a)]\n".repeat(20_000), "u8"),
        ("many comments", "// a\n".repeat(200_000), "u8"),
        (
            "many RBAC comments",
            "// +kubebuilder:rbac:groups=a,resources=b,verbs=c\n".repeat(10_000),
            "u8",
        ),
        ("many wrong RBAC comments", "// +kubebuilder:rbac:groups\n".repeat(60_000), "u8"),
        ("many modules", (0..2_000).map(|it| format!("mod m{it} {{}}\n")).collect(), "u8"),
        (
            "many imports of a name",
            format!(
                "mod inner {{ pub type A = u8; }}\n{}",
                "pub use self::inner::A;\n".repeat(1_000)
            ),
            "A",
        ),
        (
            "many imports of what has its module's name",
            format!("mod a {{ pub type a = u8; }}\n{}", "pub use a::a;\n".repeat(1_000)),
            "a",
        ),
        (
            "many imports of all",
            format!(
                "mod inner {{ pub use super::*; pub type A = u8; }}\n{}",
                "pub use self::inner::*;\n".repeat(300)
            ),
            "A",
        ),
        (
            "a long chain of aliases",
            doubling(2_000, "type A0 = u8;\n", |it, last| format!("type A{it} = A{last};")),
            "A2000",
        ),
        (
            "a long chain of types",
            doubling(2_000, "", |it, last| {
                format!("{derive}\npub struct T{it} {{ pub a: Option<Box<T{last}>> }}")
            }) + &format!("{derive}\npub struct T0 {{}}\n"),
            "T2000",
        ),
        (
            "types that double",
            doubling(40, &format!("{derive}\npub struct D0 {{}}\n"), |it, last| {
                format!("{derive}\npub struct D{it} {{ pub a: D{last}, pub b: D{last} }}")
            }),
            "D40",
        ),
        (
            "tuples that double",
            doubling(40, "type P0 = u8;\n", |it, last| format!("type P{it} = (P{last}, P{last});")),
            "P40",
        ),
        (
            "generic types that grow",
            format!("{derive}\npub struct G<T> {{ pub a: Option<Box<G<Vec<T>>>>, pub b: T }}\n"),
            "G<u8>",
        ),
        (
            "constants that double",
            doubling(60, "const C0: usize = 0;\n", |it, last| {
                format!("const C{it}: usize = C{last} + C{last};")
            }),
            "[u8; C60]",
        ),
        (
            "functions that do not end",
            "const fn f(a: usize) -> usize { f(a + 1) }\nconst N: usize = f(0);\n".to_owned(),
            "[u8; N]",
        ),
        ("an array without an end", "type Long = [u8; 0xffff_ffff_ffff];\n".to_owned(), "Long"),
        (
            "macros that double",
            doubling(40, "macro_rules! m0 { () => { type M = u8; }; }\n", |it, last| {
                format!("macro_rules! m{it} {{ () => {{ m{last}!(); m{last}!(); }}; }}")
            }) + "m40!();\n",
            "u8",
        ),
        (
            "macros that repeat",
            "macro_rules! r { ($($a:tt)*) => { r!{ $($a)* $($a)* } }; }\nr!(a b);\n".to_owned(),
            "u8",
        ),
        (
            "features that double",
            doubling(30, "#[cfg(any())]\nmod z {}\n", |it, _| {
                format!(
                    "#[cfg({}all(){})]\nmod f{it} {{}}",
                    "not(not(".repeat(500),
                    "))".repeat(500)
                )
            }),
            "u8",
        ),
    ];
    // A file with very many findings, each of which has a place.
    let keys: String = (0..100_000).map(|it| format!("k{it}: 1\n")).collect();
    let mut res =
        vec![Trick::new("a kustomization has many unknown keys", "config", move |world| {
            plant::file(world, "config/default/kustomization.yaml", keys.as_bytes())
        })];
    let fields: String =
        (0..20_000).map(|it| format!("            f{it}: {{type: string}}\n")).collect();
    let crd = format!(
        "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {{name: memcacheds.cache.example.com}}\nspec:\n  group: cache.example.com\n  names: {{kind: Memcached, plural: memcacheds}}\n  scope: Namespaced\n  versions:\n  - name: v1alpha1\n    served: true\n    storage: true\n    schema:\n      openAPIV3Schema:\n        type: object\n        properties:\n          spec:\n            type: object\n            properties:\n{}",
        fields.replace("            f", "              f")
    );
    res.push(Trick::new("a CRD has many fields that are gone", "config/crd", move |world| {
        plant::file(world, "config/crd/bases/cache.example.com_memcacheds.yaml", crd.as_bytes())
    }));
    for (name, text, field) in code {
        res.push(Trick::new(format!("the type's file has {name}"), "api", move |world| {
            let new = format!("    pub extra: {field},\n    pub size");
            plant::replace(world, TYPE, "    pub size", &new)?;
            plant::begin(world, TYPE, &text)
        }));
    }
    res
}
