//! Packages: which of them a name leads into, at what version, with which features.

use super::*;

/// What every project has locked, unless it says so itself.
const USUAL: &[(&str, &str)] = &[
    ("k8s-openapi", "0.29.0"),
    ("kube", "5.0.0"),
    ("kube-core", "5.0.0"),
    ("kube-derive", "5.0.0"),
    ("schemars", "1.2.3"),
    ("schemars_derive", "1.2.3"),
    ("serde", "1.0.228"),
    ("serde_json", "1.0.150"),
];

/// A lock file of packages, each with what it depends on, from a registry unless its name starts with `.`.
pub fn lock(packages: &[(&str, &str, &[&str])]) -> String {
    let is_locked =
        |name: &str| packages.iter().any(|package| package.0.trim_start_matches('.') == name);
    let usual: Vec<_> = USUAL.iter().filter(|usual| !is_locked(usual.0)).collect();
    let mut res = "version = 4\n".to_owned();
    for (name, version, needs) in packages {
        let mut needs = needs.to_vec();
        if name.starts_with('.') {
            needs.extend(usual.iter().map(|usual| usual.0));
        }
        res += &locked(name, version, &needs);
    }
    res + &usual.iter().map(|(name, version)| locked(name, version, &[])).collect::<String>()
}

/// The lock file of these packages, each of which depends on all others and on what any of them needs; of none, if
/// there is no Cargo.toml.
pub fn lock_of(files: &BTreeMap<SourcePath, String>) -> String {
    let manifests = files.iter().filter(|file| file.0.name() == "Cargo.toml");
    let tables: Vec<toml::Table> =
        manifests.filter_map(|(_, text)| text.parse::<toml::Table>().ok()).collect();
    let name = |table: &toml::Table| Some(table.get("package")?.get("name")?.as_str()?.to_owned());
    let mut packages: BTreeMap<String, String> = BTreeMap::new();
    let dependencies = tables.iter().filter_map(|table| table.get("dependencies")?.as_table());
    for (key, value) in dependencies.flatten() {
        let requirement = value.as_str().or_else(|| value.get("version")?.as_str());
        let version = requirement.unwrap_or("1").trim_start_matches(['=', '^']);
        let missing = 2_usize.saturating_sub(version.matches('.').count());
        packages.insert(key.clone(), version.to_owned() + &".0".repeat(missing));
    }
    let own: Vec<String> = tables.iter().filter_map(name).collect();
    packages.retain(|name, _| !own.contains(name) && USUAL.iter().all(|usual| usual.0 != name));
    packages.extend(own.iter().map(|name| (format!(".{name}"), "1.0.0".to_owned())));
    let needs: Vec<&str> = packages.keys().map(|name| name.trim_start_matches('.')).collect();
    let packages: Vec<(&str, &str, &[&str])> = { packages.iter() }
        .map(|(name, version)| (name.as_str(), version.as_str(), needs.as_slice()))
        .collect();
    if packages.is_empty() { locked("other", "1.0.0", &[]) } else { lock(&packages) }
}

fn locked(name: &str, version: &str, needs: &[&str]) -> String {
    let here = name.strip_prefix('.');
    let name = here.unwrap_or(name);
    let mut res = format!("\n[[package]]\nname = \"{name}\"\nversion = \"{version}\"\n");
    if here.is_none() {
        res += "source = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        if let Some(published) = Published::find(name, version) {
            res += &format!("checksum = \"{}\"\n", published.checksum);
        }
    }
    if !needs.is_empty() {
        let list: String = needs.iter().map(|it| format!(" \"{it}\",\n")).collect();
        res += &format!("dependencies = [\n{list}]\n");
    }
    res
}

pub fn manifest(name: &str, rest: &str) -> String {
    format!("[package]\nname = \"{name}\"\nversion = \"1.0.0\"\nedition = \"2024\"\n{rest}")
}

pub const DERIVE: &str = "use schemars::JsonSchema; use serde::{Deserialize, Serialize};\n";

