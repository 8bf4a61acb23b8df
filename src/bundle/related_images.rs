//! `relatedImages`: the images that a disconnected cluster must mirror. They come from the environment variables
//! `RELATED_IMAGE_*` of the Deployments, and from the CSV base.

use super::{Refusals, object};
use crate::yaml::{Value, json};

const PREFIX: &str = "RELATED_IMAGE_";

struct Related<'a> {
    name: String,
    image: &'a str,
    /// What uses it: the Deployment, and the container if it has several.
    by: String,
}

/// Each image once, in order of appearance, followed by those that only the base lists.
pub fn merged(deployments: &[&Value], base: &Value, refusals: &mut Refusals) -> Vec<Value> {
    let found = found(deployments, refusals);
    let mut res: Vec<Value> = Vec::new();
    for (at, related) in found.iter().enumerate() {
        if found[..at].iter().any(|it| it.image == related.image) {
            continue;
        }
        let differs = |it: &Related| it.name == related.name && it.image != related.image;
        let name = match found.iter().any(differs) {
            true => format!("{}-{}", related.by, related.name),
            false => related.name.clone(),
        };
        res.push(json!({ "name": name, "image": related.image }));
    }
    for said in object::list(base, "/spec/relatedImages") {
        let has = |field| res.iter().any(|it| object::text(it, field) == object::text(said, field));
        if !has("/image") {
            if has("/name") {
                refusals.push(
                    format!(
                        "{}: its related image `{}` has the name of one that config/manager sets to another image",
                        object::title(base),
                        object::text(said, "/name")
                    ),
                    "remove it from `relatedImages` in the CSV base, or rename it",
                );
            }
            res.push(said.clone());
        }
    }
    res
}

fn found<'a>(deployments: &[&'a Value], refusals: &mut Refusals) -> Vec<Related<'a>> {
    let mut res = Vec::new();
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
                let name = name.to_lowercase().replace('_', "-");
                let image = object::text(variable, "/value");
                res.push(Related { name, image, by: by.clone() });
            }
        }
    }
    res
}
