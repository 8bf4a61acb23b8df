//! The files that the reader asks [`Sources`] for.

use std::cell::RefCell;

use super::packages::manifest;
use super::*;

/// A project in a map that records the Rust files whose texts are asked for.
struct Recorded {
    files: BTreeMap<SourcePath, String>,
    asked: RefCell<BTreeSet<String>>,
}

impl Sources for Recorded {
    fn text(&self, path: &SourcePath) -> anyhow::Result<Option<Rc<str>>> {
        let text = self.files.text(path)?;
        if text.is_some() && path.as_str().ends_with(".rs") {
            self.asked.borrow_mut().insert(path.to_string());
        }
        Ok(text)
    }
    fn is_file(&self, path: &SourcePath) -> bool {
        self.files.is_file(path)
    }
    fn names(&self, folder: &str) -> anyhow::Result<Vec<String>> {
        self.files.names(folder)
    }
    fn package_folder(&self, locked: &Locked) -> Option<String> {
        self.files.package_folder(locked)
    }
}

/// A workspace of these packages, each with what is in its Cargo.toml. The first one declares a kind.
fn operator(packages: &[(&str, &str)]) -> BTreeMap<SourcePath, String> {
    let names: Vec<String> = packages.iter().map(|(name, _)| format!("\"{name}\"")).collect();
    let workspace = format!("[workspace]\nmembers = [{}]\n", names.join(", "));
    let mut all = files(&[("Cargo.toml", &workspace)]);
    for (index, (name, tables)) in packages.iter().enumerate() {
        let (usual, code) = match index {
            0 => (
                "[dependencies]\nkube = \"5\"\nschemars = \"1\"\nserde = \"1\"\n",
                format!("{HEAD}{SPEC}\n{KIND} {{ size: i32 }}"),
            ),
            _ => ("", String::new()),
        };
        let manifest = manifest(name, &format!("{usual}{tables}"));
        let library = format!("{name}/src/lib.rs");
        all.extend(files(&[(&format!("{name}/Cargo.toml"), &manifest), (&library, &code)]));
    }
    let lock = packages::lock_of(&all);
    all.insert(SourcePath::fixed("Cargo.lock"), lock);
    all
}

/// Checks which Rust files are read for one kind, which must be readable.
#[track_caller]
fn check(files: &BTreeMap<SourcePath, String>, options: &Options, expected: &[&str]) {
    let asked = crate::stack::with_room(|| {
        let recorded = Recorded { files: files.clone(), asked: RefCell::default() };
        let reading = read(&recorded, options);
        assert_eq!(all_problems(&reading), []);
        assert_eq!(crds(&reading).len(), 1);
        recorded.asked.take()
    });
    assert_eq!(asked.iter().collect::<Vec<_>>(), expected);
}

#[test]
fn packages_that_only_tests_and_build_scripts_depend_on_are_not_read() {
    let tables = "types = { path = \"../types\" }\n\
        [target.'cfg(any())'.dependencies]\nelsewhere = { path = \"../elsewhere\" }\n\
        [dev-dependencies]\nengine = { path = \"../engine\" }\n\
        [build-dependencies]\ngenerator = { path = \"../generator\" }\n";
    let dev_dependency = "[dev-dependencies]\nharness = { path = \"../harness\" }\n";
    let others = "[dependencies]\nengine_parts = { path = \"../engine_parts\" }\n";
    let files = operator(&[
        ("operator", tables),
        ("types", dev_dependency),
        ("engine", others),
        ("engine_parts", ""),
        ("elsewhere", ""),
        ("generator", ""),
        ("harness", ""),
    ]);
    let of_operator = Options { packages: vec!["operator".to_owned()], ..Options::default() };
    check(&files, &of_operator, &["operator/src/lib.rs", "types/src/lib.rs"]);
    // Examples may name what the dev-dependencies of their package are.
    let with_examples = Options { examples: true, ..of_operator };
    let read =
        ["engine/src/lib.rs", "engine_parts/src/lib.rs", "operator/src/lib.rs", "types/src/lib.rs"];
    check(&files, &with_examples, &read);
}

#[test]
fn files_elsewhere_of_a_package_without_kinds_are_known() {
    let known = |code: &str| {
        let mut all = operator(&[("operator", ""), ("other", "")]);
        all.extend(files(&[("other/src/lib.rs", code), ("shared/rbac.rs", "")]));
        let lock = packages::lock_of(&all);
        let own =
            lock.split_inclusive("\n[[package]]").filter(|it| it.contains("\"other\"\nversion"));
        let own = own.last().expect("it is locked");
        let (before, dependencies) = own.split_once("dependencies").expect("it has some");
        let after = dependencies.split_once(']').expect("a list ends").1;
        let lock = lock.replace(own, &format!("{before}{after}"));
        all.insert(SourcePath::fixed("Cargo.lock"), lock);
        let reading = crate::stack::with_room(|| read(&all, &Options::default()));
        ["shared/rbac.rs", "other/src/lib.rs"]
            .map(|path| reading.files.contains(&SourcePath::fixed(path)))
    };
    assert_eq!(known("#[path = \"../../shared/rbac.rs\"] mod rbac;"), [true, true]);
    assert_eq!(
        known("#[cfg_attr(all(), path = r\"../../shared/rbac.rs\")] mod rbac;"),
        [true, true]
    );
    assert_eq!(known("include!(concat!(\"../..\", \"/shared/rbac.rs\"));"), [true, true]);
    // The package itself is not read.
    assert_eq!(
        known("fn main() { let path = 1..2; let file = include_str!(\"../a\"); }"),
        [false, false]
    );
}

#[test]
fn members_whose_kinds_are_selected_are_read_whatever_depends_on_them() {
    let files = operator(&[
        ("operator", "[dev-dependencies]\nengine = { path = \"../engine\" }\n"),
        ("engine", ""),
    ]);
    check(&files, &Options::default(), &["engine/src/lib.rs", "operator/src/lib.rs"]);
}

#[test]
fn no_package_from_elsewhere_is_read_if_the_locked_versions_are_not_supported() {
    let mut all = operator(&[("operator", "types = \"1\"\n")]);
    let spec = format!("{HEAD}{SPEC}\n{KIND} {{ a: types::T }}");
    let types = format!("{}{TYPE} pub struct T {{ pub x: bool }}", packages::DERIVE);
    let needs = "[dependencies]\nschemars = \"1\"\nserde = \"1\"\n";
    all.extend(files(&[
        ("operator/src/lib.rs", &spec),
        ("cargo/types-1.0.0/Cargo.toml", &manifest("types", needs)),
        ("cargo/types-1.0.0/src/lib.rs", &types),
    ]));
    check(&all, &Options::default(), &["cargo/types-1.0.0/src/lib.rs", "operator/src/lib.rs"]);
    let lock = all.get_mut(&SourcePath::fixed("Cargo.lock")).expect("it is there");
    *lock =
        lock.replace("\"kube-core\"\nversion = \"5.0.0\"", "\"kube-core\"\nversion = \"1.1.0\"");
    let recorded = Recorded { files: all, asked: RefCell::default() };
    let reading = read(&recorded, &Options::default());
    let problems: Vec<String> = all_problems(&reading).iter().map(ToString::to_string).collect();
    let message = "`kube-core` 1.1.0 is locked, and versions before 2.0.0 are not supported";
    assert!(problems.len() == 1 && problems[0].ends_with(message), "{problems:?}");
    assert_eq!(recorded.asked.take(), BTreeSet::from(["operator/src/lib.rs".to_owned()]));
}
