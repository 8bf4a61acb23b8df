use std::{
    fmt,
    path::{Component, Path, PathBuf},
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
    /// Parses a path that the operating system or a person has given, so that `\` separates its parts on Windows. In
    /// files, where [`FromStr`] parses paths, `\` is refused on every system: a project moves between systems.
    pub fn from_system(path: &str) -> Result<Self, Refusal> {
        let path: Self = with_slashes(path, cfg!(windows)).parse()?;
        require_names_of_system(&path)?;
        Ok(path)
    }

    /// Returns a path that is a constant in the source of this program.
    pub fn fixed(path: &str) -> Self {
        path.parse().expect("a path written in the source is a project path")
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the last part: `role.yaml`.
    pub fn name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the part after the last `.` of the name, or an empty text.
    pub fn extension(&self) -> &str {
        self.name().rsplit_once('.').map_or("", |(_, extension)| extension)
    }

    /// Returns the folder that contains it; `None` at the root.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.to_owned()))
    }

    pub fn is_in(&self, folder: &Self) -> bool {
        self.0.strip_prefix(&folder.0).is_some_and(|rest| rest.starts_with('/'))
    }

    /// Resolves a path relative to this folder, which may contain `..`. A path that leaves the project is refused.
    pub fn join(&self, relative: &str) -> Result<Self, Refusal> {
        let path = resolve_path(&self.0, relative);
        path.ok_or_else(|| Refusal::new(format!("`{relative}` leaves the project")))?.parse()
    }
}

/// Formats a path for messages and output, which are the same on every system: with `/`, and without the prefix of
/// Windows' long paths. Parts that are not UTF-8 are replaced.
pub fn display_path<P: AsRef<Path> + ?Sized>(path: &P) -> String {
    with_slashes(&path.as_ref().to_string_lossy(), cfg!(windows))
}

/// Returns a resolved path as people and other programs write it. Windows resolves paths to its own form, with the
/// prefix `\\?\`, which many programs do not accept. The prefix stays if the path would mean another file without it.
pub fn without_verbatim_prefix(path: PathBuf) -> PathBuf {
    match path.to_str().filter(|_| cfg!(windows)).and_then(plain_on_windows) {
        Some(plain) => plain.into(),
        None => path,
    }
}

