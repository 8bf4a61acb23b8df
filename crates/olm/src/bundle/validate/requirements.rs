//! What a bundle requires, as catalogs read it: from the files of metadata/, whatever their names are, and from the
//! annotation `olm.properties` of the CSV.

use super::{Files, format, load, of};
use go_data::yaml::{self, Value};
use model::ProjectPath;

/// An entry with `type` and `value`.
pub struct Requirement {
    /// The property of the bundle in a catalog; empty for a dependency of another type.
    pub property: &'static str,
    pub entry: Value,
    pub file: String,
    /// Where it is in the file, as a JSON pointer.
    pub field: String,
}

pub const GVK: &str = "olm.gvk.required";
const PACKAGE: &str = "olm.package.required";
const CONSTRAINT: &str = "olm.constraint";
/// Types in dependencies.yaml, and the properties that they become.
const DEPENDENCIES: &[(&str, &str)] =
    &[("olm.gvk", GVK), ("olm.package", PACKAGE), (CONSTRAINT, CONSTRAINT)];
const PROPERTIES: &[&str] = &[GVK, PACKAGE, CONSTRAINT];

/// All but the APIs that the `spec` of the CSV requires.
pub fn of_bundle((path, csv): (&str, &Value), files: &Files) -> Vec<Requirement> {
    let mut res = Vec::new();
    if let Some((file, list)) = listed(files, "dependencies") {
        for (at, entry) in list.into_iter().enumerate() {
            let property = DEPENDENCIES.iter().find(|it| it.0 == of::text(&entry, "/type"));
            let property = property.map_or("", |it| it.1);
            let field = format!("/dependencies/{at}");
            res.push(Requirement { property, entry, file: file.to_owned(), field });
        }
    }
    let mut add = |entry: Value, file: &str, field: String| {
        if let Some(property) = PROPERTIES.iter().find(|it| **it == of::text(&entry, "/type")) {
            res.push(Requirement { property, entry, file: file.to_owned(), field });
        }
    };
    if let Some((file, list)) = listed(files, "properties") {
        for (at, entry) in list.into_iter().enumerate() {
            add(entry, file, format!("/properties/{at}"));
        }
    }
    let annotation = "/metadata/annotations/olm.properties";
    if let Ok(Value::Array(list)) = yaml::from_json(of::text(csv, annotation)) {
        list.into_iter().for_each(|it| add(it, path, annotation.to_owned()));
    }
    res
}

/// The entries of a list, from the first file that has some.
fn listed<'a>(files: &'a Files, name: &str) -> Option<(&'a str, Vec<Value>)> {
    files.iter().filter(|it| is_metadata(it.0)).find_map(|(path, bytes)| {
        let file = load::first(bytes).ok()??;
        match format::field(&file, name) {
            Ok(Some(Value::Array(list))) if !list.is_empty() => Some((path.as_str(), list.clone())),
            _ => None,
        }
    })
}

/// Whether a file is directly in metadata/.
pub fn is_metadata(path: &ProjectPath) -> bool {
    path.parent().is_some_and(|it| it.as_str() == "metadata")
}
