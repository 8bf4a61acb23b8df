//! A kind that the source declares, for a controller in another file.

use super::package::Package;
use crate::project::{DeclaredKind, Target};
use diagnostics::Hint as _;
use model::{ApiGroup, Kind, Plural, Version};

pub struct DeclaredType {
    /// In the code of the package that gets the controller: `crate::v1::Memcached`.
    pub path: String,
    pub plural: Plural,
    pub namespaced: bool,
    /// The root of its crate, if that is in the same package.
    pub root: Option<String>,
}

impl DeclaredType {
    pub fn find(
        kinds: &[DeclaredKind],
        group: &ApiGroup,
        version: Version,
        kind: &Kind,
        package: &Package,
    ) -> anyhow::Result<Self> {
        let (group, version, kind) = (group.to_string(), version.to_string(), kind.to_string());
        let is = |it: &&DeclaredKind| {
            it.group.as_ref() == Some(&group) && it.kind.as_ref() == Some(&kind)
        };
        let versions: Vec<&DeclaredKind> = kinds.iter().filter(is).collect();
        let Some(found) = versions.iter().find(|it| it.version.as_ref() == Some(&version)) else {
            let named: Vec<&str> = versions.iter().filter_map(|it| it.version.as_deref()).collect();
            let Some(first) = named.first() else {
                return Err(anyhow::format_err!("the source declares no {kind}.{group}"))
                    .hint("leave out `--resource=false` to write the type as well");
            };
            return Err(anyhow::format_err!(
                "the source declares {kind}.{group} in {}, and not in {version}",
                named.join(", ")
            ))
            .hint(format!("name one of them: `--version {first}`"));
        };
        let place = &found.place;
        let Ok(crd) = &found.crd else {
            return Err(anyhow::format_err!("{place}: the CRD of {kind} cannot be read"))
                .hint("run `operator-rs generate crds` to see why");
        };
        let path = &found.rust_path;
        let is_here = path.krate.folder == package.folder();
        if !is_here && path.krate.target != Target::Library {
            return Err(anyhow::format_err!(
                "{place}: {kind} is declared in a program, which other packages cannot use"
            ))
            .hint("name a file of the same package, or move the type into a library");
        }
        let properties = crd.spec.versions.first().and_then(|it| {
            let schema = it.schema.as_ref()?.open_api_v3_schema.as_ref()?;
            schema.properties.as_ref()?.get("status")?.properties.as_ref()
        });
        let fields =
            [("observedGeneration", "integer"), ("ready", "boolean"), ("message", "string")];
        let lacks = |field: &&(&str, &str)| {
            let property = properties.and_then(|it| it.get(field.0));
            property.and_then(|it| it.type_.as_deref()) != Some(field.1)
        };
        if let Some((field, of_type)) = fields.iter().find(lacks) {
            return Err(anyhow::format_err!("{place}: the status of {kind} has no field `{field}` of the type `{of_type}`"))
                .hint("the controller writes its results there: add `observed_generation: Option<i64>`, `ready: bool` and `message: Option<String>` to the status, with `#[serde(rename_all = \"camelCase\")]`");
        }
        let krate = if is_here { "crate" } else { &path.krate.name };
        Ok(Self {
            path: format!("{krate}::{}", path.path.join("::")),
            plural: crd.spec.names.plural.parse()?,
            namespaced: crd.spec.scope == "Namespaced",
            root: is_here.then(|| path.krate.root.to_string()),
        })
    }
}
