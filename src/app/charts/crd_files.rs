//! The CRDs in the files of a chart that are no templates, read as helm reads those in `crds/`: the objects in lists, and
//! JSON as JSON.

use super::{
    Chart, Finding, Rule,
    crds::{CrdCopy, Origin},
};
use diagnostics::utf8_text;
use go_data::yaml::{self, Data, Node, Value};

/// An object of a file, with its places if they are known.
type Object = (Value, Option<Node>);

/// Returns the CRDs, and what helm cannot read. Outside of `crds/`, only files that mention CRDs are read.
pub fn read(chart: &Chart) -> (Vec<CrdCopy<'static>>, Vec<Finding>) {
    let (mut copies, mut findings) = (Vec::new(), Vec::new());
    for (path, bytes) in &chart.files {
        let name = path.to_ascii_lowercase();
        let is_data = [".yaml", ".yml", ".json"].iter().any(|ending| name.ends_with(ending));
        let is_in_crds = path.starts_with("crds/");
        let text = String::from_utf8_lossy(bytes);
        let is_read = is_in_crds || text.contains("CustomResourceDefinition");
        if !is_data || path.starts_with("templates/") || !is_read {
            continue;
        }
        let mut unreadable = |what: String, line: usize, column: usize| {
            let place = chart.place(path, line, column);
            findings.push(Rule::CrdUnreadable.to_finding(path, what, Some(place)));
        };
        let objects = match parse_objects(bytes) {
            Ok(objects) => objects,
            // It may be the text of a template that `tpl` renders.
            Err(_) if !is_in_crds && text.contains("{{") => continue,
            Err(error) => {
                let fault = diagnostics::find_error::<yaml::YamlError>(&error);
                let mark = fault.map_or((0, 0), |node| (node.mark.line, node.mark.column));
                let what = fault
                    .map_or_else(|| error.to_string(), |diagnostic| diagnostic.message.clone());
                unreadable(what, mark.0, mark.1);
                continue;
            }
        };
        for (crd, node) in objects {
            let (line, column) =
                node.as_ref().map_or((0, 0), |node| (node.mark.line, node.mark.column));
            if crd["kind"] == "CustomResourceDefinition" {
                let place = Some(chart.place(path, line, column));
                let origin = Origin::File { path: path.clone(), node };
                copies.push(CrdCopy { crd, place, origin, with_values: String::new() });
            } else if is_in_crds && !crd["kind"].is_string() {
                let what = "a document has no `kind`, so helm installs none of the CRDs";
                unreadable(what.to_owned(), line, column);
            }
        }
    }
    (copies, findings)
}

fn parse_objects(bytes: &[u8]) -> anyhow::Result<Vec<Object>> {
    let text = utf8_text(bytes).map_err(anyhow::Error::msg)?;
    let found = match yaml::parse_nodes(text, yaml::Dialect::Kubernetes) {
        Ok(nodes) => nodes.into_iter().map(|it| (it.clone().into_value(), Some(it))).collect(),
        // JSON has escapes that YAML does not have.
        Err(error) if text.trim_start().starts_with('{') => match yaml::from_json(text) {
            Ok(value) => vec![(value, None)],
            Err(_) => return Err(error),
        },
        Err(error) => return Err(error),
    };
    Ok(found.into_iter().flat_map(list_items).collect())
}

/// Returns the objects in a list, or the object itself.
fn list_items((value, node): Object) -> Vec<Object> {
    let Some(items) = value["items"].as_array() else { return vec![(value, node)] };
    let nodes = match node.as_ref().and_then(|node| node.get("items")).map(|node| &node.data) {
        Some(Data::List(nodes)) => nodes.as_slice(),
        _ => &[],
    };
    let object = |(at, node): (usize, &Value)| (node.clone(), nodes.get(at).cloned());
    items.iter().enumerate().map(object).flat_map(list_items).collect()
}
