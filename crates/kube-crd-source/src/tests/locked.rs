//! What is locked and said of a package: which kube is meant, editions, targets, libraries by their own names.

use super::packages::{DERIVE, field, lock, manifest};
use super::*;

/// Two versions of kube, and `other` that depends on one of them.
fn two_kubes(members: &[(&str, &str)], other: &str) -> BTreeMap<SourcePath, String> {
    let line = |kube: &str, openapi: &str| {
        [
            (
                "kube",
                kube.to_owned(),
                vec![format!("kube-core {kube}"), format!("kube-derive {kube}")],
            ),
            (
                "kube-core",
                kube.to_owned(),
                vec![format!("k8s-openapi {openapi}"), "schemars 1.2.1".to_owned()],
            ),
            ("kube-derive", kube.to_owned(), vec![]),
            ("k8s-openapi", openapi.to_owned(), vec![]),
        ]
    };
    let mut all: Vec<(&str, String, Vec<String>)> = Vec::new();
    all.extend(line("3.1.0", "0.27.1"));
    all.extend(line("5.0.0", "0.29.0"));
    all.push(("schemars", "0.8.22".to_owned(), vec![]));
    all.push(("schemars", "1.2.1".to_owned(), vec!["schemars_derive 1.2.1".to_owned()]));
    all.push(("schemars_derive", "0.8.22".to_owned(), vec![]));
    all.push(("schemars_derive", "1.2.1".to_owned(), vec!["serde_derive_internals".to_owned()]));
    all.push(("serde_derive_internals", "0.29.1".to_owned(), vec![]));
    all.push(("serde", "1.0.228".to_owned(), vec![]));
    all.push((
        "other",
        "1.0.0".to_owned(),
        vec![format!("kube {other}"), "schemars 0.8.22".to_owned()],
    ));
    let mut res = BTreeMap::new();
    for (name, kube) in members {
        let needs = ["schemars 1.2.1", "serde", "other"].map(str::to_owned).into_iter();
        let needs = needs.chain([format!("kube {kube}")]).collect();
        all.push((name, "1.0.0".to_owned(), needs));
        let major = &kube[..1];
        let dependencies = format!(
            "[dependencies]\nkube = \"{major}\"\nschemars = \"1\"\nserde = \"1\"\nother = \"1\"\n"
        );
        let (spec, plain) = (SPEC, name.trim_start_matches('.'));
        let kind = KIND.replace("\"Kind\"", &format!("\"{}\"", plain.to_uppercase()));
        res.extend(files(&[
            (&format!("{plain}/Cargo.toml"), &manifest(plain, &dependencies)),
            (
                &format!("{plain}/src/lib.rs"),
                &format!("{HEAD}{spec}\n{kind} {{ a: Option<E> }}\n$T enum E {{ A, B }}")
                    .replace("$T", TYPE),
            ),
        ]));
    }
    let all: Vec<(&str, &str, Vec<&str>)> = all
        .iter()
        .map(|(name, version, needs)| {
            (*name, version.as_str(), needs.iter().map(String::as_str).collect())
        })
        .collect();
    let all: Vec<(&str, &str, &[&str])> =
        all.iter().map(|(name, version, needs)| (*name, *version, needs.as_slice())).collect();
    let workspace = "[workspace]\nmembers = [\"*\"]\nresolver = \"3\"\n";
    res.extend(files(&[("Cargo.toml", workspace), ("Cargo.lock", &lock(&all))]));
    res
}

