//! Controllers with a fault in them: each test of a recipe, and each that `create api` writes, fails on the fault that
//! it is about. All faulty controllers and their tests are one test program.

use std::{collections::BTreeSet, fmt::Write as _, fs, path::Path};

mod table;

use table::{FAULTS, Fault};

/// The time that a test waits for what does not happen: faulty controllers are no reason to wait for long.
const PATIENCE: &str = "Duration::from_secs(3)";

/// Writes the test program `faults` into a project that has all recipes in `src/controller` and their tests in `tests/recipes`.
pub fn write(dir: &Path) {
    let to = dir.join("tests/faults");
    fs::create_dir(&to).unwrap();
    let mut main = "//! See `tests/recipe_faults`.\n#![allow(warnings, clippy::all)]\n\npub use operator::{Error, Result, dns};\n\nmod sites;\n".to_owned();
    let sites = fs::read_to_string(dir.join("tests/recipes/sites.rs")).unwrap();
    fs::write(to.join("sites.rs"), impatient(&sites)).unwrap();
    for (number, fault) in FAULTS.iter().enumerate() {
        let module = format!("{}_{number}", fault.controller);
        writeln!(main, "mod {module};").unwrap();
        write_fault(dir, &to.join(module), fault);
    }
    fs::write(to.join("main.rs"), main).unwrap();
}

fn write_fault(dir: &Path, to: &Path, fault: &Fault) {
    let name = fault.controller;
    fs::create_dir(to).unwrap();
    let modules = "pub use operator::dns;\npub mod controller;\nmod tests;\n";
    fs::write(to.join("mod.rs"), modules).unwrap();
    fs::create_dir(to.join("controller")).unwrap();
    let modules =
        format!("pub use operator::controller::{{Settings, objects}};\npub mod {name};\n");
    fs::write(to.join("controller/mod.rs"), modules).unwrap();

    let mut code = fs::read_to_string(dir.join(format!("src/controller/{name}.rs"))).unwrap();
    for (from, to) in fault.edits {
        assert_eq!(
            code.matches(from).count(),
            1,
            "the controller {name} has `{from}` once\n{code}"
        );
        code = code.replace(from, to);
    }
    fs::write(to.join(format!("controller/{name}.rs")), code).unwrap();

    let mut tests = impatient(&fs::read_to_string(tests_of(dir, name)).unwrap());
    tests = tests
        .replace("operator::controller", "super::controller")
        .replace("operator::{", "super::{");
    for test in names(&tests) {
        let attribute = match fault.found_by.iter().find(|found| found.0 == test) {
            Some((_, why)) => format!("#[should_panic(expected = {why:?})]"),
            None => "#[ignore]".to_owned(),
        };
        for head in [format!("async fn {test}("), format!("fn {test}(")] {
            tests = tests.replacen(
                &format!("test]\n{head}"),
                &format!("test]\n{attribute}\n{head}"),
                1,
            );
        }
    }
    fs::write(to.join("tests.rs"), tests).unwrap();
}

/// The tests, which wait for a short time only.
fn impatient(tests: &str) -> String {
    let limited = format!(".timeout(std::time::{PATIENCE}).run()");
    let mut text = tests.replace("Duration::from_secs(20)", PATIENCE);
    text = text.replace(".run().await;", &format!("{limited}.await;"));
    for setup in ["cluster", "|| cluster(2)"] {
        let check = format!("faults::check({setup}, run)");
        text = text.replace(&check, &format!("faults::FaultCheck::new({setup}, run){limited}"));
    }
    text
}

/// The tests of a controller.
fn tests_of(dir: &Path, controller: &str) -> std::path::PathBuf {
    let places = ["tests/recipes", "tests"].map(|it| dir.join(it));
    let names = [format!("{controller}.rs"), format!("reconcile_{controller}.rs")];
    let paths = places.iter().flat_map(|place| names.iter().map(|name| place.join(name)));
    paths
        .into_iter()
        .find(|path| path.is_file())
        .unwrap_or_else(|| panic!("{controller} has tests"))
}

/// The names of the tests in a file.
fn names(tests: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut lines = tests.lines();
    while let Some(line) = lines.next() {
        if line.starts_with("#[tokio::test") || line == "#[test]" {
            let function = lines.by_ref().find_map(|line| line.split_once("fn "));
            let (name, _) =
                function.and_then(|(_, rest)| rest.split_once('(')).expect("a test is a function");
            found.push(name.to_owned());
        }
    }
    found
}

/// A generated test of the type, which no fault of a controller concerns.
const TEST_OF_TYPE: &str = "an_api_server_keeps_what_is_written";

/// Checks that the table has a fault for each test of these controllers, and names no other test.
pub fn check(dir: &Path, controllers: &BTreeSet<&str>) {
    let mut tests = BTreeSet::new();
    for controller in controllers {
        let text = fs::read_to_string(tests_of(dir, controller)).unwrap();
        let names = names(&text).into_iter().filter(|test| test != TEST_OF_TYPE);
        tests.extend(names.map(|test| format!("{controller}: {test}")));
    }
    let found = FAULTS
        .iter()
        .flat_map(|it| it.found_by.iter().map(|test| format!("{}: {}", it.controller, test.0)));
    assert_eq!(
        found.collect::<BTreeSet<_>>(),
        tests,
        "each test in tests/recipe_faults/table.rs, with a fault"
    );
}
