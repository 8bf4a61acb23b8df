//! The OperatorGroup of a namespace: OLM wants exactly one, and it decides which namespaces operators watch.

use super::{InstallMode, Release, V1, release::target_namespaces};
use diagnostics::Hint as _;
use go_data::yaml::{Value, json};

/// The OperatorGroup that is created where there is none.
pub const GROUP: &str = "operator-rs-group";

/// The decision about the OperatorGroup.
#[derive(Debug, PartialEq)]
pub enum GroupChoice {
    /// There is one, and the operator supports it.
    Exists(String),
    /// Apply this one.
    New(Value),
}

impl GroupChoice {
    /// Chooses the OperatorGroup of a release, from those that are in its namespace.
    pub fn choose(
        existing: &[Value],
        release: &Release,
        requested: Option<&InstallMode>,
        namespace: &str,
    ) -> anyhow::Result<Self> {
        if release.supported_modes().is_empty() {
            anyhow::bail!(
                "operator `{}` is not installable: no supported install modes",
                release.name()
            );
        }
        if let Some(mode) = requested {
            ensure_supported_mode(release, mode, namespace)?;
        }
        let name =
            |group: &Value| group["metadata"]["name"].as_str().unwrap_or_default().to_owned();
        match existing {
            [] => Ok(Self::New(new_group(release, requested, namespace)?)),
            [one] if name(one) == GROUP => {
                ensure_compatible(one, release, requested, namespace)?;
                let targets = selected_namespaces(one);
                Ok(Self::New(operator_group(namespace, &targets)))
            }
            [one] => {
                ensure_compatible(one, release, requested, namespace)?;
                Ok(Self::Exists(name(one)))
            }
            many => {
                let names: Vec<String> =
                    many.iter().map(|group| format!("`{}`", name(group))).collect();
                Err(anyhow::format_err!(
                    "namespace `{namespace}` has {} OperatorGroups: {}",
                    many.len(),
                    names.join(", ")
                ))
                .hint("OLM installs nothing into a namespace with more than one OperatorGroup: delete the others, or pass another `--namespace`")
            }
        }
    }
}

/// Fails if the operator does not support the requested mode.
fn ensure_supported_mode(
    release: &Release,
    mode: &InstallMode,
    namespace: &str,
) -> anyhow::Result<()> {
    if *mode == InstallMode::SingleNamespace(namespace.parse().map_err(anyhow::Error::msg)?) {
        anyhow::bail!(
            "pass `--install-mode OwnNamespace` to watch the operator's namespace `{namespace}`"
        );
    }
    if release.supports_mode(mode) {
        return Ok(());
    }
    let (kind, name) = (mode.kind(), release.name());
    Err(anyhow::format_err!("operator `{name}` does not support install mode {kind}"))
        .hint(format!("it supports {}", release.supported_modes().join(", ")))
}

/// Builds the OperatorGroup for the requested mode, or for the first mode that needs no further choice.
fn new_group(
    release: &Release,
    requested: Option<&InstallMode>,
    namespace: &str,
) -> anyhow::Result<Value> {
    let usual_modes = [InstallMode::AllNamespaces, InstallMode::OwnNamespace];
    let chosen = requested.or_else(|| usual_modes.iter().find(|mode| release.supports_mode(mode)));
    let Some(mode) = chosen else {
        let modes = release.supported_modes();
        let examples: Vec<String> =
            modes.iter().map(|mode| format!("`--install-mode {mode}=NAMESPACE`")).collect();
        return Err(anyhow::format_err!(
            "operator `{}` only supports {}, and no namespace is given for it to watch",
            release.name(),
            modes.join(" and ")
        ))
        .hint(format!("pass {}", examples.join(" or ")));
    };
    Ok(operator_group(namespace, &mode.target_namespaces(namespace)))
}

fn operator_group(namespace: &str, targets: &[String]) -> Value {
    let mut spec = json!({});
    if !targets.is_empty() {
        spec["targetNamespaces"] = targets.into();
    }
    json!({
        "apiVersion": V1,
        "kind": "OperatorGroup",
        "metadata": {"name": GROUP, "namespace": namespace},
        "spec": spec,
    })
}

/// Returns the namespaces that an OperatorGroup selects; empty for all.
fn selected_namespaces(group: &Value) -> Vec<String> {
    // OLM lists what a selector selects; `""` stands for all.
    let mut namespaces = match &group["spec"]["selector"] {
        Value::Null => target_namespaces(group),
        _ => super::string_list(&group["status"]["namespaces"]),
    };
    namespaces.retain(|namespace| !namespace.is_empty());
    namespaces.sort();
    namespaces
}

