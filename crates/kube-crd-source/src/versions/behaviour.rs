//! The differences between the published versions of kube and schemars, in one table.
//!
//! Read from the sources of each, which the rows name; a version that has no row is refused by name. Only
//! Only what changes a CRD is here.

use super::rewriting::Rewriting;

/// Behaviour of the locked versions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Behaviour {
    pub rewriting: Rewriting,
    pub kube: KubeDerive,
    pub schemars: Schemars,
    pub derive: SchemarsDerive,
}

/// The behaviour of one version of kube-derive: how it reads attributes and writes a CRD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KubeDerive {
    pub version: &'static str,
    /// `#[kube(attr = "…")]`.
    pub attr: bool,
    /// `#[kube(printcolumn(…))]`, and JSON that is read at compile time; before, JSON that `crd()` reads.
    pub columns: bool,
    /// `Rule::optional_old_self`, of the kube-core with the same version.
    pub old_self: bool,
    /// `#[kube(cel)]` and `#[x_kube(cel)]`.
    pub cel: bool,
    /// `#[kube(no_spec)]`.
    pub no_spec: bool,
    /// `KubeSchema` calls a type `FooValidated`, which is the title of a root that has rules.
    pub validated: bool,
    /// True if empty fields are written, too: `categories: []`, `subresources: {}`.
    pub empty: bool,
}

impl KubeDerive {
    /// A message about what this version does not have, with the first that has it.
    pub fn unsupported_message(self, message: &str, has: impl Fn(&&Self) -> bool) -> String {
        match KUBE_DERIVE.iter().find(has) {
            Some(it) => format!(
                "{message}: it came with kube {}, and {} is locked",
                it.version, self.version
            ),
            None => message.to_owned(),
        }
    }

    /// The message with which `crd()` panics on a schema.
    pub fn expectation_message(self) -> &'static str {
        if self.empty {
            "valid custom resource from #[kube(attrs..)]"
        } else {
            "valid JSONSchemaProps from schemars schema"
        }
    }
}

/// Differences of schemars at run time from the version that is built in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schemars {
    /// The schema of a map lists the keys that are an enum.
    pub keys: bool,
    /// A flattened enum has its unit variants as properties, a flattened option of one may be absent.
    pub flatten: bool,
}

/// Differences of the code that schemars' derive generates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SchemarsDerive {
    /// `struct T();` has an empty `prefixItems`.
    pub empty_items: bool,
    /// `extend` is applied after everything else.
    pub extend_last: bool,
}

/// kube-core, by its `schema.rs`. 2.0.0 = 2.0.1, 3.1.0 = 4.0.0 = 4.2.0 = 5.0.0.
const KUBE_CORE: &[(&str, Rewriting)] = &[
    ("2.0.0", Rewriting::V2_0_0),
    ("2.0.1", Rewriting::V2_0_0),
    ("3.0.0", Rewriting::V3_0_0),
    ("3.0.1", Rewriting::V3_0_1),
    ("3.1.0", Rewriting::V3_1_0),
    ("4.0.0", Rewriting::V3_1_0),
    ("4.2.0", Rewriting::V3_1_0),
    ("5.0.0", Rewriting::V3_1_0),
];

const KUBE_2: KubeDerive = KubeDerive {
    version: "2.0.1",
    attr: false,
    columns: false,
    old_self: false,
    cel: false,
    no_spec: false,
    validated: true,
    empty: true,
};

/// kube-derive, by its `custom_resource.rs` and `cel_schema.rs`.
const KUBE_DERIVE: &[KubeDerive] = &[
    KubeDerive { version: "2.0.0", ..KUBE_2 },
    KubeDerive { version: "2.0.1", ..KUBE_2 },
    KubeDerive { version: "3.0.0", attr: true, ..KUBE_2 },
    KubeDerive { version: "3.0.1", attr: true, ..KUBE_2 },
    KubeDerive { version: "3.1.0", old_self: true, empty: true, validated: true, ..KUBE_4 },
    KubeDerive { version: "4.0.0", cel: true, empty: true, ..KUBE_4 },
    KubeDerive { version: "4.2.0", cel: true, ..KUBE_4 },
    KubeDerive { version: "5.0.0", cel: true, no_spec: true, ..KUBE_4 },
];

const KUBE_4: KubeDerive = KubeDerive {
    version: "4.2.0",
    attr: true,
    columns: true,
    old_self: true,
    cel: false,
    no_spec: false,
    validated: false,
    empty: false,
};

/// schemars, by `_private/mod.rs` (flatten) and `json_schema_impls/maps.rs` (keys).
const SCHEMARS: &[(&str, Schemars)] = &[
    ("1.0.0", Schemars { keys: false, flatten: false }),
    ("1.0.1", Schemars { keys: false, flatten: false }),
    ("1.0.2", Schemars { keys: false, flatten: false }),
    ("1.0.3", Schemars { keys: false, flatten: false }),
    ("1.0.4", Schemars { keys: false, flatten: false }),
    ("1.0.5", Schemars { keys: false, flatten: false }),
    ("1.1.0", Schemars { keys: false, flatten: true }),
    ("1.2.0", Schemars { keys: true, flatten: true }),
    ("1.2.1", Schemars { keys: true, flatten: true }),
    ("1.2.2", Schemars { keys: true, flatten: true }),
    ("1.2.3", Schemars { keys: true, flatten: true }),
];

