//! What is published: `cargo package` is complete. Its sources, unpacked outside of this repository, are built, and the
//! program does what a newcomer does first. With `EXHAUSTIVE`, they are built for musl, as releases for Linux are.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use sha2::Digest as _;

const TARGET: &str = "x86_64-unknown-linux-musl";

#[test]
fn the_published_sources_become_a_working_program() {
    let Some(program) = build() else { return };
    let dir = support::fresh("package");
    let run = |dir: &Path, words: &str| {
        let output = support::command(&program, dir).args(words.split(' ')).output().unwrap();
        assert!(output.status.success(), "{words}: {}", support::said(&output));
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(run(&dir, "version").starts_with(concat!("operator-rs ", env!("CARGO_PKG_VERSION"))));

    // Byte for byte the project of the program that the other tests run.
    let project = |name: &str, flags: &str, ours: bool| {
        let dir = dir.join(name);
        fs::create_dir_all(&dir).unwrap();
        for words in [
            &format!("init --domain example.com --project-name memcached-operator{flags}"),
            "create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211",
        ] {
            match ours {
                true => drop(support::done(&dir, words)),
                false => drop(run(&dir, words)),
            }
        }
        dir
    };
    let (published, ours) =
        (project("published", " --vendor", false), project("ours", " --vendor", true));
    let difference = support::difference(&support::tree(&ours), &support::tree(&published));
    assert_eq!(difference, None);

    // Once the crates are published, a new project depends on their versions, and so does one of before. README.md is
    // the user's.
    let (new, before) = (project("new", "", false), project("before", "", true));
    run(&before, "generate");
    fs::copy(new.join("README.md"), before.join("README.md")).unwrap();
    let files = |dir: &Path| {
        let mut files = support::tree(dir);
        // Folders that are empty now stay; git does not know them.
        files.retain(|path, _| !path.ends_with('/'));
        files
    };
    assert_eq!(support::difference(&files(&new), &files(&before)), None);
    assert!(files(&new).keys().all(|it| !it.starts_with("vendor/")));
    run(&new, "generate --check");
    check_lock(&new, &dir.join("registry"), &target());

    check_archive(&dir, &program);
}

/// Cargo accepts Cargo.lock as it is, with a registry that has its packages and those that `target` has packaged.
fn check_lock(project: &Path, registry: &Path, target: &Path) {
    fs::create_dir_all(registry).unwrap();
    let home = env::var_os("CARGO_HOME")
        .map_or_else(|| env::home_dir().unwrap().join(".cargo"), PathBuf::from);
    let sources = home.join("registry/src");
    let sources: Vec<PathBuf> =
        fs::read_dir(sources).unwrap().map(|it| it.unwrap().path()).collect();
    let lock: toml::Table =
        fs::read_to_string(project.join("Cargo.lock")).unwrap().parse().unwrap();
    for package in lock["package"].as_array().unwrap() {
        let Some(checksum) = package.get("checksum") else { continue };
        let field = |it: &str| package[it].as_str().unwrap();
        let name = format!("{}-{}", field("name"), field("version"));
        let folder = registry.join(&name);
        match sources.iter().map(|it| it.join(&name)).find(|it| it.exists()) {
            Some(source) => {
                fs::create_dir(&folder).unwrap();
                for entry in fs::read_dir(source).unwrap().map(Result::unwrap) {
                    let link = folder.join(entry.file_name());
                    std::os::unix::fs::symlink(entry.path(), link).unwrap();
                }
            }
            None => unpack(&target.join("package").join(format!("{name}.crate")), registry),
        }
        let text = serde_json::json!({ "files": {}, "package": checksum }).to_string();
        fs::write(folder.join(".cargo-checksum.json"), text).unwrap();
    }
    let mut metadata = cargo(project, target);
    metadata.args(["metadata", "--locked", "--offline", "--format-version", "1"]);
    metadata.args(["--config", "source.crates-io.replace-with='packages'"]);
    metadata.args(["--config", &format!("source.packages.directory='{}'", registry.display())]);
    succeed(&mut metadata);
}

fn unpack(archive: &Path, to: &Path) {
    succeed(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(to));
}

/// The archive of a release, made of this program.
fn check_archive(dir: &Path, program: &Path) {
    let script = support::home().join(".github/release/archive");
    let mut archive = support::command(script, support::home());
    archive.arg(program).args(["1.2.3", TARGET]).arg(dir.join("dist"));
    succeed(&mut archive);

    let name = format!("operator-rs-v1.2.3-{TARGET}");
    let mut tar = Command::new("tar");
    tar.arg("-xzf").arg(dir.join("dist").join(format!("{name}.tar.gz"))).arg("-C").arg(dir);
    succeed(&mut tar);
    let files = support::tree(&dir.join(name));
    for path in ["operator-rs", "README.md", "CHANGELOG.md", "LICENSE"] {
        assert!(files.contains_key(path), "{path}");
    }
    for script in ["operator-rs.bash", "_operator-rs", "operator-rs.fish", "operator-rs.ps1"] {
        let text = String::from_utf8_lossy(&files[&format!("completions/{script}")]);
        assert!(text.contains("operator-rs"), "{script}");
    }
    let pages: Vec<&String> = files.keys().filter(|it| it.starts_with("man/man1/")).collect();
    assert_eq!(pages.len(), support::done(dir, "man --list").lines().count());
    for page in pages {
        let name = page.trim_start_matches("man/man1/").trim_end_matches(".1");
        let heading = format!("\n.TH {name} 1 ");
        assert!(String::from_utf8_lossy(&files[page]).contains(&heading), "{page}");
    }
}

/// Kept from run to run: dependencies are compiled once.
fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged")
}

