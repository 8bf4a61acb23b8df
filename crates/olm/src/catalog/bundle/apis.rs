//! The APIs that a bundle provides and requires.

use std::collections::BTreeSet;

use super::{
    csv::{Csv, Definition, Struct},
    manifests::ManifestObject,
};
use diagnostics::Diagnostic;
use go_data::kubernetes::{self, go::format_quoted};

/// Group, version, kind and plural.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Api {
    pub group: String,
    pub version: String,
    pub kind: String,
    plural: String,
}

#[derive(Default)]
pub struct Apis {
    pub provided: BTreeSet<Api>,
    pub required: BTreeSet<Api>,
}

impl Apis {
    pub fn from_manifests(
        objects: &[ManifestObject],
        csv: &Csv,
        folder: &str,
    ) -> anyhow::Result<Self> {
        let mut apis = Self::default();
        for object in
            objects.iter().filter(|object| object.text("kind") == "CustomResourceDefinition")
        {
            apis.provided.extend(apis_of_crd(object).map_err(|message| object.fault(message))?);
        }
        let in_csv = |message: String| {
            Diagnostic::in_file(format!("{folder}/manifests"), message).into_error()
        };
        for definition in &csv.crds.owned {
            let api = api_by_name(definition).map_err(in_csv)?;
            if !apis.provided.contains(&api) {
                let message = format!(
                    "error checking provided apis in bundle {}: couldn't find {api} in bundle",
                    csv.name
                );
                return Err(Diagnostic::in_file(format!("{folder}/manifests"), message)
                    .with_hint("the ClusterServiceVersion owns it: add the CRD, or correct its name, kind or version there")
                    .into_error());
            }
        }
        apis.provided.extend(csv.api_services.owned.iter().map(api_of_service));
        for definition in &csv.crds.required {
            apis.required.insert(api_by_name(definition).map_err(in_csv)?);
        }
        apis.required.extend(csv.api_services.required.iter().map(api_of_service));
        Ok(apis)
    }
}

impl std::fmt::Display for Api {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { group, version, kind, plural } = self;
        write!(f, "{group}/{version}/{kind} ({plural})")
    }
}

/// Returns every version of a CRD, served or not.
fn apis_of_crd(object: &ManifestObject) -> Result<Vec<Api>, String> {
    let api_version = object.text("apiVersion");
    let version = api_version.split_once('/').map_or(api_version, |parts| parts.1);
    if !matches!(version, "v1" | "v1beta1") {
        return Ok(Vec::new());
    }
    if !api_version.starts_with("apiextensions.k8s.io/") {
        return Err(format!(
            "error decoding {version} CRD: no kind \"CustomResourceDefinition\" is registered for version {}",
            format_quoted(api_version)
        ));
    }
    if version == "v1" {
        let faults =
            kubernetes::decode_as("apiextensions.CustomResourceDefinition", &object.value).faults;
        if let Some(fault) = faults.first() {
            return Err(format!("error decoding v1 CRD: {fault}"));
        }
    }
    let fault = |message: String| format!("error decoding {version} CRD: {message}");
    let read = || -> Result<Vec<Api>, String> {
        let spec = Struct::from_value(object.value.get("spec"), "spec")?;
        let names = spec.inner_struct("names")?;
        let mut versions = Vec::new();
        for version in spec.structs("versions")? {
            versions.push(version.text("name")?);
        }
        if version == "v1beta1" {
            versions.extend(Some(spec.text("version")?).filter(|version| !version.is_empty()));
        }
        let api = |version: String| {
            Ok(Api {
                group: spec.text("group")?,
                version,
                kind: names.text("kind")?,
                plural: names.text("plural")?,
            })
        };
        versions.into_iter().map(api).collect()
    };
    read().map_err(fault)
}

/// Returns the API of a CRD by its name, which is `plural.group`.
fn api_by_name(definition: &Definition) -> Result<Api, String> {
    let Definition { name, version, kind, .. } = definition;
    let (plural, group) = name
        .split_once('.')
        .ok_or_else(|| format!("couldn't parse plural.group from crd name: {name}"))?;
    Ok(Api {
        group: group.to_owned(),
        version: version.clone(),
        kind: kind.clone(),
        plural: plural.to_owned(),
    })
}

fn api_of_service(definition: &Definition) -> Api {
    let Definition { group, version, kind, name } = definition;
    Api { group: group.clone(), version: version.clone(), kind: kind.clone(), plural: name.clone() }
}
