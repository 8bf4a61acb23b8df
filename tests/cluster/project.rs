//! The operators under test: what `operator-rs init` and `create api` make, built once.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::support;

pub struct Project {
    pub name: &'static str,
    pub manager: PathBuf,
    /// Everything of `config/default`.
    pub objects: Vec<Value>,
    /// `config/samples`.
    pub sample: Value,
}

impl Project {
    /// As it is made: the operator that users are handed. With `EXHAUSTIVE`, it is optimized as in its image, which takes
    /// as long as all else here.
    pub fn untouched() -> Self {
        let profile = if std::env::var_os("EXHAUSTIVE").is_some() { "release" } else { "debug" };
        Self::built("memcached-operator", profile, |_| {})
    }

    /// A project with a reconcile that does what an annotation says: `trial: panic` or `trial: wait`.
    pub fn unruly() -> Self {
        Self::built("unruly-operator", "debug", |dir| {
            let path = dir.join("src/controller/memcached.rs");
            let text = fs::read_to_string(&path).expect("`create api` has written it");
            let place = "    let image = ctx.image";
            assert_eq!(text.matches(place).count(), 1, "the template has this line once");
            fs::write(path, text.replace(place, &format!("{UNRULY}{place}"))).expect("it is ours");
        })
    }

    /// One that owns several kinds, as annotations say, and reconciles Deployments too, with what `create api` makes
    /// of that: see `operators/wishful.rs`.
    pub fn wishful() -> Self {
        Self::built("wishful-operator", "debug", |dir| {
            let path = dir.join("src/controller/memcached.rs");
            fs::write(path, include_str!("operators/wishful.rs")).expect("it is ours");
            let words = "--group apps --version v1 --kind Deployment --resource=false --controller";
            support::done(dir, &format!("create api {words}"));
            let path = dir.join("src/controller/deployment.rs");
            let text = fs::read_to_string(&path).expect("`create api` has written it");
            let place = "    // Your logic goes here.";
            assert_eq!(text.matches(place).count(), 1, "the template has this line once");
            let text = text.replace("_ctx: Arc", "ctx: Arc");
            fs::write(path, text.replace(place, &format!("{FAILING}{place}"))).expect("it is ours");
            support::done(dir, "manifests");
        })
    }

    /// The Website operator of `examples/`, which tests/compiles.rs has built.
    pub fn website() -> Self {
        let name = "website-operator";
        let new = support::fresh(&format!("cluster/new/{name}"));
        let dir = support::generated::example(name);
        support::put(&support::tree(&dir), &new);
        Self::build(name, "debug", &new, &dir, "web_v1alpha1_website")
    }

    /// One whose kind has both webhooks and a second version, in which a field has another name.
    pub fn webhooks() -> Self {
        Self::built("webhook-operator", "debug", |dir| add_webhooks(dir, "cert-manager"))
    }

    /// The objects of the same, if it makes its own certificate.
    pub fn self_managed() -> Vec<Value> {
        documents(&support::done(&Self::with_certificates("self"), "generate installer"))
    }

    /// The folder of the same with these certificates. It is not built: the program is the same.
    pub fn with_certificates(certificates: &str) -> PathBuf {
        let new = support::fresh(&format!("cluster/certificates/{certificates}/webhook-operator"));
        scaffold(&new);
        add_webhooks(&new, certificates);
        new
    }

    fn built(name: &'static str, profile: &str, edit: impl FnOnce(&Path)) -> Self {
        let new = support::fresh(&format!("cluster/new/{name}"));
        scaffold(&new);
        edit(&new);
        let dir = new.parent().expect("it is in a folder").with_file_name("projects").join(name);
        support::sync(support::tree(&new), &dir);
        Self::build(name, profile, &new, &dir, "cache_v1alpha1_memcached")
    }

    /// Builds the project in `dir`, which holds the same files as `new`.
    fn build(name: &'static str, profile: &str, new: &Path, dir: &Path, sample: &str) -> Self {
        let installer = support::done(new, "generate installer");
        let sample = fs::read_to_string(new.join(format!("config/samples/{sample}.yaml")));
        let sample = serde_yaml::from_str(&sample.expect("`create api` has written it"));
        let words = if profile == "release" { &["--release"][..] } else { &[] };
        let mut build = Command::new(env!("CARGO"));
        build.args(["build", "--locked", "--bin", name]).args(words).current_dir(dir);
        let _alone = support::alone_in_target();
        let output = support::building(&mut build).output().expect("cargo runs");
        assert!(output.status.success(), "cargo build\n{}", support::said(&output));

        let built = support::generated_target().join(profile).join(name);
        let manager = new.join("manager");
        fs::copy(&built, &manager).expect("cargo has built it");
        // What an operator does not use is not in it.
        let project = fs::read_to_string(new.join("PROJECT")).expect("`init` has written it");
        let program = fs::read(&manager).expect("it has been copied");
        let program = String::from_utf8_lossy(&program);
        for (review, uses) in [
            ("AdmissionReview", ["defaulting: true", "validation: true"]),
            ("ConversionReview", ["conversion: true"; 2]),
        ] {
            let is_used = uses.iter().any(|it| project.contains(it));
            assert_eq!(program.contains(review), is_used, "{name}: {review}");
        }
        let objects = documents(&installer);
        Self { name, manager, objects, sample: sample.expect("the sample is YAML") }
    }
}

