//! `namespace`.

use super::{
    fields::Field,
    object::{Object, Objects},
};
use crate::yaml::{Value, json};

pub fn transform(objects: &mut Objects, namespace: &str) -> anyhow::Result<()> {
    for at in 0..objects.0.len() {
        objects.0[at].remember();
        set(&mut objects.0[at], namespace)?;
        let id = objects.0[at].id();
        let clash = (0..objects.0.len()).find(|it| *it != at && objects.0[*it].id() == id);
        if let Some(other) = clash {
            anyhow::bail!(
                "with `namespace: {namespace}` two objects are {id}: from {} and from {}",
                objects.0[other].origin,
                objects.0[at].origin
            );
        }
    }
    Ok(())
}

const NAMESPACE: Field = Field::made("Namespace", "metadata/name").in_version("v1");
const API_SERVICE: Field =
    Field::made("APIService", "spec/service/namespace").in_group("apiregistration.k8s.io");
const CONVERSION: Field =
    Field::of("CustomResourceDefinition", "spec/conversion/webhook/clientConfig/service/namespace")
        .in_group("apiextensions.k8s.io");

fn set(object: &mut Object, namespace: &str) -> anyhow::Result<()> {
    if !object.is_cluster_scoped() {
        object.set_namespace(Some(namespace));
    }
    if matches!(object.kind(), "RoleBinding" | "ClusterRoleBinding") {
        set_default_subjects(object, namespace);
    }
    let mut put = |it: &mut Value| {
        if it.is_object() || it.is_array() {
            anyhow::bail!("a namespace is expected there");
        }
        *it = namespace.into();
        Ok(())
    };
    if object.api_version() == "v1" {
        NAMESPACE.visit(object, Some(&json!("")), &mut put)?;
    }
    API_SERVICE.visit(object, Some(&json!("")), &mut put)?;
    CONVERSION.visit(object, None, &mut put)
}

/// Other subjects follow their service accounts, when references are fixed.
fn set_default_subjects(object: &mut Object, namespace: &str) {
    let Some(Value::Array(subjects)) = object.value.get_mut("subjects") else { return };
    for subject in subjects {
        if subject["name"] == "default"
            && let Value::Object(subject) = subject
        {
            subject.insert("namespace".to_owned(), namespace.into());
        }
    }
}
