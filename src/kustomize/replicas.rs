//! `replicas`.

use super::{fields::Field, load::Replica, object::Objects};
use crate::yaml::json;

const KINDS: &[&str] = &["Deployment", "ReplicationController", "ReplicaSet", "StatefulSet"];

pub fn transform(objects: &mut Objects, replica: &Replica) -> anyhow::Result<()> {
    let mut found = false;
    for kind in KINDS {
        for object in &mut objects.0 {
            let is = |id: &super::object::Id| id.name == replica.name && id.kind == *kind;
            if !is(&object.id()) && !object.former_ids().any(|it| is(&it)) {
                continue;
            }
            found = true;
            Field::made(kind, "spec/replicas").visit(object, Some(&json!(0)), &mut |it| {
                *it = replica.count.into();
                Ok(())
            })?;
        }
    }
    if !found {
        anyhow::bail!("nothing that has replicas is called `{}`", replica.name);
    }
    Ok(())
}
