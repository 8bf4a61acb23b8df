//! Warns of words in markers that are probably misspelt. They are not errors: Kubernetes allows verbs of any name, and
//! other tools have markers of their own.

use super::{
    comments::Comment,
    replacements::{of_field, replacement},
    resources::{Resources, RuleDoubt},
};
use crate::project::{Place, Problem, Rule, SourcePath};

/// The words after `+kubebuilder:` in the markers of kubebuilder and controller-gen.
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

/// The separators of lists in other languages, such as Rust and YAML.
const SEPARATORS: [char; 7] = [' ', '\t', ',', '|', ';', '[', ']'];

/// Warnings about a comment and its rule.
pub fn misspelt(
    path: &SourcePath,
    comment: &Comment<'_>,
    rule: Option<&Rule>,
    resources: &Resources,
) -> Vec<Problem> {
    let warning = |word: &str, message: String, hint: Option<String>| {
        // The name of the marker may have the same word.
        let arguments = comment.text.find("rbac:").map_or(0, |index| index + "rbac:".len());
        let inside = comment.text[arguments..].find(word).map(|index| arguments + index);
        let start = inside.or_else(|| comment.text.find(word));
        let before = start.and_then(|start| comment.text.get(..start));
        let before = before.unwrap_or_default();
        let line = comment.line + before.matches('\n').count();
        let column = match before.rsplit_once('\n') {
            Some((_, before)) => before.chars().count() + 1,
            None => comment.column + 2 + before.chars().count(),
        };
        let place = Place { path: path.clone(), line, column };
        let problem = Problem::new(place, message).with_rule("marker");
        match hint {
            Some(hint) => problem.with_hint(hint),
            None => problem,
        }
    };
    if let Some((word, marker)) = find_malformed_marker(comment) {
        let message = "this comment is not a marker, and has no effect".to_owned();
        let hint = format!("write it on a line of its own: `// +kubebuilder:{marker}`");
        return vec![warning(word, message, Some(hint))];
    }
    if !comment.is_block
        && let Some((name, replacement)) = of_field(&comment.text[usize::from(comment.is_doc())..])
    {
        let message = format!("`+{name}` has no effect in Rust");
        return vec![warning(name, message, Some(format!("use {replacement}")))];
    }
    if comment.is_doc() || comment.is_block || comment.behind {
        return Vec::new();
    }
    let text = comment.text.trim_start();
    let Some(marker) = text.strip_prefix("+kubebuilder:") else { return Vec::new() };
    let mut problems = Vec::new();
    let name = marker.split([':', '=', ' ']).next().unwrap_or(marker);
    if !MARKERS.contains(&name) {
        let hint =
            nearest_word(name, MARKERS).map(|near| format!("did you mean `+kubebuilder:{near}`?"));
        problems.push(warning(
            name,
            format!("`+kubebuilder:{name}` is not a marker of kubebuilder and has no effect"),
            hint,
        ));
    }
    if let Some(rest) = marker.strip_prefix("rbac ") {
        let message = "this comment is not a marker, and has no effect".to_owned();
        let hint = format!("write a colon: `// +kubebuilder:rbac:{}`", rest.trim());
        problems.push(warning(text, message, Some(hint)));
    }
    if let Some(replacement) = replacement(marker) {
        let message = format!("`+kubebuilder:{name}` has no effect in Rust");
        problems.push(warning(name, message, Some(format!("use {replacement}"))));
    }
    problems.extend(rule.into_iter().flat_map(|rule| rule_warnings(rule, resources, &warning)));
    problems
}

