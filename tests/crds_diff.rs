//! `crds diff` on repositories as they are not in the session page: hostile ones, partial ones, large and odd ones; and
//! on a cluster.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    net::TcpListener,
    os::unix::fs::PermissionsExt as _,
    path::{Path, PathBuf},
    process::{Command, Output},
    thread,
};

use serde_json::{Value, json};

const KIND: &str = r#"
use kube::CustomResource;
#[derive(CustomResource, JsonSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = "example.com", version = "v1", kind = "Backup", namespaced)]
pub struct BackupSpec { pub keep: Option<i64>, pub target: crate::Target }
"#;
const TARGET: &str = "#[derive(JsonSchema, Serialize, Deserialize, Clone, Debug)]\npub struct Target { pub url: String }\n";
const IMPORTS: &str = "use schemars::JsonSchema;\nuse serde::{Deserialize, Serialize};\n";
const MANIFEST: &str = "[package]\nname = \"a\"\nversion = \"0.1.0\"\nedition = \"2024\"\n[dependencies]\nkube = { version = \"5\", features = [\"derive\"] }\nschemars = \"1\"\nserde = { version = \"1\", features = [\"derive\"] }\n";
const LOCK: &str = "version = 4\n[[package]]\nname = \"a\"\nversion = \"0.1.0\"\ndependencies = [\"kube-core\"]\n[[package]]\nname = \"kube-core\"\nversion = \"5.0.0\"\nsource = \"registry+https://example.com/index\"\n";

/// A repository with one kind in one commit.
struct Repository(PathBuf);

impl Repository {
    fn new(name: &str) -> Self {
        let it = Self(support::fresh(&format!("crds-diff/{name}")));
        it.git(&["init", "-q", "-b", "main", "."]);
        it.write("Cargo.toml", MANIFEST);
        it.write("Cargo.lock", LOCK);
        it.write("src/main.rs", &format!("{IMPORTS}{TARGET}{KIND}fn main() {{}}\n"));
        it.commit("First");
        it
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.0.join(path);
        fs::create_dir_all(path.parent().expect("it is in a folder")).expect("it is ours");
        fs::write(path, text).expect("it is ours");
    }