/// A project whose spec has a field `a: types::T`, and what is beside it.
fn project(beside: &[(&str, &str)]) -> BTreeMap<SourcePath, String> {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: types::T }}");
    let mut res = files(&[
        (
            "Cargo.toml",
            &manifest(
                "operator",
                "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\ntypes = \"1\"\n",
            ),
        ),
        ("src/lib.rs", &spec),
        (
            "Cargo.lock",
            &lock(&[
                (".operator", "1.0.0", &["types"]),
                ("types", "1.2.0", &["more"]),
                ("more", "0.3.0", &[]),
            ]),
        ),
    ]);
    res.extend(files(beside));
    res
}

/// The schema of `spec.a`, or the problems.
pub fn field(files: &BTreeMap<SourcePath, String>) -> Result<serde_json::Value, Vec<String>> {
    let reading = read_map(files);
    let problems = all_problems(&reading);
    match (&problems[..], &crds(&reading)[..]) {
        ([], [crd, ..]) => {
            let field = schema_of(crd).pointer("/properties/spec/properties/a").cloned();
            Ok(field.unwrap_or_default())
        }
        _ => Err(problems.iter().map(ToString::to_string).collect()),
    }
}

#[test]
fn a_name_leads_into_a_package_and_on_into_another() {
    let types = manifest(
        "types",
        "[features]\ndefault = [\"wide\"]\nwide = []\nnarrow = []\n[dependencies]\nschemars = \"1\"\nserde = \"1\"\nmore = { version = \"0.3\", optional = true }\n",
    );
    let code = format!(
        "{DERIVE}pub use more::*;\n{TYPE} pub struct T {{ #[cfg(feature = \"wide\")] pub wide: U, #[cfg(feature = \"narrow\")] pub narrow: U, }}"
    );
    let more = format!("{DERIVE}mod inner; pub use inner::U;");
    let inner = format!("{DERIVE}/// Of more.\n{TYPE} pub struct U {{ pub x: bool }}");
    let beside = [
        ("cargo/types-1.2.0/Cargo.toml", types.as_str()),
        ("cargo/types-1.2.0/src/lib.rs", &code),
        (
            "cargo/more-0.3.0/Cargo.toml",
            &manifest("more", "[dependencies]\nschemars = \"1\"\nserde = \"1\"\n"),
        ),
        ("cargo/more-0.3.0/src/lib.rs", &more),
        ("cargo/more-0.3.0/src/inner.rs", &inner),
    ];
    let wanted = serde_json::json!({
        "type": "object",
        "required": ["wide"],
        "properties": { "wide": {
            "type": "object",
            "description": "Of more.",
            "required": ["x"],
            "properties": { "x": { "type": "boolean" } },
        } },
    });
    assert_eq!(field(&project(&beside)), Ok(wanted));
    // What it leads to is not on this machine.
    assert_eq!(
        field(&project(&beside[..2])),
        Err(vec!["cargo/types-1.2.0/src/lib.rs:3:111: `U` cannot be resolved with certainty: `use more::*` may import another `U`, and its source is not on this machine (`Kind` → `spec.a.wide`)".to_owned()])
    );
    assert_eq!(
        field(&project(&[])),
        Err(vec!["src/lib.rs:4:26: `types::T` belongs to `types` 1.2.0, whose source is not on this machine (`Kind` → `spec.a`)".to_owned()])
    );
}

#[test]
fn a_package_by_its_path_may_be_beside_the_project() {
    let mut files = project(&[
        (
            "../types/Cargo.toml",
            &manifest("types", "[dependencies]\nschemars = \"1\"\nserde = \"1\"\n"),
        ),
        ("../types/src/lib.rs", &format!("{DERIVE}{TYPE} pub struct T {{ pub x: Gone }}")),
    ]);
    let lock = lock(&[(".operator", "1.0.0", &["types"]), (".types", "1.0.0", &[])]);
    files.insert(SourcePath::fixed("Cargo.lock"), lock);
    let text = &files[&SourcePath::fixed("Cargo.toml")];
    let text = text.replace("types = \"1\"", "types = { path = \"../types\" }");
    files.insert(SourcePath::fixed("Cargo.toml"), text);
    assert_eq!(
        field(&files),
        Err(vec!["../types/src/lib.rs:2:83: `Gone` is not found (`Kind` → `spec.a.x`)".to_owned()])
    );
}

