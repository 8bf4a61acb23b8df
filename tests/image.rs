//! `operator-rs image`: a small operator is compiled for its platforms, and its image is read back: from archives here,
//! and by skopeo from a registry. What is missing on a machine is said before anything is compiled.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::BTreeMap,
    env, fs,
    io::Read as _,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;
use support::registry::Registry;

const AMD64: &str = "x86_64-unknown-linux-musl";
const ARM64: &str = "aarch64-unknown-linux-musl";

/// A program that prints where the source of generated code was, and packages that are not linked into it.
const FILES: &[(&str, &str)] = &[
    ("PROJECT", "version: \"3\"\n"),
    (
        "Cargo.toml",
        r#"
[package]
name = "tiny-operator"
version = "0.1.0"
edition = "2024"
license = "Apache-2.0"
description = "A tiny operator"
repository = "https://example.com/tiny"

[dependencies]
greeting = { path = "greeting" }

[dev-dependencies]
unused = { path = "unused" }

[profile.release]
strip = true

[workspace]
members = ["greeting", "unused", "cc"]
"#,
    ),
    ("src/main.rs", "fn main() {\n    println!(\"hello from {}\", greeting::place());\n}\n"),
    (
        "greeting/Cargo.toml",
        "[package]\nname = \"greeting\"\nversion = \"0.2.0\"\nedition = \"2024\"\nlicense = \"MIT/Apache-2.0\"\n\n\
         [build-dependencies]\n",
    ),
    (
        "greeting/build.rs",
        "fn main() {\n    let dir = std::env::var(\"OUT_DIR\").unwrap();\n    \
         let code = \"pub fn place() -> &'static str { file!() }\";\n    \
         std::fs::write(dir + \"/place.rs\", code).unwrap();\n}\n",
    ),
    ("greeting/src/lib.rs", "include!(concat!(env!(\"OUT_DIR\"), \"/place.rs\"));\n"),
    (
        "unused/Cargo.toml",
        "[package]\nname = \"unused\"\nversion = \"0.3.0\"\nedition = \"2024\"\n",
    ),
    ("unused/src/lib.rs", ""),
    ("cc/Cargo.toml", "[package]\nname = \"cc\"\nversion = \"1.0.0\"\nedition = \"2024\"\n"),
    ("cc/src/lib.rs", ""),
];

/// The small operator in a new folder.
fn tiny(name: &str) -> PathBuf {
    let dir = support::fresh(&format!("image/{name}"));
    let files = FILES.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
    support::put(&files.collect(), &dir);
    dir
}

/// With a C library among its dependencies.
fn tiny_with_c(name: &str) -> PathBuf {
    let dir = tiny(name);
    let path = dir.join("greeting/Cargo.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(path, text + "cc = { path = \"../cc\" }\n").unwrap();
    dir
}

/// `operator-rs image`, with nothing of the caller's settings for compilers.
fn image(dir: &Path, words: &str) -> Command {
    let mut res = support::command(support::BINARY, dir);
    res.arg("image").args(words.split_whitespace());
    for (name, _) in env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        let is_setting =
            ["CARGO_TARGET_", "CARGO_PROFILE_", "CARGO_BUILD_", "CC", "CFLAGS", "RUST"];
        if is_setting.iter().any(|it| name.starts_with(it)) && !name.starts_with("RUSTUP") {
            res.env_remove(name);
        }
    }
    res
}

fn run(command: &mut Command) -> Output {
    command.output().expect("the binary starts")
}

fn succeed(command: &mut Command) -> String {
    let output = run(command);
    assert!(output.status.success(), "{command:?}\n{}", support::said(&output));
    String::from_utf8(output.stdout).unwrap()
}

/// A `rustc` that claims to be installed in `sysroot`, and a PATH with no compiler but one for this machine.
fn only(dir: &Path, sysroot: &Path) -> (PathBuf, String) {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let real = |name: &str| {
        let output =
            Command::new("sh").args(["-c", &format!("command -v {name}")]).output().unwrap();
        String::from_utf8(output.stdout).unwrap().trim().to_owned()
    };
    for name in ["sh", "cc", "ps", "awk", "sleep"] {
        std::os::unix::fs::symlink(real(name), bin.join(name)).unwrap();
    }
    let script = format!(
        "#!/bin/sh\n[ \"$*\" = '--print sysroot' ] && echo '{}' && exit\nexec '{}' \"$@\"\n",
        sysroot.display(),
        real("rustc"),
    );
    let rustc = dir.join("rustc");
    fs::write(&rustc, script).unwrap();
    fs::set_permissions(&rustc, PermissionsExt::from_mode(0o755)).unwrap();
    (rustc, bin.display().to_string())
}