/// schemars_derive, by `schema_exprs.rs` (both) and `attr/mod.rs` (extend).
const SCHEMARS_DERIVE: &[(&str, SchemarsDerive)] = &[
    ("1.0.0", SchemarsDerive { empty_items: true, extend_last: false }),
    ("1.0.1", SchemarsDerive { empty_items: true, extend_last: false }),
    ("1.0.2", SchemarsDerive { empty_items: true, extend_last: false }),
    ("1.0.3", SchemarsDerive { empty_items: true, extend_last: false }),
    ("1.0.4", SchemarsDerive { empty_items: false, extend_last: false }),
    ("1.0.5", SchemarsDerive { empty_items: false, extend_last: false }),
    ("1.1.0", SchemarsDerive { empty_items: false, extend_last: false }),
    ("1.2.0", SchemarsDerive { empty_items: false, extend_last: false }),
    ("1.2.1", SchemarsDerive { empty_items: false, extend_last: true }),
    ("1.2.2", SchemarsDerive { empty_items: false, extend_last: true }),
    ("1.2.3", SchemarsDerive { empty_items: false, extend_last: true }),
];

/// 0.29 and 0.30 read serde's attributes alike; 0.30 is built in.
const SERDE_DERIVE_INTERNALS: &[&str] = &["0.29.1", "0.30.0"];

/// In all of these, the types of a CRD itself are the same.
const K8S_OPENAPI: &[&str] = &["0.26.0", "0.26.1", "0.27.0", "0.27.1", "0.28.0", "0.29.0"];

impl Default for Behaviour {
    fn default() -> Self {
        Self::NEWEST
    }
}

impl Behaviour {
    /// The behaviour of the versions that are built in.
    pub const NEWEST: Self = Self {
        rewriting: Rewriting::V3_1_0,
        kube: KUBE_DERIVE[KUBE_DERIVE.len() - 1],
        schemars: SCHEMARS[SCHEMARS.len() - 1].1,
        derive: SCHEMARS_DERIVE[SCHEMARS_DERIVE.len() - 1].1,
    };

    /// Selects the behaviour of a locked version of a package. Returns false if the version is not known.
    pub fn select_version(&mut self, name: &str, version: &str) -> bool {
        fn take_row<T: Copy>(table: &[(&str, T)], version: &str, into: &mut T) -> bool {
            let found = table.iter().find(|(it, _)| *it == version);
            found.map(|(_, it)| *into = *it).is_some()
        }
        match name {
            "kube-core" => take_row(KUBE_CORE, version, &mut self.rewriting),
            "kube-derive" => {
                let found = KUBE_DERIVE.iter().find(|derive| derive.version == version);
                found.map(|derive| self.kube = *derive).is_some()
            }
            "schemars" => take_row(SCHEMARS, version, &mut self.schemars),
            "schemars_derive" => take_row(SCHEMARS_DERIVE, version, &mut self.derive),
            "serde_derive_internals" => SERDE_DERIVE_INTERNALS.contains(&version),
            "k8s-openapi" => K8S_OPENAPI.contains(&version),
            _ => true,
        }
    }
}

/// The number of versions of a package that are known.
#[cfg(test)]
pub fn versions_of(name: &str) -> usize {
    match name {
        "kube-core" => KUBE_CORE.len(),
        "kube-derive" => KUBE_DERIVE.len(),
        "schemars" => SCHEMARS.len(),
        "schemars_derive" => SCHEMARS_DERIVE.len(),
        "serde_derive_internals" => SERDE_DERIVE_INTERNALS.len(),
        "k8s-openapi" => K8S_OPENAPI.len(),
        _ => 0,
    }
}

/// The packages that decide what `crd()` prints, each with the oldest and the newest version that is known.
pub fn known_versions() -> [(&'static str, &'static str, &'static str); 6] {
    fn known_range<T>(
        name: &'static str,
        table: &[T],
        version: fn(&T) -> &'static str,
    ) -> (&'static str, &'static str, &'static str) {
        let ends = table.first().zip(table.last());
        ends.map_or((name, "", ""), |(first, last)| (name, version(first), version(last)))
    }
    [
        known_range("kube-core", KUBE_CORE, |row| row.0),
        known_range("kube-derive", KUBE_DERIVE, |derive| derive.version),
        known_range("schemars", SCHEMARS, |row| row.0),
        known_range("schemars_derive", SCHEMARS_DERIVE, |row| row.0),
        known_range("serde_derive_internals", SERDE_DERIVE_INTERNALS, |version| version),
        known_range("k8s-openapi", K8S_OPENAPI, |version| version),
    ]
}