#[test]
fn the_kube_that_the_wanted_package_depends_on_writes_its_crds() {
    let version = |files: &BTreeMap<SourcePath, String>, wanted: &[&str]| {
        let texts = Texts::new(files);
        let members = cargo::read_members(&texts, &mut Vec::new());
        let packages = wanted.iter().map(|it| (*it).to_owned()).collect();
        let options = Options { packages, ..Options::default() };
        let packages = Packages::new(&texts, &members, &options, &mut Vec::new());
        let reading = read(files, &options);
        let problems: Vec<String> =
            all_problems(&reading).iter().map(|it| it.describe("")).collect();
        (versions::behaviour(&packages).kube.version, problems)
    };
    for (own, other) in [("3.1.0", "5.0.0"), ("5.0.0", "3.1.0")] {
        assert_eq!(version(&two_kubes(&[(".a", own)], other), &[]), (own, vec![]));
    }
    // What kube calls `ObjectMeta` may be another than what the code does.
    let mut apart = two_kubes(&[(".a", "5.0.0")], "3.1.0");
    let edit = |files: &mut BTreeMap<SourcePath, String>, path: &str, from: &str, to: &str| {
        let text = files.get_mut(&SourcePath::fixed(path)).expect("it is there");
        *text = text.replacen(from, to, 1);
    };
    edit(
        &mut apart,
        "a/Cargo.toml",
        "[dependencies]\n",
        "[dependencies]\nk8s-openapi = \"0.27\"\n",
    );
    edit(&mut apart, "a/src/lib.rs", "a: Option<E>", "a: kube::core::ObjectMeta");
    edit(
        &mut apart,
        "Cargo.lock",
        " \"schemars 1.2.1\",\n \"serde\",",
        " \"k8s-openapi 0.27.1\",\n \"schemars 1.2.1\",\n \"serde\",",
    );
    let (_, problems) = version(&apart, &[]);
    let told = "`k8s-openapi` is locked in 2 versions, and it is ambiguous which one the code uses";
    assert!(problems.iter().any(|it| it.contains(told)), "{problems:#?}");
    // So may the schemars of an import be another than kube's.
    let mut renamed = two_kubes(&[(".a", "5.0.0")], "5.0.0");
    let old = "[dependencies]\nold = { package = \"schemars\", version = \"0.8\" }\n";
    edit(&mut renamed, "a/Cargo.toml", "[dependencies]\n", old);
    edit(&mut renamed, "a/src/lib.rs", "use schemars::JsonSchema", "use old::JsonSchema");
    let locked = " \"schemars 0.8.22\",\n \"schemars 1.2.1\",\n \"serde\",";
    edit(&mut renamed, "Cargo.lock", " \"schemars 1.2.1\",\n \"serde\",", locked);
    let (_, problems) = version(&renamed, &[]);
    let told = "belongs to `schemars` 0.8.22, and another version of it writes the CRDs";
    let hint = "use one version of `schemars` everywhere, or select packages that do (`-p`)";
    assert!(problems.iter().any(|it| it.contains(told) && it.contains(hint)), "{problems:#?}");
    // Where two are wanted, that is told, with the way to one of them.
    let both = two_kubes(&[(".a", "3.1.0"), (".b", "5.0.0")], "5.0.0");
    let (_, problems) = version(&both, &[]);
    let [problem] = &problems[..] else { panic!("one cause has one message: {problems:#?}") };
    let told = "`kube-core` is locked in 2 versions, and it is ambiguous which one writes the CRDs";
    let hint = "select packages that use the same version: `-p a` uses 3.1.0, `-p b` uses 5.0.0";
    assert!(problem.contains(told) && problem.contains(hint), "{problem}");
    assert_eq!(version(&both, &["a"]), ("3.1.0", vec![]));
    assert_eq!(version(&both, &["b"]), ("5.0.0", vec![]));
}

/// A project of the package `a`, with this said in its Cargo.toml, and files beside it.
fn package_a(rest: &str, beside: &[(&str, &str)]) -> BTreeMap<SourcePath, String> {
    let dependencies =
        "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nlong-name = \"1\"\n";
    let text = format!("[package]\nname = \"a\"\nversion = \"1.0.0\"\n{rest}{dependencies}");
    let lock = lock(&[(".a", "1.0.0", &["long-name"]), ("long-name", "1.0.0", &[])]);
    let mut res = files(&[("Cargo.toml", &text), ("Cargo.lock", &lock)]);
    res.extend(files(beside));
    res
}

#[test]
fn a_library_is_known_by_its_own_name() {
    let other = manifest(
        "long-name",
        "[lib]\nname = \"short\"\n[dependencies]\nschemars = \"1\"\nserde = \"1\"\n",
    );
    let types = format!("{DERIVE}{TYPE} pub struct T {{ pub x: bool }}");
    let field = |ty: &str| {
        let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: {ty} }}");
        field(&package_a(
            "edition = \"2024\"\n",
            &[
                ("src/lib.rs", &spec),
                ("cargo/long-name-1.0.0/Cargo.toml", &other),
                ("cargo/long-name-1.0.0/src/lib.rs", &types),
            ],
        ))
    };
    let wanted = serde_json::json!({
        "type": "object",
        "required": ["x"],
        "properties": { "x": { "type": "boolean" } },
    });
    assert_eq!(field("short::T"), Ok(wanted));
    assert_eq!(
        field("shorter::T"),
        Err(vec!["src/lib.rs:4:26: `shorter::T` is not found (`Kind` → `spec.a`)".to_owned()])
    );
}

