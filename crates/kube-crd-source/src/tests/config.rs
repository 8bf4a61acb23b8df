//! What cargo's configuration and build scripts change.

use super::packages::manifest;
use super::*;

const DEPENDENCIES: &str =
    "[features]\nbig = []\n[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";

/// What is wrong with a project that has this field and these files.
fn found(field: &str, beside: &[(&str, &str)]) -> Vec<String> {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ {field} a: i32 }}");
    let mut project = files(&[("Cargo.toml", &manifest("a", DEPENDENCIES)), ("src/lib.rs", &spec)]);
    project.extend(files(beside));
    all_problems(&read_map(&project)).iter().map(|problem| problem.describe("")).collect()
}

#[track_caller]
fn harmless(config: &str) {
    let field = "#[cfg(feature = \"big\")] size: i32, #[cfg(doc)] doc: i32,";
    assert_eq!(found(field, &[(".cargo/config.toml", config)]), [""; 0], "{config}");
}

#[track_caller]
fn refused(config: &str, expected: &str) {
    let expected = format!(".cargo/config.toml:{expected}");
    assert_eq!(found("", &[(".cargo/config.toml", config)]), [expected], "{config}");
}

#[test]
fn keys_that_change_no_type_are_passed_by() {
    for config in [
        "",
        "[alias]\nxtask = \"run --package xtask --\"\nb = [\"build\"]\n",
        "[build]\njobs = 2\ntarget = \"x86_64-unknown-linux-musl\"\ntarget-dir = \"/tmp/t\"\nrustc-wrapper = \"sccache\"\n",
        "[build]\nrustflags = [\"--cfg\", \"tokio_unstable\", \"-Dwarnings\"]\nrustdocflags = [\"--cfg\", \"docsrs\"]\n",
        "[build]\nrustflags = \"-C target-cpu=native -Z share-generics=y\"\n",
        "[target.'cfg(all())']\nrustflags = [\"-D\", \"warnings\", \"--cfg\", \"tokio_unstable\", \"-A\", \"unused\"]\n",
        "[target.aarch64-unknown-linux-musl]\nlinker = \"aarch64-linux-musl-gcc\"\nrustflags = [\"-C\", \"link-arg=-fuse-ld=lld\"]\nrunner = \"qemu\"\n",
        "[target.x86_64-unknown-linux-gnu.foo]\nrustc-link-lib = [\"foo\"]\nroot = \"/a\"\n",
        "[env]\nRUST_LOG = \"info\"\nWORKSPACE = { value = \"\", relative = true }\n",
        "[registries]\nown = { index = \"https://example.com/index\", token = \"t\" }\n[registry]\ndefault = \"own\"\n",
        "[registries.own]\ncredential-provider = [\"cargo:token\"]\n",
        "[source.crates-io]\nreplace-with = \"mirror\"\n[source.mirror]\nregistry = \"sparse+https://example.com/\"\n",
        "[net]\ngit-fetch-with-cli = true\noffline = true\n[http]\ntimeout = 3\n[term]\nverbose = true\n",
        "[profile.dev]\ndebug = 0\n[profile.release.package.\"*\"]\nopt-level = 3\n",
        "[unstable]\nbuild-std = [\"std\"]\ngitoxide = true\n",
        "[resolver]\nincompatible-rust-versions = \"fallback\"\n[future-incompat-report]\nfrequency = \"never\"\n",
    ] {
        harmless(config);
    }
}

