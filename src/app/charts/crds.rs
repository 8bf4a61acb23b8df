//! The CRDs of a chart, in files and in what was rendered, against those of the source, as API servers hold both.

use std::collections::{BTreeMap, BTreeSet};

use super::{Chart, Finding, Rendering, Rule, Source};
use crate::app::findings::Place;
use go_data::{
    kubernetes::held_crd,
    yaml::{self, Node, Value, json},
};

/// A CRD of the chart.
struct Copy {
    crd: Value,
    place: Option<Place>,
    /// Its file, for the places of its fields.
    file: Option<(String, Node)>,
    with_values: String,
}

/// Compares all copies. Without the whole source, what it lacks is unknown.
pub fn check(chart: &Chart, renderings: &[Rendering], source: &Source) -> Vec<Finding> {
    let (mut copies, mut res) = in_files(chart);
    not_installed(chart, &copies, renderings, &mut res);
    copies.extend(renderings.iter().flat_map(|it| rendered(chart, it)));
    let mut seen = BTreeSet::new();
    for copy in &copies {
        let name = name(&copy.crd);
        match source.crds.get(name) {
            Some(declared) => {
                let Some((found, what)) = difference(copy, declared) else { continue };
                // A template may include a file, which is enough to say.
                if seen.insert((name.to_owned(), what.clone())) {
                    let what = format!("{what}{}", copy.with_values);
                    res.push(Rule::CrdDiffers.finding(name, what, found));
                }
            }
            None if source.unread.is_some() || !seen.insert((name.to_owned(), String::new())) => {}
            None => {
                let what = "no kind of the source declares it".to_owned();
                res.push(Rule::CrdUndeclared.finding(name, what, copy.place.clone()));
            }
        }
    }
    missing(chart, &copies, source, &mut res);
    res
}

/// The CRDs of the source that the chart does not have. A group of which it has none may be of a chart of its own, or of
/// another project.
fn missing(chart: &Chart, copies: &[Copy], source: &Source, res: &mut Vec<Finding>) {
    let group = |it: &Value| it["spec"]["group"].as_str().unwrap_or_default().to_owned();
    let has = |name: &str| copies.iter().any(|it| self::name(&it.crd) == name);
    let groups: BTreeSet<String> = copies
        .iter()
        .filter(|it| source.crds.contains_key(name(&it.crd)))
        .map(|it| group(&it.crd))
        .collect();
    let mut elsewhere: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let place = || Some(chart.place("Chart.yaml", 0, 0));
    for (name, crd) in source.crds.iter().filter(|it| !has(it.0)) {
        match groups.contains(&group(crd)) {
            true => {
                let what = "the source declares it, and the chart does not have it".to_owned();
                res.push(Rule::CrdMissing.finding(name, what, place()));
            }
            false => elsewhere.entry(group(crd)).or_default().push(name),
        }
    }
    for (group, names) in elsewhere {
        let what = format!(
            "the chart has no CRD of this group, so these of the source were not compared: {}",
            names.join(", ")
        );
        res.push(Rule::CrdsElsewhere.finding(group, what, place()));
    }
}

/// The CRDs in the files of the chart that are no templates.
fn in_files(chart: &Chart) -> (Vec<Copy>, Vec<Finding>) {
    let (mut copies, mut findings) = (Vec::new(), Vec::new());
    for path in chart.files.keys() {
        let is_data = [".yaml", ".yml", ".json"].iter().any(|it| path.ends_with(it));
        let Some(text) = chart.text(path).filter(|_| is_data && !path.starts_with("templates/"))
        else {
            continue;
        };
        if !text.contains("CustomResourceDefinition") {
            continue;
        }
        let nodes = match yaml::nodes(text, yaml::Dialect::Kubernetes) {
            Ok(nodes) => nodes,
            // It may be the text of a template that `tpl` renders.
            Err(_) if !path.starts_with("crds/") && text.contains("{{") => continue,
            Err(error) => {
                let fault = diagnostics::find::<yaml::Fault>(&error);
                let mark = fault.map_or((0, 0), |it| (it.mark.line, it.mark.column));
                let what = fault.map_or_else(|| error.to_string(), |it| it.message.clone());
                let place = chart.place(path, mark.0, mark.1);
                findings.push(Rule::CrdUnreadable.finding(path, what, Some(place)));
                continue;
            }
        };
        for node in nodes {
            let crd = node.clone().into_value();
            if crd["kind"] == "CustomResourceDefinition" {
                let place = Some(chart.place(path, node.mark.line, node.mark.column));
                let file = Some((path.clone(), node));
                copies.push(Copy { crd, place, file, with_values: String::new() });
            }
        }
    }
    (copies, findings)
}