/// Packages the workspace and builds the sources, unpacked outside of it; nothing where Rust lacks the target.
fn build() -> Option<PathBuf> {
    let for_musl = env::var_os("EXHAUSTIVE").is_some();
    if for_musl && !support::has_target(TARGET) {
        return None;
    }
    let target = target();
    let words = "package --workspace --no-verify --locked --allow-dirty";
    succeed(cargo(support::home(), &target).args(words.split(' ')));

    let outside = tempfile::tempdir().unwrap();
    let root: toml::Table =
        fs::read_to_string(support::home().join("Cargo.toml")).unwrap().parse().unwrap();
    let is_ours = |it: &&String| root["dependencies"][it.as_str()].get("path").is_some();
    let parts: Vec<&String> =
        root["dependencies"].as_table().unwrap().keys().filter(is_ours).collect();
    for name in parts.iter().map(|it| it.as_str()).chain(["operator-rs"]) {
        let archive = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        unpack(&target.join("package").join(archive), outside.path());
        let unpacked = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        fs::rename(outside.path().join(unpacked), outside.path().join(name)).unwrap();
    }
    publish(&outside.path().join("operator-rs"), &target.join("package"));
    let mut build = cargo(&outside.path().join("operator-rs"), &target);
    build.arg("build");
    // In place of the registry, which does not have these versions yet.
    for name in parts {
        build.args(["--config", &format!("patch.crates-io.{name}.path='../{name}'")]);
    }
    if for_musl {
        build.args(["--target", TARGET]);
        if Command::new("musl-gcc").arg("--version").output().is_err() {
            build.env("CC_x86_64_unknown_linux_musl", "cc");
        }
    }
    // What the tests were compiled with is not compiled again, by a cargo that knows this (1.91).
    succeed(build.env("CARGO_BUILD_BUILD_DIR", support::build_dir()));
    let built = if for_musl { target.join(TARGET) } else { target };
    Some(built.join("debug/operator-rs"))
}

/// Sets `PUBLISHED` as a release does.
fn publish(tool: &Path, packages: &Path) {
    let mut list = String::new();
    for folder in fs::read_dir(support::home().join("crates")).unwrap() {
        let manifest = fs::read_to_string(folder.unwrap().path().join("Cargo.toml")).unwrap();
        let manifest: toml::Table = manifest.parse().unwrap();
        let field = |it: &str| manifest["package"][it].as_str().unwrap();
        let (name, version) = (field("name"), field("version"));
        if ["operator-rs-runtime", "operator-rs-testing"].contains(&name) {
            let archive = fs::read(packages.join(format!("{name}-{version}.crate"))).unwrap();
            let checksum: String =
                sha2::Sha256::digest(archive).iter().map(|it| format!("{it:02x}")).collect();
            list += &format!(
                "Published {{ name: {name:?}, version: {version:?}, checksum: {checksum:?} }},"
            );
        }
    }
    let place = tool.join("src/app/scaffolding/support/mod.rs");
    let source = fs::read_to_string(&place).unwrap();
    let (head, rest) = source.split_once("PUBLISHED: &[Published] = &[").unwrap();
    let (_, rest) = rest.split_once("];").unwrap();
    let changed = format!("{head}PUBLISHED: &[Published] = &[{list}];{rest}");
    fs::write(place, changed).unwrap();
}

fn cargo(dir: &Path, target: &Path) -> Command {
    let mut res = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    res.current_dir(dir).env("CARGO_TARGET_DIR", target);
    res
}

fn succeed(command: &mut Command) {
    let output = command.output().expect("the program starts");
    assert!(output.status.success(), "{command:?}: {}", support::said(&output));
}
