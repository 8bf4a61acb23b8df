//! A Cargo.lock that does not fit the manifests.

use super::packages::{lock, manifest};
use super::*;

const DEPENDENCIES: &str = "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";

/// What is wrong with a project whose Cargo.toml has these lines, and whose Cargo.lock has these packages.
fn found(lines: &str, locked: &str, beside: &[(&str, &str)]) -> Vec<String> {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: i32 }}");
    let mut project = files(&[
        ("Cargo.toml", &manifest("a", lines)),
        ("Cargo.lock", locked),
        ("src/lib.rs", &spec),
    ]);
    project.extend(files(beside));
    read_map(&project).problems.iter().map(ToString::to_string).collect()
}

fn usual() -> String {
    lock(&[(".a", "1.0.0", &[])])
}

#[track_caller]
fn fits(lines: &str, locked: &str) {
    assert_eq!(found(lines, locked, &[]), [""; 0], "{lines}\n{locked}");
}

#[track_caller]
fn outdated(lines: &str, locked: &str, expected: &str) {
    let (place, what) = expected.split_once(' ').expect("a place and a message");
    let expected = format!("{place}: Cargo.lock is out of date: {what}");
    assert_eq!(found(lines, locked, &[]), [expected], "{lines}\n{locked}");
}

#[test]
fn a_requirement_that_the_locked_version_does_not_meet_is_refused_with_its_line() {
    fits(DEPENDENCIES, &usual());
    outdated(
        &DEPENDENCIES.replace("\"1\"\nserde", "\"=1.0.4\"\nserde"),
        &usual(),
        "Cargo.toml:7:1 it has `schemars` 1.2.3, and `=1.0.4` is required",
    );
    outdated(
        &DEPENDENCIES.replace("\"5\"", "{ version = \"=4.0.0\", features = [\"derive\"] }"),
        &usual(),
        "Cargo.toml:6:1 it has `kube` 5.0.0, and `=4.0.0` is required",
    );
    outdated(
        &format!("{DEPENDENCIES}[dependencies.new]\nversion = \"1\"\n"),
        &usual(),
        "Cargo.toml:9:15 it has no `new` for `a`",
    );
    outdated(
        &format!(
            "{DEPENDENCIES}[target.'cfg(unix)'.dev-dependencies]\nnew = \"1\"\n[build-dependencies]\nother = \"1\"\n"
        ),
        &usual(),
        "Cargo.toml:12:1 it has no `other` for `a`, and 1 more requirement is not met",
    );
    outdated(
        &DEPENDENCIES.replace("\"1\"", "\"0.1\"").replace("\"5\"", "\"4\""),
        &usual(),
        "Cargo.toml:6:1 it has `kube` 5.0.0, and `^4` is required, and 2 more requirements are not met",
    );
    // What the workspace's own Cargo.toml says is required where a member inherits it.
    outdated(
        "[workspace.dependencies]\nkube = \"4\"\n[dependencies]\nkube.workspace = true\n",
        &usual(),
        "Cargo.toml:8:1 it has `kube` 5.0.0, and `^4` is required",
    );
}