/// Instead of a text: the file is not there.
const ABSENT: &str = "absent";

/// The features of the package `it`, as `on; maybe`.
#[track_caller]
fn features(root: &str, it: &str, more: &[(&str, &str)], options: &Options, expected: &str) {
    let mut files = files(&[
        ("Cargo.toml", &manifest("root", root)),
        ("src/lib.rs", ""),
        (
            "Cargo.lock",
            &lock(&[
                (".root", "1.0.0", &["it", "mid"]),
                ("it", "1.0.0", &[]),
                ("mid", "1.0.0", &["it"]),
            ]),
        ),
        ("cargo/it-1.0.0/Cargo.toml", &manifest("it", it)),
        ("cargo/it-1.0.0/src/lib.rs", ""),
        ("cargo/mid-1.0.0/Cargo.toml", &manifest("mid", "")),
    ]);
    for (path, text) in more {
        match *text {
            ABSENT => files.remove(&SourcePath::fixed(path)),
            text => files.insert(SourcePath::fixed(path), text.to_owned()),
        };
    }
    let texts = Texts::new(&files);
    let mut problems = Vec::new();
    let members = cargo::read_members(&texts, &mut problems);
    let packages = Packages::new(&texts, &members, options, &mut problems);
    let found = packages.features_of(packages.candidates_for("it")[0]);
    let list =
        |it: &std::collections::BTreeSet<String>| it.iter().cloned().collect::<Vec<_>>().join(" ");
    assert_eq!(format!("{}; {}", list(&found.on), list(&found.maybe)), expected, "{root}\n{it}");
    assert_eq!(problems, []);
}

#[test]
fn features_are_on_as_cargo_has_them() {
    let it = "[features]\ndefault = [\"a\"]\na = [\"b\"]\nb = []\nc = []\n";
    let check = |root: &str, expected: &str| features(root, it, &[], &Options::default(), expected);
    check("[dependencies]\nit = \"1\"\n", "a b default; ");
    check("[dependencies]\nit = { version = \"1\", default-features = false }\n", "; ");
    check(
        "[dependencies]\nit = { version = \"1\", default-features = false, features = [\"c\"] }\n",
        "c; ",
    );
    check(
        "[workspace.dependencies]\nit = { version = \"1\", default-features = false }\n[dependencies]\nit = { workspace = true, features = [\"b\"] }\n",
        "b; ",
    );
    check("[dependencies]\nother = { version = \"1\", package = \"it\" }\n", "a b default; ");
    // Only what is built for code counts: not for tests, nor for build scripts.
    check("[dev-dependencies]\nit = \"1\"\n", "; ");
    check("[build-dependencies]\nit = \"1\"\n", "; ");
    check("[target.'cfg(windows)'.dependencies]\nit = \"1\"\n", "; a b default");
    check("[target.'cfg(all())'.dependencies]\nit = \"1\"\n", "a b default; ");
    check("[target.'cfg(any())'.dependencies]\nit = \"1\"\n", "; ");
}

#[test]
fn features_turn_on_dependencies_and_their_features() {
    let it = "[features]\na = []\nb = []\n";
    let root = "[features]\nx = [\"it/a\"]\ny = [\"dep:it\"]\nz = [\"it?/b\"]\n[dependencies]\nit = { version = \"1\", optional = true }\n";
    let check = |on: &[&str], expected: &str| {
        let on = on.iter().map(|it| (*it).to_owned()).collect();
        let options = Options { features: on, ..Options::default() };
        features(root, it, &[], &options, expected);
    };
    check(&[], "; ");
    check(&["x"], "a; ");
    check(&["y"], "; ");
    check(&["z"], "; ");
    check(&["z", "y"], "b; ");
    check(&["y", "z"], "b; ");
    check(&["root/x", "z"], "a b; ");
    check(&["it/b"], "b; ");
    let all = Options { all_features: true, ..Options::default() };
    features(root, it, &[], &all, "a b; ");
}

