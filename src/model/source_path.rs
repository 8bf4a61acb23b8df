use std::{fmt, str::FromStr};

use super::{ProjectPath, Refusal};

/// A path of a source file: inside the project as [`ProjectPath`] has it; outside of it upwards
/// (`../common/src/lib.rs`), or from a package's own folder (`chrono-0.4.41/src/lib.rs`).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SourcePath(String);

impl SourcePath {
    /// A path that is written in our own source.
    pub fn fixed(path: &str) -> Self {
        path.parse().expect("a path written in the source is a source path")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The last part: `lib.rs`.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// The folder it is in; none at the top.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(it, _)| Self(it.to_owned()))
    }

    /// The same path in a project, where it is inside.
    pub fn inside(&self) -> Option<ProjectPath> {
        self.0.parse().ok()
    }
}

/// A relative path seen from a folder, with `.` and `..` taken out as far as they can be. `""` is the folder
/// that all paths are seen from.
pub fn below(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|it| !it.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|it| *it != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

impl FromStr for SourcePath {
    type Err = Refusal;
    fn from_str(text: &str) -> Result<Self, Refusal> {
        let rest = text.trim_start_matches("../");
        match rest == ".." || rest.parse::<ProjectPath>().is_ok() {
            true => Ok(Self(text.to_owned())),
            false => Err(Refusal::new(format!("`{text}` is not a path of a source file"))),
        }
    }
}
impl From<ProjectPath> for SourcePath {
    fn from(path: ProjectPath) -> Self {
        Self(path.as_str().to_owned())
    }
}
impl fmt::Display for SourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[test]
fn a_path_may_lead_out_of_the_project_and_back() {
    for text in ["", "/a", "a/../b", "./a", "a\\b", "a/", "../", "../a/../b"] {
        assert!(text.parse::<SourcePath>().is_err(), "{text}");
    }
    assert_eq!(below("api/src", "a/./b.rs"), "api/src/a/b.rs");
    assert_eq!(below("api/src", "../../../../c/d.rs"), "../../c/d.rs");
    assert_eq!(SourcePath::fixed("../c/d.rs").inside(), None);
}
