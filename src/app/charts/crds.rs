//! The CRDs of a chart, in files and in what was rendered, against those of the source, as API servers hold both.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Chart, ChartSource, Finding, Rendering, Rule, crd_files, listed_crds, rendering::RenderedObject,
};
use crate::{
    app::{crds::crd_comparison::comparable, findings::SourceSpan},
    project::Problem,
};
use go_data::yaml::{self, Node, Value};

/// A CRD of the chart.
pub struct CrdCopy<'a> {
    pub crd: Value,
    pub place: Option<SourceSpan>,
    pub origin: Origin<'a>,
    pub with_values: String,
}

pub enum Origin<'a> {
    /// The nodes are missing in JSON that is no YAML.
    File {
        path: String,
        node: Option<Node>,
    },
    Template(&'a RenderedObject),
}

impl CrdCopy<'_> {
    /// Returns the place of a field; the place of the whole where that of the field is not known.
    fn place_of(&self, chart: &Chart, pointer: &str) -> Option<SourceSpan> {
        let field = match &self.origin {
            Origin::File { path, node } => node.as_ref().map(|node| {
                let mark = node.mark_at(pointer);
                chart.place(path, mark.line, mark.column)
            }),
            Origin::Template(object) => object.place_of(chart, pointer),
        };
        field.or_else(|| self.place.clone())
    }
}

/// Compares all copies. Without the whole source, what it lacks is unknown.
pub fn check(chart: &Chart, renderings: &[Rendering], source: &ChartSource) -> Vec<Finding> {
    let (mut copies, mut res) = crd_files::read(chart);
    // A missing CRD may be in a file that cannot be read.
    let is_readable = res.is_empty();
    not_installed(chart, &copies, renderings, &mut res);
    copies.extend(renderings.iter().flat_map(|rendering| rendered_copies(chart, rendering)));
    let mut seen = BTreeSet::new();
    for copy in &copies {
        let name = crd_name(&copy.crd);
        match source.crds.get(name) {
            Some(declared) => {
                let Some((found, what)) = first_difference(chart, copy, declared) else { continue };
                // A template may include a file, which is enough to say.
                if seen.insert((name.to_owned(), what.clone())) {
                    let what = format!("{what}{}", copy.with_values);
                    res.push(Rule::CrdDiffers.to_finding(name, what, found));
                }
            }
            None if source.unread.is_some() || !seen.insert((name.to_owned(), String::new())) => {}
            None => {
                let what = "no kind of the source declares it".to_owned();
                res.push(Rule::CrdUndeclared.to_finding(name, what, copy.place.clone()));
            }
        }
    }
    if is_readable {
        find_missing(chart, &copies, source, &mut res);
        // Without a rendering, or with values that turn CRDs off, it is unknown which ones the chart has.
        if !renderings.is_empty() && !copies.is_empty() {
            res.extend(listed_crds::check(chart, &copies));
        }
    }
    res
}

/// Returns the versions of the source that its controllers use and that no API server will serve, as `manifests` warns
/// of them.
pub fn unserved(source: &ChartSource) -> Vec<Finding> {
    let problems = source.unserved.iter().filter(|problem| !problem.is_accepted);
    let finding = |problem: &Problem| {
        let at = &problem.place;
        let place = SourceSpan::new(at.path.to_string(), at.line, at.column);
        let finding = Rule::NotServed.to_finding("PROJECT", problem.message.clone(), Some(place));
        Finding { remedy: problem.hint.clone().unwrap_or_default(), ..finding }
    };
    problems.map(finding).collect()
}