fn plain_on_windows(path: &str) -> Option<String> {
    let rest = path.strip_prefix(r"\\?\")?;
    let (start, names) = match rest.strip_prefix(r"UNC\") {
        Some(share) => (r"\\", share),
        None => (rest.get(..3).filter(|drive| drive.ends_with(r":\"))?, rest.get(3..)?),
    };
    let is_plain = names.is_empty() || names.split('\\').all(is_file_name_on_windows);
    is_plain.then(|| format!("{start}{names}"))
}

/// Returns whether Windows keeps a file name for a device, whatever its extension is: `nul`, `con.rs`.
pub fn is_device_of_windows(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).trim_end().to_ascii_lowercase();
    let is_numbered = |device: &str| {
        let number = stem.strip_prefix(device).map(str::as_bytes);
        number.is_some_and(|digits| matches!(digits, [b'1'..=b'9']))
    };
    matches!(&*stem, "con" | "prn" | "aux" | "nul") || is_numbered("com") || is_numbered("lpt")
}

/// Refuses a path with a name that no file can have on this system: Windows would open a device, or another file.
pub fn require_names_of_system(path: impl AsRef<Path>) -> Result<(), Refusal> {
    require_names(path.as_ref(), cfg!(windows))
}

fn require_names(path: &Path, is_windows: bool) -> Result<(), Refusal> {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => name.to_str(),
        _ => None,
    });
    let mut refused = names.filter(|name| is_windows && !is_file_name_on_windows(name));
    refused.next().map_or(Ok(()), |name| {
        Err(Refusal::new(format!("`{name}` cannot be the name of a file on Windows")))
    })
}

/// Returns whether a file or folder can have this name on Windows, and keeps it as it is written.
pub fn is_file_name_on_windows(name: &str) -> bool {
    !is_device_of_windows(name)
        && !name.ends_with([' ', '.'])
        && !name.contains(['<', '>', ':', '"', '|', '?', '*'])
        && name.chars().all(|letter| letter >= ' ')
}

fn with_slashes(path: &str, is_windows: bool) -> String {
    if !is_windows {
        return path.to_owned();
    }
    let path = path.replace('\\', "/");
    match (path.strip_prefix("//?/UNC/"), path.strip_prefix("//?/")) {
        (Some(share), _) => format!("//{share}"),
        (None, Some(rest)) => rest.to_owned(),
        (None, None) => path,
    }
}

#[test]
fn names_of_devices_are_known() {
    for name in ["con", "NUL", "aux.rs", "com1", "lpt9.yaml", "prn .txt"] {
        assert!(is_device_of_windows(name), "{name}");
    }
    for name in ["con_", "console", "com", "com0", "com10", "null", "a.con"] {
        assert!(!is_device_of_windows(name), "{name}");
    }
    for name in ["a:b", "a.", "a ", "what?", "nul.yaml", "a\tb"] {
        assert!(!is_file_name_on_windows(name), "{name}");
    }
    assert!(is_file_name_on_windows(".github") && is_file_name_on_windows("a b.yaml"));
    assert_eq!(
        (crate::module_name("aux"), crate::module_name("aux1")),
        ("aux_".into(), "aux1".into())
    );
}

#[test]
fn a_path_with_a_name_that_windows_refuses_is_refused_there() {
    for path in ["dist/con", "/a/nul.yaml", "dist./x", "a/b "] {
        assert!(require_names(Path::new(path), true).is_err(), "{path}");
        assert!(require_names(Path::new(path), false).is_ok(), "{path}");
    }
    assert!(require_names(Path::new("../dist/crds"), true).is_ok());
}

#[test]
fn paths_of_windows_are_shown_with_slashes() {
    let check = |path: &str, shown: &str| assert_eq!(with_slashes(path, true), shown);
    check(r"config\crd", "config/crd");
    check(r"\\?\C:\project\a b", "C:/project/a b");
    check(r"\\?\UNC\server\share\x", "//server/share/x");
    check(r"\\server\share", "//server/share");
    check("config/crd", "config/crd");
    assert_eq!(with_slashes(r"a\b", false), r"a\b");
}

#[test]
fn resolved_paths_of_windows_lose_the_prefix_unless_they_need_it() {
    let check = |path: &str, expected: Option<&str>| {
        assert_eq!(plain_on_windows(path).as_deref(), expected, "{path}");
    };
    check(r"\\?\C:\project\a b", Some(r"C:\project\a b"));
    check(r"\\?\C:\", Some(r"C:\"));
    check(r"\\?\UNC\server\share\x", Some(r"\\server\share\x"));
    check(r"C:\project", None);
    check(r"\\server\share", None);
    check(r"\\?\C:\project\nul", None);
    check(r"\\?\C:\project\dot.", None);
    check(r"\\?\Volume{1}\project", None);
    let long = format!(r"C:\{}", "directory\\".repeat(40) + "file");
    check(&format!(r"\\?\{long}"), Some(&long));
}

/// Resolves a path relative to a folder, which may contain `..`. The top is empty; a path that leads out of it is none.
pub fn resolve_path(folder: &str, relative: &str) -> Option<String> {
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
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
        if text.contains('\\') {
            let written = text.replace('\\', "/");
            return Err(Refusal::new(format!(
                "`{text}` has a `\\`: write `{written}`, with the `/` that paths have on every system"
            )));
        }
        let inside = |component: Component<'_>| {
            matches!(component, Component::Normal(_) | Component::CurDir)
        };
        // Each path has a single spelling, or one file could look like two: `./bundle/` is `bundle`.
        let parts: Vec<&str> = text.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
        let is_plain = !text.contains(['\n', '\0']);
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
    let backslash = "a\\b".to_owned();
    let refusal = ProjectPath::try_from(backslash).expect_err("it is refused").to_string();
    let expected = r"`a\b` has a `\`: write `a/b`, with the `/` that paths have on every system";
    assert_eq!(refusal, expected);
    assert_eq!(ProjectPath::fixed("./a//b/./c/.").as_str(), "a/b/c");
    assert_eq!(ProjectPath::fixed("bundle/").as_str(), "bundle");
    let folder = ProjectPath::fixed("config/default");
    assert_eq!(folder.join("../crd/a b.yaml").expect("inside").as_str(), "config/crd/a b.yaml");
    assert!(folder.join("../../../a").is_err());
}
