//! What cannot be compared with kustomize: our own words, and images that a caller gives.

use std::collections::BTreeMap;

use go_data::yaml::{Value, json};
use kustomize::{Image, build};
use model::{FileContent, ProjectPath, Tree};

/// Files by path.
struct Files(BTreeMap<ProjectPath, String>);

impl Files {
    fn new(files: &[(&str, &str)]) -> Self {
        let file = |(path, text): &(&str, &str)| (ProjectPath::fixed(path), (*text).to_owned());
        Self(files.iter().map(file).collect())
    }
}

impl Tree for Files {
    fn read_content(&self, path: &ProjectPath) -> anyhow::Result<FileContent> {
        Ok(self.0.get(path).map_or(FileContent::Nothing, |it| FileContent::Text(it.clone())))
    }
    fn list_names(&self, _: &str) -> anyhow::Result<Vec<String>> {
        Ok(Vec::new())
    }
    fn list_files(&self, folder: &ProjectPath) -> anyhow::Result<Vec<ProjectPath>> {
        Ok(self.0.keys().filter(|it| it.is_in(folder)).cloned().collect())
    }
}

fn render(files: &[(&str, &str)], images: &[Image]) -> anyhow::Result<Vec<Value>> {
    build(&Files::new(files), &ProjectPath::fixed("config/default"), images)
}

#[track_caller]
fn refused(files: &[(&str, &str)], message: &str, hints: &[&str]) {
    let error = render(files, &[]).expect_err("it is refused");
    let said = format!("{error:#}");
    assert!(said.ends_with(message), "{said}");
    assert_eq!(all_hints(&error), hints, "{said}");
}

/// The hints of an error and of its diagnostics, each once.
fn all_hints(error: &anyhow::Error) -> Vec<&str> {
    let located =
        diagnostics::find_error::<diagnostics::Diagnostics>(error).map_or(&[][..], |it| &it.list);
    let mut res = diagnostics::collect_hints(error);
    for hint in located.iter().flat_map(|it| &it.hints) {
        if !res.contains(&hint.as_str()) {
            res.push(hint);
        }
    }
    res
}

const WAY_OUT: &str = "render it with kustomize itself: `kustomize build DIR`; pipe its output to `operator-rs bundle --input -` or `kubectl apply --server-side -f -`";
const TOP: &str = "config/default/kustomization.yaml";
const CONFIG_MAP: (&str, &str) =
    ("config/default/a.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n");

#[test]
fn all_fields_that_are_not_rendered_are_reported_at_once() {
    refused(
        &[(TOP, "crds: [a]\nnamePrefx: a-\nresources: [a.yaml]\nimages:\n- name: a\n  tag: b\n")],
        "config/default/kustomization.yaml:1:1: `crds` is not supported\n\
         config/default/kustomization.yaml:2:1: `namePrefx` is not a field of a kustomization\n\
         config/default/kustomization.yaml:6:3: `tag` is not a field of an image",
        &[
            "render it with kustomize itself: `kustomize build DIR`; pipe its output to `operator-rs bundle --input -` or `kubectl apply --server-side -f -`",
            "remove it, or correct its spelling",
        ],
    );
}

#[test]
fn unsupported_vars_have_a_hint() {
    refused(
        &[(TOP, "resources: [a.yaml]\nvars: [{name: A}]\n")],
        "config/default/kustomization.yaml:2:1: `vars` is not supported",
        &[
            "use `replacements`: `kustomize edit fix --vars` converts them; or render it with kustomize itself: `kustomize build DIR`",
        ],
    );
}

#[test]
fn missing_files_are_reported_with_the_line_that_names_them() {
    refused(
        &[(TOP, "resources:\n- a.yaml\n")],
        "config/default/kustomization.yaml:2:3: there is no config/default/a.yaml",
        &["restore it, or remove this entry"],
    );
    refused(&[], "config/default has no kustomization.yaml", &[]);
    refused(
        &[(TOP, "resources:\n- https://example.com/a.yaml\n")],
        "config/default/kustomization.yaml:2:3: `https://example.com/a.yaml` is a URL, and operator-rs downloads no resources",
        &[
            "copy it into the project, or render it with kustomize itself: `kustomize build DIR`; pipe its output to `operator-rs bundle --input -` or `kubectl apply --server-side -f -`",
        ],
    );
    refused(
        &[(TOP, "resources: [../../../a]\n")],
        "config/default/kustomization.yaml:1:13: `../../../a` leaves the project",
        &[],
    );
}

