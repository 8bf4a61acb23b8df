//! Content that manifests should not have when they are published: an image that no registry has, secrets, and samples.

use cluster::Id;
use diagnostics::Diagnostic;
use go_data::yaml::Value;
use olm::bundle::InputObject;

/// The image of a new project, until the user names another.
pub const PLACEHOLDER: &str = "controller:latest";

/// Warns where a container has the image of a new project.
pub fn placeholder<'a>(objects: impl IntoIterator<Item = &'a Value>) -> Option<Diagnostic> {
    let mut objects = objects.into_iter();
    let is_placeholder = |object: &Value| object["image"] == PLACEHOLDER;
    let found = objects.any(|object| {
        let containers = object["spec"]["template"]["spec"]["containers"].as_array();
        containers.is_some_and(|container| container.iter().any(is_placeholder))
    });
    found.then(|| {
        Diagnostic::from(format!("the manager's image is `{PLACEHOLDER}`, which is in no registry"))
            .with_hint("pass `--image`, or set the image in config/manager/kustomization.yaml")
    })
}

/// Warns of custom resources of the operator: they may be samples among its manifests.
pub fn custom_resources(objects: &[Value]) -> Option<Diagnostic> {
    let crds: Vec<&Value> = objects.iter().filter(|object| Id::of(object).is_crd()).collect();
    let is_own = |id: &Id| {
        let group = id.api_version.split_once('/').map_or("", |pair| pair.0);
        crds.iter()
            .any(|crd| crd["spec"]["group"] == *group && crd["spec"]["names"]["kind"] == *id.kind)
    };
    let found: Vec<String> =
        objects.iter().map(Id::of).filter(is_own).map(|object| object.to_string()).collect();
    (!found.is_empty()).then(|| {
        Diagnostic::from(format!(
            "the manifests have custom resources of the operator: {}",
            found.join(", ")
        ))
        .with_hint("if these are samples, name the manifests without them: `--manifests DIR|FILE`")
    })
}

/// Returns whether everyone who has the manifests can read a secret.
fn is_secret(object: &Value) -> bool {
    let has = |key: &str| object[key].as_object().is_some_and(|map| !map.is_empty());
    object["apiVersion"] == "v1" && object["kind"] == "Secret" && (has("data") || has("stringData"))
}

/// Leaves out the Secrets of samples, and warns about every Secret.
pub fn secrets(objects: &mut Vec<InputObject>) -> Vec<Diagnostic> {
    let is_sample = |object: &InputObject| {
        let file = object.origin.as_ref().map(|origin| origin.file.as_str());
        let is_core = object.value["apiVersion"] == "v1" && object.value["kind"] == "Secret";
        is_core && file.is_some_and(|file| file.starts_with("config/samples/"))
    };
    let mut warnings = Vec::new();
    for it in objects.iter().filter(|object| is_sample(object) || is_secret(&object.value)) {
        let name = it.value["metadata"]["name"].as_str().unwrap_or_default();
        let (message, hint) = if is_sample(it) {
            (
                format!("the Secret `{name}` of a sample is left out of the bundle"),
                "everybody who pulls a bundle could read it: remove it from config/samples/kustomization.yaml",
            )
        } else {
            (
                format!(
                    "the bundle contains the Secret `{name}`, which everybody who pulls it can read"
                ),
                "let the operator or an administrator create it",
            )
        };
        let place = match &it.origin {
            None => Diagnostic::from(message),
            Some(it) => {
                let res = Diagnostic::in_file(&it.file, message);
                it.line.map_or(res.clone(), |line| res.at_position(line, 1))
            }
        };
        warnings.push(place.with_hint(hint));
    }
    objects.retain(|object| !is_sample(object));
    warnings
}
