//! Rust files that point at other people's files, or that are hard to read, and strange bundles.

use super::Trick;
use crate::plant;

const TYPE: &str = "api/src/cache/v1alpha1/memcached.rs";
const CSV: &str = "bundle/manifests/memcached-operator.clusterserviceversion.yaml";

/// What is put in front of the type's file or of its module.
const CODE: &[&str] = &[
    "include_str!(\"/etc/passwd\");",
    "include!(\"/dev/zero\");",
    "include!(\"fifo\");",
    "include!(\"../../../../../home/.ssh/id_ed25519\");",
    "include!(\"memcached.rs\");",
    "#[path = \"/dev/zero\"] mod a;",
    "#[path = \"fifo\"] mod a;",
    "#[path = \"../../../../../home/.ssh/id_ed25519\"] mod a;",
    "#[path = \"../../../../../victim/mirror/api/src/lib.rs\"] mod a;",
    "#[path = \"/\"] mod a;",
    "#[path = \"\\u{1b}[2J\"] mod a;",
    "#[path = \"a\\0b\"] mod a;",
    "#[path = \"memcached.rs\"] mod a;",
    "#![doc = include_str!(\"../../../../../home/.ssh/id_ed25519\")]",
    "const A: &str = env!(\"TOKEN\");",
    "macro_rules! m { ($($t:tt)*) => { m!($($t)* $($t)*); } } m!(a a);",
    "macro_rules! m { () => { m!(); } } m!();",
    "type A = B; type B = A;",
    "use self::a as b; use self::b as a;",
    "mod a { pub use super::*; } pub use a::*;",
    "\u{1b}[2J",
    "// \u{1b}[2J\nfn (",
    "const A: u8 = 1 + ;",
    "\u{202e}",
    "#!/bin/sh",
    "r#####\"",
    "/* /* /*",
    "\u{0}",
];

/// What is put in the place of the documentation of a field, or of the field's attributes.
const FIELDS: &[&str] = &[
    "#[doc = include_str!(\"../../../../../home/.ssh/id_ed25519\")]",
    "#[doc = include_str!(\"/dev/zero\")]",
    "#[doc = include_str!(\"fifo\")]",
    "#[doc = concat!(\"a\", env!(\"TOKEN\"))]",
    "#[doc = \"\\u{1b}[2J\"]",
    "/// \u{1b}[2J\u{7}",
    "#[serde(rename = \"../../victim\")]",
    "#[serde(rename = \"\\u{1b}[2J\")]",
    "#[schemars(range(min = 1e999))]",
    "#[schemars(regex(pattern = \"((((((a*)*)*)*)*)*)*$\"))]",
    "#[schemars(extend(\"x\" = env!(\"TOKEN\")))]",
    "#[serde(default = \"loop_forever\")]",
    "#[cfg_attr(all(), cfg_attr(all(), cfg_attr(all(), doc = \"a\")))]",
];

const KUBE: &[&str] = &[
    "group = \"../../victim\"",
    "group = \"\\u{1b}[2J\"",
    "plural = \"../../../victim/bashrc\"",
    "plural = \"/etc/passwd\"",
    "plural = \"\\u{1b}[2J\"",
    "kind = \"../../Kind\"",
    "kind = \"\\u{1b}[2J\"",
    "version = \"../v1\"",
    "version = \"\\u{1b}[2J\"",
    "shortname = \"\\u{1b}[2J\"",
    "doc = \"\\u{1b}[2J\"",
    "crates(kube_core = \"::evil\")",
];

const RBAC: &[&str] = &[
    "groups=\"\u{1b}[2J\",resources=a,verbs=get",
    "groups=../..,resources=/etc,verbs=get",
    "groups=*,resources=*,verbs=*,namespace=../../victim",
    "groups=a,resources=b,verbs=get,roleName=../../victim/bashrc",
    "groups=;;;;,resources=,verbs=",
    "",
];

pub fn all() -> Vec<Trick> {
    let mut res = Vec::new();
    for code in CODE {
        res.push(Trick::new(
            format!("the type's file begins with {code:?}"),
            "api",
            move |world| {
                plant::fifo(world, "api/src/cache/v1alpha1/fifo")?;
                plant::begin(world, TYPE, &format!("{code}\n"))
            },
        ));
    }
    for field in FIELDS {
        res.push(Trick::new(format!("a field has {field:?}"), "api", move |world| {
            plant::fifo(world, "api/src/cache/v1alpha1/fifo")?;
            plant::append(world, TYPE, "\nfn loop_forever() -> i32 { loop {} }\n")?;
            plant::replace(world, TYPE, "    pub size", &format!("    {field}\n    pub size"))
        }));
    }
    for argument in KUBE {
        let key = argument.split(' ').next().unwrap_or("");
        res.push(Trick::new(format!("a kind has {argument}"), "api", move |world| {
            let old = plant::text(world, TYPE);
            let start = format!("    {key} = ");
            let kept: Vec<&str> = old.lines().filter(|it| !it.starts_with(&start)).collect();
            let new = kept.join("\n").replacen("#[kube(", &format!("#[kube(\n    {argument},"), 1);
            plant::file(world, TYPE, new.as_bytes())
        }));
    }
    for comment in RBAC {
        res.push(Trick::new(format!("an RBAC comment has {comment:?}"), "src", move |world| {
            let line = format!("// +kubebuilder:rbac:{comment}\n// +kubebuilder:rbac");
            plant::replace(world, "src/controller/memcached.rs", "// +kubebuilder:rbac", &line)
        }));
    }
    res.extend(bundles());
    res
}

fn bundles() -> Vec<Trick> {
    let mut res = Vec::new();
    for text in [
        "",
        "[",
        "\u{1b}[2J: [",
        "a: &a [*a]",
        "kind: ClusterServiceVersion\n",
        "null\n---\nnull\n",
        "spec: {version: \"\\e[2J\"}\nkind: ClusterServiceVersion\napiVersion: operators.coreos.com/v1alpha1\nmetadata: {name: \"\\e[2J\"}\n",
    ] {
        for path in [
            CSV,
            "bundle/manifests/zzz.yaml",
            "bundle/metadata/annotations.yaml",
            "bundle/metadata/other.yaml",
            "bundle/tests/scorecard/config.yaml",
        ] {
            res.push(Trick::new(format!("{path} is {text:?}"), "bundle", move |world| {
                plant::file(world, path, text.as_bytes())
            }));
        }
    }
    for value in ["../../victim/", "/etc/", "\"\\e[2J\"", "/dev/zero", "[]"] {
        res.push(Trick::new(
            format!("annotations name the folder {value}"),
            "bundle",
            move |world| {
                plant::replace(world, "bundle/metadata/annotations.yaml", "manifests/", value)
            },
        ));
    }
    res.push(Trick::new("a CSV of 30 MB", "bundle", |world| {
        plant::append(world, CSV, &format!("x: \"{}\"\n", "A".repeat(30 << 20)))
    }));
    res.push(Trick::new("a bundle within the bundle", "bundle", |world| {
        plant::link(world, "bundle/manifests/again", "..")?;
        plant::link(world, "bundle/again", "../bundle")
    }));
    res
}
