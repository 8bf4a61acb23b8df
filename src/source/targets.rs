//! The targets of a package: what Cargo.toml lists, and what cargo finds where it looks by itself.

use toml::{Table, Value};

use super::library::Texts;
use crate::model::{SourcePath, below};

/// One kind of target beside the library.
pub struct Kind {
    /// What Cargo.toml calls them.
    pub key: &'static str,
    /// What turns the search for them off.
    auto: &'static str,
    folder: &'static str,
}

pub const BINARIES: Kind = Kind { key: "bin", auto: "autobins", folder: "src/bin" };
pub const EXAMPLES: Kind = Kind { key: "example", auto: "autoexamples", folder: "examples" };

/// The crate's name and root file of the library; none where there is none.
pub fn library(
    folder: &str,
    manifest: &Table,
    package: &str,
    texts: &Texts<'_>,
) -> Option<(String, SourcePath)> {
    let lib = manifest.get("lib");
    let text = |key: &str| lib.and_then(|it| it.get(key)).and_then(Value::as_str);
    let root: SourcePath = below(folder, text("path").unwrap_or("src/lib.rs")).parse().ok()?;
    texts.contains_key(&root).then(|| (crate_name(text("name").unwrap_or(package)), root))
}

/// The same of every target of a kind.
pub fn read(
    kind: &Kind,
    folder: &str,
    manifest: &Table,
    package: &str,
    texts: &Texts<'_>,
) -> Vec<(String, SourcePath)> {
    let place = |path: &str| -> Option<SourcePath> {
        below(folder, path).parse().ok().filter(|it| texts.contains_key(it))
    };
    let mut found: Vec<(String, String)> = Vec::new();
    if kind.key == "bin" {
        found.push((package.to_owned(), "src/main.rs".to_owned()));
    }
    for name in texts.library.names(&below(folder, kind.folder)) {
        if let Some(name) = name.strip_suffix('/') {
            found.push((name.to_owned(), format!("{}/{name}/main.rs", kind.folder)));
        } else if let Some(stem) = name.strip_suffix(".rs") {
            found.push((stem.to_owned(), format!("{}/{name}", kind.folder)));
        }
    }
    let auto = manifest.get("package").and_then(|it| it.get(kind.auto)).and_then(Value::as_bool);
    let mut res: Vec<(String, SourcePath)> = Vec::new();
    for target in manifest.get(kind.key).and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| target.get(key).and_then(Value::as_str);
        let Some(name) = text("name") else { continue };
        let found = found.iter().filter(|it| it.0 == name).map(|it| it.1.as_str());
        let mut paths = text("path").into_iter().chain(found).filter_map(place);
        res.extend(paths.next().map(|path| (crate_name(name), path)));
    }
    if auto.unwrap_or(true) {
        for (name, path) in found {
            if let Some(path) = place(&path)
                && res.iter().all(|it| it.1 != path && it.0 != crate_name(&name))
            {
                res.push((crate_name(&name), path));
            }
        }
    }
    res
}

fn crate_name(name: &str) -> String {
    name.replace('-', "_")
}
