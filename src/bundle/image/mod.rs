//! What the image of a bundle holds: the directories that `bundle.Dockerfile` copies, and its labels with those of
//! `metadata/annotations.yaml`. A Dockerfile that does anything else is refused: it needs docker or podman.

mod instructions;

use std::collections::BTreeMap;

use super::annotations;
use diagnostics::{Diagnostic, Lines};
use go_data::yaml::{self, Dialect};
use instructions::{Step, What, steps};
use model::ProjectPath;

/// What an image is made of.
#[derive(Debug, PartialEq)]
pub struct Contents {
    pub labels: BTreeMap<String, String>,
    pub copies: Vec<Copy>,
}

/// A directory of the project whose files go to a directory of the image.
#[derive(Debug, PartialEq)]
pub struct Copy {
    pub from: ProjectPath,
    pub to: ProjectPath,
    /// The line of the Dockerfile, if there is one.
    pub line: usize,
}

/// The directories of an image that are the bundle.
const FOLDERS: [&str; 3] = ["manifests", "metadata", "tests"];

/// A file of the project.
pub struct Source<'a> {
    pub path: &'a ProjectPath,
    pub text: &'a str,
}

/// The content of the image of the bundle in `folder`; without a Dockerfile, what a generated one copies.
pub fn contents(
    annotations: &Source<'_>,
    dockerfile: Option<&Source<'_>>,
    folder: &ProjectPath,
) -> anyhow::Result<Contents> {
    let mut labels = labels(annotations)?;
    let mut copies = Vec::new();
    let Some(dockerfile) = dockerfile else {
        for part in ["manifests", "metadata", "tests/scorecard"] {
            let (from, to) = (folder.join(part)?, ProjectPath::fixed(part));
            copies.push(Copy { from, to, line: 0 });
        }
        return Ok(Contents { labels, copies });
    };
    let mut own = BTreeMap::new();
    let steps = steps(dockerfile)?;
    require_supported(dockerfile, &steps)?;
    for step in steps {
        match step.what {
            What::From(_) | What::Other => {}
            // The last one counts.
            What::Label(key, value) => drop(own.insert(key, (step.line, value))),
            What::Copy(words) => copies.push(Copy::read(dockerfile, step.line, &words, folder)?),
        }
    }
    for (key, (line, value)) in own {
        if let Some(other) = labels.get(&key).filter(|it| **it != value) {
            let file = annotations.path;
            let message = format!("the label `{key}` is `{value}` here, and `{other}` in {file}");
            return Err(at(dockerfile, line, message)
                .with_hint("the annotation is what OLM reads: give the label its value, or run `operator-rs bundle`")
                .into_error());
        }
        labels.insert(key, value);
    }
    Ok(Contents { labels, copies })
}

/// Fails unless the first instruction, and no later one, is `FROM scratch`, and the others are known.
fn require_supported(dockerfile: &Source<'_>, steps: &[Step]) -> anyhow::Result<()> {
    const START: &str = "start the file with `FROM scratch`";
    let mut has_base = false;
    for step in steps {
        match &step.what {
            What::From(base) if *base == ["scratch"] && !has_base => has_base = true,
            What::From(base) if *base == ["scratch"] => {
                let message = "a second `FROM` starts a new image, which has nothing of the instructions above it";
                return Err(needs_docker(dockerfile, step.line, message));
            }
            What::Label(..) | What::Copy(_) if has_base => {}
            What::Label(..) | What::Copy(_) => {
                let message = "this instruction is above `FROM`".to_owned();
                return Err(at(dockerfile, step.line, message).with_hint(START).into_error());
            }
            What::From(_) | What::Other => {
                let message = "this instruction needs docker or podman";
                return Err(needs_docker(dockerfile, step.line, message));
            }
        }
    }
    if has_base {
        return Ok(());
    }
    let path = dockerfile.path.as_str();
    Err(Diagnostic::in_file(path, "it has no `FROM`").with_hint(START).into_error())
}

