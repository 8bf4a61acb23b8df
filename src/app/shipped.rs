//! Content that manifests should not have when they are published: an image that no registry has, secrets, and samples.

use cluster::Id;
use diagnostics::Diagnostic;
use go_data::yaml::Value;
use olm::bundle::Object;

/// The image of a new project, until somebody names another.
pub const PLACEHOLDER: &str = "controller:latest";

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

/// Warns of custom resources of the operator: they may be samples that are beside its manifests.
pub fn custom_resources(objects: &[Value]) -> Option<Diagnostic> {
    let crds: Vec<&Value> = objects.iter().filter(|it| Id::of(it).is_crd()).collect();
    let is_own = |it: &Id| {
        let group = it.api_version.split_once('/').map_or("", |it| it.0);
        crds.iter()
            .any(|crd| crd["spec"]["group"] == *group && crd["spec"]["names"]["kind"] == *it.kind)
    };
    let found: Vec<String> =
        objects.iter().map(Id::of).filter(is_own).map(|it| it.to_string()).collect();
    (!found.is_empty()).then(|| {
        Diagnostic::from(format!(
            "the manifests have custom resources of the operator: {}",
            found.join(", ")
        ))
        .with_hint("if these are samples, name the manifests without them: `--manifests DIR|FILE`")
    })
}

/// Whether everybody who has the manifests has a secret.
fn is_secret(object: &Value) -> bool {
    let has = |key: &str| object[key].as_object().is_some_and(|it| !it.is_empty());
    object["apiVersion"] == "v1" && object["kind"] == "Secret" && (has("data") || has("stringData"))
}

/// Leaves out the Secrets of samples, and warns about every Secret.
pub fn secrets(objects: &mut Vec<Object>) -> Vec<Diagnostic> {
    let is_sample = |it: &Object| {
        let file = it.origin.as_ref().map(|it| it.file.as_str());
        let is_core = it.value["apiVersion"] == "v1" && it.value["kind"] == "Secret";
        is_core && file.is_some_and(|it| it.starts_with("config/samples/"))
    };
    let mut warnings = Vec::new();
    for it in objects.iter().filter(|it| is_sample(it) || is_secret(&it.value)) {
        let name = it.value["metadata"]["name"].as_str().unwrap_or_default();
        let (message, hint) = match is_sample(it) {
            true => (
                format!("the Secret `{name}` of a sample is left out of the bundle"),
                "everybody who pulls a bundle could read it: remove it from config/samples/kustomization.yaml",
            ),
            false => (
                format!(
                    "the bundle contains the Secret `{name}`, which everybody who pulls it can read"
                ),
                "let the operator or an administrator create it",
            ),
        };
        let place = match &it.origin {
            None => Diagnostic::from(message),
            Some(it) => {
                let res = Diagnostic::in_file(&it.file, message);
                it.line.map_or(res.clone(), |line| res.at(line, 1))
            }
        };
        warnings.push(place.with_hint(hint));
    }
    objects.retain(|it| !is_sample(it));
    warnings
}