/// Returns the words of a rule that Kubernetes does not know, each by a warning.
fn rule_warnings(
    rule: &Rule,
    resources: &Resources,
    warning: &dyn Fn(&str, String, Option<String>) -> Problem,
) -> Vec<Problem> {
    let mut problems = Vec::new();
    let lists = [&rule.verbs, &rule.groups, &rule.resources, &rule.resource_names, &rule.urls];
    for words in lists.into_iter().flatten() {
        let parts = words.split(SEPARATORS).filter(|part| !part.is_empty());
        let list = parts.collect::<Vec<_>>().join(";");
        if list.contains(';') || words.contains(['[', ']']) {
            let message =
                format!("`{words}` is read as one word: separate the words of a list with `;`");
            problems.push(warning(words, message, Some(format!("write `{list}`"))));
        }
    }
    for verb in &rule.verbs {
        if let Some(known) = nearest_word(verb, VERBS) {
            let message = format!("`{verb}` is not a verb of Kubernetes");
            problems.push(warning(verb, message, Some(format!("did you mean `{known}`?"))));
        }
    }
    for group in
        rule.groups.iter().filter(|group| !group.contains('.') && !GROUPS.contains(&group.as_str()))
    {
        let message =
            format!("`{group}` is not an API group: only those of Kubernetes have no dot");
        let name = group.split('/').next().unwrap_or(group);
        let known = GROUPS.iter().copied().find(|group| *group == name);
        let near =
            known.or_else(|| nearest_word(name, GROUPS)).or_else(|| resources.group_of(name));
        problems.push(warning(group, message, near.map(|near| format!("did you mean `{near}`?"))));
    }
    for resource in rule.resources.iter().filter(|resource| resource.contains(char::is_uppercase)) {
        let message = format!("`{resource}` is not a resource: their names are in lower case");
        let plural = resources.plural_of(resource).map(str::to_owned);
        let plural = plural.unwrap_or_else(|| format!("{}s", resource.to_lowercase()));
        problems.push(warning(
            resource,
            message,
            Some(format!("write the plural, e.g. `{plural}`")),
        ));
    }
    for RuleDoubt { word, message, hint } in resources.find_doubts(rule) {
        problems.push(warning(word, message, Some(hint)));
    }
    problems
}

/// Returns a comment that looks like a marker and is none: its text, and its words after `kubebuilder:`.
fn find_malformed_marker<'a>(comment: &Comment<'a>) -> Option<(&'a str, &'a str)> {
    let inner = &comment.text[usize::from(comment.is_doc())..];
    // Such a one is a marker, or is refused in documentation.
    if !comment.is_block && inner.trim_start().starts_with("+kubebuilder:") {
        return None;
    }
    comment.text.lines().find_map(|line| {
        let text = line.trim_start().trim_start_matches(['/', '!', '*']).trim();
        let (start, marker) = text.split_once(':')?;
        let name = start.trim_start_matches(['+', ' ', '\t']).trim_end();
        let is_same = name.eq_ignore_ascii_case("kubebuilder");
        let is_near = if start.starts_with('+') {
            is_same || diagnostics::edit_distance(name, "kubebuilder") <= 2
        } else {
            is_same && !marker.starts_with(' ')
        };
        is_near.then_some((text, marker.trim()))
    })
}

/// Returns the known word that an unknown one is most like.
fn nearest_word<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if known.contains(&word) || word.is_empty() {
        return None;
    }
    diagnostics::find_nearest(word, known.iter().copied().filter(|text| !["", "*"].contains(text)))
}

