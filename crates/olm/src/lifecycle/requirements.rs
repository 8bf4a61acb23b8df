//! What a ClusterServiceVersion lacks, from its status.

use go_data::yaml::Value;

/// The requirements that are not met, in one line each.
pub fn unmet(csv: &Value) -> Vec<String> {
    let mut res = Vec::new();
    for it in csv["status"]["requirementStatus"].as_array().into_iter().flatten() {
        if it["status"] == "Present" {
            continue;
        }
        let kind = text(&it["kind"]);
        let what = match (kind, text(&it["group"])) {
            // This is how OLM reports `minKubeVersion`.
            ("ClusterServiceVersion", _) => String::new(),
            (_, "") => format!("{kind} {}: ", text(&it["name"])),
            (_, group) => format!("{kind} {} ({group}): ", text(&it["name"])),
        };
        let why = match (text(&it["message"]), text(&it["status"])) {
            ("", status) => status,
            (message, _) => message,
        };
        res.push(format!("{what}{}", one_line(why)));
        for rule in it["dependents"].as_array().into_iter().flatten() {
            if rule["status"] != "Satisfied" {
                res.push(format!(
                    "  {}: {}",
                    text(&rule["status"]),
                    one_line(text(&rule["message"]))
                ));
            }
        }
    }
    res
}

/// The requirements of a version that this server can never meet, in one line each. `serves` looks for a kind of an API
/// group and version.
pub fn impossible(
    csv: &Value,
    server: &str,
    serves: impl Fn(&str, &str) -> anyhow::Result<bool>,
) -> anyhow::Result<Vec<String>> {
    let mut res = Vec::new();
    let required = text(&csv["spec"]["minKubeVersion"]);
    // As OLM reads them: without what follows the number of the server's version.
    let parse = |it: &str| it.trim_start_matches('v').parse::<semver::Version>().ok();
    let numbers = server.split(['-', '+']).next().unwrap_or_default();
    if let (Some(required), Some(server)) = (parse(required), parse(numbers))
        && required > server
    {
        res.push(format!("`minKubeVersion` is {required}, and the server has Kubernetes {server}"));
    }
    for it in csv["spec"]["nativeAPIs"].as_array().into_iter().flatten() {
        let (group, version, kind) = (text(&it["group"]), text(&it["version"]), text(&it["kind"]));
        let api_version =
            if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
        if !serves(&api_version, kind)? {
            res.push(format!(
                "`nativeAPIs` has {kind} of {api_version}, which the server does not serve"
            ));
        }
    }
    Ok(res)
}

#[test]
fn requirements_that_the_server_cannot_satisfy_are_listed() {
    use go_data::yaml::json;
    let serves =
        |api_version: &str, kind: &str| Ok((api_version, kind) == ("apps/v1", "Deployment"));
    let check = |spec: Value, server: &str, expected: &[&str]| {
        assert_eq!(impossible(&json!({"spec": spec}), server, serves).unwrap(), expected);
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

pub fn text(it: &Value) -> &str {
    it.as_str().unwrap_or_default()
}

pub fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
