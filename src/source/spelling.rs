//! Warns of words in markers that are probably misspelt. They are not errors: Kubernetes allows verbs of any name, and
//! other tools have markers of their own.

use super::comments::Comment;
use crate::{
    hint,
    model::{Place, Problem, Rule, SourcePath},
};

/// What follows `+kubebuilder:` in the markers of kubebuilder and controller-gen.
const MARKERS: &[&str] = &[
    "ac",
    "conversion",
    "default",
    "deprecatedversion",
    "docs-gen",
    "example",
    "externalDocs",
    "metadata",
    "object",
    "printcolumn",
    "pruning",
    "rbac",
    "resource",
    "scaffold",
    "schemaless",
    "selectablefield",
    "skip",
    "skipversion",
    "storageversion",
    "subresource",
    "title",
    "unservedversion",
    "validation",
    "webhook",
    "webhookconfiguration",
];

/// Markers of Go types, and the attribute that does the same in Rust.
const ATTRIBUTES: &[(&str, &str)] = &[
    ("default", "#[serde(default = \"FUNCTION\")]"),
    ("printcolumn", "#[kube(printcolumn(name = …, type_ = …, json_path = …))]"),
    ("resource", "#[kube(plural = …, shortname = …)]"),
    ("storageversion", "#[kube(storage = true)]"),
    ("subresource", "#[kube(status = …)]"),
    ("unservedversion", "#[kube(served = false)]"),
    ("validation", "#[schemars(range(min = …))]"),
];

/// The API groups that have no dot. The group of a CRD must have one.
const GROUPS: &[&str] = &["", "*", "apps", "autoscaling", "batch", "core", "extensions", "policy"];

const VERBS: &[&str] = &[
    "*",
    "approve",
    "attest",
    "bind",
    "create",
    "delete",
    "deletecollection",
    "escalate",
    "get",
    "head",
    "impersonate",
    "list",
    "options",
    "patch",
    "post",
    "proxy",
    "put",
    "sign",
    "update",
    "use",
    "watch",
];

/// Warnings about a comment and its rule.
pub fn misspelt(path: &SourcePath, comment: &Comment<'_>, rule: Option<&Rule>) -> Vec<Problem> {
    if comment.is_doc() || comment.behind {
        return Vec::new();
    }
    let warning = |word: &str, message: String, hint: Option<String>| {
        let before = comment.text.find(word).and_then(|it| comment.text.get(..it));
        let column = comment.column + 2 + before.map_or(0, |it| it.chars().count());
        let problem =
            Problem::new(Place { path: path.clone(), line: comment.line, column }, message);
        match hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    };
    let text = comment.text.trim_start();
    if text.starts_with("kubebuilder:rbac:") {
        let message = "this comment is not a marker, and adds no rule".to_owned();
        let hint = "write `+` before it: `// +kubebuilder:rbac:…`".to_owned();
        return vec![warning("kubebuilder", message, Some(hint))];
    }
    let Some(marker) = text.strip_prefix("+kubebuilder:") else { return Vec::new() };
    let mut res = Vec::new();
    let name = marker.split([':', '=', ' ']).next().unwrap_or(marker);
    if !MARKERS.contains(&name) {
        let hint = near(name, MARKERS).map(|it| format!("did you mean `+kubebuilder:{it}`?"));
        res.push(warning(
            name,
            format!("`+kubebuilder:{name}` is not a marker of kubebuilder and has no effect"),
            hint,
        ));
    }
    if let Some((_, attribute)) = ATTRIBUTES.iter().find(|it| it.0 == name) {
        let message = format!("`+kubebuilder:{name}` has no effect in Rust");
        res.push(warning(name, message, Some(format!("use an attribute: `{attribute}`"))));
    }
    for verb in rule.iter().flat_map(|it| &it.verbs) {
        if let Some(known) = near(verb, VERBS) {
            let message = format!("`{verb}` is not a verb of Kubernetes");
            res.push(warning(verb, message, Some(format!("did you mean `{known}`?"))));
        }
    }
    let Some(rule) = rule else { return res };
    for group in rule.groups.iter().filter(|it| !it.contains('.') && !GROUPS.contains(&it.as_str()))
    {
        let message =
            format!("`{group}` is not an API group: only those of Kubernetes have no dot");
        let hint = near(group, GROUPS).map(|it| format!("did you mean `{it}`?"));
        res.push(warning(group, message, hint));
    }
    for resource in rule.resources.iter().filter(|it| it.contains(char::is_uppercase)) {
        let message = format!("`{resource}` is not a resource: their names are in lower case");
        let plural = format!("{}s", resource.to_lowercase());
        res.push(warning(resource, message, Some(format!("write the plural, e.g. `{plural}`"))));
    }
    res
}

