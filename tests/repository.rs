//! What this repository runs in CI, how it is released, and that the parts of a release agree.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    os::unix::fs::{PermissionsExt, symlink},
    path::Path,
    process::{Command, Output},
};

use support::workflow;

#[test]
fn workflows_pin_their_actions_and_every_job_ends() {
    let workflows = support::tree(&support::home().join(".github/workflows"));
    assert!(workflows.contains_key("ci.yml") && workflows.contains_key("release.yml"));
    for (path, text) in workflows {
        workflow::check(&path, &String::from_utf8(text).unwrap());
    }
}

#[test]
fn images_are_pinned_by_digest() {
    let dockerfile = ours("Dockerfile");
    let images: Vec<&str> = dockerfile.lines().filter_map(|it| it.strip_prefix("FROM ")).collect();
    assert_eq!(images.len(), 2);
    for image in images {
        let digest = image.split_once("@sha256:").map_or("", |it| it.1);
        let digest = digest.split(' ').next().unwrap_or_default();
        assert!(digest.len() == 64 && digest.chars().all(|c| c.is_ascii_hexdigit()), "{image}");
    }
}

/// The build of the image has what Cargo.toml includes, and nothing else.
#[test]
fn the_image_is_built_from_the_sources() {
    for path in ["Cargo.toml", "Cargo.lock", "src", "crates", "templates"] {
        assert!(ours(".dockerignore").contains(&format!("\n!{path}\n")), "{path}");
    }
}

/// `cargo binstall`, install.sh and the release workflow name the same archives for the same platforms.
#[test]
fn archives_have_one_name_everywhere() {
    let release = workflow::yaml("release.yml", &ours(".github/workflows/release.yml"));
    let matrix = &release["jobs"]["build"]["strategy"]["matrix"]["include"];
    let built: BTreeSet<&str> =
        matrix.as_array().unwrap().iter().filter_map(|it| it["target"].as_str()).collect();
    let installer = ours("install.sh");
    let installed: BTreeSet<&str> = installer
        .lines()
        .filter_map(|it| it.split_once(") echo ")?.1.strip_suffix(" ;;"))
        .filter(|it| !it.contains(' '))
        .chain(["x86_64-pc-windows-msvc"])
        .collect();
    assert_eq!(built, installed);

    let manifest: toml::Table = ours("Cargo.toml").parse().unwrap();
    let binstall = &manifest["package"]["metadata"]["binstall"];
    // As the script for archives and install.sh build them, of a version and a target.
    assert!(ours(".github/release/archive").contains("name=operator-rs-v$2-$3"));
    assert!(
        ours(".github/release/archive")
            .contains("-czf \"$folder/$name.tar.gz\" -C \"$stage\" \"$name\"")
    );
    assert!(installer.contains("name=operator-rs-v$version-$platform"));
    assert!(installer.contains("\"$releases/v$version/$name.tar.gz\""));
    let url = "{ repo }/releases/download/v{ version }/{ name }-v{ version }-{ target }.tar.gz";
    assert_eq!(binstall["pkg-url"].as_str(), Some(url));
    assert_eq!(binstall["pkg-fmt"].as_str(), Some("tgz"));
    let program = "{ name }-v{ version }-{ target }/{ bin }{ binary-ext }";
    assert_eq!(binstall["bin-dir"].as_str(), Some(program));
}

/// Stands in for cargo, and for a registry that has the crates in `$PUBLISHED`, as `name` and `name@version`.
const CARGO: &str = r#"#!/bin/bash
case $1 in
  info)
    for it in $PUBLISHED; do [ "$it" != "$4" ] || exit 0; done
    [ "$4" != "$BROKEN" ] || { echo 'error: failed to fetch' >&2; exit 101; }
    echo "error: could not find \`$4\` in registry" >&2; exit 101 ;;
  pkgid) echo "path+file:///it/$3#1.2.3" ;;
  *) echo "$@" >>"$CALLS" ;;
