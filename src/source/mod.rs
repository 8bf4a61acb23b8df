//! Rust text in, [`Operator`] out. Pure: it is given text and opens nothing.

use std::collections::BTreeMap;

use crate::model::{CustomResource, Operator, Place, Problem, ProjectPath, Storage};

/// Reads all it can, and tells of everything it could not.
pub fn read(files: &BTreeMap<ProjectPath, String>) -> (Operator, Vec<Problem>) {
    let mut operator = Operator::default();
    let mut problems = Vec::new();
    for (path, text) in files.iter().filter(|it| it.0.extension() == "rs") {
        match syn::parse_file(text).and_then(|file| resources(path, &file)) {
            Ok(resources) => operator.resources.extend(resources),
            Err(error) => problems.push(Problem {
                place: place(path, error.span()),
                message: error.to_string(),
                hint: None,
            }),
        }
    }
    (operator, problems)
}

fn place(path: &ProjectPath, span: proc_macro2::Span) -> Place {
    let start = span.start();
    Place { path: path.clone(), line: start.line, column: start.column + 1 }
}

fn resources(path: &ProjectPath, file: &syn::File) -> syn::Result<Vec<CustomResource>> {
    let mut res = Vec::new();
    for item in &file.items {
        let syn::Item::Struct(item) = item else { continue };
        let Some(kube) = item.attrs.iter().find(|it| it.path().is_ident("kube")) else { continue };
        let text: String = quote_of(kube);
        let field = |name: &str| {
            let rest = &text[text.find(&format!("{name} = \""))? + name.len() + 4..];
            Some(rest[..rest.find('"')?].to_owned())
        };
        let said = (field("group"), field("version"), field("kind"));
        let (Some(group), Some(version), Some(kind)) = said else { continue };
        let (Ok(version), Ok(kind)) = (version.parse(), kind.parse::<crate::model::Kind>()) else {
            continue;
        };
        res.push(CustomResource {
            group,
            version,
            plural: kind.plural().to_string(),
            singular: kind.lower(),
            kind,
            shortnames: Vec::new(),
            categories: Vec::new(),
            namespaced: text.contains("namespaced"),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            served: true,
            storage: Storage::Unsaid,
            deprecated: None,
            columns: Vec::new(),
            selectable: Vec::new(),
            status: false,
            scale: None,
            schema: None,
            place: place(path, item.ident.span()),
        });
    }
    Ok(res)
}

fn quote_of(attribute: &syn::Attribute) -> String {
    match &attribute.meta {
        syn::Meta::List(list) => list.tokens.to_string(),
        _ => String::new(),
    }
}
