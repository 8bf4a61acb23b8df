//! Generated projects do what a user does next: `cargo test`, `cargo clippy`, `cargo fmt`, each without a
//! warning. The tests in them hold our CRDs against what kube's own `crd()` prints, and more.
//!
//! All are built one after the other, in one folder and with one target folder, so that each crate, and the runtime,
//! is compiled once; several APIs share a project, so that what is compiled again for each is little.

#![allow(clippy::disallowed_methods, reason = "the walls stand in src; a test looks from outside")]

mod support;

use std::{
    fs,
    path::{Path, PathBuf},
    sync::{Mutex, MutexGuard, PoisonError},
};

use support::{
    generated::{cargo, fetch, run},
    page::Player,
};

/// Held from before a project is made until its tests have passed: the folder is the next one's then.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn alone() -> MutexGuard<'static, ()> {
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn an_empty_project_compiles() {
    let _alone = alone();
    let dir = made("empty", "--project-name flavours", &[]);
    build(&dir);
    // Without `--package`, these are about the operator.
    assert!(run(&dir, "add --dry-run --offline serde_json").0);
    assert!(run(&dir, "run --locked --offline -- --help").0);
}

/// And a type that a person has written, which `create api` takes over.
#[test]
fn plain_kinds_compile() {
    let _alone = alone();
    let dir = made(
        "plain",
        "--project-name flavours --license none --owner Example",
        &[
            "--group cache --kind Memcached",
            "--group cache --kind Fleet --namespaced=false --shortname fl --shortname flt",
            "--group cache --kind TypeOnly --controller=false",
        ],
    );
    let path = dir.join("api/src/cache/v1alpha1/type_only.rs");
    let types = fs::read_to_string(&path).unwrap();
    fs::write(&path, types + BLOG).unwrap();
    support::done(&dir, "create api --group cache --kind Blog");
    // As the comment there asks for.
    let path = dir.join("tests/reconcile_blog.rs");
    let test = fs::read_to_string(&path).unwrap();
    let ignored = "#[ignore = \"sample() lacks the fields that the type requires\"]\n";
    assert!(test.contains(ignored) && test.contains("\"spec\": {}"));
    let test =
        test.replace(ignored, "").replace("\"spec\": {}", "\"spec\": { \"title\": \"News\" }");
    let comment = "    // Add the fields that the type requires.\n";
    fs::write(&path, test.replace(comment, "")).unwrap();
    build(&dir);
}

const BLOG: &str = "
/// Desired state of Blog.
#[derive(CustomResource, KubeSchema, Serialize, Deserialize, Clone, Debug)]
#[kube(group = \"cache.my.domain\", version = \"v1alpha1\", kind = \"Blog\", namespaced, shortname = \"bl\")]
pub struct BlogSpec {
    /// Title of the first page.
    #[schemars(length(min = 3))]
    pub title: String,
    pub theme: Option<String>,
}
";

/// As in docs/recorded/types.md; the CRD that follows is held against `crd()` by the project's own test.
#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn edited_types_compile() {
    let page = fs::read_to_string(support::home().join("docs/recorded/types.md")).unwrap();
    let part = |from: &str| {
        let text = page.split_once(from).expect("the page has it").1;
        text.split_once("END\n").expect("it has an end").0.to_owned()
    };
    let _alone = alone();
    let dir = made(
        "edited",
        "--project-name flavours",
        &["--group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211"],
    );
    let path = dir.join("api/src/cache/v1alpha1/memcached.rs");
    let types = fs::read_to_string(&path).unwrap();
    let head = "pub struct MemcachedSpec {\n";
    let fields = format!("{head}{}", part("fields.rs <<'END'\n"));
    let edited = types.replace(head, &fields) + &part("types.rs <<'END'\n");
    assert!(edited.contains("resources:") && edited.contains("pub enum Eviction"));
    // A type of the file by a path is the copy's own type in the copy.
    let edited = edited.replace("status = \"", "status = \"self::");
    fs::write(&path, edited).unwrap();
    support::done(&dir, "manifests");
    support::done(&dir, "create api --group cache --kind Memcached --version v1 --from v1alpha1");
    cargo(&dir, "fmt --all --check");
    fetch(&dir);
    cargo(&dir, "test --locked --offline --test crds --test cache_memcached_conversion_v1");
}

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn several_groups_and_versions_compile() {
    check(
        "many",
        "--project-name flavours",
        &[
            "--group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211",
            "--group cache --kind Redis",
            "--group cache --version v1beta1 --kind Memcached",
            "--group cache --version v1 --kind Memcached",
            "--group ship --kind Frigate --plural frigates",
            "--group ship --kind Memcached",
        ],
    );
}

