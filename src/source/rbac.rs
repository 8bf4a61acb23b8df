//! `// +kubebuilder:rbac:groups=…,resources=…,verbs=…`

use super::marker::Marker;
use crate::project::{MarkerArguments as _, Problem, RbacMarker, Rule};
use model::Namespace;

/// Returns the rule of a marker, with its place.
pub fn parse_rule(marker: &Marker<'_>) -> Result<RbacMarker, Problem> {
    let (mut rule, arguments) = marker.parse_arguments::<Rule>()?;
    if rule.verbs.is_empty() {
        return Err(marker.problem_at((0, "`verbs` is empty".to_owned()), Rule::USAGE));
    }
    rule.namespace = rule.namespace.filter(|namespace| !namespace.is_empty());
    rule.role_name = rule.role_name.filter(|role_name| !role_name.is_empty());
    let place_of = |name: &str| arguments.offset(name).map(|offset| marker.place_at(offset));
    if let Some((name, message, hint)) = invalid_rule(&rule) {
        let at = arguments.offset(name).unwrap_or_default();
        return Err(marker.problem_at((at, message.to_owned()), hint));
    }
    let namespace = rule.namespace.as_deref().unwrap_or_default();
    if !namespace.is_empty() && namespace.parse::<Namespace>().is_err() {
        let at = arguments.offset("namespace").unwrap_or_default();
        let message = format!(
            "`{namespace}` is not the name of a namespace, and API servers refuse the Role"
        );
        let hint = "write lower-case letters, digits and `-` only, at most 63 of them";
        return Err(marker.problem_at((at, message), hint));
    }
    let place = rule.namespace.as_ref().and_then(|_| place_of("namespace"));
    let place = place.or_else(|| rule.role_name.as_ref().and_then(|_| place_of("roleName")));
    Ok(RbacMarker { rule, place: place.unwrap_or_else(|| marker.place_at(0)) })
}