    fn git(&self, words: &[&str]) -> String {
        let mut command = support::command("git", &self.0);
        command.args(["-c", "user.name=me", "-c", "user.email=me@example.com"]);
        command.args(["-c", "protocol.file.allow=always"]);
        let output = command.args(words).output().expect("there is git");
        assert!(output.status.success(), "git {words:?}: {}", support::said(&output));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn commit(&self, title: &str) {
        self.git(&["add", "-A"]);
        self.git(&["commit", "-q", "-m", title]);
    }

    fn diff(&self, words: &[&str]) -> Output {
        diff(&self.0, words, |it| it)
    }

    #[track_caller]
    fn says(&self, words: &[&str], code: i32, expected: &str) {
        check(&self.diff(words), code, expected);
    }
}

fn diff(dir: &Path, words: &[&str], change: impl FnOnce(&mut Command) -> &mut Command) -> Output {
    let mut command = support::command(support::BINARY, dir);
    change(command.args(["crds", "diff"]).args(words)).output().expect("the binary starts")
}

#[track_caller]
fn check(output: &Output, code: i32, expected: &str) {
    let text = support::said(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(expected), "{text}\n\nthis is missing: {expected}");
}

const SAME: &str = "no breaking change from HEAD to the working tree (1 CRD)";
const REMOVED: &str =
    "error[existingFieldRemoval]: the field was removed\n  backups.example.com v1 ^.spec.keep";

/// Takes a field out of the working tree.
fn remove_a_field(repository: &Repository) {
    let path = repository.0.join("src/main.rs");
    let text = fs::read_to_string(&path).expect("it is ours");
    fs::write(path, text.replace("pub keep: Option<i64>, ", "")).expect("it is ours");
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let repository = Repository::new("traps");
    let mark = repository.0.join(".git/mark");
    let trap = repository.0.join(".git/trap");
    fs::write(&trap, format!("#!/bin/sh\necho \"$0 $@\" >>'{}'\ncat\n", mark.display())).unwrap();
    fs::set_permissions(&trap, fs::Permissions::from_mode(0o755)).unwrap();
    let trap = trap.to_str().expect("it is UTF-8");
    fs::create_dir_all(repository.0.join(".git/traps")).unwrap();
    for hook in ["post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"] {
        fs::copy(trap, repository.0.join(".git/traps").join(hook)).unwrap();
    }
    repository.write(".gitattributes", "* diff=x filter=x\n");
    repository.commit("Attributes");
    for (key, value) in [
        ("core.hooksPath", ".git/traps"),
        ("core.pager", trap),
        ("core.sshCommand", trap),
        ("core.editor", trap),
        ("core.askPass", trap),
        ("core.alternateRefsCommand", trap),
        ("diff.external", trap),
        ("diff.x.textconv", trap),
        ("diff.x.command", trap),
        ("filter.x.clean", trap),
        ("filter.x.smudge", trap),
        ("filter.x.process", trap),
        ("gpg.program", trap),
        ("pager.rev-parse", trap),
        ("pager.ls-tree", trap),
        ("alias.ls-tree", &format!("!{trap}")),
        ("credential.helper", trap),
        ("remote.origin.url", "ssh://example.invalid/x"),
        ("remote.origin.uploadpack", trap),
        ("remote.origin.promisor", "true"),
        ("log.showSignature", "true"),
        ("core.fsmonitor", trap),
    ] {
        repository.git(&["config", key, value]);
    }
    // The traps do work: git's own status runs one.
    let _ = support::command("git", &repository.0).arg("status").output().expect("there is git");
    assert!(mark.exists(), "the traps do not work");
    fs::remove_file(&mark).unwrap();
    repository.says(&[], 0, SAME);
    remove_a_field(&repository);
    repository.says(&[], 1, REMOVED);
    repository.says(&["HEAD:src"], 1, "no file in `src` has a CustomResourceDefinition");
    repository.says(&["nowhere"], 1, "there is no revision `nowhere`");
    assert!(!mark.exists(), "{}", fs::read_to_string(&mark).unwrap_or_default());
}

#[test]
fn what_a_partial_clone_lacks_is_not_fetched() {
    let repository = Repository::new("partial");
    let mark = repository.0.join(".git/mark");
    let id = repository.git(&["rev-parse", "HEAD:src/main.rs"]);
    let object = repository.0.join(".git/objects").join(&id[..2]).join(&id[2..]);
    fs::set_permissions(&object, fs::Permissions::from_mode(0o644)).unwrap();
    fs::remove_file(&object).unwrap();
    let upload = format!("touch '{}'; git-upload-pack", mark.display());
    for (key, value) in [
        ("core.repositoryFormatVersion", "1"),
        ("extensions.partialClone", "origin"),
        ("remote.origin.url", repository.0.to_str().expect("it is UTF-8")),
        ("remote.origin.uploadpack", &upload),
        ("remote.origin.promisor", "true"),
    ] {
        repository.git(&["config", key, value]);
    }
    repository.says(&[], 1, "this clone lacks `src/main.rs` as of HEAD");
    assert!(!mark.exists(), "git has fetched");
    // With git alone, the trap works.
    let _ = support::command("git", &repository.0).args(["cat-file", "-p", &id]).output();
    assert!(mark.exists(), "the trap does not work");
}

#[test]
fn options_are_no_revisions() {
    let repository = Repository::new("options");
    let refused = "is neither a revision nor a file";
    for it in ["--upload-pack=touch x", "--exec=x", "-x", "-"] {
        repository.says(&[&format!("--to={it}")], 1, refused);
        repository.says(&["--to", "HEAD", "--", it], 1, refused);
        if it != "-" {
            repository.says(&[it], 2, "error: unexpected argument");
            repository.says(&["--to", it], 2, "error: ");
        }
    }
    for it in
        ["HEAD..main", "^HEAD", "HEAD^{tree}", "HEAD main", "@{nothing}", "HEAD\n", "$(touch x)"]
    {
        repository.says(&[it], 1, "there is no revision");
    }
    assert!(!repository.0.join("x").exists());
}

#[test]
fn the_callers_git_variables_lead_nowhere_else() {
    let (repository, other) = (Repository::new("variables"), Repository::new("variables-other"));
    remove_a_field(&repository);
    let elsewhere = other.0.join(".git");
    let output = diff(&repository.0, &[], |it| {
        it.env("GIT_DIR", &elsewhere)
            .env("GIT_WORK_TREE", "/")
            .env("GIT_OBJECT_DIRECTORY", elsewhere.join("objects"))
            .env("GIT_INDEX_FILE", "/nowhere")
            .env("GIT_CONFIG_COUNT", "1")
            .env("GIT_CONFIG_KEY_0", "core.fsmonitor")
            .env("GIT_CONFIG_VALUE_0", "false")
            .env("GIT_TRACE", "1")
    });
    check(&output, 1, REMOVED);
}

#[test]
fn a_folder_without_git_has_no_revisions() {
    let dir = tempfile::tempdir().expect("there is a folder for such");
    for (path, text) in [("Cargo.toml", MANIFEST), ("Cargo.lock", LOCK)] {
        fs::write(dir.path().join(path), text).unwrap();
    }
    let output = diff(dir.path(), &[], |it| it);
    check(&output, 1, "is in no git repository: not a git repository");
    check(&output, 1, "hint: name files of CRDs instead of revisions");
}

#[test]
fn without_git_the_way_out_is_told() {
    let repository = Repository::new("no-git");
    let output = diff(&repository.0, &[], |it| it.env("PATH", "/nowhere"));
    check(&output, 1, "hint: install `git`, or bring it on PATH");
}

#[test]
fn symlinks_are_followed_within_the_repository() {
    let repository = Repository::new("symlinks");
    let main = format!("{IMPORTS}mod target;\nuse target::Target;\n{KIND}fn main() {{}}\n");
    repository.write("src/main.rs", &main);
    repository.write("shared/target.rs", &format!("{IMPORTS}{TARGET}"));
    let link = repository.0.join("src/target.rs");
    let lead_to = |target: &str| {
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(target, &link).unwrap();
        repository.commit(target);
    };
    lead_to("../shared/target.rs");
    repository.says(&[], 0, SAME);
    let repair = || {
        let _ = fs::remove_file(&link);
        fs::write(&link, format!("{IMPORTS}{TARGET}")).unwrap();
    };
    lead_to("/etc/hostname");
    repair();
    repository.says(&[], 1, "`src/target.rs` leads out of the repository");
    lead_to("../../target.rs");
    repair();
    repository.says(&[], 1, "leads out of the repository");
    lead_to("target.rs");
    repair();
    repository.says(&[], 1, "`src/target.rs` leads through more than 40 symlinks");
}

#[test]
fn a_submodule_is_another_repository() {
    let (repository, other) = (Repository::new("submodule"), Repository::new("submodule-other"));
    let from = other.0.to_str().expect("it is UTF-8");
    repository.git(&["submodule", "--quiet", "add", from, "types"]);
    let main = format!(
        "{IMPORTS}#[path = \"../types/src/main.rs\"]\nmod types;\n{TARGET}{KIND}fn main() {{}}\n"
    );
    repository.write("src/main.rs", &main);
    repository.commit("Submodule");
    repository.says(
        &["HEAD", "--to", "HEAD~1"],
        1,
        "`types` is a submodule: its files are in another repository",
    );
}

#[test]
fn a_huge_file_is_not_read() {
    let repository = Repository::new("huge");
    let main = format!("{IMPORTS}{TARGET}mod big;\n{KIND}fn main() {{}}\n");
    repository.write("src/main.rs", &main);
    repository.write("src/big.rs", &"// xxxxxxxxxxxxxxxxxxxxxxxxxxxx\n".repeat(1 << 19).repeat(2));
    repository.commit("Huge");
    repository.write("src/big.rs", "");
    repository.says(&[], 1, "`src/big.rs` has 33554432 bytes at HEAD, more than 16 MiB");
    // The objects behind it are read all the same.
    repository.says(&["HEAD~1"], 0, "no breaking change from HEAD~1 to the working tree");
}

#[test]
fn names_that_are_no_text_are_passed_by() {
    use std::os::unix::ffi::OsStrExt as _;
    let repository = Repository::new("names");
    let odd = std::ffi::OsStr::from_bytes(b"src/\xff.rs");
    fs::write(repository.0.join(odd), "").expect("Linux takes any name");
    repository.write("src/a\nb.rs", "");
    repository.commit("Odd names");
    repository.says(&[], 0, SAME);
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
    check(&output, 1, "operators/backup/src/main.rs:9:12 at HEAD: error");
    repository.says(&["--manifest-path", "operators/backup/Cargo.toml"], 1, REMOVED);
    let github = diff(&dir, &["--output", "github"], |it| it);
    check(&github, 1, "::error file=operators/backup/src/main.rs,line=9,");
    // It was elsewhere before.
    check(&diff(&dir, &["HEAD~1"], |it| it), 1, "existingFieldRemoval");
}

#[test]
fn what_cannot_be_read_exactly_is_refused_with_the_committed_files_as_the_way_out() {
    let repository = Repository::new("unread");
    support::done(&repository.0, "generate crds --output-dir config/crd/bases");
    let main = repository.0.join("src/main.rs");
    let text = fs::read_to_string(&main).unwrap();
    fs::write(&main, text.replace("pub url: String", "pub url: Unknown")).unwrap();
    repository.commit("Unknown");
    fs::write(&main, text).unwrap();
    let output = repository.diff(&[]);
    check(&output, 1, "the CRD cannot be read exactly at HEAD");
    check(&output, 1, "`operator-rs crds diff HEAD:config/crd/bases`");
    repository.says(
        &["HEAD:config/crd/bases"],
        0,
        "no breaking change from HEAD:config/crd/bases to the working tree",
    );
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
fn a_folder_of_files_leads_nowhere_else() {
    let repository = Repository::new("folder");
    support::done(&repository.0, "generate crds --output-dir crds");
    repository.says(&["crds"], 0, "no breaking change from crds to the working tree");
    let secret = tempfile::NamedTempFile::new().expect("there is a folder for such");
    fs::write(secret.path(), "token: secret: secret").unwrap();
    std::os::unix::fs::symlink(secret.path(), repository.0.join("crds/more.yaml")).unwrap();
    let output = repository.diff(&["crds"]);
    check(&output, 1, "crds/more.yaml cannot be read");
    assert!(!support::said(&output).contains("secret"), "{}", support::said(&output));
    // What a person names is read, wherever it is.
    let elsewhere = tempfile::tempdir().expect("there is a folder for such");
    fs::copy(repository.0.join("crds/example.com_backups.yaml"), elsewhere.path().join("a.yaml"))
        .unwrap();
    let path = elsewhere.path().to_str().expect("it is UTF-8");
    repository.says(&[path], 0, "no breaking change");
    repository.says(&[&format!("{path}/a.yaml")], 0, "no breaking change");
    repository.says(&["crds/example.com_backups.yaml"], 0, "no breaking change");
}

#[test]
fn a_name_means_one_thing() {
    let repository = Repository::new("one-thing");
    support::done(&repository.0, "generate crds --output-dir main");
    repository.says(&["main"], 1, "`main` is both a file and a revision");
    repository.says(&["./main"], 0, "no breaking change from ./main to the working tree");
    repository.says(&["main~0"], 0, "no breaking change from main~0 to the working tree");
    repository.says(&["HEAD", "--to", "HEAD"], 2, "both states are HEAD");
    repository.says(&["--context", "a"], 2, "`--context` names a cluster, and none is compared");
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
    check(&output, 1, "nothing is locked: which versions write the CRDs is not known");
    check(&output, 1, "hint: compare with a file of the CRDs instead");
}

/// A server that has one CRD, and its address.
fn server(crd: Value) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("there is a free port");
    let address = listener.local_addr().expect("it has an address");
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut reader = BufReader::new(stream.try_clone().expect("it can be read"));
            let mut first = String::new();
            let _ = reader.read_line(&mut first);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|it| 2 < it) {
                line.clear();
            }
            let path =
                "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/backups.example.com";
            let (code, body) = match first.starts_with(&format!("GET {path} ")) {
                true => (200, crd.to_string()),
                false => (404, json!({"kind": "Status", "code": 404}).to_string()),
            };
            let head = format!(
                "HTTP/1.1 {code} X\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
                body.len()
            );
            let _ = stream.write_all(format!("{head}{body}").as_bytes());
        }
    });
    format!("http://{address}")
}

