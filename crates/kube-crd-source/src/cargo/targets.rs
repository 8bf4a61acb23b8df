//! The targets of a package: what Cargo.toml lists, and what cargo finds where it looks by itself.

use toml::{Table, Value};

use crate::text::sources::Texts;
use crate::text::{SourcePath, below};

/// One kind of target beside the library.
pub struct TargetKind {
    /// Their key in Cargo.toml.
    pub key: &'static str,
    /// The key that turns the search for them off.
    auto: &'static str,
    folder: &'static str,
}

pub const BINARIES: TargetKind = TargetKind { key: "bin", auto: "autobins", folder: "src/bin" };
pub const EXAMPLES: TargetKind =
    TargetKind { key: "example", auto: "autoexamples", folder: "examples" };

/// The crate's name and root file of the library; none where there is none.
pub fn find_library(
    folder: &str,
    manifest: &Table,
    package: &str,
    texts: &Texts<'_>,
) -> Option<(String, SourcePath)> {
    let lib = manifest.get("lib");
    let text = |key: &str| lib.and_then(|lib| lib.get(key)).and_then(Value::as_str);
    let root: SourcePath = below(folder, text("path").unwrap_or("src/lib.rs")).parse().ok()?;
    let is_there = texts.ensure_allowed(&root, folder) && texts.contains_key(&root);
    is_there.then(|| (crate_name(text("name").unwrap_or(package)), root))
}

/// A binary or an example.
pub struct Program {
    pub name: String,
    pub root: SourcePath,
    /// The features without which it is not built.
    pub required: Vec<String>,
}

/// Every target of a kind.
pub fn list_programs(
    kind: &TargetKind,
    folder: &str,
    manifest: &Table,
    package: &str,
    texts: &Texts<'_>,
) -> Vec<Program> {
    let place = |path: &str| -> Option<SourcePath> {
        let path = below(folder, path).parse().ok();
        path.filter(|path| texts.ensure_allowed(path, folder) && texts.contains_key(path))
    };
    let mut found: Vec<(String, String)> = Vec::new();
    if kind.key == "bin" {
        found.push((package.to_owned(), "src/main.rs".to_owned()));
    }
    for name in texts.list_names(&below(folder, kind.folder)) {
        if let Some(name) = name.strip_suffix('/') {
            found.push((name.to_owned(), format!("{}/{name}/main.rs", kind.folder)));
        } else if let Some(stem) = name.strip_suffix(".rs") {
            found.push((stem.to_owned(), format!("{}/{name}", kind.folder)));
        }
    }
    let auto =
        manifest.get("package").and_then(|package| package.get(kind.auto)).and_then(Value::as_bool);
    let mut programs: Vec<Program> = Vec::new();
    for target in manifest.get(kind.key).and_then(Value::as_array).into_iter().flatten() {
        let text = |key: &str| target.get(key).and_then(Value::as_str);
        let Some(name) = text("name") else { continue };
        let found = found.iter().filter(|program| program.0 == name).map(|it| it.1.as_str());
        let mut paths = text("path").into_iter().chain(found).filter_map(place);
        let required = target.get("required-features").and_then(Value::as_array);
        let required = required.into_iter().flatten().filter_map(Value::as_str);
        let required = required.map(str::to_owned).collect();
        programs.extend(paths.next().map(|root| Program {
            name: crate_name(name),
            root,
            required,
        }));
    }
    if auto.unwrap_or(true) {
        for (name, path) in found {
            let name = crate_name(&name);
            if let Some(root) = place(&path)
                && programs.iter().all(|program| program.root != root && program.name != name)
            {
                programs.push(Program { name, root, required: Vec::new() });
            }
        }
    }
    programs
}

fn crate_name(name: &str) -> String {
    name.replace('-', "_")
}
