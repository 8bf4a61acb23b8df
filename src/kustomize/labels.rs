//! `labels`, `commonLabels` and `commonAnnotations`.

use std::collections::BTreeMap;

use super::{fields::Field, load::Label, object::Objects};
use crate::yaml::{Value, json};

/// How far labels reach.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reach {
    /// `metadata.labels` only.
    Metadata,
    /// Those of pods and other templates too.
    Templates,
    /// Those, and the selectors that look for them.
    Selectors,
}

pub fn transform(objects: &mut Objects, label: &Label) -> anyhow::Result<()> {
    match label.reach {
        Reach::Metadata => put(objects, &label.pairs, &[&[METADATA]]),
        Reach::Templates => put(objects, &label.pairs, &[&[METADATA], TEMPLATES]),
        Reach::Selectors => put(objects, &label.pairs, &[SELECTORS, &[METADATA], TEMPLATES]),
    }
}

pub fn annotate(objects: &mut Objects, pairs: &BTreeMap<String, String>) -> anyhow::Result<()> {
    put(objects, pairs, &[ANNOTATIONS])
}

fn put(
    objects: &mut Objects,
    pairs: &BTreeMap<String, String>,
    fields: &[&[Field]],
) -> anyhow::Result<()> {
    for object in &mut objects.0 {
        for field in fields.iter().copied().flatten() {
            for (key, value) in pairs {
                field.visit(object, Some(&json!({})), &mut |it| {
                    let Value::Object(map) = it else { anyhow::bail!("a map is expected there") };
                    map.insert(key.clone(), value.as_str().into());
                    Ok(())
                })?;
            }
        }
    }
    Ok(())
}

const METADATA: Field = Field::made("", "metadata/labels");

const TEMPLATES: &[Field] = &[
    Field::made("ReplicationController", "spec/template/metadata/labels").in_version("v1"),
    Field::made("Deployment", "spec/template/metadata/labels"),
    Field::made("ReplicaSet", "spec/template/metadata/labels"),
    Field::made("DaemonSet", "spec/template/metadata/labels"),
    Field::made("StatefulSet", "spec/template/metadata/labels").in_group("apps"),
    Field::made("StatefulSet", "spec/volumeClaimTemplates[]/metadata/labels").in_group("apps"),
    Field::made("Job", "spec/template/metadata/labels").in_group("batch"),
    Field::made("CronJob", "spec/jobTemplate/metadata/labels").in_group("batch"),
    Field::made("CronJob", "spec/jobTemplate/spec/template/metadata/labels").in_group("batch"),
];

const ANNOTATIONS: &[Field] = &[
    Field::made("", "metadata/annotations"),
    Field::made("ReplicationController", "spec/template/metadata/annotations").in_version("v1"),
    Field::made("Deployment", "spec/template/metadata/annotations"),
    Field::made("ReplicaSet", "spec/template/metadata/annotations"),
    Field::made("DaemonSet", "spec/template/metadata/annotations"),
    Field::made("StatefulSet", "spec/template/metadata/annotations"),
    Field::made("Job", "spec/template/metadata/annotations").in_group("batch"),
    Field::made("CronJob", "spec/jobTemplate/metadata/annotations").in_group("batch"),
    Field::made("CronJob", "spec/jobTemplate/spec/template/metadata/annotations").in_group("batch"),
];

const SELECTORS: &[Field] = &[
    Field::made("Service", "spec/selector").in_version("v1"),
    Field::made("ReplicationController", "spec/selector").in_version("v1"),
    Field::made("Deployment", "spec/selector/matchLabels"),
    Field::made("ReplicaSet", "spec/selector/matchLabels"),
    Field::made("DaemonSet", "spec/selector/matchLabels"),
    Field::made("StatefulSet", "spec/selector/matchLabels").in_group("apps"),
    Field::of("Deployment", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels").in_group("apps"),
    Field::of("Deployment", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels").in_group("apps"),
    Field::of("Deployment", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels").in_group("apps"),
    Field::of("Deployment", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels").in_group("apps"),
    Field::of("Deployment", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels").in_group("apps"),
    Field::of("StatefulSet", "spec/template/spec/affinity/podAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels").in_group("apps"),
    Field::of("StatefulSet", "spec/template/spec/affinity/podAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels").in_group("apps"),
    Field::of("StatefulSet", "spec/template/spec/affinity/podAntiAffinity/preferredDuringSchedulingIgnoredDuringExecution/podAffinityTerm/labelSelector/matchLabels").in_group("apps"),
    Field::of("StatefulSet", "spec/template/spec/affinity/podAntiAffinity/requiredDuringSchedulingIgnoredDuringExecution/labelSelector/matchLabels").in_group("apps"),
    Field::of("StatefulSet", "spec/template/spec/topologySpreadConstraints/labelSelector/matchLabels").in_group("apps"),
    Field::of("Job", "spec/selector/matchLabels").in_group("batch"),
    Field::of("CronJob", "spec/jobTemplate/spec/selector/matchLabels").in_group("batch"),
    Field::of("PodDisruptionBudget", "spec/selector/matchLabels").in_group("policy"),
    Field::of("NetworkPolicy", "spec/podSelector/matchLabels").in_group("networking.k8s.io"),
    Field::of("NetworkPolicy", "spec/ingress/from/podSelector/matchLabels").in_group("networking.k8s.io"),
    Field::of("NetworkPolicy", "spec/egress/to/podSelector/matchLabels").in_group("networking.k8s.io"),
];
