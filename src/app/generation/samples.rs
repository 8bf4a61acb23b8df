//! The samples of a project against its CRDs.

use std::collections::BTreeMap;

use crate::app::output::refusal::refusal;
use crate::plan::Plan;
use crd::samples::{Sample, SampleReport, UNCHECKED, check};
use diagnostics::{Diagnostic, Hint as _};
use go_data::yaml::{self, Node, Value};
use kustomize::Rendered;
use model::{ProjectPath, Tree};
use olm::bundle::InputObject;

const FOLDER: &str = "config/samples";
const HINT: &str =
    "API servers will refuse this sample: change it, or the type that its CRD is generated from";

/// Warns of samples that the CRDs refuse.
pub fn warn(plan: &mut Plan, tree: &impl Tree, crds: &[&Value]) -> anyhow::Result<()> {
    let folder = ProjectPath::fixed(FOLDER);
    if crds.is_empty()
        || tree.read_content(&folder.join("kustomization.yaml")?)? == model::FileContent::Nothing
    {
        return Ok(());
    }
    let rendered = match kustomize::build_with_origins(tree, &folder, &[]) {
        Ok(rendered) => rendered,
        Err(error) => {
            let it = Diagnostic::from(&error);
            let message =
                format!("cannot render {FOLDER}, so samples are not checked: {}", it.message);
            plan.warn(Diagnostic { message, ..it }.with_code(UNCHECKED));
            return Ok(());
        }
    };
    let SampleReport { faults, unchecked } = of_rendered(tree, crds, &rendered)?;
    for mut problem in faults {
        if problem.hints.is_empty() {
            problem.hints.push(HINT.to_owned());
        }
        plan.warn(problem);
    }
    unchecked.into_iter().for_each(|warning| plan.warn(warning));
    Ok(())
}

/// Refuses samples that the CRDs refuse; returns what was not checked.
pub fn require(report: SampleReport) -> anyhow::Result<Vec<Diagnostic>> {
    if !report.faults.is_empty() {
        let error = refusal(
            "API servers would refuse the samples, and no bundle was written",
            report.faults,
        );
        return Err(error)
            .hint("change the samples, or the types that their CRDs are generated from");
    }
    Ok(report.unchecked)
}

/// Returns each object at its place in the file that it came from.
pub fn of_rendered(
    tree: &impl Tree,
    crds: &[&Value],
    rendered: &[Rendered],
) -> anyhow::Result<SampleReport> {
    let mut files: BTreeMap<&ProjectPath, (String, Vec<Node>)> = BTreeMap::new();
    for Rendered { value, origin, .. } in rendered {
        if has_group(crds, value) && !files.contains_key(origin) {
            let text = tree.read_text(origin)?.unwrap_or_default();
            let nodes = yaml::parse_nodes(&text, yaml::Dialect::Kustomize).unwrap_or_default();
            files.insert(origin, (text, nodes));
        }
    }
    let mut samples = Vec::new();
    for it in rendered {
        let word = |node: &Node, key: &str| node.get(key).and_then(Node::as_str).map(str::to_owned);
        let is_same = |node: &&Node| {
            let name = node.get("metadata").and_then(|node| word(node, "name"));
            name.as_deref() == Some(&it.original_name)
                && word(node, "kind").as_deref() == it.value["kind"].as_str()
        };
        let file = files.get(&it.origin);
        samples.push(Sample {
            value: &it.value,
            path: it.origin.as_str(),
            text: file.map_or("", |pair| pair.0.as_str()),
            document: file.and_then(|pair| pair.1.iter().find(is_same)),
        });
    }
    Ok(check(crds, &samples))
}

/// Returns each object of a text's documents at its place.
pub fn of_documents(
    name: &str,
    text: &str,
    objects: &[InputObject],
    nodes: &[Node],
) -> anyhow::Result<SampleReport> {
    // A path from the root is named by its last part.
    let last = name.rsplit('/').next().unwrap_or(name);
    let path = if name.parse::<ProjectPath>().is_ok() { name } else { last };
    let crds = crds(objects.iter().map(|object| &object.value));
    let mut samples = Vec::new();
    for (InputObject { value, .. }, node) in objects.iter().zip(nodes) {
        samples.push(Sample { value, path, text, document: Some(node) });
    }
    Ok(check(&crds, &samples))
}

pub fn crds<'a>(objects: impl Iterator<Item = &'a Value>) -> Vec<&'a Value> {
    objects.filter(|object| object["kind"] == "CustomResourceDefinition").collect()
}

/// Returns whether one of the CRDs has an object's group.
fn has_group(crds: &[&Value], object: &Value) -> bool {
    let group =
        object["apiVersion"].as_str().and_then(|text| text.split_once('/')).map(|pair| pair.0);
    crds.iter().any(|crd| crd["spec"]["group"].as_str() == group)
}
