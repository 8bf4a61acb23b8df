//! The explanation for people: every object once, with its places in the bundle.

use std::fmt::Write as _;

use super::Report;
use crate::bundle::{Descriptors, Entry, Explanation, Field, ImageUse, Place, sizes::Sizes};

pub fn of(report: &Report) -> String {
    let Explanation { objects, fields, descriptors, images, annotations, copied } =
        report.explanation;
    let (inside, outside): (Vec<&Entry>, Vec<&Entry>) =
        objects.iter().partition(|it| !it.places.is_empty());
    let others = report.others.iter();
    let copied = copied.iter().map(|it| vec![format!("{it}: from config/manifests/metadata")]);
    let annotations = annotations.iter().map(|it| vec![field(it)]);
    let sections = [
        ("Objects in the bundle:", inside.into_iter().map(entry).collect()),
        (
            "Files in the folder of the bundle that are not generated:",
            others.map(|it| vec![it.to_string()]).collect(),
        ),
        ("Objects left out:", outside.into_iter().map(entry).collect()),
        ("Other fields of the CSV:", fields.iter().map(|it| vec![field(it)]).collect::<Vec<_>>()),
        ("Descriptors of the CSV:", descriptors.iter().filter_map(self::descriptors).collect()),
        ("Images:", images.iter().map(image).collect()),
        ("Metadata:", annotations.chain(copied).collect()),
    ];
    let mut res = String::new();
    for (heading, items) in sections {
        if items.is_empty() {
            continue;
        }
        let _ = writeln!(res, "{heading}");
        for lines in items {
            for (at, line) in lines.iter().enumerate() {
                let indentation = if at == 0 { "  " } else { "      " };
                // A name in a file must not look like a line of its own.
                let _ = writeln!(res, "{indentation}{}", line.replace('\n', "\\n"));
            }
        }
        res.push('\n');
    }
    sizes(report.sizes, &mut res);
    res
}

/// An object, its places, and the notes about it.
fn entry(it: &Entry) -> Vec<String> {
    let name = match it.namespace.as_str() {
        "" => it.name.clone(),
        namespace => format!("{namespace}/{}", it.name),
    };
    let origin = match &it.origin {
        Some(origin) => match origin.line {
            Some(line) => format!(" ({}:{line})", origin.file),
            None => format!(" ({})", origin.file),
        },
        None => String::new(),
    };
    let mut res = vec![format!("{} {name}{origin}", it.kind)];
    res.extend(it.places.iter().map(place));
    let mark = if it.places.is_empty() { "" } else { "note: " };
    res.extend(it.notes.iter().map(|it| format!("{mark}{it}")));
    res
}

fn place(it: &Place) -> String {
    match it {
        Place::File(path) => path.to_string(),
        Place::Csv { field: "", .. } => "CSV: the base".to_owned(),
        Place::Csv { field, item, through } => {
            let item = if item.is_empty() { String::new() } else { format!("[{item}]") };
            let through = through.as_ref().map(|it| format!(", with {it}")).unwrap_or_default();
            format!("CSV: {field}{item}{through}")
        }
    }
}

fn field(it: &Field) -> String {
    const LONGEST: usize = 60;
    let value = match it.value.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &it.value[..end]),
        None => it.value.clone(),
    };
    format!("{}: {value} ({})", it.name, it.from)
}

fn descriptors(it: &Descriptors) -> Option<Vec<String>> {
    let list = |from: &str, paths: &[String]| {
        (!paths.is_empty()).then(|| format!("from {from}: {}", paths.join(", ")))
    };
    let (completed, whole): (Vec<String>, _) =
        it.from_base.iter().cloned().partition(|path| it.completed.contains(path));
    let lists = [
        list("the CSV base", &whole),
        list("the CSV base, completed from the schema", &completed),
        list("the schema", &it.from_schema),
    ];
    let mut res = vec![format!("{} {}: {}", it.crd, it.version, it.field)];
    res.extend(lists.into_iter().flatten());
    (1 < res.len()).then_some(res)
}

fn image(it: &ImageUse) -> Vec<String> {
    let mut res = vec![it.image.clone()];
    res.extend(it.used_by.iter().map(|it| format!("used by {it}")));
    res.push(match &it.related {
        Some(name) => format!("CSV: spec.relatedImages[{name}]"),
        None if it.only_in_volumes => {
            "not in `relatedImages`, and `--use-image-digests` does not add it: set a variable `RELATED_IMAGE_*` of a container to it".to_owned()
        }
        None => "not in `relatedImages`; `--use-image-digests` adds it".to_owned(),
    });
    res.extend(it.digest.as_ref().map(|it| format!("its tag is replaced by {it}")));
    res
}

fn sizes(sizes: &Sizes, res: &mut String) {
    let _ = writeln!(
        res,
        "Sizes in bytes (gzip by another compressor than OLM's, which may give an eighth more or less):"
    );
    let _ = writeln!(res, "  {:>9} {:>9} {:>9}", "plain", "gzip", "base64");
    let mut row = |plain: usize, gzip: usize, base64: usize, name: &str| {
        let _ = writeln!(res, "  {plain:>9} {gzip:>9} {base64:>9}  {name}");
    };
    let mut total = [0; 3];
    for it in &sizes.files {
        row(it.plain, it.gzip, it.base64, it.path.as_str());
        total = [total[0] + it.plain, total[1] + it.gzip, total[2] + it.base64];
    }
    row(total[0], total[1], total[2], "all of manifests/");
    let _ = writeln!(res, "\nLimits, the nearest first:");
    for it in &sizes.limits {
        let (whole, tenth) = (it.used() / 10, it.used() % 10);
        let file = if it.file.is_empty() { String::new() } else { format!(" ({})", it.file) };
        let _ = writeln!(
            res,
            "  {:>7}  {} of {}: {}{file}",
            format!("{whole}.{tenth} %"),
            it.size,
            it.most,
            it.what
        );
    }
}
