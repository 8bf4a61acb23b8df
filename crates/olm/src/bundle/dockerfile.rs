//! `bundle.Dockerfile`: an image that contains only the bundle and has its annotations as labels.

use super::annotations::Annotations;
use model::ProjectPath;

/// The prefix of the line with the flags that a bundle was generated with.
const FLAGS: &str = "# Generated with ";

/// Returns the flags that the bundle of a `bundle.Dockerfile` was generated with.
pub fn parse_flags(dockerfile: &str) -> Vec<String> {
    let line = dockerfile.lines().find_map(|line| line.strip_prefix(FLAGS));
    line.into_iter().flat_map(|flags| flags.split(' ')).map(str::to_owned).collect()
}

pub fn render_dockerfile(
    annotations: &Annotations,
    bundle: &ProjectPath,
    flags: &[String],
) -> String {
    let mut dockerfile = String::new();
    if !flags.is_empty() {
        dockerfile.push_str(&format!("{FLAGS}{}\n", flags.join(" ")));
    }
    dockerfile.push_str("FROM scratch\n\n# Core bundle labels.\n");
    annotations.core.iter().for_each(|annotation| dockerfile.push_str(&label_line(annotation)));
    if !annotations.tests.is_empty() {
        dockerfile.push_str("\n# Labels for testing.\n");
        annotations
            .tests
            .iter()
            .for_each(|annotation| dockerfile.push_str(&label_line(annotation)));
    }
    dockerfile.push_str("\n# Copy files to locations specified by labels.\n");
    copied_folders(annotations)
        .iter()
        .for_each(|folder| dockerfile.push_str(&copy_line(bundle, folder)));
    dockerfile
}

/// The directories of a bundle, the one for tests last.
pub const FOLDERS: [&str; 3] = ["manifests", "metadata", "tests/scorecard"];

/// Returns the directories that the Dockerfile copies.
pub fn copied_folders(annotations: &Annotations) -> &'static [&'static str] {
    if annotations.tests.is_empty() { &FOLDERS[..2] } else { &FOLDERS }
}

fn label_line((key, value): &(String, String)) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+/:,@".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return format!("LABEL {key}={value}\n");
    }
    let quoted: String = value
        .chars()
        .flat_map(|letter| {
            matches!(letter, '"' | '\\' | '$').then_some('\\').into_iter().chain([letter])
        })
        .collect();
    format!("LABEL {key}=\"{quoted}\"\n")
}

/// Formats a `COPY` line, in the JSON form if a path has a space.
fn copy_line(bundle: &ProjectPath, folder: &str) -> String {
    if bundle.as_str().contains(char::is_whitespace) {
        let from = go_data::yaml::Value::from(format!("{bundle}/{folder}"));
        format!("COPY [{from}, \"/{folder}/\"]\n")
    } else {
        format!("COPY {bundle}/{folder} /{folder}/\n")
    }
}

#[test]
fn labels_are_quoted_where_docker_would_take_them_apart() {
    let label = |value: &str| label_line(&("a".to_owned(), value.to_owned()));
    assert_eq!(label("v4.12-v4.16"), "LABEL a=v4.12-v4.16\n");
    assert_eq!(label("=v4.14"), "LABEL a=\"=v4.14\"\n");
    assert_eq!(label("a \"b\" $c\\"), "LABEL a=\"a \\\"b\\\" \\$c\\\\\"\n");
    assert_eq!(label(""), "LABEL a=\"\"\n");
}
