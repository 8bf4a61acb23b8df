//! The explanation for programs.

use super::Report;
use crate::bundle::{
    Descriptors, Entry, Field, ImageUse, Origin, Place,
    sizes::{Limit, Size},
};
use go_data::yaml::{Value, json};
use model::ProjectPath;

pub fn of(report: &Report) -> Value {
    let it = report.explanation;
    json!({
        "objects": it.objects.iter().map(entry).collect::<Vec<_>>(),
        "fields": it.fields.iter().map(field).collect::<Vec<_>>(),
        "descriptors": it.descriptors.iter().map(descriptors).collect::<Vec<_>>(),
        "images": it.images.iter().map(image).collect::<Vec<_>>(),
        "annotations": it.annotations.iter().map(field).collect::<Vec<_>>(),
        "copied": it.copied,
        "notGenerated": report.others.iter().map(ProjectPath::as_str).collect::<Vec<_>>(),
        "sizes": report.sizes.files.iter().map(size).collect::<Vec<_>>(),
        "limits": report.sizes.limits.iter().map(limit).collect::<Vec<_>>(),
    })
}

fn entry(it: &Entry) -> Value {
    let origin = |it: &Origin| json!({ "file": it.file, "line": it.line });
    json!({
        "apiVersion": it.api_version,
        "kind": it.kind,
        "namespace": it.namespace,
        "name": it.name,
        "origin": it.origin.as_ref().map(origin),
        "leftOut": it.places.is_empty(),
        "places": it.places.iter().map(place).collect::<Vec<_>>(),
        "notes": it.notes,
    })
}

fn place(it: &Place) -> Value {
    match it {
        Place::File(path) => json!({ "file": path.as_str() }),
        Place::Csv { field, item, through } => {
            json!({ "csv": field, "item": item, "with": through })
        }
    }
}

fn field(it: &Field) -> Value {
    json!({ "name": it.name, "value": it.value, "from": it.from })
}

fn descriptors(it: &Descriptors) -> Value {
    json!({
        "crd": it.crd,
        "version": it.version,
        "field": it.field,
        "fromBase": it.from_base,
        "completedFromSchema": it.completed,
        "fromSchema": it.from_schema,
    })
}

fn image(it: &ImageUse) -> Value {
    json!({
        "image": it.image,
        "usedBy": it.used_by,
        "relatedImage": it.related,
        "digest": it.digest,
    })
}

fn size(it: &Size) -> Value {
    json!({ "path": it.path.as_str(), "plain": it.plain, "gzip": it.gzip, "base64": it.base64 })
}

fn limit(it: &Limit) -> Value {
    json!({ "what": it.what, "file": it.file, "size": it.size, "most": it.most })
}