esac
"#;

/// The crates are published after those that they depend on, and only where the registry lacks them.
#[test]
fn crates_are_published_in_order_and_compared_with_what_is_published() {
    let dir = support::fresh("release-crates");
    fs::create_dir(dir.join("bin")).unwrap();
    let cargo = dir.join("bin/cargo");
    fs::write(&cargo, CARGO).unwrap();
    fs::set_permissions(&cargo, fs::Permissions::from_mode(0o755)).unwrap();
    let run = |word: &str, published: &str, broken: &str| -> (Output, Vec<String>) {
        let calls = dir.join("calls");
        fs::write(&calls, "").unwrap();
        let path = format!("{}:{}", dir.join("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(support::home().join(".github/release/crates"));
        command.arg(word).env("PATH", path).env("CALLS", &calls);
        command.env("PUBLISHED", published).env("BROKEN", broken);
        let output = command.output().unwrap();
        (output, fs::read_to_string(calls).unwrap().lines().map(str::to_owned).collect())
    };
    let publish = |name: &str| format!("publish --locked -p {name}");
    let (output, calls) = run("publish", "", "");
    assert!(output.status.success(), "{}", support::said(&output));
    let all: Vec<String> = calls.iter().map(|it| it.replace("publish --locked -p ", "")).collect();
    let members = members();
    assert_eq!(all.iter().collect::<BTreeSet<_>>(), members.keys().collect());
    for (name, dependencies) in &members {
        let place = |name: &String| all.iter().position(|it| it == name).unwrap();
        assert!(dependencies.iter().all(|it| place(it) < place(name)), "{name} in {all:?}");
    }
    let there: Vec<String> = all.iter().map(|it| format!("{it}@1.2.3")).collect();
    let all_but = |missing: &[&str]| -> String {
        let is_there = |it: &&String| missing.iter().all(|gone| **it != format!("{gone}@1.2.3"));
        there.iter().filter(is_there).map(|it| format!("{it} ")).collect()
    };
    let (_, calls) = run("publish", &all_but(&["operator-rs-testing", "operator-rs"]), "");
    assert_eq!(calls, [publish("operator-rs-testing"), publish("operator-rs")]);

    assert_eq!(run("compare", "", "").1, [""; 0]);
    let (output, calls) = run("compare", "operator-rs-testing", "");
    assert!(support::said(&output).contains("operator-rs-runtime is not published yet"));
    assert_eq!(calls, ["semver-checks --version", "semver-checks -p operator-rs-testing"]);
    let (output, calls) = run("compare", "", "operator-rs-testing");
    assert_eq!((output.status.code(), calls), (Some(1), vec![]), "the registry does not answer");
}

/// The crates of the workspace, and which of the others each depends on, for tests too.
fn members() -> BTreeMap<String, Vec<String>> {
    let mut manifests = vec![ours("Cargo.toml")];
    let root: toml::Table = manifests[0].parse().unwrap();
    assert_eq!(root["workspace"]["members"].as_array().unwrap().len(), 1, "all of `crates`");
    let folders = fs::read_dir(support::home().join("crates")).unwrap();
    let folders = folders.map(|it| it.unwrap().file_name().into_string().unwrap());
    manifests.extend(folders.map(|it| ours(&format!("crates/{it}/Cargo.toml"))));
    let manifests: Vec<toml::Table> = manifests.iter().map(|it| it.parse().unwrap()).collect();
    let name = |it: &toml::Table| it["package"]["name"].as_str().unwrap().to_owned();
    let names: BTreeSet<String> = manifests.iter().map(name).collect();
    let keys = |it: &toml::Table, table: &str| -> Vec<String> {
        let table = it.get(table).and_then(toml::Value::as_table);
        table
            .into_iter()
            .flat_map(toml::Table::keys)
            .filter(|it| names.contains(*it))
            .cloned()
            .collect()
    };
    // A crate's tests may depend on itself, for its features.
    let all = |it: &toml::Table| {
        let mut res = [keys(it, "dependencies"), keys(it, "dev-dependencies")].concat();
        res.retain(|dependency| *dependency != name(it));
        res
    };
    manifests.iter().map(|it| (name(it), all(it))).collect()
}

#[test]
fn the_action_and_the_issue_forms_are_well_formed() {
    let action = workflow::yaml("action.yml", &ours("action.yml"));
    assert_eq!(action["runs"]["using"], "composite");
    let step = &action["runs"]["steps"][0];
    assert_eq!(step["run"], r#""$GITHUB_ACTION_PATH/.github/action""#);
    assert_eq!(step["working-directory"], "${{ inputs.working-directory }}");
    // Inputs reach the script as variables: what they hold is never read by a shell.
    let inputs: Vec<_> = action["inputs"].as_object().unwrap().keys().collect();
    assert_eq!(inputs, ["command", "version", "working-directory"]);
    assert_eq!(step["env"]["COMMAND"], "${{ inputs.command }}");
    assert_eq!(step["env"]["VERSION"], "${{ inputs.version }}");

    for form in ["bug", "inexact", "feature"] {
        let form = workflow::yaml(form, &ours(&format!(".github/ISSUE_TEMPLATE/{form}.yml")));
        assert!(form["name"].is_string() && form["description"].is_string(), "{form}");
        let fields = form["body"].as_array().expect("it has fields");
        let mut ids = BTreeSet::new();
        for field in fields.iter().filter(|it| it["type"] != "markdown") {
            assert!(ids.insert(field["id"].as_str().expect("it has an id")), "{field}");
            assert!(field["attributes"]["label"].is_string(), "{field}");
        }
    }
}

/// The programs that `tests/control-plane/build` takes from Debian, each with its package and its place in $TOOLS.
const PACKAGED: [(&str, &str, &str); 6] = [
    ("docker-registry", "docker-registry", "docker-registry"),
    ("skopeo", "skopeo", "skopeo"),
    ("umoci", "umoci", "umoci"),
    ("zsh", "zsh-static", "shells/zsh"),
    ("fish", "fish", "shells/fish"),
    ("chromium", "chromium-headless-shell", "browser"),
];

/// Stands in for apt-get: what is fetched has the name of its package, and each package needs a library.
const APT_GET: &str = r#"#!/bin/bash
words=("$@")
case $1 in
  download) for it in "${words[@]:2}"; do touch "$it.deb"; echo "$it" >>"$FETCHED"; done ;;
  install) for it in "${words[@]:3}"; do printf 'Inst %s (1)\nInst lib%s [0] (1)\nInst iptables (1)\n' "$it" "$it"; done ;;
  *) exit 1 ;;