#[test]
fn what_kustomize_cannot_print_is_refused_with_its_place() {
    let (path, text) = CONFIG_MAP;
    refused(
        &[(TOP, "resources: [a.yaml]\n"), (path, &format!("{text}data:\n  a: .inf\n"))],
        "config/default/a.yaml:6:6: JSON has no number `.inf`",
        &["write it in quotes, if it is a string"],
    );
}

#[test]
fn an_empty_kustomization_is_refused_with_the_way_out() {
    refused(
        &[(TOP, "resources:\n")],
        "config/default/kustomization.yaml: this kustomization is empty, and kustomize refuses empty ones",
        &["list something under `resources`, or give it `metadata:` with a `name`"],
    );
}

#[test]
fn a_patch_that_matches_nothing_is_refused() {
    refused(
        &[
            (
                TOP,
                "resources: [a.yaml]\npatches:\n- patch: '{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}'\n",
            ),
            CONFIG_MAP,
        ],
        "config/default/kustomization.yaml:3:3: there is no v1 ConfigMap `b` in namespace `default` to patch",
        &[
            "a patch names its object as it is at this point, with its apiVersion and namespace; or give it a `target`",
        ],
    );
}

#[test]
fn two_generators_of_one_name_are_refused_with_the_second() {
    refused(
        &[(TOP, "configMapGenerator:\n- name: a\n- name: a\n")],
        "config/default/kustomization.yaml:3:3: config/default/kustomization.yaml: v1 ConfigMap `a` in namespace `default` already exists, from config/default/kustomization.yaml",
        &["give it another name, or `behavior: merge` or `behavior: replace`"],
    );
}

#[test]
fn two_files_with_one_object_are_refused_with_a_way_out() {
    refused(
        &[
            (TOP, "resources: [a.yaml, b.yaml]\n"),
            CONFIG_MAP,
            ("config/default/b.yaml", "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n"),
        ],
        "config/default/b.yaml: v1 ConfigMap `a` in namespace `default` already exists, from config/default/a.yaml",
        &["rename one of the two objects, or list only one of the files"],
    );
}

#[test]
fn a_kustomization_that_includes_itself_is_refused_with_the_line() {
    refused(
        &[(TOP, "resources:\n- ../default\n")],
        "config/default/kustomization.yaml:2:3: `../default` leads back to config/default",
        &["resources must not form a cycle: remove the line"],
    );
}

#[test]
fn an_image_replaces_what_the_tree_says_of_its_name() {
    let pod = "apiVersion: v1\nkind: Pod\nmetadata:\n  name: a\nspec:\n  containers:\n  - image: controller:latest\n  - image: other:1\n";
    let image = Image::of_manager(&"quay.io/example/a:v1".parse().expect("an image"));
    let images = |top: &str, below: &str| {
        let files = [
            (TOP, top),
            ("config/manager/kustomization.yaml", below),
            ("config/manager/pod.yaml", pod),
        ];
        let objects = render(&files, std::slice::from_ref(&image)).expect("it is rendered");
        objects[0]["spec"]["containers"].clone()
    };
    let expected = json!([{ "image": "quay.io/example/a:v1" }, { "image": "other:1" }]);
    let top = "resources: [../manager]\n";
    // Named there; named with another name to go by; not named at all.
    for entry in
        ["images: [{name: controller, newTag: v0}]", "images: [{name: controller, newName: x}]", ""]
    {
        assert_eq!(images(top, &format!("resources: [pod.yaml]\n{entry}\n")), expected, "{entry}");
    }
}

/// A kustomization in each of two folders a level, which takes in both of the next level.
fn diamond(levels: usize, last: &str) -> Vec<(String, String)> {
    let mut res = vec![(TOP.to_owned(), "resources: [../a0, ../b0]\n".to_owned())];
    for level in 0..levels {
        for side in ["a", "b"] {
            let next = level + 1;
            let text = match next < levels {
                true => format!("namePrefix: {side}-\nresources: [../a{next}, ../b{next}]\n"),
                false => last.replace('$', side),
            };
            res.push((format!("config/{side}{level}/kustomization.yaml"), text));
            res.push((format!("config/{side}{level}/a.yaml"), CONFIG_MAP.1.to_owned()));
        }
    }
    res
}