#[test]
fn missing_tools_are_reported_before_anything_is_compiled() {
    let dir = tiny_with_c("lacking");
    let elsewhere = support::fresh("image/lacking-machine");
    let sysroot = elsewhere.join("sysroot");
    let (rustc, path) = only(&elsewhere, &sysroot);
    let cargo = env!("CARGO");
    let check = |words: &str, expected: &str| {
        let words = format!("build --tag a/b:1 --archive image.tar {words}");
        let mut command = image(&dir, &words);
        command.env("RUSTC", &rustc).env("PATH", &path).env("CARGO", cargo);
        let output = run(&mut command);
        let text = support::said(&output);
        assert!(output.status.code() == Some(1) && text.contains(expected), "{words}\n{text}");
        assert!(!text.contains("Compiling") && !dir.join("image.tar").exists(), "{text}");
    };
    let libraries = |triple: &str| sysroot.join("lib/rustlib").join(triple).join("lib");
    check(
        "--platform linux/arm64",
        &format!(
            "error: the Rust toolchain of this project has no standard library for {ARM64}\n\
             hint: run `rustup target add {ARM64}` in the project's directory\n"
        ),
    );
    check(
        "--platform linux/arm64,linux/amd64",
        &format!(
            "error: the Rust toolchain of this project has no standard library for {AMD64} and {ARM64}\n\
             hint: run `rustup target add {AMD64} {ARM64}` in the project's directory\n"
        ),
    );
    check(
        "--platform linux/s390x,linux/amd64,linux/ppc64le",
        "error: cannot compile for linux/s390x, linux/ppc64le, only for linux/amd64 and linux/arm64\n",
    );
    fs::create_dir_all(libraries(ARM64)).unwrap();
    fs::create_dir_all(libraries(AMD64)).unwrap();
    let foreign = if cfg!(target_arch = "aarch64") { "amd64" } else { "arm64" };
    check(
        &format!("--platform linux/{foreign}"),
        &format!(
            "error: there is no C compiler for linux/{foreign}, and C code is in: greeting 0.2.0\n\
             hint: run `sudo apt-get install gcc-"
        ),
    );
    // Without C code, only a linker is missing.
    let path = dir.join("greeting/Cargo.toml");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("cc = { path = \"../cc\" }\n", "")).unwrap();
    check(
        &format!("--platform linux/{foreign}"),
        &format!(
            "error: there is no linker for linux/{foreign}\nhint: run `sudo apt-get install gcc-"
        ),
    );
}

/// Rustup says what to do about a toolchain that is not installed.
#[test]
fn what_rustc_says_is_shown() {
    let dir = tiny("no-toolchain");
    let rustc = dir.join("rustc");
    fs::write(
        &rustc,
        "#!/bin/sh\necho \"error: toolchain '1.77.0' is not installed\" >&2\nexit 1\n",
    )
    .unwrap();
    fs::set_permissions(&rustc, PermissionsExt::from_mode(0o755)).unwrap();
    let output = run(image(&dir, "build --archive image.tar").env("RUSTC", &rustc));
    let text = support::said(&output);
    let expected = format!(
        "error: toolchain '1.77.0' is not installed\nerror: `{} -vV` fails\n",
        rustc.display()
    );
    assert!(output.status.code() == Some(1) && text.contains(&expected), "{text}");
}

/// An OCI archive: its files by their paths.
struct Archive(BTreeMap<String, Vec<u8>>);

/// The image of one platform in it.
struct Single {
    manifest: Value,
    config: Value,
    /// Its files, with their modes.
    files: BTreeMap<String, (u32, Vec<u8>)>,
}

impl Archive {
    fn read(path: &Path) -> Self {
        let mut archive = tar::Archive::new(fs::File::open(path).unwrap());
        let mut res = BTreeMap::new();
        for entry in archive.entries().unwrap() {
            let mut entry = entry.unwrap();
            let path = entry.path().unwrap().to_string_lossy().into_owned();
            let mut bytes = Vec::new();
            entry.read_to_end(&mut bytes).unwrap();
            res.insert(path, bytes);
        }
        Self(res)
    }

    fn json(&self, path: &str) -> Value {
        serde_json::from_slice(&self.0[path]).unwrap()
    }

    fn blob(&self, descriptor: &Value) -> &[u8] {
        let digest = descriptor["digest"].as_str().unwrap().replace("sha256:", "blobs/sha256/");
        &self.0[&digest]
    }

