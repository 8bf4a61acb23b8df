//! The CRDs of a chart, in files and in what was rendered, against those of the source, as API servers hold both.

use std::collections::{BTreeMap, BTreeSet};

use super::{Chart, Finding, Rendering, Rule, Source, crd_files, listed_crds, rendering::Object};
use crate::{
    app::{crd_comparison::comparable, findings::Place},
    project::Problem,
};
use go_data::yaml::{self, Node, Value};

/// A CRD of the chart.
pub struct Copy<'a> {
    pub crd: Value,
    pub place: Option<Place>,
    pub origin: Origin<'a>,
    pub with_values: String,
}

pub enum Origin<'a> {
    /// The nodes are missing in JSON that is no YAML.
    File {
        path: String,
        node: Option<Node>,
    },
    Template(&'a Object),
}

impl Copy<'_> {
    /// The place of a field; the place of the whole where that of the field is not known.
    fn place_of(&self, chart: &Chart, pointer: &str) -> Option<Place> {
        let field = match &self.origin {
            Origin::File { path, node } => node.as_ref().map(|it| {
                let mark = it.mark_at(pointer);
                chart.place(path, mark.line, mark.column)
            }),
            Origin::Template(object) => object.place_of(chart, pointer),
        };
        field.or_else(|| self.place.clone())
    }
}

/// Compares all copies. Without the whole source, what it lacks is unknown.
pub fn check(chart: &Chart, renderings: &[Rendering], source: &Source) -> Vec<Finding> {
    let (mut copies, mut res) = crd_files::read(chart);
    // What is missing may be in a file that cannot be read.
    let is_readable = res.is_empty();
    not_installed(chart, &copies, renderings, &mut res);
    copies.extend(renderings.iter().flat_map(|it| rendered(chart, it)));
    let mut seen = BTreeSet::new();
    for copy in &copies {
        let name = name(&copy.crd);
        match source.crds.get(name) {
            Some(declared) => {
                let Some((found, what)) = difference(chart, copy, declared) else { continue };
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
    if is_readable {
        missing(chart, &copies, source, &mut res);
        // Without a rendering, or with values that turn CRDs off, it is unknown which ones the chart has.
        if !renderings.is_empty() && !copies.is_empty() {
            res.extend(listed_crds::check(chart, &copies));
        }
    }
    res
}

/// The versions of the source that its controllers use and that no API server will serve, as `manifests` warns of them.
pub fn unserved(source: &Source) -> Vec<Finding> {
    let problems = source.unserved.iter().filter(|problem| !problem.is_accepted);
    let finding = |problem: &Problem| {
        let at = &problem.place;
        let place = Place::new(at.path.to_string(), at.line, at.column);
        let finding = Rule::NotServed.finding("PROJECT", problem.message.clone(), Some(place));
        Finding { remedy: problem.hint.clone().unwrap_or_default(), ..finding }
    };
    problems.map(finding).collect()
}

/// The CRDs of the source that the chart does not have. A group of which it has none may be of a chart of its own, or of
/// another project.
fn missing(chart: &Chart, copies: &[Copy<'_>], source: &Source, res: &mut Vec<Finding>) {
    let group = |it: &Value| it["spec"]["group"].as_str().unwrap_or_default().to_owned();
    let has = |name: &str| copies.iter().any(|it| self::name(&it.crd) == name);
    let groups: BTreeSet<String> = copies.iter().map(|it| group(&it.crd)).collect();
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

fn rendered<'a>(chart: &Chart, rendering: &'a Rendering) -> Vec<Copy<'a>> {
    // What `--include-crds` adds was read from the files.
    let is_file = |it: &&Object| it.template.as_ref().is_some_and(|it| it.starts_with("crds/"));
    let crds = rendering.own().filter(|it| it.is("CustomResourceDefinition") && !is_file(it));
    let copy = |it: &'a Object| Copy {
        crd: it.value.clone(),
        place: it.place(chart, None),
        origin: Origin::Template(it),
        with_values: rendering.with_values(),
    };
    crds.map(copy).collect()
}

/// Helm installs what is in `crds/`, and what a template makes.
fn not_installed(
    chart: &Chart,
    copies: &[Copy<'_>],
    renderings: &[Rendering],
    res: &mut Vec<Finding>,
) {
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
            self::name(&it.crd) == name
                && matches!(&it.origin, Origin::File { path, .. } if path.starts_with("crds/"))
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
fn difference(chart: &Chart, copy: &Copy<'_>, declared: &Value) -> Option<(Option<Place>, String)> {
    let (found, source) = (comparable(&copy.crd, declared), comparable(declared, declared));
    if found == source {
        return None;
    }
    let all = yaml::differences(&found, &source);
    let (at, in_chart, in_source) = yaml::difference(&found, &source);
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

/// Whether a cluster holds a CRD as it is declared, whatever the API server fills in, and whoever issues the certificate of
/// its conversion.
pub fn is_held(live: &Value, declared: &Value) -> bool {
    let client = "/spec/conversion/webhook/clientConfig";
    let is_issued = declared.pointer(client).is_none_or(|it| it["caBundle"].is_null());
    let mut live = live.clone();
    if let Some(Value::Object(fields)) = live.pointer_mut(client)
        && is_issued
    {
        fields.remove("caBundle");
    }
    comparable(&live, declared) == comparable(declared, declared)
}

fn name(crd: &Value) -> &str {
    crd["metadata"]["name"].as_str().unwrap_or_default()
}