#[test]
fn a_misspelt_word_is_answered_with_the_nearest() {
    let check = |text: &str, verbs: &[&str], expected: &[&str]| {
        let comments = super::comments::parse_comments(text);
        let rule = Rule {
            verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
            ..Rule::default()
        };
        let resources = Resources::new(&[]);
        let found = misspelt(&SourcePath::fixed("a.rs"), &comments[0], Some(&rule), &resources);
        let found: Vec<String> =
            found.iter().map(|diagnostic| diagnostic.describe("").replace('\n', " ")).collect();
        assert_eq!(found, expected, "{text}");
    };
    check(
        "// +kubebuilder:rbac:verbs=get;wacth",
        &["get", "wacth"],
        &["a.rs:1:32: `wacth` is not a verb of Kubernetes   hint: did you mean `watch`?"],
    );
    check(
        "// +kubebuilder:rbac:verbs=get list",
        &["get list"],
        &[
            "a.rs:1:28: `get list` is read as one word: separate the words of a list with `;`   hint: write `get;list`",
        ],
    );
    check(
        "// +kubebuilder:rbac:verbs=[get,list]",
        &["[get,list]"],
        &[
            "a.rs:1:28: `[get,list]` is read as one word: separate the words of a list with `;`   hint: write `get;list`",
        ],
    );
    for (text, column, hint) in [
        ("// +optional", 5, "use the type of the field: `Option<…>`"),
        ("/// +optional", 6, "use the type of the field: `Option<…>`"),
    ] {
        let message = format!("a.rs:1:{column}: `+optional` has no effect in Rust   hint: {hint}");
        check(text, &[], &[&message]);
    }
    check(
        "/// +listType=set",
        &[],
        &[
            "a.rs:1:6: `+listType` has no effect in Rust   hint: use `#[x_kube(merge_strategy = ListMerge::…)]`",
        ],
    );
    check("/// +optional, if there is none", &[], &[]);
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
            "a.rs:1:17: `+kubebuilder:validation` has no effect in Rust   hint: use `#[schemars(range(min = 1))]`",
        ],
    );
    check(
        "// +kubebuilder:rbac verbs=get",
        &[],
        &[
            "a.rs:1:4: this comment is not a marker, and has no effect   hint: write a colon: `// +kubebuilder:rbac:verbs=get`",
        ],
    );
    check("// +kubebuilder:object:root=true", &[], &[]);
    for (text, column) in [
        ("// kubebuilder:rbac:verbs=get", 4),
        ("//+ kubebuilder:rbac:verbs=get", 3),
        ("//  + kubebuilder:rbac:verbs=get", 5),
        ("// +Kubebuilder : rbac:verbs=get", 4),
        ("/// + kubebuilder:rbac:verbs=get", 5),
        ("//! kubebuilder:rbac:verbs=get", 5),
        ("//// +kubebuilder:rbac:verbs=get", 6),
        ("/* +kubebuilder:rbac:verbs=get */", 4),
        ("/* a\n * +kubebuilder:rbac:verbs=get */", 4),
        ("let a = 1; // + kubebuilder:rbac:verbs=get", 15),
        ("// +kubebulder:rbac:verbs=get", 4),
    ] {
        let line = 1 + text.matches('\n').count();
        let message = format!(
            "a.rs:{line}:{column}: this comment is not a marker, and has no effect   hint: write it on a line of its own: `// +kubebuilder:rbac:verbs=get`"
        );
        check(text, &[], &[&message]);
    }
    for text in
        ["/// +kubebuilder:rabc", "/// As kubebuilder: it scaffolds", "// a kubebuilder:rbac"]
    {
        check(text, &[], &[]);
    }
}

#[test]
fn groups_and_resources_that_cannot_exist_are_reported() {
    let check = |groups: &[&str], resources: &[&str], expected: &[&str]| {
        let owned =
            |items: &[&str]| items.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let text = format!(
            "// +kubebuilder:rbac:groups={},resources={},verbs=get",
            groups.join(";"),
            resources.join(";")
        );
        let rule = Rule { groups: owned(groups), resources: owned(resources), ..Rule::default() };
        let comments = super::comments::parse_comments(&text);
        let resources = Resources::new(&[]);
        let found = misspelt(&SourcePath::fixed("a.rs"), &comments[0], Some(&rule), &resources);
        let found: Vec<String> =
            found.iter().map(|diagnostic| diagnostic.describe("").replace('\n', " ")).collect();
        assert_eq!(found, expected, "{text}");
    };
    check(
        &["apps", "batch", "", "core", "*", "a.example.com"],
        &["cronjobs", "pods/log", "*"],
        &[],
    );
    check(
        &["a"],
        &["*"],
        &["a.rs:1:29: `a` is not an API group: only those of Kubernetes have no dot"],
    );
    for (group, near) in [
        ("networking", "networking.k8s.io"),
        ("rbac", "rbac.authorization.k8s.io"),
        ("storgae", "storage.k8s.io"),
        ("apps/v1", "apps"),
    ] {
        let message = format!(
            "a.rs:1:29: `{group}` is not an API group: only those of Kubernetes have no dot   hint: did you mean `{near}`?"
        );
        check(&[group], &["*"], &[&message]);
    }
    check(
        &["bacth"],
        &["CronJob"],
        &[
            "a.rs:1:29: `bacth` is not an API group: only those of Kubernetes have no dot   hint: did you mean `batch`?",
            "a.rs:1:45: `CronJob` is not a resource: their names are in lower case   hint: write the plural, e.g. `cronjobs`",
        ],
    );
}
