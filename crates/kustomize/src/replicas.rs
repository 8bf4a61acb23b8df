//! `replicas`.

use super::{fields::Field, kustomization::Replica, objects::Indexed};
use go_data::yaml::json;

pub fn set_replicas(
    objects: &mut Indexed<'_>,
    replica: &Replica,
    fields: &[Field],
) -> anyhow::Result<()> {
    let mut found = false;
    for field in fields {
        for at in objects.positions_with_name(Some(&replica.name))? {
            let object = &mut objects.objects.0[at];
            let is = |id| field.gvk.selects_id(&id) && id.name == replica.name;
            if !is(object.id()) && !object.former_ids().any(is) {
                continue;
            }
            found = true;
            field.visit_if_selected(object, Some(&json!(0)), &mut |value| {
                if value.is_object() || value.is_array() || value.is_string() {
                    anyhow::bail!("a number is expected there");
                }
                *value = replica.count.into();
                Ok(())
            })?;
        }
    }
    if !found {
        anyhow::bail!("no object with replicas has the name `{}`", replica.name);
    }
    Ok(())
}
