//! The work of a rendering grows as its input does, and is refused where it would not end in seconds.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{
    budget::{Budget, MAX_WORK},
    load,
};
use diagnostics::Diagnostic;
use model::{FileContent, ProjectPath, Tree};

/// Files by their paths.
pub struct Files(pub BTreeMap<String, String>);

impl Tree for Files {
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
        Ok(self
            .0
            .get(path.as_str())
            .map_or(FileContent::Nothing, |text| FileContent::Text(text.clone())))
    }
    fn list_names(&self, _: &str) -> anyhow::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn list_files(&self, _: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        Ok(Vec::new())
    }
}

/// So many Deployments, each of which refers to the ConfigMap of its number.
fn deployments(count: usize) -> String {
    let mut text = String::new();
    for at in 0..count {
        let _ = write!(
            text,
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: d{at}}}\nspec: {{replicas: 1, template: {{spec: {{containers: \
             [{{name: c, image: 'i{at}', envFrom: [{{configMapRef: {{name: c{at}}}}}]}}]}}}}}}\n"
        );
    }
    text
}

/// The field of a kustomization with one entry for each number.
fn entries(field: &str, count: usize, entry: impl Fn(usize) -> String) -> String {
    let entries: String = (0..count).map(|at| format!("- {}\n", entry(at))).collect();
    format!("{field}:\n{entries}")
}

fn generators(count: usize) -> String {
    entries("configMapGenerator", count, |at| format!("{{name: c{at}, literals: [a=b]}}"))
}

/// The work of rendering so many Deployments with these fields, or the error.
pub fn work(objects: usize, fields: &str) -> Result<usize, String> {
    work_within(objects, fields, Budget::default())
}

fn work_within(objects: usize, fields: &str, budget: Budget) -> Result<usize, String> {
    let files = [
        ("a/kustomization.yaml".to_owned(), format!("resources: [all.yaml]\n{fields}")),
        ("a/all.yaml".to_owned(), deployments(objects)),
    ];
    let tree = Files(files.into());
    let top = load::load_kustomization(&tree, &ProjectPath::fixed("a"), &budget)
        .map_err(|error| format!("{error:#}"))?;
    let rendered = super::build_objects(&tree, top, &[], budget.clone());
    rendered.map(|_| budget.used_work()).map_err(|error| format!("{error:#}"))
}

