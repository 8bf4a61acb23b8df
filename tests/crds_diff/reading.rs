//! What is compared, and how it is shown.

use std::fs;

use serde_json::{Value, json};

use super::{MANIFEST, REMOVED, Repository, check, diff, remove_a_field, support};

#[test]
fn a_folder_without_git_has_no_revisions() {
    let dir = tempfile::tempdir().expect("there is a folder for such");
    let lock = support::lock_for("a");
    for (path, text) in [("Cargo.toml", MANIFEST), ("Cargo.lock", &lock)] {
        fs::write(dir.path().join(path), text).unwrap();
    }
    let output = diff(dir.path(), &[], |it| it);
    check(&output, 1, "is not in a git repository");
    check(&output, 1, "hint: name files of CRDs instead of revisions");
}

#[test]
fn at_the_top_of_a_repository_the_workspaces_below_are_named() {
    let dir = tempfile::tempdir().expect("there is a folder for such");
    for folder in ["operators/backup/crates/api", "tools/target/debug", ".hidden"] {
        fs::create_dir_all(dir.path().join(folder)).unwrap();
        fs::write(dir.path().join(folder).join("Cargo.toml"), MANIFEST).unwrap();
    }
    fs::write(dir.path().join("operators/backup/Cargo.toml"), "[workspace]\n").unwrap();
    let unnamed =
        "hint: run the command in the directory of a package or workspace, or name it with `--dir`";
    let crds = |expected: &str| {
        let mut command = support::command(support::BINARY, dir.path());
        let output = command.args(["generate", "crds"]).output().expect("the binary starts");
        check(&output, 1, expected);
    };
    crds(unnamed);
    fs::create_dir(dir.path().join(".git")).unwrap();
    crds("hint: run the command in a directory that has one: `operators/backup`\n");
}

#[test]
fn directories_inside_a_directory_are_left_out_aloud() {
    let repository = Repository::new("directories");
    fs::create_dir_all(repository.0.join("crds/old")).unwrap();
    let crds = support::done(&repository.0, "generate crds");
    for path in ["crds/all.yaml", "crds/old/all.yaml"] {
        fs::write(repository.0.join(path), &crds).unwrap();
    }
    let output = diff(&repository.0, &["crds", "--to", "crds/old"], |it| it);
    check(&output, 0, "left out: crds/old/: of a directory, the files directly in it are read\n");
}

#[test]
fn without_git_a_hint_is_shown() {
    let repository = Repository::new("no-git");
    let output = diff(&repository.0, &[], |it| it.env("PATH", "/nowhere"));
    check(&output, 1, "hint: install `git`, or add it to PATH");
}

#[test]
fn a_package_below_the_top_is_found_at_a_revision() {
    let repository = Repository::new("below");
    for path in ["Cargo.toml", "Cargo.lock", "src"] {
        let to = repository.0.join("operators/backup");
        fs::create_dir_all(&to).unwrap();
        fs::rename(repository.0.join(path), to.join(path)).unwrap();
    }
    repository.commit("Below");
    let dir = repository.0.join("operators/backup");
    let path = dir.join("src/main.rs");
    let text = fs::read_to_string(&path).unwrap().replace("pub keep: Option<i64>, ", "");
    fs::write(&path, text).unwrap();
    let output = diff(&dir, &[], |it| it);
    check(&output, 1, REMOVED);
    check(&output, 1, "operators/backup/src/main.rs:9:29 at HEAD: error");
    repository.says(&["--manifest-path", "operators/backup/Cargo.toml"], 1, REMOVED);
    let github = diff(&dir, &["--output", "github"], |it| it);
    check(&github, 1, "::error file=operators/backup/src/main.rs,line=9,");
    // It was elsewhere before.
    check(&diff(&dir, &["HEAD~1"], |it| it), 1, "existingFieldRemoval");
}

