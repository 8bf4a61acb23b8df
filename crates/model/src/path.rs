use std::{
    fmt,
    path::{Component, Path},
    str::FromStr,
};

use serde::{Deserialize, Serialize};

use super::{Refusal, text};

/// A path inside the project: relative, with `/`, without `..`. Spaces and any letters are allowed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ProjectPath(String);
text!(ProjectPath);

impl ProjectPath {
    /// A path that is a constant in our source.
    pub fn fixed(path: &str) -> Self {
        path.parse().expect("a path written in the source is a project path")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part: `role.yaml`.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The part after the last `.` of the name, or an empty text.
    pub fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, it)| it)
    }

    /// The folder that contains it; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(it, _)| Self(it.to_owned()))
    }

    pub fn is_in(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&folder.0).is_some_and(|it| it.starts_with('/'))
    }

    /// Resolves a path relative to this folder, which may contain `..`. A path that leaves the project is refused.
    pub fn join(&self, relative: &str) -> Result<Self, Refusal> {
        let path = resolve(&self.0, relative);
        path.ok_or_else(|| Refusal::new(format!("`{relative}` leaves the project")))?.parse()
    }
}

/// A path relative to a folder, which may contain `..`. The top is empty; what leads out of it is none.
pub fn resolve(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()?),
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

impl FromStr for ProjectPath {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let inside = |it: Component<'_>| matches!(it, Component::Normal(_) | Component::CurDir);
        // Each path has a single spelling, or one file could look like two: `./bundle/` is `bundle`.
        let parts: Vec<&str> = text.split('/').filter(|it| !matches!(*it, "" | ".")).collect();
        let is_plain = !text.contains(['\\', '\n', '\0']);
        if parts.is_empty() || !is_plain || !Path::new(text).components().all(inside) {
            return Err(Refusal::new(format!("`{text}` is not a path inside the project")));
        }
        Ok(Self(parts.join("/")))
    }
}
impl AsRef<Path> for ProjectPath {
    fn as_ref(&self) -> &Path {
        self.0.as_ref()
    }
}
impl fmt::Display for ProjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Files by their paths: those of a bundle, of an image or of a layer.
pub type Files = std::collections::BTreeMap<ProjectPath, Vec<u8>>;

#[test]
fn a_path_stays_inside_the_project() {
    for text in ["", ".", "./", "/a", "../a", "a/../b", "a\\b"] {
        assert!(text.parse::<ProjectPath>().is_err(), "{text}");
    }
    assert_eq!(ProjectPath::fixed("./a//b/./c/.").as_str(), "a/b/c");
    assert_eq!(ProjectPath::fixed("bundle/").as_str(), "bundle");
    let folder = ProjectPath::fixed("config/default");
    assert_eq!(folder.join("../crd/a b.yaml").expect("inside").as_str(), "config/crd/a b.yaml");
    assert!(folder.join("../../../a").is_err());
}
