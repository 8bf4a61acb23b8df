//! Unmet requirements of a ClusterServiceVersion, from its status.

use go_data::yaml::Value;

/// Returns the requirements that are not met, in one line each.
pub fn unmet_requirements(csv: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    for requirement in csv["status"]["requirementStatus"].as_array().into_iter().flatten() {
        if requirement["status"] == "Present" {
            continue;
        }
        let kind = text_or_empty(&requirement["kind"]);
        let what = match (kind, text_or_empty(&requirement["group"])) {
            // This is how OLM reports `minKubeVersion`.
            ("ClusterServiceVersion", _) => String::new(),
            (_, "") => format!("{kind} {}: ", text_or_empty(&requirement["name"])),
            (_, group) => format!("{kind} {} ({group}): ", text_or_empty(&requirement["name"])),
        };
        let why =
            match (text_or_empty(&requirement["message"]), text_or_empty(&requirement["status"])) {
                ("", status) => status,
                (message, _) => message,
            };
        lines.push(format!("{what}{}", one_line(why)));
        for rule in requirement["dependents"].as_array().into_iter().flatten() {
            if rule["status"] != "Satisfied" {
                lines.push(format!(
                    "  {}: {}",
                    text_or_empty(&rule["status"]),
                    one_line(text_or_empty(&rule["message"]))
                ));
            }
        }
    }
    lines
}

/// Returns the requirements of a version that this server can never meet, in one line each. `serves` returns whether
/// the server has a kind of an API group and version.
pub fn impossible_requirements(
    csv: &Value,
    server: &str,
    serves: impl Fn(&str, &str) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<String>> {
    let mut impossible = Vec::new();
    let required = text_or_empty(&csv["spec"]["minKubeVersion"]);
    // OLM also ignores the part after the numbers of the server's version.
    let parse = |version: &str| version.trim_start_matches('v').parse::<semver::Version>().ok();
    let numbers = server.split(['-', '+']).next().unwrap_or_default();
    if let (Some(required), Some(server)) = (parse(required), parse(numbers))
        && required > server
    {
        impossible.push(format!(
            "`minKubeVersion` is {required}, and the server has Kubernetes {server}"
        ));
    }
    for api in csv["spec"]["nativeAPIs"].as_array().into_iter().flatten() {
        let (group, version, kind) = (
            text_or_empty(&api["group"]),
            text_or_empty(&api["version"]),
            text_or_empty(&api["kind"]),
        );
        let api_version =
            if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        if !serves(&api_version, kind)? {
            impossible.push(format!(
                "`nativeAPIs` has {kind} of {api_version}, which the server does not serve"
            ));
        }
    }
    Ok(impossible)
}

#[test]
fn requirements_that_the_server_cannot_satisfy_are_listed() {
    use go_data::yaml::json;
    let serves =
        |api_version: &str, kind: &str| Ok((api_version, kind) == ("apps/v1", "Deployment"));
    let check = |spec: Value, server: &str, expected: &[&str]| {
        assert_eq!(
            impossible_requirements(&json!({"spec": spec}), server, serves).unwrap(),
            expected
        );
    };
    check(json!({}), "v1.36.3", &[]);
    check(json!({"minKubeVersion": "1.36.3"}), "v1.36.3-gke.1+x", &[]);
    check(
        json!({"minKubeVersion": "v1.37.0"}),
        "v1.36.3+x",
        &["`minKubeVersion` is 1.37.0, and the server has Kubernetes 1.36.3"],
    );
    let apis = json!([{"group": "apps", "version": "v1", "kind": "Deployment"}, {"group": "", "version": "v1", "kind": "Gone"}]);
    check(
        json!({"nativeAPIs": apis}),
        "v1.36.3",
        &["`nativeAPIs` has Gone of v1, which the server does not serve"],
    );
}

pub fn text_or_empty(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