#[test]
fn what_cannot_be_read_exactly_is_compared_by_the_committed_files() {
    let repository = Repository::new("unread");
    support::done(&repository.0, "generate crds --output-dir config/crd/bases");
    let main = repository.0.join("src/main.rs");
    let text = fs::read_to_string(&main).unwrap();
    fs::write(&main, text.replace("pub url: String", "pub url: Unknown")).unwrap();
    repository.commit("Unknown");
    fs::write(&main, &text).unwrap();
    let output = repository.diff(&[]);
    check(
        &output,
        0,
        "the CRD cannot be read exactly at HEAD; read from committed files instead: ",
    );
    // They are found wherever they are.
    repository.git(&["mv", "config/crd", "deploy-crds"]);
    repository.git(&["commit", "-q", "-m", "Move"]);
    check(&repository.diff(&[]), 0, "read from committed files instead: ");
    // What is passed over is named.
    let broken = "kind: CustomResourceDefinition\nspec: [\n";
    repository.write("deploy-crds/bases/broken.yaml", broken);
    repository.git(&["add", "deploy-crds"]);
    repository.git(&["commit", "-q", "-m", "Broken"]);
    let output = repository.diff(&[]);
    check(&output, 0, "read from committed files instead: ");
    check(&output, 0, "warning: at HEAD: deploy-crds/bases/broken.yaml is not compared: ");
    repository.git(&["reset", "-q", "--hard", "HEAD~1"]);
    fs::write(&main, &text).unwrap();
    // Of a CRD that only a file has, nobody knows whose it is.
    let path = repository.0.join("deploy-crds/bases");
    let name = fs::read_dir(&path).unwrap().next().unwrap().unwrap().path();
    let crd = fs::read_to_string(name).unwrap().replace("example.com", "example.org");
    repository.write("deploy-crds/other.yaml", &crd);
    repository.git(&["add", "deploy-crds"]);
    repository.git(&["commit", "-q", "-m", "Other"]);
    fs::write(&main, &text).unwrap();
    check(&repository.diff(&[]), 1, "not compared: ");
    repository.git(&["reset", "-q", "--hard", "HEAD~2"]);
    fs::write(&main, &text).unwrap();
    repository.says(
        &["HEAD:config/crd/bases"],
        0,
        "no breaking change from HEAD:config/crd/bases to the working tree",
    );
}

/// Runs the command that a hint names in backticks.
#[track_caller]
fn follow(repository: &Repository, output: &std::process::Output, code: i32, expected: &str) {
    let text = support::said(output);
    let commands: Vec<&str> =
        text.split('`').filter(|part| part.starts_with("operator-rs crds diff ")).collect();
    assert!(!commands.is_empty(), "no command in {text}");
    for command in commands {
        let words: Vec<&str> =
            command.split(' ').skip(3).map(|word| word.trim_matches('\'')).collect();
        check(&repository.diff(&words), code, expected);
    }
}

/// A repository whose first commit has files of CRDs, and source that cannot be read.
fn unreadable(name: &str, path: &str) -> (Repository, String) {
    let repository = Repository::new(name);
    let crds = support::done(&repository.0, "generate crds");
    let main = fs::read_to_string(repository.0.join("src/main.rs")).unwrap();
    repository.write("src/main.rs", &main.replace("pub url: String", "pub url: Unknown"));
    let text = if path.ends_with("json") {
        serde_yaml::from_str::<Value>(&crds).unwrap().to_string()
    } else {
        crds
    };
    repository.write(path, &text);
    repository.commit("Unreadable");
    (repository, main)
}

#[test]
fn committed_crds_are_found_by_their_content() {
    for (name, path) in [("json", "dist/all.json"), ("plain", "deploy/operator.yml")] {
        let (repository, main) = unreadable(&format!("content-{name}"), path);
        repository.write("src/main.rs", &main);
        check(&repository.diff(&[]), 0, "read from committed files instead: backups.example.com");
    }
    // A file of a directory for CRDs goes before a bundle that differs.
    let (repository, main) = unreadable("content-first", "config/crd/all.yaml");
    let crds = fs::read_to_string(repository.0.join("config/crd/all.yaml")).unwrap();
    repository.write("bundle/all.yaml", &crds.replace("scope: Namespaced", "scope: Cluster"));
    repository.commit("Bundle");
    repository.write("src/main.rs", &main);
    check(&repository.diff(&[]), 0, "read from committed files instead: backups.example.com");
}

#[test]
fn a_hint_to_compare_committed_files_can_be_followed() {
    // Nothing is compared: another file is of another group.
    let (repository, main) = unreadable("hint", "config/crd/all.yaml");
    let path = repository.0.join("config/crd/all.yaml");
    let crds = fs::read_to_string(&path).unwrap();
    repository.write(
        "config/crd/all.yaml",
        &crds.replace("backups", "others").replace("Backup", "Other"),
    );
    repository.write("config/crd/broken.yaml", "kind: CustomResourceDefinition\nspec: [\n");
    repository.commit("Other");
    repository.write("src/main.rs", &main);
    follow(
        &repository,
        &repository.diff(&[]),
        1,
        "from HEAD:config/crd/all.yaml to the working tree",
    );
    check(
        &repository.diff(&[]),
        1,
        "compare with CRD files that are committed there: `operator-rs",
    );
    follow(&repository, &repository.diff(&["-p", "a"]), 1, "from HEAD:config/crd/all.yaml to");
    repository.commit("Readable");
    let output = repository.diff(&["HEAD", "--to", "HEAD~1"]);
    follow(&repository, &output, 1, "from HEAD to HEAD~1:config/crd/all.yaml");
    let output = repository.diff(&["HEAD~1", "--to", "HEAD~2", "--features", "a"]);
    follow(&repository, &output, 1, "from HEAD~1:config/crd/all.yaml to HEAD~2:config/crd");
}

