//! Manifests and cargo's configuration that point out of the project or would run programs.

use super::Trick;
use crate::plant;

/// Cargo obeys these in a folder that it is run in; only `--compile` and `test` may run it at all.
const CONFIG: &[&str] = &[
    "[build]\nrustc-wrapper = \"../victim/run\"\nrustc = \"../victim/run\"\n",
    "[build]\ntarget-dir = \"../victim/target\"\n",
    "[build]\ntarget-dir = \"/\"\n",
    "[env]\nCARGO_TARGET_DIR = { value = \"../victim/target\", force = true }\nHOME = { value = \"../victim\", force = true }\n",
    "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\ndirectory = \"../victim/repo\"\n",
    "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nreplace-with = \"crates-io\"\n",
    "[source.crates-io]\nreplace-with = \"a\"\n[source.a]\nlocal-registry = \"/dev\"\n",
    "paths = [\"../victim/repo\", \"/\", \"..\"]\n",
    "include = [\"config.toml\", \"../../home/.cargo/credentials.toml\"]\n",
    "[registry]\ntoken = \"\u{1b}[2J\"\n",
    "[alias]\ntest = \"run\"\nbuild = [\"run\"]\n",
    "[",
];

/// What is put behind the name of a crate in `[dependencies]`.
const DEPENDENCIES: &[&str] = &[
    "{ path = \"../victim/repo\" }",
    "{ path = \"../../home/.ssh\" }",
    "{ path = \"/\" }",
    "{ path = \"/dev/zero\" }",
    "{ path = \".\" }",
    "{ path = \"..\" }",
    "{ path = \"fifo\" }",
    "{ path = \"\\u001b[2J\" }",
    "{ path = \"a\\u0000b\" }",
    "{ git = \"file:///etc\" }",
    "{ workspace = true }",
    "[]",
    "1",
    "\"\\u001b[2J\"",
    "{ version = \"1\", package = \"../../victim\" }",
    "{ version = \"1\", features = [\"../..\"], default-features = \"\" }",
];

const WORKSPACES: &[&str] = &[
    "members = [\"../victim/*\"]",
    "members = [\"/*/*/*/*\"]",
    "members = [\"**/**/**/**/**\"]",
    "members = [\"api\", \"api\", \".\", \"..\"]",
    "members = [\"\\u001b[2J\"]",
    "members = [\"[\", \"{\", \"***\"]",
    "members = [\"fifo\"]",
    "members = 1",
    "members = []\nexclude = [\"..\"]",
];

pub fn all() -> Vec<Trick> {
    let mut res = Vec::new();
    for text in CONFIG {
        for path in [".cargo/config.toml", ".cargo/config", "api/.cargo/config.toml"] {
            res.push(Trick::new(format!("{path} is {text:?}"), "Cargo.toml", move |world| {
                plant::file(world, path, text.as_bytes())
            }));
        }
    }
    for text in DEPENDENCIES {
        for path in ["Cargo.toml", "api/Cargo.toml"] {
            for krate in ["kube", "evil"] {
                let title = format!("{path} depends on {krate} = {text}");
                res.push(Trick::new(title, "Cargo.toml", move |world| {
                    plant::fifo(world, "fifo")?;
                    let old = plant::text(world, path);
                    let kept = old.lines().filter(|it| !it.starts_with(krate)).collect::<Vec<_>>();
                    let line = format!("[dependencies]\n{krate} = {text}");
                    plant::file(
                        world,
                        path,
                        kept.join("\n").replacen("[dependencies]", &line, 1).as_bytes(),
                    )?;
                    let spec = "api/src/cache/v1alpha1/memcached.rs";
                    plant::replace(world, spec, "pub size: i32", "pub size: evil::Size")
                }));
            }
        }
    }
    for text in WORKSPACES {
        res.push(Trick::new(format!("a workspace of {text}"), "Cargo.toml", move |world| {
            plant::fifo(world, "fifo")?;
            plant::replace(world, "Cargo.toml", "members = [\"api\"]", text)
        }));
    }
    for (name, line) in [
        ("path", "path = \"../victim/repo/src/main.rs\""),
        ("path", "path = \"/dev/zero\""),
        ("path", "path = \"../home/.ssh/id_ed25519\""),
        ("path", "path = \"fifo\""),
        ("name", "name = \"../../x\""),
        ("name", "name = \"\\u001b[2J\""),
    ] {
        res.push(Trick::new(format!("[lib] with the {name} {line}"), "Cargo.toml", move |world| {
            plant::fifo(world, "fifo")?;
            plant::replace(world, "Cargo.toml", "name = \"operator\"", line)?;
            plant::append(world, "api/Cargo.toml", &format!("\n[lib]\n{line}\n"))
        }));
    }
    for line in [
        "name = \"../../victim\"",
        "name = \"\\u001b[2J\"",
        "name = \"\"",
        "version = \"../..\"",
        "version = \"\\u001b[2J\"",
        "build = \"/dev/zero\"",
        "workspace = \"../victim\"",
    ] {
        let key = line.split(' ').next().unwrap_or("");
        res.push(Trick::new(format!("[package] with {line}"), "Cargo.toml", move |world| {
            for path in ["Cargo.toml", "api/Cargo.toml"] {
                let old = plant::text(world, path);
                let kept = old
                    .lines()
                    .filter(|it| !it.starts_with(&format!("{key} = ")))
                    .collect::<Vec<_>>();
                let new = kept.join("\n").replacen("[package]", &format!("[package]\n{line}"), 1);
                plant::file(world, path, new.as_bytes())?;
            }
            Ok(())
        }));
    }
    let lock = "[[package]]\nname = \"../../../victim\"\nversion = \"../..\"\nsource = \"registry+https://example.com/../../..\"\nchecksum = \"\u{1b}[2J\"\n";
    for text in [
        lock.repeat(3),
        lock.replace("\u{1b}", "\\u001b"),
        "version = 99\n".to_owned(),
        "[".repeat(100_000),
        lock.replace("\u{1b}", "").repeat(5_000),
    ] {
        let title = format!("Cargo.lock is {:?} …", text.chars().take(20).collect::<String>());
        res.push(Trick::new(title, "Cargo.lock", move |world| {
            plant::file(world, "Cargo.lock", text.as_bytes())
        }));
    }
    res
}
