use std::{fmt, str::FromStr};

use serde::{Deserialize, Serialize};

use super::{Refusal, text};

/// An API version, e.g. `v1alpha1`.
///
/// Ordered as Kubernetes orders them: by stage, then by the two numbers.
/// <https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definition-versioning/#version-priority>
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Version {
    stage: Stage,
    major: u32,
    minor: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Alpha,
    Beta,
    Stable,
}

const WRONG_FORM: Refusal =
    Refusal(std::borrow::Cow::Borrowed("must look like `v1`, `v1beta1` or `v1alpha1`"));

impl FromStr for Version {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let number = |text: &str| match text.parse::<u32>() {
            // Only the canonical spelling is accepted: no `01`, no `+1`.
            Ok(number) if number > 0 && number.to_string() == text => Ok(number),
            _ => Err(WRONG_FORM),
        };
        let rest = text.strip_prefix('v').ok_or(WRONG_FORM)?;
        let (major, stage, minor) = if let Some((major, minor)) = rest.split_once("alpha") {
            (major, Stage::Alpha, number(minor)?)
        } else if let Some((major, minor)) = rest.split_once("beta") {
            (major, Stage::Beta, number(minor)?)
        } else {
            (rest, Stage::Stable, 0)
        };
        Ok(Self { stage, major: number(major)?, minor })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { stage, major, minor } = self;
        match stage {
            Stage::Alpha => write!(f, "v{major}alpha{minor}"),
            Stage::Beta => write!(f, "v{major}beta{minor}"),
            Stage::Stable => write!(f, "v{major}"),
        }
    }
}

text!(Version);

#[test]
fn versions_sort_as_kubernetes_sorts_them() {
    let sorted = ["v11alpha2", "v12alpha1", "v3beta1", "v10beta3", "v11beta2", "v1", "v2", "v10"];
    let mut versions: Vec<Version> =
        sorted.iter().rev().map(|text| text.parse().unwrap()).collect();
    versions.sort();
    assert_eq!(versions.iter().map(Version::to_string).collect::<Vec<_>>(), sorted);
}

#[test]
fn what_is_not_a_version_is_refused() {
    for text in
        ["", "1", "v", "v0", "v01", "v+1", "v1alpha", "v1alpha0", "v1gamma1", "V1", "v1alpha1beta1"]
    {
        assert!(text.parse::<Version>().is_err(), "{text}");
    }
}