fn rendered(chart: &Chart, rendering: &Rendering) -> Vec<Copy> {
    // What `--include-crds` adds was read from the files.
    let is_file = |it: &&super::rendering::Object| {
        it.template.as_ref().is_some_and(|it| it.starts_with("crds/"))
    };
    let crds = rendering.own().filter(|it| it.is("CustomResourceDefinition") && !is_file(it));
    let copy = |it: &super::rendering::Object| Copy {
        crd: it.value.clone(),
        place: it.place(chart, None),
        file: None,
        with_values: rendering.with_values(),
    };
    crds.map(copy).collect()
}

/// Helm installs what is in `crds/`, and what a template makes.
fn not_installed(chart: &Chart, copies: &[Copy], renderings: &[Rendering], res: &mut Vec<Finding>) {
    let mut templates = chart.files.keys().filter(|it| it.starts_with("templates/"));
    let reads_files = templates.any(|it| chart.text(it).is_some_and(|it| it.contains(".Files")));
    if reads_files || renderings.is_empty() {
        return;
    }
    for copy in copies {
        let name = name(&copy.crd);
        let is_rendered = renderings
            .iter()
            .flat_map(Rendering::own)
            .any(|it| it.is("CustomResourceDefinition") && it.name() == name);
        let is_in_crds = copies.iter().any(|it| {
            let path = it.file.as_ref().map(|it| it.0.as_str());
            self::name(&it.crd) == name && path.is_some_and(|it| it.starts_with("crds/"))
        });
        if !is_rendered && !is_in_crds {
            let what =
                "helm installs CRDs from `crds/` and from templates, and this file is neither"
                    .to_owned();
            res.push(Rule::CrdNotInstalled.finding(name, what, copy.place.clone()));
        }
    }
}

/// The place and the text of the first difference, of those that a chart does not make on purpose.
fn difference(copy: &Copy, declared: &Value) -> Option<(Option<Place>, String)> {
    let (chart, source) = (comparable(&copy.crd, declared), comparable(declared, declared));
    if chart == source {
        return None;
    }
    let all = yaml::differences(&chart, &source);
    let (at, in_chart, in_source) = yaml::difference(&chart, &source);
    let pointer =
        all.first().and_then(|it| it.old.as_ref().or(it.new.as_ref())).map(|it| it.pointer.clone());
    let (at, values) = match all.first() {
        Some(it) => {
            let text = |part: &Option<yaml::Part<'_>>| {
                part.as_ref().map_or("nothing".to_owned(), |it| it.value.to_string())
            };
            (it.path.clone(), (text(&it.old), text(&it.new)))
        }
        None => (at, (in_chart, in_source)),
    };
    let more = match all.len() {
        0 | 1 => String::new(),
        many => format!(", and {} more differences", many - 1),
    };
    let short = crate::app::findings::shortened;
    let what = format!(
        "at `{at}`, the chart has {}, and the source declares {}{more}",
        short(&values.0),
        short(&values.1)
    );
    let place = match (&copy.place, &copy.file, pointer) {
        (Some(place), Some((_, node)), Some(pointer)) => {
            let mark = node.mark_at(&pointer);
            Some(Place::new(place.path.clone(), mark.line, mark.column))
        }
        (place, ..) => place.clone(),
    };
    Some((place, what))
}

/// What of a CRD has to be equal: labels and annotations that only the chart has, and its webhook of conversions, are its own.
pub fn comparable(crd: &Value, declared: &Value) -> Value {
    let mut spec = held_crd(crd.clone())["spec"].take();
    if declared["spec"]["conversion"].is_null()
        && let Some(spec) = spec.as_object_mut()
    {
        spec.remove("conversion");
    }
    whole_numbers(&mut spec);
    let kept = |field: &str| {
        let names = declared["metadata"][field].as_object().into_iter().flatten();
        let pairs =
            names.filter_map(|it| Some((it.0.clone(), crd["metadata"][field].get(it.0)?.clone())));
        Value::Object(pairs.collect())
    };
    let metadata = json!({"labels": kept("labels"), "annotations": kept("annotations")});
    json!({"spec": spec, "metadata": metadata})
}

/// `1.0` and `1` are one number.
fn whole_numbers(value: &mut Value) {
    match value {
        Value::Object(map) => map.values_mut().for_each(whole_numbers),
        Value::Array(list) => list.iter_mut().for_each(whole_numbers),
        Value::Number(number) if number.as_i64().is_none() => {
            if let Some(float) = number.as_f64().filter(|it| it.fract() == 0.0 && it.abs() < 1e15) {
                *value = Value::from(float as i64);
            }
        }
        _ => {}
    }
}

fn name(crd: &Value) -> &str {
    crd["metadata"]["name"].as_str().unwrap_or_default()
}