#[test]
fn edition_2015_is_refused_by_name() {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: bool }}");
    let refused = Err(vec![
        "src/lib.rs:4:12: `KindSpec` is in a package of edition 2015, which is not supported"
            .to_owned(),
    ]);
    let found = |rest: &str| field(&package_a(rest, &[("src/lib.rs", &spec)]));
    assert_eq!(found(""), refused);
    assert_eq!(found("edition = \"2015\"\n"), refused);
    assert!(found("edition = \"2018\"\n").is_ok());
    assert!(found("edition.workspace = true\n[workspace.package]\nedition = \"2021\"\n").is_ok());
}

#[test]
fn a_target_is_read_where_the_features_that_it_requires_are_on() {
    let spec = |kind: &str| format!("{HEAD}{SPEC}\n{} {{ a: bool }}", KIND.replace("Kind", kind));
    let rest = "edition = \"2024\"\n[features]\nx = []\n[[bin]]\nname = \"one\"\nrequired-features = [\"x\"]\n";
    let files =
        package_a(rest, &[("src/bin/one.rs", &spec("One")), ("src/bin/two.rs", &spec("Two"))]);
    let kinds = |features: &[&str]| {
        let features = features.iter().map(|it| (*it).to_owned()).collect();
        let reading = read(&files, &Options { features, ..Options::default() });
        assert_eq!(all_problems(&reading), []);
        let kinds: Vec<&str> = reading.kinds.iter().filter_map(|it| it.kind.as_deref()).collect();
        kinds.join(" ")
    };
    assert_eq!(kinds(&[]), "Two");
    assert_eq!(kinds(&["x"]), "One Two");
}

#[test]
fn a_kube_that_is_not_the_published_one_is_one_problem() {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: bool }}");
    let mut files = package_a("edition = \"2024\"\n", &[("src/lib.rs", &spec)]);
    let needs = ["kube", "long-name"];
    let lock =
        lock(&[(".a", "1.0.0", &needs), ("kube", "5.0.0", &[]), ("long-name", "1.0.0", &[])]);
    let published = "\nname = \"kube\"\nversion = \"5.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"";
    let from_git =
        "\nname = \"kube\"\nversion = \"5.0.0\"\nsource = \"git+https://example.com/kube#1\"";
    files.insert(SourcePath::fixed("Cargo.lock"), lock.replace(published, from_git));
    let manifest = &files[&SourcePath::fixed("Cargo.toml")];
    let manifest =
        manifest.replace("kube = \"5\"", "kube = { git = \"https://example.com/kube\" }");
    files.insert(SourcePath::fixed("Cargo.toml"), manifest);
    let check = |files: &BTreeMap<SourcePath, String>| {
        let [problem] = &field(files).expect_err("it is another")[..] else { panic!("one") };
        assert!(problem.contains("`kube` is not the published crate"), "{problem}");
    };
    check(&files);
    let hint = read_map(&files).problems.into_iter().find_map(|problem| problem.hint);
    assert_eq!(hint.as_deref(), Some("depend on the `kube` of crates.io"));
    // The same holds for another registry.
    let lock = files[&SourcePath::fixed("Cargo.lock")].clone();
    let lock = lock.replace("git+https://example.com/kube#1", "registry+https://example.com/index");
    files.insert(SourcePath::fixed("Cargo.lock"), lock);
    let manifest = &files[&SourcePath::fixed("Cargo.toml")];
    let git = "{ git = \"https://example.com/kube\" }";
    let other = "{ version = \"5\", registry = \"other\" }";
    files.insert(SourcePath::fixed("Cargo.toml"), manifest.replace(git, other));
    check(&files);
}

#[test]
fn a_rule_on_what_is_flattened_waits_for_how_serde_json_is_built() {
    let said = |needs: &[&str]| {
        let text = format!(
            "{HEAD}{SPEC}\n{KIND} {{ a: In }} #[derive(Serialize, Deserialize, Clone, Debug, kube::KubeSchema)] pub struct In {{ #[serde(flatten)] #[x_kube(validation = \"true\")] x: Two }} #[derive(Serialize, Deserialize, Clone, Debug, JsonSchema)] pub struct Two {{ p: i32, q: i32 }}"
        );
        let found = [("indexmap", "2.0.0", &[][..]), ("serde_json", "1.0.150", needs)];
        field(&files(&[("src/main.rs", &text), ("Cargo.lock", &lock(&found))]))
    };
    let read = said(&[]).expect("maps are sorted");
    assert!(read.pointer("/properties/p/x-kubernetes-validations").is_some(), "{read}");
    let problems = said(&["indexmap"]).expect_err("any may be the first");
    assert!(problems[0].contains("`preserve_order` decides"), "{problems:?}");
}

