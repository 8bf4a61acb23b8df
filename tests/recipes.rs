//! The recipes of the runtime: each is extracted, compiled and linted in a generated project,
//! and does what it says, as its test in `tests/recipes` proves, which fails with a faulty controller. A block that begins with a path is
//! the content of that file; any other is a controller, named for its heading.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod recipe_faults;
mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

use support::generated::{cargo, fetch};

/// Files that the recipes and their tests use, and that the page leaves out.
const HELPERS: &[&str] = &["dns", "sites"];

#[test]
fn every_recipe_compiles_and_does_what_it_says() {
    let dir = project("recipes/project", "");
    let page = dir.join("vendor/operator-rs-runtime/RECIPES.md");
    let recipes = fs::read_to_string(page).unwrap();
    let files = files(&recipes);
    write(&dir, &files);
    let tests = write_tests(&dir, &files);
    let controllers: BTreeSet<_> = files.keys().filter_map(|it| controller(it)).collect();
    let expected = controllers.iter().copied().filter(|it| !["objects", "site"].contains(it));
    assert_eq!(tests, expected.collect(), "one test in tests/recipes for each recipe");

    let commands =
        recipes.lines().filter_map(|it| it.strip_prefix("    operator-rs create api --group "));
    for command in commands.filter(|it| it.contains("--resource=false")) {
        // The crates of other operators are not compiled here.
        let flag = if command.contains("--external-api-path") { " --dry-run" } else { "" };
        support::done(&dir, &format!("create api --group {command}{flag}"));
    }
    support::done(
        &dir,
        "create api --group batch --version v1 --kind Job --resource=false --finalizer",
    );
    support::done(&dir, "create api --group web --kind Bucket --finalizer");
    support::done(&dir, "create api --group web --kind Store --image nginx:1.29 --finalizer");
    support::done(&dir, "manifests");
    // A user's project is not below ours: the walls of this house are none of its.
    fs::write(dir.with_file_name("clippy.toml"), "").unwrap();
    cargo(&dir, "fmt --all --check");
    fetch(&dir);
    cargo(&dir, "test --locked --offline");
    let tested: BTreeSet<_> = tests.iter().copied().chain(["site", "bucket", "store"]).collect();
    recipe_faults::check(&dir, &tested);
    recipe_faults::write(&dir);
    // They mostly wait.
    cargo(&dir, "test --locked --offline --test faults -- --test-threads 32");
    cargo(&dir, "clippy --all-targets --locked --offline -- -D warnings");
    support::done(&dir, "generate --check");
}

/// A recipe as it is would need rights outside of the namespace; with the namespace that the page says, it does not.
#[test]
fn an_operator_of_one_namespace_adds_its_namespace() {
    let dir = project("recipes/other", "--namespaced --license none");
    let page = dir.join("vendor/operator-rs-runtime/RECIPES.md");
    let recipe =
        files(&fs::read_to_string(page).unwrap()).remove("src/controller/react_to_a_secret.rs");
    let recipe = recipe.expect("the page has it").replace("super::objects", "super::site");
    let site = dir.join("src/controller/site.rs");
    let with = |namespace: &str| {
        let marker = "+kubebuilder:rbac:groups=\"\",";
        assert!(recipe.contains(marker));
        fs::write(&site, recipe.replace(marker, &format!("{marker}{namespace}"))).unwrap();
        support::done(&dir, "manifests");
        fs::read_to_string(dir.join("config/rbac/role.yaml")).unwrap()
    };
    assert!(with("").contains("kind: ClusterRole\n"));
    assert!(!with("namespace=recipes-system,").contains("kind: ClusterRole\n"));
}

fn project(name: &str, flags: &str) -> std::path::PathBuf {
    let dir = support::fresh(name);
    support::done(&dir, &format!("init --domain example.com --project-name recipes {flags}"));
    support::done(&dir, "create api --group web --kind Site");
    dir
}