esac
"#;

/// Stands in for dpkg: a package has one program, which prints the name of the package.
const DPKG: &str = r#"#!/bin/bash
name=${2%.deb}
case $name in
  *-static) path=bin/$name ;;
  chromium*) path=usr/lib/chromium/$name ;;
  lib*) path=usr/lib/$name.so ;;
  *) path=usr/bin/$name ;;
esac
mkdir -p "$3/usr/share" "$3/${path%/*}"
printf '#!/bin/bash\necho %s\n' "$name" >"$3/$path"
chmod +x "$3/$path"
"#;

#[test]
fn what_is_installed_is_not_fetched_from_debian() {
    let singles = PACKAGED.iter().map(|it| vec![it.0]);
    let rests = PACKAGED
        .iter()
        .map(|one| PACKAGED.iter().filter(|it| it.0 != one.0).map(|it| it.0).collect::<Vec<_>>());
    for installed in singles.chain(rests).chain([vec![]]) {
        let dir = support::fresh("repository-packages");
        let (output, fetched) = build(&dir, &installed, true);
        assert!(output.status.success(), "{installed:?}: {}", support::said(&output));
        assert!(!fetched.contains("iptables"), "{fetched}");
        for (name, package, place) in PACKAGED {
            let place = dir.join("tools").join(place);
            let is_fetched = fetched.lines().any(|it| it == package);
            assert_eq!(is_fetched, !installed.contains(&name), "{installed:?}: {package}");
            assert_eq!(place.exists(), is_fetched, "{installed:?}: {name}");
            if is_fetched {
                let output = Command::new(&place).output().unwrap();
                assert_eq!(support::said(&output), format!("{package}\n[exit status: 0]"));
            }
        }
        let (_, again) = build(&dir, &installed, true);
        assert_eq!(again, fetched, "{installed:?}: nothing is missing now");
    }
}