#[test]
fn another_package_may_turn_features_on() {
    let it = "[features]\na = []\n";
    let root = "[dependencies]\nit = { version = \"1\" }\nmid = \"1\"\n";
    let mid = manifest("mid", "[dependencies]\nit = { version = \"1\", features = [\"a\"] }\n");
    let options = Options::default();
    features(root, it, &[("cargo/mid-1.0.0/Cargo.toml", &mid)], &options, "a; ");
    features(root, it, &[("cargo/mid-1.0.0/Cargo.toml", "")], &options, "; ");
    let macros = format!("{mid}[lib]\nproc-macro = true\n");
    features(root, it, &[("cargo/mid-1.0.0/Cargo.toml", &macros)], &options, "; ");
    // What is asked of a package is known without its source; what that turns on is not.
    let absent = [("cargo/it-1.0.0/Cargo.toml", ABSENT), ("cargo/mid-1.0.0/Cargo.toml", &mid)];
    features(root, it, &absent, &options, "a; ");
    // What the first resolver puts together, later ones keep apart.
    let build = "[build-dependencies]\nit = { version = \"1\", features = [\"a\"] }\n[dependencies]\nmid = \"1\"\n";
    features(&format!("resolver = \"1\"\n{build}"), it, &[], &options, "a; ");
    features(&format!("resolver = \"2\"\n{build}"), it, &[], &options, "; ");
}

#[test]
fn a_lock_file_that_is_malformed_is_told_with_its_line() {
    let check = |text: &str, expected: &str| {
        let mut files = project(&[]);
        files.insert(SourcePath::fixed("Cargo.lock"), text.to_owned());
        let found = field(&files).expect_err("it is malformed");
        assert!(found.contains(&expected.to_owned()), "{found:#?}");
    };
    check(
        "[[package]]\n<<<<<<< ours\n",
        "Cargo.lock:2:1: the file has an unresolved merge conflict",
    );
    check(
        "[[package]]\nname = \"a\"\nversion = \"x\"\n",
        "Cargo.lock:3:1: this is not a version as cargo writes it",
    );
    check(
        "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nreplace = \"b\"\n",
        "Cargo.lock:4:1: `[replace]` is not supported: use `[patch]`",
    );
}

#[test]
fn kinds_of_a_crate_that_names_only_lead_into_are_not_of_the_project() {
    let needs = "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n";
    let types = manifest("types", needs).replace("1.0.0", "1.2.0");
    let other = KIND.replace("Kind", "Other");
    let code = format!("{HEAD}{TYPE} pub struct T {{ pub x: bool }}\n{SPEC}\n{other} {{}}");
    let files = project(&[
        ("cargo/types-1.2.0/Cargo.toml", &types),
        ("cargo/types-1.2.0/src/lib.rs", &code),
    ]);
    let reading = read_map(&files);
    assert_eq!(all_problems(&reading), []);
    let paths = reading.kinds.iter().map(|it| &it.rust_path);
    let paths = paths.map(|it| format!("{} {}", it.krate.name, it.path.join("::")));
    assert_eq!(paths.collect::<Vec<_>>(), ["operator Kind"]);
    let crates: Vec<&str> = reading.crates.iter().map(|it| it.name.as_str()).collect();
    assert_eq!(crates, ["operator"]);
}

