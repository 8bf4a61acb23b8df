use std::{
    fmt,
    path::{Component, Path},
    str::FromStr,
};

/// A path of a source file: inside the workspace with `/`; outside of it upwards
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
}

/// A relative path seen from a folder, with `.` and `..` taken out as far as they can be. `""` is the folder
/// that all paths are seen from.
pub fn below(folder: &str, relative: &str) -> String {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in relative.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|part| *part != "..") => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

impl FromStr for SourcePath {
    type Err = NotASourcePath;
    fn from_str(text: &str) -> Result<Self, NotASourcePath> {
        let rest = text.trim_start_matches("../");
        if rest == ".." || is_inside(rest) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotASourcePath(text.to_owned()))
        }
    }
}
/// Returns whether a path names something inside of the folder that it is seen from.
pub fn is_inside(text: &str) -> bool {
    let normal = |it: Component<'_>| matches!(it, Component::Normal(_));
    let plain = !text.contains(['\\', '\n', '\0']) && !text.ends_with('/');
    !text.is_empty() && plain && Path::new(text).components().all(normal)
}

/// The text that is no [`SourcePath`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotASourcePath(String);

impl fmt::Display for NotASourcePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is not a path of a source file", self.0)
    }
}
impl std::error::Error for NotASourcePath {}

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
}
