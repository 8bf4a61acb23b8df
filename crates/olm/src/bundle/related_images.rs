//! `relatedImages`: the images that a disconnected cluster must mirror. They come from the environment variables
//! `RELATED_IMAGE_*` of the Deployments; operator-sdk drops those of the CSV base.

use super::{Refusals, Warnings, object};
use go_data::yaml::{Value, json};

pub const PREFIX: &str = "RELATED_IMAGE_";

struct Related<'a> {
    name: String,
    image: &'a str,
    /// What uses it: the Deployment, and the container if it has several.
    by: String,
}

/// Each image once, in order of appearance. The base may list the same ones.
pub fn listed(
    deployments: &[&Value],
    base: &Value,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<Value> {
    let found = found(deployments, refusals);
    let mut res: Vec<Value> = Vec::new();
    let mut unnamed = Vec::new();
    for related in &found {
        // As operator-sdk does, also that an image of two names has none.
        let mut of_image = found.iter().filter(|it| it.image == related.image);
        let first = of_image.next().unwrap_or(related);
        let name = match of_image.next() {
            Some(_) if first.name != related.name => continue,
            Some(second) => {
                unnamed.push((related.image, &first.name, &second.name));
                String::new()
            }
            None if found.iter().filter(|it| it.name == related.name).count() > 1 => {
                format!("{}-{}", related.by, related.name)
            }
            None => related.name.clone(),
        };
        res.push(json!({ "name": name, "image": related.image }));
    }
    for (image, one, other) in unnamed {
        warnings.push(format!(
            "the related image `{image}` has no name in the bundle, because its variables give it two: `{one}` and `{other}`"
        ));
    }
    for entry in object::list(base, "/spec/relatedImages") {
        let (name, image) = (object::name_of(entry), object::text(entry, "/image"));
        if !res.iter().any(|it| object::text(it, "/image") == image) {
            refusals.push(
                format!(
                    "{}: operator-sdk leaves the related image `{name}` out of the bundle, because no variable `{PREFIX}*` has the image \
                     `{image}`",
                    object::title(base),
                ),
                format!(
                    "set the variable `{PREFIX}{}` to the image in a container of config/manager",
                    name.to_uppercase().replace('-', "_")
                ),
            );
        }
    }
    res
}

fn found<'a>(deployments: &[&'a Value], refusals: &mut Refusals) -> Vec<Related<'a>> {
    let mut res: Vec<Related> = Vec::new();
    for deployment in deployments {
        let containers: Vec<&Value> =
            ["/spec/template/spec/containers", "/spec/template/spec/initContainers"]
                .into_iter()
                .flat_map(|it| object::list(deployment, it))
                .collect();
        let several = 1 < containers.len();
        for container in containers {
            let by = match several {
                true => {
                    format!("{}-{}", object::name(deployment), object::text(container, "/name"))
                }
                false => object::name(deployment).to_owned(),
            };
            for variable in object::list(container, "/env") {
                let name = object::text(variable, "/name");
                let Some(name) = name.strip_prefix(PREFIX) else { continue };
                if variable.get("valueFrom").is_some() {
                    refusals.push(
                        format!(
                            "{}: `{PREFIX}{name}` has `valueFrom`, but a bundle must list the image itself",
                            object::title(deployment)
                        ),
                        "set the variable with `value`",
                    );
                    continue;
                }
                let image = object::text(variable, "/value");
                let name = name.to_lowercase().replace('_', "-");
                if !res.iter().any(|it| it.name == name && it.image == image) {
                    res.push(Related { name, image, by: by.clone() });
                }
            }
        }
    }
    res
}

/// The names and the images of the volumes of a Deployment that are images.
pub fn volumes(deployment: &Value) -> impl Iterator<Item = (&str, &str)> {
    let volumes = object::list(deployment, "/spec/template/spec/volumes").iter();
    volumes
        .map(|it| (object::name_of(it), object::text(it, "/image/reference")))
        .filter(|it| !it.1.is_empty())
}
