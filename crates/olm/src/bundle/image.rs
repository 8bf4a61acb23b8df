//! The content of a bundle's image: the directories that `bundle.Dockerfile` copies, and the annotations as labels. A
//! Dockerfile that is not the generated one is refused: it needs docker or podman.

use std::collections::BTreeMap;

use super::{
    annotations::{self, Annotations, TEST_CONFIG, TEST_MEDIA_TYPE},
    dockerfile,
};
use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{self, Dialect};
use model::ProjectPath;

/// The content of an image.
#[derive(Debug)]
pub struct Contents {
    pub labels: BTreeMap<String, String>,
    /// The directories of the bundle.
    pub parts: &'static [&'static str],
}

/// A file of the project, with its text.
pub struct ProjectFile<'a> {
    pub path: &'a ProjectPath,
    pub text: &'a str,
}

/// Returns the content of the image of the bundle in `folder`. `dockerfile` is the text of its Dockerfile without the
/// signature, if there is one.
pub fn image_contents(
    annotations: &ProjectFile<'_>,
    dockerfile: Option<&str>,
    folder: &ProjectPath,
) -> anyhow::Result<Contents> {
    let annotations = parse_annotations(annotations)?;
    let mut parts: &[&str] = &dockerfile::FOLDERS;
    if let Some(text) = dockerfile {
        let text = text.replace("\r\n", "\n");
        if text
            != dockerfile::render_dockerfile(&annotations, folder, &dockerfile::parse_flags(&text))
        {
            let message = format!(
                "this is not the Dockerfile that `operator-rs bundle` generates for `{folder}`"
            );
            return Err(Diagnostic::in_file("bundle.Dockerfile", message)
                .with_hint(WAY_OUT)
                .into_error());
        }
        parts = dockerfile::copied_folders(&annotations);
    }
    Ok(Contents { labels: annotations.core.into_iter().chain(annotations.tests).collect(), parts })
}

const WAY_OUT: &str = "generate it again with `operator-rs bundle --force`, or build your own one with docker or podman: \
                       `make bundle-build CONTAINER_TOOL=docker`";

/// Parses the annotations, in the order of the file.
fn parse_annotations(source: &ProjectFile<'_>) -> anyhow::Result<Annotations> {
    let path = source.path.as_str();
    let nodes = yaml::parse_nodes(source.text, Dialect::Kubernetes)
        .map_err(yaml::locate_error(path, source.text))?;
    let wrong = |mark: yaml::Mark, message: String| {
        Diagnostic::in_file(path, message)
            .at_position(mark.line, mark.column)
            .quote(&mut Lines::new(source.text))
            .into_error()
    };
    let mapping = nodes.first().and_then(|node| node.get("annotations"));
    let Some(yaml::Node { data: yaml::Data::Map(entries), .. }) = mapping else {
        return Err(Diagnostic::in_file(path, "it has no mapping `annotations`").into_error());
    };
    let mut annotations = Vec::new();
    for entry in entries {
        let Some(value) = entry.value.as_str() else {
            let message = format!("the value of `{}` is not a string", entry.key);
            return Err(wrong(entry.value.mark, message));
        };
        annotations.push((entry.key.clone(), value.to_owned()));
    }
    if !annotations.iter().any(|entry| entry.0 == annotations::PACKAGE) {
        let message = format!("it has no annotation `{}`", annotations::PACKAGE);
        return Err(Diagnostic::in_file(path, message).into_error());
    }
    let is_of_tests =
        |annotation: &(String, String)| [TEST_MEDIA_TYPE, TEST_CONFIG].contains(&&*annotation.0);
    let (tests, core) = annotations.into_iter().partition(is_of_tests);
    Ok(Annotations { core, tests })
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNOTATIONS: &str =
        "annotations:\n  operators.operatorframework.io.bundle.package.v1: p\n  a: '1'\n";

    fn check(annotations: &str, dockerfile: Option<&str>, expected: &str) {
        let path = &ProjectPath::fixed("bundle/metadata/annotations.yaml");
        let annotations = ProjectFile { path, text: annotations };
        let found = match image_contents(&annotations, dockerfile, &ProjectPath::fixed("bundle")) {
            Ok(found) => {
                let labels = found.labels.iter().map(|(key, it)| format!("{key}={it}"));
                let labels =
                    labels.filter(|it| !it.starts_with("operators.operatorframework.io.bundle"));
                labels
                    .chain(found.parts.iter().map(|&it| it.to_owned()))
                    .collect::<Vec<_>>()
                    .join(" ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn only_the_generated_dockerfile_is_built() {
        let generated = "FROM scratch\n\n# Core bundle labels.\nLABEL operators.operatorframework.io.bundle.package.v1=p\nLABEL a=1\n\n\
                         # Copy files to locations specified by labels.\nCOPY bundle/manifests /manifests/\nCOPY bundle/metadata /metadata/\n";
        check(ANNOTATIONS, None, "a=1 manifests metadata tests/scorecard");
        check(ANNOTATIONS, Some(generated), "a=1 manifests metadata");
        check(ANNOTATIONS, Some(&generated.replace('\n', "\r\n")), "a=1 manifests metadata");
        let recorded = format!("# Generated with --image=a:b --use-image-digests\n{generated}");
        check(ANNOTATIONS, Some(&recorded), "a=1 manifests metadata");
        let tested = format!("{ANNOTATIONS}  {TEST_CONFIG}: t/\n");
        let label = format!("\n# Labels for testing.\nLABEL {TEST_CONFIG}=t/\n\n# Copy");
        let with_tests = generated.replace("\n# Copy", &label)
            + "COPY bundle/tests/scorecard /tests/scorecard/\n";
        let expected = format!("a=1 {TEST_CONFIG}=t/ manifests metadata tests/scorecard");
        check(&tested, Some(&with_tests), &expected);
        for other in [
            "",
            "FROM scratch\n",
            &format!("{generated}RUN x\n"),
            &generated.replace("a=1", "a=2"),
            &generated.replace("bundle/m", "other/m"),
            &with_tests,
        ] {
            let refusal = "bundle.Dockerfile: this is not the Dockerfile that `operator-rs bundle` generates for `bundle`";
            check(ANNOTATIONS, Some(other), refusal);
        }
    }

    #[test]
    fn annotations_are_strings() {
        let file = "bundle/metadata/annotations.yaml";
        check("a: b", None, &format!("{file}: it has no mapping `annotations`"));
        check(
            "annotations:\n  a: 1\n",
            None,
            &format!("{file}:2:6: the value of `a` is not a string"),
        );
        check(
            "annotations: {}\n",
            None,
            &format!(
                "{file}: it has no annotation `operators.operatorframework.io.bundle.package.v1`"
            ),
        );
    }
}
