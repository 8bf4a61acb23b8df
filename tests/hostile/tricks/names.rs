//! Names of files and folders that are hard to print, to sort or to tell apart.

use super::{Trick, links::FOLDERS};
use crate::plant;

pub const NAMES: &[&[u8]] = &[
    b"\x1b[2J\x1b]0;owned\x07.yaml",
    b"a\nb.yaml",
    b"a\r\x08b.rs",
    b"\xc2\x9b2J.yaml",
    b"\xff\xfe.yaml",
    b"\xff.rs",
    b"-rf",
    b"--help",
    b" ",
    b"a b\t.yaml",
    b"..yaml",
    b"...",
    b"~",
    b"$(id).yaml",
    b"{{a}}.yaml",
    b"\xe2\x80\xaegnp.yaml",
    b"\xf0\x9f\xa6\x80.rs",
    b"*?[.yaml",
    b"a\\b.yaml",
    b"\"'`.yaml",
    b".operator-rs-new",
    b".a.operator-rs-new",
];

/// Names that are the same where upper and lower case are.
const PAIRS: &[&str] = &[
    "project",
    "Project",
    "config/Crd/kustomization.yaml",
    "Config/crd/bases/a.yaml",
    "cargo.toml",
    "API/src/lib.rs",
    "Api/Cargo.toml",
    "src/Lib.rs",
    "Bundle/manifests/a.yaml",
    "bundle/Manifests/a.yaml",
    "config/rbac/Role.yaml",
    "config/crd/bases/Cache.example.com_memcacheds.yaml",
];

pub fn all() -> Vec<Trick> {
    let mut res = Vec::new();
    for folder in FOLDERS.iter().copied().chain(["."]) {
        for name in NAMES {
            let title = format!("{folder} has the file {:?}", String::from_utf8_lossy(name));
            res.push(Trick::new(title, place(folder), move |world| {
                plant::named(world, folder, name, b"a: [\n")
            }));
        }
        let long = "n".repeat(250) + ".yaml";
        res.push(Trick::new(format!("{folder} has a long name"), place(folder), move |world| {
            plant::named(world, folder, long.as_bytes(), b"a: 1\n")
        }));
        res.push(Trick::new(
            format!("{folder} has folders of strange names"),
            place(folder),
            move |world| {
                for name in NAMES {
                    use std::os::unix::ffi::OsStrExt as _;
                    let folder = world.project.join(folder).join(std::ffi::OsStr::from_bytes(name));
                    std::fs::create_dir_all(&folder)?;
                    std::fs::write(folder.join("mod.rs"), "mod a;\n")?;
                }
                Ok(())
            },
        ));
        res.push(Trick::new(format!("{folder} has many files"), place(folder), move |world| {
            (0..3_000).try_for_each(|it| {
                plant::named(world, folder, format!("many{it}.yaml").as_bytes(), b"a: 1\n")
            })
        }));
    }
    for path in PAIRS {
        let top = path.split('/').next().unwrap_or("").to_lowercase();
        let top = if top == "project" { "PROJECT".to_owned() } else { top };
        let top = if top == "cargo.toml" { "Cargo.toml".to_owned() } else { top };
        res.push(Trick::new(format!("{path} beside its twin"), top, move |world| {
            plant::file(world, path, b"by hand\n")
        }));
    }
    for name in NAMES {
        let Ok(text) = std::str::from_utf8(name) else { continue };
        let title = format!("a kustomization names {text:?}");
        res.push(Trick::new(title, "config", move |world| {
            plant::named(world, "config/crd/bases", name, b"\x1b[2J: [\n")?;
            let quoted = serde_json::to_string(&format!("bases/{text}"))?;
            let line = format!("resources:\n- {quoted}\n");
            plant::replace(world, "config/crd/kustomization.yaml", "resources:\n", &line)
        }));
        let title = format!("a module has the path {text:?}");
        res.push(Trick::new(title, "api", move |world| {
            plant::named(world, "api/src", name, b"\x1b[2J fn (\n")?;
            plant::append(world, "api/src/lib.rs", &format!("\n#[path = {text:?}]\nmod strange;\n"))
        }));
    }
    res
}

fn place(folder: &str) -> &str {
    if folder == "." { "" } else { folder }
}