#[test]
fn a_kubernetes_that_only_a_dev_dependency_chooses_needs_the_examples() {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: k8s_openapi::api::core::v1::Secret }}");
    let rest = "edition = \"2024\"\n[dependencies.k8s-openapi]\nversion = \"0.29\"\n[dev-dependencies]\nk8s-openapi = { version = \"0.29\", features = [\"v1_33\"] }\n";
    let mut files = package_a(rest, &[("src/lib.rs", &spec)]);
    let lock = lock(&[(".a", "1.0.0", &["long-name"]), ("long-name", "1.0.0", &[])]);
    files.insert(SourcePath::fixed("Cargo.lock"), lock);
    let hints = |examples: bool| {
        let reading = read(&files, &Options { examples, ..Options::default() });
        let hints = all_problems(&reading).into_iter().filter_map(|it| it.hint);
        hints.filter(|it| it.contains("dev-dependency")).collect::<Vec<_>>()
    };
    let hint = "a dev-dependency chooses one: include dev-dependencies with `--examples`";
    assert_eq!(hints(false), [hint]);
    assert_eq!(hints(true), [""; 0]);
}

#[test]
fn a_library_that_chooses_no_kubernetes_is_told_the_flag_that_does() {
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: k8s_openapi::api::core::v1::Secret }}");
    let lock = lock(&[(".a", "1.0.0", &["long-name"]), ("long-name", "1.0.0", &[])]);
    let hint = |features: &str, options: &Options| {
        let rest = "edition = \"2024\"\n[dependencies.k8s-openapi]\nversion = \"0.29\"\n";
        let mut files = package_a(rest, &[("src/lib.rs", &spec)]);
        files.insert(SourcePath::fixed("Cargo.lock"), lock.clone());
        let manifest = format!("[package]\nname = \"k8s-openapi\"\n[features]\n{features}\n");
        files.insert(SourcePath::fixed("cargo/k8s-openapi-0.29.0/Cargo.toml"), manifest);
        let problems = all_problems(&read(&files, options));
        let hints = problems.into_iter().filter_map(|problem| problem.hint);
        hints.filter(|hint| hint.contains("choose one in the dependency")).collect::<Vec<_>>()
    };
    let choose = "choose one in the dependency, e.g. `features = [\"v1_33\", \"schemars\"]`";
    let told = "choose one in the dependency, e.g. `features = [\"v1_33\", \"schemars\"]`; for a library that leaves it to programs, pass `--features k8s-openapi/latest`";
    let latest = "latest = [\"v1_33\"]\nv1_33 = []";
    assert_eq!(hint(latest, &Options::default()), [told]);
    assert_eq!(hint("v1_33 = []", &Options::default()), [choose]);
    let features = vec!["k8s-openapi/latest".to_owned()];
    assert_eq!(hint(latest, &Options { features, ..Options::default() }), [""; 0]);
}

/// serde_json writes the digits of an `f32` with `arbitrary_precision`, and those of the equal `f64` without it.
#[test]
fn digits_of_an_f32_depend_on_a_feature_of_serde_json() {
    let project = |dependency: &str, number: &str| {
        let beside = format!("fn d() -> f32 {{ {number} }}");
        let text = spec("#[serde(default = \"d\")] a: f32,", &beside).into_values().next().unwrap();
        let dependencies = format!(
            "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\nserde_json = {dependency}\n"
        );
        let locked = lock(&[(".a", "1.0.0", &["serde_json"]), ("serde_json", "1.0.0", &[])]);
        let project = [
            ("Cargo.toml", &*manifest("a", &dependencies)),
            ("Cargo.lock", &*locked),
            ("src/main.rs", &*text),
        ];
        files(&project)
    };
    let read = |dependency: &str, number: &str| {
        field(&project(dependency, number)).map(|schema| schema["default"].clone())
    };
    let precise = "{ version = \"1\", features = [\"arbitrary_precision\"] }";
    assert_eq!(read("\"1\"", "0.1"), Ok(serde_json::json!(0.1_f32)));
    assert_eq!(read(precise, "0.5"), Ok(serde_json::json!(0.5)));
    let refusal = "src/main.rs:5:28: the digits of this `f32` depend on the feature `arbitrary_precision` of serde_json, which is or may be enabled";
    assert_eq!(read(precise, "0.1"), Err(vec![refusal.to_owned()]));
    let hint = all_problems(&read_map(&project(precise, "0.1")))[0].hint.clone();
    assert_eq!(hint.as_deref(), Some("use an `f64`"));
}