/// Returns why every API server refuses the role: the argument, the message, and a hint.
fn invalid_rule(rule: &Rule) -> Option<(&'static str, &'static str, &'static str)> {
    let Rule { groups, resources, resource_names, urls, namespace, .. } = rule;
    if !urls.is_empty() && namespace.is_some() {
        let message = "`urls` are not in a namespace, and API servers refuse them in a Role";
        return Some(("urls", message, "leave out `namespace`"));
    }
    let has_resources =
        [groups, resources, resource_names].into_iter().any(|name| !name.is_empty());
    if !urls.is_empty() && has_resources {
        let message = "API servers refuse a rule for both `urls` and `resources`";
        return Some(("urls", message, "write two comments"));
    }
    if urls.is_empty() && resources.is_empty() {
        let message = "neither `resources` nor `urls` are given, and API servers refuse the rule";
        let hint = "name resources, e.g. `groups=apps,resources=deployments`, or URLs, e.g. `urls=/metrics`";
        return Some(("resources", message, hint));
    }
    if urls.is_empty() && groups.is_empty() {
        let message = "`groups` are not given, and API servers refuse the rule";
        return Some((
            "groups",
            message,
            "name them, e.g. `groups=apps`, or `groups=core` for pods",
        ));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::super::comments::parse_comments;
    use super::*;
    use crate::project::SourcePath;

    fn read(line: &str) -> Result<Option<Rule>, String> {
        let path = SourcePath::fixed("src/main.rs");
        let comment = parse_comments(line).pop().expect("a comment");
        let marker = Marker::find(&path, &comment).map_err(|error| error.to_string())?;
        let marker = marker.filter(|marker| marker.name == Rule::NAME);
        let rule = marker
            .map(|marker| parse_rule(&marker))
            .transpose()
            .map_err(|error| error.to_string())?;
        Ok(rule.map(|marker| marker.rule))
    }

    fn list(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn a_marker_is_read_as_controller_gen_reads_it() {
        let rule = |groups: &[&str], resources: &[&str], verbs: &[&str]| Rule {
            groups: list(groups),
            resources: list(resources),
            verbs: list(verbs),
            ..Rule::default()
        };
        let check =
            |line: &str, expected: Rule| assert_eq!(read(line), Ok(Some(expected)), "{line}");
        check(
            "// +kubebuilder:rbac:groups=apps,resources=deployments/status,verbs=get;list",
            rule(&["apps"], &["deployments/status"], &["get", "list"]),
        );
        check(
            "//+kubebuilder:rbac:groups=\"\",resources=pods,verbs=*",
            rule(&[""], &["pods"], &["*"]),
        );
        check(
            "// +kubebuilder:rbac:verbs={get, \"list\"},groups=a,resources=b",
            rule(&["a"], &["b"], &["get", "list"]),
        );
        check(
            "//  +kubebuilder:rbac:groups= a.example.com; core, resources=`x` , verbs=get",
            rule(&["a.example.com", "core"], &["x"], &["get"]),
        );
        check(
            r#"// +kubebuilder:rbac:groups="\x41\u00e9\U0001F600\101\v\"",resources=b,verbs=c"#,
            rule(&["A\u{e9}\u{1f600}A\u{b}\""], &["b"], &["c"]),
        );
        assert_eq!(read("// kubebuilder:rbac:groups=a"), Ok(None));
        assert_eq!(read("// +kubebuilder:rbacs:groups=a"), Ok(None));
        assert_eq!(read("// +operator-rs:scaffold:controllers"), Ok(None));
    }

    #[test]
    fn a_malformed_marker_is_reported_with_its_place() {
        let check = |line: &str, expected: &str| assert_eq!(read(line), Err(expected.to_owned()));
        check("// +kubebuilder:rbac:groups=apps", "src/main.rs:1:22: argument `verbs` is missing");
        check("// +kubebuilder:rbac", "src/main.rs:1:21: argument `verbs` is missing");
        check("  // +kubebuilder:rbac:verb=get", "src/main.rs:1:24: unknown argument `verb`");
        check("// +kubebuilder:rbac:verbs=\"get", "src/main.rs:1:28: a quote is not closed");
        check(
            "// +kubebuilder:rbac:verbs=get,",
            "src/main.rs:1:32: an argument is missing after the last comma",
        );
        check(
            "// +kubebuilder:rbac:verbs=get,list, watch,groups=apps",
            "src/main.rs:1:32: a comma begins the next argument: separate the words of a list with `;`: `verbs=get;list;watch`",
        );
        check(
            "// +kubebuilder:rbac:groups=\"\",resources=pods,secrets",
            "src/main.rs:1:47: a comma begins the next argument: separate the words of a list with `;`: `resources=pods;secrets`",
        );
        check(
            "// +kubebuilder:rbac:groups=apps,verbs=[get,list],resources=deployments",
            "src/main.rs:1:45: a comma begins the next argument: separate the words of a list with `;`: `verbs=get;list`",
        );
        check("// +kubebuilder:rbac:namespace=a,list", "src/main.rs:1:38: `=` is expected, not ``");
        check(
            "// +kubebuilder:rbac:verbs={get;list}",
            "src/main.rs:1:32: a comma is expected, not `;`",
        );
        check(
            "// +kubebuilder:rbac:verbs=get ;list",
            "src/main.rs:1:31: a value without quotes is followed by a space",
        );
        check("// +kubebuilder:rbac:verbs=", "src/main.rs:1:22: `verbs` is empty");
        check(
            "// +kubebuilder:rbac:verbs",
            "src/main.rs:1:4: `+kubebuilder:rbac:verbs` has no value",
        );
        check(
            "let a = 1; // +kubebuilder:rbac:verbs=get",
            "src/main.rs:1:15: markers after code on the same line are not supported",
        );
        check(
            "/// +kubebuilder:rbac:verbs=get",
            "src/main.rs:1:3: markers in doc comments are not supported",
        );
        for escape in [r"\x80", r"\377", r"\ud800", r"\U00110000", r"\x4", r"\x+4", r"\8", r"\'"] {
            let line = format!("// +kubebuilder:rbac:groups=\"{escape}\",resources=b,verbs=c");
            check(&line, &format!("src/main.rs:1:29: \"{escape}\" has an unknown escape"));
        }
    }

    #[test]
    fn a_rule_that_every_api_server_refuses_is_reported_with_its_place() {
        let check = |arguments: &str, expected: &str| {
            let found = read(&format!("// +kubebuilder:rbac:{arguments},verbs=get"));
            assert_eq!(found, Err(format!("src/main.rs:1:{expected}")), "{arguments}");
        };
        let both = "API servers refuse a rule for both `urls` and `resources`";
        check("groups=apps,urls=/a", &format!("34: {both}"));
        check("resources=pods,urls=/a", &format!("37: {both}"));
        check("urls=/a,resourceNames=b", &format!("22: {both}"));
        check(
            "namespace=a,urls=/a",
            "34: `urls` are not in a namespace, and API servers refuse them in a Role",
        );
        let bad = parse_comments("// +kubebuilder:rbac:groups=a,resources=b,verbs=c,namespace=A")
            .remove(0);
        let path = SourcePath::fixed("src/main.rs");
        let marker = Marker::find(&path, &bad).ok().flatten().expect("a marker");
        let hint = parse_rule(&marker).expect_err("it is refused").hint;
        let expected = "write lower-case letters, digits and `-` only, at most 63 of them";
        assert_eq!(hint.as_deref(), Some(expected));
        let not_a_name = "`Infra` is not the name of a namespace, and API servers refuse the Role";
        check("groups=a,resources=b,namespace=Infra", &format!("43: {not_a_name}"));
        let nothing = "neither `resources` nor `urls` are given, and API servers refuse the rule";
        check("groups=apps", &format!("22: {nothing}"));
        check("groups=apps,resources=", &format!("34: {nothing}"));
        let no_group = "`groups` are not given, and API servers refuse the rule";
        check("resources=pods", &format!("22: {no_group}"));
        check("resources=pods,groups=", &format!("37: {no_group}"));
    }

    #[test]
    fn an_argument_that_is_given_twice_is_warned_of() {
        let path = SourcePath::fixed("src/main.rs");
        let line = "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get,verbs=list";
        let comment = parse_comments(line).pop().expect("a comment");
        let marker = Marker::find(&path, &comment).unwrap().expect("a marker");
        assert_eq!(parse_rule(&marker).unwrap().rule.verbs, ["list"]);
        let warnings = marker.warnings.take();
        let [warning] = &warnings[..] else { panic!("{warnings:?}") };
        assert_eq!(
            warning.to_string(),
            "src/main.rs:1:56: `verbs` is given twice, and this one has no effect"
        );
        let hint = "write `verbs` once; the words of a list are separated by `;`";
        assert_eq!(warning.hint.as_deref(), Some(hint));
    }
}