#[test]
fn a_key_that_may_change_what_is_built_is_refused_with_its_line() {
    let patch = "remove the key, or replace the package by `[patch]` in Cargo.toml";
    let unknown = "remove the key if nothing needs it";
    for (config, key, line, hint) in [
        ("paths = [\"over\"]\n", "paths", "1:1", patch),
        ("[patch.crates-io]\nserde = { path = \"a\" }\n", "patch", "1:2", patch),
        (
            "# a\ninclude = [\"other.toml\"]\n",
            "include",
            "2:1",
            "move the keys of the included files into this file",
        ),
        ("[build]\nnew-key = 1\n", "build.new-key", "2:1", unknown),
        ("[unstable]\nnew-key = 1\n", "unstable.new-key", "2:1", unknown),
        ("[other]\nkey = 1\n", "other", "1:2", unknown),
        ("build = 1\n", "build", "1:1", unknown),
        ("[target.'cfg(unix)']\nnew-key = 1\n", "target.cfg(unix).new-key", "2:1", unknown),
        (
            "[resolver]\nlockfile-path = \"other/Cargo.lock\"\n",
            "resolver.lockfile-path",
            "2:1",
            "remove the key: Cargo.lock of the workspace is read",
        ),
        (
            "[env]\nCARGO_MANIFEST_DIR = { value = \"/\", force = true }\n",
            "env.CARGO_MANIFEST_DIR",
            "2:1",
            unknown,
        ),
    ] {
        refused(
            config,
            &format!(
                "{line}: `{key}` in cargo's configuration may change what is built\n  hint: {hint}"
            ),
        );
    }
    refused(
        "[build]\nrustflags = [\"--extern\", \"a=b\"]\n",
        "2:1: unknown compiler flag `--extern` in `build.rustflags`\n  hint: remove the flag: types may differ with it",
    );
    let broken = &found("", &[(".cargo/config.toml", "[build\n")])[0];
    assert!(broken.starts_with(".cargo/config.toml:1:7: cannot be parsed: "), "{broken}");
}

#[test]
fn variables_are_keys_of_the_same_names() {
    let field = "#[cfg(feature = \"big\")] size: i32,";
    let read = |name: &str, value: &str| found(field, &[(&format!("${name}"), value)]);
    for (name, value) in [
        ("CARGO_BUILD_JOBS", "2"),
        ("CARGO_BUILD_TARGET_DIR", "/t"),
        ("CARGO_BUILD_FLAGS", "--release"),
        ("CARGO_ENCODED_RUSTFLAGS", "-C\u{1f}link-arg=a b"),
        ("CARGO_ENV_SIZE", "1"),
        ("CARGO_HTTP_TIMEOUT", "9"),
        // Of cargo's configuration, these are looked up in files only.
        ("CARGO_INCLUDE", "a.toml"),
        ("CARGO_PATHS", "over"),
        ("CARGO_PATCH_CRATES_IO", "a"),
        ("CARGO_PKG_NAME", "a"),
        ("CARGO_PROFILE_DEV_BUILD_OVERRIDE_RUSTFLAGS", "--sysroot /a"),
        ("CARGO_PROFILE_DEV_DEBUG", "0"),
        ("CARGO_REGISTRIES_OWN_INDEX", "sparse+https://a.example/"),
        ("CARGO_REGISTRIES_OWN_TOKEN", "t"),
        ("CARGO_REGISTRY_TOKEN", "t"),
        ("CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS", "allow"),
        ("CARGO_TARGET_DIR", "/t"),
        ("CARGO_TARGET_TMPDIR", "/t"),
        ("CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER", "ld"),
        ("CARGO_UNSTABLE_GITOXIDE_FETCH", "true"),
        ("CARGO_UNSTABLE_TRIM_PATHS", "true"),
        ("RUSTC_BOOTSTRAP", "1"),
        ("RUSTC_WRAPPER", "/opt/a b/sccache"),
        ("RUSTFLAGS", "-D  warnings --cfg tokio_unstable"),
    ] {
        assert_eq!(read(name, value), [""; 0], "{name}");
    }
    for (name, value) in [
        ("CARGO_RESOLVER_LOCKFILE_PATH", "other/Cargo.lock"),
        ("CARGO_SOURCE_vendored-sources_DIRECTORY", "other"),
        ("CARGO_UNSTABLE_ADVANCED_ENV", "true"),
        ("CARGO_UNSTABLE_FEATURE_UNIFICATION", "true"),
    ] {
        let expected = format!(
            "${name}:1:1: `{name}` in the environment may change what is built\n  hint: unset the variable"
        );
        assert_eq!(read(name, value), [expected]);
    }
    for name in [
        "CARGO_BUILD_RUSTFLAGS",
        "CARGO_PROFILE_DEV_PACKAGE_a_RUSTFLAGS",
        "CARGO_PROFILE_DEV_RUSTFLAGS",
        "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS",
        "RUSTFLAGS",
    ] {
        assert_eq!(
            read(name, "--sysroot /a"),
            [format!(
                "${name}:1:1: unknown compiler flag `--sysroot` in `{name}`\n  hint: remove the flag: types may differ with it"
            )]
        );
        let big = read(name, "--cfg feature=\"big\"");
        assert!(big[0].starts_with("src/lib.rs:4:2"), "{name}: {big:?}");
    }
    for name in
        ["CARGO_BUILD_RUSTC", "RUSTC", "RUSTC_WRAPPER", "CARGO_BUILD_RUSTC_WORKSPACE_WRAPPER"]
    {
        let big = read(name, "scripts/wrapper.sh");
        assert!(big[0].starts_with("src/lib.rs:4:2"), "{name}: {big:?}");
    }
    let encoded = read("CARGO_ENCODED_RUSTFLAGS", "--cfg\u{1f}feature = \"big\"");
    assert!(encoded[0].starts_with("src/lib.rs:4:2"), "{encoded:?}");
}

