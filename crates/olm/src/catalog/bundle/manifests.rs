//! The objects in `manifests/`.

use super::{super::document, Files};
use crate::catalog::go;
use diagnostics::Diagnostic;
use go_data::yaml::Value;

/// An object, and the file that it is in.
pub struct ManifestObject {
    pub path: String,
    pub value: Value,
}

impl ManifestObject {
    pub fn text(&self, key: &str) -> &str {
        self.value.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    pub fn fault(&self, message: impl Into<String>) -> anyhow::Error {
        Diagnostic::in_file(&self.path, message).into_error()
    }
}

/// Reads every object, and only the first ClusterServiceVersion, like operator-registry.
pub fn read_objects(
    files: &Files,
    folder: &str,
    warnings: &mut Vec<String>,
) -> anyhow::Result<Vec<ManifestObject>> {
    let mut objects: Vec<ManifestObject> = Vec::new();
    for (path, bytes) in files {
        let Some(name) = path.as_str().strip_prefix("manifests/") else { continue };
        let path = format!("{folder}/{path}");
        if let Some((inner, _)) = name.split_once('/') {
            let error = Diagnostic::in_file(
                path,
                format!("bundle manifests dir contains directory: {inner}"),
            );
            return Err(error.with_hint("put every manifest into `manifests` itself").into_error());
        }
        if name.starts_with('.') {
            continue;
        }
        let fault = |message: String, (line, column): (usize, usize)| {
            Diagnostic::in_file(&path, message)
                .at_position(line, column)
                .with_hint(
                    "`opm` silently skips such a file: correct it, or remove it from the bundle",
                )
                .into_error()
        };
        let first = document::first_document(bytes)
            .map_err(|problem| fault(problem.message, problem.position))?;
        let Some((value, is_followed)) = first.filter(|document| !document.0.is_null()) else {
            continue;
        };
        if is_followed {
            warnings.push(format!(
                "{path}: found more than one document inside {name}, using only the first one"
            ));
        }
        let object = ManifestObject { path: path.clone(), value: go::to_integers(value) };
        if object.text("kind").is_empty() {
            return Err(fault("not a Kubernetes object: `kind` is missing".to_owned(), (1, 1)));
        }
        let is_csv = |object: &ManifestObject| object.text("kind") == super::csv::KIND;
        if is_csv(&object) && objects.iter().any(is_csv) {
            let message = "the bundle has another ClusterServiceVersion";
            let error = Diagnostic::in_file(path, message);
            return Err(error.with_hint("keep only one of them").into_error());
        }
        objects.push(object);
    }
    if objects.is_empty() {
        Err(Diagnostic::in_file(folder, "no bundle objects found").into_error())
    } else {
        Ok(objects)
    }
}