/// With all that `create webhook` and `--from` write, and without the half of it, since each is a feature of the runtime.
#[test]
fn kinds_with_webhooks_compile() {
    let all = "--defaulting --programmatic-validation";
    let image = "--image memcached:1.6.39-alpine --port 11211";
    let external = "--external-api-path fleet::Fleet --external-api-domain example.org";
    {
        let _alone = alone();
        let dir = made(
            "webhooks",
            "--project-name flavours",
            &[
                &format!("--group cache --kind Memcached {image}"),
                &format!("webhook --group cache --kind Memcached {all}"),
                &format!("webhook --group core --version v1 --kind Pod {all}"),
                &format!("webhook --group apps --version v1 --kind Deployment {all}"),
                "--group type --kind Type --namespaced=false",
                &format!("webhook --group type --kind Type {all}"),
                &format!("webhook --group cluster --version v1 --kind Fleet {external} {all}"),
            ],
        );
        let fleet = dir.with_file_name("fleet");
        fs::create_dir_all(fleet.join("src")).unwrap();
        fs::write(fleet.join("Cargo.toml"), FLEET).unwrap();
        fs::write(fleet.join("src/lib.rs"), FLEET_TYPE).unwrap();
        cargo(&dir, "add --offline --path ../fleet");
        cargo(&dir, "update --offline --workspace");
        build(&dir);
        // As the comment there asks for.
        for test in ["defaulter", "validator"] {
            let path = dir.join(format!("tests/cluster_fleet_{test}.rs"));
            let text = fs::read_to_string(&path).unwrap();
            let ignored = "#[ignore = \"object() lacks the fields that the type requires\"]\n";
            assert!(text.contains(ignored));
            let text =
                text.replace(ignored, "").replace("\"spec\": {}", "\"spec\": { \"ships\": 3 }");
            fs::write(&path, text).unwrap();
        }
        cargo(
            &dir,
            "test --locked --offline --test cluster_fleet_defaulter --test cluster_fleet_validator",
        );
    }
    check(
        "conversion",
        "--project-name flavours",
        &[
            &format!("--group cache --kind Memcached {image}"),
            "--group cache --kind Memcached --version v1beta1 --from v1alpha1",
            "--group cache --kind Memcached --version v1 --from v1beta1",
            "--group a-group-with-quite-a-long-nam --version v2beta10 --kind AKindWithAQuiteLongName",
            "--group a-group-with-quite-a-long-nam --version v2 --kind AKindWithAQuiteLongName --from v2beta10",
        ],
    );
}

/// A crate of somebody else's with a kind.
const FLEET: &str = r#"[package]
name = "fleet"
version = "0.1.0"
edition = "2024"

[dependencies]
k8s-openapi = { version = "0.29", features = ["schemars"] }
kube = { version = "5", default-features = false, features = ["derive"] }
schemars = "1"
serde = { version = "1", features = ["derive"] }
serde_json = "1"
"#;

const FLEET_TYPE: &str = r#"#[derive(
    kube::CustomResource, schemars::JsonSchema, serde::Serialize, serde::Deserialize, Clone, Debug,
)]
#[kube(group = "cluster.example.org", version = "v1", kind = "Fleet", namespaced)]
pub struct FleetSpec {
    pub ships: u32,
}
"#;

/// Keywords, names of the templates' own types, and names that the formatter would wrap.
#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn kinds_of_any_name_compile() {
    let long = "AKindWithANameAsLongAsAnybodyCouldWishTo";
    let image = "--image registry.example.com:5000/an/image:v1 --port 80";
    check(
        "names",
        "--project-name flavours",
        &[
            "--group type --kind Type",
            &format!("--group match --version v1 --kind Match {image}"),
            &format!(
                "--group a-group-with-quite-a-long-nam --version v2beta10 --kind {long} {image}"
            ),
            &format!("--group x --kind Db {image}"),
            "--group x --kind Pod",
            &format!("--group x --kind Deployment {image}"),
            "--group x --kind Condition",
            "--group x --kind Context",
            "--group x --kind Controller",
            "--group x --kind Secret",
            // Names of the crates that the tests use.
            &format!("--group x --kind Cluster {image} --finalizer"),
            "--group x --kind Operator --finalizer",
            "--group x --kind Client",
            "--group x --kind Api --controller=false",
            "webhook --group x --kind Api --defaulting --programmatic-validation",
            "--group type --kind Type --version v2 --from v1alpha1",
        ],
    );
}

#[test]
#[cfg_attr(not(feature = "exhaustive"), ignore = "takes minutes: `tests/all --exhaustive` runs it")]
fn an_operator_of_one_namespace_with_a_long_name_compiles() {
    let name = "an-operator-with-a-name-as-long-as-names-may-be";
    let domain = "operators.a-rather-long-name.example.com";
    check(
        "long",
        &format!("--project-name {name} --domain {domain} --namespaced"),
        &[
            "--group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211",
            "--group cache --kind Worker --image busybox:1.37 --run-as-user 65534 --container-command sh,-c,date",
        ],
    );
}

