//! Finds the paths in kustomizations that a rendering would refuse, without a rendering: each is looked up by the
//! function that a rendering calls for it.

use std::collections::BTreeSet;

use super::{
    WAY_OUT,
    budget::Budget,
    generators,
    kustomization::{Kustomization, PatchSource, Text},
    load, named_files,
    resources::{self, Resource},
};
use diagnostics::{Diagnostic, Report};
use model::{ProjectPath, Tree};

/// Returns diagnostics for the kustomizations in these folders and in the folders that they list. A kustomization that
/// only kustomize itself can render is a note, for its paths are not checked.
pub fn path_problems(tree: &impl Tree, folders: Vec<ProjectPath>) -> Vec<Diagnostic> {
    let mut queue = folders;
    let mut visited = BTreeSet::new();
    let mut problems = Vec::new();
    let budget = Budget::default();
    while let Some(folder) = queue.pop() {
        if !visited.insert(folder.clone()) {
            continue;
        }
        let errors = match load::load_kustomization(tree, &folder, &budget) {
            Ok(kustomization) => check_paths(tree, &kustomization, &mut queue),
            Err(error) => vec![error],
        };
        problems.extend(errors.iter().flat_map(collect_diagnostics));
    }
    problems.sort_by(|one, other| (&one.file, one.position).cmp(&(&other.file, other.position)));
    problems
}

/// Returns true if a file of this name is a kustomization.
pub fn is_kustomization_name(name: &str) -> bool {
    load::NAMES.contains(&name)
}

/// Resolves every path that a kustomization names, and returns the errors. The files of `configurations` and of
/// replacements were read with it.
fn check_paths(
    tree: &impl Tree,
    kustomization: &Kustomization,
    folders: &mut Vec<ProjectPath>,
) -> Vec<anyhow::Error> {
    // List a new field here, and decide if it names a path.
    let Kustomization {
        resources: listed,
        components,
        generators,
        patches,
        late_patches,
        path: _,
        text: _,
        folder: _,
        component: _,
        generator_options: _,
        namespace: _,
        name_prefix: _,
        name_suffix: _,
        labels: _,
        common_annotations: _,
        replicas: _,
        images: _,
        replacements: _,
        config: _,
        order: _,
    } = kustomization;
    let mut errors = Vec::new();
    for item in listed.iter().chain(components) {
        match resources::resolve_resource(tree, kustomization, item) {
            Ok(Resource::Folder(folder)) => folders.push(folder),
            Ok(Resource::File(_)) => {}
            Err(error) => errors.push(error),
        }
    }
    let patch_files = patches.iter().chain(late_patches).filter_map(|patch| match &patch.source {
        PatchSource::Path(item) => Some(item),
        PatchSource::Inline(_) => None,
    });
    let texts = patch_files.chain(generators.iter().flat_map(|generator| &generator.envs));
    errors.extend(texts.filter_map(|item| named_files::read_text(tree, kustomization, item).err()));
    let read = |item: &Text| {
        let (_, file) = generators::key_and_file(kustomization, item)?;
        named_files::read_bytes(tree, kustomization, &file)
    };
    let files = generators.iter().flat_map(|generator| &generator.files);
    errors.extend(files.filter_map(|item| read(item).err()));
    errors
}

/// Returns the diagnostics of an error.
fn collect_diagnostics(error: &anyhow::Error) -> Vec<Diagnostic> {
    let Report { found, summary } = error.into();
    let mut problems = found;
    match (summary, problems.last_mut()) {
        (Some(summary), Some(last)) => last.hints.extend(summary.hints),
        (Some(_), None) => problems.push(error.into()),
        (None, _) => {}
    }
    let is_for_kustomize = |problem: &Diagnostic| {
        problem.hints.iter().any(|hint| hint.contains(WAY_OUT) || hint == load::REPLACEMENTS)
    };
    let noted = |problem: Diagnostic| {
        if is_for_kustomize(&problem) { problem.into_note() } else { problem }
    };
    problems.into_iter().map(noted).collect()
}

#[cfg(test)]
mod tests {
    use super::{super::budget_tests::Files, *};

    /// A kustomization that names one path in each way, and the files that are there.
    fn project() -> Files {
        let top = "resources: [object.yaml, base]
components: [component]
patches: [{path: patch.yaml}]
patchesStrategicMerge: [merge.yaml]
patchesJson6902: [{path: json.yaml, target: {kind: ConfigMap, name: a}}]
configMapGenerator: [{name: b, files: [key=file.txt], envs: [all.env]}]
secretGenerator: [{name: c, files: [secret.txt], env: secret.env}]
replacements: [{path: replacement.yaml}]
configurations: [configuration.yaml]
";
        let object = |name: &str| {
            format!("apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata: {{}}\n")
        };
        let files = [
            ("kustomization.yaml", top.to_owned()),
            ("object.yaml", object("a")),
            ("base/kustomization.yaml", "resources: [inner.yaml]\n".to_owned()),
            ("base/inner.yaml", object("d")),
            ("component/kustomization.yaml", "kind: Component\nnamePrefix: p-\n".to_owned()),
            ("patch.yaml", object("a")),
            ("merge.yaml", object("a")),
            ("json.yaml", "- {op: add, path: /data, value: {}}\n".to_owned()),
            ("file.txt", String::new()),
            ("all.env", String::new()),
            ("secret.txt", String::new()),
            ("secret.env", String::new()),
            (
                "replacement.yaml",
                "sourceValue: a\ntargets: [{select: {kind: Secret}, fieldPaths: [kind]}]\n"
                    .to_owned(),
            ),
            ("configuration.yaml", "namePrefix: [{kind: A, path: b}]\n".to_owned()),
        ];
        Files(files.map(|(name, text)| (format!("a/{name}"), text)).into())
    }

    fn problems(tree: &Files) -> Vec<Diagnostic> {
        path_problems(tree, vec![ProjectPath::fixed("a")])
    }

    #[test]
    fn a_file_that_is_gone_is_found_as_a_rendering_finds_it() {
        let render = |tree: &Files| super::super::build(tree, &ProjectPath::fixed("a"), &[]);
        let whole = project();
        render(&whole).unwrap();
        assert_eq!(problems(&whole), []);
        for path in whole.0.keys() {
            let mut tree = project();
            tree.0.remove(path);
            let error = render(&tree).unwrap_err();
            assert_eq!(problems(&tree), collect_diagnostics(&error), "{path}");
            let text = format!("{error:#}");
            assert!(text.contains(path) || path.contains("kustomization.yaml"), "{text}");
        }
    }

    #[test]
    fn all_problems_of_all_files_are_found_in_one_run() {
        let mut tree = project();
        for path in ["a/object.yaml", "a/patch.yaml", "a/file.txt", "a/base/inner.yaml"] {
            tree.0.remove(path);
        }
        let found = problems(&tree).into_iter().map(|problem| problem.to_string());
        let expected = [
            "a/base/kustomization.yaml:1:13: there is no a/base/inner.yaml",
            "a/kustomization.yaml:1:13: there is no a/object.yaml",
            "a/kustomization.yaml:3:18: there is no a/patch.yaml",
            "a/kustomization.yaml:6:40: there is no a/file.txt",
        ];
        assert_eq!(found.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn what_only_kustomize_renders_is_a_note() {
        for field in ["vars: [{name: a}]", "resources: ['https://example.com/a']"] {
            let files = [("a/kustomization.yaml".to_owned(), format!("{field}\n"))];
            let found = problems(&Files(files.into()));
            assert!(matches!(&found[..], [problem] if problem.is_note), "{field}: {found:?}");
        }
    }
}
