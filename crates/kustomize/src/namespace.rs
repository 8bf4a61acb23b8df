//! `namespace`.

use super::{
    fields::Field,
    object::Object,
    objects::{Indexed, Objects},
};
use go_data::yaml::Value;

pub fn set_namespace(
    objects: &mut Objects,
    namespace: &str,
    fields: &[Field],
) -> anyhow::Result<()> {
    let mut indexed = Indexed::new(objects);
    for at in indexed.positions_with_name(None)? {
        let object = &mut indexed.objects.0[at];
        object.record_identity()?;
        set_object_namespace(object, namespace, fields)?;
        let id = object.id();
        indexed.record_change(at);
        let others = indexed.positions_with_name(Some(&id.name))?;
        let objects = &*indexed.objects;
        let same = |other: &Object| {
            other.name() == id.name && other.kind() == id.kind && other.id().is_same_as(&id)
        };
        let clash = others.into_iter().find(|other| *other != at && same(&objects.0[*other]));
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

fn set_object_namespace(
    object: &mut Object,
    namespace: &str,
    fields: &[Field],
) -> anyhow::Result<()> {
    if !object.is_cluster_scoped() {
        object.set_namespace(Some(namespace))?;
    }
    let binding = matches!(object.kind(), "RoleBinding" | "ClusterRoleBinding");
    if binding {
        set_default_subjects(object, namespace)?;
    }
    object.budget.count_fields(fields.len())?;
    for field in fields {
        let skip = field.has_path("metadata/namespace")
            || field.has_path("metadata/name") && object.api_version() != "v1"
            || binding && field.has_path("subjects/namespace") && field.gvk.kind == object.kind();
        if skip {
            continue;
        }
        field.visit_if_selected(object, Some(&"".into()), &mut |value: &mut Value| {
            if value.is_object() || value.is_array() {
                anyhow::bail!("a namespace is expected there");
            }
            *value = namespace.into();
            Ok(())
        })?;
    }
    Ok(())
}

/// Sets the namespace of subjects called `default`. Other subjects follow their service accounts when references are
/// updated.
fn set_default_subjects(object: &mut Object, namespace: &str) -> anyhow::Result<()> {
    let subjects = match object.value.get_mut("subjects") {
        None | Some(Value::Null) => return Ok(()),
        Some(Value::Array(subjects)) => subjects,
        Some(_) => {
            anyhow::bail!("{}: the `subjects` of {} are not a list", object.origin, object.id())
        }
    };
    for subject in subjects {
        if subject["name"] == "default"
            && let Value::Object(subject) = subject
        {
            object.budget.take_bytes(namespace.len())?;
            subject.insert("namespace".to_owned(), namespace.into());
        }
    }
    Ok(())
}