fn borrowed(files: &[(String, String)]) -> Vec<(&str, &str)> {
    files.iter().map(|(path, text)| (path.as_str(), text.as_str())).collect()
}

#[test]
fn a_folder_may_be_included_several_times_up_to_a_limit() {
    let files = diamond(3, "namePrefix: $-\nresources: [a.yaml]\n");
    let names: Vec<Value> = (render(&borrowed(&files), &[]).expect("it is rendered").iter())
        .map(|it| it["metadata"]["name"].clone())
        .collect();
    let expected =
        ["a-a-a-a", "a-a-b-a", "a-b-a-a", "a-b-b-a", "b-a-a-a", "b-a-b-a", "b-b-a-a", "b-b-b-a"];
    assert_eq!(names, expected);
    let files = diamond(30, "metadata: {name: a}\n");
    let error = render(&borrowed(&files), &[]).expect_err("it is refused");
    let said = format!("{error:#}");
    assert!(said.ends_with("kustomizations include one another too often"), "{said}");
    assert_eq!(all_hints(&error), ["list each directory only once"]);
}

#[test]
fn folders_that_take_in_one_another_too_deep_are_refused() {
    let mut files = vec![(TOP.to_owned(), "resources: [../a0]\n".to_owned())];
    for level in 0..2_000 {
        let text = format!("resources: [../a{}]\n", level + 1);
        files.push((format!("config/a{level}/kustomization.yaml"), text));
    }
    refused(
        &borrowed(&files),
        "config/a99/kustomization.yaml:1:13: `../a100`: directories include each other deeper than 100 levels",
        &["list each directory only once"],
    );
}

#[test]
fn more_objects_than_any_operator_has_are_refused() {
    let text: String =
        (0..10_001).map(|it| format!("---\n{}{it}\n", CONFIG_MAP.1.trim_end())).collect();
    let all = [(TOP, "resources: [a.yaml]\n"), ("config/default/a.yaml", text.as_str())];
    refused(&all, "config/default/a.yaml: more than 10000 objects are not supported", &[WAY_OUT]);
}

/// What is refused where the objects would grow too much.
#[track_caller]
fn too_big(files: &[(&str, &str)], place: &str) {
    let message =
        format!("{place}this adds too much: in total, objects may grow by at most 128 MiB");
    refused(
        files,
        &message,
        &[
            "reduce the output, or render it with kustomize itself: `kustomize build DIR`; pipe its output to `operator-rs bundle --input -` or `kubectl apply --server-side -f -`",
        ],
    );
}

#[test]
fn a_json_patch_that_doubles_an_object_is_refused() {
    let operations: String =
        (0..18).map(|it| format!("    - {{op: copy, from: /data, path: /data/k{it}}}\n")).collect();
    let top = format!(
        "resources: [a.yaml]\npatches:\n- target: {{kind: ConfigMap}}\n  patch: |-\n{operations}"
    );
    let map = format!("{}data: {{a: {}}}\n", CONFIG_MAP.1, "x".repeat(1000));
    too_big(
        &[(TOP, &top), (CONFIG_MAP.0, &map)],
        "config/default/kustomization.yaml:4:10: the inline patch: on v1 ConfigMap `a` in namespace `default`: the JSON patch cannot be applied at `/data/k16`: ",
    );
}

#[test]
fn a_json_patch_that_nests_without_end_is_refused() {
    let operations: String = (0..12)
        .map(|it| {
            format!(
                "    - {{op: copy, from: /data, path: {}}}\n",
                "/data".repeat(1 << it) + "/data"
            )
        })
        .collect();
    let top = format!(
        "resources: [a.yaml]\npatches:\n- target: {{kind: ConfigMap}}\n  patch: |-\n{operations}"
    );
    let map = format!("{}data: {{}}\n", CONFIG_MAP.1);
    let path = "/data".repeat(513);
    refused(
        &[(TOP, &top), (CONFIG_MAP.0, &map)],
        &format!(
            "the JSON patch cannot be applied at `{path}`: values are nested deeper than 1000 levels there"
        ),
        &[WAY_OUT],
    );
}