#[test]
fn outside_of_the_project_only_declared_packages_are_read() {
    let manifest = |rest: &str| format!("[package]\nname = \"a\"\nversion = \"0.1.0\"\n{rest}");
    let kind = format!("{HEAD}{SPEC}\n{KIND} {{}}\n");
    let secret = format!("{HEAD}{TYPE} pub struct Secret {{ pub password: String }}\n");
    let check = |rest: &str, code: &str, expected: &[&str]| {
        let files = files(&[
            ("Cargo.toml", &manifest(rest)),
            ("src/lib.rs", &format!("{kind}{code}")),
            ("src/b/mod.rs", "#[path = \"../../../near/secret.rs\"] pub mod secret;\n"),
            ("../near/secret.rs", &secret),
            ("../../far/secret.rs", &secret),
            ("../dep/Cargo.toml", "[package]\nname = \"dep\"\nversion = \"0.1.0\"\n"),
            (
                "../dep/src/lib.rs",
                "pub mod own;\n#[path = \"../../near/secret.rs\"] pub mod secret;\n",
            ),
            ("../dep/src/own.rs", &secret),
        ]);
        let reading = read_map(&files);
        let found: Vec<String> = all_problems(&reading).iter().map(ToString::to_string).collect();
        let is = |it: &String| it.contains("outside of the project and of its path dependencies");
        let found: Vec<&str> =
            found.iter().filter(|it| is(it)).filter_map(|it| it.split(": `").next()).collect();
        assert_eq!(found, expected, "{rest} {code}");
        let all = format!("{:?}", reading.kinds);
        assert!(!all.contains("password") || expected.is_empty(), "{rest} {code}: {all}");
        let (texts, unread) =
            crate::rust_files(&files, &["src".to_owned()], &reading.files, &mut Default::default());
        assert_eq!(unread, [], "{rest} {code}");
        let texts = texts.iter().map(|it| it.0.as_str()).filter(|it| it.starts_with("../"));
        let own = code.contains("dep/src").then_some("../dep/src/own.rs");
        assert_eq!(texts.collect::<Vec<_>>(), Vec::from_iter(own), "{rest} {code}");
    };
    check("", "include!(\"../../near/secret.rs\");", &["src/lib.rs:5:1"]);
    check("", "pub mod b;", &["src/b/mod.rs:1:45"]);
    check("", "#[path = \"../../../far/secret.rs\"] pub mod secret;", &["src/lib.rs:5:44"]);
    check("[lib]\npath = \"../near/secret.rs\"\n", "", &["Cargo.toml:1:1"]);
    check("[[bin]]\nname = \"b\"\npath = \"../near/secret.rs\"\n", "", &["Cargo.toml:1:1"]);
    let declared = "[dependencies]\ndep = { path = \"../dep\" }\n";
    check(declared, "#[path = \"../../dep/src/own.rs\"] pub mod own;", &[]);
    check(declared, "#[path = \"../../depth/own.rs\"] pub mod own;", &["src/lib.rs:5:40"]);
}

#[test]
fn only_packages_that_may_have_kinds_are_read() {
    let project = files(&[
        ("Cargo.toml", "[workspace]\nmembers = [\"a\", \"b\", \"c\"]\n"),
        ("a/Cargo.toml", &manifest("a", "[dependencies]\nkube = \"5\"\nb = { path = \"../b\" }\n")),
        ("b/Cargo.toml", &manifest("b", "")),
        ("c/Cargo.toml", &manifest("c", "[dependencies]\nb = { path = \"../b\" }\n")),
        ("a/src/lib.rs", &format!("{HEAD}{SPEC}\n{KIND} {{ a: b::B }}")),
        ("b/src/lib.rs", &format!("{HEAD}{TYPE} pub struct B {{ b: i32 }}")),
        ("c/src/lib.rs", "this is not Rust"),
        (
            "Cargo.lock",
            &[
                lock(&[(".a", "1.0.0", &["b"])]),
                locked(".b", "1.0.0", &[]),
                locked(".c", "1.0.0", &["b"]),
            ]
            .concat(),
        ),
    ]);
    let reading = read_map(&project);
    assert_eq!(reading.unexplored, []);
    assert_eq!(reading.kinds.len(), 1);
    let names: Vec<_> = reading.crates.iter().map(|krate| krate.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
}