#[test]
fn a_condition_that_flags_or_a_build_script_set_is_not_taken_for_off() {
    let big = "#[cfg(feature = \"big\")] size: i32,";
    let doc = "#[cfg(doc)] size: i32,";
    let told = |field: &str, path: &str, text: &str| {
        let found = found(field, &[(path, text)]);
        assert!(found.len() < 2, "{found:?}");
        found.into_iter().next().is_some_and(|problem| problem.starts_with("src/lib.rs:4:2"))
    };
    let config = ".cargo/config.toml";
    for flags in [
        "[build]\nrustflags = [\"--cfg\", \"feature=\\\"big\\\"\"]\n",
        "[build]\nrustflags = '--cfg=feature=\"big\" -O'\n",
        "[target.'cfg(unix)']\nrustflags = [\"--cfg\", \"feature=\\\"big\\\"\"]\n",
        "[profile.dev]\nrustflags = [\"--cfg\", \"feature=\\\"big\\\"\"]\n",
        "[profile.dev.package.a]\nrustflags = [\"--cfg\", \"feature=\\\"big\\\"\"]\n",
        "[target.x86_64-unknown-linux-gnu.foo]\nrustc-cfg = ['feature=\"big\"']\n",
        "[build]\nrustc-wrapper = \"scripts/wrapper.sh\"\n",
    ] {
        assert!(told(big, config, flags), "{flags}");
    }
    assert!(!told(big, config, "[build]\nrustflags = [\"--cfg\", \"feature=\\\"other\\\"\"]\n"));
    assert!(told(doc, config, "[build]\nrustflags = [\"--cfg\", \"doc\"]\n"));
    let script = |line: &str| format!("fn main() {{ println!(\"{line}\"); }}\n");
    assert!(told(big, "build.rs", &script("cargo:rustc-cfg=feature=\\\"big\\\"")));
    assert!(told(big, "build.rs", &script("cargo::rustc-cfg={}")));
    assert!(!told(big, "build.rs", &script("cargo:rustc-cfg=nightly")));
    assert!(!told(big, "build.rs", &script("cargo:rerun-if-changed=proto")));
    assert!(told(big, "build.rs", "mod other; fn main() { other::run(); }\n"));
    let flags = "[profile.dev]\nrustflags = [\"--cfg\", 'feature=\"big\"']\n";
    let project = manifest("a", DEPENDENCIES);
    assert!(told(big, "Cargo.toml", &format!("{project}{flags}")));
    let scripts = project.replace("edition", "build = [\"a.rs\", \"b.rs\"]\nedition");
    assert!(told(big, "Cargo.toml", &scripts));
}
