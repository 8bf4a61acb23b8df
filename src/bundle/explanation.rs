//! Where every object goes, and why. Each decision that makes the bundle is recorded here where it is made.

use std::collections::BTreeMap;

use super::{Object, object};
use go_data::yaml::Value;
use model::ProjectPath;

/// How a bundle follows from the objects and the other inputs.
#[derive(Debug, Default)]
pub struct Explanation {
    /// Every object, in the order of the input.
    pub objects: Vec<Entry>,
    /// Fields of the CSV that are neither from the base nor from an object.
    pub fields: Vec<Field>,
    /// The descriptors of every version that the CSV owns.
    pub descriptors: Vec<Descriptors>,
    pub images: Vec<ImageUse>,
    /// The entries of metadata/annotations.yaml, in their order.
    pub annotations: Vec<Field>,
    /// Files that are copied from config/manifests/metadata, without their directory.
    pub copied: Vec<String>,
}

/// One object. If it has no place in the bundle, the notes say why.
#[derive(Debug, Default)]
pub struct Entry {
    pub api_version: String,
    pub kind: String,
    pub namespace: String,
    pub name: String,
    pub origin: Option<Origin>,
    pub places: Vec<Place>,
    /// Reasons, and the parts of the object that the bundle lacks.
    pub notes: Vec<String>,
}

/// The file that an object was read from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    pub file: String,
    pub line: Option<usize>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// A part of the CSV.
    Csv {
        field: &'static str,
        /// Which item of the field; empty for the field itself.
        item: String,
        /// The object that connects this one with the item.
        through: Option<String>,
    },
    /// A file of its own.
    File(ProjectPath),
}

/// A field, its value, and where the value is from.
#[derive(Debug)]
pub struct Field {
    pub name: String,
    pub value: String,
    pub from: String,
}

/// The descriptors of one version of a CRD, by their paths.
#[derive(Debug)]
pub struct Descriptors {
    pub crd: String,
    pub version: String,
    /// `specDescriptors`, `statusDescriptors` or `actionDescriptors`.
    pub field: &'static str,
    pub from_schema: Vec<String>,
    /// Those that the CSV base sets, wholly or in part.
    pub from_base: Vec<String>,
    /// Those of them whose other fields are from the schema.
    pub completed: Vec<String>,
}

/// An image, and what the bundle does with it.
#[derive(Debug)]
pub struct ImageUse {
    pub image: String,
    /// operator-sdk neither lists such an image nor replaces its tag.
    pub only_in_volumes: bool,
    pub used_by: Vec<String>,
    /// Its name in `relatedImages`.
    pub related: Option<String>,
    /// The digest that replaces its tag.
    pub digest: Option<String>,
}

/// Records decisions while a bundle is assembled.
#[derive(Default)]
pub struct Journal {
    pub explanation: Explanation,
    pub warnings: Vec<String>,
    index: BTreeMap<*const Value, usize>,
}

impl Journal {
    pub fn new(objects: &[Object]) -> Self {
        let mut res = Self::default();
        res.explanation.objects.extend(objects.iter().map(|it| Entry::new(it.origin.clone())));
        res
    }

    /// Takes up the objects as they are decoded. From now on, they are known by these values.
    pub fn identify(&mut self, objects: &[Value]) {
        for (at, (entry, object)) in self.explanation.objects.iter_mut().zip(objects).enumerate() {
            entry.api_version = object::text(object, "/apiVersion").to_owned();
            entry.kind = object::kind(object).to_owned();
            entry.namespace = object::namespace(object).to_owned();
            entry.name = object::name(object).to_owned();
            self.index.insert(std::ptr::from_ref(object), at);
        }
    }

    pub fn warn(&mut self, warning: String) {
        self.warnings.push(warning);
    }

    pub fn note_at(&mut self, at: usize, note: String) {
        if let Some(entry) = self.explanation.objects.get_mut(at) {
            entry.note(note);
        }
    }

    pub fn note(&mut self, object: &Value, note: impl Into<String>) {
        if let Some(entry) = self.entry(object) {
            entry.note(note.into());
        }
    }

    /// An object that the user may expect in the bundle.
    pub fn leave_out(&mut self, object: &Value, reason: &str) {
        let origin = self.entry(object).and_then(|it| it.origin.clone());
        let title = match origin {
            Some(Origin { file, line: Some(line) }) if object::kind(object).is_empty() => {
                format!("the document at {file}:{line}")
            }
            _ => object::title(object),
        };
        self.warn(format!("{title} is left out of the bundle: {reason}"));
        self.note(object, reason);
    }

    /// Parts of an object that the user may expect in the bundle.
    pub fn lose(&mut self, object: &Value, parts: &[String], reason: &str) {
        if let Some((first, rest)) = parts.split_first() {
            let verb = if rest.is_empty() { "is" } else { "are" };
            let parts = rest.iter().fold(first.clone(), |all, it| format!("{all}, {it}"));
            let note = format!("its {parts} {verb} left out of the bundle: {reason}");
            self.warn(format!("{}: {note}", object::title(object)));
            self.note(object, note);
        }
    }

    pub fn file(&mut self, object: &Value, path: &ProjectPath) {
        self.place(object, Place::File(path.clone()));
    }

    pub fn csv(&mut self, object: &Value, field: &'static str, item: &str) {
        self.place(object, Place::Csv { field, item: item.to_owned(), through: None });
    }

    pub fn csv_through(&mut self, object: &Value, field: &'static str, item: &str, by: &Value) {
        let through = Some(object::reference(by));
        self.place(object, Place::Csv { field, item: item.to_owned(), through });
    }

    fn place(&mut self, object: &Value, place: Place) {
        if let Some(entry) = self.entry(object)
            && !entry.places.contains(&place)
        {
            entry.places.push(place);
        }
    }

    fn entry(&mut self, object: &Value) -> Option<&mut Entry> {
        let at = *self.index.get(&std::ptr::from_ref(object))?;
        self.explanation.objects.get_mut(at)
    }
}

impl Entry {
    fn new(origin: Option<Origin>) -> Self {
        Self { origin, ..Self::default() }
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }
}