#[test]
fn a_source_that_is_not_locked_is_refused_with_its_line() {
    let registry = "registry+https://github.com/rust-lang/crates.io-index";
    let git = |lock: &str, source: &str| {
        let before = format!("name = \"serde\"\nversion = \"1.0.228\"\nsource = \"{registry}\"");
        let after = format!("name = \"serde\"\nversion = \"1.0.228\"\nsource = \"{source}\"");
        lock.replace(&before, &after)
    };
    let serde = |value: &str| DEPENDENCIES.replace("serde = \"1\"", &format!("serde = {value}"));
    let branch = "{ git = \"https://example.com/serde.git\", branch = \"b\" }";
    outdated(
        &serde(branch),
        &usual(),
        "Cargo.toml:8:1 it has `serde` 1.0.228, which is not the source in Cargo.toml",
    );
    outdated(
        DEPENDENCIES,
        &git(&usual(), "git+https://example.com/serde#1"),
        "Cargo.toml:8:1 it has `serde` 1.0.228 from `https://example.com/serde#1`, which is not the source in Cargo.toml",
    );
    outdated(
        &serde(branch),
        &git(&usual(), "git+https://example.com/serde?branch=c#1"),
        "Cargo.toml:8:1 it has `serde` 1.0.228 from `https://example.com/serde?branch=c#1`, which is not the source in Cargo.toml",
    );
    let by_path = lock(&[(".a", "1.0.0", &["serde"]), (".serde", "1.0.228", &[])]);
    outdated(
        DEPENDENCIES,
        &by_path,
        "Cargo.toml:8:1 it has `serde` 1.0.228 from a path, which is not the source in Cargo.toml",
    );
    let told = |value: &str, source: &str| {
        let found = found(&serde(value), &git(&usual(), source), &[]);
        found.iter().any(|it| it.contains("out of date"))
    };
    assert!(!told(branch, "git+https://example.com/serde?branch=b#1"));
    assert!(!told(
        "{ git = \"https://example.com/serde\" }",
        "git+https://example.com/Serde.git#1"
    ));
    let slash = "{ git = \"https://example.com/serde\", branch = \"a/b\" }";
    assert!(!told(slash, "git+https://example.com/serde?branch=a%2Fb#1"));
}

#[test]
fn a_registry_that_is_not_locked_is_refused_with_its_line() {
    let usual_source = "name = \"serde\"\nversion = \"1.0.228\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let locked = |source: &str| {
        let other = format!("name = \"new\"\nversion = \"1.0.0\"\nsource = \"{source}\"");
        let usual = usual_source.replace("serde", "new").replace("1.0.228", "1.0.0");
        lock(&[(".a", "1.0.0", &["new"]), ("new", "1.0.0", &[])]).replace(&usual, &other)
    };
    let found = |new: &str, source: &str, beside: &[(&str, &str)]| {
        found(&format!("{DEPENDENCIES}new = {new}\n"), &locked(source), beside)
    };
    let config = "[registries.own-one]\nindex = \"sparse+https://a.example/\"\n";
    let config = (".cargo/config.toml", config);
    let variable = ("$CARGO_REGISTRIES_OWN_ONE_INDEX", "https://b.example/index");
    let own = "{ version = \"1\", registry = \"own-one\" }";
    let by_address = "{ version = \"1\", registry-index = \"https://b.example/index\" }";
    for (new, source, beside) in [
        ("\"1\"", "registry+https://github.com/rust-lang/crates.io-index", &[config][..]),
        (own, "sparse+https://a.example/", &[config]),
        (own, "sparse+https://a.example", &[config]),
        (own, "registry+https://b.example/index", &[config, variable]),
        (own, "registry+https://unknown.example/index", &[]),
        (by_address, "registry+https://b.example/index", &[]),
    ] {
        assert_eq!(found(new, source, beside), [""; 0], "{new} {source}");
    }
    for (new, source, beside) in [
        ("\"1\"", "sparse+https://a.example/", &[config][..]),
        (own, "registry+https://a.example/", &[config]),
        (own, "registry+https://github.com/rust-lang/crates.io-index", &[config]),
        (own, "sparse+https://a.example/", &[config, variable]),
        (by_address, "sparse+https://a.example/", &[]),
    ] {
        let found = found(new, source, beside);
        let expected = "which is not the source in Cargo.toml";
        assert!(found.len() == 1 && found[0].ends_with(expected), "{new} {source}: {found:?}");
    }
    assert_eq!(
        found("\"1\"", "registry+https://b.example/index", &[]),
        [
            "Cargo.toml:9:1: Cargo.lock is out of date: it has `new` 1.0.0 from `https://b.example/index`, which is not the source in Cargo.toml"
        ]
    );
}

#[test]
fn a_patch_that_is_not_locked_is_refused_with_its_line() {
    let patch = format!("{DEPENDENCIES}[patch.crates-io]\nserde = {{ path = \"fork\" }}\n");
    let fork = [("fork/Cargo.toml", "[package]\nname = \"serde\"\nversion = \"1.0.999\"\n")];
    let told = |locked: &str| found(&patch, locked, &fork);
    let expected =
        "Cargo.toml:10:1: Cargo.lock is out of date: it does not have the patched `serde`";
    assert_eq!(told(&usual()), [expected]);
    let older = lock(&[(".a", "1.0.0", &["serde"]), (".serde", "1.0.998", &[])]);
    assert_eq!(told(&older), [expected]);
    let unused = "\n[[patch.unused]]\nname = \"serde\"\nversion = \"1.0.999\"\n";
    assert_eq!(told(&(usual() + unused)), [""; 0]);
}