    /// What the archive's only name leads to.
    fn top(&self) -> Value {
        let index = self.json("index.json");
        serde_json::from_slice(self.blob(&index["manifests"][0])).unwrap()
    }

    /// By their platforms.
    fn singles(&self) -> BTreeMap<String, Single> {
        let top = self.top();
        let manifests: Vec<Value> = match top["manifests"].as_array() {
            Some(all) => {
                all.iter().map(|it| serde_json::from_slice(self.blob(it)).unwrap()).collect()
            }
            None => vec![top],
        };
        let single = |manifest: Value| {
            let config: Value = serde_json::from_slice(self.blob(&manifest["config"])).unwrap();
            let mut files = BTreeMap::new();
            for layer in manifest["layers"].as_array().unwrap() {
                let gzip = flate2::read::GzDecoder::new(self.blob(layer));
                let mut layer = tar::Archive::new(gzip);
                for entry in layer.entries().unwrap() {
                    let mut entry = entry.unwrap();
                    let path = entry.path().unwrap().to_string_lossy().into_owned();
                    let mut bytes = Vec::new();
                    entry.read_to_end(&mut bytes).unwrap();
                    files.insert(path, (entry.header().mode().unwrap(), bytes));
                }
            }
            let platform = config["architecture"].as_str().unwrap().to_owned();
            (platform, Single { manifest, config, files })
        };
        manifests.into_iter().map(single).collect()
    }
}

/// Only packages of this machine are needed: cargo resolves them without a network.
#[test]
fn the_same_source_is_the_same_image_wherever_it_is_built() {
    if !support::has_target(AMD64) || !support::has_target(ARM64) {
        return;
    }
    let build = |name: &str| {
        let dir = tiny(name);
        let words = "build --tag quay.io/example/tiny:v0.1.0 --platform linux/arm64,linux/amd64";
        let said = succeed(&mut image(&dir, words));
        let archive = Archive::read(&dir.join("target/image.tar"));
        let digest = archive.json("index.json")["manifests"][0]["digest"].clone();
        assert_eq!(said, format!("target/image.tar: {}\n", digest.as_str().unwrap()));
        (fs::read(dir.join("target/image.tar")).unwrap(), archive, dir)
    };
    let (one, archive, dir) = build("one");
    let (other, _, _) = build("elsewhere/another");
    assert!(one == other, "two builds differ");

    let top = archive.top();
    assert_eq!(top["manifests"].as_array().unwrap().len(), 2);
    let singles = archive.singles();
    assert_eq!(singles.keys().collect::<Vec<_>>(), ["amd64", "arm64"]);
    for (platform, single) in &singles {
        check_single(platform, single);
    }
    check_program(&dir, &singles);
}

fn check_single(platform: &str, single: &Single) {
    let labels = serde_json::json!({
        "org.opencontainers.image.title": "tiny-operator",
        "org.opencontainers.image.version": "0.1.0",
        "org.opencontainers.image.description": "A tiny operator",
        "org.opencontainers.image.licenses": "Apache-2.0",
        "org.opencontainers.image.source": "https://example.com/tiny",
    });
    let config = serde_json::json!({
        "Entrypoint": ["/manager"], "Labels": labels, "User": "65532:65532", "WorkingDir": "/",
    });
    assert_eq!(single.config["config"], config);
    assert_eq!(single.config["os"], "linux");
    assert_eq!(single.manifest["annotations"], labels);
    let modes: Vec<_> = single.files.iter().map(|(path, it)| (path.as_str(), it.0)).collect();
    assert_eq!(modes, [("manager", 0o755), ("manager.cdx.json", 0o644)]);
    let machine = single.files["manager"].1[18];
    assert_eq!(machine, if platform == "amd64" { 62 } else { 183 });

    let list: Value = serde_json::from_slice(&single.files["manager.cdx.json"].1).unwrap();
    assert_eq!(list["metadata"]["component"]["name"], "tiny-operator");
    let names: Vec<&Value> =
        list["components"].as_array().unwrap().iter().map(|it| &it["name"]).collect();
    assert_eq!(names, ["greeting", "rust"], "what is linked, and nothing else");
    assert_eq!(list["components"][0]["licenses"][0]["expression"], "MIT OR Apache-2.0");
}