/// The known word that an unknown one is most like.
fn near<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if known.contains(&word) || word.is_empty() {
        return None;
    }
    hint::nearest(word, known.iter().copied().filter(|it| *it != "*"))
}

#[test]
fn a_misspelt_word_is_answered_with_the_nearest() {
    let check = |text: &str, verbs: &[&str], expected: &[&str]| {
        let comments = super::comments::comments(text);
        let rule =
            Rule { verbs: verbs.iter().map(|it| (*it).to_owned()).collect(), ..Rule::default() };
        let found = misspelt(&SourcePath::fixed("a.rs"), &comments[0], Some(&rule));
        let found: Vec<String> =
            found.iter().map(|it| it.describe("").replace('\n', " ")).collect();
        assert_eq!(found, expected, "{text}");
    };
    check(
        "// +kubebuilder:rbac:verbs=get;wacth",
        &["get", "wacth"],
        &["a.rs:1:32: `wacth` is not a verb of Kubernetes   hint: did you mean `watch`?"],
    );
    check(
        "// +kubebuilder:rabc:verbs=get",
        &[],
        &[
            "a.rs:1:17: `+kubebuilder:rabc` is not a marker of kubebuilder and has no effect   hint: did you mean `+kubebuilder:rbac`?",
        ],
    );
    check(
        "// +kubebuilder:rbac:verbs=impersonate;*;promote",
        &["impersonate", "*", "promote"],
        &[],
    );
    check(
        "// +kubebuilder:validation:Minimum=1",
        &[],
        &[
            "a.rs:1:17: `+kubebuilder:validation` has no effect in Rust   hint: use an attribute: `#[schemars(range(min = …))]`",
        ],
    );
    check("// +kubebuilder:object:root=true", &[], &[]);
    check(
        "// kubebuilder:rbac:groups=apps,resources=deployments,verbs=get",
        &[],
        &[
            "a.rs:1:4: this comment is not a marker, and adds no rule   hint: write `+` before it: `// +kubebuilder:rbac:…`",
        ],
    );
    check("/// +kubebuilder:rabc", &[], &[]);
}

#[test]
fn groups_and_resources_that_cannot_exist_are_reported() {
    let check = |groups: &[&str], resources: &[&str], expected: &[&str]| {
        let owned = |it: &[&str]| it.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>();
        let text = format!(
            "// +kubebuilder:rbac:groups={},resources={},verbs=get",
            groups.join(";"),
            resources.join(";")
        );
        let rule = Rule { groups: owned(groups), resources: owned(resources), ..Rule::default() };
        let comments = super::comments::comments(&text);
        let found = misspelt(&SourcePath::fixed("a.rs"), &comments[0], Some(&rule));
        let found: Vec<String> =
            found.iter().map(|it| it.describe("").replace('\n', " ")).collect();
        assert_eq!(found, expected, "{text}");
    };
    check(
        &["apps", "batch", "", "core", "*", "a.example.com"],
        &["cronjobs", "pods/log", "*"],
        &[],
    );
    check(
        &["bacth"],
        &["CronJob"],
        &[
            "a.rs:1:29: `bacth` is not an API group: only those of Kubernetes have no dot   hint: did you mean `batch`?",
            "a.rs:1:45: `CronJob` is not a resource: their names are in lower case   hint: write the plural, e.g. `cronjobs`",
        ],
    );
}
