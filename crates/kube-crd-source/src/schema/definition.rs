//! The CRD of one version, as the `crd()` that kube's derive generates builds it.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1 as api;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use serde_json::json;

use super::resource::ResourceNames;
use crate::attributes::kube::Kube;
use crate::attributes::summary::Storage;
use crate::versions::KubeDerive;

/// `schema` is none for `schema = "disabled"`.
pub fn build_definition(
    behaviour: KubeDerive,
    kube: Kube,
    names: ResourceNames,
    schema: Option<api::JSONSchemaProps>,
) -> api::CustomResourceDefinition {
    let storage = kube.storage() != Storage::No;
    let filled = |it: Vec<String>| (behaviour.empty || !it.is_empty()).then_some(it);
    let subresources = build_subresources(behaviour, &kube);
    let version = api::CustomResourceDefinitionVersion {
        additional_printer_columns: (behaviour.empty || !kube.columns.is_empty())
            .then_some(kube.columns),
        deprecated: kube.deprecated.as_ref().map(|_| true),
        deprecation_warning: kube.deprecated.and_then(|deprecation| deprecation.warning),
        name: kube.version,
        schema: Some(api::CustomResourceValidation { open_api_v3_schema: schema }),
        selectable_fields: (!kube.selectable.is_empty()).then(|| {
            kube.selectable
                .into_iter()
                .map(|json_path| api::SelectableField { json_path })
                .collect()
        }),
        served: kube.served.unwrap_or(true),
        storage,
        subresources,
    };
    api::CustomResourceDefinition {
        metadata: ObjectMeta {
            annotations: (!kube.annotations.is_empty()).then_some(kube.annotations),
            labels: (!kube.labels.is_empty()).then_some(kube.labels),
            name: Some(format!("{}.{}", names.plural, kube.group)),
            ..ObjectMeta::default()
        },
        spec: api::CustomResourceDefinitionSpec {
            group: kube.group,
            names: api::CustomResourceDefinitionNames {
                categories: filled(kube.categories),
                kind: kube.kind,
                plural: names.plural,
                short_names: filled(kube.shortnames),
                singular: Some(names.singular),
                ..api::CustomResourceDefinitionNames::default()
            },
            scope: if kube.namespaced { "Namespaced" } else { "Cluster" }.to_owned(),
            versions: vec![version],
            ..api::CustomResourceDefinitionSpec::default()
        },
        ..api::CustomResourceDefinition::default()
    }
}

fn build_subresources(
    behaviour: KubeDerive,
    kube: &Kube,
) -> Option<api::CustomResourceSubresources> {
    // Without a status there is no scale either, as kube has it.
    let found = kube.status.is_some().then(|| api::CustomResourceSubresources {
        scale: kube.scale.clone(),
        status: Some(api::CustomResourceSubresourceStatus(json!({}))),
    });
    found.or_else(|| behaviour.empty.then(Default::default))
}