/// The CRDs of the source that the chart does not have. A group without CRDs in the chart may belong to another chart
/// or project.
fn find_missing(
    chart: &Chart,
    copies: &[CrdCopy<'_>],
    source: &ChartSource,
    res: &mut Vec<Finding>,
) {
    let group = |object: &Value| object["spec"]["group"].as_str().unwrap_or_default().to_owned();
    let has = |name: &str| copies.iter().any(|copy| self::crd_name(&copy.crd) == name);
    let groups: BTreeSet<String> = copies.iter().map(|copy| group(&copy.crd)).collect();
    let mut elsewhere: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    let place = || Some(chart.place("Chart.yaml", 0, 0));
    for (name, crd) in source.crds.iter().filter(|pair| !has(pair.0)) {
        if groups.contains(&group(crd)) {
            let what = "the source declares it, and the chart does not have it".to_owned();
            res.push(Rule::CrdMissing.to_finding(name, what, place()));
        } else {
            elsewhere.entry(group(crd)).or_default().push(name)
        }
    }
    for (group, names) in elsewhere {
        let what = format!(
            "the chart has no CRD of this group, so these of the source were not compared: {}",
            names.join(", ")
        );
        res.push(Rule::CrdsElsewhere.to_finding(group, what, place()));
    }
}

fn rendered_copies<'a>(chart: &Chart, rendering: &'a Rendering) -> Vec<CrdCopy<'a>> {
    // The CRDs that `--include-crds` adds were read from the files.
    let is_file = |object: &&RenderedObject| {
        object.template.as_ref().is_some_and(|template| template.starts_with("crds/"))
    };
    let crds =
        rendering.own().filter(|object| object.is("CustomResourceDefinition") && !is_file(object));
    let copy = |object: &'a RenderedObject| CrdCopy {
        crd: object.value.clone(),
        place: object.place(chart, None),
        origin: Origin::Template(object),
        with_values: rendering.with_values(),
    };
    crds.map(copy).collect()
}

/// Helm installs what is in `crds/`, and what a template makes.
fn not_installed(
    chart: &Chart,
    copies: &[CrdCopy<'_>],
    renderings: &[Rendering],
    res: &mut Vec<Finding>,
) {
    let mut templates = chart.files.keys().filter(|file| file.starts_with("templates/"));
    let reads_files =
        templates.any(|template| chart.text(template).is_some_and(|text| text.contains(".Files")));
    if reads_files || renderings.is_empty() {
        return;
    }
    for copy in copies {
        let name = crd_name(&copy.crd);
        let is_rendered = renderings
            .iter()
            .flat_map(Rendering::own)
            .any(|rendering| rendering.is("CustomResourceDefinition") && rendering.name() == name);
        let is_in_crds = copies.iter().any(|copy| {
            self::crd_name(&copy.crd) == name
                && matches!(&copy.origin, Origin::File { path, .. } if path.starts_with("crds/"))
        });
        if !is_rendered && !is_in_crds {
            let what =
                "helm installs CRDs from `crds/` and from templates, and this file is neither"
                    .to_owned();
            res.push(Rule::CrdNotInstalled.to_finding(name, what, copy.place.clone()));
        }
    }
}

/// Returns the place and the text of the first difference, of those that a chart does not make on purpose.
fn first_difference(
    chart: &Chart,
    copy: &CrdCopy<'_>,
    declared: &Value,
) -> Option<(Option<SourceSpan>, String)> {
    let (found, source) = (comparable(&copy.crd, declared), comparable(declared, declared));
    if found == source {
        return None;
    }
    let all = yaml::diff_values(&found, &source);
    let (at, in_chart, in_source) = yaml::first_difference(&found, &source);
    let pointer = all
        .first()
        .and_then(|change| change.old.as_ref().or(change.new.as_ref()))
        .map(|change| change.pointer.clone());
    let (at, values) = match all.first() {
        Some(it) => {
            let text = |part: &Option<yaml::Part<'_>>| {
                part.as_ref().map_or("nothing".to_owned(), |value| value.value.to_string())
            };
            (it.path.clone(), (text(&it.old), text(&it.new)))
        }
        None => (at, (in_chart, in_source)),
    };
    let more = match all.len() {
        0 | 1 => String::new(),
        many => format!(", and {}", diagnostics::count(many - 1, "more difference")),
    };
    let short = crate::app::findings::shortened;
    let what = format!(
        "at `{at}`, the chart has {}, and the source declares {}{more}",
        short(&values.0),
        short(&values.1)
    );
    let place = match pointer {
        Some(pointer) => copy.place_of(chart, &pointer),
        None => copy.place.clone(),
    };
    Some((place, what))
}

/// Returns whether a cluster stores a CRD as it is declared, whatever the API server fills in, and whatever issues the
/// certificate of its conversion.
pub fn is_held(live: &Value, declared: &Value) -> bool {
    let client = "/spec/conversion/webhook/clientConfig";
    let is_issued = declared.pointer(client).is_none_or(|value| value["caBundle"].is_null());
    let mut live = live.clone();
    if let Some(Value::Object(fields)) = live.pointer_mut(client)
        && is_issued
    {
        fields.remove("caBundle");
    }
    comparable(&live, declared) == comparable(declared, declared)
}

fn crd_name(crd: &Value) -> &str {
    crd["metadata"]["name"].as_str().unwrap_or_default()
}
