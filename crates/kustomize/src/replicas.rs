//! `replicas`.

use super::{fields::Field, load::Replica, objects::Indexed};
use go_data::yaml::json;

pub fn transform(
    objects: &mut Indexed<'_>,
    replica: &Replica,
    fields: &[Field],
) -> anyhow::Result<()> {
    let mut found = false;
    for field in fields {
        for at in objects.with_name(Some(&replica.name))? {
            let object = &mut objects.objects.0[at];
            let is = |id| field.of.selects_id(&id) && id.name == replica.name;
            if !is(object.id()) && !object.former_ids().any(is) {
                continue;
            }
            found = true;
            field.visit(object, Some(&json!(0)), &mut |it| {
                if it.is_object() || it.is_array() || it.is_string() {
                    anyhow::bail!("a number is expected there");
                }
                *it = replica.count.into();
                Ok(())
            })?;
        }
    }
    if !found {
        anyhow::bail!("no object with replicas has the name `{}`", replica.name);
    }
    Ok(())
}