/// Fails if an operator cannot be installed with this OperatorGroup.
fn ensure_compatible(
    group: &Value,
    release: &Release,
    requested: Option<&InstallMode>,
    namespace: &str,
) -> anyhow::Result<()> {
    let name = group["metadata"]["name"].as_str().unwrap_or_default();
    let targets = selected_namespaces(group);
    if let Some(mode) = requested {
        let mut expected = mode.target_namespaces(namespace);
        expected.sort();
        if expected != targets {
            let selects = match &targets[..] {
                [] => "all namespaces".to_owned(),
                some => format!("the namespaces {}", some.join(", ")),
            };
            return Err(anyhow::format_err!(
                "existing OperatorGroup `{name}` is not compatible with install mode {mode}: it selects {selects}"
            ))
            .hint("leave out `--install-mode` to use the OperatorGroup as it is, or pass another `--namespace`");
        }
    }
    // OLM derives the needed install modes in the same way.
    let needed: Vec<&str> = match &targets[..] {
        [] => vec!["AllNamespaces"],
        [one] if one == namespace => vec!["OwnNamespace"],
        [_] => vec!["SingleNamespace"],
        many if many.iter().any(|target| target == namespace) => {
            vec!["MultiNamespace", "OwnNamespace"]
        }
        _ => vec!["MultiNamespace"],
    };
    let supported = release.supported_modes();
    match needed.iter().find(|mode| !supported.contains(mode)) {
        None => Ok(()),
        Some(mode) => Err(anyhow::format_err!(
            "OperatorGroup `{name}` needs install mode {mode}, which operator `{}` does not support",
            release.name()
        ))
        .hint(format!(
            "it supports {}: change the OperatorGroup, or pass another `--namespace`",
            supported.join(", ")
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn release(modes: &[&str]) -> Release {
        let modes: Vec<Value> =
            modes.iter().map(|it| json!({"type": it, "supported": true})).collect();
        Release {
            package: "a".into(),
            channel: "alpha".into(),
            csv: json!({"metadata": {"name": "a.v1"}, "spec": {"installModes": modes}}),
            manifests: Vec::new(),
        }
    }

    fn existing(name: &str, spec: Value) -> Value {
        json!({"metadata": {"name": name}, "spec": spec, "status": {"namespaces": ["x"]}})
    }

    fn check(groups: &[Value], modes: &[&str], requested: &str, expected: &str) {
        let requested = (!requested.is_empty()).then(|| requested.parse().unwrap());
        let found = match GroupChoice::choose(groups, &release(modes), requested.as_ref(), "own") {
            Ok(GroupChoice::Exists(name)) => format!("exists {name}"),
            Ok(GroupChoice::New(it)) => it["spec"].to_string(),
            Err(error) => error.to_string(),
        };
        assert!(found.contains(expected), "{found}");
    }

    #[test]
    fn without_an_operator_group_one_is_created_for_the_widest_mode() {
        check(&[], &["OwnNamespace", "AllNamespaces"], "", "{}");
        check(
            &[],
            &["OwnNamespace", "AllNamespaces"],
            "OwnNamespace",
            r#"{"targetNamespaces":["own"]}"#,
        );
        check(&[], &["OwnNamespace"], "", r#"{"targetNamespaces":["own"]}"#);
        check(&[], &["SingleNamespace"], "", "no namespace is given");
        check(&[], &["SingleNamespace"], "SingleNamespace=b", r#"["b"]"#);
        check(&[], &["AllNamespaces"], "SingleNamespace=own", "pass `--install-mode OwnNamespace`");
        check(
            &[],
            &["AllNamespaces"],
            "MultiNamespace=b,c",
            "does not support install mode MultiNamespace",
        );
        check(&[], &[], "", "no supported install modes");
    }

    #[test]
    fn an_existing_operator_group_is_used_if_the_operator_supports_it() {
        let all = existing("g", json!({}));
        let own = existing("g", json!({"targetNamespaces": ["own"]}));
        let selected = existing("g", json!({"selector": {"matchLabels": {"a": "b"}}}));
        let two = existing("g", json!({"targetNamespaces": ["own", "b"]}));
        check(std::slice::from_ref(&all), &["AllNamespaces"], "", "exists g");
        check(
            std::slice::from_ref(&all),
            &["OwnNamespace"],
            "",
            "needs install mode AllNamespaces",
        );
        check(
            std::slice::from_ref(&own),
            &["AllNamespaces"],
            "",
            "needs install mode OwnNamespace",
        );
        check(std::slice::from_ref(&own), &["OwnNamespace"], "OwnNamespace", "exists g");
        check(
            std::slice::from_ref(&own),
            &["OwnNamespace", "AllNamespaces"],
            "AllNamespaces",
            "it selects the namespaces own",
        );
        check(std::slice::from_ref(&selected), &["SingleNamespace"], "", "exists g");
        check(
            std::slice::from_ref(&two),
            &["MultiNamespace"],
            "",
            "needs install mode OwnNamespace",
        );
        check(
            &[two.clone(), all.clone()],
            &["AllNamespaces"],
            "",
            "has 2 OperatorGroups: `g`, `g`",
        );
        // Ours is applied again.
        check(&[existing(GROUP, json!({}))], &["AllNamespaces"], "", "{}");
    }
}
