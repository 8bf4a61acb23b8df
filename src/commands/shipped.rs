//! What manifests should not hand over to others: an image that no registry has, and secrets.

use crate::{
    bundle::Object,
    hint::{Diagnostic, Diagnostics},
    yaml::Value,
};

/// The image of a new project, until somebody names another.
const PLACEHOLDER: &str = "controller:latest";

/// Warns where a container has the image of a new project.
pub fn placeholder<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Option<Diagnostic> {
    let mut objects = objects.into_iter();
    let is_placeholder = |it: &Value| it["image"] == PLACEHOLDER;
    let found = objects.any(|it| {
        let containers = it["spec"]["template"]["spec"]["containers"].as_array();
        containers.is_some_and(|it| it.iter().any(is_placeholder))
    });
    found.then(|| {
        Diagnostic::from(format!("the manager's image is `{PLACEHOLDER}`, which is in no registry"))
            .with_hint("give `--image`, or set the image in config/manager/kustomization.yaml")
    })
}

/// Whether everybody who has the manifests has a secret.
pub fn is_secret(object: &Value) -> bool {
    let has = |key: &str| object[key].as_object().is_some_and(|it| !it.is_empty());
    object["apiVersion"] == "v1" && object["kind"] == "Secret" && (has("data") || has("stringData"))
}

/// Refuses a bundle with the secret of a sample, and warns about every other one.
pub fn secrets(objects: &[Object]) -> anyhow::Result<Vec<Diagnostic>> {
    let (mut refused, mut warnings) = (Vec::new(), Vec::new());
    for Object { value, origin, .. } in objects.iter().filter(|it| is_secret(&it.value)) {
        let name = value["metadata"]["name"].as_str().unwrap_or_default();
        let place = |message: String| match origin {
            None => Diagnostic::from(message),
            Some(it) => {
                let res = Diagnostic::in_file(&it.file, message);
                it.line.map_or(res.clone(), |line| res.at(line, 1))
            }
        };
        if origin.as_ref().is_some_and(|it| it.file.starts_with("config/samples/")) {
            refused.push(
                place(format!("the bundle would contain the Secret `{name}` of a sample"))
                    .with_hint("remove it from config/samples/kustomization.yaml"),
            );
        } else {
            warnings.push(
                place(format!(
                    "the bundle contains the Secret `{name}`, which everybody who pulls it can read"
                ))
                .with_hint("let the operator or an administrator create it"),
            );
        }
    }
    match refused.is_empty() {
        true => Ok(warnings),
        false => Err(Diagnostics { headline: String::new(), list: refused }.into()),
    }
}
