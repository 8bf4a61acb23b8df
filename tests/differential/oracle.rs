//! What kube itself prints: a workspace of cases, compiled and run.

use std::{
    collections::{BTreeMap, BTreeSet},
    env,
    fmt::Write as _,
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{Mutex, MutexGuard, PoisonError},
};

use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::author::{Case, Dialect};
use crate::support;

/// A version of kube, with what goes with it.
pub struct Version {
    pub kube: &'static str,
    pub k8s: &'static str,
    pub dialect: Dialect,
}

/// Each with a schemars of another version: 1.0.4, 1.0.5, 1.1.0, 1.2.0, 1.2.1, 1.2.2, 1.2.3.
pub const VERSIONS: &[Version] = &[
    older("2.0.1", "0.26", 2),
    older("3.0.0", "0.27", 3),
    older("3.0.1", "0.27", 3),
    older("3.1.0", "0.27", 3),
    older("4.0.0", "0.28", 4),
    older("4.2.0", "0.28", 4),
    Version { kube: "5.0.0", k8s: "0.29", dialect: Dialect { major: 5, newest: true } },
];

const fn older(kube: &'static str, k8s: &'static str, major: u32) -> Version {
    Version { kube, k8s, dialect: Dialect { major, newest: false } }
}

const MANGLE: &str = "[package]
name = \"mangle\"
version = \"0.0.1\"
edition = \"2024\"
publish = false

[lib]
proc-macro = true
";