#[test]
fn replacements_that_double_a_text_are_refused() {
    let replacement = "- source: {kind: ConfigMap, fieldPath: data.a}\n  targets:\n  - select: {kind: ConfigMap}\n    fieldPaths: [data.a]\n    options: {delimiter: '-', index: 99}\n";
    let top = format!("resources: [a.yaml]\nreplacements:\n{}", replacement.repeat(18));
    let map = format!("{}data: {{a: {}}}\n", CONFIG_MAP.1, "x".repeat(1000));
    too_big(
        &[(TOP, &top), (CONFIG_MAP.0, &map)],
        "config/default/kustomization.yaml:78:3: at `data.a` of v1 ConfigMap `a` in namespace `default`: ",
    );
}

#[test]
fn generators_that_repeat_a_large_file_are_refused() {
    let files: String = (0..20).map(|it| format!("  - k{it}=big.txt\n")).collect();
    let top: String = (0..7).map(|it| format!("- name: g{it}\n  files:\n{files}")).collect();
    let text = "x".repeat(1 << 20);
    too_big(
        &[(TOP, &format!("configMapGenerator:\n{top}")), ("config/default/big.txt", &text)],
        "config/default/kustomization.yaml:144:5: ",
    );
    // Options of all generators are in each of them.
    let each: String = (0..140).map(|it| format!("- name: g{it}\n")).collect();
    let top =
        format!("generatorOptions: {{annotations: {{a: {text}}}}}\nconfigMapGenerator:\n{each}");
    too_big(&[(TOP, &top)], "config/default/kustomization.yaml:130:3: ");
}

#[test]
fn large_texts_for_every_object_are_refused() {
    let many: String =
        (0..140).map(|it| format!("---\n{}{it}\n", CONFIG_MAP.1.trim_end())).collect();
    let text = "x".repeat(1 << 20);
    for (field, place) in [
        (
            format!("commonAnnotations: {{a: {text}}}"),
            "`metadata/annotations` of v1 ConfigMap `a127` in namespace `default`: ",
        ),
        (
            format!("labels: [{{pairs: {{a: {text}}}}}]"),
            "`metadata/labels` of v1 ConfigMap `a127` in namespace `default`: ",
        ),
        (format!("namePrefix: {text}"), ""),
        (format!("nameSuffix: {text}"), ""),
        (format!("namespace: {text}"), ""),
        (
            format!(
                "patches: [{{target: {{kind: ConfigMap}}, patch: '{{apiVersion: v1, kind: ConfigMap, metadata: {{name: a}}, data: {{a: {text}}}}}'}}]"
            ),
            "",
        ),
    ] {
        let top = format!("resources: [a.yaml]\n{field}\n");
        too_big(&[(TOP, &top), (CONFIG_MAP.0, &many)], place);
    }
}

#[test]
fn a_time_in_a_patch_that_kustomize_spells_anew_is_refused() {
    let patch =
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: 2024-01-01 00:00:00\n";
    refused(
        &[
            (TOP, "resources: [a.yaml]\npatches: [{path: b.yaml}]\n"),
            CONFIG_MAP,
            ("config/default/b.yaml", patch),
        ],
        "config/default/b.yaml:5:6: kustomize spells this time in its own way in some places",
        &["write it in quotes"],
    );
}

#[test]
fn paths_that_nest_without_end_are_refused() {
    let path = ["a"; 40_000];
    for field in [
        format!(
            "labels: [{{pairs: {{a: b}}, fields: [{{path: {}, create: true}}]}}]",
            path.join("/")
        ),
        format!(
            "replacements: [{{sourceValue: b, targets: [{{select: {{kind: ConfigMap}}, fieldPaths: [{}], options: {{create: true}}}}]}}]",
            path.join(".")
        ),
    ] {
        refused(
            &[(TOP, &format!("resources: [a.yaml]\n{field}\n")), CONFIG_MAP],
            "values are nested deeper than 1000 levels there",
            &[WAY_OUT],
        );
    }
}