fn scaffold(dir: &Path) {
    support::done(dir, "init --domain example.com");
    support::done(
        dir,
        "create api --group cache --kind Memcached --image memcached:1.6.39-alpine --port 11211",
    );
}

fn add_webhooks(dir: &Path, certificates: &str) {
    let edit = |path: &str, from: &str, to: &str| {
        let path = dir.join(path);
        let text = fs::read_to_string(&path).expect("`create` has written it");
        assert_eq!(text.matches(from).count(), 1, "{} has `{from}` once", path.display());
        fs::write(path, text.replace(from, to)).expect("it is ours");
    };
    let port = "    pub container_port: i32,\n}\n";
    edit(
        "api/src/cache/v1alpha1/memcached.rs",
        port,
        &format!("{}{FIELDS}", &port[..port.len() - 2]),
    );
    let size = "  size: 1\n";
    edit(
        "config/samples/cache_v1alpha1_memcached.yaml",
        size,
        &format!("  title: a sample\n{size}"),
    );
    let memcached = "--group cache --kind Memcached";
    support::done(
        dir,
        &format!(
            "create webhook {memcached} --defaulting --programmatic-validation --certificates {certificates}"
        ),
    );
    edit("src/webhook/cache_memcached_defaulter.rs", "        let _ = object;\n", DEFAULTS);
    edit("src/webhook/cache_memcached_validator.rs", "    let errors =", "    let mut errors =");
    edit("src/webhook/cache_memcached_validator.rs", "    let _ = object;\n", RULES);

    support::done(dir, &format!("create api {memcached} --version v1beta1 --from v1alpha1"));
    edit("api/src/cache/v1beta1/memcached.rs", "pub note:", "pub remark:");
    let path = dir.join("api/src/cache/v1beta1/memcached_conversion.rs");
    let text = fs::read_to_string(&path).expect("`create api` has written it");
    // What v1beta1 is taken apart into, twice v1alpha1, and what it is made of.
    let [start, first, second, third, end] = text.split(" note,").collect::<Vec<_>>()[..] else {
        panic!("the field is converted in both directions\n{text}");
    };
    let renamed = " remark: note,";
    let text = format!("{start}{renamed}{first} note,{second} note,{third}{renamed}{end}");
    fs::write(path, text).expect("it is ours");
    let other = "        operator_rs_runtime::controller_per_namespace(read_other_version),\n";
    let place = "        // +operator-rs:scaffold:run\n";
    edit("src/controller/mod.rs", place, &format!("{other}{place}"));
    let path = dir.join("src/controller/mod.rs");
    let text = fs::read_to_string(&path).expect("`init` has written it");
    fs::write(path, format!("{text}{READER}")).expect("it is ours");
    support::done(dir, "manifests");
}

const UNRULY: &str = r#"    match obj.annotations().get("trial").map(String::as_str) {
        Some("panic") => panic!("as the annotation says"),
        Some("wait") => tokio::time::sleep(std::time::Duration::from_secs(3)).await,
        _ => {}
    }
"#;

const FAILING: &str = r#"    ctx.manager.event(&*obj).normal("Seen", "A Deployment was reconciled").await;
    let annotations = obj.metadata.annotations.clone().unwrap_or_default();
    if annotations.contains_key("trial") {
        return Err(crate::Error::MissingField("luck"));
    }
"#;

/// A controller that reads the version which the other one does not. In trials of the webhooks alone, which watch
/// `elsewhere`, it would have the API server convert all objects for its cache.
const READER: &str = r#"
async fn read_other_version(manager: operator_rs_runtime::Manager) -> crate::Result<()> {
    if manager.namespace == operator_rs_runtime::NamespaceScope::One("elsewhere".into()) {
        manager.stop.cancelled().await;
        return Ok(());
    }
    let controller = operator_rs_runtime::Controller::<api::cache::v1beta1::Memcached>::new(&manager);
    controller.run(async |_, _| Ok::<_, crate::Error>(operator_rs_runtime::Action::await_change()), ()).await
}
"#;

/// Of the spec in v1alpha1, below those that `create api` writes.
const FIELDS: &str = r#"
    /// What people call it.
    pub title: String,

    /// What they say about it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,

    /// How it looks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<String>,

    /// How large it is, in a word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,

    /// What it is made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[x_kube(merge_strategy = ListMerge::Map(vec!["name".into()]))]
    pub parts: Vec<Part>,
}

/// What a Memcached is made of.
#[derive(KubeSchema, Serialize, Deserialize, Clone, Debug, PartialEq)]
pub struct Part {
    /// Which one it is.
    pub name: String,

    /// Which place it has.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rank: Option<i32>,
}
"#;

const DEFAULTS: &str = r#"        let tier = if object.spec.size < 3 { "small" } else { "large" };
        object.spec.tier.get_or_insert_with(|| tier.into());
        for (place, part) in (1..).zip(&mut object.spec.parts) {
            part.rank.get_or_insert(place);
        }
"#;

const RULES: &str = r#"    if object.spec.size == 4 {
        errors.add("spec.size", "must not be 4");
    }
"#;

fn documents(text: &str) -> Vec<Value> {
    use serde::Deserialize as _;
    serde_yaml::Deserializer::from_str(text)
        .map(|it| Value::deserialize(it).expect("the installer is YAML"))
        .collect()
}