#[test]
fn parts_of_kube_and_schemars_of_another_version_are_refused() {
    let kube = [
        (".a", "1.0.0", &["kube"][..]),
        ("kube", "5.0.0", &["kube-core", "kube-derive"]),
        ("kube-core", "4.2.0", &[]),
        ("kube-derive", "5.0.0", &[]),
    ];
    outdated(
        DEPENDENCIES,
        &lock(&kube),
        "Cargo.lock:27:1 it has `kube-core` 4.2.0 for `kube` 5.0.0",
    );
    let schemars = [
        (".a", "1.0.0", &["schemars"][..]),
        ("schemars", "1.2.3", &["schemars_derive"]),
        ("schemars_derive", "1.0.0", &[]),
    ];
    outdated(
        DEPENDENCIES,
        &lock(&schemars),
        "Cargo.lock:27:1 it has `schemars_derive` 1.0.0 for `schemars` 1.2.3",
    );
}

#[test]
fn a_replaced_package_is_refused_with_its_line() {
    outdated(
        &format!("{DEPENDENCIES}[replace]\n\"serde:1.0.228\" = {{ path = \"fork\" }}\n"),
        &usual(),
        "Cargo.toml:9:2 `[replace]` is not supported: use `[patch]`",
    );
}

#[test]
fn a_lock_without_kube_is_refused() {
    let locked = |without: &str| {
        let packages = usual();
        let kept: Vec<&str> = packages
            .split("\n\n")
            .filter(|it| !it.contains(&format!("name = \"{without}\"")))
            .collect();
        kept.join("\n\n").replace(&format!(" \"{without}\",\n"), "")
    };
    let manifest = "[dependencies]\nserde = \"1\"\n";
    for name in ["kube-core", "kube-derive", "schemars", "k8s-openapi"] {
        let message = format!(
            "Cargo.lock:1:1: Cargo.lock has no `{name}`: it is unknown which version of it generates the CRDs"
        );
        assert_eq!(found(manifest, &locked(name), &[]), [message]);
    }
}

#[test]
fn the_command_that_updates_the_lock_is_named() {
    let hint = |lines: &str, locked: &str| {
        let project = files(&[
            ("Cargo.toml", &manifest("a", lines)),
            ("Cargo.lock", locked),
            ("src/lib.rs", &format!("{HEAD}{SPEC}\n{KIND} {{ a: i32 }}")),
        ]);
        read_map(&project).problems.into_iter().find_map(|problem| problem.hint)
    };
    let expected = "run `cargo update --workspace`, which brings Cargo.lock up to date";
    assert_eq!(hint(DEPENDENCIES, &lock(&[(".a", "1.0.0", &["new"])])), None);
    assert_eq!(hint("[dependencies]\nnew = \"1\"\n", &usual()), Some(expected.to_owned()));
    let expected =
        "depend on `kube` and `schemars` from crates.io, and run `cargo update --workspace`";
    let other = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\n";
    assert_eq!(hint("", other), Some(expected.to_owned()));
}

#[test]
fn what_cargo_does_not_lock_is_not_asked_for() {
    let path = format!(
        "{DEPENDENCIES}types = {{ path = \"types\" }}\n[workspace]\nexclude = [\"types\"]\n"
    );
    let types = manifest(
        "types",
        "[dependencies]\noff = { version = \"1\", optional = true }\n[dev-dependencies]\ntested = \"1\"\n",
    );
    let locked = lock(&[(".a", "1.0.0", &["types"]), (".types", "1.0.0", &[])]);
    assert_eq!(found(&path, &locked, &[("types/Cargo.toml", &types)]), [""; 0]);
    // A version that was raised since changes nothing that is built.
    fits(DEPENDENCIES, &lock(&[(".a", "0.9.0", &[])]));
}