#[test]
fn twice_the_input_is_twice_the_work() {
    type Fields = fn(usize) -> (usize, String);
    let table: &[(&str, Fields)] = &[
        ("resources", |n| {
            (n, "commonLabels: {a: b}\nnamespace: apps\nnamePrefix: p-\n".to_owned())
        }),
        ("generators that are referred to", |n| (n, generators(n))),
        ("generators that merge", |n| {
            let merging = |at| format!("{{name: c{at}, behavior: merge, literals: [c=d]}}");
            let again = (0..n).map(|at| format!("- {}\n", merging(at))).collect::<String>();
            (1, generators(n) + &again)
        }),
        ("labels", |n| (2, entries("labels", n, |at| format!("pairs: {{l{at}: a}}")))),
        ("replicas", |n| (n, entries("replicas", n, |at| format!("{{name: d{at}, count: 2}}")))),
        ("images", |n| (2, entries("images", n, |at| format!("{{name: i{at}, newTag: a}}")))),
        ("patches", |n| {
            let patch = |at| {
                format!(
                    "patch: '{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: d{at}, annotations: {{a: b}}}}}}'"
                )
            };
            (n, entries("patches", n, patch))
        }),
        ("patches with a target", |n| {
            let patch = |at| {
                format!(
                    "{{target: {{name: d{at}}}, patch: '{{metadata: {{name: x, annotations: {{a: b}}}}, kind: Deployment, apiVersion: apps/v1}}'}}"
                )
            };
            (n, entries("patches", n, patch))
        }),
        ("replacements", |n| {
            let entry = |at| {
                format!(
                    "{{source: {{kind: Deployment, name: d{at}}}, targets: [{{select: {{name: d{at}}}, fieldPaths: [metadata.labels.a], options: {{create: true}}}}]}}"
                )
            };
            (n, entries("replacements", n, entry))
        }),
    ];
    let mut faults = Vec::new();
    for (dimension, fields) in table {
        let work = |n| {
            let (objects, fields) = fields(n);
            work(objects, &fields).unwrap_or_else(|error| panic!("{dimension}: {error}"))
        };
        let (once, twice) = (work(100), work(200));
        if twice * 10 > once * 22 {
            faults.push(format!("{dimension}: {once} units for 100, {twice} for 200"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn each_part_of_an_entry_that_is_tried_on_each_object_counts() {
    type Fields = fn(usize) -> String;
    let table: &[(&str, Fields)] = &[
        ("requirements", |n| {
            let absent: Vec<String> = (0..n).map(|at| format!("!l{at}")).collect();
            let selector = absent.join(",");
            format!("patches: [{{target: {{labelSelector: '{selector}'}}, patch: '[]'}}]")
        }),
        ("rejects", |n| {
            let rejects: String = (0..n).map(|at| format!("{{name: r{at}}},")).collect();
            let target = "select: {kind: Deployment}, fieldPaths: [metadata.name]";
            format!(
                "replacements: [{{sourceValue: a, targets: [{{{target}, reject: [{rejects} {{name: d.*}}]}}]}}]"
            )
        }),
        ("fields of labels", |n| {
            let fields: String = (0..n).map(|at| format!("{{path: a/b{at}}},")).collect();
            format!("labels: [{{pairs: {{a: b}}, fields: [{fields}]}}]")
        }),
        ("operations", |n| {
            let test = r#"{"op": "test", "path": "/spec/replicas", "value": 1}"#;
            let operations = vec![test; n].join(",");
            format!("patches: [{{target: {{kind: Deployment}}, patch: '[{operations}]'}}]")
        }),
    ];
    for (part, fields) in table {
        let work = |parts| {
            let work = |objects| {
                work(objects, &fields(parts)).unwrap_or_else(|error| panic!("{part}: {error}"))
            };
            work(40) - work(20)
        };
        let (few, many) = (work(10), work(810));
        assert!(many >= few + 20 * 800 / 8, "{part}: {few} units for 10, {many} for 810");
    }
}

#[test]
fn a_rendering_that_would_take_minutes_is_refused_at_the_entry() {
    let operation = r#"[{"op": "add", "path": "/metadata/labels", "value": {"a": "b"}}]"#;
    let patch = format!("{{target: {{kind: Deployment}}, patch: '{operation}'}}");
    let error =
        work_within(10, &entries("patches", 50, |_| patch.clone()), Budget::new(1 << 20, 10_000))
            .unwrap_err();
    assert_eq!(
        error,
        "cannot render a/kustomization.yaml: a/kustomization.yaml:27:39: the inline patch: this is too much work: its entries have to look at its objects too often"
    );
}

#[test]
fn too_much_work_has_a_way_out() {
    let budget = Budget::new(0, 0);
    let errors = [
        (budget.count_objects(1), "split it into kustomizations with fewer objects, or "),
        (budget.take_pattern(1), "make them smaller, or "),
    ];
    for (error, start) in errors {
        let hint = Diagnostic::from(&error.unwrap_err()).hints.remove(0);
        assert!(hint.starts_with(start) && hint.contains("`kustomize build DIR`"), "{hint}");
    }
}

#[test]
fn ten_thousand_resources_with_ordinary_fields_are_rendered() {
    let fields =
        "commonLabels: {a: b}\nnamespace: apps\nnamePrefix: p-\nimages: [{name: i1, newTag: a}]\n";
    assert!(work(10_000, fields).unwrap() < 10_000_000);
}

#[test]
fn the_regular_expressions_of_all_patches_have_a_size_together() {
    let patch =
        |at| format!("{{target: {{name: '(a|b){{1,999}}{at}'}}, patch: 'kind: ConfigMap'}}");
    let fields = entries("patches", 20, patch);
    let error = work_within(1, &fields, Budget::new(1 << 20, MAX_WORK)).unwrap_err();
    let (first, rest) = error.split_once('\n').unwrap_or_default();
    let message = "all regular expressions together are too large when they are compiled";
    assert!(first.ends_with(message) && rest.contains(message), "{error}");
    assert!(work(1, &entries("patches", 1, patch)).is_err_and(|error| !error.contains(message)));
}

#[test]
fn names_of_images_are_compiled_within_the_budget() {
    let images = |name: &str| format!("images: [{{name: '{name}', newTag: a}}]\n");
    let plain = work(100, &images("i1")).unwrap();
    let large = work(100, &images("(i|j){1,999}")).unwrap();
    assert!(large > 10 * plain, "{plain} {large}");
    let error = work(1, &images("(")).unwrap_err();
    let start = "cannot render a/kustomization.yaml: the name of an image: cannot compile the regular expression `(`: ";
    assert!(error.starts_with(start), "{error}");
}