/// The program of this machine's platform runs, and knows nothing about the machine that compiled it.
fn check_program(dir: &Path, singles: &BTreeMap<String, Single>) {
    let here = if cfg!(target_arch = "aarch64") { "arm64" } else { "amd64" };
    let program = dir.join("manager");
    fs::write(&program, &singles[here].files["manager"].1).unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o755)).unwrap();
    let output = run(&mut Command::new(&program));
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("hello from /src/target/") && text.ends_with("/place.rs\n"), "{text}");
    for single in singles.values() {
        let program = String::from_utf8_lossy(&single.files["manager"].1);
        assert!(!program.contains(env!("CARGO_TARGET_TMPDIR")), "a path of this machine is inside");
    }
}

#[test]
fn flags_change_what_they_name() {
    if !support::has_target(AMD64) {
        return;
    }
    let dir = tiny("flags");
    let words = "build --platform linux/amd64 --archive out/layout --label a=b --label c=d=e --sbom out/list.json --locked";
    let output = run(&mut image(&dir, words));
    let text = support::said(&output);
    assert!(!output.status.success() && text.contains("--locked"), "{text}");
    succeed(&mut image(&dir, &words.replace(" --locked", "")));
    succeed(&mut image(&dir, words));
    let list: Value =
        serde_json::from_slice(&fs::read(dir.join("out/list.json")).unwrap()).unwrap();
    assert_eq!(list["metadata"]["component"]["version"], "0.1.0");
    let files = support::tree(&dir.join("out/layout"));
    let labels = |it: &&Vec<u8>| String::from_utf8_lossy(it).contains(r#""a":"b","c":"d=e""#);
    assert!(files.values().any(|it| labels(&it)), "{:?}", files.keys());

    let refused = |words: &str, expected: &str| {
        let output = run(&mut image(&dir, words));
        let text = support::said(&output);
        assert!(!output.status.success() && text.contains(expected), "{words}\n{text}");
    };
    refused("build --bin other", "the package `tiny-operator` has no program `other`");
    refused("build --platform linux/s390x", "cannot compile for linux/s390x, only for linux/amd64");
    refused(
        "build --platform linux/amd64,linux/arm64 --sbom list.json",
        "`--sbom` writes the list of one platform",
    );
    refused("build --format docker --archive layout", "`--format docker` writes an archive");
    refused(
        "build --format docker --platform linux/amd64,linux/arm64",
        "a Docker archive holds one platform",
    );
    let tree = support::tree(&dir);
    let same = |words: &str, expected: &str| {
        refused(words, expected);
        assert_eq!(support::difference(&tree, &support::tree(&dir)), None, "{words}");
    };
    let build = "build --platform linux/amd64";
    same(&format!("{build} --sbom src/main.rs"), "`src/main.rs` exists, and `--sbom` has not");
    same(&format!("{build} --archive a.tar --sbom ./a.tar"), "and the image are the same file");
    same(&format!("{build} --archive a --sbom a/list.json"), "and the image are the same file");
    same(&format!("{build} --archive src --sbom b.json"), "`src` is neither empty nor an OCI");
    same("push localhost:1/a:v1 --sbom Cargo.toml", "`Cargo.toml` exists, and `--sbom` has not");
    refused("build --label a", "must look like `KEY=VALUE`");
    refused("push quay.io/example/tiny@sha256:0", "invalid value");
    // The errors of the compiler are shown, and nothing is written.
    fs::write(dir.join("src/main.rs"), "fn main() { nothing() }\n").unwrap();
    refused("build --archive broken.tar", "cannot find function `nothing`");
    refused("build --archive broken.tar", "error: cargo failed; its messages are above");
    assert!(!dir.join("broken.tar").exists());
}

#[test]
fn a_package_with_several_programs_needs_a_choice() {
    if !support::has_target(AMD64) {
        return;
    }
    let dir = tiny("several");
    fs::create_dir_all(dir.join("src/bin")).unwrap();
    fs::write(dir.join("src/bin/other.rs"), "fn main() { println!(\"other\"); }\n").unwrap();
    let output = run(&mut image(&dir, "build --platform linux/amd64"));
    let text = support::said(&output);
    let expected = "error: the package `tiny-operator` has several programs: other, tiny-operator\n\
                    hint: choose one with `--bin NAME`\n";
    assert!(text.contains(expected), "{text}");
    succeed(&mut image(&dir, "build --platform linux/amd64 --bin other"));
    let singles = Archive::read(&dir.join("target/image.tar")).singles();
    let program = String::from_utf8_lossy(&singles["amd64"].files["manager"].1).into_owned();
    assert!(program.contains("other\n"));
}

#[test]
fn a_package_of_a_workspace_is_chosen_by_its_name() {
    if !support::has_target(AMD64) {
        return;
    }
    let dir = tiny("workspace");
    fs::remove_file(dir.join("PROJECT")).unwrap();
    fs::create_dir_all(dir.join("operator/src")).unwrap();
    fs::rename(dir.join("src/main.rs"), dir.join("operator/src/main.rs")).unwrap();
    let manifest = fs::read_to_string(dir.join("Cargo.toml")).unwrap();
    let (package, _) = manifest.split_once("[profile").unwrap();
    let package = package.replace("path = \"", "path = \"../");
    fs::write(dir.join("operator/Cargo.toml"), package).unwrap();
    let members = "[workspace]\nresolver = \"3\"\nmembers = [\"operator\", \"greeting\", \"unused\", \"cc\"]\n";
    fs::write(dir.join("Cargo.toml"), members).unwrap();
    for (words, expected) in [
        (
            "build --platform linux/amd64",
            "error: Cargo.toml has no `[package]`\nhint: choose the operator's package: `--package tiny-operator`\n",
        ),
        (
            "build --platform linux/amd64 --package other",
            "error: `other` is not a package of this workspace\nhint: these have programs: tiny-operator\n",
        ),
        (
            "build --platform linux/amd64 -p greeting",
            "error: the package `greeting` has no program\n",
        ),
    ] {
        let text = support::said(&run(&mut image(&dir, words)));
        assert!(text.contains(expected), "{words}: {text}");
    }
    succeed(&mut image(&dir, "build --platform linux/amd64 -p tiny-operator"));
    let singles = Archive::read(&dir.join("target/image.tar")).singles();
    let program = String::from_utf8_lossy(&singles["amd64"].files["manager"].1).into_owned();
    assert!(program.contains("hello from "));
    // The package below is that of the folder.
    succeed(&mut image(&dir.join("operator"), "build --platform linux/amd64 --archive it.tar"));
}

/// With a base image, in which the program is one layer more.
#[test]
fn an_image_is_pushed_and_other_tools_read_it() {
    let dir = tiny("pushed");
    let Some(registry) = Registry::start(&dir.join("target/registry")) else { return };
    let Some(skopeo) = support::installed(&["skopeo"], "images", "skopeo") else { return };
    if !support::has_target(AMD64) || !support::has_target(ARM64) {
        return;
    }
    let name = format!("{}/example/tiny:v0.1.0", registry.name);
    let words = format!("push {name} --platform linux/amd64,linux/arm64");
    let said = succeed(&mut image(&dir, &words));
    let digest = said.trim().strip_prefix(&format!("{name}@")).expect(&said).to_owned();
    assert_eq!(succeed(&mut image(&dir, &words)), said, "a second push is the same");
    let inspect = |name: &str, architecture: &str| -> Value {
        let mut command = Command::new(&skopeo);
        command.args(["--override-arch", architecture, "inspect", "--tls-verify=false"]);
        let output = run(command.arg(format!("docker://{name}")));
        assert!(output.status.success(), "{}", support::said(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    };
    for architecture in ["amd64", "arm64"] {
        let found = inspect(&name, architecture);
        assert_eq!(found["Architecture"], architecture);
        assert_eq!(found["Digest"], digest.as_str());
        assert_eq!(found["Labels"]["org.opencontainers.image.title"], "tiny-operator");
        assert_eq!(found["Layers"].as_array().unwrap().len(), 1);
    }

    // On top of itself, by tag and by digest.
    let above = format!("{}/example/above:v1", registry.name);
    let words = format!("push {above} --platform linux/arm64 --base");
    let output = run(&mut image(&dir, &format!("{words} {name}")));
    let text = support::said(&output);
    let pinned = format!("{}/example/tiny@{digest}", registry.name);
    let warning = format!(
        "warning: the image depends on what `{name}` is now; to make it reproducible, pass `--base {pinned}`\n"
    );
    assert!(output.status.success() && text.contains(&warning), "{text}");
    let found = inspect(&above, "arm64");
    assert_eq!(found["Layers"].as_array().unwrap().len(), 2);
    let output = run(&mut image(&dir, &format!("{words} {pinned}")));
    let text = support::said(&output);
    assert!(output.status.success() && !text.contains("warning"), "{text}");

    let refused = |words: &str, expected: &str| {
        let output = run(&mut image(&dir, words));
        let text = support::said(&output);
        assert!(!output.status.success() && text.contains(expected), "{words}\n{text}");
    };
    let other = format!("push {above} --base {}/example/nothing:v1", registry.name);
    refused(&other, "cannot resolve the digest of");
    refused(
        &format!("push {above}@{digest}"),
        "must not have a digest: it is computed from the content",
    );
}