#[test]
fn without_committed_crds_the_hint_names_a_file() {
    let (repository, main) = unreadable("no-crds", "other.txt");
    repository.write("src/main.rs", &main);
    let hint = "compare with a file of CRDs instead, e.g. the CRDs that this version installed: `operator-rs crds diff FILE`";
    repository.says(&[], 1, hint);
    repository.says(&["HEAD~1", "--to", "HEAD"], 1, "`operator-rs crds diff 'HEAD~1' --to FILE`");
}

#[test]
fn files_that_are_not_searched_for_crds_are_told() {
    let (repository, main) = unreadable("many", "z/all.json");
    let blob = repository.git(&["hash-object", "-w", "Cargo.lock"]);
    let entries: String = (0..10_000).map(|n| format!("100644 {blob}\ta/{n}.yaml\n")).collect();
    repository.write("index.txt", &entries);
    let mut git = support::command("git", &repository.0);
    let index = fs::File::open(repository.0.join("index.txt")).unwrap();
    git.args(["update-index", "--add", "--index-info"]).stdin(index);
    assert!(git.status().unwrap().success());
    repository.git(&["commit", "-q", "-m", "Many"]);
    repository.write("src/main.rs", &main);
    repository.says(
        &[],
        1,
        "at HEAD: there are more YAML and JSON files than are searched for CRDs",
    );
}

#[test]
fn kinds_behind_features_that_are_off_are_told() {
    let repository = Repository::new("features");
    let manifest = fs::read_to_string(repository.0.join("Cargo.toml")).unwrap();
    repository.write("Cargo.toml", &format!("{manifest}[features]\nextra = []\n"));
    let main = fs::read_to_string(repository.0.join("src/main.rs")).unwrap();
    let other = super::KIND.replace("Backup", "Restore").replace("use kube::CustomResource;", "");
    let gated = other.replace("#[derive", "#[cfg(feature = \"extra\")]\n#[derive");
    repository.write("src/main.rs", &format!("{main}{gated}"));
    repository.commit("Two kinds");
    let output = repository.diff(&[]);
    check(&output, 0, "the working tree has kinds behind features that are not enabled");
    check(&output, 0, "compare these kinds, too, with `--features extra`");
    for flag in [&["--features", "extra"][..], &["--all-features"], &["-q"]] {
        let text = support::said(&repository.diff(flag));
        assert!(!text.contains("not enabled"), "{text}");
    }
}

#[test]
fn one_crd_in_two_equal_files_of_a_directory_is_one_crd() {
    let (repository, _) = unreadable("twice", "crds/all.yaml");
    fs::copy(repository.0.join("crds/all.yaml"), repository.0.join("crds/copy.yaml")).unwrap();
    repository.commit("Twice");
    repository.says(&["HEAD:crds", "--to", "crds"], 0, "no breaking change");
    let text = fs::read_to_string(repository.0.join("crds/copy.yaml")).unwrap();
    repository.write("crds/copy.yaml", &text.replace("scope: Namespaced", "scope: Cluster"));
    repository.says(
        &["HEAD:crds", "--to", "crds"],
        1,
        "crds/copy.yaml:2:1: the CRD `backups.example.com` is also at crds/all.yaml:2:1",
    );
}

