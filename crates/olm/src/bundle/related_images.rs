//! `relatedImages`: the images that a disconnected cluster must mirror. They come from the environment variables
//! `RELATED_IMAGE_*` of the Deployments; operator-sdk drops those of the CSV base.

use super::{Refusals, Warnings, object};
use go_data::yaml::{Value, json};

pub const PREFIX: &str = "RELATED_IMAGE_";

struct ImageVariable<'a> {
    name: String,
    image: &'a str,
    /// The user of the image: the Deployment, and the container if the Deployment has several.
    by: String,
}

/// Returns each image once, in order of appearance. The base may list the same images.
pub fn build_related_images(
    deployments: &[&Value],
    base: &Value,
    refusals: &mut Refusals,
    warnings: &mut Warnings,
) -> Vec<Value> {
    let variables = collect_variables(deployments, refusals);
    let mut entries: Vec<Value> = Vec::new();
    let mut unnamed = Vec::new();
    for related in &variables {
        // Like operator-sdk, this gives no name to an image with two names.
        let mut of_image = variables.iter().filter(|variable| variable.image == related.image);
        let first = of_image.next().unwrap_or(related);
        let name = match of_image.next() {
            Some(_) if first.name != related.name => continue,
            Some(second) => {
                unnamed.push((related.image, &first.name, &second.name));
                String::new()
            }
            None if variables.iter().filter(|variable| variable.name == related.name).count()
                > 1 =>
            {
                format!("{}-{}", related.by, related.name)
            }
            None => related.name.clone(),
        };
        entries.push(json!({ "name": name, "image": related.image }));
    }
    for (image, one, other) in unnamed {
        warnings.push(format!(
            "the related image `{image}` has no name in the bundle, because its variables give it two: `{one}` and `{other}`"
        ));
    }
    for entry in object::list(base, "/spec/relatedImages") {
        let (name, image) = (object::name_of(entry), object::text(entry, "/image"));
        if !entries.iter().any(|entry| object::text(entry, "/image") == image) {
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
    entries
}

fn collect_variables<'a>(
    deployments: &[&'a Value],
    refusals: &mut Refusals,
) -> Vec<ImageVariable<'a>> {
    let mut variables: Vec<ImageVariable> = Vec::new();
    for deployment in deployments {
        let containers: Vec<&Value> =
            ["/spec/template/spec/containers", "/spec/template/spec/initContainers"]
                .into_iter()
                .flat_map(|pointer| object::list(deployment, pointer))
                .collect();
        let several = containers.len() > 1;
        for container in containers {
            let by = if several {
                format!("{}-{}", object::name(deployment), object::text(container, "/name"))
            } else {
                object::name(deployment).to_owned()
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
                if !variables.iter().any(|other| other.name == name && other.image == image) {
                    variables.push(ImageVariable { name, image, by: by.clone() });
                }
            }
        }
    }
    variables
}

/// Returns the names and the images of the volumes of a Deployment that are images.
pub fn image_volumes(deployment: &Value) -> impl Iterator<Item = (&str, &str)> {
    let volumes = object::list(deployment, "/spec/template/spec/volumes").iter();
    volumes
        .map(|volume| (object::name_of(volume), object::text(volume, "/image/reference")))
        .filter(|volume| !volume.1.is_empty())
}