#[test]
fn the_versions_that_a_cluster_has_stored_are_kept() {
    let repository = Repository::new("cluster");
    let mut crd =
        serde_json::from_str::<Value>(&support::done(&repository.0, "generate crds --output json"))
            .expect("it is JSON")[0]
            .clone();
    let mut older = crd["spec"]["versions"][0].clone();
    older["name"] = "v1alpha1".into();
    older["storage"] = false.into();
    crd["spec"]["versions"].as_array_mut().expect("a list").push(older);
    crd["status"] = json!({"storedVersions": ["v1alpha1", "v1"]});
    let kubeconfig = json!({
        "current-context": "a",
        "clusters": [{"name": "a", "cluster": {"server": server(crd)}}],
        "contexts": [{"name": "a", "context": {"cluster": "a", "user": "a"}}],
    });
    repository.write("kubeconfig", &kubeconfig.to_string());
    let words = ["cluster", "--kubeconfig", "kubeconfig"];
    repository.says(&words, 1, "error[storedVersionRemoval]: objects may be stored in `v1alpha1`");
    repository.says(&words, 1, "warning[servedVersionRemoval]: `v1alpha1` is not served any more");
    repository.says(
        &["--to", "cluster", "--kubeconfig", "kubeconfig"],
        0,
        "no breaking change from HEAD to the cluster at http://",
    );
    repository.says(
        &["cluster", "--to", "HEAD", "--kubeconfig", "nowhere"],
        1,
        "there is no kubeconfig `nowhere`",
    );
}