#[test]
fn kinds_that_can_be_read_are_compared_and_the_others_are_named() {
    let repository = Repository::new("partly");
    let other = |name: &str, of: &str| {
        format!(
            "use kube::CustomResource;\n#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]\n#[kube(group = \"example.com\", version = \"v1\", kind = \"{name}\")]\npub struct {name}Spec {{ pub it: {of} }}\n"
        )
    };
    let module = |of: &str| format!("{}{}", super::IMPORTS, other("Other", of));
    let main = fs::read_to_string(repository.0.join("src/main.rs")).unwrap();
    repository.write("src/main.rs", &format!("mod other;\n{main}"));
    repository.write("src/other.rs", &module("String"));
    repository.commit("Two kinds");
    repository.write("src/other.rs", &module("Unknown"));
    remove_a_field(&repository);
    let output = repository.diff(&[]);
    check(&output, 1, REMOVED);
    check(&output, 1, "from HEAD to the working tree (1 CRD): 1 breaking change");
    check(
        &output,
        1,
        "error: 1 of 2 CRDs cannot be read exactly at the working tree; not compared: others.example.com",
    );
    // Without a change, the exit status says that the comparison is not complete.
    repository.git(&["checkout", "-q", "src/main.rs"]);
    let output = repository.diff(&["--output", "json"]);
    check(&output, 1, r#""compatible": false"#);
    check(&output, 1, r#""complete": false"#);
    check(&output, 1, r#""findings": []"#);
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(report["notCompared"], json!(["others.example.com"]));
    // A problem names its revision, and a kind that no state could read is named, too.
    repository.commit("Unreadable");
    let output = repository.diff(&["HEAD~1", "--to", "HEAD", "--output", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(report["notCompared"], json!(["others.example.com"]));
    check(&output, 1, "error: `Unknown` is not found (at HEAD)");
    repository.write("src/other.rs", &(module("Unknown") + "pub struct Changed;\n"));
    let output = repository.diff(&["--output", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(report["notCompared"], json!(["Other.example.com"]));
    repository.git(&["reset", "-q", "--hard", "HEAD~1"]);
    repository.write("src/other.rs", &module("Unknown"));
    let part = "of what could be read, from HEAD to the working tree (1 CRD): 0 breaking changes, 0 warnings";
    check(&repository.diff(&[]), 1, part);
    // Where nothing can be compared, nothing is found to be compatible.
    let main = fs::read_to_string(repository.0.join("src/main.rs")).unwrap();
    repository.write("src/main.rs", &main.replace("pub url: String", "pub url: Unknown"));
    let output = repository.diff(&[]);
    check(&output, 1, "not compared: ");
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    repository.git(&["checkout", "-q", "src/main.rs"]);
    // At a revision, nothing is compiled.
    repository.commit("Unknown");
    let output = repository.diff(&["HEAD~1", "--to", "HEAD"]);
    check(&output, 1, "1 of 2 CRDs cannot be read exactly at HEAD");
    assert!(!support::said(&output).contains("--compile"), "{}", support::said(&output));
}

#[test]
fn sarif_names_rules_and_places() {
    let repository = Repository::new("sarif");
    remove_a_field(&repository);
    let output = repository.diff(&["--output", "sarif"]);
    let sarif: Value = serde_json::from_slice(&output.stdout).expect("it is JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().expect("there are results");
    assert_eq!(results.len(), 1);
    let it = &results[0];
    let index = it["ruleIndex"].as_u64().and_then(|it| usize::try_from(it).ok()).expect("an index");
    assert_eq!(run["tool"]["driver"]["rules"][index]["id"], it["ruleId"]);
    assert_eq!(it["ruleId"], "existingFieldRemoval");
    let place = &it["locations"][0]["physicalLocation"];
    assert_eq!(place["artifactLocation"], json!({"uri": "src/main.rs", "uriBaseId": "%SRCROOT%"}));
    assert_eq!(place["region"], json!({"startLine": 9, "startColumn": 12}));
}

#[test]
fn several_documents_and_lists_are_read_and_other_objects_passed_by() {
    let repository = Repository::new("files");
    let crd: Value =
        serde_json::from_str(&support::done(&repository.0, "generate crds --output json"))
            .map(|it: Value| it[0].clone())
            .expect("it is JSON");
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [crd, {"kind": "ConfigMap"}]});
    repository.write("list.json", &list.to_string());
    repository.write("many.yaml", &format!("---\nkind: ConfigMap\n---\n{crd}\n"));
    repository.says(&["list.json", "--to", "many.yaml"], 0, "from list.json to many.yaml (1 CRD)");
    repository.write(
        "older.yaml",
        &crd.to_string().replace("apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1"),
    );
    repository.says(
        &["older.yaml"],
        1,
        "`apiVersion: apiextensions.k8s.io/v1beta1` is not `apiextensions.k8s.io/v1`",
    );
}

#[test]
fn an_ambiguous_name_is_refused() {
    let repository = Repository::new("one-thing");
    support::done(&repository.0, "generate crds --output-dir main");
    repository.says(&["main"], 1, "`main` is both a file and a revision");
    repository.says(&["./main"], 0, "no breaking change from ./main to the working tree");
    repository.says(&["main~0"], 0, "no breaking change from main~0 to the working tree");
    repository.says(&["HEAD", "--to", "HEAD"], 2, "old and new state are both HEAD");
    repository.says(&["--context", "a"], 2, "`--context` requires a cluster to compare");
    let flag = "`--package` applies to Rust source, but no Rust source is compared";
    repository.says(&["./main", "--to", "HEAD:main", "-p", "a"], 2, flag);
}

#[test]
fn without_a_kind_there_is_nothing_to_compare() {
    let repository = Repository::new("no-kind");
    repository.write("src/main.rs", "fn main() {}\n");
    repository.says(&[], 1, "error[crdRemoval]: the CRD was removed, with `v1`");
    repository.commit("No kind");
    repository.says(&[], 1, "neither HEAD nor the working tree has a CRD");
    repository.says(&["HEAD", "--to", "HEAD~1"], 0, "(0 and 1 CRD)");
    repository.says(&["HEAD~1", "-p", "b"], 1, "neither HEAD~1 nor the working tree has a CRD");
    repository.write("Cargo.lock", "");
    repository.git(&["rm", "-q", "--cached", "Cargo.lock"]);
    repository.git(&["commit", "-q", "-m", "No lock"]);
    repository.git(&["checkout", "-q", "HEAD~2", "--", "src"]);
    repository.git(&["commit", "-q", "-m", "Kind without lock"]);
    let output = repository.diff(&["HEAD", "--to", "HEAD~3"]);
    check(
        &output,
        1,
        "there is no Cargo.lock: it is unknown which versions of kube and schemars generate the CRDs",
    );
    check(&output, 1, "hint: compare with a file of CRDs instead");
}

#[test]
fn the_configuration_of_a_revision_is_that_of_the_revision() {
    let repository = Repository::new("configuration");
    repository.write(
        ".cargo/config.toml",
        "[source.crates-io]\nreplace-with = \"vendored\"\n[source.vendored]\ndirectory = \"vendor\"\n",
    );
    let schemars = "[package]\nname = \"schemars\"\nversion = \"1.2.3\"\n";
    repository.write("vendor/schemars/Cargo.toml", schemars);
    repository.commit("Vendored");
    let fault =
        "the vendored `schemars` may not be the published crate: it has no `.cargo-checksum.json`";
    repository.says(&["HEAD", "--to", "HEAD~1"], 1, &format!("{fault} (at HEAD)"));
    fs::remove_dir_all(repository.0.join(".cargo")).unwrap();
    repository.says(&["HEAD~1"], 0, "(1 CRD)");
    repository.says(&["HEAD"], 1, &format!("{fault} (at HEAD)"));
}

/// What an API server cannot decode is not compared by what it may have meant.
#[test]
fn files_that_an_api_server_cannot_decode_are_refused_with_the_place() {
    const CRD: &str = "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata:\n  name: as.example.com\nspec:\n  group: example.com\n  scope: Namespaced\n  names: {kind: A, plural: as}\n  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object}}\n";
    let dir = support::fresh("crds-diff/undecodable");
    fs::write(dir.join("old.yaml"), CRD).unwrap();
    for (from, to, expected) in [
        (
            "scope: Namespaced",
            "scope: 5",
            "API servers cannot decode this CRD: `spec.scope` is the number `5`, and must be a string\n--> new.yaml:7:3",
        ),
        (
            "served: true",
            "served: \"true\"",
            "API servers cannot decode this CRD: `spec.versions[0].served` is the string `true`, and must be true or false\n--> new.yaml:11:5",
        ),
        (
            "type: object",
            "type: object, maxProperties: many",
            "`spec.versions[0].schema.openAPIV3Schema.maxProperties` is the string `many`",
        ),
        (
            "type: object",
            "type: array, items: true",
            "openAPIV3Schema.items` is the boolean `true`, and must be a map or a list",
        ),
        ("  scope: Namespaced", "  scope: Namespaced\n  scope: Cluster", "duplicate key `scope`"),
    ] {
        let text = CRD.replace(from, to);
        assert_ne!(text, CRD);
        fs::write(dir.join("new.yaml"), text).unwrap();
        check(&diff(&dir, &["old.yaml", "--to", "new.yaml"], |it| it), 1, expected);
        check(&diff(&dir, &["new.yaml", "--to", "old.yaml"], |it| it), 1, expected);
    }
    let versions = CRD.split("  versions:").next().unwrap().to_owned() + "  versions: {}\n";
    fs::write(dir.join("new.yaml"), versions).unwrap();
    let expected = "API servers cannot decode this CRD: `spec.versions` is a map, and must be a list\n--> new.yaml:9:3";
    check(&diff(&dir, &["old.yaml", "--to", "new.yaml"], |it| it), 1, expected);
}
