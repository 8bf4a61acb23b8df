//! Requirements of a bundle, as catalogs read them: from the files of metadata/ with any name, and from the
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
    /// The location in the file, as a JSON pointer.
    pub field: String,
}

pub const GVK: &str = "olm.gvk.required";
const PACKAGE: &str = "olm.package.required";
const CONSTRAINT: &str = "olm.constraint";
/// Types in dependencies.yaml, and the properties that they become.
const DEPENDENCIES: &[(&str, &str)] =
    &[("olm.gvk", GVK), ("olm.package", PACKAGE), (CONSTRAINT, CONSTRAINT)];
const PROPERTIES: &[&str] = &[GVK, PACKAGE, CONSTRAINT];

/// Collects all requirements except the APIs that the `spec` of the CSV requires.
pub fn of_bundle((path, csv): (&str, &Value), files: &Files) -> Vec<Requirement> {
    let mut requirements = Vec::new();
    if let Some((file, list)) = find_entries(files, "dependencies") {
        for (at, entry) in list.into_iter().enumerate() {
            let property = DEPENDENCIES.iter().find(|row| row.0 == of::text(&entry, "/type"));
            let property = property.map_or("", |row| row.1);
            let field = format!("/dependencies/{at}");
            requirements.push(Requirement { property, entry, file: file.to_owned(), field });
        }
    }
    let mut add = |entry: Value, file: &str, field: String| {
        if let Some(property) =
            PROPERTIES.iter().find(|property_type| **property_type == of::text(&entry, "/type"))
        {
            requirements.push(Requirement { property, entry, file: file.to_owned(), field });
        }
    };
    if let Some((file, list)) = find_entries(files, "properties") {
        for (at, entry) in list.into_iter().enumerate() {
            add(entry, file, format!("/properties/{at}"));
        }
    }
    let annotation = "/metadata/annotations/olm.properties";
    if let Ok(Value::Array(list)) = yaml::from_json(of::text(csv, annotation)) {
        list.into_iter().for_each(|entry| add(entry, path, annotation.to_owned()));
    }
    requirements
}

/// Returns the entries of a list, from the first file that has some.
fn find_entries<'a>(files: &'a Files, name: &str) -> Option<(&'a str, Vec<Value>)> {
    files.iter().filter(|entry| is_metadata(entry.0)).find_map(|(path, bytes)| {
        let file = load::first_value(bytes).ok()??;
        match format::go_field(&file, name) {
            Ok(Some(Value::Array(list))) if !list.is_empty() => Some((path.as_str(), list.clone())),
            _ => None,
        }
    })
}

/// Returns whether a file is directly in metadata/.
pub fn is_metadata(path: &ProjectPath) -> bool {
    path.parent().is_some_and(|folder| folder.as_str() == "metadata")
}