#[test]
fn without_debians_packages_the_build_names_what_is_missing() {
    let dir = support::fresh("repository-no-packages");
    let (output, _) = build(&dir, &["docker-registry", "skopeo", "umoci", "zsh"], false);
    let text = support::said(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(!text.contains("`images`") && text.contains("`shells`"), "{text}");
    assert!(text.contains("`browser`"), "{text}");
}

/// Builds all that comes from Debian, on a machine that has these programs, and returns the packages fetched so far.
fn build(dir: &Path, installed: &[&str], is_debian: bool) -> (Output, String) {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let real =
        "bash cat chmod dirname find grep ln mkdir mktemp mv paste realpath rm sed sort touch env";
    for name in real.split(' ').filter(|it| !bin.join(it).exists()) {
        let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
        let path = String::from_utf8(found.unwrap().stdout).unwrap();
        symlink(path.trim(), bin.join(name)).unwrap();
    }
    let stands_in = if is_debian { vec![("apt-get", APT_GET), ("dpkg", DPKG)] } else { vec![] };
    let here = installed.iter().map(|it| (*it, "#!/bin/bash\nexit 9\n"));
    for (name, text) in stands_in.into_iter().chain(here) {
        fs::write(bin.join(name), text).unwrap();
        fs::set_permissions(bin.join(name), PermissionsExt::from_mode(0o755)).unwrap();
    }
    let fetched = dir.join("fetched");
    let script = support::home().join("tests/control-plane/build");
    let output = support::command("bash", dir)
        .arg(script)
        .args(["images", "shells", "browser"])
        .env("PATH", &bin)
        .env("TOOLS", dir.join("tools"))
        .env("FETCHED", &fetched)
        .output()
        .unwrap();
    (output, fs::read_to_string(fetched).unwrap_or_default())
}

/// The packages of this repository have no owner in a registry until they are published: until then, whoever takes their
/// names is whom a scaffold, a message or a page would have people run.
#[test]
fn nothing_installs_our_packages_from_a_registry() {
    for (text, is_fault) in [
        ("run: cargo install operator-rs --locked", true),
        ("`cargo install --locked --version 1.0.0 operator-rs@1`", true),
        ("cargo +stable binstall -y operator-rs", true),
        ("cargo add kube-crd-source --build", true),
        ("kube-crd-source = \"0.1\"", true),
        ("operator-rs = { version = \"0.1\" }", true),
        ("cargo install --git https://example.com/a.git --rev 1 operator-rs", false),
        ("kube-crd-source = { version = \"0.1.0\", path = \"crates/kube-crd-source\" }", false),
        ("`cargo install --path .` builds operator-rs", false),
        ("metadata for `cargo binstall`; operator-rs", false),
    ] {
        assert_eq!(names_registry(text), is_fault, "{text}");
    }

    let mut faults = Vec::new();
    for (path, text) in our_texts() {
        let lines = text.lines().enumerate().filter(|it| names_registry(it.1));
        faults.extend(lines.map(|(at, line)| format!("{path}:{}: {}", at + 1, line.trim())));
    }
    assert!(faults.is_empty(), "these take our packages from a registry:\n{}", faults.join("\n"));
}

/// A merge that was committed with both sides.
#[test]
fn no_text_has_the_marks_of_a_conflict() {
    let is_mark = |it: &str| it.starts_with("<<<<<<< ") || it.starts_with(">>>>>>> ");
    let faults = our_texts().into_iter().filter(|it| it.1.lines().any(is_mark));
    let faults: Vec<String> = faults.map(|it| it.0).collect();
    assert!(faults.is_empty(), "{faults:?}");
}

/// Everything that is handed over, or that people read: templates, the projects that they make, pages, messages, scripts.
fn our_texts() -> Vec<(String, String)> {
    let tops = ["templates", "examples", "docs", "src", "crates", ".github"];
    let files = ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Cargo.toml"];
    let files =
        [&files[..], &["action.yml", "install.sh", "Dockerfile", "tests/first-run"]].concat();
    let mut res: Vec<_> = files.into_iter().map(|it| (it.to_owned(), ours(it))).collect();
    for top in tops {
        let tree = support::tree(&support::home().join(top));
        assert!(!tree.is_empty(), "{top}");
        res.extend(tree.into_iter().filter_map(|(path, bytes)| {
            Some((format!("{top}/{path}"), String::from_utf8(bytes).ok()?))
        }));
    }
    res
}

/// Whether a line takes a package of ours from a registry: as a command, or as a dependency.
fn names_registry(line: &str) -> bool {
    const OURS: [&str; 2] = ["operator-rs", "kube-crd-source"];
    let has_place = |it: &str| ["path", "git"].iter().any(|place| it.contains(place));
    let command = line.split(['`', '|', ';', '&']).any(|command| {
        let mut words = command.split_whitespace().map(|it| it.trim_matches(['"', '\\', '\'']));
        words.any(|it| it == "cargo")
            && words.clone().any(|it| ["install", "binstall", "add"].contains(&it))
            && words.any(|it| OURS.contains(&it.split('@').next().unwrap_or(it)))
            && !["--path", "--git"].iter().any(|it| command.contains(it))
    });
    let dependency = OURS.iter().any(|it| {
        let value = line.trim_start().strip_prefix(it).map(str::trim_start);
        value.and_then(|it| it.strip_prefix('=')).is_some_and(|it| !has_place(it))
    });
    command || dependency
}

/// A file of this repository.
fn ours(path: &str) -> String {
    std::fs::read_to_string(support::home().join(path)).unwrap_or_else(|it| panic!("{path}: {it}"))
}

/// On Windows, `\` separates the parts of a path, and clap would parse a flag as files are parsed, which refuses it.
#[test]
fn every_flag_for_a_path_in_the_project_takes_paths_of_the_system() {
    let mut flags = 0;
    for (path, text) in support::tree(&support::home().join("src")) {
        let text = String::from_utf8_lossy(&text).into_owned();
        for argument in text.split("#[arg(").skip(1) {
            let (attribute, rest) = argument.split_once(")]\n").expect("an attribute ends");
            let field = rest.lines().find(|line| line.trim_end().ends_with(',')).unwrap_or("");
            if field.contains("ProjectPath") {
                flags += 1;
                assert!(attribute.contains("value_parser"), "src/{path}:{field}: name a parser");
            }
        }
    }
    assert!(flags > 5, "{flags}");
}

/// A mistyped redirection of a shell leaves one.
#[test]
fn no_file_at_the_top_is_empty() {
    let entries = fs::read_dir(support::home()).expect("the folder can be listed");
    let files = entries.filter_map(|entry| {
        let entry = entry.expect("the folder can be listed");
        let metadata = entry.metadata().expect("it is there");
        metadata.is_file().then(|| (entry.file_name(), metadata.len()))
    });
    let files: BTreeMap<_, _> = files.collect();
    assert!(files.contains_key("Cargo.toml".as_ref() as &std::ffi::OsStr), "{files:?}");
    assert_eq!(files.iter().find(|(_, bytes)| **bytes == 0), None);
}