/// The Rust of the page, by path.
fn files(page: &str) -> BTreeMap<String, String> {
    let mut res = BTreeMap::new();
    let (mut heading, mut lines) = (String::new(), page.lines());
    while let Some(line) = lines.next() {
        if let Some(text) = line.strip_prefix("## ") {
            heading = text.to_lowercase().replace(|it: char| !it.is_ascii_alphanumeric(), "_");
        }
        if line != "```rust" {
            continue;
        }
        let block: Vec<_> = lines.by_ref().take_while(|it| *it != "```").collect();
        let path = block[0].strip_prefix("// ").filter(|it| it.ends_with(".rs"));
        let code = &block[usize::from(path.is_some())..];
        let path = path.map_or(format!("src/controller/{heading}.rs"), str::to_owned);
        let known = res.insert(path, code.join("\n") + "\n");
        assert_eq!(known, None, "two blocks below `{heading}`");
    }
    res
}

/// The module of a controller.
fn controller(path: &str) -> Option<&str> {
    path.strip_prefix("src/controller/")?.strip_suffix(".rs").filter(|it| *it != "mod")
}

fn write(dir: &Path, files: &BTreeMap<String, String>) {
    for (path, code) in files {
        let mut text = code.clone();
        if path.starts_with("api/") {
            let was = fs::read_to_string(dir.join(path)).unwrap();
            let (before, after) = was.split_once("pub struct SiteSpec {\n").unwrap();
            text = format!("{before}{code}{}", after.split_once("}\n").unwrap().1);
        } else if path == "src/controller/mod.rs" {
            let mut modules: Vec<_> = files.keys().filter_map(|it| controller(it)).collect();
            modules.sort_unstable();
            let modules: String = modules.iter().map(|it| format!("pub mod {it};\n")).collect();
            let head = "//! One module for each kind that is reconciled.";
            text = format!("{head}\n\n{modules}// +operator-rs:scaffold:controllers\n\n{code}");
        } else if path == "src/lib.rs" {
            let was = fs::read_to_string(dir.join(path)).unwrap();
            let (before, _) =
                was.split_once("/// What the operator runs").expect("it is scaffolded");
            text = format!("{before}{code}");
        } else if path.starts_with("tests/") {
            continue;
        }
        fs::write(dir.join(path), text).unwrap();
    }
    fs::copy(recipe("dns"), dir.join("src/dns.rs")).unwrap();
    let library = dir.join("src/lib.rs");
    let text = fs::read_to_string(&library).unwrap();
    fs::write(library, text.replace("pub mod controller;", "pub mod controller;\npub mod dns;"))
        .unwrap();
}

/// Makes one test program of the tests of all recipes and of the page's own.
fn write_tests(dir: &Path, files: &BTreeMap<String, String>) -> BTreeSet<&'static str> {
    let to = dir.join("tests/recipes");
    fs::create_dir(&to).unwrap();
    let mut main = String::new();
    let mut tests = BTreeSet::new();
    for path in support::tree(&support::home().join("tests/recipes")).into_keys() {
        let name: &'static str = path.strip_suffix(".rs").unwrap().to_owned().leak();
        if name != "dns" {
            fs::copy(recipe(name), to.join(&path)).unwrap();
            main += &format!("mod {name};\n");
        }
        if !HELPERS.contains(&name) {
            tests.insert(name);
        }
    }
    for (path, code) in files.iter().filter(|it| it.0.starts_with("tests/")) {
        let name = path.strip_prefix("tests/").unwrap();
        fs::write(to.join(name), code).unwrap();
        main += &format!("mod {};\n", name.strip_suffix(".rs").unwrap());
        fs::remove_file(dir.join(path)).unwrap(); // the scaffolded one
    }
    fs::write(to.join("main.rs"), main).unwrap();
    let e2e = dir.join("tests/e2e.rs");
    let text = fs::read_to_string(&e2e).unwrap();
    let settings =
        "operator::all(&operator::controller::Settings { domain_suffix: \"test\".into() })";
    fs::write(e2e, text.replace("operator::all()", settings)).unwrap();
    tests
}

fn recipe(name: &str) -> std::path::PathBuf {
    support::home().join(format!("tests/recipes/{name}.rs"))
}