impl Copy {
    /// The directory that an instruction copies, which must be in the bundle if it becomes one of its parts.
    fn read(
        dockerfile: &Source<'_>,
        line: usize,
        words: &[String],
        folder: &ProjectPath,
    ) -> anyhow::Result<Self> {
        let Some((from, to)) = directories(words) else {
            let message = "this instruction does not copy one directory to another";
            return Err(needs_docker(dockerfile, line, message));
        };
        if !is_of_bundle(&to) || from.is_in(folder) {
            return Ok(Self { from, to, line });
        }
        let message = format!("the bundle is in `{folder}`, and this copies `{from}` to `/{to}`");
        let hint = match from.as_str().strip_suffix(&format!("/{to}")) {
            Some(other) => format!("give `--bundle-dir {other}`, or copy `{folder}/{to}`"),
            None => {
                format!("copy a directory in `{folder}`, or name another one with `--bundle-dir`")
            }
        };
        Err(at(dockerfile, line, message).with_hint(hint).into_error())
    }
}

fn needs_docker(dockerfile: &Source<'_>, line: usize, message: &str) -> anyhow::Error {
    at(dockerfile, line, message.to_owned()).with_hint(NEEDS_DOCKER).into_error()
}

fn at(source: &Source<'_>, line: usize, message: String) -> Diagnostic {
    Diagnostic::in_file(source.path.as_str(), message)
        .at(line, 1)
        .quote(&mut Lines::of(source.text))
}

/// Whether a path of an image is in its bundle.
fn is_of_bundle(path: &ProjectPath) -> bool {
    path.as_str().split('/').next().is_some_and(|it| FOLDERS.contains(&it))
}

const NEEDS_DOCKER: &str = "only `FROM scratch`, `LABEL` and `COPY <directory> /<directory>/` are built without docker or podman: remove the line, or build the image with one of them";

/// The annotations, which are also labels.
fn labels(source: &Source<'_>) -> anyhow::Result<BTreeMap<String, String>> {
    let path = source.path.as_str();
    let nodes =
        yaml::nodes(source.text, Dialect::Kubernetes).map_err(yaml::locate(path, source.text))?;
    let wrong = |mark: yaml::Mark, message: String| {
        Diagnostic::in_file(path, message)
            .at(mark.line, mark.column)
            .quote(&mut Lines::of(source.text))
            .into_error()
    };
    let all = nodes.first().and_then(|it| it.get("annotations"));
    let Some(yaml::Node { data: yaml::Data::Map(entries), .. }) = all else {
        return Err(Diagnostic::in_file(path, "it has no mapping `annotations`").into_error());
    };
    let mut res = BTreeMap::new();
    for entry in entries {
        let Some(value) = entry.value.as_str() else {
            let message = format!("the value of `{}` is not a string", entry.key);
            return Err(wrong(entry.value.mark, message));
        };
        res.insert(entry.key.clone(), value.to_owned());
    }
    if !res.contains_key(annotations::PACKAGE) {
        let message = format!("it has no annotation `{}`", annotations::PACKAGE);
        return Err(Diagnostic::in_file(path, message).into_error());
    }
    Ok(res)
}

