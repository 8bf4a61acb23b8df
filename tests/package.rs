//! What is published: `cargo package` is complete. Its sources, unpacked outside of this repository, are built for
//! musl, as releases for Linux are, and the program does what a newcomer does first.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

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
    let (published, ours) = (dir.join("published"), dir.join("ours"));
    for words in [
        "init --domain example.com --project-name memcached-operator",
        "create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211",
    ] {
        fs::create_dir_all(&published).unwrap();
        fs::create_dir_all(&ours).unwrap();
        run(&published, words);
        support::done(&ours, words);
    }
    let difference = support::difference(&support::tree(&ours), &support::tree(&published));
    assert_eq!(difference, None);

    check_archive(&dir, &program);
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

/// Packages the workspace and builds the sources, unpacked outside of it; nothing where Rust has no musl here.
fn build() -> Option<PathBuf> {
    let mut rustc = Command::new("rustc");
    let libraries = rustc.args(["--print", "target-libdir", "--target", TARGET]).output();
    let libraries = libraries.expect("rustc starts");
    let libraries = PathBuf::from(String::from_utf8(libraries.stdout).unwrap().trim());
    if !libraries.is_dir() {
        support::missing(&format!("Rust's target is absent: run `rustup target add {TARGET}`"));
        return None;
    }
    // Kept from run to run: dependencies are compiled once.
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packaged");
    let words = "package --workspace --no-verify --locked --allow-dirty";
    succeed(cargo(support::home(), &target).args(words.split(' ')));

    let outside = tempfile::tempdir().unwrap();
    for name in ["operator-rs", "kube-crd-source"] {
        let archive = format!("{name}-{}.crate", env!("CARGO_PKG_VERSION"));
        let mut tar = Command::new("tar");
        tar.arg("-xzf").arg(target.join("package").join(archive)).arg("-C").arg(outside.path());
        succeed(&mut tar);
        let unpacked = format!("{name}-{}", env!("CARGO_PKG_VERSION"));
        fs::rename(outside.path().join(unpacked), outside.path().join(name)).unwrap();
    }
    let mut build = cargo(&outside.path().join("operator-rs"), &target);
    build.args(["build", "--target", TARGET]);
    // In place of the registry, which does not have this version yet.
    build.args(["--config", "patch.crates-io.kube-crd-source.path='../kube-crd-source'"]);
    if Command::new("musl-gcc").arg("--version").output().is_err() {
        build.env("CC_x86_64_unknown_linux_musl", "cc");
    }
    // The program is compared, not debugged.
    succeed(build.env("CARGO_PROFILE_DEV_DEBUG", "0"));
    Some(target.join(TARGET).join("debug/operator-rs"))
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