/// Where tests/cluster builds it, too.
#[test]
fn the_website_operator_compiles_and_passes_its_tests() {
    let _alone = alone();
    build(&support::generated::example("website-operator"));
}

/// The project of the page, which shows how the test of the conversion fails while it has no `losing`.
#[test]
fn the_backup_operator_compiles_and_passes_its_tests() {
    let _alone = alone();
    let page = fs::read_to_string(support::home().join("docs/backup-operator.md")).unwrap();
    let dir = support::fresh("compiles/backup-operator");
    Player { dir: dir.clone(), variables: Vec::new(), shown: Vec::new() }.play(&page);
    fs::remove_dir_all(dir.join("backup-operator/.git")).unwrap();
    let project = shared(&dir.join("backup-operator"));
    build(&project);
    webhooks_are_called(&project);

    let path = project.join("tests/data_backup_conversion_v1beta1.rs");
    let test = fs::read_to_string(&path).unwrap();
    fs::write(&path, test.replace(".accept_loss_of(\"spec.comment\")", "")).unwrap();
    let (success, output) =
        run(&project, "test --locked --offline --test data_backup_conversion_v1beta1");
    let shown = page.split_once("```text\n").unwrap().1.split_once("\n```").unwrap().0;
    assert!(!success && output.contains(shown), "{output}");
}

/// On a real API server, the test of the page passes with the webhooks that it serves itself, and with those of a manager
/// that `make run` has started.
fn webhooks_are_called(project: &Path) {
    let tools = ["etcd", "kube-apiserver"].map(support::tool);
    let [Some(etcd), Some(_)] = tools else { return };
    let assets = etcd.parent().expect("it is in a folder");
    let by_itself = "cargo test --locked --test versions";
    let by_the_manager = r#"
        make run OPERATOR_RS="$OPERATOR_RS" >manager.log 2>&1 & manager=$!
        trap 'kill $manager; cat manager.log' EXIT
        for try in {1..600}; do (: <"/dev/tcp/127.0.0.1/$WEBHOOK_PORT") 2>/dev/null && break; kill -0 $manager; sleep 0.1; done
        E2E_WEBHOOKS='' cargo test --locked --test versions"#;
    for script in [by_itself, by_the_manager] {
        let mut command = support::command(support::BINARY, project);
        command.args(["test", "--assets"]).arg(assets).args(["--", "bash", "-euc", script]);
        command.env("CARGO_NET_OFFLINE", "true").env("OPERATOR_RS", support::BINARY);
        let _alone = support::alone_in_target();
        let output = support::building(&mut command).output().expect("the binary starts");
        let said = support::said(&output);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
        assert!(!said.contains("skipped"), "{said}");
    }
    fs::remove_file(project.join("manager.log")).expect("it was written");
}

fn check(name: &str, init: &str, apis: &[&str]) {
    let _alone = alone();
    build(&made(name, init, apis));
}

fn made(name: &str, init: &str, apis: &[&str]) -> PathBuf {
    let dir = support::fresh(&format!("compiles/{name}"));
    support::done(&dir, &format!("init {init}"));
    for api in apis {
        let what = if api.starts_with("webhook ") { "create" } else { "create api" };
        support::done(&dir, &format!("{what} {api}"));
    }
    shared(&dir)
}

/// A copy of a project where the one before was, with the files that both have as they were: cargo builds only the rest.
fn shared(project: &Path) -> PathBuf {
    let dir = Path::new(env!("CARGO_TARGET_TMPDIR")).join("compiles/shared");
    support::sync(support::tree(project), &dir);
    dir
}

fn build(dir: &Path) {
    // A user's project is not below ours: the walls of this house are none of its.
    fs::write(dir.with_file_name("clippy.toml"), "").unwrap();
    let before = support::tree(dir);
    cargo(dir, "fmt --all --check");
    fetch(dir);
    cargo(dir, "test --workspace --locked --offline");
    cargo(dir, "clippy --workspace --all-targets --locked --offline -- -D warnings");
    support::done(dir, "generate --check");
    // Nothing of it touches a file: not even Cargo.lock.
    assert_eq!(support::difference(&before, &support::tree(dir)), None);
}

#[test]
fn a_warning_fails_the_check() {
    let _alone = alone();
    let dir = support::fresh("compiles/warning");
    fs::create_dir(dir.join("src")).unwrap();
    let manifest = "[package]\nname = \"warning\"\nedition = \"2024\"\n[workspace]\n";
    fs::write(dir.join("Cargo.toml"), manifest).unwrap();
    fs::write(dir.join("src/lib.rs"), "fn unused() {}\n").unwrap();
    let caught = std::panic::catch_unwind(|| cargo(&dir, "check --offline"));
    let message = caught.expect_err("there is a warning");
    assert!(message.downcast_ref::<String>().is_some_and(|it| it.contains("warns")));
}