/// What is copied, and to where; none if it is not one directory.
fn directories(words: &[String]) -> Option<(ProjectPath, ProjectPath)> {
    let [from, to] = words else { return None };
    // A pattern, a variable, or a flag such as `--from`.
    if words.iter().any(|it| it.contains(['*', '?', '[', '$']) || it.starts_with("--")) {
        return None;
    }
    Some((from.trim_start_matches('/').parse().ok()?, to.strip_prefix('/')?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const ANNOTATIONS: &str =
        "annotations:\n  operators.operatorframework.io.bundle.package.v1: p\n  a: '1'\n";

    fn check(annotations: &str, dockerfile: Option<&str>, expected: &str) {
        let (one, other) = ("bundle/metadata/annotations.yaml", "bundle.Dockerfile");
        let (one, other) = (ProjectPath::fixed(one), ProjectPath::fixed(other));
        let dockerfile = dockerfile.map(|text| Source { path: &other, text });
        let annotations = Source { path: &one, text: annotations };
        let found = contents(&annotations, dockerfile.as_ref(), &ProjectPath::fixed("bundle"));
        let found = match found {
            Ok(found) => {
                let labels = found.labels.iter().map(|(key, it)| format!("{key}={it}"));
                let labels = labels.filter(|it| !it.starts_with("operators"));
                let copies = found.copies.iter().map(|it| format!("{}>{}", it.from, it.to));
                labels.chain(copies).collect::<Vec<_>>().join(" ")
            }
            Err(error) => error.to_string(),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn a_dockerfile_of_a_bundle_is_read_as_docker_reads_it() {
        check(
            ANNOTATIONS,
            None,
            "a=1 bundle/manifests>manifests bundle/metadata>metadata bundle/tests/scorecard>tests/scorecard",
        );
        let read = |text: &str, expected: &str| check(ANNOTATIONS, Some(text), expected);
        read(
            "FROM scratch\n# x\nLABEL a=1\nCOPY bundle/manifests /manifests/\n",
            "a=1 bundle/manifests>manifests",
        );
        read(
            "from scratch\nlabel \"b c\"='d $e' f=g\\ h \\\n # comment\n  i=\"\\$j \\k\"",
            "a=1 b c=d $e f=g h i=$j \\k",
        );
        read("FROM scratch\nCOPY licenses /licenses/\n", "a=1 licenses>licenses");
        read("FROM scratch\nCOPY [\"a b/c\", \"/c/\"]\nLABEL a=\"1\"", "a=1 a b/c>c");
        // The white space of a line that goes on counts, and so does the last label of a name.
        read(
            "\tFROM\\\n scratch\nLABEL b=1\\ \t\n  c=2 \\\n\n  d=\"3\\\n  4\"",
            "a=1 b=1 c=2 d=3  4",
        );
        read("FROM scratch\nLABEL b=1 a=2\nLABEL b=x\\\\\nLABEL a=1", "a=1 b=x\\");
    }

    #[test]
    fn what_only_docker_can_build_is_refused_with_its_line() {
        let line = |text: &str, expected: &str| {
            check(
                ANNOTATIONS,
                Some(&format!("FROM scratch\n{text}\n")),
                &format!("bundle.Dockerfile:2:1: {expected}"),
            );
        };
        let docker = "this instruction needs docker or podman";
        for text in [
            "RUN x",
            "FROM alpine",
            "FROM scratch AS x",
            "ADD a /b",
            "LABEL a=$B",
            "LABEL a",
            "LABEL a b",
            "LABEL a=\"b",
            "LABEL =b",
            "ARG x",
            "USER 1",
        ] {
            line(text, docker);
        }
        for text in [
            "COPY a b /c",
            "COPY --from=x a /b",
            "COPY a* /b",
            "COPY ../a /b",
            "COPY a b",
            "COPY [\"a\"",
            "COPY a /",
            "COPY a /../b",
        ] {
            line(text, "this instruction does not copy one directory to another");
        }
        line(
            "FROM scratch",
            "a second `FROM` starts a new image, which has nothing of the instructions above it",
        );
        let other = |from: &str, to: &str| {
            line(
                &format!("COPY {from} /{to}/"),
                &format!("the bundle is in `bundle`, and this copies `{from}` to `/{to}`"),
            );
        };
        other("other/manifests", "manifests");
        other("bundle2/metadata", "metadata");
        other("config/scorecard", "tests/scorecard");
        other("bundle", "manifests");
        line("LABEL a=2", "the label `a` is `2` here, and `1` in bundle/metadata/annotations.yaml");
        let whole = |text, expected: &str| check(ANNOTATIONS, Some(text), expected);
        whole("", "bundle.Dockerfile: it has no `FROM`");
        whole("LABEL b=1\nFROM scratch", "bundle.Dockerfile:1:1: this instruction is above `FROM`");
        whole("COPY a /b\n", "bundle.Dockerfile:1:1: this instruction is above `FROM`");
        check(ANNOTATIONS, Some("# escape=`\n"), &format!("bundle.Dockerfile:1:1: {docker}"));
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
