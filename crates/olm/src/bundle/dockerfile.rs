//! `bundle.Dockerfile`: an image of nothing but the bundle, labelled with its annotations.

use super::annotations::Annotations;
use model::ProjectPath;

/// Before the flags that a bundle was generated with.
const FLAGS: &str = "# Generated with ";

/// The flags that the bundle in a `bundle.Dockerfile` was generated with.
pub fn flags(dockerfile: &str) -> Vec<String> {
    let line = dockerfile.lines().find_map(|it| it.strip_prefix(FLAGS));
    line.into_iter().flat_map(|it| it.split(' ')).map(str::to_owned).collect()
}

pub fn text(annotations: &Annotations, bundle: &ProjectPath, flags: &[String]) -> String {
    let mut res = String::new();
    if !flags.is_empty() {
        res.push_str(&format!("{FLAGS}{}\n", flags.join(" ")));
    }
    res.push_str("FROM scratch\n\n# Core bundle labels.\n");
    annotations.core.iter().for_each(|it| res.push_str(&label(it)));
    if !annotations.tests.is_empty() {
        res.push_str("\n# Labels for testing.\n");
        annotations.tests.iter().for_each(|it| res.push_str(&label(it)));
    }
    res.push_str("\n# Copy files to locations specified by labels.\n");
    copied(annotations).iter().for_each(|it| res.push_str(&copy(bundle, it)));
    res
}

/// The directories of a bundle, the one for tests last.
pub const FOLDERS: [&str; 3] = ["manifests", "metadata", "tests/scorecard"];

/// Those that the Dockerfile copies.
pub fn copied(annotations: &Annotations) -> &'static [&'static str] {
    if annotations.tests.is_empty() { &FOLDERS[..2] } else { &FOLDERS }
}

fn label((key, value): &(String, String)) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-+/:,@".contains(c);
    if !value.is_empty() && value.chars().all(plain) {
        return format!("LABEL {key}={value}\n");
    }
    let quoted: String = value
        .chars()
        .flat_map(|it| matches!(it, '"' | '\\' | '$').then_some('\\').into_iter().chain([it]))
        .collect();
    format!("LABEL {key}=\"{quoted}\"\n")
}

/// The JSON form where a path has a space in it.
fn copy(bundle: &ProjectPath, folder: &str) -> String {
    if bundle.as_str().contains(char::is_whitespace) {
        let from = go_data::yaml::Value::from(format!("{bundle}/{folder}"));
        format!("COPY [{from}, \"/{folder}/\"]\n")
    } else {
        format!("COPY {bundle}/{folder} /{folder}/\n")
    }
}

#[test]
fn labels_are_quoted_where_docker_would_take_them_apart() {
    let label = |value: &str| label(&("a".to_owned(), value.to_owned()));
    assert_eq!(label("v4.12-v4.16"), "LABEL a=v4.12-v4.16\n");
    assert_eq!(label("=v4.14"), "LABEL a=\"=v4.14\"\n");
    assert_eq!(label("a \"b\" $c\\"), "LABEL a=\"a \\\"b\\\" \\$c\\\\\"\n");
    assert_eq!(label(""), "LABEL a=\"\"\n");
}
