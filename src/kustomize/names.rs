//! `namePrefix` and `nameSuffix`.

use super::object::{Object, Objects};

pub fn prefix(objects: &mut Objects, prefix: &str) {
    for object in objects.0.iter_mut().filter(|it| is_renamed(it)) {
        object.prefixes.push(prefix.to_owned());
        object.remember();
        let name = format!("{prefix}{}", object.name());
        object.set_name(&name);
    }
}

pub fn suffix(objects: &mut Objects, suffix: &str) {
    for object in objects.0.iter_mut().filter(|it| is_renamed(it)) {
        object.suffixes.push(suffix.to_owned());
        object.remember();
        let name = format!("{}{suffix}", object.name());
        object.set_name(&name);
    }
}

/// The names of these say what they are: they are not touched.
fn is_renamed(object: &Object) -> bool {
    let original = object.original_id();
    match original.kind.as_str() {
        "CustomResourceDefinition" | "Namespace" => false,
        "APIService" => original.group != "apiregistration.k8s.io",
        _ => true,
    }
}
