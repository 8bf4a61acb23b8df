//! `namespace`.

use super::{
    fields::Field,
    object::Object,
    objects::{Indexed, Objects},
};
use go_data::yaml::Value;

pub fn transform(objects: &mut Objects, namespace: &str, fields: &[Field]) -> anyhow::Result<()> {
    let mut indexed = Indexed::new(objects);
    for at in indexed.with_name(None)? {
        let object = &mut indexed.objects.0[at];
        object.remember()?;
        set(object, namespace, fields)?;
        let id = object.id();
        indexed.note_change(at);
        let others = indexed.with_name(Some(&id.name))?;
        let objects = &*indexed.objects;
        let same = |it: &Object| it.name() == id.name && it.kind() == id.kind && it.id().is(&id);
        let clash = others.into_iter().find(|it| *it != at && same(&objects.0[*it]));
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

fn set(object: &mut Object, namespace: &str, fields: &[Field]) -> anyhow::Result<()> {
    if !object.is_cluster_scoped() {
        object.set_namespace(Some(namespace))?;
    }
    let binding = matches!(object.kind(), "RoleBinding" | "ClusterRoleBinding");
    if binding {
        set_default_subjects(object, namespace)?;
    }
    object.budget.look_at_fields(fields.len())?;
    for field in fields {
        let skip = field.is("metadata/namespace")
            || field.is("metadata/name") && object.api_version() != "v1"
            || binding && field.is("subjects/namespace") && field.of.kind == object.kind();
        if skip {
            continue;
        }
        field.visit(object, Some(&"".into()), &mut |it: &mut Value| {
            if it.is_object() || it.is_array() {
                anyhow::bail!("a namespace is expected there");
            }
            *it = namespace.into();
            Ok(())
        })?;
    }
    Ok(())
}

/// Other subjects follow their service accounts, when references are fixed.
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
            object.budget.take(namespace.len())?;
            subject.insert("namespace".to_owned(), namespace.into());
        }
    }
    Ok(())
}
