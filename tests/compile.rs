//! `generate crds --compile`: what the source cannot tell, asked of the compiled code.

#![allow(
    clippy::disallowed_methods,
    reason = "the walls stand in src; a test looks at them from outside"
)]

mod support;

use std::{fs, path::Path, process::Command};

use serde_json::Value;

const HEAD: &str = "use kube::CustomResource;\nuse schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};\n\
                    use serde::{Deserialize, Serialize};\n";

/// A kind with a field whose schema depends on what stands outside of the source.
fn kind(name: &str, field: &str) -> String {
    format!(
        "#[derive(CustomResource, Serialize, Deserialize, Clone, Debug, JsonSchema)]
#[kube(group = \"example.com\", version = \"v1\", kind = \"{name}\")]
pub struct {name}Spec {{
    {field}
}}
"
    )
}

const PLAIN: &str = "pub size: i32,";
const OUTSIDE: &str = "#[schemars(schema_with = \"outside\")]\n    pub size: String,";
const FUNCTION: &str = "fn outside(_: &mut SchemaGenerator) -> Schema {
    let longest = std::env::var(\"NOBODY_SETS_THIS\").map_or(7, |it| it.len());
    json_schema!({ \"type\": \"string\", \"maxLength\": longest })
}
";

/// A package with these files, and the lock of the schemas' fixture.
fn package(files: &[(&str, String)]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let manifest = "[package]\nname = \"asked\"\nversion = \"0.1.0\"\nedition = \"2024\"\n
[dependencies]
k8s-openapi = { version = \"0.29\", features = [\"v1_33\", \"schemars\"] }
kube = { version = \"5\", default-features = false, features = [\"derive\"] }
schemars = \"1\"
serde = { version = \"1\", features = [\"derive\", \"rc\"] }
serde_json = \"1\"
";
    let lock = support::home().join("tests/schemas/Cargo.lock");
    let lock = fs::read_to_string(lock).unwrap();
    let lock = lock.replace(
        "name = \"schemas\"\nversion = \"0.0.1\"",
        "name = \"asked\"\nversion = \"0.1.0\"",
    );
    for (path, text) in
        [("Cargo.toml", manifest.to_owned()), ("Cargo.lock", lock)].iter().chain(files)
    {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

/// What the command prints, and what it says; none printed where it fails.
fn crds(folder: &Path, flags: &[&str]) -> (Option<Vec<Value>>, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_operator-rs"))
        .args(["generate", "crds", "-o", "json"])
        .args(flags)
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", support::generated_target())
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    let printed = output.status.success().then(|| serde_json::from_slice(&output.stdout).unwrap());
    (printed, said)
}

fn size(crd: &Value) -> &Value {
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    &schema["properties"]["spec"]["properties"]["size"]
}

#[test]
fn what_the_source_cannot_tell_the_code_is_asked() {
    let text = [HEAD, &kind("Asked", OUTSIDE), &kind("Plain", PLAIN), FUNCTION].concat();
    let folder = package(&[("src/lib.rs", text)]);
    let (printed, said) = crds(folder.path(), &[]);
    assert_eq!(printed, None);
    assert!(said.contains("Asked → spec.size"), "{said}");
    let (printed, said) = crds(folder.path(), &["--compile"]);
    let printed = printed.expect(&said);
    assert!(said.starts_with("compiling one kind, because of src/lib.rs:"), "{said}");
    assert_eq!(printed.len(), 2);
    assert_eq!(*size(&printed[0]), serde_json::json!({ "type": "string", "maxLength": 7 }));
    // Both ways must agree on what both can tell.
    let (checked, said) = crds(folder.path(), &["--compile", "--check"]);
    assert_eq!(checked.expect(&said), printed);
    assert!(said.starts_with("compiling 2 kinds, to check what was read"), "{said}");
    assert!(!folder.path().join("target").exists(), "the target folder is where the person has it");
}

#[test]
fn a_program_is_asked_too_and_private_kinds_are_told() {
    let kinds = [HEAD, &kind("Asked", OUTSIDE), FUNCTION].concat();
    let main = "//! A program.\n#![deny(warnings)]\nmod api;\nfn main() {\n    println!(\"{}\", api::text());\n}\n";
    let api = format!("{kinds}pub fn text() -> &'static str {{ include_str!(\"../text\") }}\n");
    let folder =
        package(&[("src/main.rs", main.to_owned()), ("src/api.rs", api), ("text", "a".to_owned())]);
    let (printed, said) = crds(folder.path(), &["--compile"]);
    let printed = printed.expect(&said);
    assert_eq!(*size(&printed[0]), serde_json::json!({ "type": "string", "maxLength": 7 }));

    let hidden = format!("pub mod api {{\n    mod inner {{ {kinds} }}\n}}\n");
    let folder = package(&[("src/lib.rs", hidden)]);
    let (printed, said) = crds(folder.path(), &["--compile"]);
    assert_eq!(printed, None);
    assert!(said.contains("`Asked` is private to a module"), "{said}");
    assert!(said.contains("hint: make its module `pub(crate)`"), "{said}");
}

#[test]
fn code_that_does_not_compile_is_told() {
    let text = [HEAD, &kind("Asked", OUTSIDE), FUNCTION, "fn wrong() -> u8 { \"\" }\n"].concat();
    let folder = package(&[("src/lib.rs", text)]);
    let (printed, said) = crds(folder.path(), &["--compile"]);
    assert_eq!(printed, None);
    assert!(said.contains("mismatched types"), "{said}");
    assert!(said.contains("error: `asked` does not compile"), "{said}");
}

#[test]
fn the_code_is_asked_with_the_features_that_are_on() {
    let wide = "pub size: i32,\n    #[cfg(feature = \"wide\")]\n    pub more: i32,\n    #[cfg(feature = \"usual\")]\n    pub usual: i32,";
    let text = [HEAD, &kind("Asked", OUTSIDE), &kind("Plain", wide), FUNCTION].concat();
    for (at, more) in [("src/lib.rs", ""), ("src/main.rs", "fn main() {}\n")] {
        let folder = package(&[(at, text.clone() + more)]);
        let manifest = folder.path().join("Cargo.toml");
        let features = "\n[features]\ndefault = [\"usual\"]\nusual = []\nwide = []\n";
        fs::write(&manifest, fs::read_to_string(&manifest).unwrap() + features).unwrap();
        for (flags, more, usual) in [
            (&[][..], false, true),
            (&["--features", "wide"], true, true),
            (&["--features", "wide,serde_json/unbounded_depth"], true, true),
            (&["--all-features"], true, true),
            (&["--no-default-features"], false, false),
        ] {
            let flags = [&["--compile", "--check"], flags].concat();
            let (printed, said) = crds(folder.path(), &flags);
            let printed = printed.expect(&said);
            let schema = &printed[1]["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
            let fields = &schema["properties"]["spec"]["properties"];
            assert_eq!(
                (&fields["more"].is_object(), &fields["usual"].is_object()),
                (&more, &usual)
            );
        }
    }
}

#[test]
fn kinds_that_only_a_macro_knows_are_asked_by_their_names() {
    // The macro turns a text into code: nobody who reads the source can tell what it makes.
    let kinds = [kind("Made", PLAIN), kind("Made", OUTSIDE).replace("\"v1\"", "\"v2\"")];
    let [one, two] = kinds.map(|it| format!("{HEAD}{FUNCTION}{it}").replace('"', "\\\""));
    let main = format!(
        "mod hidden {{\n    #[makes::kinds(crd, \"pub mod v1 {{ {one} }} pub mod v2 {{ {two} }}\")]\n    \
         pub mod made {{}}\n    pub use v1::Made;\n}}\nfn main() {{}}\n"
    );
    let makes = "use proc_macro::{TokenStream, TokenTree};
#[proc_macro_attribute]
pub fn kinds(args: TokenStream, _: TokenStream) -> TokenStream {
    let Some(TokenTree::Literal(it)) = args.into_iter().last() else { return TokenStream::new() };
    it.to_string().trim_matches('\"').replace(\"\\\\\\\"\", \"\\\"\").replace(\"\\\\n\", \"\\n\").parse().unwrap()
}
";
    let makes_toml = "[package]\nname = \"makes\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[lib]\nproc-macro = true\n";
    let folder = package(&[
        ("src/main.rs", main),
        ("makes/src/lib.rs", makes.to_owned()),
        ("makes/Cargo.toml", makes_toml.to_owned()),
    ]);
    for (name, old, new) in [
        ("Cargo.toml", "[dependencies]\n", "[dependencies]\nmakes = { path = \"makes\" }\n"),
        (
            "Cargo.lock",
            "[[package]]\nname = \"asked\"",
            "[[package]]\nname = \"makes\"\nversion = \"0.1.0\"\n\n[[package]]\nname = \"asked\"",
        ),
    ] {
        let path = folder.path().join(name);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replacen(old, new, 1)).unwrap();
    }
    let (printed, said) = crds(folder.path(), &["--compile"]);
    assert_eq!(printed, None);
    assert!(
        said.contains("`#[makes::kinds]` may declare kinds here, and is not expanded"),
        "{said}"
    );
    assert!(said.contains("--compile --type my_crate::v1::Kind"), "{said}");

    let types = ["--compile", "--type", "asked::hidden::v2::Made", "--type", "asked::hidden::Made"];
    let (printed, said) = crds(folder.path(), &types);
    let printed = printed.expect(&said);
    assert!(said.contains("of what it makes, only what `--type` names is printed"), "{said}");
    assert_eq!(printed.len(), 1);
    let versions: Vec<(&Value, &Value)> = (printed[0]["spec"]["versions"].as_array().unwrap())
        .iter()
        .map(|it| (&it["name"], &it["storage"]))
        .collect();
    assert_eq!(versions, [(&"v2".into(), &true.into()), (&"v1".into(), &false.into())]);

    let (printed, said) = crds(folder.path(), &["--compile", "--type", "other::Made"]);
    assert_eq!(printed, None);
    assert!(said.contains("`other::Made` begins with no crate of this workspace"), "{said}");
}

#[cfg(unix)]
#[test]
fn two_runs_at_once_do_not_share_their_throwaway_crate() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = package(&[("src/lib.rs", format!("{HEAD}{}{FUNCTION}", kind("One", OUTSIDE)))]);
    // In place of cargo: it says so where another one is running, and that it does not compile.
    let cargo = folder.path().join("cargo");
    let script = "#!/bin/sh\nmkdir ../running || echo overlap >> ../overlaps\necho run >> ../runs\nsleep 0.5\nrmdir ../running\nexit 1\n";
    fs::write(&cargo, script).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let run = || {
        let mut command = support::command(support::BINARY, folder.path());
        command.args(["generate", "crds", "--compile"]).env("CARGO", &cargo);
        command.env_remove("CARGO_TARGET_DIR");
        command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::piped());
        command.spawn().unwrap()
    };
    let both = [run(), run()].map(|it| it.wait_with_output().unwrap());
    let said: String = both.iter().map(support::said).collect();
    let crates = folder.path().join("target/operator-rs");
    assert_eq!(fs::read_to_string(crates.join("runs")).unwrap(), "run\nrun\n", "{said}");
    assert!(!crates.join("overlaps").exists(), "{said}");
    assert_eq!(
        said.matches("waiting for another operator-rs that compiles here").count(),
        1,
        "{said}"
    );
}

#[cfg(unix)]
#[test]
fn a_target_folder_that_is_a_symlink_is_not_swept() {
    let folder = package(&[("src/lib.rs", format!("{HEAD}{}{FUNCTION}", kind("One", OUTSIDE)))]);
    let elsewhere = tempfile::tempdir().unwrap();
    fs::write(elsewhere.path().join("theirs"), "theirs").unwrap();
    std::os::unix::fs::symlink(elsewhere.path(), folder.path().join("target")).unwrap();
    let output = support::command(support::BINARY, folder.path())
        .args(["generate", "crds", "--compile"])
        .env_remove("CARGO_TARGET_DIR")
        .output()
        .unwrap();
    let said = support::said(&output);
    assert!(
        said.contains("error: `target` is a symlink, and nothing is written through symlinks"),
        "{said}"
    );
    assert!(
        said.contains("hint: name another target folder: `export CARGO_TARGET_DIR=…`"),
        "{said}"
    );
    assert_eq!(fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}