const BUILD: &str = "fn main() {
    let path = std::path::Path::new(&std::env::var(\"OUT_DIR\").unwrap()).join(\"made.rs\");
    std::fs::write(path, \"pub type BuildMade = u16;\").unwrap();
    println!(\"cargo::rerun-if-changed=build.rs\");
}
";

impl Version {
    pub fn find(kube: &str) -> &'static Self {
        let known = || VERSIONS.iter().map(|it| it.kube).collect::<Vec<_>>().join(", ");
        VERSIONS
            .iter()
            .find(|it| it.kube == kube)
            .unwrap_or_else(|| panic!("kube `{kube}` is none of {}", known()))
    }

    fn lock(&self) -> PathBuf {
        support::home().join(format!("tests/differential/locks/{}.lock", self.kube))
    }

    /// Cargo.toml, Cargo.lock and the shared crate.
    pub fn frame(&self) -> BTreeMap<String, String> {
        let newest = if self.dialect.newest {
            "arrayvec = { version = \"0.7\", features = [\"serde\"] }
bytes = { version = \"1\", features = [\"serde\"] }
either = { version = \"1\", features = [\"serde\"] }
indexmap = { version = \"2\", features = [\"serde\"] }
jiff = { version = \"0.2\", default-features = false, features = [\"std\", \"serde\"] }
mangle = { path = \"mangle\" }
serde_with = { version = \"3\", default-features = false, features = [\"macros\", \"std\"] }
smallvec = { version = \"1\", features = [\"serde\"] }
smol_str = { version = \"0.3\", features = [\"serde\"] }
"
        } else {
            ""
        };
        let features = if self.dialect.newest {
            "\"arrayvec07\", \"bytes1\", \"chrono04\", \"either1\", \"indexmap2\", \"jiff02\", \"semver1\", \"smallvec1\", \"smol_str03\", \"url2\", \"uuid1\""
        } else {
            "\"chrono04\", \"semver1\", \"url2\", \"uuid1\""
        };
        let (kube, k8s) = (self.kube, self.k8s);
        let dependencies = format!(
            "[features]
default = [\"on\"]
on = []
off = []

[dependencies]
chrono = {{ version = \"0.4\", default-features = false, features = [\"std\", \"serde\"] }}
k8s-openapi = {{ version = \"{k8s}\", features = [\"v1_33\", \"schemars\"] }}
kube = {{ version = \"={kube}\", default-features = false, features = [\"derive\"] }}
schemars = {{ version = \"1\", features = [{features}] }}
semver = {{ version = \"1\", features = [\"serde\"] }}
serde = {{ version = \"1\", features = [\"derive\", \"rc\"] }}
serde_json = \"1\"
shared = {{ path = \"shared\", default-features = false, features = [\"extra\"] }}
url = {{ version = \"2\", features = [\"serde\"] }}
uuid = {{ version = \"1\", features = [\"serde\"] }}
{newest}"
        );
        let manifest = format!(
            "{}{dependencies}beside = {{ path = \"beside\" }}

[workspace]

[profile.dev]
debug = false
incremental = false
",
            package("differential")
        );
        // The same crates, from a folder further down.
        let beside = package("beside") + &dependencies.replace("path = \"", "path = \"../");
        let shared = format!(
            "[package]
name = \"shared\"
version = \"0.0.1\"
edition = \"2024\"
publish = false

[features]
default = [\"plain\"]
plain = []
extra = []

[dependencies]
k8s-openapi = {{ version = \"{k8s}\", features = [\"schemars\"] }}
kube = {{ version = \"={kube}\", default-features = false, features = [\"derive\"] }}
schemars = \"1\"
serde = {{ version = \"1\", features = [\"derive\"] }}
serde_json = \"1\"
"
        );
        BTreeMap::from([
            ("Cargo.toml".to_owned(), manifest),
            ("Cargo.lock".to_owned(), fs::read_to_string(self.lock()).unwrap_or_default()),
            ("beside/Cargo.toml".to_owned(), beside),
            ("shared/Cargo.toml".to_owned(), shared),
            ("shared/src/lib.rs".to_owned(), include_str!("shared.rs").to_owned()),
            ("shared/text.txt".to_owned(), "# A text\n\nof a file.\n".to_owned()),
            ("shared/included.rs".to_owned(), "pub type Included = Vec<String>;\n".to_owned()),
            ("mangle/Cargo.toml".to_owned(), MANGLE.to_owned()),
            ("mangle/src/lib.rs".to_owned(), include_str!("mangle.rs").to_owned()),
            ("build.rs".to_owned(), BUILD.to_owned()),
        ])
    }
}

fn package(name: &str) -> String {
    format!(
        "[package]
name = \"{name}\"
version = \"0.0.1\"
edition = \"2024\"
publish = false

"
    )
}

/// What came of a case when it was compiled and run.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub enum Printed {
    Crd(Value),
    Panic(String),
    /// Its stack overflows, which nothing catches.
    Abort,
    /// It does not compile: what rustc says first.
    Nothing(String),
}

/// What kube prints of these cases: compiled once, and then known as long as their text is the same.
pub fn printed(folder: &str, version: &Version, cases: &[Case]) -> BTreeMap<usize, Printed> {
    let mut hash = Sha256::new();
    hash.update(format!("{:?}", version.frame()));
    cases.iter().for_each(|it| hash.update(format!("{:?}{:?}", main(&[it]), it.files)));
    let name = format!(
        "{:x}.json",
        hash.finalize().iter().fold(0_u128, |all, it| all << 8 | u128::from(*it))
    );
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("differential-printed").join(name);
    if let Ok(text) = fs::read_to_string(&path) {
        return serde_json::from_str(&text).unwrap();
    }
    let res = compiled(folder, version, cases);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, serde_json::to_string(&res).unwrap()).unwrap();
    res
}

/// Keeps the other workspaces from being compiled, from before the files of this one are written until its program has
/// run. Their packages have the same names and are built in one target folder: files that are older than what was built of
/// another workspace count as built.
pub fn one_workspace() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Compiles all cases, leaves out what does not compile, and runs the rest.
fn compiled(folder: &str, version: &Version, cases: &[Case]) -> BTreeMap<usize, Printed> {
    let _one = one_workspace();
    let mut res = BTreeMap::new();
    let dir = support::fresh(folder);
    write(&dir, &version.frame());
    if env::var_os("DIFFERENTIAL_RELOCK").is_some() {
        write(&dir, &roots(&[]));
        assert!(cargo(&dir, &["generate-lockfile"]).status.success());
        fs::copy(dir.join("Cargo.lock"), version.lock()).unwrap();
    }
    loop {
        let left: Vec<_> = cases.iter().filter(|it| !res.contains_key(&it.number)).collect();
        let mut files = roots(&left);
        for case in &left {
            files.extend(
                case.files.iter().map(|(path, text)| (format!("src/{path}"), text.clone())),
            );
        }
        let _ = fs::remove_dir_all(dir.join("src"));
        let _ = fs::remove_dir_all(dir.join("beside/src"));
        write(&dir, &files);
        let failed = build(&dir, number);
        if failed.is_empty() {
            break;
        }
        for (number, message) in failed {
            res.insert(number, Printed::Nothing(message));
        }
    }
    // A stack that overflows ends the program: the rest is run without that case.
    let mut skip: Vec<String> = Vec::new();
    loop {
        let mut words = vec!["run", "--quiet", "--locked", "--"];
        words.extend(skip.iter().map(String::as_str));
        let output = cargo(&dir, &words);
        let text = String::from_utf8(output.stdout).unwrap();
        let mut last = "";
        for line in text.lines() {
            let (number, value) = line.split_once(' ').unwrap();
            last = number;
            let it = match serde_json::from_str(value) {
                Ok(Value::String(text)) => Printed::Panic(text),
                Ok(value) => Printed::Crd(value),
                Err(_) => Printed::Abort,
            };
            res.insert(number.parse().unwrap(), it);
        }
        if output.status.success() {
            return res;
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!last.is_empty() && !skip.contains(&last.to_owned()), "{stderr}");
        skip.push(last.to_owned());
    }
}

pub fn write(dir: &Path, files: &BTreeMap<String, String>) {
    for (path, text) in files {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
}

const QUIET: &str =
    "#![allow(warnings, arithmetic_overflow, unconditional_panic, overflowing_literals)]\n";

/// The roots of both crates for these cases.
fn roots(cases: &[&Case]) -> BTreeMap<String, String> {
    let beside = |it: &&&Case| it.files.keys().any(|it| it.starts_with("../beside/"));
    let modules = cases.iter().filter(beside).map(|it| format!("pub mod k{};\n", it.number));
    let beside = QUIET.to_owned() + &modules.collect::<String>();
    BTreeMap::from([
        ("src/main.rs".to_owned(), main(cases)),
        ("beside/src/lib.rs".to_owned(), beside),
    ])
}

/// `src/main.rs` for these cases.
fn main(cases: &[&Case]) -> String {
    let mut res = QUIET.to_owned();
    for case in cases {
        writeln!(res, "mod k{};", case.number).unwrap();
    }
    res += "
fn add(number: &str, crd: fn() -> serde_json::Value) {
    use std::io::Write;
    if std::env::args().any(|it| it == number) {
        return;
    }
    print!(\"{number} \");
    std::io::stdout().flush().unwrap();
    let value = std::panic::catch_unwind(crd).unwrap_or_else(|it| {
        let text = it.downcast_ref::<String>().map(String::as_str);
        text.or_else(|| it.downcast_ref::<&str>().copied()).unwrap_or(\"a panic\").into()
    });
    println!(\"{value}\");
}

fn main() {
    std::panic::set_hook(Box::new(|_| {}));
";
    for case in cases {
        let crd = |path: &String| format!("<{path} as kube::CustomResourceExt>::crd()");
        let whole = match &case.more[..] {
            [] => crd(&case.path),
            more => {
                // From the lowest version to the highest.
                let all: Vec<_> = more.iter().rev().chain([&case.path]).map(crd).collect();
                let all = all.join(", ");
                format!("kube::core::crd::merge_crds(vec![{all}], {:?}).unwrap()", case.stored)
            }
        };
        let number = case.number;
        writeln!(res, "    add(\"{number}\", || serde_json::to_value({whole}).unwrap());").unwrap();
    }
    res + "}\n"
}

/// The cases that do not compile, with what rustc says of each first. `number` finds the case of a file.
pub fn build(dir: &Path, number: fn(&str) -> Option<usize>) -> BTreeMap<usize, String> {
    let output = cargo(dir, &["build", "--quiet", "--locked", "--message-format=json"]);
    if output.status.success() {
        return BTreeMap::new();
    }
    let mut res = BTreeMap::new();
    let mut elsewhere = BTreeSet::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Ok(value) = serde_json::from_str::<Value>(line) else { continue };
        let message = &value["message"];
        if message["level"] != "error" {
            continue;
        }
        let text = message["rendered"].as_str().unwrap_or_default();
        let spans = message["spans"].as_array().into_iter().flatten();
        let numbers: Vec<usize> =
            spans.filter_map(|it| number(it["file_name"].as_str()?)).collect();
        if numbers.is_empty() {
            elsewhere.insert(text.to_owned());
        }
        for number in numbers {
            res.entry(number).or_insert_with(|| text.to_owned());
        }
    }
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!res.is_empty(), "{elsewhere:?}\n{stderr}");
    res
}

/// The case that a file belongs to.
fn number(path: &str) -> Option<usize> {
    let path = path.strip_prefix("beside/").unwrap_or(path);
    let name = path.strip_prefix("src/k")?;
    name.split(['/', '.']).next()?.parse().ok()
}

pub fn cargo(dir: &Path, words: &[&str]) -> std::process::Output {
    let _alone = support::alone_in_target();
    support::building(Command::new(env!("CARGO")).args(words).current_dir(dir)).output().unwrap()
}

/// A folder for one run of ours.
pub fn alone(folder: &str, version: &Version, case: &Case) -> PathBuf {
    let dir = support::fresh(folder);
    let mut files = version.frame();
    files.extend(roots(&[case]));
    files.extend(case.files.iter().map(|(path, text)| (format!("src/{path}"), text.clone())));
    write(&dir, &files);
    dir
}
